//! The steps and files that an authorization covers, one entry each. Nothing is cut: a long entry takes several rows. In
//! a long plan, steps that only read are folded until the person unfolds them.

use std::ops::Range;
use std::sync::Arc;

use egui::Ui;

use super::traits::StepTraits;
use crate::authorization::FileState;
use crate::plan::{ShownPlan, ShownStep, ToolCall, drawable, twin_names, visible_name};
use crate::risk::RiskLevel;
use crate::run::{FileFate, LineKind, PreviewedStep, PreviewedSteps, Review};
use crate::ui::plan::{
    Beside, CodeRow, Gutter, WALLS, beyond_walls, cached_rows, code_rows_ui, columns, command_rows,
    risk_icon, row_length, text_rows,
};
use crate::ui::{Icon, Text, Tone, icon};

/// Shows the entries. `id` tells several lists apart.
pub(super) fn entries_ui(ui: &mut Ui, id: &str, entries: &Entries, gutter: Gutter) {
    let columns = columns(ui, ui.available_width(), gutter);
    let key = std::slice::from_ref(&entries.key);
    // The note is in a smaller font.
    let column = Text::Mono.width_of(ui, "0").max(1.0);
    let note_columns = |note: &str| (Text::Small.width_of(ui, note) / column).ceil() as usize;
    let rows = cached_rows(ui, id, key, columns, || entries.rows(columns, note_columns));
    code_rows_ui(ui, id, &rows, gutter);
}

/// The number of lines that a step adds and removes; `None` if that is not known exactly.
fn changed_lines(
    step: &ShownStep,
    review: &Review,
    known: Option<&PreviewedStep>,
) -> Option<(usize, usize)> {
    match (&step.call, known) {
        (_, Some(known)) => known.lines,
        (Some(ToolCall::FileCreate { path, contents }), None) => {
            let is_new = review.binding.inputs.get(path) == Some(&FileState::Absent);
            is_new.then(|| (contents.lines().count(), 0))
        }
        (_, None) => None,
    }
}

/// An entry of a list: a step or a file.
#[derive(Debug, Clone)]
struct Entry {
    /// The number of a step.
    number: Option<usize>,
    icon: Icon,
    tone: Tone,
    text: EntryText,
    /// The part of a command that determines its risk.
    emphasized: Option<(Range<usize>, Tone)>,
    /// A few words at the right edge.
    note: String,
    /// What the step gets beyond its walls, as a sentence; empty for most steps.
    beyond: String,
}

/// The text of an entry.
#[derive(Debug, Clone)]
enum EntryText {
    /// A command as it is in the plan. [`command_rows`] shows it.
    Command(String),
    /// One line as it is shown.
    Shown(String),
}

impl EntryText {
    fn as_str(&self) -> &str {
        match self {
            Self::Command(text) | Self::Shown(text) => text,
        }
    }
}

/// A list of any length, of which only visible rows are drawn.
#[derive(Debug, Clone)]
pub(super) struct Entries {
    entries: Arc<[Entry]>,
    /// Everything that determines the rows, to notice that they changed.
    pub(super) key: Arc<str>,
}

impl Entries {
    fn new(entries: Vec<Entry>) -> Self {
        let key = |it: &Entry| {
            let (text, emphasized) = (it.text.as_str(), &it.emphasized);
            format!("{:?}{text}\0{}\0{}\0{emphasized:?}", it.number, it.note, it.beyond)
        };
        let key: String = entries.iter().map(key).collect();
        Self { entries: entries.into(), key: key.into() }
    }

