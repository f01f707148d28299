//! The trait through which tools read the recorded history. The engine implements it, because the tools do not
//! depend on the evidence.

use std::sync::Arc;

use crate::plan::Digest;
use crate::run::History;

/// The recorded history of a workspace.
pub trait HistorySource: Send + Sync {
    /// The recorded changes and checkpoints.
    ///
    /// # Errors
    /// Why the history cannot be read.
    fn history(&self) -> Result<Arc<History>, String>;

    /// The recorded content with this digest.
    ///
    /// # Errors
    /// Why the content is not available.
    fn content(&self, digest: &Digest) -> Result<Arc<[u8]>, NotAvailable>;
}

/// Why a recorded content is not available.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the message of each variant says what it means")]
pub enum NotAvailable {
    #[error("it was purged")]
    Purged,
    #[error("it holds a secret, and the key that it was encrypted under is not here")]
    NoKey,
    #[error("it was never kept")]
    NotKept,
    #[error("{0}")]
    Unreadable(String),
}
