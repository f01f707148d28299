//! What everything that is looked at before somebody signs may cost together, in counts: the same workspace
//! reaches the same limit on every machine. What runs has no such limit; a person can stop it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{StopSignal, ToolError, Toolbox};
use crate::code::{CodeError, Source};
use crate::plan::Code;
use crate::run::Failure;

/// Most names in the folders that are listed, and lines in the rules of what is left out.
const NAMES: u64 = 1_000_000;
/// Most bytes of source files that are searched for a symbol: 1 GiB.
const BYTES: u64 = 1 << 30;
/// To open a file takes as long as to read so many bytes.
pub(super) const OPENED: u64 = 4 << 10;
/// Most steps in which source files are parsed; those of faulty ones count more.
const STEPS: u64 = 50_000_000;
/// So many times as long as another step takes one in a faulty text, where several readings are tried at once.
const FAULTY: u64 = 10;
/// A larger source text is parsed alone, in bytes: the tree of a hostile one takes memory.
const LARGE: usize = 64 << 10;

/// What is counted.
#[derive(Debug, Clone, Copy)]
pub(super) enum Counted {
    Names,
    Bytes,
    Steps,
}

/// What is left of each; counted on all threads. Whether it is enough does not depend on their order.
#[derive(Debug)]
pub(super) struct Left {
    names: AtomicU64,
    bytes: AtomicU64,
    steps: AtomicU64,
}

impl Default for Left {
    fn default() -> Self {
        let [names, bytes, steps] = [NAMES, BYTES, STEPS].map(AtomicU64::new);
        Self { names, bytes, steps }
    }
}

/// One look: what ends it, and what it may still cost where that is limited.
#[derive(Clone, Copy)]
pub(super) struct Looking<'a> {
    pub(super) stop: &'a StopSignal,
    left: Option<&'a Left>,
}

impl<'a> Looking<'a> {
    /// A look of a step that runs: nothing but a person ends it.
    pub(super) fn of_run(stop: &'a StopSignal) -> Self {
        Self { stop, left: None }
    }

    /// Counts what it took to parse one text.
    ///
    /// # Errors
    /// A limit that is reached, here or in an earlier look.
    pub(super) fn count_parsed(
        &self,
        read: &Result<Source<'_>, CodeError>,
    ) -> Result<(), ToolError> {
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
    pub(super) fn count(&self, what: Counted, count: u64) -> Result<(), ToolError> {
        let Some(left) = self.left else { return Ok(()) };
        let (left, limit, what) = match what {
            Counted::Names => {
                (&left.names, NAMES, "names in folders and rules of what to leave out")
            }
            Counted::Bytes => (&left.bytes, BYTES, "bytes of source files"),
            Counted::Steps => (&left.steps, STEPS, "steps of the parser"),
        };
        let taken = left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
            Some(left.saturating_sub(count))
        });
        match taken {
            Ok(left) if left >= count && left > 0 => Ok(()),
            _ => Err(ToolError::TooMuchToLookAt { what, limit }),
        }
    }
}

/// That all source texts together take too many steps, where only an error of one text can be told.
pub(super) fn all_steps() -> CodeError {
    CodeError::TooMany { what: "steps of the parser with the texts before it", limit: STEPS }
}

/// Waits until no other large text is parsed.
pub(super) fn turn(text: &str) -> Option<MutexGuard<'static, ()>> {
    static LARGE_ONE: Mutex<()> = Mutex::new(());
    (text.len() > LARGE).then(|| LARGE_ONE.lock().unwrap_or_else(PoisonError::into_inner))
}

impl Toolbox {
    /// The same tools for a look before somebody signs: within limits, and until `stop` is set.
    #[must_use]
    pub fn before_signing(self, stop: Arc<StopSignal>) -> Self {
        Self { stop, left: Some(Left::default()), ..self }
    }

    /// Whether a person asked to stop the look.
    ///
    /// # Errors
    /// They did.
    pub fn goes_on(&self) -> Result<(), ToolError> {
        super::engine::stopped(&self.stop)
    }

    /// Keeps the first limit that is reached, for the findings.
    pub(super) fn note_limit(&self, error: &ToolError) {
        if error.code() == Code::Limit {
            self.limit
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .get_or_insert(error.failure());
        }
    }

    /// The limit that a preview has reached since this was asked last.
    pub fn limit_reached(&self) -> Option<Failure> {
        self.limit.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// What ends a look.
    pub fn stop(&self) -> &StopSignal {
        &self.stop
    }

    pub(super) fn looking<'a>(&'a self, stop: &'a StopSignal) -> Looking<'a> {
        Looking { stop, left: self.left.as_ref() }
    }
}
