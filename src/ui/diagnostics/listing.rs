//! Selects, sorts and compares the diagnostics of a run; the comparison is with the run's first check. Pure;
//! computed again only when the run or the selection changes.

#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::filter::Filter;
use crate::plan::{Code, ShownPlan, ToolCall};
use crate::run::{
    Comparison, DiagnosticArtifact, Level, Outcome, RunState, Standing, StepResult, StepState,
    compare,
};

/// The tool that checks a project or a part of it. Other tools report only errors that their change would cause.
const CHECK: &str = "lsp_check";

/// The maximum number of codes, and of files, offered as filters.
const MAX_FREQUENT: usize = 12;

/// The position of a diagnostic in the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The step that found the diagnostic, counted from 0.
    pub step: usize,
    /// The index among the diagnostics of the step, counted from 0.
    pub at: usize,
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
    Standing,
}

/// A group of diagnostics that can be hidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Facet {
    /// The diagnostics of one severity.
    Level(Level),
    /// The diagnostics with one result of the comparison with the first check.
    Standing(Standing),
}

/// The filter, the order and the selection of the person.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sight {
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
    pub picked: Option<Place>,
}

impl Sight {
    /// Hides a group, or shows it if it is hidden.
    pub fn toggle(&mut self, facet: Facet) {
        if self.hidden.contains(&facet) {
            self.hidden.retain(|hidden| *hidden != facet);
        } else {
            self.hidden.push(facet);
        }
    }

    /// Sorts by a column, or reverses the order if the table is sorted by it already.
    pub fn sort_by(&mut self, column: Column) {
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
            Facet::Standing(Standing::New) => self.new,
            Facet::Standing(Standing::Unchanged) => self.unchanged,
            Facet::Standing(Standing::Gone) => self.gone,
        }
    }

    fn add(&mut self, level: Level, standing: Option<Standing>) {
        // A diagnostic that is gone does not count as an error or warning.
        match level {
            _ if standing == Some(Standing::Gone) => {}
            Level::Error => self.errors += 1,
            Level::Warning => self.warnings += 1,
            Level::Info => self.notes += 1,
        }
        match standing {
            Some(Standing::New) => self.new += 1,
            Some(Standing::Unchanged) => self.unchanged += 1,
            Some(Standing::Gone) => self.gone += 1,
            None => {}
        }
    }
}

/// A step of the run that checked the code.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(test, derive(serde::Serialize))]
pub struct Check {
    /// The step, counted from 0.
    pub step: usize,
    /// The tool of the step.
    pub tool: String,
    /// The subject of the check, for example a path.
    pub about: String,
    /// The numbers of diagnostics that the check found.
    pub found: Counts,
    /// Whether the check completed with a verdict.
    pub verdict: bool,
}

/// A diagnostic of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The position of the diagnostic in the run.
    pub place: Place,
    /// The result of the comparison with the run's first check; `None` without a comparison.
    pub standing: Option<Standing>,
}

/// The diagnostics to show, with counts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listing {
    /// All steps that checked the code.
    pub checks: Vec<Check>,
    /// The step whose diagnostics are listed.
    pub step: Option<usize>,
    /// The step that `step` is compared with.
    pub base: Option<usize>,
    /// A limitation of the comparison.
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
    /// Computes the list.
    pub fn of(run: &RunState, plan: Option<&ShownPlan>, sight: &Sight) -> Self {
        let checks: Vec<_> = (0..run.steps.len()).filter_map(|at| check(run, plan, at)).collect();
        let of_step = |step: usize| checks.iter().find(|check| check.step == step);
        let latest = || checks.iter().rfind(|it| it.tool == CHECK).or(checks.last());
        let Some(check) = sight.step.and_then(of_step).or_else(latest) else {
            return Self { checks, ..Self::default() };
        };
        let step = check.step;
        let base = base(&checks, check).map(|base| base.step);
        let caution = base.and_then(of_step).and_then(|base| caution(check, base));
        let entries = entries(run, step, base, check);
        let mut counts = Counts::default();
        let filter = Filter::parse(&sight.filter);
        let mut shown: Vec<(Entry, &DiagnosticArtifact)> = Vec::new();
        for entry in &entries {
            let Some(it) = diagnostic(run, entry.place) else { continue };
            counts.add(it.level, entry.standing);
            let hidden = |facet: &Facet| match facet {
                Facet::Level(level) => *level == it.level,
                Facet::Standing(standing) => Some(*standing) == entry.standing,
            };
            if !sight.hidden.iter().any(hidden) && filter.matches(it) {
                shown.push((*entry, it));
            }
        }
        shown.sort_by(|a, b| {
            let order = order(sight.sort, a, b);
            if sight.reversed { order.reverse() } else { order }.then_with(|| usual(a, b))
        });
        let shown: Vec<_> = shown.into_iter().map(|(entry, _)| entry).collect();
        let picked = shown.iter().position(|entry| Some(entry.place) == sight.picked);
        let selected = picked.or((!shown.is_empty()).then_some(0));
        let all = || entries.iter().filter_map(|entry| diagnostic(run, entry.place));
        let codes = frequent(all().filter_map(|it| it.code.as_deref()));
        let files = frequent(all().map(|it| it.file_name.as_str()).filter(|it| !it.is_empty()));
        let (step, total) = (Some(step), entries.len());
        Self { checks, step, base, caution, counts, total, codes, files, shown, selected }
    }

    /// The selected entry.
    pub fn chosen(&self) -> Option<Entry> {
        self.shown.get(self.selected?).copied()
    }
}

