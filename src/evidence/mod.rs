//! The evidence (SPEC §8): an append-only, hash-chained, searchable record of plans, decisions and results.
//!
//! This room alone uses a database of its own; that of a team is used by `team`. The engine writes through
//! [`EvidenceStore`]; the query thread of the window and the headless commands read through [`EvidenceReader`] and
//! [`verify`]. Every recorded time comes from the caller. The room does not access the workspace. No function changes a
//! row, and only a purge deletes rows (`purge/mod.rs`).
//!
//! # The chain
//!
//! One SQLite database, append-only by triggers. Each row is chained by SHA-256 in the transaction that writes it. An
//! active run holds a lock on a file; a run without an end whose lock is free is *interrupted*.
//!
//! `chain.rs` inserts every row with its link, and checks that the insert wrote exactly that row, because a trigger may
//! ignore the row or write others. `schema_check.rs` compares a digest of all schema objects with the digest of the
//! format, and compares single objects only to describe a difference. It runs when a database is opened, and again in
//! the first transaction after SQLite's schema version changed, so that nothing can be added during a run. Every
//! connection disables views and untrusted functions in the schema.
//!
//! A later format only adds columns and tables. A null column is not part of a row's link, so that rows from before the
//! column keep their links. A reader does not migrate a database of an older format, because only a writer may.
//!
//! # The kept head
//!
//! The last head is stored outside the folder (`heads.rs`) after each run, loop, grant and revocation, under the random
//! id of the database. There are two copies, in the state folder and beside the key, each with a keyed digest. A
//! database must agree with every copy that can be read (`head_check.rs`), and must not be in the folder of another
//! database. A head is stored as soon as the database has its id, so that a database with later rows and no kept head
//! comes from elsewhere. A chain that is longer than its kept head is sound, because a run may have been killed.
//!
//! # Grants
//!
//! A row that grants something has a keyed digest of its other columns, its number and the database's id (`grants.rs`).
//! A row without a valid digest grants nothing. While a row of the table that records revocations is missing, no grant
//! is valid, because that row may have revoked it.
//!
//! # Checkpoints
//!
//! The links of the chain are the leaves of a Merkle tree (`proof`), which is stored nowhere: it is computed from the ledger
//! when it is needed. A checkpoint is the root of all records so far, signed with a key of this user (`checkpoints.rs`),
//! after all of them were verified. So the formats of the evidence know nothing of it, and rows of every format are in it.
//!
//! # The search index
//!
//! The index is a file of its own (`search_index.db`). It can be deleted and rebuilt from the rows, so that no table
//! of the evidence ever has to be changed. It contains words and no texts; what is shown of a hit comes from the rows. Its
//! seal (`index/seal.rs`) shows a change by another program; such an index is deleted. Filling it (`index/`) and
//! searching it (`search/`) are independent of each other: a search uses the index as far as it is.
//!
//! # Output
//!
//! The output of a program may be larger than memory. While the program runs, its output is split into the parts of a
//! blob, compressed, hashed, searched for secrets, and stored in a temporary file in the evidence folder (`capture.rs`,
//! `spill_file.rs`). After the step the appender writes the rows from that file, in the transaction of the execution.
//! So no link covers half an output, and a crash leaves an intent without an execution. The file has no name, and its
//! parts are encrypted, because it is known only at the end whether they contain a secret. Usually they contain none,
//! and their compressed bytes become the parts of the blob. Otherwise the text is read again and redacted, because a
//! secret may be recognised only by the text after it. A text is split neither within a match of a secret rule nor in
//! its last 64 KiB (`chunks.rs`); a longer secret is recognised if its beginning suffices.

#![expect(clippy::disallowed_methods, reason = "the one room that opens databases")]

mod append;
mod artifact_type;
mod backup;
mod blobs;
mod capture;
mod case;
mod chain;
mod changed;
mod checkpoints;
mod chunks;
mod classes;
mod compact;
mod copied_chain;
mod decided_plans;
mod diagnostics;
mod durability;
mod entry;
mod error;
mod fault;
mod file_history;
mod file_system;
mod given_secrets;
mod grants;
mod head_check;
mod heads;
mod history;
mod index;
mod kept_revocations;
mod key_file;
mod ledger;
mod location;
mod lock;
mod loop_reader;
mod migrations;
mod old_backups;
mod old_secrets;
mod opening;
mod past_commands;
mod permissions;
mod plan_difference;
mod plan_state;
mod proven;
mod purge;
mod purged;
mod pushed;
mod queries;
mod questions;
mod range;
mod reader;
mod record_ids;
mod recorded;
mod recorded_steps;
mod redact;
mod redactor;
mod rejections;
mod remembered_walls;
mod replay;
mod restore;
mod revised_plans;
mod revocations;
mod rows;
mod run_outcome;
mod runs;
mod schema;
mod schema_check;
mod search;
mod secrets;
mod selection;
mod signatures;
mod sizes;
mod source;
mod spill_file;
mod store;
mod summary;
mod trust;
mod vault;
mod verify;
mod waterfall;
mod write_loop;
mod write_run;
mod write_step;

pub use artifact_type::ArtifactType;
pub use capture::{CapturedOutput, OutputCapture};
pub use case::{LedgerHead, LedgerRecord, RecordsOf, RunDecision};
pub use checkpoints::CheckpointReport;
pub use copied_chain::{CopiedChain, chain_link, genesis};
pub use entry::{
    AttemptEnd, AttemptStart, ControlRecord, Entry, ExecutionRecord, IntentRecord, LoopEnd,
    LoopStart, PlannerLooks, PlannerTrace, RunEnd, RunStart, StepDecision,
};
pub use error::EvidenceError;
pub use file_history::HistoryLimits;
pub use given_secrets::GivenSecret;
pub use history::StoredContent;
pub use index::FIELDS as SEARCHED_FIELDS;
pub use location::{EvidenceLocation, UserFolders};
pub use permissions::write_private;
pub use purge::ranges::PurgedRange;
pub use pushed::{ChainRecord, VerifiedChain};
pub use range::Range;
pub use reader::EvidenceReader;
pub use redactor::{Redactor, hide_secrets, marker_in};
pub use remembered_walls::WallsDecision;
pub use revised_plans::{RecordedRevision, RevisionRecord};
pub use run_outcome::OpenIntent;
pub use search::{Patterns, Term, terms as search_terms};
pub use selection::{SelectedDiagnostic, SelectedStep};
pub use signatures::{SignaturesOf, SignedDocument};
pub use store::EvidenceStore;
pub use trust::{Trust, TrustDecision};
pub use verify::{VERIFIER, verify, verify_telling, verify_with_kept_head};

#[cfg(test)]
pub(crate) mod tests;
