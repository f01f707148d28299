//! Selects and sorts the diagnostics of a run, and compares them with an earlier check. Pure; computed again only when
//! the run or the options change.

#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::filter::Filter;
use crate::plan::{Code, ShownPlan, ToolCall};
use crate::run::{
    BaselineState, Comparison, DiagnosticArtifact, Level, Outcome, RunState, StepResult, StepState,
    compare,
};

/// The tool that checks a project or a part of it. The other tools of a step plan report only errors that their change
/// would cause.
pub(super) const CHECK: &str = "lsp_check";

/// The maximum number of codes, and of files, offered as filters.
const MAX_FREQUENT: usize = 12;

/// The position of a diagnostic in the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DiagnosticPosition {
    /// The step that found the diagnostic, counted from 0.
    pub step: usize,
    /// The index among the diagnostics of the step.
    pub index: usize,
}

/// A column by which the table can be sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the columns by their names")]
pub enum Column {
    #[default]
    Severity,
    Code,
    Message,
    File,
    BaselineState,
}

/// A group of diagnostics that can be hidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Facet {
    /// The diagnostics of one severity.
    Level(Level),
    /// The diagnostics with one result of the comparison with the earlier check.
    BaselineState(BaselineState),
}

/// The filter, the order and the selection that the person has chosen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListOptions {
    /// The step whose diagnostics are shown; `None` means the latest step that has some.
    pub step: Option<usize>,
    /// The text of the filter field.
    pub filter: String,
    /// The hidden groups.
    pub hidden: Vec<Facet>,
    /// The column that determines the order.
    pub sort: Column,
    /// Whether the order is reversed.
    pub reversed: bool,
    /// The selected diagnostic.
    pub selected: Option<DiagnosticPosition>,
    /// The suggestions that the person picked, by their index in `suggested_fixes`, with their diagnostic; `None` until
    /// the person has picked or taken away one.
    pub picked: Option<(DiagnosticPosition, Vec<usize>)>,
}

impl ListOptions {
    /// Hides a group, or shows it if it is hidden.
    pub(super) fn toggle(&mut self, facet: Facet) {
        if self.hidden.contains(&facet) {
            self.hidden.retain(|hidden| *hidden != facet);
        } else {
            self.hidden.push(facet);
        }
    }

    /// Sorts by a column, or reverses the order if the table is sorted by it already.
    pub(super) fn sort_by(&mut self, column: Column) {
        self.reversed = self.sort == column && !self.reversed;
        self.sort = column;
    }
}

/// The number of diagnostics in each group.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(test, derive(serde::Serialize))]
pub struct Counts {
    pub errors: usize,
    pub warnings: usize,
    pub notes: usize,
    pub new: usize,
    pub unchanged: usize,
    pub gone: usize,
}

impl Counts {
    /// The number of diagnostics in one group.
    pub fn of(&self, facet: Facet) -> usize {
        match facet {
            Facet::Level(Level::Error) => self.errors,
            Facet::Level(Level::Warning) => self.warnings,
            Facet::Level(Level::Info) => self.notes,
            Facet::BaselineState(BaselineState::New) => self.new,
            Facet::BaselineState(BaselineState::Unchanged) => self.unchanged,
            Facet::BaselineState(BaselineState::Gone) => self.gone,
        }
    }

    fn add(&mut self, level: Level, baseline: Option<BaselineState>) {
        // A diagnostic that is gone does not count as an error or warning.
        match level {
            _ if baseline == Some(BaselineState::Gone) => {}
            Level::Error => self.errors += 1,
            Level::Warning => self.warnings += 1,
            Level::Info => self.notes += 1,
        }
        match baseline {
            Some(BaselineState::New) => self.new += 1,
            Some(BaselineState::Unchanged) => self.unchanged += 1,
            Some(BaselineState::Gone) => self.gone += 1,
            None => {}
        }
    }
}

/// A step of the run that checked the code or reported diagnostics.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(test, derive(serde::Serialize))]
pub struct Check {
    /// The step, counted from 0.
    pub step: usize,
    /// The tool of the step.
    pub tool: String,
    /// The subject of the check, for example a path.
    pub subject: String,
    /// The numbers of diagnostics that the check reported.
    pub counts: Counts,
    /// Whether the check passed or found errors. Otherwise it did not finish.
    pub has_verdict: bool,
}

/// A diagnostic of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The position of the diagnostic in the run.
    pub position: DiagnosticPosition,
    /// The result of the comparison with the earlier check; `None` without a comparison.
    pub baseline: Option<BaselineState>,
}

