//! Gives the recorded history of a workspace to the tools that take changes back (SPEC §9), because tools do not
//! depend on the evidence.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::evidence::{EvidenceLocation, EvidenceReader, StoredContent};
use crate::plan::Digest;
use crate::risk::Policy;
use crate::run::{History, StopSignal};
use crate::tools::{HistorySource, NotAvailable, ToolError, Toolbox};

/// Opens the tools of a workspace for a review or a preview that `stop` ends. They get the recorded history if the
/// location of the evidence is given.
pub(super) fn open_tools(
    workspace: &Path,
    policy: &Policy,
    evidence: Option<&EvidenceLocation>,
    stop: &Arc<StopSignal>,
) -> Result<Toolbox, ToolError> {
    let toolbox = Toolbox::open(workspace, policy)?.for_review(Arc::clone(stop));
    Ok(match evidence {
        Some(location) => with_history(toolbox, location.reader()),
        None => toolbox,
    })
}

/// The same tools with the recorded history of their workspace.
pub(super) fn with_history(toolbox: Toolbox, reader: EvidenceReader) -> Toolbox {
    let toolbox = toolbox.without_folders(reader.folders());
    let workspace = toolbox.workspace().to_string_lossy().into_owned();
    let source = EvidenceSource { workspace, inner: Mutex::new(Inner { reader, cached: None }) };
    toolbox.with_history_source(Some(Box::new(source)))
}

/// The history of one workspace, read from the evidence.
struct EvidenceSource {
    workspace: String,
    inner: Mutex<Inner>,
}

struct Inner {
    reader: EvidenceReader,
    /// The history that was read last, and the position of the evidence at that time.
    cached: Option<(i64, Arc<History>)>,
}

impl HistorySource for EvidenceSource {
    fn history(&self) -> Result<Arc<History>, String> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let cached = inner.cached.take();
        let read = inner.reader.history(&self.workspace, cached);
        let (position, history) = read.map_err(|error| error.to_string())?;
        inner.cached = Some((position, Arc::clone(&history)));
        Ok(history)
    }

    fn content(&self, digest: &Digest) -> Result<Arc<[u8]>, NotAvailable> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        match inner.reader.stored_content(digest) {
            Ok(StoredContent::Content(bytes)) => Ok(bytes.into()),
            Ok(StoredContent::Purged) => Err(NotAvailable::Purged),
            Ok(StoredContent::NoKey) => Err(NotAvailable::NoKey),
            Ok(StoredContent::NotStored) => Err(NotAvailable::NotKept),
            Err(error) => Err(NotAvailable::Unreadable(error.to_string())),
        }
    }
}
