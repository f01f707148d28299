//! `continue`, `reconcile` and `revert`: a plan is made from a recorded run, then authorized and run like any other.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::args::{FromRecord, RecordId};
use super::confirmation::CommandLine;
use super::inputs::Ask;
use super::opening::{OpenedPlan, ReadPlan, evidence_location};
use super::output::{Output, quoted_in_line};
use super::refusal::Refusal;
use super::run::{Start, authorizes_hosts, authorizing_flag, is_terminal, unauthorized};
use super::{Exit, check, documents};
use crate::engine::{FollowUp, WorkspaceChoice, simulate_shown};
use crate::evidence::EvidenceLocation;
use crate::plan::quoted_lines;
use crate::risk::Policy;
use crate::run::FileChange;

/// Makes the plan and runs it. If no flag authorizes it, shows the plan and returns an error.
pub(super) fn run(
    follow_up: FollowUp,
    id: &RecordId,
    again: &FromRecord,
    out: &mut Output,
) -> Result<Exit, Refusal> {
    let confirmation = CommandLine::new(again.consent.confirm, is_terminal())?;
    let mut policy = again.options.policy()?;
    policy.review_signatures = super::review::signatures(&again.consent.signature)?;
    let folder = &again.options.common.folder;
    let location = evidence_location(folder)?;
    let mut evidence = location.open()?;
    let id = match follow_up {
        FollowUp::Revert => id.any(&mut evidence)?,
        _ => id.run(&mut evidence)?,
    };
    let (run, bytes) = follow_up.plan(&mut evidence, id, &policy)?;
    let workspace = match &again.workspace {
        Some(chosen) => WorkspaceChoice::chosen(chosen.clone()),
        None => WorkspaceChoice::of_run(&run),
    };
    let warnings = follow_up.warnings(&mut evidence, id, &workspace.folder, &policy)?;
    let read = ReadPlan::bytes(bytes.clone(), workspace, &again.inputs, Ask::AtTerminal)?;
    policy.secret_inputs = read.filled_in.secret_inputs.clone();
    let review = read.review(&mut policy, folder)?;
    let mut opened = read.with_review(review);
    opened.findings.extend(warnings);
    let method = authorizing_flag(&again.consent, opened.digest)?;
    if let (None, true, Some(digest)) = (method, opened.is_valid(), opened.digest) {
        // The plan has no file that the person could read, so it is printed.
        let mut details = documents::check(&opened);
        if follow_up == FollowUp::Revert {
            show_changes(&opened, &policy, &location, &mut details, out)?;
            let plan_file = String::from_utf8_lossy(&bytes);
            documents::insert(&mut details, "plan_file", Some(plan_file));
        }
        if !out.json() {
            check::print(&opened, out);
        }
        return Err(Refusal::from(unauthorized(digest)).with_details(details));
    }
    authorizes_hosts(&again.consent, opened.review.as_ref())?;
    let parent_run = follow_up.is_linked().then_some(run.run_id);
    Start { opened, file: None, method, parent_run, policy, confirmation, location }.run(out)
}

/// Prints the changes of the plan as a diff, with notes, and adds both to `details`.
fn show_changes(
    opened: &OpenedPlan,
    policy: &Policy,
    location: &EvidenceLocation,
    details: &mut Value,
    out: &mut Output,
) -> Result<(), Refusal> {
    let Some((plan, review)) = opened.plan.as_ref().zip(opened.review.as_ref()) else {
        return Ok(());
    };
    let workspace: &Path = &review.workspace;
    let shown = simulate_shown(plan, workspace, policy, Some(location), &Arc::default())?;
    let changes = shown.previews.iter().flat_map(|preview| &preview.changes);
    let diff: String = changes.map(FileChange::unified).collect();
    let notes = shown.previews.iter().flat_map(|it| {
        let notes = it.caveat().into_iter().chain(it.notes.iter().map(String::as_str));
        std::iter::once(it.summary.as_str()).chain(notes)
    });
    let notes: Vec<&str> = notes.collect();
    if !out.json() {
        quoted_lines(&diff).lines().for_each(|line| out.line(line));
        notes.iter().for_each(|note| out.line(&quoted_in_line(note)));
    }
    documents::insert(details, "notes", Some(notes));
    documents::insert(details, "diff", Some(diff));
    Ok(())
}
