//! What an authorization is bound to, in full.

use std::sync::Arc;

use egui::Ui;

use super::AuthorizeView;
use super::sentences::chosen;
use crate::plan::drawable;
use crate::ui::plan::{Gutter, cached_rows, code_rows_ui, columns, full_text_ui, text_rows};
use crate::ui::{Text, widgets};

/// What the authorization is bound to, in full.
pub(super) fn covered_ui(ui: &mut Ui, view: &AuthorizeView) {
    let AuthorizeView { plan, review, .. } = view;
    full_text_ui(ui, "name", plan.name(), |ui, name| {
        widgets::fact(ui, "name", name, Text::Body);
    });
    widgets::fact(ui, "plan", &plan.plan_id, Text::Mono);
    widgets::fact(ui, "plan digest", plan.digest.to_string(), Text::SmallMono);
    widgets::fact(ui, "settings digest", review.binding.policy.to_string(), Text::SmallMono);
    widgets::fact(ui, "workspace", &review.binding.workspace, Text::Mono);
    for (name, value) in chosen(&review.binding) {
        widgets::fact(ui, name, drawable(&value), Text::Body);
    }
    if view.inputs.is_empty() {
        return;
    }
    widgets::heading(ui, "Files that must not change before the run");
    let columns = columns(ui, ui.available_width(), Gutter::NONE);
    let rows = cached_rows(ui, "inputs", &[Arc::clone(&view.inputs)], columns, || {
        text_rows(&view.inputs, columns)
    });
    code_rows_ui(ui, "inputs", &rows, Gutter::NONE);
}
