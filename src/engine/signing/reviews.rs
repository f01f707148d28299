//! Whether the signatures of other persons suffice for an approval. Each that was given must count: one that does not may be
//! an attempt, or a misunderstanding, and the person should know.

use super::signer::{NotRecorded, Signer};
use crate::authorization::{Decided, PlanAuthorization, ReviewSignature, Reviewing};
use crate::evidence::{EvidenceStore, SignedDocument};
use crate::run::SignatureKind;
use crate::signing::{AllowedSigners, SignatureState, SshKeygen};

impl Signer<'_> {
    /// The signatures that were given, if all of them count and they are enough.
    ///
    /// # Errors
    /// The first reason why not.
    pub(super) fn check_reviews(
        &self,
        store: &EvidenceStore,
        reviewing: &Reviewing,
        authorization: &PlanAuthorization,
    ) -> Result<Vec<SignedDocument>, NotRecorded> {
        for (number, review) in self.reviews.iter().enumerate() {
            let earlier = self.reviews.get(..number).unwrap_or_default();
            let why = match self.why_void(store, review, authorization)? {
                Some(why) => Some(why),
                None => self.why_not_allowed(reviewing, review)?,
            };
            if let Some(why) = why.or_else(|| self.why_same(review, earlier)) {
                return Err(NotRecorded::NotReviewed(format!("{}: {why}", review.name)));
            }
        }
        let (needed, given) = (reviewing.required - 1, self.reviews.len());
        if given < needed {
            return Err(NotRecorded::NotReviewed(format!(
                "your settings ask for the signatures of {} persons, of whom you are one, and {given} of the {needed} \
                 others were given",
                reviewing.required
            )));
        }
        let signed = self.reviews.iter().map(|review| SignedDocument {
            kind: SignatureKind::Review,
            document: review.text.clone(),
            signature: review.signature.clone(),
            principal: review.document.principal.clone(),
            timestamp_ms: review.document.timestamp,
            request_id: Some(review.document.request_id),
        });
        Ok(signed.collect())
    }

    /// Why a signature is not about this approval; `None` if it is.
    fn why_void(
        &self,
        store: &EvidenceStore,
        review: &ReviewSignature,
        authorization: &PlanAuthorization,
    ) -> Result<Option<String>, NotRecorded> {
        let document = &review.document;
        if document.decision == Decided::Refuse {
            let why = format!("{} refuses the plan: {}", document.principal, document.reason);
            return Ok(Some(why));
        }
        if document.evidence != store.origin() {
            return Ok(Some("it was given for other evidence".to_owned()));
        }
        if let Some(used) = store.request_used_by(document.request_id)? {
            return Ok(Some(format!("its request was used by authorization {used}")));
        }
        let changes = document.changes(&authorization.plan_digest, &authorization.binding);
        let changes: Vec<_> = changes.iter().map(ToString::to_string).collect();
        Ok((!changes.is_empty()).then(|| format!("it is void: {}", changes.join("; "))))
    }

    /// Why the signer is not allowed; `None` if the list has the key.
    fn why_not_allowed(
        &self,
        reviewing: &Reviewing,
        review: &ReviewSignature,
    ) -> Result<Option<String>, NotRecorded> {
        let signed = (review.text.as_bytes(), review.signature.armor.as_str());
        self.why_not_valid(reviewing, signed, &review.document.principal)
    }

    /// Why a signature does not count now; `None` if it does.
    fn why_not_valid(
        &self,
        reviewing: &Reviewing,
        signed: (&[u8], &str),
        principal: &str,
    ) -> Result<Option<String>, NotRecorded> {
        let keygen = SshKeygen::of_system(self.workspace)?;
        let allowed = AllowedSigners {
            file: reviewing.allowed_signers.clone(),
            revoked: reviewing.revoked_keys.clone(),
        };
        // The time of the signer could be any: a key that has expired since does not count for what runs now.
        let verdict = keygen.verify(&allowed, signed, principal, self.clock.now_ms(), self.stop)?;
        let word = verdict.state.as_str().replace('_', " ");
        let why = verdict.why.unwrap_or_default();
        Ok((verdict.state != SignatureState::Valid).then(|| format!("{word}: {why}")))
    }

    /// Whether the same person has signed before; a key is one person, and so is a name.
    fn why_same(&self, review: &ReviewSignature, earlier: &[ReviewSignature]) -> Option<String> {
        let (key, who) = (&review.signature.fingerprint, &review.document.principal);
        let before = earlier
            .iter()
            .find(|it| it.signature.fingerprint == *key || it.document.principal == *who);
        if let Some(before) = before {
            return Some(format!("{who} with {key} is the person of {} again", before.name));
        }
        let own = self.signing.filter(|signing| signing.principal == *who);
        own.map(|_| format!("{who} authorizes the plan, and counts once"))
    }

    /// Whether the person who authorizes is in the list, and is not one of the others under another name.
    ///
    /// # Errors
    /// The reason why not.
    pub(super) fn check_own(
        &self,
        reviewing: &Reviewing,
        own: &SignedDocument,
    ) -> Result<(), NotRecorded> {
        let key = &own.signature.fingerprint;
        if let Some(same) = self.reviews.iter().find(|it| it.signature.fingerprint == *key) {
            return Err(NotRecorded::NotReviewed(format!(
                "{}: {key} is the key that authorizes the plan, and counts once",
                same.name
            )));
        }
        let signed = (own.document.as_bytes(), own.signature.armor.as_str());
        match self.why_not_valid(reviewing, signed, &own.principal)? {
            None => Ok(()),
            Some(why) => Err(NotRecorded::NotReviewed(format!("your own signature: {why}"))),
        }
    }
}
