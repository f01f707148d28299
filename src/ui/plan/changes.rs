//! The preview of a step with the diffs of its files, as shown where a person decides about the step.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use egui::{Align, Id, Label, Layout, TextStyle, TextWrapMode, Ui, vec2};

use super::change_jump::Jumping;
use super::diff::{diff_ui, layout_ui};
use super::file_list::{files_ui, has_file_list};
use super::{full_text_ui, indented};
use crate::plan::{twin_names, visible_name};
use crate::risk::RiskLevel;
use crate::run::{Diff, FileChange, Predicted, Preview};
use crate::ui::{Text, Theme, Tone, format, icon, scroll, widgets};

/// The number of diffs shown at first, and added by each click on the button for more.
const DIFFS_PER_PAGE: usize = 50;

/// The width, in points, that the icon and the choice of [`layout_ui`] take beside a path.
const BESIDE_PATH: f32 = 240.0;

/// Stands beside a file whose difference is not shown to its end.
pub(super) const CUT: &str = "  cut here";

/// How the effect of a safe command is known.
const JUDGED_BY_WORDS: &str = "Its risk is judged by its words. It is not run beforehand.";

/// Shows the preview of a step with this risk: the diffs of its files, and remarks. Returns whether the diffs of all
/// files are shown.
pub(crate) fn preview_ui(ui: &mut Ui, preview: &Preview, risk: Option<RiskLevel>) -> bool {
    // Remarks below the diffs of many files would go unnoticed, and so would an expected failure.
    let remarks_first = has_file_list(&preview.changes) || preview.would_fail();
    if remarks_first {
        remarks_ui(ui, preview, risk);
    }
    let all = changes_ui(ui, "preview", &preview.changes);
    if !remarks_first {
        remarks_ui(ui, preview, risk);
    }
    all
}

fn remarks_ui(ui: &mut Ui, preview: &Preview, risk: Option<RiskLevel>) {
    indented(ui, |ui| {
        let (icon, tone) = match preview.predicted {
            Predicted::Exact => (icon::DONE, Tone::Safe),
            Predicted::Partial | Predicted::Unpredictable => (icon::INFO, Tone::Dim),
        };
        let fails = preview.would_fail();
        let (icon, tone) = if fails { (icon::WARNING, Tone::Caution) } else { (icon, tone) };
        // Each remark is one sentence; a line break in a file name must not split it.
        let summary = visible_name(&preview.summary);
        full_text_ui(ui, "summary", &summary, |ui, text| widgets::remark(ui, icon, tone, text));
        match preview.caveat() {
            None => {}
            // A warning beside "Only reads or prints" would be a second verdict.
            Some(_) if risk == Some(RiskLevel::Safe) => {
                widgets::remark(ui, icon::INFO, Tone::Dim, JUDGED_BY_WORDS);
            }
            Some(caveat) => widgets::remark(ui, icon::WARNING, Tone::Caution, caveat),
        }
        for (index, note) in preview.notes.iter().enumerate() {
            full_text_ui(ui, ("note", index), &visible_name(note), |ui, text| {
                widgets::remark(ui, icon::INFO, Tone::Dim, text);
            });
        }
    });
}

/// Shows the diffs of files, one after the other, below a list of the files if there are many. `id_salt` distinguishes
/// several uses in the same part of the window. Returns whether all are shown.
pub(crate) fn changes_ui(ui: &mut Ui, id_salt: &str, changes: &[FileChange]) -> bool {
    cut_changes_ui(ui, id_salt, changes, None)
}

/// Where a difference ends that is shown only in part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cut {
    /// The number of files in the whole difference, if it is known.
    pub(crate) files: Option<usize>,
}

impl Cut {
    /// The number of files of which `shown` are there, the last of them not whole.
    pub(crate) fn words(self, shown: usize) -> String {
        match self.files.filter(|files| *files >= shown) {
            Some(files) if files == shown => format::counted(files, "file"),
            Some(files) => format!("The first {shown} of {}", format::counted(files, "file")),
            None => format!("At least {}", format::counted(shown, "file")),
        }
    }
}

/// As [`changes_ui`], for the beginning of a longer difference: the last file is not whole.
pub(crate) fn cut_changes_ui(
    ui: &mut Ui,
    id_salt: &str,
    changes: &[FileChange],
    cut: Option<Cut>,
) -> bool {
    let id = ui.scope_id().with(("files shown", id_salt, changes.len()));
    let mut shown = ui.data(|data| data.get_temp(id)).unwrap_or(DIFFS_PER_PAGE);
    let list = id.with("list");
    let mut jumping = Jumping::new(ui, list);
    let twins = twins(ui, id.with("twins"), changes);
    let chosen = files_ui(ui, id_salt, changes, &twins, cut);
    if let Some(chosen) = chosen.filter(|chosen| *chosen >= shown) {
        shown = chosen + 1;
        ui.data_mut(|data| data.insert_temp(id, shown));
    }
    for (index, change) in changes.iter().take(shown).enumerate() {
        if chosen == Some(index) {
            ui.scroll_to_cursor(Some(Align::Min));
        }
        let twin = twins.get(&index).map(String::as_str);
        let is_cut = cut.is_some() && index + 1 == changes.len();
        change_ui(ui, change, (twin, is_cut), (list, index), &mut jumping);
    }
    jumping.finish(ui);
    let more = changes.len().saturating_sub(shown);
    if more > 0 {
        indented(ui, |ui| {
            let next = more.min(DIFFS_PER_PAGE);
            let noun = if more == 1 { "file" } else { "files" };
            let text = match more - next {
                0 => format!("Show {next} more {noun}"),
                _ => format!("Show {next} of {} more {noun}", format::count(more as u64)),
            };
            let button = widgets::button(ui, widgets::Look::Plain, Some(icon::DOWN), &text, true);
            // All that is above was seen: going on means the next files.
            let goes_on = ui.clip_rect().contains_rect(button.rect) && scroll::goes_on(ui.ctx());
            if goes_on {
                scroll::go_on(ui.ctx());
            }
            if button.clicked() || goes_on {
                ui.data_mut(|data| data.insert_temp(id, shown + DIFFS_PER_PAGE));
            }
        });
    }
    more == 0
}

