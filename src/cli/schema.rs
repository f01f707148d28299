//! `schema`: prints the JSON Schema of a plan dialect or of another document.

use std::borrow::Cow;
use std::collections::BTreeMap;

use clap::ValueEnum as _;

use super::output::Output;
use super::{Exit, args};

/// How documents of `evidence` refer to what they have in common.
const REFERENCE: &str = "evidence-records.schema.json#";

/// Prints the schema. It is JSON with or without `--json`.
pub(super) fn schema(command: &args::Schema, out: &mut Output) -> Exit {
    let schemas = Schemas::unpacked();
    let text = complete(schemas.of(command.dialect), schemas.named("evidence-records"));
    out.exact(format!("{text}\n").as_bytes());
    Exit::Done
}

/// The files of `assets/schema`: their texts by their names, without `.schema.json`.
struct Schemas(BTreeMap<String, String>);

impl Schemas {
    #[expect(clippy::expect_used, reason = "the bytes are part of the program")]
    fn unpacked() -> Self {
        let packed: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/schemas.zst"));
        let json = zstd::decode_all(packed).expect("schemas that the build compressed");
        Self(serde_json::from_slice(&json).expect("schemas that the build wrote"))
    }

    #[expect(clippy::expect_used, reason = "a test asks for all of them")]
    fn named(&self, name: &str) -> &str {
        self.0.get(name).expect("a file of assets/schema").trim_end()
    }

    fn of(&self, dialect: args::DialectWord) -> &str {
        let word = dialect.to_possible_value().unwrap_or_default();
        self.named(&word.get_name().replace('_', "-"))
    }
}

/// The schema with the records that it refers to, so that it needs no other file.
fn complete<'s>(schema: &'s str, records: &str) -> Cow<'s, str> {
    const DEFINITIONS: &str = "\n  \"$defs\": {";
    if !schema.contains(REFERENCE) {
        return schema.into();
    }
    let records = records.replace('\n', "\n    ");
    let records = format!("{DEFINITIONS}\n    \"records\": {records}");
    match schema.split_once(DEFINITIONS) {
        Some((before, after)) => format!("{before}{records},{after}"),
        None => {
            let open = schema.strip_suffix('}').unwrap_or(schema).trim_end();
            format!("{open},{records}\n  }}\n}}")
        }
    }
    .into()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_schema_gets_the_records_that_it_refers_to() {
        let schemas = Schemas::unpacked();
        let text = schemas.named("evidence-records");
        let records: Value = serde_json::from_str(text).unwrap();
        let refers = "\"$ref\": \"evidence-records.schema.json#/$defs/run\"";
        let none = format!("{{\n  {refers}\n}}");
        let some = format!("{{\n  {refers},\n  \"$defs\": {{\n    \"own\": {{}}\n  }}\n}}");
        for (schema, own) in [(none, Value::Null), (some, json!({}))] {
            let printed: Value = serde_json::from_str(&complete(&schema, text)).unwrap();
            assert_eq!((&printed["$defs"]["records"], &printed["$defs"]["own"]), (&records, &own));
            assert!(printed["$ref"].is_string());
        }
        assert_eq!(complete("{}", text), "{}");
    }

    #[test]
    fn every_schema_is_a_file_and_every_file_is_printed() {
        let schemas = Schemas::unpacked();
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/schema/");
        let mut printed = vec!["evidence-records".to_owned()];
        for word in args::DialectWord::value_variants() {
            let name = word.to_possible_value().unwrap().get_name().replace('_', "-");
            let file = std::fs::read_to_string(format!("{folder}{name}.schema.json")).unwrap();
            assert_eq!(schemas.of(*word), file.trim_end());
            printed.push(name);
        }
        printed.sort();
        assert!(schemas.0.keys().eq(&printed), "{printed:?}");
    }
}
