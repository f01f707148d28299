//! What a person signs: canonical JSON that repeats a record of the evidence as it is stored, and names the evidence and
//! its chain. `assets/schema/signed-document.schema.json` describes it.
//!
//! Each document is made of the database, and made again to compare it with the database. So a signature is about the
//! record that is there, and a change of either is found.

use rusqlite::{Connection, Row};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::super::error::Result;
use super::super::rows::{find, list, unreadable};
use super::super::{EvidenceError, ledger};
use crate::plan::Digest;
use crate::run::SignatureKind;

/// The format of the documents.
pub(super) const FORMAT: &str = "countersign/signed/v1";

/// A row with its link in the chain.
pub(super) struct Linked {
    pub(super) columns: Map<String, Value>,
    previous: Digest,
    entry: String,
    digest: String,
}

impl Linked {
    /// Whether the row is what its link was computed from.
    pub(super) fn is_unchanged(&self) -> bool {
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
pub(super) fn linked(
    conn: &Connection,
    table: &str,
    column: &str,
    value: &str,
) -> Result<Option<Linked>> {
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

/// What an approval needed of other persons. Its document has it only where there is one: older documents have no such fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Others {
    /// The number of persons, with the one who authorizes.
    pub(super) required: u64,
    /// The digests of what the others have signed, in the order of the records.
    pub(super) reviews: Vec<String>,
}

impl Others {
    /// The digest of what another person has signed.
    pub(super) fn digest_of(document: &str) -> String {
        Digest::of(document.as_bytes()).to_string()
    }

    /// What is recorded with an authorization.
    fn recorded(conn: &Connection, required: u64, authorization_id: Uuid) -> Result<Self> {
        let sql =
            "SELECT document FROM signatures WHERE authorization_id = ?1 AND kind = ?2 ORDER BY id";
        let params = (authorization_id.to_string(), SignatureKind::Review.as_str());
        let digest = |row: &Row<'_>| Ok(Self::digest_of(&row.get::<_, String>(0)?));
        Ok(Self { required, reviews: list(conn, sql, params, digest)? })
    }

    /// What differs from the names in a document.
    fn difference(&self, named: &Value) -> Option<String> {
        let named = named.get("reviews").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let is_named = |review: &&String| named.iter().any(|it| it.as_str() == Some(review));
        let found = self.reviews.iter().filter(is_named).count();
        let others = usize::try_from(self.required.saturating_sub(1)).unwrap_or(usize::MAX);
        if found < named.len() {
            let why = "the signatures of other persons that it names are not all recorded with it";
            return Some(why.to_owned());
        }
        (named.len() < others).then(|| {
            format!("it needed the signatures of {others} other persons, and names {}", named.len())
        })
    }
}

/// What all documents of one person about one evidence folder have in common.
#[derive(Clone)]
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
        others: Option<&Others>,
    ) -> Result<String> {
        let row = linked(conn, "authorizations", "id", &id.to_string())?;
        let mut record = row.ok_or_else(|| gone("authorization", id))?.columns;
        record.remove("row");
        let previous = json!({ "seq": seq, "digest": digest.hex() });
        let mut more =
            json!({ "binding_digest": binding_digest, "previous": previous, "record": record });
        if let (Some(Others { required, reviews }), Some(fields)) = (others, more.as_object_mut()) {
            fields.insert("required".to_owned(), json!(required));
            fields.insert("reviews".to_owned(), json!(reviews));
        }
        Ok(self.document(SignatureKind::Authorization, more))
    }

