//! Hiding secrets in what leaves this program, as they are hidden in what is stored (SPEC §8).

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use super::redact::{KnownSecrets, Redactor};
use super::store::EvidenceStore;
use super::vault::Vault;

/// Puts the evidence's markers in place of secrets, and remembers those that it was shown.
#[derive(Debug)]
pub struct SecretHider {
    redactor: Arc<Redactor>,
    vault: Arc<Vault>,
    known: KnownSecrets,
}

impl EvidenceStore {
    /// One that knows no secret yet.
    pub fn secret_hider(&self) -> SecretHider {
        SecretHider {
            redactor: Arc::clone(&self.redactor),
            vault: Arc::clone(&self.vault),
            known: KnownSecrets::default(),
        }
    }
}

impl SecretHider {
    /// Remembers the secrets of a text: each is hidden from now on, also where it stands alone.
    pub fn learn(&mut self, text: &str) {
        self.redactor.learn(&mut self.known, text);
    }

    /// The text with a marker in place of each secret. Hide before cutting: of half a secret nothing says
    /// that it is one.
    pub fn hide<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.redactor.hide(&self.vault, &self.known, text)
    }

    /// The value with a marker in place of each secret in its texts.
    pub fn hide_in(&self, mut value: Value) -> Value {
        self.redactor.hide_below(&self.vault, &self.known, None, &mut value);
        value
    }
}
