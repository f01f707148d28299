//! The checks of the run, and the most frequent codes and files of the one shown.

use egui::{ScrollArea, Sense, Ui, pos2, vec2};

use super::{Check, DiagnosticsView, Listing};
use crate::plan::visible;
use crate::ui::action::{Action, DiagnosticsAction};
use crate::ui::controls;
use crate::ui::evidence::facet_item;
use crate::ui::format;
use crate::ui::icon;
use crate::ui::rows;
use crate::ui::theme::{Text, Theme};
use crate::ui::widgets;

pub(super) fn side_ui(ui: &mut Ui, view: &DiagnosticsView<'_>, actions: &mut Vec<Action>) {
    ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        widgets::heading(ui, "Checks of this run");
        ui.add_space(4.0);
        for check in &view.listing.checks {
            if check_ui(ui, check, view.listing) {
                actions.push(Action::Diagnostics(DiagnosticsAction::Show(Some(check.step))));
            }
        }
        for (title, word, values) in
            [("Code", "code", &view.listing.codes), ("File", "file", &view.listing.files)]
        {
            if values.is_empty() {
                continue;
            }
            ui.add_space(14.0);
            widgets::heading(ui, title);
            ui.add_space(4.0);
            for (value, count) in values {
                let (text, set) = toggled(&view.sight.filter, word, value);
                if facet_item(ui, value, &format::count(*count as u64), set) {
                    actions.push(Action::Diagnostics(DiagnosticsAction::Filter(text)));
                }
            }
        }
    });
}

/// The filter text with this part added, or without it if it was set; and whether it was set.
fn toggled(filter: &str, word: &str, value: &str) -> (String, bool) {
    let part = format!("{word}:{value}");
    let tokens: Vec<_> = filter.split_whitespace().collect();
    let set = tokens.contains(&part.as_str());
    let prefix = format!("{word}:");
    let kept = tokens.into_iter().filter(|token| !token.starts_with(&prefix));
    let added = (!set).then_some(part.as_str());
    (kept.chain(added).collect::<Vec<_>>().join(" "), set)
}

const HEIGHT: f32 = 44.0;

fn check_ui(ui: &mut Ui, check: &Check, listing: &Listing) -> bool {
    let theme = Theme::of(ui);
    let selected = listing.step == Some(check.step);
    let size = vec2(ui.available_width(), HEIGHT);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    rows::item_background(ui, &response, selected);
    let (left, width) = (rect.left() + 8.0, rect.width() - 16.0);
    let name = format!("Step {}", check.step + 1);
    let first = if listing.base == Some(check.step) { "first" } else { "" };
    let right = pos2(rect.right() - 8.0, rect.top() + 14.0);
    let taken = widgets::paint_right(ui, right, first, Text::Small, theme.dim);
    let about = if check.about == "." { "workspace" } else { &check.about };
    let parts = [(name.as_str(), Text::Body, theme.text), (about, Text::SmallMono, theme.dim)];
    let top = pos2(left, rect.top() + 14.0);
    let (_, cut) = widgets::paint_parts(ui, top, (width - taken - 8.0).max(0.0), &parts);
    let summary = summary(check);
    let (icon, tone) = match check {
        Check { verdict: false, .. } => (icon::WARNING, theme.caution),
        Check { found, .. } if found.errors > 0 => (icon::FAILED, theme.danger),
        Check { found, .. } if found.warnings > 0 => (icon::WARNING, theme.caution),
        _ => (icon::DONE, theme.safe),
    };
    let middle = rect.top() + 31.0;
    widgets::paint_icon(ui, pos2(left + 6.0, middle), icon, 13.0, tone);
    let parts = [(summary.as_str(), Text::Small, theme.dim)];
    widgets::paint_parts(ui, pos2(left + 17.0, middle), width - 17.0, &parts);
    let clicked = controls::selectable(ui, &response, selected, || {
        format!("{name}: {} {}, {summary}", check.tool, visible(&check.about))
    });
    if cut {
        response.on_hover_text(format!("{} {}", check.tool, visible(&check.about)));
    }
    clicked
}

fn summary(check: &Check) -> String {
    let counts = [
        (check.found.errors, "error"),
        (check.found.warnings, "warning"),
        (check.found.notes, "note"),
    ];
    let mut parts: Vec<_> = counts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, noun)| format::counted(count, noun))
        .collect();
    if !check.verdict && check.tool == "lsp_check" {
        parts.push("not finished".to_owned());
    }
    if parts.is_empty() { "nothing found".to_owned() } else { parts.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_part_is_set_and_removed() {
        let (set, was) = toggled("word", "code", "E0425");
        assert_eq!((set.as_str(), was), ("word code:E0425", false));
        assert_eq!(toggled(&set, "code", "E0308").0, "word code:E0308");
        assert_eq!(toggled(&set, "code", "E0425"), ("word".to_owned(), true));
    }
}
