//! The query that writes an export, and how far it is.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::{Query, QueryContext, QueryError, Wake};
use crate::export::{ExportError, Exported, export_to_file};
use crate::run::{ExportFile, SearchQuery, StopSignal};

/// How often the window shows how far an export is.
const TELL_EVERY: Duration = Duration::from_millis(200);

/// How far an export is. The window reads it while the export goes on.
#[derive(Debug, Default)]
pub struct ExportProgress {
    executions: AtomicU64,
    stop: StopSignal,
}

impl ExportProgress {
    /// The number of executions that are written.
    pub fn executions(&self) -> u64 {
        self.executions.load(Ordering::Relaxed)
    }

    /// Ends the export. Nothing is left of it.
    pub fn stop(&self) {
        self.stop.set();
    }
}

/// Writes an export to a file that the person chose. A file that exists is replaced when the export is complete: the
/// file picker has asked.
pub struct Export {
    /// The executions.
    pub query: SearchQuery,
    /// The kind of file.
    pub kind: ExportFile,
    /// The file.
    pub file: PathBuf,
    /// Is told how far the export is.
    pub progress: Arc<ExportProgress>,
    /// Wakes the window to show that.
    pub wake: Wake,
}

/// An export that is complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportDone {
    /// What is in the file.
    pub exported: Exported,
    /// The size of the file, in bytes.
    pub bytes: u64,
}

impl Query for Export {
    /// `None` if it was stopped.
    type Answer = Option<ExportDone>;
    const FAILURE: &str = "The evidence could not be exported.";
    const OWN_THREAD: bool = true;
    /// There is one export at a time; so it does not end with the other queries that have their own threads.
    const STOPS_EARLIER: bool = true;

    fn run(self, context: &mut QueryContext) -> Result<Self::Answer, QueryError> {
        let Self { query, kind, file, progress, wake } = self;
        let mut told = Instant::now();
        let mut tell = |executions| {
            progress.executions.store(executions, Ordering::Relaxed);
            if told.elapsed() >= TELL_EVERY {
                told = Instant::now();
                wake();
            }
            !progress.stop.is_set() && !context.stop.is_set()
        };
        match export_to_file(&mut context.evidence, &query, kind, (&file, true), &mut tell) {
            Ok((exported, bytes)) => Ok(Some(ExportDone { exported, bytes })),
            Err(ExportError::Stopped) => Ok(None),
            Err(error) => Err(error.failure().into()),
        }
    }
}
