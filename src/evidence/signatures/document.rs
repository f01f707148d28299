//! What a person signs: canonical JSON that repeats a record of the evidence as it is stored, and names the evidence and
//! its chain. `assets/schema/signed-document.schema.json` describes it.
//!
//! Each document is made of the database, and made again to compare it with the database. So a signature is about the
//! record that is there, and a change of either is found.

use rusqlite::Connection;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::super::error::Result;
use super::super::rows::{find, unreadable};
use super::super::{EvidenceError, ledger};
use crate::plan::Digest;
use crate::run::SignatureKind;

/// The format of the documents.
pub(super) const FORMAT: &str = "countersign/signed/v1";

/// A row with its link in the chain.
struct Linked {
    columns: Map<String, Value>,
    previous: Digest,
    entry: String,
    digest: String,
}

impl Linked {
    /// Whether the row is what its link was computed from.
    fn is_unchanged(&self) -> bool {
        ledger::link(&self.previous, &self.entry).is_hex(&self.digest)
    }
}

/// The digest of the link with this number; that of the empty chain for 0. `None` if there is no such link.
fn link_digest(conn: &Connection, seq: i64) -> Result<Option<Digest>> {
    if seq == 0 {
        return Ok(Some(ledger::GENESIS));
    }
    let sql = "SELECT digest FROM ledger WHERE seq = ?1";
    let digest = find::<String>(conn, sql, [seq], |row| Ok(row.get(0)?))?;
    Ok(digest.and_then(|digest| digest.parse().ok()))
}

/// The row of `table` in which `column` has this value; `None` if there is none.
fn linked(conn: &Connection, table: &str, column: &str, value: &str) -> Result<Option<Linked>> {
    let number = format!("SELECT rowid FROM {table} WHERE {column} = ?1");
    let Some(seq) = find::<i64>(conn, &number, [value], |row| Ok(row.get(0)?))? else {
        return Ok(None);
    };
    let mut reader = conn.prepare_cached(&format!("SELECT * FROM {table} WHERE rowid = ?1"))?;
    let entry = ledger::entry_of(&mut reader, table, seq)?.unwrap_or_default();
    let value: Value = serde_json::from_str(&entry).map_err(unreadable)?;
    let columns = value.get("columns").and_then(Value::as_object).cloned().unwrap_or_default();
    let sql = "SELECT digest FROM ledger WHERE seq = ?1 AND table_name = ?2";
    let digest = find::<String>(conn, sql, (seq, table), |row| Ok(row.get(0)?))?;
    let previous = link_digest(conn, seq - 1)?.unwrap_or(ledger::GENESIS);
    Ok(Some(Linked { columns, previous, entry, digest: digest.unwrap_or_default() }))
}

/// Whether the row of `table` in which `column` has this value is what was written.
pub(super) fn is_unchanged(
    conn: &Connection,
    table: &str,
    column: &str,
    value: &str,
) -> Result<bool> {
    Ok(linked(conn, table, column, value)?.is_some_and(|row| row.is_unchanged()))
}

/// What all documents of one person about one evidence folder have in common.
pub(super) struct Signer<'a> {
    /// The name of the evidence.
    pub(super) evidence: String,
    /// Who signs.
    pub(super) principal: &'a str,
}

