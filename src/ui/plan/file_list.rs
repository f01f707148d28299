//! The list of the files above their diffs, if there are many.

use std::borrow::Cow;
use std::collections::HashMap;

use egui::{Label, ScrollArea, Sense, Ui};

use super::changes::{CUT, Cut};
use super::indented;
use crate::authorization::FileState;
use crate::plan::drawable;
use crate::run::{Diff, FileChange};
use crate::ui::{Text, Theme, Tone, format, rows, theme, widgets};

/// The minimum number of files that are listed above their diffs.
const MIN_LISTED: usize = 4;
/// The maximum height of the list, in points; it scrolls beyond that.
const MAX_LIST_HEIGHT: f32 = 168.0;

/// Whether the files are listed above their diffs.
pub(super) fn has_file_list(changes: &[FileChange]) -> bool {
    changes.len() >= MIN_LISTED
}

/// Lists the files if there are many. Returns the index of the file that was clicked.
pub(super) fn files_ui(
    ui: &mut Ui,
    id_salt: &str,
    changes: &[FileChange],
    twins: &HashMap<usize, String>,
    cut: Option<Cut>,
) -> Option<usize> {
    if !has_file_list(changes) {
        return None;
    }
    let mut clicked = None;
    indented(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        let title = cut
            .map_or_else(|| format::counted(changes.len(), "file"), |cut| cut.words(changes.len()));
        widgets::line(ui, title, Text::Small, Tone::Dim);
        widgets::card(ui).show(ui, |ui| {
            ui.set_width(ui.available_width());
            // Whole rows.
            let row = ui.fonts_mut(|fonts| fonts.row_height(&Text::Mono.font())) + 2.0;
            let height = (MAX_LIST_HEIGHT / row).floor() * row - 2.0;
            let list = ScrollArea::vertical().id_salt(("files", id_salt));
            let list = list.max_height(height).min_scrolled_height(height);
            list.auto_shrink([false, true]).show(ui, |ui| {
                ui.set_max_width(ui.available_width() - theme::SCROLL_BAR);
                for (index, change) in changes.iter().enumerate() {
                    let is_cut = cut.is_some() && index + 1 == changes.len();
                    if file_ui(ui, change, twins.get(&index).map(String::as_str), is_cut) {
                        clicked = Some(index);
                    }
                }
            });
        });
        ui.add_space(6.0);
    });
    clicked
}

/// A line of the list. Returns whether it was clicked.
fn file_ui(ui: &mut Ui, change: &FileChange, twin: Option<&str>, is_cut: bool) -> bool {
    let theme = Theme::of(ui);
    let counts = match &change.diff {
        Diff::Text { added, removed, .. } if !is_cut => {
            [(*added, '+'), (*removed, '−')].map(|(count, sign)| {
                if count > 0 { format!("  {sign}{count}") } else { String::new() }
            })
        }
        Diff::Text { .. } | Diff::Unchanged | Diff::Binary { .. } => [String::new(), String::new()],
    };
    let word = match (change.before, change.after) {
        (FileState::Absent, _) => "  new",
        (_, FileState::Absent) => "  deleted",
        _ if matches!(change.diff, Diff::Binary { .. }) => "  not compared",
        _ => "",
    };
    let path = twin.map_or_else(|| drawable(&change.path), Cow::Borrowed);
    let [added, removed] = &counts;
    let text = widgets::styled_text(&[
        (&path, Text::Mono, theme.text),
        (word, Text::Small, theme.dim),
        (if is_cut { CUT } else { "" }, Text::Small, theme.caution),
        (added, Text::Mono, theme.safe),
        (removed, Text::Mono, theme.danger),
    ]);
    let label = ui.add(Label::new(text).truncate().selectable(false).sense(Sense::click()));
    widgets::reveal_focused(ui, &label);
    widgets::focus_ring(ui, &label);
    rows::row_tooltip(&label, false, "Show its difference.");
    label.on_hover_cursor(egui::CursorIcon::PointingHand).clicked()
}

#[cfg(test)]
mod tests {
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable as _;

    use super::*;
    use crate::plan::Digest;
    use crate::ui::plan::changes_ui;

