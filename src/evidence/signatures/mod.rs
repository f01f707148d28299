//! Signatures of persons with their SSH keys (SPEC §14): what is signed, and the rows that keep it. The keys and
//! `ssh-keygen` are in the room `signing`.
//!
//! An approval is signed before it is recorded: its rows are written in a transaction that is rolled back, to see what the
//! evidence will have of them, with secrets redacted. Then the approval and its signature are recorded in one transaction.
//! So nothing waits for a person while the database is locked, and an approval that is not signed leaves nothing.

mod document;
mod reading;
mod used_requests;

use uuid::Uuid;

use self::document::{Others, Signer, linked};
pub use self::reading::SignaturesOf;
pub(super) use self::reading::read;
pub(super) use self::used_requests::{REQUEST_USED, used_in};
use self::used_requests::{used_by, used_by_authorization};
use super::append::{Appender, Cell};
use super::chain::Chain;
use super::error::Result;
use super::{EvidenceError, EvidenceReader, EvidenceStore, RevisionRecord, ledger, write_run};
use crate::authorization::{PlanAuthorization, SshSignature};
use crate::plan::{Digest, Plan};
use crate::run::SignatureKind;

/// A document with its signature.
#[derive(Debug, Clone)]
pub struct SignedDocument {
    /// What the document is about.
    pub kind: SignatureKind,
    /// The bytes that were signed.
    pub document: String,
    /// The signature.
    pub signature: SshSignature,
    /// Who signed, as the document says.
    pub principal: String,
    /// When, in Unix milliseconds.
    pub timestamp_ms: i64,
    /// The request that was answered, of a review.
    pub request_id: Option<Uuid>,
}

impl EvidenceStore {
    /// The document about an approval that is not recorded yet, for which so many persons must sign, and the others of them have.
    ///
    /// # Errors
    /// As for [`record_authorization`](Self::record_authorization).
    pub fn authorization_to_sign(
        &mut self,
        authorization: &PlanAuthorization,
        plan: &Plan,
        revision: Option<&RevisionRecord<'_>>,
        principal: &str,
        (persons, reviews): (usize, &[SignedDocument]),
    ) -> Result<String> {
        let others = Others {
            required: persons.max(1) as u64,
            reviews: reviews.iter().map(|it| Others::digest_of(&it.document)).collect(),
        };
        let others = Some(others).filter(|_| !reviews.is_empty());
        let signer = self.signer(principal);
        let known = std::mem::take(&mut self.known);
        let (user, vault, id) = (self.user.as_deref(), &self.vault, self.database_id);
        let mut appender = Appender::begin(&mut self.conn, user, vault, id, known)?;
        let before = Chain::of(appender.tx())?;
        let draft = write_run::authorization(&mut appender, authorization, plan, revision);
        let document = draft.and_then(|()| {
            let id = authorization.authorization_id;
            let binding = binding_digest(authorization);
            let previous = (before.rows, before.head);
            signer.authorization(appender.tx(), id, &binding, previous, others.as_ref())
        });
        self.known = appender.roll_back()?;
        document
    }