    /// Every step for which `is_listed` is true: what it does, its risk, whether it asks or changes what cannot be
    /// restored, what it gets beyond its walls, and how many lines it adds and removes.
    pub(super) fn of_steps(
        plan: &ShownPlan,
        review: &Review,
        previewed: &PreviewedSteps,
        is_listed: impl Fn(usize) -> bool,
    ) -> Self {
        let entry = |(index, step): (usize, &ShownStep)| {
            let risk = review.risks.get(index);
            let level = risk.map_or(RiskLevel::Blocked, |risk| risk.level);
            let tone = Tone::from(level);
            let traits = StepTraits::of(plan, review, previewed, index);
            // A run ends at the first step that fails.
            let is_behind = index > previewed.reached();
            let lines = changed_lines(step, review, previewed.get(index));
            let lines = lines.filter(|_| !is_behind);
            let lines = lines.map(|(added, removed)| format!("+{added} −{removed}"));
            let words = std::iter::once(level.as_str()).chain(traits.notes());
            let words = words.chain(is_behind.then_some("not reached")).map(str::to_owned);
            let notes: Vec<_> = lines.into_iter().chain(words).collect();
            let span = risk.filter(|it| it.level > RiskLevel::Safe).and_then(|it| it.span.clone());
            let (text, emphasized) = match &step.call {
                Some(ToolCall::Shell { command, .. }) => {
                    (EntryText::Command(command.clone()), span.map(|span| (span, tone)))
                }
                Some(call) => {
                    let (verb, object) = call.headline();
                    (EntryText::Shown(format!("{verb} {}", visible_name(&object))), None)
                }
                None => (EntryText::Shown(visible_name(&step.tool_name).into_owned()), None),
            };
            let walls = review.walls_of(index).map(|step| &step.walls);
            // A step that would fail is not safe, whatever its risk.
            let (icon, tone) = match traits.fails() {
                true => (icon::FAILED, Tone::Danger),
                false => (risk_icon(level), tone),
            };
            Entry {
                number: Some(index + 1),
                icon,
                tone,
                text,
                emphasized,
                note: notes.join(" · "),
                beyond: walls.and_then(beyond_walls).unwrap_or_default(),
            }
        };
        let steps = plan.steps.iter().enumerate().filter(|(index, _)| is_listed(*index));
        Self::new(steps.map(entry).collect())
    }

    /// Every file that the steps name as written, with what becomes of it.
    pub(super) fn of_files(review: &Review, fates: &[FileFate]) -> Self {
        let twins = twin_names(review.impact.files.iter().map(String::as_str));
        let entry = |(index, (path, fate)): (usize, (&String, &FileFate))| {
            let (icon, tone) = match fate {
                FileFate::New => (icon::FILE_PLUS, Tone::Safe),
                FileFate::Deleted => (icon::FILE_MINUS, Tone::Danger),
                FileFate::Replaced | FileFate::Written => (icon::WRITE, Tone::Dim),
                FileFate::Unchanged => (icon::INFO, Tone::Dim),
                FileFate::NotWritten => (icon::WARNING, Tone::Danger),
            };
            let note = fate.as_str();
            let twin = twins.get(&index).cloned();
            let text = EntryText::Shown(twin.unwrap_or_else(|| visible_name(path).into_owned()));
            Entry {
                number: None,
                icon,
                tone,
                text,
                emphasized: None,
                note: note.to_owned(),
                beyond: String::new(),
            }
        };
        Self::new(review.impact.files.iter().zip(fates).enumerate().map(entry).collect())
    }

    /// The number of entries.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The rows for this number of columns. `note_columns` is the width of a note, in columns.
    pub(super) fn rows(
        &self,
        columns: usize,
        note_columns: impl Fn(&str) -> usize,
    ) -> Vec<CodeRow> {
        let mut rows = Vec::new();
        for entry in self.entries.iter() {
            let emphasized = entry.emphasized.as_ref().map(|(range, tone)| (range, *tone));
            let first = rows.len();
            rows.extend(match &entry.text {
                EntryText::Command(command) => command_rows(command, emphasized, columns),
                EntryText::Shown(text) => text_rows(text, columns),
            });
            let text_columns = columns.saturating_sub(note_columns(&entry.note) + 2);
            let fits = |row: &CodeRow| row_length(&row.text, text_columns) == row.text.len();
            let is_beside = rows.get(first).is_some_and(fits);
            let tone = entry.tone;
            let beside =
                |icon, note: &str| Some(Box::new(Beside { icon, tone, note: note.into() }));
            if let Some(row) = rows.get_mut(first) {
                row.numbers.1 = entry.number;
                row.kind = LineKind::Context;
                row.beside = beside(Some(entry.icon), if is_beside { &entry.note } else { "" });
            }
            if !is_beside && !entry.note.is_empty() {
                let row = CodeRow::plain(String::new());
                rows.push(CodeRow { beside: beside(None, &entry.note), ..row });
            }
            if !entry.beyond.is_empty() {
                let (icon, tone, note) = (Some(WALLS), Tone::Caution, String::new());
                let mut beside = Some(Box::new(Beside { icon, tone, note }));
                for row in text_rows(&drawable(&entry.beyond), columns) {
                    // Only the step has a number.
                    rows.push(CodeRow { numbers: (None, None), beside: beside.take(), ..row });
                }
            }
        }
        rows
    }
}
