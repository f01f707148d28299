//! `continue`: makes a plan of what a run left undone, and runs it like any other plan.

use super::Exit;
use super::args;
use super::check;
use super::confirmation::CommandLine;
use super::documents;
use super::output::Output;
use super::place::{EvidencePlace, OpenedPlan, policy};
use super::refusal::Refusal;
use super::run::{Start, is_terminal, method, unauthorized};
use crate::engine::{FollowUpError, WorkspaceChoice, changes_since, rest_of};
use crate::evidence::EvidenceReader;

/// Authorizes and runs the rest of a run; without an authorization, shows what it would be.
pub(super) fn continue_run(command: &args::Continue, out: &mut Output) -> Result<Exit, Refusal> {
    let confirmation = CommandLine::new(command.consent.confirm, is_terminal())?;
    let mut policy = command.engine.settle(policy()?);
    let place = EvidencePlace::find(&command.common.folder)?;
    let mut evidence = EvidenceReader::open(&place.evidence, &place.secrets)?;
    policy.trusted_commands = evidence.trusted_commands()?;
    let (run, bytes) = rest_of(&mut evidence, command.run)?;
    let workspace = match &command.workspace {
        Some(folder) => {
            WorkspaceChoice { folder: folder.clone(), reason: "You chose it.".to_owned() }
        }
        None => WorkspaceChoice {
            folder: run.workspace.into(),
            reason: "It is the workspace of the run that is continued.".to_owned(),
        },
    };
    let mut opened = OpenedPlan::of(&bytes, &workspace, &policy, &place.as_records())?;
    opened.findings.extend(changes_since(&mut evidence, command.run, &workspace.folder, &policy)?);
    let method = method(&command.consent, opened.digest)?;
    if let (None, true, Some(digest)) = (method, opened.is_valid(), opened.digest) {
        // There is no file to look at, so this is where a person sees what they are asked for.
        let refusal = Refusal::from(unauthorized(digest));
        if !out.json() {
            check::print(&opened, out);
        }
        return Err(refusal.with_details(documents::check(&opened)));
    }
    let parent_run = Some(command.run);
    Start { opened, method, parent_run, policy, confirmation, place }.run(out)
}

impl From<FollowUpError> for Refusal {
    fn from(error: FollowUpError) -> Self {
        match error {
            FollowUpError::Evidence { source } => source.into(),
            FollowUpError::Tool { source } => source.into(),
            other => {
                let failure = other.failure();
                Self::usage(failure.message, &failure.next)
            }
        }
    }
}
