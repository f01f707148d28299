//! Walks through the selected runs and their steps, one page at a time.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::time::Duration;

use uuid::Uuid;

use super::{ExportError, Exported, Progress, Result};
use crate::evidence::{EvidenceReader, SelectedStep};
use crate::run::{ExecutionDetail, RunSummary, SearchQuery, StopSignal};

/// The number of steps that are selected at once.
const PAGE: usize = 500;
/// The number of hits of a search that are read at once.
const HITS: usize = 2_000;

/// What the walk meets.
pub(super) enum Item<'i> {
    /// A run begins. The second value says which of its steps are selected, if it was asked for.
    Run(&'i RunSummary, &'i Counted),
    /// A step of that run.
    Step(&'i ExecutionDetail),
    /// The run ends.
    End(&'i RunSummary),
}

/// The selected steps of a run.
#[derive(Debug, Default)]
pub(super) struct Counted {
    /// Their number by outcome.
    pub(super) outcomes: BTreeMap<String, u64>,
    /// The executions of the first [`FIRST`] of them.
    pub(super) first: HashSet<Uuid>,
}

impl Counted {
    /// The number of them.
    pub(super) fn number(&self) -> u64 {
        self.outcomes.values().sum()
    }
}

/// The number of steps of a run that [`Counted`] names.
pub(super) const FIRST: usize = 100;

/// The executions with the words of a query; `None` if it has no words. This is the only part of an export that grows
/// with its result: by 16 bytes for each hit.
///
/// # Errors
/// When the search fails.
pub(super) fn with_words(
    reader: &mut EvidenceReader,
    query: &SearchQuery,
) -> Result<Option<HashSet<Uuid>>> {
    if query.words.trim().is_empty() {
        return Ok(None);
    }
    let mut found = HashSet::new();
    let mut query = SearchQuery { limit: HITS, after: None, ..query.clone() };
    let stop = StopSignal::default();
    loop {
        // Nothing is counted: only the hits matter.
        let page = reader.search_within(&query, Duration::MAX, Duration::ZERO, &stop)?;
        let page = page.unwrap_or_default();
        found.extend(page.hits.iter().map(|hit| hit.listed.row.execution_id));
        query.after = page.next;
        if page.next.is_none() {
            return Ok(Some(found));
        }
    }
}

/// A walk through the selection of an export.
pub(super) struct Walk<'w> {
    pub(super) reader: &'w mut EvidenceReader,
    query: SearchQuery,
    words: Option<HashSet<Uuid>>,
    progress: Progress<'w>,
    pub(super) exported: Exported,
}

impl<'w> Walk<'w> {
    pub(super) fn new(
        reader: &'w mut EvidenceReader,
        query: &SearchQuery,
        words: Option<HashSet<Uuid>>,
        progress: Progress<'w>,
    ) -> Self {
        Self { reader, query: query.clone(), words, progress, exported: Exported::default() }
    }

    /// The query of the export.
    pub(super) fn query(&self) -> &SearchQuery {
        &self.query
    }

