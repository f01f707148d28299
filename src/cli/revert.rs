//! `revert`: makes a plan that takes back what a run or one of its steps changed, and runs it like any other
//! plan.

use std::sync::Arc;

use super::Exit;
use super::args;
use super::check;
use super::confirmation::CommandLine;
use super::documents;
use super::opening::{ReadPlan, evidence_location};
use super::output::Output;
use super::refusal::Refusal;
use super::run::{Start, is_terminal, method, unauthorized};
use crate::engine::{cannot_be_reverted, revert_of, simulate_shown};
use crate::plan::{visible, visible_lines};
use crate::run::FileChange;

/// Authorizes and runs a revert; without an authorization, shows what it would do to each file.
pub(super) fn revert(command: &args::Revert, out: &mut Output) -> Result<Exit, Refusal> {
    let again = &command.again;
    let confirmation = CommandLine::new(again.consent.confirm, is_terminal())?;
    let mut policy = again.options.policy()?;
    let location = evidence_location(&again.options.common.folder)?;
    let mut evidence = location.open()?;
    let (run, bytes) = revert_of(&mut evidence, command.id)?;
    let workspace = again.workspace(run.workspace, "reverted");
    let folder = workspace.folder.clone();
    let read = ReadPlan::bytes(&bytes, workspace);
    let review = read.review(&mut policy, &again.options.common.folder)?;
    let mut opened = read.with(review);
    opened.findings.extend(cannot_be_reverted(&mut evidence, command.id)?);
    let method = method(&again.consent, opened.digest)?;
    let simulation = match &opened.plan {
        Some(plan) => simulate_shown(plan, &folder, &policy, Some(&location), &Arc::default())?,
        None => crate::engine::Simulation::default(),
    };
    let changes = simulation.previews.iter().flat_map(|preview| &preview.changes);
    let diff: String = changes.map(FileChange::unified).collect();
    if let (None, true, Some(digest)) = (method, opened.is_valid(), opened.digest) {
        // The plan has no file yet, so it is shown here.
        let refusal = Refusal::from(unauthorized(digest));
        let previews = simulation.previews.iter();
        let said =
            previews.flat_map(|preview| std::iter::once(&preview.summary).chain(&preview.notes));
        if !out.json() {
            for line in visible_lines(&diff).lines() {
                out.line(line);
            }
            said.clone().for_each(|said| out.line(&visible(said)));
            check::print(&opened, out);
        }
        let mut details = documents::check(&opened);
        let notes: Vec<&String> = said.collect();
        documents::insert(&mut details, "notes", Some(notes));
        documents::insert(&mut details, "diff", Some(diff));
        documents::insert(&mut details, "plan_file", Some(String::from_utf8_lossy(&bytes)));
        return Err(refusal.with_details(details));
    }
    let parent_run = Some(run.run_id);
    Start { opened, file: None, method, parent_run, policy, confirmation, location }.run(out)
}
