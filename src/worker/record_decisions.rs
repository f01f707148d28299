//! Queries that record a person's decisions (SPEC §2, §9, §10) about a plan, the commands of a workspace, the grants
//! for a workspace, or an authorization class.
//!
//! A decision about the workspace or a class may be committed although its query fails: the head of the evidence is kept
//! outside its folder after the commit, and that may fail, too.

use std::sync::Arc;

use uuid::Uuid;

use super::{Query, QueryContext, QueryError, Revised};
use crate::authorization::{Grants, PlanAuthorization, ReviewSignature, Signing};
use crate::engine::{Clock as _, NotRecorded, Signer, SystemClock};
use crate::evidence::{RevisionRecord, TrustDecision, WallsDecision};
use crate::plan::Plan;
use crate::run::{AnsweredBy, AskSecret, CommandsReview, StopSignal};

/// Records that a plan was authorized or rejected.
pub struct RecordAuthorization {
    /// The decision.
    pub authorization: Box<PlanAuthorization>,
    /// The plan.
    pub plan: Box<Plan>,
    /// What the person changed in it, if it is a revision.
    pub revised: Option<Arc<Revised>>,
    /// The signatures of other persons.
    pub reviews: Vec<ReviewSignature>,
}

impl Query for RecordAuthorization {
    type Answer = ();
    const FAILURE: &str = "Your answer could not be recorded; nothing is authorized.";

    fn run(self, context: &mut QueryContext) -> Result<(), QueryError> {
        let nobody = None;
        Ok(self.record(context, nobody)?)
    }
}

/// As [`RecordAuthorization`], for settings that ask for signatures. It waits for a person, an agent or a hardware key, so
/// no other query waits for it.
pub struct SignAuthorization {
    /// The decision.
    pub record: RecordAuthorization,
    /// Asks the person for the passphrase.
    pub ask: Arc<dyn AskSecret>,
}

impl SignAuthorization {
    /// Whether an approval under these settings must be signed.
    pub fn is_needed(signing: Option<&Signing>) -> bool {
        signing.is_some_and(Signing::of_authorizations)
    }
}

impl Query for SignAuthorization {
    type Answer = ();
    const FAILURE: &str = RecordAuthorization::FAILURE;
    const OWN_THREAD: bool = true;

    fn run(self, context: &mut QueryContext) -> Result<(), QueryError> {
        Ok(self.record.record(context, Some(&self.ask))?)
    }
}

impl From<NotRecorded> for QueryError {
    fn from(error: NotRecorded) -> Self {
        Self::Failed(error.failure())
    }
}

impl RecordAuthorization {
    fn record(
        self,
        context: &mut QueryContext,
        ask: Option<&Arc<dyn AskSecret>>,
    ) -> Result<(), NotRecorded> {
        let Self { authorization, plan, revised, reviews } = self;
        let stop: Arc<StopSignal> = Arc::clone(&context.stop);
        let signer = Signer {
            signing: context.setup.policy.signing.as_ref(),
            workspace: Some(authorization.binding.workspace.as_ref()),
            ask,
            stop: &stop,
            clock: &SystemClock::default(),
            reviews: &reviews,
        };
        // The base may be faulty; its bytes are recorded all the same.
        let base = revised.as_ref().map(|revised| revised.plan.valid_steps());
        let revision = revised.as_ref().zip(base.as_ref());
        let revision =
            revision.map(|(revised, base)| RevisionRecord { base, parts: &revised.parts });
        signer.record(&mut context.store()?, &authorization, &plan, revision.as_ref())
    }
}

/// Records whether the commands of a workspace are trusted from now on.
pub struct RecordTrust {
    /// The workspace.
    pub workspace: String,
    /// The commands as they were shown to the person.
    pub commands: CommandsReview,
    /// Whether the commands are trusted.
    pub trusted: bool,
}

impl Query for RecordTrust {
    type Answer = ();
    const FAILURE: &str =
        "It is not certain that your decision was recorded. Open the plan again to see what holds.";

    fn run(self, context: &mut QueryContext) -> Result<(), QueryError> {
        Ok(context.store()?.record_trust(&TrustDecision {
            workspace: &self.workspace,
            digest: self.commands.digest,
            trusted: self.trusted,
            shown: Some(&self.commands),
            by: AnsweredBy::Window,
            timestamp_ms: SystemClock::default().now_ms(),
        })?)
    }
}

/// Records grants beyond the walls for all later plans of a workspace.
pub struct RememberWalls {
    /// The workspace.
    pub workspace: String,
    /// The grants; `None` revokes them.
    pub grants: Option<Grants>,
}

impl Query for RememberWalls {
    type Answer = ();
    const FAILURE: &str =
        "It is not certain that your decision was recorded. Open the plan again to see what holds.";

    fn run(self, context: &mut QueryContext) -> Result<(), QueryError> {
        Ok(context.store()?.record_walls(&WallsDecision {
            workspace: &self.workspace,
            grants: self.grants.as_ref(),
            by: AnsweredBy::Window,
            timestamp_ms: SystemClock::default().now_ms(),
        })?)
    }
}

/// Revokes an authorization class. A loop that is under way checks the class again before each plan. The answer is
/// false if the class does not exist or was already revoked.
pub struct RevokeClass(pub Uuid);

impl Query for RevokeClass {
    type Answer = bool;
    const FAILURE: &str = "It is not certain that the class was revoked. Revoke it again.";

    fn run(self, context: &mut QueryContext) -> Result<bool, QueryError> {
        Ok(context.store()?.revoke_class(self.0, SystemClock::default().now_ms())?)
    }
}
