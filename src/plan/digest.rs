//! SHA-256 digests, written as `sha256:` and 64 lowercase hex digits (SPEC §11).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest as _, Sha256};

/// A SHA-256 digest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The digest with these 32 bytes, which were computed earlier, for instance those in the database.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The 64 lowercase hex digits, without the prefix.
    pub fn hex(&self) -> String {
        self.hex_digits().map(char::from).collect()
    }

    /// Whether these are the [`hex`](Self::hex) digits.
    pub fn is_hex(&self, text: &str) -> bool {
        self.hex_digits().eq(text.bytes())
    }

    /// Every row of the evidence contains digests, and `format!` would take ten times as long.
    fn hex_digits(&self) -> impl Iterator<Item = u8> {
        let digit = |half: u8| if half < 10 { b'0' + half } else { b'a' - 10 + half };
        self.0.iter().flat_map(move |byte| [digit(byte >> 4), digit(byte & 15)])
    }

    /// The first `digits` hex digits, for names and for display. Digests must never be compared by them.
    pub fn short(&self, digits: usize) -> String {
        let mut hex = self.hex();
        hex.truncate(digits);
        hex
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", self.hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The error for a text that is not a SHA-256 digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a digest is 64 hex digits, with or without \"sha256:\" in front, not {text:?}")]
pub struct DigestError {
    /// The rejected text.
    pub text: String,
}

impl FromStr for Digest {
    type Err = DigestError;

    /// Reads 64 hex digits of either case, with or without the `sha256:` prefix.
    fn from_str(text: &str) -> Result<Self, DigestError> {
        let error = || DigestError { text: text.to_owned() };
        let hex = text.strip_prefix("sha256:").unwrap_or(text);
        if hex.len() != 64 || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(error());
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(hex.as_bytes().chunks(2)) {
            let pair = std::str::from_utf8(pair).map_err(|_| error())?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| error())?;
        }
        Ok(Self(bytes))
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_reads_back_from_its_text() {
        let digest = Digest::of(b"plan");
        assert_eq!(digest.to_string().parse(), Ok(digest));
        assert_eq!(digest.hex().to_uppercase().parse(), Ok(digest));
        assert_eq!(
            Digest::of(b"").to_string(),
            "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }

    #[test]
    fn other_text_is_refused() {
        for text in ["", "sha256:", "sha1:00", &"g".repeat(64), &"é".repeat(32)] {
            assert!(text.parse::<Digest>().is_err(), "{text}");
        }
    }
}
