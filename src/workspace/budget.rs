//! Limits how much of a workspace the review of a plan reads. The limits are counts and not times, so that
//! the same workspace reaches the same limit on every machine. Running steps have no such limits; a person
//! can stop them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::code::{CodeError, PARSER_STEPS, Source};
use crate::plan::Code;
use crate::run::{ErrorInfo, Failure, StopSignal};

use super::{Workspace, WorkspaceError, check_cancelled};

/// Maximum number of directory entries that one search may list; ignore rules count as entries too.
const NAMES: u64 = if cfg!(test) { 10_000 } else { 1_000_000 };
/// Maximum total size of the source files that one search for a symbol may read: 1 GiB.
const BYTES: u64 = 1 << 30;
/// All searches of one review together may list and read this many times as much as a single search.
const SEARCHES_PER_REVIEW: u64 = 4;
/// Opening a file counts as reading this many bytes, because it takes as long.
pub(crate) const OPENED: u64 = 4 << 10;
/// Maximum number of parser steps of all searches of a review together; steps in texts with syntax errors
/// count more.
const STEPS: u64 = 50_000_000;
/// Factor for parser steps in a text with syntax errors: the parser tries several readings at once there, and
/// each step takes this many times as long.
const FAULTY: u64 = 10;
/// Symbol searches parse source texts with more bytes than this one at a time, because the syntax tree of a
/// hostile text takes much memory.
const LARGE: usize = 64 << 10;

/// The kinds of cost that are counted.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Counted {
    Names,
    Bytes,
    Steps,
}

/// The cost of all searches of a review so far, counted on all threads. Whether a limit is reached does not
/// depend on the order of the threads.
#[derive(Debug, Default)]
pub(crate) struct SearchCost {
    names: AtomicU64,
    bytes: AtomicU64,
    steps: AtomicU64,
}

/// Counts the cost of a review against its limits (SPEC §1.4). A run has no limits.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    /// Set to cancel the review.
    stop: Arc<StopSignal>,
    /// The cost so far; `None` for a run.
    cost: Option<SearchCost>,
    /// The first limit that a preview has reached since [`Workspace::take_limit`].
    limit: Mutex<Option<Failure>>,
}

/// The stop signal of one search, and the counters to which it adds.
#[derive(Clone, Copy)]
pub(crate) struct SearchBudget<'a> {
    pub(crate) stop: &'a StopSignal,
    /// The counters, and the names and bytes counted before this search; `None` without limits.
    cost: Option<(&'a SearchCost, [u64; 2])>,
}

impl<'a> SearchBudget<'a> {
    /// A budget without limits, for a step that runs.
    pub(crate) fn unlimited(stop: &'a StopSignal) -> Self {
        Self { stop, cost: None }
    }

    /// Counts the parser steps of one text, also if it could not be parsed.
    ///
    /// # Errors
    /// A limit is reached, by this search or together with earlier ones.
    pub(crate) fn count_parsed(
        &self,
        read: &Result<Source<'_>, CodeError>,
    ) -> Result<(), WorkspaceError> {
        let steps = match read {
            Ok(source) if source.has_syntax_error() => FAULTY.saturating_mul(source.steps()),
            Ok(source) => source.steps(),
            // Whatever limit the text reached, it counts as the longest one.
            Err(CodeError::TooMany { .. } | CodeError::TooManyInReview { .. }) => {
                FAULTY.saturating_mul(PARSER_STEPS)
            }
            Err(_) => 0,
        };
        self.count(Counted::Steps, steps)
    }

    /// Adds to a counter.
    ///
    /// # Errors
    /// A limit is reached, by this search or together with earlier ones.
    pub(crate) fn count(&self, what: Counted, count: u64) -> Result<(), WorkspaceError> {
        let Some((cost, [names, bytes])) = self.cost else { return Ok(()) };
        let (counter, before, limit, searches, what) = match what {
            Counted::Names => (&cost.names, names, NAMES, SEARCHES_PER_REVIEW, "directory entries"),
            Counted::Bytes => {
                (&cost.bytes, bytes, BYTES, SEARCHES_PER_REVIEW, "bytes of source files")
            }
            Counted::Steps => (&cost.steps, 0, STEPS, 1, "parser steps"),
        };
        let total = counter.fetch_add(count, Ordering::SeqCst).saturating_add(count);
        let review_limit = limit * searches;
        if total > review_limit {
            return Err(WorkspaceError::ReviewLimit { what, limit: review_limit });
        }
        if total.saturating_sub(before) > limit {
            return Err(WorkspaceError::ReviewLimit { what, limit });
        }
        Ok(())
    }
}

/// The error for too many parser steps in this text and those parsed before it, for callers that can report
/// only an error of one text.
pub(crate) fn too_many_steps() -> CodeError {
    CodeError::TooManyInReview { limit: STEPS }
}

/// Waits until no other large text is being parsed. Other large texts wait until the returned guard is
/// dropped. `None` for a small text, which need not wait.
pub(crate) fn lock_large_parse(text: &str) -> Option<MutexGuard<'static, ()>> {
    static LARGE_PARSE: Mutex<()> = Mutex::new(());
    (text.len() > LARGE).then(|| LARGE_PARSE.lock().unwrap_or_else(PoisonError::into_inner))
}

impl Budget {
    /// A budget with limits, for a review. `stop` cancels the review.
    pub(crate) fn for_review(stop: Arc<StopSignal>) -> Self {
        Self { stop, cost: Some(SearchCost::default()), limit: Mutex::default() }
    }
}

impl Workspace {
    /// Fails if the review was cancelled.
    ///
    /// # Errors
    /// [`WorkspaceError::Cancelled`].
    pub fn check_cancelled(&self) -> Result<(), WorkspaceError> {
        check_cancelled(&self.budget.stop)
    }

    /// Records the error for the findings of the review if it is a limit; only the first one is recorded.
    pub(crate) fn note_limit(&self, error: &dyn ErrorInfo) {
        if error.code() == Code::Limit {
            self.lock_limit().get_or_insert(error.failure());
        }
    }

    /// Takes the first limit that a preview has reached since the last call.
    pub fn take_limit(&self) -> Option<Failure> {
        self.lock_limit().take()
    }

    fn lock_limit(&self) -> MutexGuard<'_, Option<Failure>> {
        self.budget.limit.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The signal that cancels a review.
    pub fn stop_signal(&self) -> &StopSignal {
        &self.budget.stop
    }

    /// The budget of a new search: its own limits count from the present cost. `stop` cancels the search.
    pub(crate) fn search_budget<'a>(&'a self, stop: &'a StopSignal) -> SearchBudget<'a> {
        let so_far = |cost: &SearchCost| {
            [&cost.names, &cost.bytes].map(|count| count.load(Ordering::SeqCst))
        };
        SearchBudget { stop, cost: self.budget.cost.as_ref().map(|cost| (cost, so_far(cost))) }
    }

    /// Whether all searches so far together exceed the limit of a single one; never in a run.
    pub fn exceeds_one_search(&self) -> bool {
        let Some((_, [names, bytes])) = self.search_budget(self.stop_signal()).cost else {
            return false;
        };
        names > NAMES || bytes > BYTES
    }
}
