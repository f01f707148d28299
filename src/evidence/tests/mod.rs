//! Tests of the evidence through its public functions.

mod contents;
mod fixture;
mod formats;
mod hostile;
mod reading;
mod second_program;
mod secrets;
mod streaming;
mod summary;
mod tampering;
mod writing;
