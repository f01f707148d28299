//! Limits the reading of a workspace before a plan is signed. The limits are counts and not times, so that
//! the same workspace reaches the same limit on every machine. Running steps have no such limits; a person
//! can stop them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::code::{CodeError, PARSER_STEPS, Source};
use crate::plan::Code;
use crate::run::{ErrorInfo, Failure, StopSignal};

use super::{Workspace, WorkspaceError, go_on};

/// Maximum number of names in folders that one search may list; ignore rules count as names too.
const NAMES: u64 = if cfg!(test) { 10_000 } else { 1_000_000 };
/// Maximum total size of the source files that one search for a symbol may read: 1 GiB.
const BYTES: u64 = 1 << 30;
/// All searches of one review together may list and read this many times as much as a single search.
const LOOKS: u64 = 4;
/// Opening a file counts as reading this many bytes, because it takes as long.
pub(crate) const OPENED: u64 = 4 << 10;
/// Maximum number of parser steps of all searches together; steps in texts with syntax errors count more.
const STEPS: u64 = 50_000_000;
/// Factor for parser steps in a text with syntax errors: the parser tries several readings at once there, and
/// each step takes this many times as long.
const FAULTY: u64 = 10;
/// Source texts with more bytes than this are parsed one at a time, because the syntax tree of a hostile text
/// takes much memory.
const LARGE: usize = 64 << 10;

/// The kinds of cost that are counted.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Counted {
    Names,
    Bytes,
    Steps,
}

/// The cost of all searches so far, counted on all threads. Whether a limit is reached does not depend on the
/// order of the threads.
#[derive(Debug, Default)]
pub(crate) struct Looked {
    names: AtomicU64,
    bytes: AtomicU64,
    steps: AtomicU64,
}

/// The cost of the current review of a workspace, which is limited (SPEC §1.4).
#[derive(Debug, Default)]
pub(crate) struct Budget {
    /// Set to cancel the review.
    stop: Arc<StopSignal>,
    /// The cost so far; `None` for a run, which has no limits.
    looked: Option<Looked>,
    /// The limit that a preview has reached.
    limit: Mutex<Option<Failure>>,
}

/// The stop signal of one search, and the counters to which it adds.
#[derive(Clone, Copy)]
pub(crate) struct SearchBudget<'a> {
    pub(crate) stop: &'a StopSignal,
    /// The counters, and the names and bytes counted before this search; `None` where nothing is counted.
    looked: Option<(&'a Looked, [u64; 2])>,
}

impl<'a> SearchBudget<'a> {
    /// A budget without limits, for a step that runs.
    pub(crate) fn of_run(stop: &'a StopSignal) -> Self {
        Self { stop, looked: None }
    }

    /// Counts the parser steps of one text.
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
            Err(CodeError::TooMany { .. }) => FAULTY.saturating_mul(PARSER_STEPS),
            Err(_) => 0,
        };
        self.count(Counted::Steps, steps)
    }

    /// Adds to a counter.
    ///
    /// # Errors
    /// A limit is reached, by this search or together with earlier ones.
    pub(crate) fn count(&self, what: Counted, count: u64) -> Result<(), WorkspaceError> {
        let Some((looked, [names, bytes])) = self.looked else { return Ok(()) };
        let (so_far, before, limit, all, what) = match what {
            Counted::Names => (&looked.names, names, NAMES, NAMES * LOOKS, "names in folders"),
            Counted::Bytes => (&looked.bytes, bytes, BYTES, BYTES * LOOKS, "bytes of source files"),
            Counted::Steps => (&looked.steps, 0, STEPS, STEPS, "steps of the parser"),
        };
        let now = so_far.fetch_add(count, Ordering::SeqCst).saturating_add(count);
        if now > all {
            return Err(WorkspaceError::TooMuchToLookAt { what, limit: all });
        }
        if now.saturating_sub(before) > limit {
            return Err(WorkspaceError::TooMuchToLookAt { what, limit });
        }
        Ok(())
    }
}

/// The error for too many parser steps in all texts together, for callers that can report only an error of one
/// text.
pub(crate) fn all_steps() -> CodeError {
    CodeError::TooMany { what: "steps of the parser with the texts before it", limit: STEPS }
}

/// Waits until no other large text is being parsed. Other large texts wait until the returned guard is
/// dropped. `None` for a small text.
pub(crate) fn turn(text: &str) -> Option<MutexGuard<'static, ()>> {
    static LARGE_ONE: Mutex<()> = Mutex::new(());
    (text.len() > LARGE).then(|| LARGE_ONE.lock().unwrap_or_else(PoisonError::into_inner))
}

impl Budget {
    /// A budget with limits, for a review before a plan is signed that `stop` cancels.
    pub(crate) fn before_signing(stop: Arc<StopSignal>) -> Self {
        Self { stop, looked: Some(Looked::default()), limit: Mutex::default() }
    }
}

impl Workspace {
    /// Fails once a person asked to stop the review.
    ///
    /// # Errors
    /// [`WorkspaceError::Cancelled`].
    pub fn goes_on(&self) -> Result<(), WorkspaceError> {
        go_on(&self.budget.stop)
    }

    /// Keeps the error if it is a limit, for the findings of the review; only the first one is kept.
    pub(crate) fn note_limit(&self, error: &dyn ErrorInfo) {
        if error.code() == Code::Limit {
            self.lock_limit().get_or_insert(error.failure());
        }
    }

    /// Returns the first limit that a preview has reached since the last call, and forgets it.
    pub fn limit_reached(&self) -> Option<Failure> {
        self.lock_limit().take()
    }

    fn lock_limit(&self) -> MutexGuard<'_, Option<Failure>> {
        self.budget.limit.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The signal that cancels a review.
    pub fn stop(&self) -> &StopSignal {
        &self.budget.stop
    }

    /// The budget of a new search, whose own limits count from the present cost.
    pub(crate) fn search_budget<'a>(&'a self, stop: &'a StopSignal) -> SearchBudget<'a> {
        let so_far = |looked: &Looked| {
            [&looked.names, &looked.bytes].map(|count| count.load(Ordering::SeqCst))
        };
        SearchBudget {
            stop,
            looked: self.budget.looked.as_ref().map(|looked| (looked, so_far(looked))),
        }
    }

    /// Whether all searches so far together exceed the limit of a single one.
    pub fn has_looked_enough(&self) -> bool {
        let Some((_, [names, bytes])) = self.search_budget(self.stop()).looked else {
            return false;
        };
        names > NAMES || bytes > BYTES
    }
}
