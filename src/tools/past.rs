//! What the tools may ask of the records, which they do not know: whoever opens the workspace hands it in.

use std::sync::Arc;

use crate::plan::Digest;
use crate::run::History;

/// What is recorded of a workspace.
pub trait Past: Send + Sync {
    /// The changes, and the moments that have a name.
    ///
    /// # Errors
    /// Why the records cannot be read, in words.
    fn history(&self) -> Result<Arc<History>, String>;

    /// A content that steps were recorded with.
    ///
    /// # Errors
    /// Why it cannot be had.
    fn content(&self, digest: &Digest) -> Result<Arc<[u8]>, NotAvailable>;
}

/// Why a recorded content cannot be had.
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
