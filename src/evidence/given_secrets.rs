//! Secrets that a person gave to a run, which no rule has to recognise (SPEC §13).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use super::EvidenceReader;
use super::error::Result;
use super::redact::{GIVEN, KnownSecrets};
use crate::authorization::SecretInputs;

/// That a person gave a secret input to a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenSecret {
    /// The name of the input.
    pub name: String,
    /// The keyed digest that the authorization covers. Its key was never stored.
    pub digest: String,
}

impl GivenSecret {
    /// What the decision about a plan records of its secret inputs; `None` without any.
    pub(super) fn to_record(digests: &BTreeMap<String, String>) -> Option<Value> {
        let given = digests.iter();
        let given: Vec<_> = given
            .map(|(name, digest)| Self { name: name.clone(), digest: digest.clone() })
            .collect();
        (!given.is_empty()).then(|| json!({ "inputs_given": given }))
    }
}

impl EvidenceReader {
    /// The secret inputs that a person gave to a run.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn secret_inputs_of(&mut self, run_id: Uuid) -> Result<Vec<GivenSecret>> {
        let sql = "SELECT json_extract(d.request_json, '$.inputs_given') FROM runs AS r
                   JOIN decisions AS d ON d.authorization_id = r.authorization_id
                   WHERE r.id = ?1 AND d.run_id IS NULL
                   AND json_extract(d.request_json, '$.inputs_given') IS NOT NULL";
        let found = self.query(|source| {
            source.first(sql, [run_id.to_string()], |row| Ok(row.get::<_, String>(0)?))
        })?;
        Ok(found.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
    }
}

/// The shortest line of a secret that is redacted by itself, in bytes. A shorter one could be an ordinary word.
const MIN_LINE: usize = 8;

impl KnownSecrets {
    /// The secrets, and their lines.
    pub(super) fn given(inputs: &SecretInputs) -> Self {
        let mut known = Self::default();
        for (_, secret) in inputs.iter() {
            let text = String::from_utf8_lossy(secret.bytes());
            known.add(GIVEN, &text);
            for line in text.lines().map(str::trim).filter(|line| line.len() >= MIN_LINE) {
                known.add(GIVEN, line);
            }
        }
        known
    }
}

impl std::fmt::Debug for KnownSecrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("KnownSecrets")
    }
}