    /// The document about the end of a run. Older ones have no time of their own.
    pub(super) fn run_end(
        &self,
        conn: &Connection,
        run_id: Uuid,
        timestamp_ms: Option<i64>,
    ) -> Result<String> {
        let row = linked(conn, "run_ends", "run_id", &run_id.to_string())?;
        let Linked { columns, digest, .. } = row.ok_or_else(|| gone("end of run", run_id))?;
        let run = linked(conn, "runs", "id", &run_id.to_string())?;
        let run = run.ok_or_else(|| gone("run", run_id))?.columns;
        let of_run = |name: &str| run.get(name).cloned().unwrap_or_default();
        let mut more = json!({
            "authorization_id": of_run("authorization_id"),
            "plan_digest": of_run("plan_digest"),
            "link": { "seq": columns.get("id").cloned(), "digest": digest },
            "record": columns,
        });
        if let (Some(timestamp_ms), Some(fields)) = (timestamp_ms, more.as_object_mut()) {
            fields.insert("timestamp".to_owned(), timestamp_ms.into());
        }
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
                let (Some(id), Some(binding), Some(previous)) =
                    (id("/record/id"), text_at("/binding_digest"), previous.zip(digest))
                else {
                    return Ok(Some(DIFFERS.to_owned()));
                };
                let required = document.get("required").and_then(Value::as_u64);
                let others = required.map(|required| Others::recorded(conn, required, id));
                let others = others.transpose()?;
                if let Some(why) = others.as_ref().and_then(|it| it.difference(&document)) {
                    return Ok(Some(why));
                }
                self.authorization(conn, id, binding, previous, others.as_ref())
            }
            Some(SignatureKind::RunEnd) => match id("/record/run_id") {
                Some(run_id) => self.run_end(conn, run_id, number("/timestamp")),
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
    /// What differs between a review, whose record has these columns, and the authorization that it was given for.
    pub(super) fn review_difference(
        &self,
        conn: &Connection,
        columns: &Map<String, Value>,
    ) -> Result<Option<String>> {
        let column = |name: &str| columns.get(name).and_then(Value::as_str).unwrap_or_default();
        let (text, id) = (column("document"), column("authorization_id"));
        let row = linked(conn, "authorizations", "id", id)?;
        let row = row.ok_or_else(|| unreadable(format!("the authorization {id}")))?.columns;
        let document: Value = serde_json::from_str(text).unwrap_or_default();
        let recorded = |name: &str| row.get(name).and_then(Value::as_str).unwrap_or_default();
        let Some(binding_digest) = signed_binding(conn, id)? else {
            return Ok(Some("the authorization that it was given for is not signed".to_owned()));
        };
        let expected = [
            ("/format", FORMAT.to_owned()),
            ("/evidence", self.evidence.clone()),
            ("/kind", SignatureKind::Review.as_str().to_owned()),
            ("/principal", self.principal.to_owned()),
            ("/decision", "sign".to_owned()),
            ("/plan_digest", format!("sha256:{}", recorded("plan_digest"))),
            ("/request_id", column("request_id").to_owned()),
            ("/binding/policy", format!("sha256:{}", recorded("policy_digest"))),
            ("/binding/workspace", recorded("workspace").to_owned()),
        ];
        let is = |(path, value): &(&str, String)| {
            document.pointer(path).and_then(Value::as_str) == Some(value.as_str())
        };
        let covered = document.get("binding").map(ledger::canonical).unwrap_or_default();
        let is_same = ledger::canonical(&document) == text
            && expected.iter().all(is)
            && Digest::of(covered.as_bytes()).to_string() == binding_digest
            && document.get("timestamp") == columns.get("timestamp");
        if !is_same {
            return Ok(Some(DIFFERS.to_owned()));
        }
        let sql = "SELECT 1 FROM signatures WHERE request_id = ?1 AND authorization_id <> ?2";
        let is_used = conn.prepare_cached(sql)?.exists((column("request_id"), id))?;
        Ok(is_used.then(|| "its request was used by another authorization, too".to_owned()))
    }
}

/// The digest of everything that an authorization covers, as its signed document has it.
fn signed_binding(conn: &Connection, authorization_id: &str) -> Result<Option<String>> {
    let sql = "SELECT document FROM signatures WHERE authorization_id = ?1 AND kind = ?2 ORDER BY id LIMIT 1";
    let params = (authorization_id, SignatureKind::Authorization.as_str());
    let text = find::<String>(conn, sql, params, |row| Ok(row.get(0)?))?.unwrap_or_default();
    let document: Value = serde_json::from_str(&text).unwrap_or_default();
    Ok(document.get("binding_digest").and_then(Value::as_str).map(str::to_owned))
}

/// When a document was signed, as it says itself: its own time, or that of the record that was signed at once.
pub(super) fn signed_at(document: &Value) -> Option<i64> {
    let own = document.get("timestamp").or_else(|| document.pointer("/record/timestamp"));
    own.and_then(Value::as_i64)
}

const DIFFERS: &str = "what was signed is not what the evidence has";

fn gone(what: &str, id: Uuid) -> EvidenceError {
    unreadable(format!("the {what} {id} is not in the evidence"))
}
