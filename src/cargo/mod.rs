//! Runs the user's cargo, with the user's settings and environment, in a project of the workspace.
//!
//! cargo executes build scripts and macros of the workspace. Its output is kept verbatim, and diagnostics are
//! parsed from it. The tools call this module. It does not depend on which tool calls it, or on what a person
//! is shown.

mod check;
mod error;
mod lock_files;
mod message;
mod metadata;
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
pub(crate) use message::{Message, artifact, message};
pub(crate) use metadata::{METADATA, Metadata, Package, Target};
pub(crate) use names::Names;
pub(crate) use new_errors::{Verdict, new_errors, without_positions};
pub(crate) use project::{Project, find as project};
pub(crate) use run::Cargo;
pub use suggestions::{Replacement, Suggestion, Suggestions};
pub(crate) use text::{failure_report, headline};
