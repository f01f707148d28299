//! What the bytes of a file alone tell about its plan, as `check` finds it without a workspace.

use crate::authorization::{Decided, ReviewSignature};
use crate::openers::{Format, NoFiles};
use crate::plan::{Finding, Plan, Severity, parse};
use crate::risk::{Policy, RiskLevel, Shell, of_faulty_step, of_step};
use crate::run::{InboxPlan, ReviewRequest};
use crate::worker::files::{PlanFile, Unusable, plan_of};

/// Reads the bytes of a file as a plan. Returns what they tell, and the findings.
pub(super) fn summary(bytes: Vec<u8>, policy: &Policy) -> (InboxPlan, Vec<Finding>) {
    if let Some(review) = of_review(&bytes, policy) {
        return (review, Vec::new());
    }
    let (bytes, format, mut findings) = match plan_of(bytes, &NoFiles) {
        Ok(PlanFile { bytes, format, findings }) => (bytes, format, findings),
        Err(Unusable { format, findings }) => return (counted(format, &findings), findings),
    };
    let mut parsed = parse(&bytes);
    findings.append(&mut parsed.findings);
    let plan = counted(format, &findings);
    let digest = Some(parsed.digest);
    let plan = match parsed.plan {
        Ok(it) => InboxPlan {
            digest,
            title: Some(it.name().to_owned()),
            steps: it.steps.len(),
            worst: worst(&it, policy),
            ..plan
        },
        Err(Some(faulty)) => {
            let is_faulty = faulty.steps.iter().any(|step| step.call.is_none());
            let of_faulty = is_faulty.then(|| of_faulty_step().level);
            InboxPlan {
                digest,
                title: Some(faulty.name().to_owned()),
                steps: faulty.steps.len(),
                worst: worst(&faulty.valid_steps(), policy).max(of_faulty),
                ..plan
            }
        }
        Err(None) => plan,
    };
    (plan, findings)
}

/// What a request for a signature, or an answer to one, tells; `None` for anything else. Neither is a plan that can be
/// authorized here.
fn of_review(bytes: &[u8], policy: &Policy) -> Option<InboxPlan> {
    let is_answer = ReviewSignature::is_named_in(bytes);
    if !is_answer && !ReviewRequest::is_named_in(bytes) {
        return None;
    }
    let text = std::str::from_utf8(bytes).ok()?;
    let none = counted(None, &[]);
    if is_answer {
        let document = ReviewSignature::parse("", text).ok()?.document;
        let verb = if document.decision == Decided::Refuse { "refuses" } else { "signs" };
        let title = format!("{} {verb} a plan", document.principal);
        return Some(InboxPlan { title: Some(title), format: Some("review_signature"), ..none });
    }
    let (request, plan) = ReviewRequest::parse(text).ok()?;
    Some(InboxPlan {
        title: Some(format!("Sign: {}", plan.name())),
        format: Some("review_request"),
        steps: plan.steps.len(),
        worst: request.rated(&plan, policy).impact.worst,
        ..none
    })
}

/// The findings in numbers, without a plan.
fn counted(format: Option<Format>, findings: &[Finding]) -> InboxPlan {
    let number = |severity| findings.iter().filter(|it| it.severity == severity).count();
    let first = findings.iter().find(|it| it.severity == Severity::Error);
    InboxPlan {
        digest: None,
        title: None,
        format: format.map(Format::as_str),
        steps: 0,
        errors: number(Severity::Error),
        warnings: number(Severity::Warning),
        first_error: first.map(|error| format!("{} {}", error.code, error.message)),
        worst: None,
    }
}

/// The highest risk of a step by the plan alone. For another shell than bash the review may raise it.
fn worst(plan: &Plan, policy: &Policy) -> Option<RiskLevel> {
    plan.steps.iter().map(|step| of_step(step, policy, Shell::default()).level).max()
}
