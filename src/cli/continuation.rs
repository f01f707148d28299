//! `continue` and `reconcile`: a plan of what a run left undone, or was doing when it was interrupted, is made and
//! run like any other plan.

use std::path::PathBuf;

use uuid::Uuid;

use super::Exit;
use super::args;
use super::check;
use super::confirmation::CommandLine;
use super::documents;
use super::opening::{ReadPlan, evidence_location};
use super::output::Output;
use super::refusal::Refusal;
use super::run::{Start, is_terminal, method, unauthorized};
use crate::engine::{FollowUpError, WorkspaceChoice, changes_since, rest_of, settlement_of};
use crate::evidence::EvidenceReader;
use crate::plan::Finding;
use crate::risk::Policy;
use crate::run::{RunSummary, Way};

/// Authorizes and runs the rest of a run; without an authorization, shows what it would be.
pub(super) fn continue_run(command: &args::Continue, out: &mut Output) -> Result<Exit, Refusal> {
    let run = command.run;
    follow_up(Some(run), &command.again, "continued", out, |evidence, policy, chosen| {
        let (summary, bytes) = rest_of(evidence, run)?;
        let folder = chosen.map_or_else(|| summary.workspace.as_ref(), PathBuf::as_path);
        let changes = changes_since(evidence, run, folder, policy)?;
        Ok((summary, bytes, changes))
    })
}

/// Authorizes and runs a plan that takes back or finishes what was interrupted; without an authorization, shows
/// it.
pub(super) fn reconcile(command: &args::Reconcile, out: &mut Output) -> Result<Exit, Refusal> {
    let run = command.run;
    let way = if command.finish { Way::Finish } else { Way::RollBack };
    follow_up(None, &command.again, "reconciled", out, |evidence, policy, _| {
        let (summary, bytes) = settlement_of(evidence, run, way, policy)?;
        Ok((summary, bytes, Vec::new()))
    })
}

/// A run, the plan that follows it, and what there is to say about it.
type Follows = Result<(RunSummary, Vec<u8>, Vec<Finding>), FollowUpError>;

/// Runs it; `parent_run` is the run whose rest it is, if it is one.
fn follow_up(
    parent_run: Option<Uuid>,
    again: &args::FromRecord,
    treated: &str,
    out: &mut Output,
    make: impl FnOnce(&mut EvidenceReader, &Policy, Option<&PathBuf>) -> Follows,
) -> Result<Exit, Refusal> {
    let confirmation = CommandLine::new(again.consent.confirm, is_terminal())?;
    let mut policy = again.options.policy()?;
    let location = evidence_location(&again.options.common.folder)?;
    let mut evidence = location.open()?;
    let (run, bytes, findings) = make(&mut evidence, &policy, again.workspace.as_ref())?;
    let workspace = again.workspace(run.workspace, treated);
    let read = ReadPlan::bytes(&bytes, workspace);
    let review = read.review(&mut policy, &again.options.common.folder)?;
    let mut opened = read.with(review);
    opened.findings.extend(findings);
    let method = method(&again.consent, opened.digest)?;
    if let (None, true, Some(digest)) = (method, opened.is_valid(), opened.digest) {
        // The plan has no file yet, so it is shown here.
        let refusal = Refusal::from(unauthorized(digest));
        if !out.json() {
            check::print(&opened, out);
        }
        return Err(refusal.with_details(documents::check(&opened)));
    }
    Start { opened, file: None, method, parent_run, policy, confirmation, location }.run(out)
}

impl args::FromRecord {
    /// The chosen folder, else the workspace of the run; `treated` says what happens to the run.
    pub(super) fn workspace(&self, of_run: String, treated: &str) -> WorkspaceChoice {
        match &self.workspace {
            Some(folder) => {
                WorkspaceChoice { folder: folder.clone(), reason: "You chose it.".to_owned() }
            }
            None => WorkspaceChoice {
                folder: of_run.into(),
                reason: format!("It is the workspace of the run that is {treated}."),
            },
        }
    }
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
