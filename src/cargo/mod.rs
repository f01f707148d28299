//! The user's cargo, with the user's settings and environment: what it finds in a project of the workspace.
//!
//! It runs build scripts and macros of the workspace. What it prints is kept as it is; its diagnostics are read
//! out of it. The tools call this. Absent on purpose: which tool asked, and what a person is told of it.

mod check;
mod error;
mod lock_files;
mod message;
mod names;
mod new_errors;
mod project;
mod run;
mod suggestions;
mod text;
mod unreached;

pub(crate) use check::{OUTPUT_BYTES, Scope};
pub use error::CargoError;
pub(crate) use lock_files::LockFiles;
pub(crate) use message::{artifact, diagnostic};
pub(crate) use names::Names;
pub(crate) use new_errors::{Verdict, new_errors, without_places};
pub(crate) use project::{Project, find as project};
pub(crate) use run::Cargo;
pub use suggestions::{Offer, Replacement, Suggestions};
pub(crate) use text::{headline, said};