/// The paths that look like another one of these, with what differs written out. Kept from frame to frame.
fn twins(ui: &Ui, id: Id, changes: &[FileChange]) -> Arc<HashMap<usize, String>> {
    // Behind one pointer, because a value is cloned when it is read.
    type Known = Option<Arc<(Vec<String>, Arc<HashMap<usize, String>>)>>;
    if changes.len() < 2 {
        return Arc::default();
    }
    let known: Known = ui.data(|data| data.get_temp(id)).flatten();
    let is_same = |paths: &[String]| paths.iter().eq(changes.iter().map(|change| &change.path));
    if let Some(known) = known.filter(|known| is_same(&known.0)) {
        return Arc::clone(&known.1);
    }
    let paths: Vec<_> = changes.iter().map(|change| change.path.clone()).collect();
    let twins = Arc::new(twin_names(paths.iter().map(String::as_str)));
    ui.data_mut(|data| data.insert_temp::<Known>(id, Some(Arc::new((paths, Arc::clone(&twins))))));
    twins
}

/// Shows the difference of one file. `twin` is its path with what tells it apart from another one. If it is cut, its
/// lines are not counted.
fn change_ui(
    ui: &mut Ui,
    change: &FileChange,
    (twin, is_cut): (Option<&str>, bool),
    (list, index): (Id, usize),
    jumping: &mut Jumping,
) {
    let theme = Theme::of(ui);
    indented(ui, |ui| {
        let path = twin.map_or_else(|| visible_name(&change.path), Cow::Borrowed);
        full_text_ui(ui, ("path", index), &path, |ui, path| {
            let has_choice = index == 0 && matches!(change.diff, Diff::Text { .. });
            let mut parts = vec![(path, Text::Mono, theme.text)];
            let counts = match &change.diff {
                Diff::Text { added, removed, .. } if !is_cut => {
                    Some((format!("  +{added}"), format!("  −{removed}")))
                }
                Diff::Text { .. } | Diff::Unchanged | Diff::Binary { .. } => None,
            };
            if is_cut {
                parts.push((CUT, Text::Small, theme.caution));
            }
            if let Some((added, removed)) = &counts {
                parts.push((added, Text::Mono, theme.safe));
                parts.push((removed, Text::Mono, theme.danger));
            }
            let name = widgets::styled_text(&parts);
            // If the path would wrap because of the choice, the choice moves to its own line.
            let line = name.clone().into_galley(
                ui,
                Some(TextWrapMode::Extend),
                f32::INFINITY,
                TextStyle::Monospace,
            );
            let is_above = has_choice && ui.available_width() < line.size().x + BESIDE_PATH;
            if is_above {
                ui.with_layout(Layout::right_to_left(Align::Min), |ui| layout_ui(ui, list));
            }
            ui.horizontal_top(|ui| {
                widgets::icon_ui(ui, vec2(18.0, 18.0), icon::DIFF, 16.0, theme.dim);
                ui.with_layout(Layout::right_to_left(Align::Min), |ui| {
                    if has_choice && !is_above {
                        layout_ui(ui, list);
                    }
                    ui.with_layout(Layout::left_to_right(Align::Min), |ui| {
                        // A long path wraps, because a dialog truncates nothing.
                        ui.add(Label::new(name).wrap());
                    });
                });
            });
        });
    });
    diff_of_change_ui(ui, ("diff", index), change, jumping);
    ui.add_space(4.0);
}

/// The lines of a change, or why there are none.
fn diff_of_change_ui(
    ui: &mut Ui,
    id_salt: (&str, usize),
    change: &FileChange,
    jumping: &mut Jumping,
) {
    match &change.diff {
        Diff::Text { lines, .. } => diff_ui(ui, id_salt, change, lines, jumping),
        Diff::Unchanged => indented(ui, |ui| {
            widgets::remark(ui, icon::INFO, Tone::Dim, "The file would not change.");
        }),
        Diff::Binary { before_bytes, after_bytes } => indented(ui, |ui| {
            let size = |bytes: &Option<u64>| bytes.map_or("absent".to_owned(), format::size);
            let (now, after) = (size(before_bytes), size(after_bytes));
            let text = format!("Not text, or too large to compare: {now} now, {after} after.");
            widgets::remark(ui, icon::INFO, Tone::Dim, text);
        }),
    }
}

/// Shows the lines of one change below a heading of the caller.
pub(crate) fn lines_of_change_ui(ui: &mut Ui, id_salt: &str, change: &FileChange) {
    let mut jumping = Jumping::new(ui, ui.scope_id().with(id_salt));
    diff_of_change_ui(ui, (id_salt, 0), change, &mut jumping);
    jumping.finish(ui);
}

/// Shows one difference of a text that is no file, below its name.
pub(crate) fn difference_ui(ui: &mut Ui, id_salt: (&str, usize), change: &FileChange) {
    let list = ui.scope_id().with(id_salt);
    let mut jumping = Jumping::new(ui, list);
    ui.push_id(id_salt, |ui| {
        change_ui(ui, change, (None, false), (list, usize::MAX), &mut jumping)
    });
    jumping.finish(ui);
}
