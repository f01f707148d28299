//! Reads signatures, and compares each with the record that it is about.

use serde_json::Value;
use uuid::Uuid;

use super::document::{Linked, Signer, linked, signed_at};
use crate::authorization::SshSignature;
use crate::evidence::error::Result;
use crate::evidence::migrations::FORMAT_WITH_SIGNATURES;
use crate::evidence::rows::{find, has_row, optional, unreadable, uuid};
use crate::evidence::source::Source;
use crate::evidence::{EvidenceReader, schema};
use crate::run::{SignatureKind, SignatureRecord};

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
            let found = find(source.conn, sql, [&id], |row| uuid(row, 0))?;
            let has_end = has_row(source.conn, "run_ends", "run_id", &id)?;
            Ok(found.map(|authorization| (authorization, has_end)))
        })
    }

    /// The approvals that are not signed although others are, and the runs whose end is not signed although others are.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn unsigned(&mut self) -> Result<Vec<(SignatureKind, Uuid)>> {
        self.query(|source| {
            if source.format < FORMAT_WITH_SIGNATURES {
                return Ok(Vec::new());
            }
            let mut unsigned = Vec::new();
            for (kind, of) in [
                (SignatureKind::Authorization, "SELECT row, id FROM authorizations WHERE status = 'approved'"),
                (SignatureKind::RunEnd, "SELECT id AS row, run_id AS id FROM run_ends"),
            ] {
                let sql = format!(
                    "SELECT id FROM ({of}) WHERE EXISTS (SELECT 1 FROM signatures WHERE kind = ?1)
                     AND id NOT IN (SELECT ifnull(authorization_id, run_id) FROM signatures WHERE kind = ?1)
                     ORDER BY row"
                );
                let ids = source.all(&sql, [kind.as_str()], |row| uuid(row, 0))?;
                unsigned.extend(ids.into_iter().map(|id| (kind, id)));
            }
            Ok(unsigned)
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
pub(in crate::evidence) fn read(
    source: &Source<'_>,
    of: SignaturesOf,
) -> Result<Vec<SignatureRecord>> {
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
        let id = |column| optional(row, column, uuid);
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
        let document = serde_json::from_str(&record.document).unwrap_or_default();
        let recorded_ms = record.signed_at_ms;
        // Nobody has signed the time of the record.
        record.signed_at_ms = signed_at(&document).unwrap_or(recorded_ms);
        if record.signed_at_ms > recorded_ms {
            let why = "the record of the signature has an earlier time than what was signed";
            record.difference = Some(why.to_owned());
            return Ok(record);
        }
        let signer = Signer { evidence: evidence.clone(), principal: &record.principal };
        record.difference = difference(source, &signer, &record, &document)?;
        Ok(record)
    })
}

/// What is wrong with a signature besides what only `ssh-keygen` can tell.
fn difference(
    source: &Source<'_>,
    signer: &Signer<'_>,
    record: &SignatureRecord,
    document: &Value,
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
    let row = linked(conn, "signatures", "id", &record.seq.to_string())?;
    let Some(row) = row.filter(Linked::is_unchanged) else {
        return Ok(Some("the record of the signature was changed after it was written".to_owned()));
    };
    if let Some((table, column, id)) = subject {
        let signed = document.get("record").and_then(|it| it.get(column)).and_then(Value::as_str);
        let is_review = record.kind == SignatureKind::Review;
        if !is_review && signed != Some(id.to_string().as_str()) {
            return Ok(Some("the document is about another record".to_owned()));
        }
        if !linked(conn, table, column, &id.to_string())?.is_some_and(|row| row.is_unchanged()) {
            return Ok(Some("the signed record was changed after it was written".to_owned()));
        }
    }
    let differs = match record.kind {
        SignatureKind::Review => signer.review_difference(conn, &row.columns)?,
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
