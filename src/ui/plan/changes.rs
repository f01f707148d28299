//! File diffs, one after the other.

use egui::{Align, Label, Layout, TextStyle, TextWrapMode, Ui, vec2};

use super::code::whole_ui;
use super::diff::{diff_ui, layout_ui};
use super::files::files_ui;
use super::inspector::indented;
use crate::run::{Diff, FileChange};
use crate::ui::format;
use crate::ui::icon;
use crate::ui::theme::{Text, Theme, Tone};
use crate::ui::widgets;

/// How many diffs are shown before the person asks for more.
const FILES: usize = 50;

/// The width of what shares a line with a path: its icon and the choice of [`layout_ui`], in points.
const BESIDE_PATH: f32 = 190.0;

/// File diffs, one after the other. `place` distinguishes several uses in the same part of the window.
pub(crate) fn changes_ui(ui: &mut Ui, place: &str, changes: &[FileChange]) {
    let id = ui.scope_id().with(("files shown", place, changes.len()));
    let mut shown = ui.data(|data| data.get_temp(id)).unwrap_or(FILES);
    let wanted = files_ui(ui, place, changes);
    if let Some(wanted) = wanted.filter(|wanted| *wanted >= shown) {
        shown = wanted + 1;
        ui.data_mut(|data| data.insert_temp(id, shown));
    }
    for (index, change) in changes.iter().take(shown).enumerate() {
        if wanted == Some(index) {
            ui.scroll_to_cursor(Some(Align::Min));
        }
        change_ui(ui, change, index);
    }
    let more = changes.len().saturating_sub(shown);
    if more > 0 {
        indented(ui, |ui| {
            let text = format!("Show {} more of {}", more.min(FILES), format::count(more as u64));
            if widgets::button(ui, widgets::Look::Plain, Some(icon::DOWN), &text, true).clicked() {
                ui.data_mut(|data| data.insert_temp(id, shown + FILES));
            }
        });
    }
}

fn change_ui(ui: &mut Ui, change: &FileChange, index: usize) {
    let theme = Theme::of(ui);
    indented(ui, |ui| {
        whole_ui(ui, ("path", index), &change.path, |ui, path| {
            let has_choice = index == 0 && matches!(change.diff, Diff::Text { .. });
            let mut parts = vec![(path, Text::Mono, theme.text)];
            let counts = match &change.diff {
                Diff::Text { added, removed, .. } => {
                    Some((format!("  +{added}"), format!("  −{removed}")))
                }
                Diff::Unchanged | Diff::Binary { .. } => None,
            };
            if let Some((added, removed)) = &counts {
                parts.push((added, Text::Mono, theme.safe));
                parts.push((removed, Text::Mono, theme.danger));
            }
            let name = widgets::job(&parts);
            // If the path would wrap because of the choice, the choice moves to its own line.
            let line = name.clone().into_galley(
                ui,
                Some(TextWrapMode::Extend),
                f32::INFINITY,
                TextStyle::Monospace,
            );
            let is_above = has_choice && ui.available_width() < line.size().x + BESIDE_PATH;
            if is_above {
                ui.with_layout(Layout::right_to_left(Align::Min), layout_ui);
            }
            ui.horizontal_top(|ui| {
                let (rect, _) = ui.allocate_exact_size(vec2(18.0, 18.0), egui::Sense::hover());
                widgets::paint_icon(ui, rect.center(), icon::DIFF, 16.0, theme.dim);
                ui.with_layout(Layout::right_to_left(Align::Min), |ui| {
                    if has_choice && !is_above {
                        layout_ui(ui);
                    }
                    ui.with_layout(Layout::left_to_right(Align::Min), |ui| {
                        // The dialog never truncates: a long path wraps.
                        ui.add(Label::new(name).wrap());
                    });
                });
            });
        });
    });
    match &change.diff {
        Diff::Text { lines, .. } => diff_ui(ui, ("diff", index), change, lines),
        Diff::Unchanged => indented(ui, |ui| {
            widgets::remark(ui, icon::INFO, Tone::Dim, "The file would not change.");
        }),
        Diff::Binary { before_bytes, after_bytes } => indented(ui, |ui| {
            let size = |bytes: &Option<u64>| bytes.map_or("absent".to_owned(), format::bytes);
            let text =
                format!("Not text: {} now, {} after.", size(before_bytes), size(after_bytes));
            widgets::remark(ui, icon::INFO, Tone::Dim, text);
        }),
    }
    ui.add_space(4.0);
}
