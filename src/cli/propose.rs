//! `propose`: puts a plan into the inbox, where it waits for a person. Nothing is run or authorized.

use serde::Serialize;

use super::inbox::counts;
use super::opening::{inbox, policy};
use super::output::{Output, say};
use super::refusal::Refusal;
use super::{Exit, args};
use crate::engine::{Clock as _, SystemClock};
use crate::plan::quoted;
use crate::worker::inbox::{Handle, Proposal, held, propose as put};
use crate::worker::{read_file_bytes, workspace_of};

/// The document of `--json`.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    handle: &'a Handle,
    /// The folder of the inbox.
    inbox: String,
}

/// Checks a plan as far as its bytes alone allow, and puts it into the inbox.
///
/// # Errors
/// The file is no valid plan, the inbox or the workspace cannot be used, or the inbox is full.
pub(super) fn propose(command: &args::Propose, out: &mut Output) -> Result<Exit, Refusal> {
    let policy = policy()?;
    let folder = inbox()?;
    let bytes =
        read_file_bytes(&command.file).map_err(|finding| Refusal::invalid_plan(vec![finding]))?;
    let chosen = command.workspace.workspace.as_deref();
    // A file that is in the inbox already is proposed again for its own workspace.
    let workspace = match held(folder.path(), &command.file) {
        Some(held) => {
            held.workspace(chosen).map_err(|it| Refusal::usage(it.message, &it.next))?.folder
        }
        None => workspace_of(&command.file, chosen).folder,
    };
    let name = command.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let at_ms = SystemClock::default().now_ms();
    let folder_of = command.file.parent().map(std::path::Path::to_owned);
    let from = command.from.clone();
    let proposal =
        Proposal { bytes, name, folder: folder_of, workspace, from, at_ms, asked_until_ms: None };
    let handle = put(&folder, &proposal, &policy)?;
    if out.json() {
        let inbox = folder.path().to_string_lossy().into_owned();
        out.document(&Document { handle: &handle, inbox });
        return Ok(Exit::Done);
    }
    let title = handle.plan.title.clone().unwrap_or_default();
    out.fields([
        ("Plan", format!("{title} ({})", counts(&handle.plan))),
        ("Id", handle.id.clone()),
        ("Digest", handle.digest.to_string()),
        ("Workspace", handle.workspace.display().to_string()),
    ]);
    say(&quoted("The plan waits in the inbox. A person decides about it in the window."));
    Ok(Exit::Done)
}
