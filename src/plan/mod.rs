//! Plan files as pure data (SPEC §1).
//!
//! [`parse`] turns bytes into a [`Plan`] or a [`ShownPlan`] with all findings. Every room except `code` may use this
//! one. It reads neither the clock nor files. Approvals are in [`crate::authorization`], risk is in [`crate::risk`].

mod action;
mod call;
mod canonical;
mod code;
mod command;
mod destination;
mod dialect;
mod digest;
mod document;
mod finding;
mod fleet;
mod headline;
mod inputs;
pub mod limits;
mod lookalikes;
mod needs;
mod one_line;
mod parse;
mod patch;
mod paths;
mod precondition;
mod revise;
mod shown;
mod tool;
mod twins;
mod visible;
mod visible_json;
pub(crate) mod words;
mod write;

pub use action::{
    Build, Edit, HistoryOperation, InspectQuery, Metadata, MutateBatch, OptLevel, PlannerFailure,
    Simulation, VERSION as ACTION_PLAN_VERSION, VerifyScope,
};
pub use call::ToolCall;
pub use canonical::canonical_json;
pub use code::Code;
pub use command::{PlanNotes, RiskLevel, StatedRisk};
pub use destination::{Destination, DestinationError};
pub use dialect::Dialect;
pub use digest::{Digest, DigestError};
pub use document::{Intent, Mode, Plan, Step, StepPlace};
pub use finding::{Finding, Severity, is_valid, lacks_only_inputs};
pub use fleet::{BatchSize, Fleet, FleetHosts};
pub use headline::VERBS_OF_FILES;
pub use inputs::{CommandInput, PlanInput, VARIABLE_PREFIX, shown_inputs, with_references};
pub use lookalikes::{lookalikes, visible_name};
pub use needs::Needs;
pub use one_line::one_line;
pub use parse::{has_duplicate_keys, locate, parse};
pub use paths::{COMMANDS_FILE, NamedPath, PathRole, unquoted};
pub use precondition::{MEANINGS as PRECONDITIONS, Precondition, WORDS as PRECONDITION_WORDS};
pub use revise::{
    LeftOut, RevisedPart, RevisedWhat, Revision, RevisionError, argument_source, edits_text,
    leaving_out,
};
pub use shown::{Parsed, ShownPlan, ShownStep};
pub use tool::{ArgumentContent, ArgumentSpec, SPECS as TOOLS, Tool, ToolClass, ToolSpec};
pub use twins::{differing, twin_key, twin_names};
pub use visible::{
    drawable, drawable_lines, has_right_to_left, is_hidden, is_mark, prose, prose_lines, quoted,
    quoted_lines, shown_offset, source_offset, spelled_out, visible, visible_lines,
};
pub use visible_json::write_visible_json;
pub use write::{
    Batch, CONTINUED, Continuation, ProposedCommand, batch_plan, command_plan, continuation,
    revert, rollback,
};
