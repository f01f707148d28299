//! The room as a whole, through its public doors.

mod fixture;
mod formats;
mod hostile;
mod reading;
mod second_program;
mod secrets;
mod streaming;
mod tampering;
mod writing;
