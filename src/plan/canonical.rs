//! JSON in one form only, for what is hashed and signed.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use serde_json::Value;

/// The value as JSON without spaces and with sorted keys, independent of the order in the map.
pub fn canonical_json(value: &Value) -> String {
    // Keys are strings, and nothing else could make it fail.
    serde_json::to_string(&Canonical(value)).unwrap_or_default()
}

/// A value whose keys are serialized in their order.
struct Canonical<'v>(&'v Value);

impl Serialize for Canonical<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(map) => {
                let fields = map.iter().map(|(name, value)| (name, Canonical(value)));
                fields.collect::<BTreeMap<_, _>>().serialize(serializer)
            }
            Value::Array(items) => serializer.collect_seq(items.iter().map(Canonical)),
            other => other.serialize(serializer),
        }
    }
}
