//! The memory (SPEC §8): an append-only, hash-chained, searchable record of everything that was asked,
//! decided and done.
//!
//! The only room that knows SQL. The engine writes through [`EvidenceStore`]; the desk of the window
//! and the headless commands read through [`EvidenceReader`] and [`verify`]. Absent on purpose: the
//! clock (every time comes from the caller), the workspace, and any way to change a row.

#![expect(clippy::disallowed_methods, reason = "the one room that opens databases")]

mod aftermath;
mod blobs;
mod diagnostics;
mod error;
mod funnel;
mod hider;
mod history;
mod index;
mod intake;
mod ledger;
mod lock;
mod loop_reader;
mod loops;
mod queries;
mod reader;
mod record;
mod redact;
mod replay;
mod rows;
mod schema;
mod search;
mod secret_rules;
mod secret_words;
mod spool;
mod steps;
mod store;
mod summary;
mod trust;
mod vault;
mod verify;
mod window;

pub use aftermath::OpenIntent;
pub use error::EvidenceError;
pub use hider::{SecretHider, marker_in};
pub use history::Kept;
pub use intake::{Intake, Taken};
pub use loops::{AttemptEnd, AttemptStart, LoopEnd, LoopStart, PlannerTrace};
pub use queries::Range;
pub use reader::EvidenceReader;
pub use record::{
    ArtifactType, Decided, ExecutionRecord, IntentRecord, NewDecision, RunEnd, RunStart,
};
pub use store::EvidenceStore;
pub use trust::TrustDecision;
pub use verify::verify;

#[cfg(test)]
mod tests;
