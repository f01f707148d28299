//! Searches many files of the workspace on several threads, with results in a stable order.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};

use super::{
    FileSelection, Last, Place, SearchBudget, WalkEntry, Workspace, WorkspaceError, walk_for,
};
use crate::run::StopSignal;

/// Maximum size of the results of one search: 256 MiB.
pub(crate) const ANSWER_BYTES: u64 = 256 << 20;

/// The results from one file.
pub(crate) struct FileMatches {
    pub(crate) path: String,
    /// Results as JSON, separated by commas.
    pub(crate) json: Vec<u8>,
    pub(crate) count: u64,
}

/// Resolves the root of a search, which must be an existing folder or file.
pub(crate) fn root<'a>(workspace: &'a Workspace, root: &str) -> Result<Place<'a>, WorkspaceError> {
    let place = workspace.resolve(root, Last::Follow)?;
    place.kind.check_exists(root)?;
    Ok(place)
}

/// The canonical paths of all files that a search of the workspace visits, in its order.
pub(crate) fn names(
    workspace: &Workspace,
    stop: &StopSignal,
) -> Result<Vec<String>, WorkspaceError> {
    let place = root(workspace, ".")?;
    let answer =
        search_files(&place, SearchBudget::unlimited(stop), |_, _, _| Ok(Some((Vec::new(), 1))))?;
    Ok(answer.found.into_iter().map(|found| found.path).collect())
}

/// The results of a search.
pub(crate) struct SearchResults {
    pub(crate) found: Vec<FileMatches>,
    /// The number of searched files.
    pub(crate) files: u64,
    /// Messages about files and folders that could not be read, sorted.
    pub(crate) problems: Vec<String>,
}

impl SearchResults {
    /// All results, as one JSON array.
    pub(crate) fn json(&self) -> Vec<u8> {
        let found: Vec<&[u8]> = self.found.iter().map(|found| &*found.json).collect();
        [b"[".as_slice(), &found.join(&b','), b"]"].concat()
    }
}

/// Why a file was not searched.
pub(crate) enum SearchError {
    /// A problem with this file, as a message for a person.
    Problem(String),
    /// A limit of the whole search.
    Limit(WorkspaceError),
}

impl From<WorkspaceError> for SearchError {
    fn from(error: WorkspaceError) -> Self {
        match error {
            WorkspaceError::ReviewLimit { .. } => Self::Limit(error),
            error => Self::Problem(error.to_string()),
        }
    }
}

/// Calls `search` for every file that ripgrep would choose below `place`, with its path below the root and its
/// canonical path. `search` returns the results in the file as JSON and their number, or `None` without results.
///
/// # Errors
/// A limit is reached, or the search was stopped.
pub(crate) fn search_files(
    place: &Place<'_>,
    budget: SearchBudget<'_>,
    search: impl Fn(&mut Searcher, &Path, &str) -> Result<Option<(Vec<u8>, u64)>, SearchError> + Sync,
) -> Result<SearchResults, WorkspaceError> {
    let found = Mutex::new(Vec::<(PathBuf, FileMatches)>::new());
    let problems = Mutex::new(Vec::new());
    let (files, bytes) = (AtomicU64::new(0), AtomicU64::new(0));
    let limit = Mutex::new(None);
    let stop = budget.stop;
    let visit = |searcher: &mut Searcher, step: WalkEntry<'_>| {
        if stop.is_set() || bytes.load(Ordering::Relaxed) > ANSWER_BYTES {
            return ControlFlow::Break(());
        }
        let relative = match step {
            WalkEntry::File(relative) => relative,
            WalkEntry::Folder(_) | WalkEntry::Link(_) | WalkEntry::Other(_) => {
                return ControlFlow::Continue(());
            }
            WalkEntry::Problem(text) => {
                lock(&problems).push(text);
                return ControlFlow::Continue(());
            }
        };
        files.fetch_add(1, Ordering::Relaxed);
        let path = place.root.key(relative);
        match search(searcher, relative, &path) {
            Ok(None) => {}
            Ok(Some((json, count))) => {
                bytes.fetch_add(json.len() as u64, Ordering::Relaxed);
                lock(&found).push((relative.to_owned(), FileMatches { path, json, count }));
            }
            // Which file reaches the limit depends on the threads, so the error names no file.
            Err(SearchError::Limit(error)) => {
                *lock(&limit) = Some(error);
                return ControlFlow::Break(());
            }
            Err(SearchError::Problem(problem)) => lock(&problems).push(problem),
        }
        ControlFlow::Continue(())
    };
    let searcher = || {
        SearcherBuilder::new().line_number(true).binary_detection(BinaryDetection::quit(0)).build()
    };
    let walked = walk_for(FileSelection::Search, place, budget, searcher, visit);
    if stop.is_set() {
        return Err(WorkspaceError::Cancelled);
    }
    walked?;
    if let Some(limit) = limit.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(limit);
    }
    if bytes.into_inner() > ANSWER_BYTES {
        return Err(WorkspaceError::OutputLimit { limit: ANSWER_BYTES });
    }
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    // Sorted by the bytes of the path and not by its names, so `a-b` comes before `a/b`.
    found.sort_by(|(a, _), (b, _)| {
        a.as_os_str().as_encoded_bytes().cmp(b.as_os_str().as_encoded_bytes())
    });
    let mut problems = problems.into_inner().unwrap_or_else(PoisonError::into_inner);
    problems.sort();
    Ok(SearchResults {
        found: found.into_iter().map(|(_, found)| found).collect(),
        files: files.into_inner(),
        problems,
    })
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
