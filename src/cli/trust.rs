//! Which commands of a workspace a person trusts (SPEC §9, §11): read from the evidence, and decided there.

use super::refusal::Refusal;
use crate::authorization::Change;
use crate::engine::{Clock as _, ExecutionError, SystemClock};
use crate::evidence::{EvidenceLocation, TrustDecision};
use crate::plan::Digest;
use crate::run::{AnsweredBy, CommandsReview, Review};

/// Records that the commands that a plan would run are trusted: exactly those with this digest.
///
/// # Errors
/// As for [`trust_in`].
pub(super) fn trust(
    digest: Digest,
    review: Option<&Review>,
    location: &EvidenceLocation,
) -> Result<(), Refusal> {
    let workspace = review.map_or("", |review| &review.binding.workspace);
    let commands = review.and_then(|review| review.workspace_commands.as_ref());
    trust_in(workspace, commands, digest, location)
}

/// Records that the commands of a workspace are trusted: exactly those with this digest.
///
/// # Errors
/// A file with another digest, or none (E004), and evidence that cannot be written.
pub(super) fn trust_in(
    workspace: &str,
    commands: Option<&CommandsReview>,
    digest: Digest,
    location: &EvidenceLocation,
) -> Result<(), Refusal> {
    let Some(commands) = commands.filter(|commands| commands.digest == digest) else {
        let now = commands.map_or("not used".to_owned(), |commands| commands.digest.to_string());
        let what = "file countersign.toml".to_owned();
        let changes = vec![Change { what, approved: digest.to_string(), now }];
        return Err(ExecutionError::Stale { changes }.into());
    };
    let mut store = location.store()?;
    store.record_trust(&TrustDecision {
        workspace,
        digest,
        trusted: true,
        shown: Some(commands),
        by: AnsweredBy::CommandLine,
        timestamp_ms: SystemClock::default().now_ms(),
    })?;
    Ok(())
}

/// Records that these commands are no longer trusted in the workspace of the plan.
///
/// # Errors
/// Evidence that cannot be written.
pub(super) fn revoke(
    digest: Digest,
    review: &Review,
    location: &EvidenceLocation,
) -> Result<(), Refusal> {
    let mut store = location.store()?;
    store.record_trust(&TrustDecision {
        workspace: &review.binding.workspace,
        digest,
        trusted: false,
        shown: None,
        by: AnsweredBy::CommandLine,
        timestamp_ms: SystemClock::default().now_ms(),
    })?;
    Ok(())
}