impl Signer<'_> {
    fn document(&self, kind: SignatureKind, of_kind: Value) -> String {
        let mut document = json!({
            "format": FORMAT,
            "evidence": self.evidence,
            "kind": kind.as_str(),
            "principal": self.principal,
        });
        if let (Some(all), Value::Object(more)) = (document.as_object_mut(), of_kind) {
            all.extend(more);
        }
        ledger::canonical(&document)
    }

    /// The document about an approval: everything that its row has, the digest of all that it covers, and the chain before.
    /// The row has no number yet when it is signed.
    pub(super) fn authorization(
        &self,
        conn: &Connection,
        id: Uuid,
        binding_digest: &str,
        (seq, digest): (i64, Digest),
    ) -> Result<String> {
        let row = linked(conn, "authorizations", "id", &id.to_string())?;
        let mut record = row.ok_or_else(|| gone("authorization", id))?.columns;
        record.remove("row");
        let previous = json!({ "seq": seq, "digest": digest.hex() });
        let more =
            json!({ "binding_digest": binding_digest, "previous": previous, "record": record });
        Ok(self.document(SignatureKind::Authorization, more))
    }

    /// The document about the end of a run.
    pub(super) fn run_end(&self, conn: &Connection, run_id: Uuid) -> Result<String> {
        let row = linked(conn, "run_ends", "run_id", &run_id.to_string())?;
        let Linked { columns, digest, .. } = row.ok_or_else(|| gone("end of run", run_id))?;
        let run = linked(conn, "runs", "id", &run_id.to_string())?;
        let run = run.ok_or_else(|| gone("run", run_id))?.columns;
        let of_run = |name: &str| run.get(name).cloned().unwrap_or_default();
        let more = json!({
            "authorization_id": of_run("authorization_id"),
            "plan_digest": of_run("plan_digest"),
            "link": { "seq": columns.get("id").cloned(), "digest": digest },
            "record": columns,
        });
        Ok(self.document(SignatureKind::RunEnd, more))
    }

    /// The document about the chain up to this link.
    pub(super) fn head(&self, conn: &Connection, seq: i64, timestamp_ms: i64) -> Result<String> {
        let digest = link_digest(conn, seq)?.ok_or_else(|| unreadable(format!("link {seq}")))?;
        let link = json!({ "seq": seq, "digest": digest.hex() });
        Ok(self.document(SignatureKind::Head, json!({ "link": link, "timestamp": timestamp_ms })))
    }

    /// What differs between a document and the evidence; `None` if it is the one that the evidence gives. `row` is the
    /// number of the signature.
    pub(super) fn difference(
        &self,
        conn: &Connection,
        text: &str,
        row: i64,
    ) -> Result<Option<String>> {
        let document: Value = match serde_json::from_str(text) {
            Ok(document) => document,
            Err(_) => return Ok(Some("what was signed is no document of this program".to_owned())),
        };
        let number = |path: &str| document.pointer(path).and_then(Value::as_i64);
        let text_at = |path: &str| document.pointer(path).and_then(Value::as_str);
        let id = |path: &str| text_at(path).and_then(|id| id.parse::<Uuid>().ok());
        let kind = text_at("/kind").and_then(SignatureKind::of);
        let again = match kind {
            Some(SignatureKind::Authorization) => {
                let previous = number("/previous/seq").filter(|seq| (0..row).contains(seq));
                let digest = previous.map(|seq| link_digest(conn, seq)).transpose()?.flatten();
                match (id("/record/id"), text_at("/binding_digest"), previous.zip(digest)) {
                    (Some(id), Some(binding), Some(previous)) => {
                        self.authorization(conn, id, binding, previous)
                    }
                    _ => return Ok(Some(DIFFERS.to_owned())),
                }
            }
            Some(SignatureKind::RunEnd) => match id("/record/run_id") {
                Some(run_id) => self.run_end(conn, run_id),
                None => return Ok(Some(DIFFERS.to_owned())),
            },
            Some(SignatureKind::Head) => {
                let seq = number("/link/seq").filter(|seq| (0..row).contains(seq));
                match seq.zip(number("/timestamp")) {
                    Some((seq, timestamp_ms)) => self.head(conn, seq, timestamp_ms),
                    None => return Ok(Some(DIFFERS.to_owned())),
                }
            }
            Some(SignatureKind::Review) | None => {
                return Ok(Some("what was signed is of an unknown kind".to_owned()));
            }
        };
        let again = match again {
            Err(EvidenceError::Unreadable { what }) => return Ok(Some(what)),
            other => other?,
        };
        Ok((again != text).then(|| DIFFERS.to_owned()))
    }
}

impl Signer<'_> {
    /// What differs between a review and the authorization that it was given for.
    pub(super) fn review_difference(
        &self,
        conn: &Connection,
        text: &str,
        authorization_id: Uuid,
    ) -> Result<Option<String>> {
        let row = linked(conn, "authorizations", "id", &authorization_id.to_string())?;
        let row = row.ok_or_else(|| gone("authorization", authorization_id))?.columns;
        let document: Value = serde_json::from_str(text).unwrap_or_default();
        let recorded = |name: &str| row.get(name).and_then(Value::as_str).unwrap_or_default();
        let expected = [
            ("/format", FORMAT.to_owned()),
            ("/evidence", self.evidence.clone()),
            ("/kind", SignatureKind::Review.as_str().to_owned()),
            ("/principal", self.principal.to_owned()),
            ("/decision", "sign".to_owned()),
            ("/plan_digest", format!("sha256:{}", recorded("plan_digest"))),
            ("/binding/policy", format!("sha256:{}", recorded("policy_digest"))),
            ("/binding/workspace", recorded("workspace").to_owned()),
        ];
        let is = |(path, value): &(&str, String)| {
            document.pointer(path).and_then(Value::as_str) == Some(value.as_str())
        };
        let is_same = ledger::canonical(&document) == text && expected.iter().all(is);
        Ok((!is_same).then(|| DIFFERS.to_owned()))
    }
}

const DIFFERS: &str = "what was signed is not what the evidence has";

fn gone(what: &str, id: Uuid) -> EvidenceError {
    unreadable(format!("the {what} {id} is not in the evidence"))
}
