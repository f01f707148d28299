//! Evidence that leaves the machine (SPEC §14): exports in common formats, the case file of a run, proofs of records, and
//! attestations of runs.
//!
//! Every format writes while it reads (`walk.rs`), so that memory does not grow with the number of executions, and from
//! one snapshot of the evidence, so that an export agrees with itself. The same evidence always gives the same bytes:
//! nothing contains the time of the export, and times are in UTC.
//!
//! The user's key is given up before anything is read. So an export never contains what the evidence stores only
//! encrypted; it says where such content is left out.

mod asciicast;
mod attestation;
mod case;
mod csv;
mod error;
mod excerpt;
mod file;
mod format;
mod html;
mod json_lines;
mod junit;
mod proof;
mod sarif;
mod time;
mod walk;
mod write;
mod xml;

pub use attestation::{Predicate, attestation};
pub use case::case_file;
pub use error::{ExportError, Result};
pub use file::{export_to_file, write_to_file};
pub use format::{Exported, Progress};
pub use proof::{PROOF_VERIFIER, Proven, write_proof};
pub use write::export;