/// The diagnostics to show, with counts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listing {
    /// All steps that checked the code or reported diagnostics.
    pub checks: Vec<Check>,
    /// The step whose diagnostics are listed; `None` if there are no checks.
    pub step: Option<usize>,
    /// The earlier check that `step` is compared with.
    pub base: Option<usize>,
    /// A limitation of the comparison, if there is one.
    pub caution: Option<String>,
    /// Counts by group, including hidden diagnostics.
    pub counts: Counts,
    /// The number of entries, including hidden ones.
    pub total: usize,
    /// The most frequent codes and their counts.
    pub codes: Vec<(String, usize)>,
    /// The most frequent files and their counts.
    pub files: Vec<(String, usize)>,
    /// The shown entries, in order.
    pub shown: Vec<Entry>,
    /// The index of the selected entry among them.
    pub selected: Option<usize>,
}

impl Listing {
    /// Computes the list for a run of `plan`, which names the subjects of the checks.
    pub fn of(run: &RunState, plan: Option<&ShownPlan>, options: &ListOptions) -> Self {
        let checks: Vec<_> =
            (0..run.steps.len()).filter_map(|step| check(run, plan, step)).collect();
        let of_step = |step: usize| checks.iter().find(|check| check.step == step);
        let latest = || checks.iter().rfind(|it| it.tool == CHECK).or(checks.last());
        let Some(check) = options.step.and_then(of_step).or_else(latest) else {
            return Self { checks, ..Self::default() };
        };
        let step = check.step;
        let base = base(&checks, check).map(|base| base.step);
        let caution = base.and_then(of_step).and_then(|base| caution(check, base));
        let entries = entries(run, step, base, check);
        let mut counts = Counts::default();
        let filter = Filter::parse(&options.filter);
        let mut shown: Vec<(Entry, &DiagnosticArtifact)> = Vec::new();
        for entry in &entries {
            let Some(it) = diagnostic(run, entry.position) else { continue };
            counts.add(it.level, entry.baseline);
            let hidden = |facet: &Facet| match facet {
                Facet::Level(level) => *level == it.level,
                Facet::BaselineState(state) => Some(*state) == entry.baseline,
            };
            if !options.hidden.iter().any(hidden) && filter.matches(it) {
                shown.push((*entry, it));
            }
        }
        shown.sort_by(|a, b| {
            let order = order(options.sort, a, b);
            if options.reversed { order.reverse() } else { order }.then_with(|| default_order(a, b))
        });
        let shown: Vec<_> = shown.into_iter().map(|(entry, _)| entry).collect();
        let selected = shown.iter().position(|entry| Some(entry.position) == options.selected);
        let selected = selected.or((!shown.is_empty()).then_some(0));
        let all = || entries.iter().filter_map(|entry| diagnostic(run, entry.position));
        let codes = frequent(all().filter_map(|it| it.code.as_deref()));
        let files = frequent(all().map(|it| it.file_name.as_str()).filter(|it| !it.is_empty()));
        let (step, total) = (Some(step), entries.len());
        Self { checks, step, base, caution, counts, total, codes, files, shown, selected }
    }

    /// The selected entry; `None` if the list is empty.
    pub fn selected_entry(&self) -> Option<Entry> {
        self.shown.get(self.selected?).copied()
    }
}

/// The diagnostic at a position; `None` if the run has none there.
pub fn diagnostic(run: &RunState, position: DiagnosticPosition) -> Option<&DiagnosticArtifact> {
    result(run, position.step)?.diagnostic_artifacts.get(position.index)
}

/// The result of a step; `None` until it has finished.
pub(super) fn result(run: &RunState, step: usize) -> Option<&StepResult> {
    match run.steps.get(step)? {
        StepState::Done(result) => Some(result),
        StepState::Waiting | StepState::Running => None,
    }
}

/// Whether a diagnostic is about the code. The compiler's final `failure-note` messages only refer to explanations of
/// the error codes.
fn is_about_code(it: &DiagnosticArtifact) -> bool {
    it.tool_level != "failure-note"
}

/// The check that a step was; `None` if it has not finished, or neither checked the code nor reported diagnostics.
fn check(run: &RunState, plan: Option<&ShownPlan>, step: usize) -> Option<Check> {
    let result = result(run, step)?;
    // A step that was skipped or denied checked nothing.
    let invoked = matches!(result.outcome, Outcome::Succeeded | Outcome::Failed);
    let is_check = result.tool_name == CHECK && invoked;
    if !is_check && result.diagnostic_artifacts.is_empty() {
        return None;
    }
    let mut counts = Counts::default();
    for it in result.diagnostic_artifacts.iter().filter(|it| is_about_code(it)) {
        counts.add(it.level, None);
    }
    let call = plan.and_then(|plan| plan.steps.get(step)).and_then(|step| step.call.as_ref());
    let subject = call.map(|call| match call {
        ToolCall::LspCheck { path } => path.clone(),
        other => other.headline().1,
    });
    Some(Check {
        step,
        tool: result.tool_name.clone(),
        subject: subject.unwrap_or_default(),
        has_verdict: result.success
            || (result.error_code == Some(Code::CargoCheck) && counts.errors > 0),
        counts,
    })
}

