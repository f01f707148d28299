//! The built-in planners (SPEC §10): each reads one request and returns one plan, or a `failure` that explains why
//! there is no plan.
//!
//! These planners run only in the hidden command `planner`. The loop starts this program with that command as a
//! separate process, with the same limits of time and output as any other planner, and can stop it at any time. A
//! planner only proposes: it does not handle authorizations and does not edit files. `cargo-fix` runs the compiler,
//! which writes build output, and an agent writes its own files.
//!
//! The API key is sent in one header only. It is removed from server messages, which may repeat it.

mod agent;
mod cargo_fix;
mod chat;
mod prompt;
mod replay;
mod reply;
mod request;

use std::path::{Path, PathBuf};

pub use agent::Agent;
pub use chat::Server;
pub use request::{Request, RequestError};

/// A built-in planner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Planner {
    /// Returns the plan files of a folder in the order of their names, one for each attempt.
    Replay(PathBuf),
    /// Turns the machine-applicable suggestions of the compiler into a batch of edits.
    CargoFix,
    /// Requests a plan from a model through the chat completions interface.
    Chat(Server),
    /// Lets the person's own agent program plan, with this model or with the one of its settings.
    Agent(Agent, Option<String>),
}

impl Planner {
    /// Returns the bytes of a plan file: a plan, or a `failure` that explains why there is none. The bytes are not
    /// checked: those of `Replay`, `Chat` and `Agent` may not be a valid plan. `progress` receives progress messages.
    pub fn plan(&self, request: &Request, workspace: &Path, progress: &dyn Fn(&str)) -> Vec<u8> {
        let plan = match self {
            Self::Replay(folder) => replay::plan(request, &workspace.join(folder)),
            Self::CargoFix => cargo_fix::plan(request, workspace, progress),
            Self::Chat(server) => chat::plan(request, server, progress),
            Self::Agent(agent, model) => {
                agent::plan(request, *agent, model.as_deref(), workspace, progress)
            }
        };
        plan.unwrap_or_else(|failure| failure.bytes(&request.goal))
    }
}
