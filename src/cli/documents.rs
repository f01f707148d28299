//! JSON documents that only the command line prints, and findings as lines for people.

use serde::Serialize;
use serde_json::{Value, json};

use super::opening::OpenedPlan;
use crate::plan::{Finding, ShownPlan, ShownStep, quoted};
use crate::risk::{RiskLevel, Verdict};
use crate::run::{Review, StepWallsReview, WallsReview};

/// The result of `check` as JSON.
pub(super) fn check(opened: &OpenedPlan) -> Value {
    let plan = opened.plan.as_ref();
    let mut document = json!({
        "digest": opened.digest,
        "valid": opened.is_valid(),
        "dialect": plan.map(|plan| plan.dialect),
        "findings": opened.findings,
        "plan": plan.map(plan_document),
        "risk": risk_document(plan, opened.review.as_ref()),
    });
    let commands = opened.review.as_ref().and_then(|review| review.workspace_commands.as_ref());
    insert(&mut document, "workspace_commands", commands);
    let walls = opened.review.as_ref().and_then(|review| review.walls.as_ref());
    let walls = walls.filter(|walls| walls.concerns_any()).map(|walls| {
        let WallsReview { setting, level, why_not_better, remembered, .. } = walls;
        json!({
            "setting": setting,
            "level": level,
            "why_not_better": why_not_better,
            "remembered": remembered,
        })
    });
    insert(&mut document, "walls", walls);
    let target = opened.review.as_ref().and_then(|review| review.binding.target.as_ref());
    insert(&mut document, "target", target);
    let fleet = opened.review.as_ref().and_then(|review| review.fleet.as_ref());
    insert(&mut document, "fleet", fleet);
    insert(&mut document, "choices", opened.review.as_ref().map(choices_document));
    document
}

/// What a person chose for the run, or what holds without a choice.
fn choices_document(review: &Review) -> Value {
    let binding = &review.binding;
    json!({
        "workspace": binding.workspace,
        "workspace_reason": review.workspace_reason,
        "target": binding.target.as_ref().map(|target| &target.destination),
        "mode": binding.mode,
        "ask_every_step": binding.choices.ask_every_step,
        "walls": binding.choices.walls,
        "grants": binding.grants,
    })
}

/// Adds a field to an object if there is a value for it.
pub(super) fn insert(document: &mut Value, name: &str, value: Option<impl Serialize>) {
    if let (Some(value), Some(fields)) = (value, document.as_object_mut()) {
        fields.insert(name.to_owned(), json!(value));
    }
}

/// A plan with the field names of a plan file, and with derived values filled in.
fn plan_document(plan: &ShownPlan) -> Value {
    let steps: Vec<Value> = plan.steps.iter().map(step_document).collect();
    json!({
        "plan_id": plan.plan_id,
        "intent": plan.intent,
        "title": plan.title,
        "created_by": plan.created_by,
        "evidence_referenced": plan.evidence_referenced,
        "mode": plan.mode,
        "target": plan.target,
        "inputs": plan.inputs,
        "success_criteria": plan.notes.success_criteria,
        "rollback_plan": plan.notes.rollback,
        "estimated_time": plan.notes.estimated_time,
        "steps": steps,
    })
}

fn step_document(step: &ShownStep) -> Value {
    json!({
        "step_id": step.step_id,
        "step_index": step.step_index,
        "tool": step.tool_name,
        "arguments": step.arguments,
        "precondition": step.precondition_text,
        "requires_confirmation": step.requires_confirmation,
        "title": step.title,
        "reason": step.reason,
        "expected_output": step.expected_output,
        "needs": step.needs,
        "stated_risk": step.stated,
    })
}

fn risk_document(plan: Option<&ShownPlan>, review: Option<&Review>) -> RiskDocument {
    let Some((plan, review)) = plan.zip(review) else { return RiskDocument::default() };
    let verdicts = review.risks.iter().zip(&review.asks);
    let steps = plan.steps.iter().zip(verdicts).map(|(step, (verdict, asks))| StepRisk {
        step_id: step.step_id.clone(),
        step_index: step.step_index,
        verdict: verdict.clone(),
        asks: asks.clone(),
        walls: review.walls_of(step.step_index).cloned(),
    });
    RiskDocument {
        worst: review.impact.worst,
        steps: steps.collect(),
        rollback: review.rollback.clone(),
    }
}

/// The risk of a plan.
#[derive(Serialize, Default)]
struct RiskDocument {
    worst: Option<RiskLevel>,
    steps: Vec<StepRisk>,
    /// The verdicts about the rollback commands, which do not run with the plan.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    rollback: Vec<Verdict>,
}

/// The risk of a step, and why it asks for confirmation.
#[derive(Serialize)]
struct StepRisk {
    step_id: String,
    step_index: usize,
    #[serde(flatten)]
    verdict: Verdict,
    asks: Option<String>,
    /// The walls of the step, the grants that it asks for, and the proposed ones; `None` if it starts no process on
    /// this computer.
    #[serde(flatten)]
    walls: Option<StepWallsReview>,
}

/// A finding as one line: position, severity, code and message.
pub(super) fn finding_line(finding: &Finding) -> String {
    let severity = finding.severity.as_str();
    let allowed = if finding.allowed.is_empty() {
        String::new()
    } else {
        format!(" (allowed: {})", finding.allowed.join(", "))
    };
    let text = format!(
        "{}:{}: {severity} {}: {}{allowed}",
        finding.line, finding.column, finding.code, finding.message
    );
    quoted(&text).into_owned()
}
