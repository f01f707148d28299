//! Signatures of persons with their SSH keys (SPEC §14): what is signed, and the rows that keep it. The keys and
//! `ssh-keygen` are in the room `signing`.
//!
//! An approval is signed before it is recorded: its rows are written in a transaction that is rolled back, to see what the
//! evidence will have of them, with secrets redacted. Then the approval and its signature are recorded in one transaction.
//! So nothing waits for a person while the database is locked, and an approval that is not signed leaves nothing.

mod document;

use rusqlite::Connection;
use serde_json::Value;
use uuid::Uuid;

use self::document::{Signer, is_unchanged};
use super::append::{Appender, Cell};
use super::chain::Chain;
use super::error::Result;
use super::migrations::FORMAT_WITH_SIGNATURES;
use super::rows::{find, has_row, unreadable};
use super::source::Source;
use super::{
    EvidenceError, EvidenceReader, EvidenceStore, RevisionRecord, ledger, schema, write_run,
};
use crate::authorization::{PlanAuthorization, SshSignature};
use crate::plan::{Digest, Plan};
use crate::run::{SignatureKind, SignatureRecord};

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

/// Which signatures are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignaturesOf {
    /// Those of the authorization of this run, and of its end.
    Run(Uuid),
    /// Those of this authorization.
    Authorization(Uuid),
    /// The latest of a head of the evidence.
    Head,
    /// All.
    All,
}

