//! The secret inputs of a plan, as a person gives them for one run (SPEC §13, *Revisions*).
//!
//! Their values are in memory only. An approval has keyed digests of them. The key is random, is kept with the values and
//! goes with them, so that whoever has the records can test no guess.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use uuid::Uuid;

use super::Change;

/// A secret that a person typed. It goes to the program that needs it and nowhere else, so it has no `Debug` form and its
/// bytes are overwritten when it is dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

impl Secret {
    /// The secret that a person typed.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// The bytes for the program that needs them.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.fill(0);
        // Keeps the compiler from leaving out a write to memory that nothing reads.
        std::hint::black_box(&self.0);
    }
}

/// The secret inputs that are given for a plan, by name. A copy shares the values.
#[derive(Clone, Default)]
pub struct SecretInputs {
    given: BTreeMap<String, Arc<Secret>>,
    /// The key of the digests; made with the first value.
    key: Option<[Uuid; 2]>,
}

impl fmt::Debug for SecretInputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.given.keys()).finish()
    }
}

/// They are equal if their digests are.
impl PartialEq for SecretInputs {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key && self.given == other.given
    }
}

impl Eq for SecretInputs {}

impl SecretInputs {
    /// No secret input.
    pub fn none() -> &'static Self {
        static NONE: SecretInputs = SecretInputs { given: BTreeMap::new(), key: None };
        &NONE
    }

    /// Gives a value, in place of an earlier one of the same name.
    pub fn give(&mut self, name: String, value: Secret) {
        self.key.get_or_insert_with(|| [Uuid::new_v4(), Uuid::new_v4()]);
        self.given.insert(name, Arc::new(value));
    }

    /// Whether none is given.
    pub fn is_empty(&self) -> bool {
        self.given.is_empty()
    }

    /// The value of an input, if it is given.
    pub fn get(&self, name: &str) -> Option<&Secret> {
        self.given.get(name).map(Arc::as_ref)
    }

    /// The names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Secret)> {
        self.given.iter().map(|(name, value)| (name.as_str(), value.as_ref()))
    }

    /// The keyed digest of a value, which an approval covers; `None` if the value is not given.
    pub fn digest(&self, name: &str) -> Option<String> {
        let (value, [first, second]) = (self.get(name)?, self.key?);
        let key = [first.into_bytes(), second.into_bytes()].concat();
        let mut mac = Hmac::<Sha256>::new_from_slice(&key).ok()?;
        mac.update(name.as_bytes());
        mac.update(&[0]);
        mac.update(value.bytes());
        let digest = mac.finalize().into_bytes();
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        Some(format!("hmac-sha256:{hex}"))
    }
}

/// The differences between the keyed digests of two bindings.
pub(super) fn changes<'a>(
    approved: &'a BTreeMap<String, String>,
    now: &'a BTreeMap<String, String>,
) -> impl Iterator<Item = Change> + 'a {
    let names: BTreeSet<_> = approved.keys().chain(now.keys()).collect();
    let digest = |of: &BTreeMap<String, String>, name: &String| {
        of.get(name).cloned().unwrap_or_else(|| "not given".to_owned())
    };
    names.into_iter().filter(|name| approved.get(*name) != now.get(*name)).map(move |name| Change {
        what: format!("secret input {name}"),
        approved: digest(approved, name),
        now: digest(now, name),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_need_the_key() {
        let mut inputs = SecretInputs::default();
        assert_eq!(inputs.digest("a"), None);
        inputs.give("a".to_owned(), Secret::new(b"hunter2!".to_vec()));
        let digest = inputs.digest("a").unwrap();
        assert_eq!(digest.len(), "hmac-sha256:".len() + 64);
        assert_eq!(inputs.clone().digest("a"), Some(digest.clone()));
        let mut others = SecretInputs::default();
        others.give("a".to_owned(), Secret::new(b"hunter2!".to_vec()));
        assert_ne!(others.digest("a"), Some(digest.clone()), "another key");
        inputs.give("a".to_owned(), Secret::new(b"hunter3!".to_vec()));
        assert_ne!(inputs.digest("a"), Some(digest.clone()), "another value");
        inputs.give("b".to_owned(), Secret::new(b"hunter3!".to_vec()));
        assert_ne!(inputs.digest("a"), inputs.digest("b"), "another name");
    }

    #[test]
    fn values_are_in_no_debug_form() {
        let mut inputs = SecretInputs::default();
        inputs.give("token".to_owned(), Secret::new(b"hunter2!".to_vec()));
        assert_eq!(format!("{inputs:?}"), "{\"token\"}");
    }
}
