//! The commands in the `countersign.toml` of a workspace (SPEC §9). The workspace is not trusted: a command
//! runs only if a person trusts the exact bytes of the file.

mod file;
pub(super) mod matcher;
mod needs;
mod parser;
pub(super) mod run;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use serde_json::{Value, json};

use super::{ProgramError, function_call};
use crate::authorization::FileState;
use crate::plan::{Digest, Simulation, ToolCall, VerifyScope};
use crate::tools::{ProjectedToolbox, ToolError, Toolbox};
use crate::workspace::{Access, Kind, Last, Projected, WorkspaceError};

pub use file::{CommandName, FILE, Fault, WorkspaceCommand, WorkspaceCommands};

/// Parses the file as the earlier steps would leave it; `None` if it does not exist.
///
/// # Errors
/// A file that is too large, leads outside, or cannot be read.
pub(super) fn read(projected: Projected<'_>) -> Result<Option<WorkspaceCommands>, WorkspaceError> {
    let place = projected.workspace.resolve(FILE, Last::Follow)?;
    if projected.overlay.kind(&place) == Kind::Absent {
        return Ok(None);
    }
    if projected.overlay.get(&place.key).is_none() {
        let size = place.open(FILE, Access::Read)?.map_or(0, |(_, data)| data.len());
        if size > file::FILE_BYTES {
            let (path, limit) = (FILE.to_owned(), file::FILE_BYTES);
            return Err(WorkspaceError::TooLarge { path, limit, access: Access::Read });
        }
    }
    let content = projected.content_and_mode(&place, FILE, Access::Read)?.0;
    Ok(content.map(|bytes| file::parse(&bytes)))
}

/// The commands that a call would run, in order, with the digest of the file; `None` if the file has no
/// command for the call, so that cargo is used.
///
/// # Errors
/// A file that cannot be read, or that has a fault.
pub(super) fn commands_for(
    projected: Projected<'_>,
    call: &ToolCall,
) -> Result<Option<(Digest, Vec<WorkspaceCommand>)>, ToolError> {
    let Some(file) = read(projected)? else { return Ok(None) };
    let commands = file.commands_of(call)?;
    Ok((!commands.is_empty()).then_some((file.digest, commands)))
}

impl WorkspaceCommands {
    /// Whether a call may run commands of the workspace, also on the copy of a simulation.
    pub fn concern(call: &ToolCall) -> bool {
        program_call(call).is_some()
    }

    /// The commands that a call would run, in order; empty if it runs none of them.
    ///
    /// # Errors
    /// The file has a fault.
    pub fn commands_of(&self, call: &ToolCall) -> Result<Vec<WorkspaceCommand>, ProgramError> {
        use CommandName::{Build, Run, Test, VerifyFull, VerifyLocal};
        let Some(call) = program_call(call) else { return Ok(Vec::new()) };
        if let Some(first) = self.faults.first() {
            let (count, first) = (self.faults.len(), first.to_string());
            return Err(ProgramError::BadCommands { count, first });
        }
        let is_defined = |name| self.get(name).is_some();
        let names: &[CommandName] = match &*call {
            ToolCall::Verify { scope: VerifyScope::Local } => &[VerifyLocal],
            ToolCall::Verify { scope: VerifyScope::Full } if is_defined(VerifyFull) => {
                &[VerifyFull]
            }
            ToolCall::Verify { scope: VerifyScope::Full } => &[VerifyLocal, Test],
            ToolCall::Compile { .. } => &[Build],
            ToolCall::Run { .. } if is_defined(Run) => &[Build, Run],
            _ => &[],
        };
        Ok(names.iter().filter_map(|name| self.get(*name).cloned()).collect())
    }
}

impl Toolbox {
    /// The parsed `countersign.toml` of the workspace; `None` if it does not exist.
    ///
    /// # Errors
    /// A file that is too large, leads outside, or cannot be read.
    pub fn workspace_commands(&self) -> Result<Option<WorkspaceCommands>, WorkspaceError> {
        read(self.unchanged())
    }

    /// Whether a person trusts the commands of the file with this digest, in this workspace.
    pub fn trusts(&self, digest: Digest) -> bool {
        self.trusted.contains(&digest)
    }

    /// The commands, for the result of `inspect`; null if the file does not exist.
    pub(in crate::tools) fn workspace_commands_json(&self) -> Value {
        let file = match self.workspace_commands() {
            Ok(None) => return Value::Null,
            Ok(Some(file)) => file,
            Err(error) => return json!({ "file": FILE, "faults": [error.to_string()] }),
        };
        let commands = file.commands.iter().map(|command| {
            json!({
                "name": command.name.as_str(),
                "command": command.command,
                "timeout_seconds": command.timeout.as_secs(),
                "matcher": command.matcher(),
            })
        });
        json!({
            "file": FILE,
            "digest": file.digest.to_string(),
            "trusted": self.trusts(file.digest),
            "commands": commands.collect::<Vec<_>>(),
            "faults": file.faults.iter().map(ToString::to_string).collect::<Vec<_>>(),
        })
    }
}

impl ProjectedToolbox<'_> {
    /// The commands of the workspace that a call would run, also on the copy of a simulation.
    ///
    /// # Errors
    /// As [`Toolbox::workspace_commands`]; and a file with a fault.
    pub fn commands_of(self, call: &ToolCall) -> Result<Vec<WorkspaceCommand>, ToolError> {
        if !WorkspaceCommands::concern(call) {
            return Ok(Vec::new());
        }
        Ok(commands_for(*self, call)?.map(|(_, commands)| commands).unwrap_or_default())
    }
}

/// The call that may run commands of the workspace: the call itself, or the verification or the function of a
/// simulation.
fn program_call(call: &ToolCall) -> Option<Cow<'_, ToolCall>> {
    match call {
        ToolCall::Verify { .. } | ToolCall::Compile { .. } | ToolCall::Run { .. } => {
            Some(Cow::Borrowed(call))
        }
        ToolCall::Simulate(Simulation::Edits { verify, .. } | Simulation::Steps { verify, .. }) => {
            verify.map(|scope| Cow::Owned(ToolCall::Verify { scope }))
        }
        ToolCall::Simulate(Simulation::Function { function, inputs, trace_enabled }) => {
            Some(Cow::Owned(function_call(function, inputs, *trace_enabled)))
        }
        _ => None,
    }
}

/// The error for commands in a file that no person has trusted.
fn not_trusted(digest: Digest) -> ProgramError {
    ProgramError::NotTrusted { now: FileState::Content(digest).to_string() }
}
