//! The preview of a step, shown where the person decides about it.

use egui::Ui;

use super::changes::changes_ui;
use super::code::whole_ui;
use super::files::are_many;
use super::inspector::indented;
use crate::plan::visible;
use crate::run::{Predicted, Preview};
use crate::ui::icon;
use crate::ui::theme::Tone;
use crate::ui::widgets;

/// The preview of a step: its diffs, and remarks in words.
pub(crate) fn preview_ui(ui: &mut Ui, preview: &Preview) {
    // Remarks after the diffs of many files would go unnoticed, and an expected failure has no diff.
    let words_first = are_many(&preview.changes) || preview.would_fail();
    if words_first {
        words_ui(ui, preview);
    }
    changes_ui(ui, "preview", &preview.changes);
    if !words_first {
        words_ui(ui, preview);
    }
}

fn words_ui(ui: &mut Ui, preview: &Preview) {
    indented(ui, |ui| {
        let (icon, tone) = match preview.predicted {
            _ if preview.would_fail() => (icon::WARNING, Tone::Caution),
            Predicted::Exact => (icon::DONE, Tone::Safe),
            Predicted::Partial => (icon::INFO, Tone::Caution),
            Predicted::Unpredictable => (icon::WARNING, Tone::Caution),
        };
        // Each remark is one sentence; a line break in a file name must not split it.
        let summary = visible(&preview.summary);
        whole_ui(ui, "summary", &summary, |ui, text| widgets::remark(ui, icon, tone, text));
        let sure = match preview.predicted {
            Predicted::Exact => None,
            Predicted::Partial => Some("Its effect can be predicted only in part."),
            Predicted::Unpredictable => Some("Its effect cannot be predicted."),
        };
        if let Some(sure) = sure {
            widgets::remark(ui, icon::CLOCK, Tone::Dim, sure);
        }
        for (index, note) in preview.notes.iter().enumerate() {
            whole_ui(ui, ("note", index), &visible(note), |ui, text| {
                widgets::remark(ui, icon::INFO, Tone::Dim, text);
            });
        }
    });
}
