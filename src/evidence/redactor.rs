//! Redacts secrets in texts for other programs, with the rules of the evidence (SPEC §8).

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use super::error::Result;
use super::redact::{KnownSecrets, replace_ranges};
use super::secrets::is_marker_rest;
use super::vault::Vault;
use super::{EvidenceReader, EvidenceStore};
use crate::run::StopSignal;

/// The start of every redaction marker.
const BEGIN: &str = "[secret:";

/// Replaces secrets with redaction markers. Secrets that it has learned are redacted wherever they occur.
#[derive(Debug)]
pub struct Redactor {
    vault: Arc<Vault>,
    known: KnownSecrets,
}

/// Replaces the secrets in a text that is no part of the evidence, by the same rules. A marker has the kind of the secret
/// alone, because the user's key may be out of reach. What is a secret in one place is redacted wherever it occurs in the text.
pub fn hide_secrets(text: &str) -> Cow<'_, str> {
    let mut known = KnownSecrets::default();
    known.learn(text);
    let ranges = known.all_ranges(text);
    replace_ranges(text, ranges, &mut |_, kind| format!("{BEGIN}{kind}]"))
}

impl EvidenceStore {
    /// A redactor with the key of this store, which has learned no secrets yet.
    pub fn redactor(&self) -> Redactor {
        Redactor { vault: Arc::clone(&self.vault), known: KnownSecrets::default() }
    }
}

impl EvidenceReader {
    /// A redactor with the key of this user, which has learned no secrets yet; `None` if the key is not available. Then
    /// nothing that contains a secret can be read.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn redactor(&mut self) -> Result<Option<Redactor>> {
        self.source()?;
        let vault = self.vault.as_ref().map(Arc::clone);
        Ok(vault.map(|vault| Redactor { vault, known: KnownSecrets::default() }))
    }
}

impl Redactor {
    /// Learns the secrets in a text, so that they are redacted even where no rule recognises them.
    pub fn learn(&mut self, text: &str) {
        self.known.learn(text);
    }

    /// Redacts a whole text of which lines are selected afterwards: the lines keep their numbers. A secret of the text
    /// is redacted wherever it occurs in it. `None` after a stop.
    pub fn redact_lines<'t>(&self, text: &'t str, stop: &StopSignal) -> Option<Cow<'t, str>> {
        self.known.redact_lines(&self.vault, text, &|| stop.is_set())
    }

    /// Redacts a text. Redact before truncating, because no rule may recognise a part of a secret.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.known.redact(&self.vault, text)
    }

    /// Redacts the strings and keys of a value, and the numbers in fields with secret names.
    pub fn redact_value(&self, mut value: Value) -> Value {
        self.known.redact_value_in_place(&self.vault, &mut value);
        value
    }
}

/// The first redaction marker in a text; `None` if there is none.
pub fn marker_in(text: &str) -> Option<&str> {
    text.match_indices(BEGIN).find_map(|(start, _)| {
        let rest = text.get(start + BEGIN.len()..)?;
        let end = rest.find(']')?;
        let inner = rest.get(..end)?;
        let is_marker = is_marker_rest(inner) && !inner.starts_with(':');
        text.get(start..=start + BEGIN.len() + end).filter(|_| is_marker)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // Nothing of a text that was not examined to its end is passed on.
    #[test]
    fn a_stop_ends_the_redaction_of_lines() {
        let folder = tempfile::tempdir().unwrap();
        let store = EvidenceStore::open(folder.path(), folder.path().join("keys")).unwrap();
        let (redactor, stop) = (store.redactor(), StopSignal::default());
        let text = "password = h3ron-of-the-marsh\n".repeat(3);
        assert!(redactor.redact_lines(&text, &stop).unwrap().contains(BEGIN));
        let calls = std::cell::Cell::new(0);
        let found = super::super::secrets::find_until(&text, &|| {
            calls.set(calls.get() + 1);
            calls.get() > 1
        });
        assert_eq!(found.len(), 1, "the rules stop at the next word");
        stop.set();
        assert_eq!(redactor.redact_lines(&text, &stop), None);
    }

    // Texts that resemble a marker are not found.
    #[test]
    fn a_redaction_marker_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let store = EvidenceStore::open(folder.path(), folder.path().join("keys")).unwrap();
        let mut redactor = store.redactor();
        redactor.learn("password = h3ron-of-the-marsh");
        let redacted = redactor.redact("grey h3ron-of-the-marsh ]").into_owned();
        let marker = marker_in(&redacted).unwrap();
        assert_eq!(redacted, format!("grey {marker} ]"));
        for text in
            ["[secret:", "[secret:]", "[secret::0636560f]", "[secret:a:b]", "[secret:A:0636560f]"]
        {
            assert_eq!(marker_in(text), None, "{text}");
        }
    }
}
