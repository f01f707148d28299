//! Envelopes for signed statements (DSSE), as JSON.

use serde_json::{Value, json};

use super::encoding::base64;
use super::key::SigningKey;

/// The envelope of a payload of this type, signed by this key.
pub fn envelope(payload_type: &str, payload: &[u8], key: &SigningKey) -> Value {
    let signature = key.sign(&encoded(payload_type, payload));
    json!({
        "payloadType": payload_type,
        "payload": base64(payload),
        "signatures": [{ "keyid": key.id(), "sig": base64(signature) }],
    })
}

/// What is signed: the type and the payload, each after its length, so that neither can be taken for the other.
fn encoded(payload_type: &str, payload: &[u8]) -> Vec<u8> {
    let head = format!("DSSEv1 {} {payload_type} {} ", payload_type.len(), payload.len());
    [head.as_bytes(), payload].concat()
}
