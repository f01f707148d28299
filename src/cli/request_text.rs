//! A request for a signature as text for the person who may sign it.

use super::check::describe;
use super::inputs::FilledIn;
use super::opening::{OpenedPlan, policy};
use super::output::{Output, QUOTE, quoted_in_line};
use super::refusal::Refusal;
use super::time::local_time;
use crate::plan::{Digest, Plan, parse, quoted_lines};
use crate::run::{FileChange, ReviewRequest};

/// Prints a request whose file has this digest: what its signature would cover, then what the other computer says.
///
/// # Errors
/// The settings cannot be used.
pub(super) fn print(
    request: &ReviewRequest,
    plan: Plan,
    digest: Digest,
    out: &mut Output,
) -> Result<(), Refusal> {
    let review = request.rated(&plan, &policy()?);
    let arguments: Vec<_> = plan.steps.iter().map(|step| step.arguments.clone()).collect();
    let binding = &review.binding;
    out.fields([
        ("Request", request.request_id.to_string()),
        ("Digest of it", digest.to_string()),
        ("Asked", local_time(request.requested_at_ms)),
        ("Asked by", request.requested_by.clone()),
        ("Evidence", request.evidence.clone()),
    ]);
    out.line("");
    for (path, state) in &binding.inputs {
        out.line(&quoted_in_line(&format!("File {path}: {state}")));
    }
    if !binding.grants.is_empty() {
        out.line(&quoted_in_line(&format!("Granted beyond the walls: {}", binding.grants)));
    }
    out.line("Programs and scripts that steps start are covered only where they are named here as files.");
    out.line("");
    let mut findings = parse(request.plan.as_bytes()).findings;
    findings.extend(review.findings.iter().cloned());
    let opened = OpenedPlan {
        digest: Some(request.plan_digest),
        plan: Some(plan.into()),
        findings,
        review: Some(review),
        filled_in: FilledIn::default(),
    };
    describe(&opened, out);
    out.line("The arguments of the steps:");
    for (index, arguments) in arguments.iter().enumerate() {
        for (name, value) in arguments {
            for (number, line) in value.lines().enumerate() {
                let name = if number == 0 { format!("{name}:") } else { String::new() };
                let line = format!("{:>3}  {name:<10} {line}", index + 1);
                out.line(&format!("{QUOTE}{}", quoted_lines(&line)));
            }
        }
    }
    out.line("");
    out.line("What the other computer says that they would do:");
    for (index, preview) in request.previews().enumerate() {
        let diff: String = preview.changes.iter().map(FileChange::unified).collect();
        let text = format!("{:>3}  {}\n{diff}", index + 1, preview.summary);
        for line in quoted_lines(&text).lines() {
            out.line(&format!("{QUOTE}{line}"));
        }
    }
    Ok(())
}
