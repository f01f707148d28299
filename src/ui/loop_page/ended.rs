//! Why a loop ended, what that means and what to do next, in the words of the specification.

use egui::{Frame, Ui};

use super::model::stop_look;
use crate::run::{LoopPhase, LoopState, StopReason};
use crate::ui::icon;
use crate::ui::theme::{Text, Tone};
use crate::ui::widgets::{self, Chip};

pub(super) fn ended_ui(ui: &mut Ui, state: &LoopState) {
    match &state.phase {
        LoopPhase::Ended(reason) => boxed(ui, |ui| reason_ui(ui, reason)),
        LoopPhase::Interrupted => boxed(ui, |ui| {
            Chip::new(icon::WARNING, "interrupted", Tone::Danger).ui(ui);
            let text = "The program that ran this loop has stopped without recording an end. The loop \
                        will not resume by itself. The outcome of the step under way is unknown.";
            widgets::paragraph(ui, text, Text::Body, Tone::Plain);
            let text = "Look at the last attempt and its run; Reconcile, on the page of the run, compares \
                        its files with the disk. Then start a new loop.";
            widgets::paragraph(ui, text, Text::Body, Tone::Dim);
        }),
        _ => {}
    }
}

fn boxed(ui: &mut Ui, add: impl FnOnce(&mut Ui)) {
    let frame: Frame = widgets::card(ui);
    frame.show(ui, |ui| {
        ui.set_min_width(ui.available_width());
        ui.spacing_mut().item_spacing.y = 6.0;
        add(ui);
    });
}

fn reason_ui(ui: &mut Ui, reason: &StopReason) {
    let (icon, tone) = stop_look(reason.code);
    ui.horizontal_wrapped(|ui| {
        Chip::new(icon, reason.code.as_str(), tone).ui(ui);
        let detail = &reason.detail;
        let place = [
            detail.attempt.map(|attempt| format!("attempt {attempt}")),
            detail.action_index.map(|index| format!("action {}", index + 1)),
            detail.planner_failure_code.clone(),
        ];
        let place: Vec<String> = place.into_iter().flatten().collect();
        if !place.is_empty() {
            widgets::line(ui, place.join(", "), Text::Meta, Tone::Dim);
        }
        if detail.verified == Some(false) {
            Chip::new(icon::WARNING, "not verified", Tone::Caution)
                .explained("No verification has passed: nothing has checked the result.")
                .ui(ui);
        }
    });
    widgets::paragraph(ui, reason.code.meaning(), Text::Body, Tone::Plain);
    if !reason.message.is_empty() {
        widgets::paragraph(ui, &reason.message, Text::Mono, Tone::Plain);
    }
    widgets::paragraph(ui, reason.code.next(), Text::Body, Tone::Dim);
}
