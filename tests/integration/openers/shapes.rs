//! Broken documents of analysers and language servers: where a plan is made, the formats' own schemas accept the document.

use std::path::Path;

use countersign::plan::Finding;
use serde_json::{Map, Value, json};

use super::numbers::Numbers;
use super::planned;
use super::ranges::by_editor_library;
use crate::harness::Harness;
use crate::harness::schemas::published_sarif;

/// What is put in the place of a value, besides leaving it out.
fn other_values() -> [Value; 9] {
    [
        Value::Null,
        json!(true),
        json!(-1),
        json!(0),
        json!(1.5),
        json!(""),
        json!("x"),
        json!([]),
        json!({}),
    ]
}

/// Replaces or removes one value of a document, chosen at random.
fn broken(document: &Value, numbers: &mut Numbers) -> Value {
    fn count(value: &Value) -> usize {
        1 + match value {
            Value::Array(list) => list.iter().map(count).sum(),
            Value::Object(members) => members.values().map(count).sum::<usize>(),
            _ => 0,
        }
    }
    /// The value without the one that is reached after `left` others; `None` if it is this one that goes.
    fn change(value: &Value, left: &mut usize, other: Option<&Value>) -> Option<Value> {
        if *left == 0 {
            *left = usize::MAX;
            return other.cloned();
        }
        *left -= 1;
        Some(match value {
            Value::Array(list) => {
                Value::Array(list.iter().filter_map(|it| change(it, left, other)).collect())
            }
            Value::Object(members) => Value::Object(
                members
                    .iter()
                    .filter_map(|(name, it)| Some((name.clone(), change(it, left, other)?)))
                    .collect::<Map<_, _>>(),
            ),
            value => value.clone(),
        })
    }
    let mut left = 1 + numbers.below((count(document) - 1).max(1));
    let others = other_values();
    let other = others.get(numbers.below(others.len() + 3));
    change(document, &mut left, other).unwrap()
}

/// Random documents, each broken once or twice, with what is made of them: the documents that became a plan, and how many
/// became none.
fn accepted(documents: &[Value], workspace: &Path) -> (Vec<Value>, usize) {
    let mut numbers = Numbers(17);
    let (mut accepted, mut refused) = (Vec::new(), 0);
    for _ in 0..1_500 {
        let mut document = broken(numbers.of(documents), &mut numbers);
        if numbers.below(3) == 0 {
            document = broken(&document, &mut numbers);
        }
        let made: Result<_, Vec<Finding>> = planned(document.to_string().as_bytes(), workspace);
        match made {
            Ok(_) => accepted.push(document),
            Err(_) => refused += 1,
        }
    }
    (accepted, refused)
}

fn workspace() -> Harness {
    let ours = Harness::new();
    std::fs::write(ours.workspace().join("a"), "one\ntwo\nthree\n").unwrap();
    std::fs::write(ours.workspace().join("b"), "four\n").unwrap();
    ours
}

#[test]
fn accepted_sarif_fixes_fit_the_schema() {
    let ours = workspace();
    let replaced = |file: &str, region: Value, text: &str| {
        json!({"artifactLocation": {"uri": file},
               "replacements": [{"deletedRegion": region, "insertedContent": {"text": text}}]})
    };
    let fix = |changes: Value| {
        json!({"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "t"}},
            "columnKind": "utf16CodeUnits", "results": [{"message": {"text": "m"}, "level": "error",
            "fixes": [{"description": {"text": "d"}, "artifactChanges": changes}]}]}]})
    };
    let documents = [
        fix(json!([replaced(
            "a",
            json!({"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 4}),
            "x"
        )])),
        fix(json!([
            replaced("a", json!({"startLine": 2}), "x"),
            replaced("b", json!({"byteOffset": 0, "byteLength": 4}), "")
        ])),
    ];
    let schema = published_sarif();
    assert!(documents.iter().all(|it| schema.is_valid(it)));
    let (accepted, refused) = accepted(&documents, &ours.workspace());
    assert!(accepted.len() > 100 && refused > 100, "{} {refused}", accepted.len());
    // What describes the analyser and its results in words does not reach the plan, so it is not checked.
    let in_fixes = |pointer: &str| pointer.contains("/fixes/") && !pointer.contains("/description");
    for document in accepted {
        let complaints: Vec<String> = schema
            .iter_errors(&document)
            .filter(|it| in_fixes(it.instance_path().as_str()))
            .map(|it| it.to_string())
            .collect();
        assert!(complaints.is_empty(), "{document}: {complaints:?}");
    }
}

/// Asks the library of the protocol's types about each document in the file `cases`. A field that is `null` counts as
/// absent, because many servers write it, and so does the version of a document, which they leave out.
const TYPES: &str = r#"
const { WorkspaceEdit, TextEdit } = require("vscode-languageserver-types");
const fs = require("fs");
const fits = edit => WorkspaceEdit.is(edit)
  && Object.values(edit.changes ?? {}).every(edits => Array.isArray(edits) && edits.every(TextEdit.is))
  && (edit.documentChanges ?? []).every(change => change.kind !== undefined || change.edits.every(TextEdit.is));
const absent = function (_, value) { return value === null && !Array.isArray(this) ? undefined : value; };
const cases = JSON.parse(fs.readFileSync("cases", "utf8"), absent);
const lists = cases.map(edit => edit.documentChanges).filter(Array.isArray);
for (const { textDocument } of lists.flat()) if (textDocument) textDocument.version ??= null;
const results = cases.map(edit => { try { return !!fits(edit); } catch { return false; } });
fs.writeFileSync("results", JSON.stringify(results));
"#;

#[test]
fn accepted_workspace_edits_fit_the_types() {
    let ours = workspace();
    let uri = |name: &str| format!("file://{}", ours.workspace().join(name).display());
    let edit = |line: u32, text: &str| {
        json!({"range": {"start": {"line": line, "character": 0}, "end": {"line": line, "character": 2}},
               "newText": text})
    };
    let document = |name: &str, edits: Value| json!({"textDocument": {"uri": uri(name), "version": 1}, "edits": edits});
    let documents = [
        json!({"changes": {uri("a"): [edit(0, "x"), edit(1, "")], uri("b"): [edit(0, "y")]}}),
        json!({"documentChanges": [document("a", json!([edit(0, "x")])), {"kind": "create", "uri": uri("c")},
            document("c", json!([{"range": {"start": {"line": 0, "character": 0},
                "end": {"line": 0, "character": 0}}, "newText": "z"}]))]}),
        json!({"documentChanges": [{"kind": "rename", "oldUri": uri("a"), "newUri": uri("d"),
            "options": {"overwrite": false}}, {"kind": "delete", "uri": uri("b")}]}),
    ];
    let (mut accepted, refused) = accepted(&documents, &ours.workspace());
    assert!(accepted.len() > 100 && refused > 100, "{} {refused}", accepted.len());
    accepted.extend(documents);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("cases"), json!(accepted).to_string()).unwrap();
    let results = by_editor_library(TYPES, folder.path());
    let results: Vec<bool> = serde_json::from_slice(&results).unwrap();
    assert_eq!(results.len(), accepted.len());
    for (document, fits) in accepted.iter().zip(results) {
        assert!(fits, "{document}");
    }
}
