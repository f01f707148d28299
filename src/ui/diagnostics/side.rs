//! The side panel: the checks of the run, and the most frequent codes and files of the listed diagnostics.

use egui::{ScrollArea, Sense, Ui, pos2, vec2};

use super::filter::tokens;
use super::listing::Counts;
use super::{Check, DiagnosticsView, Listing};
use crate::plan::drawable;
use crate::ui::action::DiagnosticsAction;
use crate::ui::evidence::facet_item;
use crate::ui::{Action, Text, Theme, controls, format, icon, rows, widgets};

pub(super) fn side_ui(ui: &mut Ui, view: &DiagnosticsView<'_>, actions: &mut Vec<Action>) {
    ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        widgets::list_heading(ui, "Checks of this run");
        for (index, check) in view.listing.checks.iter().enumerate() {
            if check_ui(ui, (check, index), view.listing) {
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
            widgets::list_heading(ui, title);
            for (value, count) in values {
                let (text, is_set) = toggled(&view.options.filter, word, value);
                if facet_item(ui, value, &format::count(*count as u64), is_set) {
                    actions.push(Action::Diagnostics(DiagnosticsAction::Filter(text)));
                }
            }
        }
    });
}

/// The filter text with `word:value` in place of any other value of `word`, or without it if it was set; and whether it
/// was set.
fn toggled(filter: &str, word: &str, value: &str) -> (String, bool) {
    let part = match value.contains(char::is_whitespace) {
        true => format!("{word}:\"{value}\""),
        false => format!("{word}:{value}"),
    };
    let tokens: Vec<_> = tokens(filter).collect();
    let was_set = tokens.contains(&part.as_str());
    let prefix = format!("{word}:");
    let others = tokens.into_iter().filter(|token| !token.starts_with(&prefix));
    let added = (!was_set).then_some(part.as_str());
    (others.chain(added).collect::<Vec<_>>().join(" "), was_set)
}

/// The height of a check in the panel, in points.
const HEIGHT: f32 = 44.0;

/// Draws a check. Returns whether it was clicked.
fn check_ui(ui: &mut Ui, (check, index): (&Check, usize), listing: &Listing) -> bool {
    let theme = Theme::of(ui);
    let selected = listing.step == Some(check.step);
    let size = vec2(ui.available_width(), HEIGHT);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    rows::item_background(ui, &response, selected);
    let (left, width) = (rect.left() + 8.0, rect.width() - 16.0);
    let name = format!("Step {}", check.step + 1);
    // That of which the others tell what is new and what is gone.
    let (base, said) = match listing.base == Some(check.step) {
        true => ("baseline", ", the baseline"),
        false => ("", ""),
    };
    let right = pos2(rect.right() - 8.0, rect.top() + 14.0);
    let base_width = widgets::paint_right(ui, right, (base, Text::Small, theme.dim));
    let subject = if check.subject == "." { "workspace" } else { &check.subject };
    let parts = [(name.as_str(), Text::Body, theme.text), (subject, Text::SmallMono, theme.dim)];
    let top = pos2(left, rect.top() + 14.0);
    let name_width = (width - base_width - 8.0).max(0.0);
    let (_, truncated) = widgets::paint_parts(ui, top, name_width, &parts);
    let summary = summary(check);
    let (icon, tone) = match check {
        Check { has_verdict: false, .. } => (icon::WARNING, theme.caution),
        Check { counts, .. } if counts.errors > 0 => (icon::FAILED, theme.danger),
        Check { counts, .. } if counts.warnings > 0 => (icon::WARNING, theme.caution),
        _ => (icon::DONE, theme.safe),
    };
    let middle = rect.top() + 31.0;
    widgets::paint_icon(ui, pos2(left + 6.0, middle), icon, 13.0, tone);
    let parts = [(summary.as_str(), Text::Small, theme.dim)];
    widgets::paint_parts(ui, pos2(left + 17.0, middle), width - 17.0, &parts);
    let clicked = controls::list_row(ui, &response, (selected, index), || {
        format!("{name}: {} {}, {summary}{said}", check.tool, drawable(&check.subject))
    });
    if truncated {
        let text = format!("{} {}", check.tool, drawable(&check.subject));
        rows::row_tooltip(&response, true, text);
    }
    clicked
}

fn summary(check: &Check) -> String {
    let Counts { errors, warnings, notes, .. } = check.counts;
    let mut parts = format::counts([(errors, "error"), (warnings, "warning"), (notes, "note")]);
    if !check.has_verdict && check.tool == "lsp_check" {
        parts.push("not finished".to_owned());
    }
    if parts.is_empty() { "nothing found".to_owned() } else { parts.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_part_is_set_and_removed() {
        let (filter, was_set) = toggled("word", "code", "E0425");
        assert_eq!((filter.as_str(), was_set), ("word code:E0425", false));
        assert_eq!(toggled(&filter, "code", "E0308").0, "word code:E0308");
        assert_eq!(toggled(&filter, "code", "E0425"), ("word".to_owned(), true));
        let (filter, _) = toggled("word", "file", "my file.rs");
        assert_eq!(filter, "word file:\"my file.rs\"");
        assert_eq!(toggled(&filter, "file", "my file.rs"), ("word".to_owned(), true));
        assert_eq!(toggled(&filter, "file", "b.rs"), ("word file:b.rs".to_owned(), false));
    }
}