    /// Passes each selected run, with its steps, to `each`.
    ///
    /// # Errors
    /// When the evidence cannot be read, `progress` stops the export, or `each` fails.
    pub(super) fn each(
        &mut self,
        each: impl FnMut(&mut EvidenceReader, Item<'_>) -> Result<()>,
    ) -> Result<()> {
        self.each_of(None, false, each)
    }

    /// As [`each`](Self::each), with the selected steps of each run.
    ///
    /// # Errors
    /// As [`each`](Self::each).
    pub(super) fn each_counted(
        &mut self,
        each: impl FnMut(&mut EvidenceReader, Item<'_>) -> Result<()>,
    ) -> Result<()> {
        self.each_of(None, true, each)
    }

    /// As [`each`](Self::each), with only the steps of this tool.
    ///
    /// # Errors
    /// As [`each`](Self::each).
    pub(super) fn each_of_tool(
        &mut self,
        tool: &str,
        each: impl FnMut(&mut EvidenceReader, Item<'_>) -> Result<()>,
    ) -> Result<()> {
        self.each_of(Some(tool), false, each)
    }

    /// The tools of the selected steps.
    ///
    /// # Errors
    /// As [`each`](Self::each).
    pub(super) fn tools(&mut self) -> Result<BTreeSet<String>> {
        let mut tools = BTreeSet::new();
        self.pages(|_, page| {
            tools.extend(page.steps.into_iter().map(|step| step.tool_name));
            Ok(())
        })?;
        Ok(tools)
    }

    /// What `find` finds first in the selected steps.
    ///
    /// # Errors
    /// As [`each`](Self::each).
    pub(super) fn find<T>(
        &mut self,
        mut find: impl FnMut(&mut EvidenceReader, &ExecutionDetail) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        let mut found = None;
        self.pages(|walk, page| {
            let run = if found.is_none() { walk.reader.run(page.run_id)? } else { None };
            let Some(run) = run else { return Ok(()) };
            for step in page.steps {
                if found.is_none()
                    && let Some(detail) = walk.reader.execution_of(&run, step.execution_id)?
                {
                    found = find(walk.reader, &detail)?;
                }
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Passes the selected steps of each run to `each`, as many at once as one page has.
    ///
    /// # Errors
    /// As [`each`](Self::each).
    pub(super) fn survey(
        &mut self,
        mut each: impl FnMut(&mut EvidenceReader, &RunSummary, &[SelectedStep]) -> Result<()>,
    ) -> Result<()> {
        let mut open: Option<RunSummary> = None;
        self.pages(|walk, page| {
            if open.as_ref().is_none_or(|run| run.run_id != page.run_id) {
                open = walk.reader.run(page.run_id)?;
            }
            if !(walk.progress)(0) {
                return Err(ExportError::Stopped);
            }
            open.as_ref().map_or(Ok(()), |run| each(walk.reader, run, &page.steps))
        })
    }

    fn each_of(
        &mut self,
        tool: Option<&str>,
        is_counted: bool,
        mut each: impl FnMut(&mut EvidenceReader, Item<'_>) -> Result<()>,
    ) -> Result<()> {
        self.exported = Exported::default();
        let mut open: Option<RunSummary> = None;
        self.pages(|walk, page| {
            if open.as_ref().is_none_or(|run| run.run_id != page.run_id) {
                if let Some(ended) = open.take() {
                    each(walk.reader, Item::End(&ended))?;
                }
                let Some(run) = walk.reader.run(page.run_id)? else { return Ok(()) };
                let counts = if is_counted { walk.counts(&page)? } else { Counted::default() };
                walk.exported.runs += 1;
                each(walk.reader, Item::Run(&run, &counts))?;
                open = Some(run);
            }
            let Some(run) = &open else { return Ok(()) };
            for step in page.steps.iter().filter(|step| tool.is_none_or(|it| it == step.tool_name))
            {
                let found = walk.reader.execution_of(run, step.execution_id)?;
                let Some(detail) = found else { continue };
                walk.exported.changed += u64::from(!detail.changed.is_empty());
                walk.exported.executions += 1;
                each(walk.reader, Item::Step(&detail))?;
                if !(walk.progress)(walk.exported.executions) {
                    return Err(ExportError::Stopped);
                }
            }
            Ok(())
        })?;
        match open {
            Some(ended) => each(self.reader, Item::End(&ended)),
            None => Ok(()),
        }
    }

    /// The selected steps of the run whose first page this is.
    fn counts(&mut self, first: &Page) -> Result<Counted> {
        let mut counts = Counted::default();
        let mut left = first.left;
        let mut after = 0;
        while left > 0
            && let Some(steps) = self.next_page(first.run_id, &mut after, &mut left)?
        {
            for step in steps {
                if counts.first.len() < FIRST {
                    counts.first.insert(step.execution_id);
                }
                *counts.outcomes.entry(step.outcome).or_default() += 1;
            }
        }
        Ok(counts)
    }

    /// Passes the selected steps to `each`, page by page. A run without steps has an empty page, unless the query is
    /// about steps.
    fn pages(&mut self, mut each: impl FnMut(&mut Self, Page) -> Result<()>) -> Result<()> {
        let mut left = if self.query.limit == 0 { usize::MAX } else { self.query.limit };
        let mut after_run = 0;
        while left > 0
            && let Some((row, run_id)) = self.reader.next_selected_run(&self.query, after_run)?
        {
            after_run = row;
            let mut after = 0;
            let mut is_first = true;
            loop {
                let before = left;
                let steps = self.next_page(run_id, &mut after, &mut left)?;
                let is_shown = is_first && !self.is_about_steps();
                is_first = false;
                match steps {
                    Some(steps) if steps.is_empty() && !is_shown => {}
                    Some(steps) => each(self, Page { run_id, steps, left: before })?,
                    None if is_shown => each(self, Page { run_id, steps: Vec::new(), left })?,
                    None => {}
                }
                if left == 0 || after == i64::MAX {
                    break;
                }
            }
        }
        Ok(())
    }

    /// The next steps of a run; `None` if there are no more. `after` is then the greatest number.
    fn next_page(
        &mut self,
        run_id: Uuid,
        after: &mut i64,
        left: &mut usize,
    ) -> Result<Option<Vec<SelectedStep>>> {
        let mut steps = self.reader.selected_steps(&self.query, run_id, *after, PAGE)?;
        let Some(last) = steps.last() else {
            *after = i64::MAX;
            return Ok(None);
        };
        *after = last.row;
        if let Some(words) = &self.words {
            steps.retain(|step| words.contains(&step.execution_id));
        }
        steps.truncate(*left);
        *left -= steps.len();
        Ok(Some(steps))
    }

    /// Whether the query selects steps, and not only runs.
    fn is_about_steps(&self) -> bool {
        let SearchQuery { tool, outcome, risk, host, path, wrote, code, .. } = &self.query;
        let texts = [tool, outcome, risk, host, path, wrote, code];
        let times = [self.query.since_ms, self.query.until_ms];
        self.words.is_some()
            || texts.iter().any(|text| text.is_some())
            || times.iter().any(|time| time.is_some())
    }
}

/// Some selected steps of a run.
struct Page {
    run_id: Uuid,
    steps: Vec<SelectedStep>,
    /// The number of steps that may still be selected, with these.
    left: usize,
}
