//! The steps and files that an authorization covers, one entry each. Nothing is cut: a long entry takes several rows.

use std::ops::Range;
use std::sync::Arc;

use crate::authorization::FileState;
use crate::plan::{ShownPlan, ShownStep, ToolCall, twin_names, visible_name};
use crate::risk::RiskLevel;
use crate::run::{LineKind, Review, cannot_be_restored};
use crate::ui::plan::{Beside, CodeRow, command_rows, risk_icon, text_rows};
use crate::ui::{Icon, Tone, icon};

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
            format!("{:?}{}\0{}\0{:?}", it.number, it.text.as_str(), it.note, it.emphasized)
        };
        let key: String = entries.iter().map(key).collect();
        Self { entries: entries.into(), key: key.into() }
    }

    /// Every step: what it does, its risk, and whether it asks or changes what cannot be restored.
    pub(super) fn of_steps(plan: &ShownPlan, review: &Review) -> Self {
        let entry = |(index, step): (usize, &ShownStep)| {
            let risk = review.risks.get(index);
            let level = risk.map_or(RiskLevel::Blocked, |risk| risk.level);
            let tone = Tone::from(level);
            let asks = review.asks.get(index).is_some_and(Option::is_some);
            let lasting = step.call.as_ref().zip(risk);
            let lasting = lasting.is_some_and(|(call, risk)| cannot_be_restored(call, risk));
            let fails = review.fails_precondition(index);
            let notes =
                [(asks, "asks"), (lasting, "not restorable"), (fails, "precondition fails")];
            let notes = notes.into_iter().filter(|it| it.0).map(|it| it.1);
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
            Entry {
                number: Some(index + 1),
                icon: risk_icon(level),
                tone,
                text,
                emphasized,
                note: std::iter::once(level.as_str()).chain(notes).collect::<Vec<_>>().join(" · "),
            }
        };
        Self::new(plan.steps.iter().enumerate().map(entry).collect())
    }

    /// Every file that the steps name as written: whether it is new.
    pub(super) fn of_files(review: &Review) -> Self {
        let twins = twin_names(review.impact.files.iter().map(String::as_str));
        let entry = |(index, path): (usize, &String)| {
            let (icon, tone, note) = match review.binding.inputs.get(path) {
                Some(FileState::Absent) => (icon::FILE_PLUS, Tone::Safe, "new"),
                Some(FileState::Content(_)) => (icon::WRITE, Tone::Dim, "replaced"),
                None => (icon::WRITE, Tone::Dim, "written"),
            };
            let twin = twins.get(&index).cloned();
            let text = EntryText::Shown(twin.unwrap_or_else(|| visible_name(path).into_owned()));
            Entry { number: None, icon, tone, text, emphasized: None, note: note.to_owned() }
        };
        Self::new(review.impact.files.iter().enumerate().map(entry).collect())
    }

    /// The number of entries.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The rows for this number of columns.
    pub(super) fn rows(&self, columns: usize) -> Vec<CodeRow> {
        let mut rows = Vec::new();
        for entry in self.entries.iter() {
            // The note is in a smaller font.
            let text_columns = columns.saturating_sub(entry.note.chars().count() + 2).max(8);
            let emphasized = entry.emphasized.as_ref().map(|(range, tone)| (range, *tone));
            let first = rows.len();
            rows.extend(match &entry.text {
                EntryText::Command(command) => command_rows(command, emphasized, text_columns),
                EntryText::Shown(text) => text_rows(text, text_columns),
            });
            if let Some(row) = rows.get_mut(first) {
                row.numbers.1 = entry.number;
                row.kind = LineKind::Context;
                row.beside = Some(Box::new(Beside {
                    icon: entry.icon,
                    tone: entry.tone,
                    note: entry.note.clone(),
                }));
            }
        }
        rows
    }
}
