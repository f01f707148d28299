//! Compares the JSON documents of `evidence`, `propose` and `inbox` with the schemas that the program prints for them, and
//! finds the published schema of SARIF.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use assert_cmd::Command;
use jsonschema::Validator;
use serde_json::Value;

use super::home::{Done, PROGRAM};

/// The schema of the documents of `evidence COMMAND`, as the program prints it.
pub fn printed(command: &str) -> Value {
    let command = if command == "case" { "export" } else { command };
    let name = match command {
        "acp" | "doctor" | "explain" | "propose" | "revise" | "inbox_list" | "inbox_remove"
        | "proof" | "run_attestation" | "settings" | "settings_export" | "settings_import" => {
            command.to_owned()
        }
        _ => format!("evidence_{}", command.replace('-', "_")),
    };
    let printed = Done::of(Command::new(PROGRAM).args(["schema", &name])).exits(0);
    serde_json::from_str(&printed.stdout).unwrap()
}

/// What the schema of `evidence COMMAND` has against a document.
pub fn complaints(command: &str, document: &Value) -> Vec<String> {
    static SCHEMAS: Mutex<Option<HashMap<String, Arc<Validator>>>> = Mutex::new(None);
    let known = |schemas: &mut Option<HashMap<_, _>>| {
        let schemas = schemas.get_or_insert_default();
        let make = || Arc::new(jsonschema::validator_for(&printed(command)).unwrap());
        Arc::clone(schemas.entry(command.to_owned()).or_insert_with(make))
    };
    let schema = known(&mut SCHEMAS.lock().unwrap_or_else(PoisonError::into_inner));
    schema.iter_errors(document).map(|it| format!("{}: {it}", it.instance_path())).collect()
}

/// Asserts that what a command of `evidence` printed with `--json` is as its schema says. Errors have a form of their own,
/// and what `evidence export` writes to stdout has that of its format.
pub fn check(arguments: &[&str], done: &Done) {
    let command = match arguments {
        ["evidence", command, ..] => (*command).to_owned(),
        ["explain", ..] => "explain".to_owned(),
        ["propose", ..] => "propose".to_owned(),
        ["revise", ..] => "revise".to_owned(),
        ["doctor", ..] => "doctor".to_owned(),
        ["inbox", command, ..] => format!("inbox_{command}"),
        ["settings", command @ ("export" | "import"), ..] => format!("settings_{command}"),
        ["settings", ..] => "settings".to_owned(),
        _ => return,
    };
    let is_file = || arguments.contains(&"--out");
    if !matches!(done.code, 0 | 1 | 6) || command == "export" && !is_file() {
        return;
    }
    let command = if command == "prove" && !is_file() { "proof".to_owned() } else { command };
    for document in done.lines().iter().filter(|it| it.get("error").is_none()) {
        let complaints = complaints(&command, document);
        assert!(complaints.is_empty(), "{arguments:?}: {document:#}: {complaints:#?}");
    }
}

/// The published schema of SARIF 2.1.0, with the sources of the crate whose types are made from it.
pub fn published_sarif() -> Validator {
    // Of other platforms, the packages are not here.
    let host = host();
    let options = ["--locked", "--offline", "--filter-platform", &host].map(str::to_owned);
    let metadata = cargo_metadata::MetadataCommand::new()
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .other_options(options)
        .exec()
        .expect("the packages of this one");
    let package = metadata.packages.iter().find(|it| it.name.as_str() == "serde-sarif");
    let folder = package.and_then(|it| it.manifest_path.parent()).expect("its folder");
    let text = std::fs::read_to_string(folder.join("src/schema.json")).expect("the schema");
    // The pattern of languages has a bracket too many, and languages are not exported.
    let text = text.replace("[a-zA-Z]{2}]?$", "[a-zA-Z]{2}$");
    jsonschema::validator_for(&serde_json::from_str(&text).expect("JSON")).expect("a schema")
}

/// The platform of this compiler.
#[expect(clippy::disallowed_methods, reason = "asks the compiler")]
fn host() -> String {
    let output = std::process::Command::new("rustc").arg("-vV").output().expect("rustc");
    let text = String::from_utf8(output.stdout).expect("text");
    let line = text.lines().find_map(|line| line.strip_prefix("host: "));
    line.expect("a host").to_owned()
}
