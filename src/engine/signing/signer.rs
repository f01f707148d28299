//! Signs what the settings ask for, and records it with its signature (SPEC §14).

use std::path::Path;
use std::sync::Arc;

use uuid::Uuid;

use super::super::{Clock, ExecutionError};
use crate::authorization::{
    AuthorizationStatus, PlanAuthorization, ReviewSignature, Signed, Signing, SshSignature,
    persons_needed, why_not_signable,
};
use crate::evidence::{EvidenceError, EvidenceStore, RevisionRecord, SignedDocument};
use crate::plan::{Code, Plan};
use crate::run::{AskSecret, Failure, SignatureKind, StopSignal};
use crate::signing::{SigningError, SshKeygen};

/// Why a decision is not recorded.
#[derive(Debug, thiserror::Error)]
pub enum NotRecorded {
    /// It could not be signed, so nothing of it is recorded.
    #[error("the authorization is not signed, so it does not count: {0}")]
    NotSigned(#[from] SigningError),
    /// The end of the run, or the head, could not be signed.
    #[error("{0}")]
    EndNotSigned(#[source] SigningError),
    /// The signatures of other persons do not suffice, so nothing of it is recorded.
    #[error("the authorization does not count: {0}")]
    NotReviewed(String),
    /// The evidence could not be written.
    #[error(transparent)]
    Evidence(#[from] EvidenceError),
}

impl NotRecorded {
    /// The error as it is shown.
    pub fn failure(&self) -> Failure {
        match self {
            Self::NotSigned(error) | Self::EndNotSigned(error) => {
                Failure { message: self.to_string(), ..error.failure() }
            }
            Self::NotReviewed(_) => Failure {
                code: Code::NotAuthorized,
                message: self.to_string(),
                next: NEXT.to_owned(),
            },
            Self::Evidence(error) => error.failure(),
        }
    }
}

impl From<NotRecorded> for ExecutionError {
    fn from(error: NotRecorded) -> Self {
        match error {
            NotRecorded::NotSigned(error) | NotRecorded::EndNotSigned(error) => {
                Self::NotAuthorized {
                    reason: format!("it is not signed, as your settings ask: {error}"),
                }
            }
            NotRecorded::NotReviewed(reason) => Self::NotAuthorized { reason },
            NotRecorded::Evidence(source) => Self::before_run(source),
        }
    }
}

/// What is needed to sign.
pub struct Signer<'a> {
    /// The key, and what it signs; `None` if nothing is signed.
    pub signing: Option<&'a Signing>,
    /// The workspace, whose programs are not used; `None` where there is none.
    pub workspace: Option<&'a Path>,
    /// Asks the person for the passphrase of the key; `None` where nobody can be asked.
    pub ask: Option<&'a Arc<dyn AskSecret>>,
    /// Ends the signing.
    pub stop: &'a StopSignal,
    /// The time of the signature.
    pub clock: &'a dyn Clock,
    /// The signatures of other persons that were given.
    pub reviews: &'a [ReviewSignature],
}

/// What a person can do who needs the signature of another one.
const NEXT: &str = "Give another person what `countersign review-request PLAN --out FILE` writes, and pass what comes back with \
                    `countersign run PLAN --signature FILE`.";

impl<'a> Signer<'a> {
    /// A signer that only checks signatures.
    pub fn checking(
        signing: Option<&'a Signing>,
        stop: &'a StopSignal,
        clock: &'a dyn Clock,
    ) -> Self {
        Self { signing, workspace: None, ask: None, stop, clock, reviews: &[] }
    }
}

impl Signer<'_> {
    /// Records a decision about a plan; an approval with its signature, if the settings ask for one.
    ///
    /// # Errors
    /// When it is not signed or cannot be recorded. Then nothing of it is recorded.
    pub fn record(
        &self,
        store: &mut EvidenceStore,
        authorization: &PlanAuthorization,
        plan: &Plan,
        revision: Option<&RevisionRecord<'_>>,
    ) -> Result<(), NotRecorded> {
        let is_approved = authorization.status == AuthorizationStatus::Approved;
        let signing = self.signing.filter(|signing| signing.of_authorizations() && is_approved);
        if let Some(why) = why_not_signable(self.signing, plan.signatures_required)
            && is_approved
        {
            return Err(NotRecorded::NotReviewed(why));
        }
        if self.signing.is_none_or(|signing| signing.reviewing.is_none())
            && !self.reviews.is_empty()
        {
            let why = "your settings name no list of persons whose signatures count";
            return Err(NotRecorded::NotReviewed(why.to_owned()));
        }
        let Some(signing) = signing else {
            return Ok(store.record_revised(authorization, plan, revision)?);
        };
        let principal = &signing.principal;
        let persons = persons_needed(self.signing, plan.signatures_required);
        let reviewing = signing.reviewing.as_ref();
        let reviewing = reviewing.filter(|_| persons > 0 || !self.reviews.is_empty());
        // Before the person is asked for a passphrase in vain.
        let reviews = match reviewing {
            Some(reviewing) => self.check_reviews(store, (reviewing, persons), authorization)?,
            None => Vec::new(),
        };
        let others = (persons.max(1), reviews.as_slice());
        let document =
            store.authorization_to_sign(authorization, plan, revision, principal, others)?;
        let kind = SignatureKind::Authorization;
        let signed = self.sign(signing, kind, document, "your authorization")?;
        // The time of a signature is the one that is signed.
        let signed = SignedDocument { timestamp_ms: authorization.decided_at_ms, ..signed };
        if let Some(reviewing) = reviewing {
            self.check_own(reviewing, &signed)?;
        }
        let recorded = store.record_signed(authorization, plan, revision, &signed, &reviews);
        recorded.map_err(|error| match error {
            // Another run was faster.
            EvidenceError::RequestUsed { .. } => NotRecorded::NotReviewed(error.to_string()),
            error => error.into(),
        })
    }

    /// Signs the end of a run, and the head of the evidence, as far as the settings ask for it.
    ///
    /// # Errors
    /// When one of them is not signed or cannot be recorded.
    pub fn record_end(&self, store: &mut EvidenceStore, run_id: Uuid) -> Result<(), NotRecorded> {
        let Some(signing) = self.signing else { return Ok(()) };
        if signing.sign.contains(&Signed::RunEnds) {
            self.record_run_end(store, signing, run_id)?;
        }
        if signing.sign.contains(&Signed::Heads) {
            self.record_head(store, signing)?;
        }
        Ok(())
    }

    /// Signs the end of a run.
    ///
    /// # Errors
    /// As [`Self::record_end`].
    pub fn record_run_end(
        &self,
        store: &mut EvidenceStore,
        signing: &Signing,
        run_id: Uuid,
    ) -> Result<(), NotRecorded> {
        let now_ms = self.clock.now_ms();
        let document = store.run_end_to_sign(run_id, now_ms, &signing.principal)?;
        let signed = self.sign(signing, SignatureKind::RunEnd, document, "the end of the run");
        let signed = signed.map_err(NotRecorded::EndNotSigned)?;
        let signed = SignedDocument { timestamp_ms: now_ms, ..signed };
        Ok(store.record_signature(Some(run_id), &signed)?)
    }

    /// Signs the head of the evidence.
    ///
    /// # Errors
    /// As [`Self::record_end`].
    pub fn record_head(
        &self,
        store: &mut EvidenceStore,
        signing: &Signing,
    ) -> Result<(), NotRecorded> {
        let now_ms = self.clock.now_ms();
        let document = store.head_to_sign(now_ms, &signing.principal)?;
        let what = "the head of the evidence";
        let signed = self.sign(signing, SignatureKind::Head, document, what);
        let signed = signed.map_err(NotRecorded::EndNotSigned)?;
        let signed = SignedDocument { timestamp_ms: now_ms, ..signed };
        Ok(store.record_signature(None, &signed)?)
    }

    /// The person's signature of their answer to a request.
    ///
    /// # Errors
    /// It is not signed.
    pub fn answer(&self, signing: &Signing, document: &str) -> Result<SshSignature, SigningError> {
        let keygen = SshKeygen::of_system(self.workspace)?;
        let what = "your answer about a plan";
        keygen.sign(signing, document.as_bytes(), what, self.ask, self.stop)
    }

    fn sign(
        &self,
        signing: &Signing,
        kind: SignatureKind,
        document: String,
        what: &str,
    ) -> Result<SignedDocument, SigningError> {
        let keygen = SshKeygen::of_system(self.workspace)?;
        let signature = keygen.sign(signing, document.as_bytes(), what, self.ask, self.stop)?;
        let (principal, timestamp_ms) = (signing.principal.clone(), self.clock.now_ms());
        Ok(SignedDocument { kind, document, signature, principal, timestamp_ms, request_id: None })
    }
}
