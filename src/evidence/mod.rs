//! The memory (SPEC §8): an append-only, hash-chained, searchable record of everything that was asked,
//! decided and done.
//!
//! The only room that knows SQL. The engine writes through [`EvidenceStore`]; the query thread of the window
//! and the headless commands read through [`EvidenceReader`] and [`verify`]. Absent on purpose: the
//! clock (every time comes from the caller), the workspace, and any way to change a row.

#![expect(clippy::disallowed_methods, reason = "the one room that opens databases")]

mod append;
mod artifact_type;
mod blobs;
mod capture;
mod chain;
mod changed;
mod chunks;
mod classes;
mod diagnostics;
mod entry;
mod error;
mod folders;
mod grants;
mod heads;
mod history;
mod index;
mod index_seal;
mod index_text;
mod index_update;
mod ledger;
mod location;
mod lock;
mod loop_reader;
mod migrations;
mod permissions;
mod queries;
mod questions;
mod range;
mod reader;
mod redact;
mod redactor;
mod remembered_walls;
mod replay;
mod run_outcome;
mod schema;
mod schema_check;
mod search;
mod secrets;
mod source;
mod spill_file;
mod standing;
mod store;
mod summary;
mod trust;
mod vault;
mod verify;
mod write_loop;
mod write_run;
mod write_step;

pub use artifact_type::ArtifactType;
pub use capture::{CapturedOutput, OutputCapture};
pub use entry::{
    AttemptEnd, AttemptStart, ControlRecord, Entry, ExecutionRecord, IntentRecord, LoopEnd,
    LoopStart, PlannerTrace, RunEnd, RunStart, StepDecision,
};
pub use error::EvidenceError;
pub use folders::UserFolders;
pub use history::Kept;
pub use location::EvidenceLocation;
pub use permissions::write_private;
pub use range::Range;
pub use reader::EvidenceReader;
pub use redactor::{SecretHider, marker_in};
pub use remembered_walls::WallsDecision;
pub use run_outcome::OpenIntent;
pub use store::EvidenceStore;
pub use trust::{Trust, TrustDecision};
pub use verify::{VERIFY_SCHEMA, verify, verify_with_kept_head};

#[cfg(test)]
mod tests;
