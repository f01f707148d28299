//! The files of a step that changes many: a list above the diffs with a link to each.

use egui::{Label, ScrollArea, Sense, Ui};

use super::inspector::indented;
use crate::authorization::FileState;
use crate::run::{Diff, FileChange};
use crate::ui::format;
use crate::ui::theme::{Text, Theme, Tone};
use crate::ui::widgets;

/// Fewer files than this need no list.
const MANY: usize = 4;
/// The largest height of the list, in points; it scrolls beyond that.
const HEIGHT: f32 = 168.0;

/// Whether there are enough files for a list.
pub(super) fn are_many(changes: &[FileChange]) -> bool {
    changes.len() >= MANY
}

/// Lists the files if there are many. Returns the index of the file that was chosen.
pub(super) fn files_ui(ui: &mut Ui, place: &str, changes: &[FileChange]) -> Option<usize> {
    if !are_many(changes) {
        return None;
    }
    let mut wanted = None;
    indented(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        let title = format!("{} files", format::count(changes.len() as u64));
        widgets::line(ui, title, Text::Small, Tone::Dim);
        widgets::card(ui).show(ui, |ui| {
            ui.set_width(ui.available_width());
            ScrollArea::vertical().id_salt(("files", place)).max_height(HEIGHT).show(ui, |ui| {
                for (index, change) in changes.iter().enumerate() {
                    if file_ui(ui, change) {
                        wanted = Some(index);
                    }
                }
            });
        });
        ui.add_space(6.0);
    });
    wanted
}

fn file_ui(ui: &mut Ui, change: &FileChange) -> bool {
    let theme = Theme::of(ui);
    let counts = match &change.diff {
        Diff::Text { added, removed, .. } => {
            [(*added, '+'), (*removed, '−')].map(|(count, sign)| {
                if count > 0 { format!("  {sign}{count}") } else { String::new() }
            })
        }
        Diff::Unchanged | Diff::Binary { .. } => [String::new(), String::new()],
    };
    let word = match (change.before, change.after) {
        (FileState::Absent, _) => "  new",
        (_, FileState::Absent) => "  deleted",
        _ if matches!(change.diff, Diff::Binary { .. }) => "  not text",
        _ => "",
    };
    let path = crate::plan::visible(&change.path);
    let [added, removed] = &counts;
    let text = widgets::job(&[
        (&path, Text::Mono, theme.text),
        (word, Text::Small, theme.dim),
        (added, Text::Mono, theme.safe),
        (removed, Text::Mono, theme.danger),
    ]);
    let label = ui.add(Label::new(text).truncate().selectable(false).sense(Sense::click()));
    widgets::focus_ring(ui, &label);
    label
        .on_hover_text("Show its difference.")
        .on_hover_cursor(egui::CursorIcon::PointingHand)
        .clicked()
}

#[cfg(test)]
mod tests {
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable as _;

    use super::*;
    use crate::plan::Digest;

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
    fn many_files_are_listed_and_each_leads_to_its_difference() {
        let wanted = std::cell::Cell::new(None);
        let all = changes(128);
        let mut harness = Harness::builder().with_size(egui::vec2(500.0, 400.0)).build_ui(|ui| {
            if let Some(index) = files_ui(ui, "test", &all) {
                wanted.set(Some(index));
            }
        });
        harness.get_by_label("128 files");
        let row = harness.get_by_label_contains("src/file_3.rs");
        row.focus();
        harness.run();
        harness.key_press(egui::Key::Enter);
        harness.run();
        assert_eq!(wanted.get(), Some(3), "by the keyboard alone");
    }

    #[test]
    fn few_files_need_no_list() {
        let few = changes(3);
        let harness = Harness::new_ui(|ui| assert_eq!(files_ui(ui, "test", &few), None));
        assert!(harness.query_by_label("3 files").is_none());
    }
}
