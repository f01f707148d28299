//! The JSON documents of SPEC §11 that no other room has, and findings as lines for people.

use serde_json::{Value, json};

use super::place::OpenedPlan;
use crate::plan::{Finding, Plan, Severity, Step, visible};
use crate::run::Review;

/// What `check` answers.
pub(super) fn check(opened: &OpenedPlan) -> Value {
    let plan = opened.plan.as_ref();
    json!({
        "digest": opened.digest,
        "valid": opened.is_valid(),
        "dialect": plan.map(|plan| plan.dialect),
        "findings": opened.findings,
        "plan": plan.map(plan_document),
        "risk": risk_document(plan, opened.review.as_ref()),
    })
}

/// A plan in the words of a plan file, with what was derived filled in.
fn plan_document(plan: &Plan) -> Value {
    let steps: Vec<Value> = plan.steps.iter().map(step_document).collect();
    json!({
        "plan_id": plan.plan_id,
        "intent": plan.intent,
        "title": plan.title,
        "created_by": plan.created_by,
        "evidence_referenced": plan.evidence_referenced,
        "steps": steps,
    })
}

fn step_document(step: &Step) -> Value {
    json!({
        "step_id": step.step_id,
        "step_index": step.step_index,
        "tool": step.tool_name,
        "arguments": step.arguments,
        "precondition": step.precondition_text,
        "requires_confirmation": step.requires_confirmation,
        "title": step.title,
        "reason": step.reason,
    })
}

fn risk_document(plan: Option<&Plan>, review: Option<&Review>) -> Value {
    let steps: Vec<Value> = plan
        .zip(review)
        .map(|(plan, review)| {
            let verdicts = review.risks.iter().zip(&review.asks);
            plan.steps
                .iter()
                .zip(verdicts)
                .map(|(step, (verdict, asks))| {
                    json!({
                        "step_id": step.step_id,
                        "step_index": step.step_index,
                        "level": verdict.level,
                        "rule": verdict.rule,
                        "span": verdict.span,
                        "reason": verdict.reason,
                        "suggestion": verdict.suggestion,
                        "asks": asks,
                    })
                })
                .collect()
        })
        .unwrap_or_default();
    json!({ "worst": review.and_then(|review| review.impact.worst), "steps": steps })
}

/// A finding as one line: place, severity, code, words.
pub(super) fn finding_line(finding: &Finding) -> String {
    let severity = match finding.severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    };
    let allowed = if finding.allowed.is_empty() {
        String::new()
    } else {
        format!(" (allowed: {})", finding.allowed.join(", "))
    };
    let text = format!(
        "{}:{}: {severity} {}: {}{allowed}",
        finding.line, finding.column, finding.code, finding.message
    );
    visible(&text).into_owned()
}
