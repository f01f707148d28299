//! Redacts secrets in texts that leave this program, with the rules of the evidence (SPEC §8).

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use super::redact::KnownSecrets;
use super::secrets::is_marker_rest;
use super::store::EvidenceStore;
use super::vault::Vault;

/// The start of every redaction marker.
const BEGIN: &str = "[secret:";

/// Replaces secrets by redaction markers, and remembers the secrets of all texts seen so far.
#[derive(Debug)]
pub struct SecretHider {
    vault: Arc<Vault>,
    known: KnownSecrets,
}

impl EvidenceStore {
    /// A redactor that has seen no secrets yet.
    pub fn secret_hider(&self) -> SecretHider {
        SecretHider { vault: Arc::clone(&self.vault), known: KnownSecrets::default() }
    }
}

impl SecretHider {
    /// Records the secrets of a text. From now on each is redacted, even without its context.
    pub fn learn(&mut self, text: &str) {
        self.known.learn(text);
    }

    /// Redacts a text. Redact before truncating: part of a secret may not be recognized.
    pub fn hide<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.known.hide(&self.vault, text)
    }

    /// Redacts the strings, the keys and the numbers in secret fields of a value.
    pub fn hide_in(&self, mut value: Value) -> Value {
        self.known.hide_below(&self.vault, &mut value);
        value
    }
}

/// The first redaction marker in a text.
pub fn marker_in(text: &str) -> Option<&str> {
    text.match_indices(BEGIN).find_map(|(at, _)| {
        let rest = text.get(at + BEGIN.len()..)?;
        let end = rest.find(']')?;
        let inner = rest.get(..end)?;
        let is_marker = is_marker_rest(inner) && !inner.starts_with(':');
        text.get(at..=at + BEGIN.len() + end).filter(|_| is_marker)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // What only looks like a marker is not found.
    #[test]
    fn a_redaction_marker_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let store = EvidenceStore::open(folder.path(), folder.path().join("keys")).unwrap();
        let mut hider = store.secret_hider();
        hider.learn("password = h3ron-of-the-marsh");
        let hidden = hider.hide("grey h3ron-of-the-marsh ]").into_owned();
        let marker = marker_in(&hidden).unwrap();
        assert_eq!(hidden, format!("grey {marker} ]"));
        for text in
            ["[secret:", "[secret:]", "[secret::0636560f]", "[secret:a:b]", "[secret:A:0636560f]"]
        {
            assert_eq!(marker_in(text), None, "{text}");
        }
    }
}
