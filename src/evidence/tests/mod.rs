//! The room as a whole, through its public doors.

mod fixture;
mod formats;
mod reading;
mod secrets;
mod streaming;
mod tampering;
mod writing;
