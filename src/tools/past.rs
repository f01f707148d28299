//! The interface through which tools read the records. The engine implements it, because the tools do not
//! depend on the evidence.

use std::sync::Arc;

use crate::plan::Digest;
use crate::run::History;

/// The records of a workspace.
pub trait Past: Send + Sync {
    /// The recorded changes and checkpoints.
    ///
    /// # Errors
    /// Why the records cannot be read.
    fn history(&self) -> Result<Arc<History>, String>;

    /// The recorded content with this digest.
    ///
    /// # Errors
    /// Why it is not available.
    fn content(&self, digest: &Digest) -> Result<Arc<[u8]>, NotAvailable>;
}

/// Why a recorded content is not available.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
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
