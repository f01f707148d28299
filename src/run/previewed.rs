//! What the previews of a plan's steps say, without their differences: whether a step would fail, how many lines it
//! changes, and which files. It is known of all steps at once, so that a list or a dialog need not wait for a look at
//! each step.

use std::collections::BTreeMap;

use super::{Diff, Predicted, Preview};
use crate::authorization::FileState;

/// What the preview of one step says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreviewedStep {
    /// Why the step would fail in the present state, as a sentence; `None` if nothing speaks against success.
    pub failure: Option<String>,
    /// Whether the changed files are known exactly.
    pub is_exact: bool,
    /// The numbers of added and removed lines; `None` if they are not known exactly, or the step changes no file.
    pub lines: Option<(usize, usize)>,
    /// The changed files, with their states before and after the step.
    pub files: Vec<(String, FileState, FileState)>,
}

impl PreviewedStep {
    /// What a preview says.
    pub fn of(preview: &Preview) -> Self {
        let failure = preview.why_it_fails().map(str::to_owned);
        let is_exact = preview.predicted == Predicted::Exact && failure.is_none();
        let lines = preview.changes.iter().map(|change| match change.diff {
            Diff::Unchanged => Some((0, 0)),
            Diff::Text { added, removed, .. } => Some((added, removed)),
            Diff::Binary { .. } => None,
        });
        let sum = |sum: (usize, usize), lines: Option<_>| {
            let (added, removed) = lines?;
            Some((sum.0 + added, sum.1 + removed))
        };
        let is_counted = is_exact && !preview.changes.is_empty();
        let lines = if is_counted { lines.into_iter().try_fold((0, 0), sum) } else { None };
        // The changes of a failure show a conflict; the step would change nothing.
        let changes = preview.changes.iter().filter(|_| failure.is_none());
        let files = changes.map(|it| (it.path.clone(), it.before, it.after)).collect();
        Self { failure, is_exact, lines, files }
    }
}

/// How far the previews of a plan are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PreviewProgress {
    /// None is being computed.
    #[default]
    Idle,
    /// Some are still being computed.
    Computing,
    /// All are computed up to a limit, or those after the last one cannot be computed.
    Ended,
}

/// What the previews of a plan's steps say, as far as they are known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PreviewedSteps {
    steps: Vec<Option<PreviewedStep>>,
    /// The steps that would fail, ascending.
    failing: Vec<usize>,
    /// The number of steps whose preview is known.
    known: usize,
    /// The files that the plan deletes, once the computation has ended.
    deleted: Vec<String>,
    /// How far the computation is.
    pub progress: PreviewProgress,
}

/// What becomes of a file, from before the plan to after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileFate {
    /// It is created.
    New,
    /// Its content is replaced.
    Replaced,
    /// It is deleted.
    Deleted,
    /// It is written; what becomes of it is not known.
    Written,
    /// It has its content already, or gets it back.
    Unchanged,
    /// Each step that names it would fail, or is behind one at which the run would end.
    NotWritten,
}

impl FileFate {
    /// Every fate, in the order of counts.
    pub const ALL: [Self; 6] = [
        Self::New,
        Self::Replaced,
        Self::Deleted,
        Self::Written,
        Self::Unchanged,
        Self::NotWritten,
    ];

    /// The fate in a word or two.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Replaced => "replaced",
            Self::Deleted => "deleted",
            Self::Written => "written",
            Self::Unchanged => "unchanged",
            Self::NotWritten => "not written",
        }
    }

    fn between(before: FileState, after: FileState) -> Self {
        match (before, after) {
            _ if before == after => Self::Unchanged,
            (FileState::Absent, _) => Self::New,
            (_, FileState::Absent) => Self::Deleted,
            _ => Self::Replaced,
        }
    }
}

/// What a run did to files, by the previews of the steps that succeeded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DoneFiles {
    /// The files, by path, each with what became of it.
    pub files: Vec<(String, FileFate)>,
    /// Whether that is known exactly of each step.
    pub is_all: bool,
}

impl PreviewedSteps {
    /// Nothing is known yet of a plan with this number of steps.
    pub fn new(steps: usize) -> Self {
        Self { steps: vec![None; steps], ..Self::default() }
    }

    /// Stores what the preview of a step says.
    pub fn store(&mut self, index: usize, step: PreviewedStep) {
        let Some(slot) = self.steps.get_mut(index) else { return };
        let place = self.failing.binary_search(&index);
        match (place, step.failure.is_some()) {
            (Err(place), true) => self.failing.insert(place, index),
            (Ok(place), false) => drop(self.failing.remove(place)),
            _ => {}
        }
        self.known += usize::from(slot.is_none());
        *slot = Some(step);
    }

    /// Notes that no more previews are computed.
    pub fn end(&mut self) {
        self.progress = PreviewProgress::Ended;
        let states = self.states().into_iter();
        let deleted = states
            .filter(|(_, (before, after))| FileFate::between(*before, *after) == FileFate::Deleted);
        self.deleted = deleted.map(|(path, _)| path.to_owned()).collect();
    }

    /// The files that the plan deletes, as far as that is known, by path.
    pub fn deleted(&self) -> &[String] {
        &self.deleted
    }

