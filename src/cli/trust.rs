//! Records decisions about trust in the commands of a workspace.

use super::refusal::Refusal;
use crate::engine::{Clock as _, ExecutionError, SystemClock};
use crate::evidence::{EvidenceLocation, TrustDecision};
use crate::plan::Digest;
use crate::run::{AnsweredBy, CommandsReview};

/// Records that the commands of a workspace are trusted, if they have this digest.
///
/// # Errors
/// The commands have another digest or there are none (E004), or the evidence cannot be written.
pub(super) fn trust(
    workspace: &str,
    commands: Option<&CommandsReview>,
    digest: Digest,
    location: &EvidenceLocation,
) -> Result<(), Refusal> {
    let Some(shown) = commands.filter(|commands| commands.digest == digest) else {
        let now = commands.map_or("not used".to_owned(), |commands| commands.digest.to_string());
        return Err(ExecutionError::stale("file countersign.toml", digest, now).into());
    };
    record_trust(workspace, digest, Some(shown), location)
}

/// Records that the commands with this digest are trusted, with their text as shown; if `shown` is `None`, that they
/// are no longer trusted.
///
/// # Errors
/// The evidence cannot be written.
pub(super) fn record_trust(
    workspace: &str,
    digest: Digest,
    shown: Option<&CommandsReview>,
    location: &EvidenceLocation,
) -> Result<(), Refusal> {
    Ok(location.store()?.record_trust(&TrustDecision {
        workspace,
        digest,
        trusted: shown.is_some(),
        shown,
        by: AnsweredBy::CommandLine,
        timestamp_ms: SystemClock::default().now_ms(),
    })?)
}