    /// Records an approval with its signature: both, or neither.
    ///
    /// # Errors
    /// As for [`record_authorization`](Self::record_authorization); when the signature is of another document.
    pub fn record_signed(
        &mut self,
        authorization: &PlanAuthorization,
        plan: &Plan,
        revision: Option<&RevisionRecord<'_>>,
        signed: &SignedDocument,
        reviews: &[SignedDocument],
    ) -> Result<()> {
        let signer = self.signer(&signed.principal);
        let id = authorization.authorization_id;
        let rows = |appender: &mut Appender<'_>| {
            write_run::authorization(appender, authorization, plan, revision)?;
            let number = Chain::of(appender.tx())?.next_number();
            insert_row(appender, signed, (Some(id), None))?;
            for review in reviews {
                // Within the transaction, because another process may use the same request.
                if let Some(by) =
                    review.request_id.map(|id| used_by(appender.tx(), id)).transpose()?.flatten()
                    && by != used_by_authorization(&id.to_string())
                {
                    return Err(EvidenceError::RequestUsed { by });
                }
                insert_row(appender, review, (Some(id), None))?;
            }
            // Each names the other, so that they are compared when both are there.
            let conn = appender.tx();
            let mut difference = signer.difference(conn, &signed.document, number)?;
            for (number, review) in (number + 1..).zip(reviews) {
                let signer = Signer { principal: &review.principal, ..signer.clone() };
                let row = linked(conn, "signatures", "id", &number.to_string())?;
                let row = row.map(|row| row.columns).unwrap_or_default();
                difference = difference.or(signer.review_difference(conn, &row)?);
            }
            match difference {
                Some(difference) => Err(EvidenceError::SignedOther { difference }),
                None => Ok(()),
            }
        };
        match reviews {
            [] => self.write(rows),
            // An older state that is put back must differ from the kept head, because requests count once.
            _ => self.write_and_keep(rows),
        }
    }

    /// What has used this request of a review, in words; `None` if nothing has.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn request_used_by(&self, request_id: Uuid) -> Result<Option<String>> {
        used_by(&self.conn, request_id)
    }

    /// The number of persons whose reviews of this authorization are recorded, by their keys.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn count_reviews(&self, authorization_id: Uuid) -> Result<usize> {
        let sql = "SELECT count(DISTINCT fingerprint) FROM signatures WHERE authorization_id = ?1 AND kind = ?2";
        let params = (authorization_id.to_string(), SignatureKind::Review.as_str());
        let count: i64 = super::rows::value(&self.conn, sql, params)?;
        Ok(usize::try_from(count).unwrap_or_default())
    }

    /// The name of this evidence.
    pub fn origin(&self) -> String {
        EvidenceReader::origin_of(self.database_id)
    }

    /// Whether a signature of this authorization is recorded.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn has_signed_authorization(&self, authorization_id: Uuid) -> Result<bool> {
        let sql = "SELECT 1 FROM signatures WHERE authorization_id = ?1 AND kind = ?2";
        let kind = SignatureKind::Authorization.as_str();
        Ok(self.conn.prepare_cached(sql)?.exists((authorization_id.to_string(), kind))?)
    }

    /// The document about the end of a run.
    ///
    /// # Errors
    /// When the run has no end, or the database cannot be read.
    pub fn run_end_to_sign(
        &self,
        run_id: Uuid,
        timestamp_ms: i64,
        principal: &str,
    ) -> Result<String> {
        self.signer(principal).run_end(&self.conn, run_id, Some(timestamp_ms))
    }

    /// The document about the present head of the evidence.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn head_to_sign(&self, timestamp_ms: i64, principal: &str) -> Result<String> {
        let rows = Chain::of(&self.conn)?.rows;
        self.signer(principal).head(&self.conn, rows, timestamp_ms)
    }

    /// Records the signature of the end of this run, or of a head.
    ///
    /// # Errors
    /// When the signature is of another document, or the database cannot be written.
    pub fn record_signature(
        &mut self,
        run_id: Option<Uuid>,
        signed: &SignedDocument,
    ) -> Result<()> {
        let signer = self.signer(&signed.principal);
        self.write_and_keep(|appender| insert(appender, &signer, signed, (None, run_id)))
    }

    fn signer<'p>(&self, principal: &'p str) -> Signer<'p> {
        Signer { evidence: EvidenceReader::origin_of(self.database_id), principal }
    }
}

/// The digest of everything that an approval covers besides the bytes of the plan.
pub(super) fn binding_digest(authorization: &PlanAuthorization) -> String {
    let binding = serde_json::to_value(&authorization.binding).unwrap_or_default();
    Digest::of(ledger::canonical(&binding).as_bytes()).to_string()
}

/// Inserts the row of a signature, whose document must be the one that the evidence gives.
fn insert(
    appender: &mut Appender<'_>,
    signer: &Signer<'_>,
    signed: &SignedDocument,
    (authorization_id, run_id): (Option<Uuid>, Option<Uuid>),
) -> Result<()> {
    let number = Chain::of(appender.tx())?.next_number();
    if let Some(difference) = signer.difference(appender.tx(), &signed.document, number)? {
        return Err(EvidenceError::SignedOther { difference });
    }
    insert_row(appender, signed, (authorization_id, run_id))
}

/// Inserts the row of a signature.
fn insert_row(
    appender: &mut Appender<'_>,
    signed: &SignedDocument,
    (authorization_id, run_id): (Option<Uuid>, Option<Uuid>),
) -> Result<()> {
    if appender.redacted(&signed.document) != signed.document {
        let difference = "what was signed has a recognised secret in clear".to_owned();
        return Err(EvidenceError::SignedOther { difference });
    }
    appender.insert(
        "signatures",
        [
            ("kind", Cell::word(signed.kind.as_str())),
            ("authorization_id", authorization_id.into()),
            ("run_id", run_id.into()),
            ("request_id", signed.request_id.into()),
            // Nothing in it needs to be redacted: it repeats what is stored.
            ("document", Cell::word(signed.document.as_str())),
            ("signature", Cell::word(signed.signature.armor.as_str())),
            ("fingerprint", Cell::word(signed.signature.fingerprint.as_str())),
            ("principal", Cell::word(signed.principal.as_str())),
            ("user_name", appender.user.into()),
            ("timestamp", signed.timestamp_ms.into()),
        ],
    )
}
