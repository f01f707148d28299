//! What the bytes of a file alone tell about its plan, as `check` finds it without a workspace.

use crate::openers::{Format, NoFiles};
use crate::plan::{Finding, Plan, Severity, parse};
use crate::risk::{Policy, RiskLevel, Shell, of_faulty_step, of_step};
use crate::run::InboxPlan;
use crate::worker::files::{PlanFile, Unusable, plan_of};

/// Reads the bytes of a file as a plan. Returns what they tell, and the findings.
pub(super) fn summary(bytes: Vec<u8>, policy: &Policy) -> (InboxPlan, Vec<Finding>) {
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
