//! The Ed25519 key that signs checkpoints and attestations, and the forms of its public part.

use std::fmt;
use std::str::FromStr;

use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use sha2::{Digest as _, Sha256};

use super::encoding::{base64, from_base64};
use super::error::NoteError;
use crate::plan::Digest;

/// The number of random bytes that a key is made of.
pub const SEED_BYTES: usize = 32;
/// The signature type of Ed25519 in a verifier key.
const ED25519_TYPE: u8 = 1;
const PUBLIC_BYTES: usize = 32;
/// What precedes the 32 bytes of the key in its DER form (RFC 8410).
const DER_PREFIX: [u8; 12] =
    [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

/// A key that signs.
pub struct SigningKey {
    pair: Ed25519KeyPair,
    public: [u8; PUBLIC_BYTES],
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningKey")
    }
}

impl SigningKey {
    /// The key of these random bytes; `None` if they are not [`SEED_BYTES`].
    pub fn from_seed(seed: &[u8]) -> Option<Self> {
        let pair = Ed25519KeyPair::from_seed_unchecked(seed).ok()?;
        let public = pair.public_key().as_ref().try_into().ok()?;
        Some(Self { pair, public })
    }

    /// The signature of these bytes: 64 bytes, always the same ones.
    pub fn sign(&self, bytes: &[u8]) -> Vec<u8> {
        self.pair.sign(bytes).as_ref().to_vec()
    }

    /// The public key under this name; `None` if it is no name of a key.
    pub fn verifier_key(&self, name: &str) -> Option<VerifierKey> {
        VerifierKey::new(name, self.public)
    }

    /// The public key as a PEM file, for programs that check attestations.
    pub fn public_pem(&self) -> String {
        let der = base64(self.public_der());
        format!("-----BEGIN PUBLIC KEY-----\n{der}\n-----END PUBLIC KEY-----\n")
    }

    /// The id of the key in envelopes: the SHA-256 digest of its DER form, in 64 hex digits.
    pub fn id(&self) -> String {
        Digest::of(&self.public_der()).hex()
    }

    fn public_der(&self) -> Vec<u8> {
        [DER_PREFIX.as_slice(), &self.public].concat()
    }
}

/// A public key with its name, as C2SP writes it: `name+id+key`. Notes are checked with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifierKey {
    name: String,
    id: [u8; 4],
    public: [u8; PUBLIC_BYTES],
}

impl VerifierKey {
    fn new(name: &str, public: [u8; PUBLIC_BYTES]) -> Option<Self> {
        let mut hash = Sha256::new();
        hash.update(name.as_bytes());
        hash.update([b'\n', ED25519_TYPE]);
        hash.update(public);
        let hash: [u8; 32] = hash.finalize().into();
        let id = *hash.first_chunk()?;
        is_key_name(name).then(|| Self { name: name.to_owned(), id, public })
    }

    /// The name of the key.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The first four bytes of a hash of the key with its name, by which a signature names its key.
    pub(super) const fn id(&self) -> [u8; 4] {
        self.id
    }

    /// Whether this is the key's signature of these bytes.
    pub(super) fn verifies(&self, bytes: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&ED25519, self.public).verify(bytes, signature).is_ok()
    }
}

impl fmt::Display for VerifierKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = base64([[ED25519_TYPE].as_slice(), &self.public].concat());
        write!(f, "{}+{:08x}+{key}", self.name, u32::from_be_bytes(self.id))
    }
}

impl FromStr for VerifierKey {
    type Err = NoteError;

    fn from_str(text: &str) -> Result<Self, NoteError> {
        let parsed = || {
            // Base64 may have pluses, names have none.
            let (name, rest) = text.split_once('+')?;
            let (_, key) = rest.split_once('+')?;
            let key = from_base64(key)?;
            let public = key.strip_prefix(&[ED25519_TYPE])?.try_into().ok()?;
            // Its id, too, is as it is written.
            Self::new(name, public).filter(|key| key.to_string() == text)
        };
        parsed().ok_or(NoteError::Key)
    }
}

/// Names of keys have neither spaces nor a plus, which separates the parts of a verifier key.
pub(super) fn is_key_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(|sign: char| sign.is_whitespace() || sign == '+')
}
