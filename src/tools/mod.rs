//! The tools: the one room that changes the workspace (SPEC §4).
//!
//! The engine calls [`Toolbox`]; nobody else does. A tool is a module behind one trait ([`tool`]), and
//! [`dispatch`] leads from a call to it. Absent on purpose: who approved what, in which order steps run, and the
//! evidence; callers hand in what was approved and take away what happened.

mod batch;
mod code_queries;
mod command_shell;
mod dispatch;
mod editor;
mod error;
mod file_read;
mod file_write;
mod history;
mod inspect;
mod leftover;
mod lsp_check;
mod past;
mod planner;
mod program;
mod search;
mod shell;
mod simulate;
mod splice;
#[cfg(test)]
mod tests;
mod tool;
mod toolbox;
mod touched;

pub use crate::cargo::{CargoError, Offer, Replacement, Suggestions};
pub use crate::plan::COMMANDS_FILE;
pub use crate::process::walls::{RunWalls, WallPlace, WallProbe, WallReport, start_helper};
pub use crate::process::{Capture, MODEL_KEY, NoCapture, ProcessError, ProcessIo};
pub use crate::remote::{
    Connection, RemoteCommand, RemoteEnd, RemoteError, RemoteFinished, RemoteStop, SshClient,
    check_target, known_target,
};
pub use crate::run::StopSignal;
pub use crate::symbols::SymbolsError;
pub use crate::workspace::{Access, INPUT_BYTES, Kind, Overlay, WorkspaceError, own_folders};
pub use batch::{BatchError, PatchError};
pub use error::{ToolError, Unsupported};
pub use history::{Conflict, HistoryError};
pub use past::{NotAvailable, Past};
pub use planner::{PlannerEnd, PlannerFinished, PlannerProgram};
pub use program::{CommandName, Fault, ProgramError, WorkspaceCommand, WorkspaceCommands};
pub use shell::ShellError;
pub use simulate::{SimulationError, tidy as tidy_simulations};
pub use splice::SpliceError;
pub use toolbox::{After, Context, Invocation, Toolbox};