/// The base of the comparison: of the earlier checks with a verdict the first with the same subject, or else the first
/// of all; `None` if there is no such check.
fn base<'a>(checks: &'a [Check], check: &Check) -> Option<&'a Check> {
    let mut earlier =
        checks.iter().filter(|it| it.step < check.step && it.tool == CHECK && it.has_verdict);
    earlier.clone().find(|it| it.subject == check.subject).or_else(|| earlier.next())
}

/// Why the comparison of a check with its base is limited; `None` if it is not.
fn caution(check: &Check, base: &Check) -> Option<String> {
    if check.tool != CHECK {
        return Some(
            "This step reports only errors that its change would have caused. Others may still \
             exist."
                .to_owned(),
        );
    }
    if !check.has_verdict {
        return Some("The check did not finish, so no diagnostic is listed as gone.".into());
    }
    (check.subject != base.subject).then(|| {
        format!(
            "The comparison is with a check of {}; this one checks {}.",
            base.subject, check.subject
        )
    })
}

/// The diagnostics of a step, and those of the base that are gone. None is gone unless the step was a check with a
/// verdict.
fn entries(run: &RunState, step: usize, base: Option<usize>, check: &Check) -> Vec<Entry> {
    let diagnostics = |step| result(run, step).map_or(&[][..], |it| &it.diagnostic_artifacts);
    let now = diagnostics(step);
    let compared: Option<(usize, Comparison)> =
        base.map(|base| (base, compare(diagnostics(base), now)));
    let baseline = |index: usize| {
        let is_new = *compared.as_ref()?.1.is_new.get(index)?;
        Some(if is_new { BaselineState::New } else { BaselineState::Unchanged })
    };
    let mut entries: Vec<_> = (0..now.len())
        .filter(|index| now.get(*index).is_some_and(is_about_code))
        .map(|index| Entry {
            position: DiagnosticPosition { step, index },
            baseline: baseline(index),
        })
        .collect();
    if let Some((base, compared)) = &compared
        && check.has_verdict
        && check.tool == CHECK
    {
        let before = diagnostics(*base);
        let gone = compared.gone.iter();
        let gone = gone.filter(|index| before.get(**index).is_some_and(is_about_code));
        entries.extend(gone.map(|index| Entry {
            position: DiagnosticPosition { step: *base, index: *index },
            baseline: Some(BaselineState::Gone),
        }));
    }
    entries
}

type Listed<'a> = (Entry, &'a DiagnosticArtifact);

/// The order by one column.
fn order(column: Column, a: &Listed<'_>, b: &Listed<'_>) -> Ordering {
    match column {
        Column::Severity => a.1.level.cmp(&b.1.level),
        // Diagnostics without a code come last.
        Column::Code => (a.1.code.is_none(), &a.1.code).cmp(&(b.1.code.is_none(), &b.1.code)),
        Column::Message => a.1.message.cmp(&b.1.message),
        Column::File => location_key(a.1).cmp(&location_key(b.1)),
        Column::BaselineState => a.0.baseline.cmp(&b.0.baseline),
    }
}

/// The location as a sort key; diagnostics without one come last.
fn location_key(it: &DiagnosticArtifact) -> (bool, &str, i64, Option<i64>) {
    (it.file_name.is_empty(), &it.file_name, it.line_start, it.column_start)
}

/// The order of diagnostics that are equal in the column by which the table is sorted.
fn default_order(a: &Listed<'_>, b: &Listed<'_>) -> Ordering {
    let key = |it: &Listed<'_>| (it.1.level, it.0.baseline);
    key(a)
        .cmp(&key(b))
        .then_with(|| location_key(a.1).cmp(&location_key(b.1)))
        .then(a.0.position.cmp(&b.0.position))
}

/// The [`MAX_FREQUENT`] most frequent values with their counts, in descending order.
fn frequent<'a>(values: impl Iterator<Item = &'a str>) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for value in values {
        *counts.entry(value).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts.truncate(MAX_FREQUENT);
    counts.into_iter().map(|(value, count)| (value.to_owned(), count)).collect()
}
