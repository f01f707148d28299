//! What is special about opening a plan file that is in the inbox: its workspace is the one that was proposed or that
//! the person chose, and never the inbox.

use std::path::{Path, PathBuf};

use super::list::description_in;
use super::propose::usable_workspace;
use super::{InboxError, PLAN_NAME};
use crate::engine::WorkspaceChoice;
use crate::plan::{Code, Finding, Severity};
use crate::run::Failure;

/// A plan file in the inbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// The name of the file that was proposed; `None` if the file is named so itself.
    pub name: Option<String>,
    /// Who proposes it, in words that nobody has checked; `None` if nobody says so.
    pub from: Option<String>,
    /// The workspace for which it is proposed.
    workspace: Option<PathBuf>,
    /// Until when an agent waits for the decision about its tool call, in Unix milliseconds.
    pub asked_until_ms: Option<i64>,
    notes: Vec<String>,
    inbox: PathBuf,
}

/// The plan file in the inbox at `file`; `None` if it is somewhere else. The content of the file is not looked at.
pub fn held(inbox: &Path, file: &Path) -> Option<Held> {
    let inbox = std::fs::canonicalize(inbox).ok()?;
    let absolute = std::path::absolute(file).ok()?;
    // The file itself may be a link that leads out of the inbox, so only its folder is resolved.
    let folder = std::fs::canonicalize(absolute.parent()?).ok()?;
    if !folder.starts_with(&inbox) {
        return None;
    }
    let is_plan = absolute.file_name().is_some_and(|name| name == PLAN_NAME);
    let description = (is_plan && folder != inbox).then(|| description_in(&folder)).flatten();
    Some(match description {
        Some(it) => Held {
            name: Some(it.name).filter(|name| !name.trim().is_empty()),
            from: Some(it.from).filter(|from| !from.trim().is_empty()),
            workspace: Some(it.workspace),
            notes: it.notes,
            asked_until_ms: it.asked_until_ms,
            inbox,
        },
        None => Held {
            name: None,
            from: None,
            workspace: None,
            asked_until_ms: None,
            notes: Vec::new(),
            inbox,
        },
    })
}

impl Held {
    /// What was found when the plan was made of a file of another program.
    pub fn notes(&self) -> Vec<Finding> {
        let finding =
            |note: &String| Finding::new(Severity::Warning, Code::BadValue, "", note.as_str());
        self.notes.iter().map(finding).collect()
    }

    /// The workspace of the plan, as the person chose it, otherwise as it was proposed.
    ///
    /// # Errors
    /// There is none yet, or it cannot be one.
    pub fn workspace(&self, chosen: Option<&Path>) -> Result<WorkspaceChoice, Failure> {
        let usable = |folder: &Path| {
            usable_workspace(&self.inbox, folder).map_err(|error: InboxError| error.failure())
        };
        match (chosen, &self.workspace) {
            (Some(chosen), _) => usable(chosen).map(WorkspaceChoice::chosen),
            (None, Some(proposed)) => {
                let reason = "The plan was proposed for it.".to_owned();
                Ok(WorkspaceChoice { folder: usable(proposed)?, reason })
            }
            (None, None) => Err(Failure {
                code: Code::Missing,
                message: "a plan that was put into the inbox has no workspace: choose the folder in which it is to \
                          run"
                    .to_owned(),
                next: "Choose the workspace; on the command line with --workspace DIR.".to_owned(),
            }),
        }
    }

    /// Whether nobody has said in which folder the plan is to run.
    pub fn lacks_workspace(&self) -> bool {
        self.workspace.is_none()
    }

    /// A finding for a plan without a workspace, with which it cannot be authorized.
    pub fn finding(failure: Failure) -> Finding {
        Finding::error(failure.code, "", failure.message)
    }
}
