//! The tools: the only module that changes the workspace (SPEC §4).
//!
//! The step runner, planners and queries call [`Toolbox`]. Each tool is a module that implements one trait
//! (`tool.rs`), and `dispatch.rs` maps a call to its tool. The tools do not depend on authorizations, the
//! order of steps or the evidence: callers pass in the authorized states and get the effects back.

mod agent_session;
mod batch;
mod changes;
mod code_queries;
mod command_shell;
mod dispatch;
mod edges;
mod editor;
mod error;
mod file_read;
mod file_write;
mod history;
mod history_source;
mod inspect;
mod leftover;
mod look;
mod lsp_check;
mod planner;
mod program;
mod repositories;
mod search;
mod shell;
mod simulate;
mod splice;
mod suggested_edits;
#[cfg(test)]
mod tests;
mod tool;
mod toolbox;

pub use agent_session::{AgentCommand, AgentEnd};
pub use batch::{BatchError, PatchError};
pub use error::{ToolError, Unsupported};
pub use history::{Conflict, HistoryError};
pub use history_source::{HistorySource, NotAvailable};
pub use planner::{AgentOutput, PlannerProgram};
pub use program::{CommandName, Fault, ProgramError, WorkspaceCommand, WorkspaceCommands};
pub use shell::ShellError;
pub use simulate::{SimulationError, remove_abandoned as remove_abandoned_simulations};
pub use splice::SpliceError;
pub use suggested_edits::{Suggested, SuggestionError, batch as suggested_batch};
pub use toolbox::{CallResult, Context, ProjectedToolbox, Toolbox};
