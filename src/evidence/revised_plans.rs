//! That a plan which was decided about is a person's revision of another one (SPEC §13): a row of the table `decisions`
//! with the word `revise` beside the decision itself. The bytes of both plans are recorded, so that the row needs to name
//! only the changes and the digest of the base.

use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::error::Result;
use super::rows::uuid;
use super::source::Source;
use super::{EvidenceReader, StoredContent};
use crate::plan::{Digest, Plan, RevisedPart, RevisedWhat, Revision};
use crate::run::text;

/// The word in the column `decision`.
pub(super) const REVISED: &str = "revise";

/// The digest of the base in a row `d` of `decisions`, in 64 hex digits.
pub(super) const BASE: &str = "substr(json_extract(d.request_json, '$.base_digest'), 8)";

/// The most bytes of changes that a row has. A longer one would become a content of its own, which no statement reads.
const MAX_BYTES: usize = 2 << 10;
/// The most bytes of a value in it.
const MAX_VALUE: usize = 160;
/// The number of changes that the note of the decision names.
const IN_NOTE: usize = 3;

/// What a person revised before deciding about a plan.
#[derive(Debug, Clone, Copy)]
pub struct RevisionRecord<'a> {
    /// The plan that was revised.
    pub base: &'a Plan,
    /// Every change.
    pub parts: &'a [RevisedPart],
}

/// That the plan of a run is a revision, as it is recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecordedRevision {
    /// The digest of the plan that was revised.
    pub base_digest: Digest,
    /// The changes in words. Values are shortened, and secrets are hidden.
    pub changes: Vec<Value>,
    /// The number of changes that are not named.
    pub omitted: u64,
    /// The difference of the two plans as text; absent if one of them is not available any more.
    pub difference: Option<String>,
}

/// The question and the note of the decision `revise`.
pub(super) fn described(revised: &Plan, revision: &RevisionRecord<'_>) -> (Value, String) {
    let RevisionRecord { base, parts } = revision;
    let mut changes: Vec<Value> = Vec::new();
    let mut bytes = 0;
    for part in *parts {
        let change = change(part);
        bytes += change.to_string().len();
        if bytes > MAX_BYTES {
            break;
        }
        changes.push(change);
    }
    let count = format!("{} {}", parts.len(), if parts.len() == 1 { "change" } else { "changes" });
    let named: Vec<String> = parts.iter().take(IN_NOTE).map(RevisedPart::sentence).collect();
    let more = parts.len().saturating_sub(IN_NOTE);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let note = format!("{count} to {}: {}{more}", base.digest, named.join("; "));
    let request = json!({
        "base_digest": base.digest,
        "digest": revised.digest,
        "omitted": parts.len() - changes.len(),
        "changes": changes,
    });
    (request, note)
}

/// A change with shortened values.
fn change(part: &RevisedPart) -> Value {
    let short = |value: &Option<String>| {
        value.as_ref().map(|value| match value.len() {
            0..=MAX_VALUE => value.clone(),
            bytes => {
                let end = value.floor_char_boundary(MAX_VALUE);
                format!("{}… ({})", value.get(..end).unwrap_or_default(), text::size(bytes as u64))
            }
        })
    };
    let what = match &part.what {
        RevisedWhat::LeftOut => RevisedWhat::LeftOut,
        RevisedWhat::FilledIn { template, value } => RevisedWhat::FilledIn {
            template: template.clone(),
            value: short(&Some(value.clone())).unwrap_or_default(),
        },
        RevisedWhat::Argument { name, before, after } => {
            RevisedWhat::Argument { name: name.clone(), before: short(before), after: short(after) }
        }
    };
    json!(RevisedPart { what, ..part.clone() })
}

impl EvidenceReader {
    /// What a person revised in the plan of a run before it was authorized; `None` if nobody did.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn revision_of(&mut self, run_id: Uuid) -> Result<Option<RecordedRevision>> {
        let sql = format!(
            "SELECT {BASE}, r.plan_digest, d.request_json FROM runs AS r
             JOIN decisions AS d ON d.authorization_id = r.authorization_id
             WHERE r.id = ?1 AND d.decision = '{REVISED}' AND d.run_id IS NULL"
        );
        let found = self.query(|source| {
            source.first(&sql, [run_id.to_string()], |row| {
                let (base, revised): (String, String) = (row.get(0)?, row.get(1)?);
                Ok((base, revised, row.get::<_, String>(2)?))
            })
        })?;
        let Some((base, revised, request)) = found else { return Ok(None) };
        let (Ok(base_digest), Ok(revised)) = (base.parse::<Digest>(), revised.parse::<Digest>())
        else {
            return Ok(None);
        };
        let request: Value = serde_json::from_str(&request).unwrap_or_default();
        let texts = (self.content_of(&base_digest)?, self.content_of(&revised)?, self.redactor()?);
        let difference = match texts {
            (Some(base), Some(revised), Some(mut redactor)) => {
                [&base, &revised].into_iter().for_each(|text| redactor.learn(text));
                let [base, revised] = [&base, &revised].map(|text| redactor.redact(text));
                Some(Revision::text_difference(base.as_bytes(), revised.as_bytes()))
            }
            _ => None,
        };
        Ok(Some(RecordedRevision {
            base_digest,
            changes: request.get("changes").and_then(Value::as_array).cloned().unwrap_or_default(),
            omitted: request.get("omitted").and_then(Value::as_u64).unwrap_or_default(),
            difference,
        }))
    }

    /// The text of a recorded plan.
    fn content_of(&mut self, digest: &Digest) -> Result<Option<String>> {
        Ok(match self.stored_content(digest)? {
            StoredContent::Content(bytes) => String::from_utf8(bytes).ok(),
            _ => None,
        })
    }
}

/// The latest decision about a revision of these bytes: the authorization, and the digest of the revised plan.
pub(super) fn latest_of(
    source: &Source<'_>,
    base: &Digest,
    workspace: &str,
    since_ms: i64,
) -> Result<Option<(Uuid, String)>> {
    let sql = format!(
        "SELECT a.id, a.plan_digest FROM decisions AS d
         JOIN authorizations AS a ON a.id = d.authorization_id
         WHERE d.run_id IS NULL AND d.decision = '{REVISED}' AND {BASE} = ?1 AND a.workspace = ?2 AND a.timestamp >= ?3
         ORDER BY d.id DESC LIMIT 1"
    );
    source.first(&sql, (base.hex(), workspace, since_ms), |row| Ok((uuid(row, 0)?, row.get(1)?)))
}