    fn changes(count: usize) -> Vec<FileChange> {
        let change = |index: usize| FileChange {
            path: format!("src/file_{index}.rs"),
            before: FileState::Absent,
            after: FileState::Content(Digest::of(b"x")),
            diff: Diff::Text { lines: Vec::new(), added: index, removed: 0 },
        };
        (0..count).map(change).collect()
    }

    #[test]
    fn many_files_are_listed_and_selectable() {
        let clicked = std::cell::Cell::new(None);
        let all = changes(128);
        let mut harness = Harness::builder().with_size(egui::vec2(500.0, 400.0)).build_ui(|ui| {
            if let Some(index) = files_ui(ui, "test", &all, &HashMap::new(), None) {
                clicked.set(Some(index));
            }
        });
        harness.get_by_label("128 files");
        let row = harness.get_by_label_contains("src/file_3.rs");
        row.focus();
        harness.run();
        harness.key_press(egui::Key::Enter);
        harness.run();
        assert_eq!(clicked.get(), Some(3), "by the keyboard alone");
    }

    /// Only the beginning of a recorded difference is there at first. What it lacks must not look like nothing.
    #[test]
    fn the_last_file_of_a_cut_difference_is_not_counted() {
        let some = changes(5);
        let shows = |cut: Option<Cut>, text: &str| {
            let harness = Harness::builder().with_size(egui::vec2(500.0, 400.0));
            let harness = harness.build_ui(|ui| {
                files_ui(ui, "test", &some, &HashMap::new(), cut);
            });
            harness.query_by_label_contains(text).is_some()
        };
        let cut = Some(Cut { files: Some(16) });
        assert!(shows(cut, "The first 5 of 16 files"));
        assert!(shows(cut, "src/file_3.rs  new  +3") && !shows(cut, "file_3.rs  new  cut"));
        assert!(shows(cut, "src/file_4.rs  new  cut here") && !shows(cut, "+4"));
        assert!(shows(Some(Cut { files: None }), "At least 5 files"));
        assert!(shows(None, "5 files") && shows(None, "+4"));
    }

    /// The list is a scroll area of its own, inside that of the pane.
    #[test]
    fn page_keys_scroll_the_differences_and_not_the_list() {
        let all = changes(40);
        let mut harness = Harness::builder()
            .with_size(egui::vec2(500.0, 400.0))
            .with_context_setup(crate::ui::theme::install)
            .build_ui(|ui| {
                crate::ui::scroll::area(ui, "test", egui::Margin::ZERO, |ui| {
                    changes_ui(ui, "test", &all);
                });
            });
        let place = |harness: &Harness<'_>| {
            let title = harness.get_by_label("40 files").rect().top();
            let listed = harness.get_all_by_label_contains("src/file_2.rs").next().unwrap();
            (title, listed.rect().top() - title)
        };
        let (title, listed) = place(&harness);
        harness.key_press(egui::Key::PageDown);
        harness.run();
        let (moved, still_listed) = place(&harness);
        assert!(moved < title - 200.0, "{moved} after {title}");
        assert!((still_listed - listed).abs() < 0.5, "{still_listed} after {listed}");
    }

    /// The scroll bar has room beside the rows, and the last row that is in view is whole.
    #[test]
    fn the_scroll_bar_covers_no_row() {
        let all = changes(40);
        let harness = Harness::builder()
            .with_size(egui::vec2(500.0, 400.0))
            .with_context_setup(crate::ui::theme::install)
            .build_ui(|ui| {
                files_ui(ui, "test", &all, &HashMap::new(), None);
            });
        let rows: Vec<_> = harness.get_all_by_label_contains("src/file_").collect();
        let bar_left = 500.0 - 2.0 * theme::SCROLL_BAR - 8.0;
        assert!(rows.iter().all(|row| row.rect().right() < bar_left));
        let heights: Vec<f32> = rows.iter().map(|row| row.rect().height()).collect();
        let whole = heights.first().unwrap();
        let last = heights.iter().rfind(|height| **height > 0.0).unwrap();
        assert!((last - whole).abs() < 0.5, "{heights:?}");
    }

    #[test]
    fn few_files_need_no_list() {
        let few = changes(3);
        let harness = Harness::new_ui(|ui| {
            assert_eq!(files_ui(ui, "test", &few, &HashMap::new(), None), None)
        });
        assert!(harness.query_by_label("3 files").is_none());
    }
}
