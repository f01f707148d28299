//! Files of other programs as plans, compared with what those programs do (SPEC §13).

mod convert;
#[cfg(unix)]
mod git;