/// The diagnostic at a position.
pub fn diagnostic(run: &RunState, place: Place) -> Option<&DiagnosticArtifact> {
    result(run, place.step)?.diagnostic_artifacts.get(place.at)
}

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

fn check(run: &RunState, plan: Option<&ShownPlan>, step: usize) -> Option<Check> {
    let result = result(run, step)?;
    // A step that was skipped or denied checked nothing.
    let invoked = matches!(result.outcome, Outcome::Succeeded | Outcome::Failed);
    let looked = result.tool_name == CHECK && invoked;
    if !looked && result.diagnostic_artifacts.is_empty() {
        return None;
    }
    let mut found = Counts::default();
    for it in result.diagnostic_artifacts.iter().filter(|it| is_about_code(it)) {
        found.add(it.level, None);
    }
    let call = plan.and_then(|plan| plan.steps.get(step)).and_then(|step| step.call.as_ref());
    let about = call.map(|call| match call {
        ToolCall::LspCheck { path } => path.clone(),
        other => other.headline().1,
    });
    Some(Check {
        step,
        tool: result.tool_name.clone(),
        about: about.unwrap_or_default(),
        verdict: result.success
            || (result.error_code == Some(Code::CargoCheck) && found.errors > 0),
        found,
    })
}

/// The base of the comparison: an earlier check with a verdict, the first one of the same project part or
/// else the first of the run.
fn base<'a>(checks: &'a [Check], check: &Check) -> Option<&'a Check> {
    let mut first = checks
        .iter()
        .filter(|first| first.step < check.step && first.tool == CHECK && first.verdict);
    first.clone().find(|first| first.about == check.about).or_else(|| first.next())
}

fn caution(check: &Check, base: &Check) -> Option<String> {
    if check.tool != CHECK {
        return Some(
            "This step reports only errors that its change would have caused. Others may still \
             exist."
                .to_owned(),
        );
    }
    if !check.verdict {
        return Some(
            "The check did not finish: a diagnostic that is missing here may still exist.".into(),
        );
    }
    (check.about != base.about).then(|| {
        format!("The first check covered {}, this one covers {}.", base.about, check.about)
    })
}

fn entries(run: &RunState, step: usize, base: Option<usize>, check: &Check) -> Vec<Entry> {
    let of = |step| result(run, step).map_or(&[][..], |it| &it.diagnostic_artifacts);
    let now = of(step);
    let compared: Option<(usize, Comparison)> = base.map(|base| (base, compare(of(base), now)));
    let standing = |at: usize| {
        let is_new = *compared.as_ref()?.1.is_new.get(at)?;
        Some(if is_new { Standing::New } else { Standing::Unchanged })
    };
    let mut entries: Vec<_> = (0..now.len())
        .filter(|at| now.get(*at).is_some_and(is_about_code))
        .map(|at| Entry { place: Place { step, at }, standing: standing(at) })
        .collect();
    if let Some((base, compared)) = &compared
        && check.verdict
        && check.tool == CHECK
    {
        let before = of(*base);
        let gone = compared.gone.iter();
        let gone = gone.filter(|at| before.get(**at).is_some_and(is_about_code));
        entries.extend(gone.map(|at| Entry {
            place: Place { step: *base, at: *at },
            standing: Some(Standing::Gone),
        }));
    }
    entries
}

type Listed<'a> = (Entry, &'a DiagnosticArtifact);

fn order(column: Column, a: &Listed<'_>, b: &Listed<'_>) -> Ordering {
    match column {
        Column::Severity => a.1.level.cmp(&b.1.level),
        // Diagnostics without a code come last.
        Column::Code => (a.1.code.is_none(), &a.1.code).cmp(&(b.1.code.is_none(), &b.1.code)),
        Column::Message => a.1.message.cmp(&b.1.message),
        Column::File => spot(a.1).cmp(&spot(b.1)),
        Column::Standing => a.0.standing.cmp(&b.0.standing),
    }
}

/// The location as a sort key; diagnostics without one come last.
fn spot(it: &DiagnosticArtifact) -> (bool, &str, i64, Option<i64>) {
    (it.file_name.is_empty(), &it.file_name, it.line_start, it.column_start)
}

/// The order of diagnostics that are equal in the chosen column.
fn usual(a: &Listed<'_>, b: &Listed<'_>) -> Ordering {
    let key = |it: &Listed<'_>| (it.1.level, it.0.standing);
    key(a).cmp(&key(b)).then_with(|| spot(a.1).cmp(&spot(b.1))).then(a.0.place.cmp(&b.0.place))
}

/// The most frequent values with their counts, in descending order.
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
