//! The tabs of a record: why it was run, who decided, and what is recorded.

use egui::Ui;

use super::links;
use super::signatures::signatures_ui;
use crate::run::ExecutionDetail;
use crate::ui::plan::{argument_ui, short_first};
use crate::ui::{Action, Now, Text, Tone, format, icon, widgets};

pub(super) fn section(ui: &mut Ui, name: &str) {
    ui.add_space(10.0);
    ui.separator();
    ui.add_space(2.0);
    widgets::line(ui, name, Text::Strong, Tone::Plain);
}

/// Shows the plan, the step and its arguments.
pub(super) fn why_ui(ui: &mut Ui, detail: &ExecutionDetail) {
    let row = &detail.row;
    widgets::fact(ui, "plan", &detail.run.plan_name, Text::Body);
    let step = format!("{} of {}, {}", row.step_index + 1, detail.run.step_count, row.step_id);
    widgets::fact(ui, "step", step, Text::Body);
    widgets::fact(ui, "workspace", &detail.run.workspace, Text::Mono);
    if let Some(risk) = row.risk {
        widgets::fact(ui, "risk", risk.as_str(), Text::Body);
    }
    if let Some(reason) = &detail.risk_reason {
        widgets::fact(ui, "reason", reason, Text::Body);
    }
    if let Some(rule) = &detail.risk_rule {
        widgets::fact(ui, "rule", rule, Text::Mono);
    }
    for (name, value) in short_first(&detail.arguments) {
        argument_ui(ui, name, value);
    }
}

/// Shows who decided what about the execution and its run, and when.
pub(super) fn decisions_ui(ui: &mut Ui, detail: &ExecutionDetail, now: &Now) {
    if detail.decisions.is_empty() {
        widgets::paragraph(ui, "Nobody was asked about this step.", Text::Body, Tone::Dim);
    }
    for decision in &detail.decisions {
        let mut text = format!("{}, {}", decision.sentence(), now.full(decision.timestamp_ms));
        if !decision.note.is_empty() {
            text.push_str(&format!("\n{}", decision.note));
        }
        widgets::remark(ui, icon::HAND, Tone::Dim, text);
    }
    signatures_ui(ui, &detail.signatures, now);
}

/// Shows the times, the identifiers, the touched targets and the link of the chain.
pub(super) fn record_ui(
    ui: &mut Ui,
    (detail, is_here): (&ExecutionDetail, bool),
    now: &Now,
    actions: &mut Vec<Action>,
) {
    let (row, run) = (&detail.row, &detail.run);
    for (name, at_ms) in detail.times() {
        widgets::fact(ui, name, now.full(at_ms), Text::Body);
    }
    if let Some(duration) = row.duration_ms.and_then(|it| row.known.took(it)) {
        widgets::fact(ui, "took", format::duration(duration), Text::Body);
    }
    if let Some(code) = row.exit_code {
        widgets::fact(ui, "exit code", code.to_string(), Text::Mono);
    }
    if detail.intent_at_ms.is_some() {
        widgets::fact(ui, "intent", "recorded before the tool was called", Text::Body);
    }
    widgets::fact(ui, "plan", &run.plan_name, Text::Body);
    let step = format!("{} of {}, {}", row.step_index + 1, run.step_count, row.step_id);
    widgets::fact(ui, "step", step, Text::Body);
    widgets::fact(ui, "workspace", &run.workspace, Text::Mono);
    widgets::copyable_value(ui, "execution", &row.execution_id.to_string(), "the execution's id");
    widgets::copyable_value(ui, "run", &row.run_id.to_string(), "the run's id");
    let digest = run.plan_digest.to_string();
    widgets::copyable_value(ui, "plan digest", &digest, "the plan's digest");
    if let Some(seq) = detail.ledger_seq {
        widgets::fact(ui, "link", format::count(u64::try_from(seq).unwrap_or(0)), Text::Mono);
        if let Some(digest) = detail.ledger_digest {
            widgets::copyable_value(ui, "digest", &digest.to_string(), "the link's digest");
        }
    }
    if !detail.edges.is_empty() {
        section(ui, "Touched");
        let workspace = is_here.then_some(&*run.workspace);
        links::links_ui(ui, &detail.edges, workspace, actions);
    }
}
