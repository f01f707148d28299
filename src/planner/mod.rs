//! The planners that ship (SPEC §10): programs that read one request on stdin and print one plan.
//!
//! Each runs as a process of its own, this same program with the hidden command `planner`, so that the loop
//! treats it like any other planner: its time, its output and its end are the loop's affair. Absent on
//! purpose: who said yes to what, and any change of a file. A planner proposes and does nothing.
//!
//! A server that hangs can be stopped like a command. A fault is an answer too: a `failure` with words for a person,
//! which the evidence keeps. The key of a server goes into one header; the words of a server, which may repeat the
//! key, are shown without it.

mod cargo_fix;
mod chat;
mod replay;
mod reply;
mod request;

use std::path::{Path, PathBuf};

pub use chat::Server;
pub use request::{Request, RequestError};

/// A planner that ships.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Planner {
    /// Plays the plans of a folder in the order of their names, one for each attempt.
    Replay(PathBuf),
    /// Makes a batch of what the compiler itself offers to apply.
    CargoFix,
    /// Asks a model behind the chat completions interface.
    Chat(Server),
}

impl Planner {
    /// The plan for this request in this workspace, as bytes: a plan of any dialect, or a `failure` that says
    /// why there is none. `tell` is the progress callback.
    pub fn plan(&self, request: &Request, workspace: &Path, tell: &dyn Fn(&str)) -> Vec<u8> {
        let plan = match self {
            Self::Replay(folder) => replay::plan(request, &workspace.join(folder)),
            Self::CargoFix => cargo_fix::plan(request, workspace, tell),
            Self::Chat(server) => chat::plan(request, server, tell),
        };
        plan.unwrap_or_else(|failure| failure.bytes(&request.goal))
    }
}
