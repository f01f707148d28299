//! What everything that is looked at before somebody signs may cost together, in counts: the same workspace
//! reaches the same limit on every machine. What runs has no such limit; a person can stop it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::code::{CodeError, Source};
use crate::plan::Code;
use crate::run::{ErrorInfo, Failure, StopSignal};

use super::{Workspace, WorkspaceError, go_on};

/// Most names in the folders that one look lists, with the rules of what it leaves out.
const NAMES: u64 = if cfg!(test) { 10_000 } else { 1_000_000 };
/// Most bytes of source files that one look searches for a symbol: 1 GiB.
const BYTES: u64 = 1 << 30;
/// So many times as much may all looks of one plan cost together.
const LOOKS: u64 = 4;
/// To open a file takes as long as to read so many bytes.
pub(crate) const OPENED: u64 = 4 << 10;
/// Most steps in which source files are parsed; those of faulty ones count more.
const STEPS: u64 = 50_000_000;
/// So many times as long as another step takes one in a faulty text, where several readings are tried at once.
const FAULTY: u64 = 10;
/// A larger source text is parsed alone, in bytes: the tree of a hostile one takes memory.
const LARGE: usize = 64 << 10;

/// What is counted.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Counted {
    Names,
    Bytes,
    Steps,
}

/// What all looks cost so far; counted on all threads. Whether a limit is reached does not depend on their order.
#[derive(Debug, Default)]
pub(crate) struct Looked {
    names: AtomicU64,
    bytes: AtomicU64,
    steps: AtomicU64,
}

/// How much has been read of one workspace for the present review, against the limits (SPEC §1.4).
#[derive(Debug, Default)]
pub(crate) struct Budget {
    /// Ends it.
    stop: Arc<StopSignal>,
    /// What it costs; none for a run, where nobody counts.
    looked: Option<Looked>,
    /// The limit that a preview has reached.
    limit: Mutex<Option<Failure>>,
}

/// One look: what ends it, and where what it costs is counted.
#[derive(Clone, Copy)]
pub(crate) struct Looking<'a> {
    pub(crate) stop: &'a StopSignal,
    /// With the names and bytes of the looks before; none where nothing is counted.
    looked: Option<(&'a Looked, [u64; 2])>,
}

impl<'a> Looking<'a> {
    /// A look of a step that runs: nothing but a person ends it.
    pub(crate) fn of_run(stop: &'a StopSignal) -> Self {
        Self { stop, looked: None }
    }

    /// Counts what it took to parse one text.
    ///
    /// # Errors
    /// A limit that is reached, here or in an earlier look.
    pub(crate) fn count_parsed(
        &self,
        read: &Result<Source<'_>, CodeError>,
    ) -> Result<(), WorkspaceError> {
        let steps = match read {
            Ok(source) if source.is_faulty() => FAULTY.saturating_mul(source.steps()),
            Ok(source) => source.steps(),
            Err(error) => FAULTY.saturating_mul(error.steps()),
        };
        self.count(Counted::Steps, steps)
    }

    /// Counts.
    ///
    /// # Errors
    /// A limit that is reached, here or in an earlier look.
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

/// That all source texts together take too many steps, where only an error of one text can be told.
pub(crate) fn all_steps() -> CodeError {
    CodeError::TooMany { what: "steps of the parser with the texts before it", limit: STEPS }
}

/// Waits until no other large text is parsed.
pub(crate) fn turn(text: &str) -> Option<MutexGuard<'static, ()>> {
    static LARGE_ONE: Mutex<()> = Mutex::new(());
    (text.len() > LARGE).then(|| LARGE_ONE.lock().unwrap_or_else(PoisonError::into_inner))
}

impl Budget {
    /// For a look before somebody signs: within limits, and until `stop` is set.
    pub(crate) fn before_signing(stop: Arc<StopSignal>) -> Self {
        Self { stop, looked: Some(Looked::default()), limit: Mutex::default() }
    }
}

impl Workspace {
    /// Whether a person asked to stop the look.
    ///
    /// # Errors
    /// They did.
    pub fn goes_on(&self) -> Result<(), WorkspaceError> {
        go_on(&self.budget.stop)
    }

    /// Keeps the first limit that is reached, for the findings.
    pub(crate) fn note_limit(&self, error: &dyn ErrorInfo) {
        if error.code() == Code::Limit {
            self.lock_limit().get_or_insert(error.failure());
        }
    }

    /// The limit that a preview has reached since this was asked last.
    pub fn limit_reached(&self) -> Option<Failure> {
        self.lock_limit().take()
    }

    fn lock_limit(&self) -> MutexGuard<'_, Option<Failure>> {
        self.budget.limit.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What ends a look.
    pub fn stop(&self) -> &StopSignal {
        &self.budget.stop
    }

    /// One look.
    pub(crate) fn looking<'a>(&'a self, stop: &'a StopSignal) -> Looking<'a> {
        let so_far = |looked: &Looked| {
            [&looked.names, &looked.bytes].map(|count| count.load(Ordering::SeqCst))
        };
        Looking { stop, looked: self.budget.looked.as_ref().map(|looked| (looked, so_far(looked))) }
    }

    /// Whether the looks so far cost as much as a single one may.
    pub fn has_looked_enough(&self) -> bool {
        let Some((_, [names, bytes])) = self.looking(self.stop()).looked else { return false };
        names > NAMES || bytes > BYTES
    }
}