impl EvidenceStore {
    /// The document about an approval that is not recorded yet.
    ///
    /// # Errors
    /// As for [`record_authorization`](Self::record_authorization).
    pub fn authorization_to_sign(
        &mut self,
        authorization: &PlanAuthorization,
        plan: &Plan,
        revision: Option<&RevisionRecord<'_>>,
        principal: &str,
    ) -> Result<String> {
        let signer = self.signer(principal);
        let known = std::mem::take(&mut self.known);
        let (user, vault, id) = (self.user.as_deref(), &self.vault, self.database_id);
        let mut appender = Appender::begin(&mut self.conn, user, vault, id, known)?;
        let before = Chain::of(appender.tx())?;
        let draft = write_run::authorization(&mut appender, authorization, plan, revision);
        let document = draft.and_then(|()| {
            let id = authorization.authorization_id;
            let binding = binding_digest(authorization);
            signer.authorization(appender.tx(), id, &binding, (before.rows, before.head))
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
        self.write(|appender| {
            write_run::authorization(appender, authorization, plan, revision)?;
            insert(appender, &signer, signed, (Some(id), None))?;
            for review in reviews {
                // Within the transaction, because another process may use the same request.
                if let Some(by) =
                    review.request_id.map(|id| used_by(appender.tx(), id)).transpose()?.flatten()
                    && by != id
                {
                    return Err(EvidenceError::RequestUsed { by });
                }
                insert_row(appender, review, (Some(id), None))?;
            }
            Ok(())
        })
    }

    /// The authorization that has used this request of a review; `None` if none has.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn request_used_by(&self, request_id: Uuid) -> Result<Option<Uuid>> {
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
    pub fn run_end_to_sign(&self, run_id: Uuid, principal: &str) -> Result<String> {
        self.signer(principal).run_end(&self.conn, run_id)
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

/// The authorization that has used this request of a review.
fn used_by(conn: &Connection, request_id: Uuid) -> Result<Option<Uuid>> {
    let sql = "SELECT authorization_id FROM signatures WHERE request_id = ?1 LIMIT 1";
    find(conn, sql, [request_id.to_string()], |row| super::rows::uuid(row, 0))
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

impl EvidenceReader {
    /// The signatures, in the order in which they were recorded, each compared with the record that it is about.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn signatures(&mut self, of: SignaturesOf) -> Result<Vec<SignatureRecord>> {
        self.query(|source| read(source, of))
    }

    /// The authorization of a run, and whether the run has an end; `None` if there is no such run.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn authorization_of(&mut self, run_id: Uuid) -> Result<Option<(Uuid, bool)>> {
        self.query(|source| {
            let sql = "SELECT authorization_id FROM runs WHERE id = ?1";
            let id = run_id.to_string();
            let found = find(source.conn, sql, [&id], |row| super::rows::uuid(row, 0))?;
            let has_end = has_row(source.conn, "run_ends", "run_id", &id)?;
            Ok(found.map(|authorization| (authorization, has_end)))
        })
    }

    /// Whether there is an authorization with this id.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn has_authorization(&mut self, id: Uuid) -> Result<bool> {
        self.query(|source| has_row(source.conn, "authorizations", "id", id.to_string()))
    }
}

/// As [`EvidenceReader::signatures`].
pub(super) fn read(source: &Source<'_>, of: SignaturesOf) -> Result<Vec<SignatureRecord>> {
    if source.format < FORMAT_WITH_SIGNATURES {
        return Ok(Vec::new());
    }
    let (condition, id) = match of {
        SignaturesOf::Run(id) => (
            "run_id = ?1 OR authorization_id = (SELECT authorization_id FROM runs WHERE id = ?1)",
            id.to_string(),
        ),
        SignaturesOf::Authorization(id) => ("authorization_id = ?1", id.to_string()),
        SignaturesOf::Head => (
            "id = (SELECT max(id) FROM signatures WHERE kind = ?1)",
            SignatureKind::Head.as_str().to_owned(),
        ),
        SignaturesOf::All => ("?1 = ''", String::new()),
    };
    let sql = format!(
        "SELECT id, kind, authorization_id, run_id, document, signature, fingerprint, principal, timestamp
         FROM signatures WHERE {condition} ORDER BY id"
    );
    let Some(database_id) = schema::id_of(source.conn)? else { return Ok(Vec::new()) };
    let evidence = EvidenceReader::origin_of(database_id);
    source.all(&sql, [id], |row| {
        let kind: String = row.get(1)?;
        let id = |column| super::rows::optional(row, column, super::rows::uuid);
        let mut record = SignatureRecord {
            seq: row.get(0)?,
            kind: SignatureKind::of(&kind)
                .ok_or_else(|| unreadable(format!("the kind {kind:?}")))?,
            authorization_id: id(2)?,
            run_id: id(3)?,
            document: row.get(4)?,
            signature: row.get(5)?,
            fingerprint: row.get(6)?,
            principal: row.get(7)?,
            signed_at_ms: row.get(8)?,
            difference: None,
        };
        let signer = Signer { evidence: evidence.clone(), principal: &record.principal };
        record.difference = difference(source, &signer, &record)?;
        Ok(record)
    })
}

/// What is wrong with a signature besides what only `ssh-keygen` can tell.
fn difference(
    source: &Source<'_>,
    signer: &Signer<'_>,
    record: &SignatureRecord,
) -> Result<Option<String>> {
    let conn = source.conn;
    let subject = match (record.kind, record.authorization_id, record.run_id) {
        (SignatureKind::RunEnd, None, Some(run)) => Some(("run_ends", "run_id", run)),
        (SignatureKind::Authorization | SignatureKind::Review, Some(id), None) => {
            Some(("authorizations", "id", id))
        }
        (SignatureKind::Head, None, None) => None,
        _ => {
            return Ok(Some("the record of the signature names no subject of its kind".to_owned()));
        }
    };
    if !is_unchanged(conn, "signatures", "id", &record.seq.to_string())? {
        return Ok(Some("the record of the signature was changed after it was written".to_owned()));
    }
    if let Some((table, column, id)) = subject {
        let document: Value = serde_json::from_str(&record.document).unwrap_or_default();
        let signed = document.get("record").and_then(|it| it.get(column)).and_then(Value::as_str);
        let is_review = record.kind == SignatureKind::Review;
        if !is_review && signed != Some(id.to_string().as_str()) {
            return Ok(Some("the document is about another record".to_owned()));
        }
        if !is_unchanged(conn, table, column, &id.to_string())? {
            return Ok(Some("the signed record was changed after it was written".to_owned()));
        }
    }
    let differs = match (record.kind, record.authorization_id) {
        (SignatureKind::Review, Some(id)) => {
            signer.review_difference(conn, &record.document, id)?
        }
        _ => signer.difference(conn, &record.document, record.seq)?,
    };
    if differs.is_some() {
        return Ok(differs);
    }
    let parsed = SshSignature::parse(&record.signature);
    Ok(match parsed {
        Some(parsed) if parsed.fingerprint == record.fingerprint => None,
        Some(_) => Some("the signature is of another key than its record says".to_owned()),
        None => Some("the signature is no text of ssh-keygen".to_owned()),
    })
}
