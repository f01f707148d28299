//! The memory (SPEC §8): an append-only, hash-chained, searchable record of everything that was asked,
//! decided and done.
//!
//! The only room that knows SQL. The engine writes through [`EvidenceStore`]; the query thread of the window
//! and the headless commands read through [`EvidenceReader`] and [`verify`]. Absent on purpose: the
//! clock (every time comes from the caller), the workspace, and any way to change a row.

#![expect(clippy::disallowed_methods, reason = "the one room that opens databases")]

mod aftermath;
mod append;
mod blobs;
mod changed;
mod diagnostics;
mod error;
mod folders;
mod funnel;
mod grants;
mod heads;
mod hider;
mod history;
mod index;
mod index_seal;
mod index_text;
mod intake;
mod ledger;
mod lock;
mod loop_reader;
mod loops;
mod permissions;
mod queries;
mod reader;
mod reader_questions;
mod record;
mod redact;
mod remembered_walls;
mod replay;
mod rows;
mod schema;
mod schema_check;
mod search;
mod secrets;
mod spool;
mod standing;
mod steps;
mod store;
mod summary;
mod trust;
mod vault;
mod verify;
mod window;

pub use aftermath::OpenIntent;
pub use error::EvidenceError;
pub use folders::UserFolders;
pub use hider::{SecretHider, marker_in};
pub use history::Kept;
pub use intake::{Intake, Taken};
pub use loops::{AttemptEnd, AttemptStart, LoopEnd, LoopStart, PlannerTrace};
pub use permissions::write_private;
pub use queries::Range;
pub use reader::EvidenceReader;
pub use record::{
    ArtifactType, Decided, ExecutionRecord, IntentRecord, NewDecision, RunEnd, RunStart,
};
pub use remembered_walls::WallsDecision;
pub use store::EvidenceStore;
pub use trust::{Trust, TrustDecision};
pub use verify::{VERIFY_SCHEMA, verify, verify_with_kept_head};

#[cfg(test)]
mod tests;
