//! What stands below the results: the verification, and the export under way.

use egui::{Margin, Panel, Ui};

use super::Verification;
use crate::ui::widgets::panel_frame;
use crate::ui::{Action, EvidenceAction, Look, Now, Text, Theme, Tone, format, icon, widgets};

/// Shows how far the export under way is, with a button that stops it.
pub(super) fn exporting_ui(ui: &mut Ui, executions: Option<u64>, actions: &mut Vec<Action>) {
    let Some(executions) = executions else { return };
    let frame = panel_frame(Theme::of(ui).background, Margin::symmetric(16, 8));
    Panel::bottom("export").frame(frame).resizable(false).show(ui, |ui| {
        ui.horizontal(|ui| {
            let hint = "End the export. Nothing is left of it.";
            if widgets::tooltip_button(ui, Look::Plain, icon::STOP, "Stop the export", hint) {
                actions.push(Action::Evidence(EvidenceAction::StopExport));
            }
            let text = format!("Exporting: {} executions so far", format::count(executions));
            widgets::line(ui, text, Text::Meta, Tone::Dim);
        });
    });
}

/// Shows the result of the verification, if one was requested. It is below the list, whose rows keep their places when
/// it appears.
pub(super) fn verification_ui(ui: &mut Ui, verification: &Verification, now: &Now) {
    let (icon, tone, text) = match verification {
        Verification::NotRequested => return,
        Verification::UnderWay => (icon::CLOCK, Tone::Dim, "Recomputing the chain…".to_owned()),
        Verification::Done { report, at_ms } if report.ok => (
            icon::SEAL,
            Tone::Safe,
            format!(
                "Verified {}: all {} records are unchanged. Keep a copy of the head, so that a \
                 later truncation is detected too.",
                now.minute(*at_ms),
                format::count(report.rows)
            ),
        ),
        Verification::Done { report, .. } => (
            icon::STOP_SIGN,
            Tone::Danger,
            format!(
                "The evidence was changed. First difference: {}",
                report.first_bad.as_deref().unwrap_or("not named")
            ),
        ),
    };
    let frame = panel_frame(Theme::of(ui).background, Margin::symmetric(16, 8));
    Panel::bottom("verification").frame(frame).resizable(false).show(ui, |ui| {
        widgets::remark(ui, icon, tone, text);
        if let Verification::Done { report, .. } = verification {
            ui.horizontal(|ui| {
                ui.add_space(24.0);
                let head = report.head.to_string();
                widgets::line(ui, "head", Text::Meta, Tone::Dim);
                widgets::copyable(ui, &head, &head, "the head of the chain");
            });
        }
    });
}
