//! The user's key (SPEC §8). It encrypts exact bytes that contain a secret, and computes the marks of redacted secrets
//! and the keyed digests of grants, kept heads and search indexes.
//!
//! The key is a file outside the evidence folder, so that a copy of the evidence folder reveals no secret.

use std::io;
use std::path::Path;

use chacha20poly1305::aead::{Aead as _, Payload};
use chacha20poly1305::{KeyInit as _, XChaCha20Poly1305, XNonce};
use hmac::{Hmac, Mac as _};
use sha2::Sha256;
use uuid::Uuid;

use super::EvidenceError;
use super::error::Result;
use super::key_file::{KEY_BYTES, KeyFile};
use crate::plan::Digest;

/// The name of the key's file in its folder.
const FILE_NAME: &str = "evidence.key";
const NONCE_BYTES: usize = 24;

/// The keys that are derived from the user's key.
pub(super) struct Vault {
    cipher: XChaCha20Poly1305,
    marks: Hmac<Sha256>,
    grants: Hmac<Sha256>,
    heads: Hmac<Sha256>,
}

impl std::fmt::Debug for Vault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Vault")
    }
}

impl Vault {
    /// The vault with the key in this folder. A missing key is created.
    pub(super) fn open_or_create(folder: &Path) -> Result<Self> {
        Self::from_key(&file(folder).read_or_create()?).ok_or_else(|| no_key(folder))
    }

    /// The vault with the key in this folder; `None` if there is no key.
    pub(super) fn open(folder: &Path) -> Result<Option<Self>> {
        let Some(key) = file(folder).read()? else { return Ok(None) };
        Self::from_key(&key).map(Some).ok_or_else(|| no_key(folder))
    }

    fn from_key(key: &[u8; KEY_BYTES]) -> Option<Self> {
        // One derived key for each purpose, so that a weakness in one use does not affect the other uses.
        let derived = |purpose: &[u8]| {
            let mut mac = Hmac::<Sha256>::new_from_slice(key).ok()?;
            mac.update(purpose);
            Some(mac.finalize().into_bytes())
        };
        Some(Self {
            cipher: XChaCha20Poly1305::new(&derived(b"countersign evidence contents")?),
            marks: Hmac::new_from_slice(&derived(b"countersign evidence marks")?).ok()?,
            grants: Hmac::new_from_slice(&derived(b"countersign evidence grants")?).ok()?,
            heads: Hmac::new_from_slice(&derived(b"countersign evidence heads")?).ok()?,
        })
    }

    /// The mark of a secret in eight hex digits: equal for equal secrets, and not computable without the key.
    pub(super) fn mark(&self, secret: &str) -> String {
        keyed(&self.marks, &[secret.as_bytes()]).short(8)
    }

    /// The keyed digest of a row that grants something, in the database with this id.
    pub(super) fn grant_digest(&self, database_id: Uuid, entry: &str) -> String {
        keyed(&self.grants, &[database_id.as_bytes(), entry.as_bytes()]).hex()
    }

    /// Whether `digest` is the [`Self::grant_digest`] of the row with this entry.
    pub(super) fn is_grant_digest(&self, database_id: Uuid, entry: &str, digest: &str) -> bool {
        // Hashes are compared, so that the duration of the comparison reveals nothing about the digest.
        Digest::of(self.grant_digest(database_id, entry).as_bytes())
            == Digest::of(digest.as_bytes())
    }

    /// The keyed digest of the kept heads.
    pub(super) fn heads_digest(&self, text: &str) -> String {
        keyed(&self.heads, &[text.as_bytes()]).hex()
    }

    /// The keyed digest of a search index with this digest.
    pub(super) fn index_digest(&self, digest: &str) -> String {
        // With the prefix, the text cannot be a list of heads, so that a digest of one cannot be used for the other.
        self.heads_digest(&format!("search index {digest}"))
    }

    /// Encrypts bytes. The result is the nonce and the ciphertext. Decryption requires the same `name`.
    pub(super) fn encrypt(&self, plain: &[u8], name: &str) -> Result<Vec<u8>> {
        let mut nonce = [0; NONCE_BYTES];
        getrandom::fill(&mut nonce).map_err(|source| EvidenceError::Random { source })?;
        let ciphertext = self
            .cipher
            .encrypt(&XNonce::from(nonce), Payload { msg: plain, aad: name.as_bytes() })
            .map_err(|_| EvidenceError::Content { source: invalid("encryption failed") })?;
        Ok([&nonce, ciphertext.as_slice()].concat())
    }

    /// Decrypts bytes; `None` if they were encrypted with another key or name, or were changed.
    pub(super) fn decrypt(&self, encrypted: &[u8], name: &str) -> Option<Vec<u8>> {
        let (nonce, ciphertext) = encrypted.split_first_chunk::<NONCE_BYTES>()?;
        self.cipher
            .decrypt(&XNonce::from(*nonce), Payload { msg: ciphertext, aad: name.as_bytes() })
            .ok()
    }
}

/// The keyed digest of these parts in their order.
fn keyed(key: &Hmac<Sha256>, parts: &[&[u8]]) -> Digest {
    let mut mac = key.clone();
    parts.iter().for_each(|part| mac.update(part));
    Digest::from_bytes(mac.finalize().into_bytes().into())
}

fn file(folder: &Path) -> KeyFile<'_> {
    KeyFile { folder, name: FILE_NAME, error: |source, path| EvidenceError::Key { source, path } }
}

fn no_key(folder: &Path) -> EvidenceError {
    EvidenceError::Key { source: invalid("it is no key"), path: folder.join(FILE_NAME) }
}

fn invalid(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn sealed_data_opens_only_at_its_place() {
        let dir = tempfile::tempdir().unwrap();
        let vault = Vault::open_or_create(dir.path()).unwrap();
        let encrypted = vault.encrypt(b"plain", "here").unwrap();
        assert_ne!(vault.encrypt(b"plain", "here").unwrap(), encrypted, "each time another nonce");
        assert_eq!(vault.decrypt(&encrypted, "here").unwrap(), b"plain");
        assert_eq!(vault.decrypt(&encrypted, "there"), None);
        assert_eq!(vault.decrypt(&encrypted[..10], "here"), None);

        let reopened = Vault::open(dir.path()).unwrap().unwrap();
        assert_eq!(reopened.decrypt(&encrypted, "here").unwrap(), b"plain");
        assert_eq!(reopened.mark("s"), vault.mark("s"));
        let other = tempfile::tempdir().unwrap();
        let other = Vault::open_or_create(other.path()).unwrap();
        assert_eq!(other.decrypt(&encrypted, "here"), None);
        assert_ne!(other.mark("s"), vault.mark("s"));
    }

    #[test]
    fn a_broken_or_shared_key_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        assert!(Vault::open(dir.path()).unwrap().is_none());
        Vault::open_or_create(dir.path()).unwrap();
        let path = dir.path().join(FILE_NAME);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no temporary file is left");
        fs::write(&path, b"short").unwrap();
        assert!(matches!(Vault::open_or_create(dir.path()), Err(EvidenceError::Key { .. })));
    }
}
