//! `simulate`: prints what a plan would do to files, as a note per step and as one diff. It needs no authorization,
//! because nothing is executed or changed and no process is started.

use std::sync::Arc;

use serde::Serialize;

use super::documents::finding_line;
use super::inputs::Ask;
use super::opening::{ReadPlan, evidence_location};
use super::output::{Output, quoted_in_line};
use super::refusal::Refusal;
use super::{Exit, args};
use crate::engine::{Simulation, simulate_shown};
use crate::plan::{Digest, Finding, ToolCall, locate, quoted};
use crate::run::{FileChange, Predicted};

/// The JSON result.
#[derive(Serialize)]
struct Document<'a> {
    digest: Option<Digest>,
    plan_id: Option<&'a str>,
    steps: Vec<Step<'a>>,
    diff: &'a str,
    findings: &'a [Finding],
}

#[derive(Serialize)]
struct Step<'a> {
    step_id: &'a str,
    tool: &'a str,
    predicted: Predicted,
    note: String,
}

/// Shows what all steps of a plan would do together.
pub(super) fn simulate(command: &args::Check, out: &mut Output) -> Result<Exit, Refusal> {
    let workspace = command.workspace.workspace.as_deref();
    let policy = command.options.policy()?;
    let evidence = evidence_location(&command.options.common.folder).ok();
    let evidence = evidence.as_ref();
    let inputs = (&command.inputs, Ask::Never);
    let read = ReadPlan::file(&command.plan, workspace, &command.choices, inputs)?;
    let review = read.review_without_processes(&policy, evidence)?;
    let mut opened = read.with_review(review);
    let simulation = match (&opened.plan, &opened.review) {
        (Some(plan), Some(review)) => {
            simulate_shown(plan, &review.workspace, &policy, evidence, &Arc::default())?
        }
        _ => Simulation::default(),
    };
    if let Some(plan) = &opened.plan {
        let mut new_findings = simulation.findings.clone();
        locate(&plan.source, &mut new_findings);
        // Findings of the review are not repeated.
        new_findings.retain(|finding| !opened.findings.contains(finding));
        opened.findings.extend(new_findings);
    }
    let diff: String = simulation.changes.iter().map(FileChange::unified).collect();
    let steps = opened.plan.iter().flat_map(|plan| &plan.steps).zip(&simulation.previews);
    let steps: Vec<Step<'_>> = steps
        .map(|(step, preview)| Step {
            step_id: &step.step_id,
            tool: &step.tool_name,
            predicted: preview.predicted,
            note: std::iter::once(&preview.summary)
                .chain(&preview.notes)
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join(" "),
        })
        .collect();
    if out.json() {
        out.document(&Document {
            digest: opened.digest,
            plan_id: opened.plan.as_ref().map(|plan| plan.plan_id.as_str()),
            steps,
            diff: &diff,
            findings: &opened.findings,
        });
    } else {
        let plan_steps = opened.plan.iter().flat_map(|plan| &plan.steps);
        for ((shown, step), preview) in plan_steps.zip(&steps).zip(&simulation.previews) {
            let what = match &shown.call {
                // The preview of every other tool names what it is about.
                Some(call @ ToolCall::Shell { .. }) => {
                    format!("{}  {}  ", step.tool, call.headline().1)
                }
                _ => format!("{}  ", step.tool),
            };
            let caveat = preview.caveat().map_or_else(String::new, |caveat| format!(" {caveat}"));
            let line = format!("{:>3}  {what}{}{caveat}", shown.step_index + 1, step.note);
            out.line(&quoted_in_line(&line));
        }
        out.line("");
        for line in diff.lines() {
            out.line(&quoted(line));
        }
        for finding in &opened.findings {
            out.line(&finding_line(finding));
        }
    }
    Ok(if opened.is_valid() { Exit::Done } else { Exit::InvalidPlan })
}
