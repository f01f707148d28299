//! `check`: everything that is known about a plan before anybody says yes. Nothing is run.

use super::Exit;
use super::args;
use super::documents::{self, finding_line};
use super::output::Output;
use super::place::{OpenedPlan, policy};
use super::refusal::Refusal;
use crate::plan::{Dialect, Plan, Severity, visible};
use crate::run::{PreconditionState, Review};

/// Validates and reviews a plan file.
pub(super) fn check(command: &args::Check, out: &mut Output) -> Result<Exit, Refusal> {
    let workspace = command.workspace.workspace.as_deref();
    let opened = OpenedPlan::open(&command.plan, workspace, &command.engine.settle(policy()?))?;
    if out.json() {
        out.document(&documents::check(&opened));
    } else {
        print(&opened, out);
    }
    Ok(if opened.is_valid() { Exit::Done } else { Exit::InvalidPlan })
}

/// Everything that is known about a plan, for people.
pub(super) fn print(opened: &OpenedPlan, out: &mut Output) {
    if let (Some(plan), Some(review)) = (&opened.plan, &opened.review) {
        header(opened, plan, review, out);
        steps(plan, review, out);
    }
    for finding in &opened.findings {
        out.line(&finding_line(finding));
    }
    let errors = opened.findings.iter().filter(|it| it.severity == Severity::Error).count();
    match opened.digest {
        Some(digest) if opened.is_valid() => {
            out.line(&format!("Valid. `--authorize {digest}` runs exactly this."));
        }
        _ if errors == 1 => out.line("Not valid: 1 error."),
        _ => out.line(&format!("Not valid: {errors} errors.")),
    }
}

fn header(opened: &OpenedPlan, plan: &Plan, review: &Review, out: &mut Output) {
    let mut rows = Vec::new();
    let mut row = |name: &str, value: &str| {
        rows.push(vec![name.to_owned(), visible(value).into_owned()]);
    };
    match &plan.title {
        Some(title) => row("Plan", &format!("{title} ({})", plan.plan_id)),
        None => row("Plan", &plan.plan_id),
    }
    if let Some(created_by) = &plan.created_by {
        row("Written by", &format!("{created_by} (as the file says)"));
    }
    if let Some(intent) = plan.intent {
        row("Intent", intent.as_str());
    }
    if plan.dialect == Dialect::CommandPlan {
        row("Mode", plan.mode.as_str());
        row("Commands run", plan.target.as_deref().map_or("on this machine", |host| host));
    }
    if let Some(digest) = opened.digest {
        row("Digest", &digest.to_string());
    }
    row("Workspace", &review.workspace.display().to_string());
    row("", &review.workspace_reason);
    if let Some(worst) = review.impact.worst {
        row("Worst risk", worst.as_str());
    }
    if !review.impact.files.is_empty() {
        row("Writes", &review.impact.files.join(", "));
    }
    out.table(&rows);
    out.line("");
}

fn steps(plan: &Plan, review: &Review, out: &mut Output) {
    let states = review.risks.iter().zip(&review.asks).zip(&review.preconditions);
    let mut rows = Vec::new();
    for (step, ((risk, asks), precondition)) in plan.steps.iter().zip(states) {
        let what = match &step.call {
            Some(call) => {
                let (verb, object) = call.headline();
                format!("{verb} {object}")
            }
            None => "faulty".to_owned(),
        };
        let mut notes = Vec::new();
        if let Some(why) = asks {
            notes.push(format!("asks first: {}", why.trim_end_matches('.')));
        }
        match precondition {
            // Said already.
            _ if step.call.is_none() => {}
            PreconditionState::Fails { found } => {
                notes.push(format!("precondition {:?} fails now: {found}", step.precondition_text));
            }
            PreconditionState::Later { reason } => {
                notes.push(format!("precondition {:?} {reason}", step.precondition_text));
            }
            PreconditionState::None | PreconditionState::Holds { .. } => {}
        }
        let cells = [
            format!("{:>3}", step.step_index + 1),
            risk.level.as_str().to_owned(),
            step.tool_name.clone(),
            what,
            notes.join("; "),
        ];
        rows.push(cells.iter().map(|cell| visible(cell).into_owned()).collect());
    }
    out.table(&rows);
    out.line("");
}
