//! The folders that tools may access, and the only code that opens files in them for tools (SPEC §4).
//!
//! Every path is opened through an open folder handle, so that neither `..` nor a link leads outside. Called
//! by `tools`, `cargo` and `symbols`; the modules above them use only the types. This module does not
//! interpret tool calls and starts no programs.

mod attributes;
pub(crate) mod budget;
pub(crate) use crate::run::line_diff as diff;
mod disk;
mod error;
pub(crate) mod file;
mod flush_together;
mod folders;
mod hidden;
mod ignore_rules;
mod kind;
mod open_beneath;
mod overlay;
mod own_folders;
mod projected;
mod publish;
mod repository;
mod resolve;
pub(crate) mod scan;
mod source_lines;
mod walk;
mod write;

pub(crate) use budget::{Budget, Counted, SearchBudget};
pub(crate) use disk::Disk;
#[cfg(test)]
pub(crate) use disk::DiskOp;
pub(crate) use error::check_cancelled;
pub use error::{Access, INPUT_BYTES, WorkspaceError};
pub use folders::folder_id;
pub(crate) use folders::{FolderId, Folders};
pub(crate) use hidden::REWRITTEN_BYTES;
pub(crate) use ignore_rules::FileSelection;
pub use kind::Kind;
pub use overlay::Overlay;
pub use own_folders::own_folders;
pub use projected::Projected;
pub(crate) use projected::{ContentAndMode, Prepared};
pub(crate) use repository::program_named_by_repository;
pub use resolve::Workspace;
pub(crate) use resolve::{Last, Place, Root};
pub(crate) use walk::{WalkEntry, walk_for};
pub(crate) use write::{
    Existing, WriteContext, Written, check_state, effect, temporary_name, write,
};
