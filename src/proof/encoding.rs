//! Base64, as notes, envelopes and proofs have it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Bytes in base64.
pub fn base64(bytes: impl AsRef<[u8]>) -> String {
    STANDARD.encode(bytes)
}

/// The bytes of a text in base64; `None` if it is none, or another writing of these bytes.
pub(super) fn from_base64(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}