    /// What is known of a step.
    pub fn get(&self, index: usize) -> Option<&PreviewedStep> {
        self.steps.get(index)?.as_ref()
    }

    /// Why a step would fail, if that is known.
    pub fn failure(&self, index: usize) -> Option<&str> {
        self.get(index)?.failure.as_deref()
    }

    /// The steps that would fail, as far as that is known, ascending.
    pub fn failing(&self) -> &[usize] {
        &self.failing
    }

    /// The number of steps that run before the first one that would fail, where the run ends; all if none would.
    pub fn reached(&self) -> usize {
        self.failing.first().map_or(self.steps.len(), |first| *first)
    }

    /// What a person must know about the end of the run, as a sentence: at which step it would end, and how many steps
    /// behind it would not run; `None` if no step would fail.
    pub fn ends_early(&self) -> Option<String> {
        let number = self.failing.first()? + 1;
        let behind = match self.steps.len() - number {
            0 => String::new(),
            1 => "; the step behind it would not run".to_owned(),
            count => format!("; the {count} steps behind it would not run"),
        };
        Some(format!("The run would end at step {number}{behind}."))
    }

    /// The number of steps of which nothing is known.
    pub fn unknown(&self) -> usize {
        self.steps.len() - self.known
    }

    /// The number of steps of which something is known.
    pub fn known(&self) -> usize {
        self.known
    }

    /// The lines that the steps add and remove up to where the run would end, as far as they are known, and whether that
    /// is all of them.
    pub fn lines(&self) -> ((usize, usize), bool) {
        let (mut sum, mut is_all) = ((0, 0), true);
        for step in self.steps.iter().take(self.reached()) {
            match step.as_ref().map(|step| (step.lines, step)) {
                Some((Some((added, removed)), _)) => sum = (sum.0 + added, sum.1 + removed),
                Some((None, step)) => is_all &= step.files.is_empty(),
                None => is_all = false,
            }
        }
        (sum, is_all)
    }

    /// What becomes of the files that the previews name, from the first state to that at the end of the run.
    fn states(&self) -> BTreeMap<&str, (FileState, FileState)> {
        self.states_of(|index| index < self.reached())
    }

    /// As [`Self::states`], of the steps for which `is_meant` is true.
    fn states_of(
        &self,
        is_meant: impl Fn(usize) -> bool,
    ) -> BTreeMap<&str, (FileState, FileState)> {
        let mut states = BTreeMap::new();
        let steps = self.steps.iter().enumerate().filter(|(index, _)| is_meant(*index));
        for (path, before, after) in steps.filter_map(|it| it.1.as_ref()).flat_map(|it| &it.files) {
            states.entry(path.as_str()).or_insert((*before, *after)).1 = *after;
        }
        states
    }

    /// What a run did in which exactly the steps `succeeded`, ascending, succeeded. They were compared with the files before they did
    /// it. `named` has the files that such a step names, each with what becomes of it: nothing else is known of a step
    /// that ran before its preview was computed.
    pub fn done<'n>(
        &self,
        succeeded: &[usize],
        named: impl Fn(usize) -> Vec<(&'n str, FileFate)>,
    ) -> DoneFiles {
        let exact = |index: &usize| self.get(*index).is_some_and(|step| step.is_exact);
        let states = self.states_of(|index| succeeded.binary_search(&index).is_ok()).into_iter();
        let mut files: BTreeMap<_, _> = states
            .map(|(path, (before, after))| (path.to_owned(), FileFate::between(before, after)))
            .collect();
        for index in succeeded.iter().filter(|index| self.get(**index).is_none()) {
            for (path, fate) in named(*index) {
                files.entry(path.to_owned()).or_insert(fate);
            }
        }
        DoneFiles { files: files.into_iter().collect(), is_all: succeeded.iter().all(exact) }
    }

    /// What becomes of each of these files, in their order. `inputs` has their states now, as far as they are known;
    /// `may_delete` states for a step whether it may delete such a file; `None` if it names no file that it writes.
    pub fn fates<'f>(
        &self,
        files: impl IntoIterator<Item = &'f String>,
        inputs: &BTreeMap<String, FileState>,
        may_delete: impl Fn(usize) -> Option<bool>,
    ) -> Vec<FileFate> {
        let states = self.states();
        let is_known = |step: &Option<PreviewedStep>| {
            step.as_ref().is_some_and(|step| step.is_exact || step.failure.is_some())
        };
        let reached = (0..self.reached()).zip(&self.steps);
        let unknown = reached.filter(|(_, step)| !is_known(step));
        let unknown: Vec<bool> = unknown.filter_map(|(index, _)| may_delete(index)).collect();
        let some_deleted = unknown.contains(&true);
        let fate = |path: &String| match (states.get(path.as_str()), inputs.get(path)) {
            (Some((before, after)), _) => FileFate::between(*before, *after),
            (None, _) if unknown.is_empty() => FileFate::NotWritten,
            (None, Some(FileState::Absent)) => FileFate::New,
            (None, Some(FileState::Content(_))) if !some_deleted => FileFate::Replaced,
            (None, _) => FileFate::Written,
        };
        files.into_iter().map(fate).collect()
    }
}

#[cfg(test)]
mod tests;
