//! Suggestions of the compiler, fixes of an analyser, and edits of language servers, made by their own programs and as
//! plans.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::numbers::Numbers;
use super::planned;
use crate::harness::agents::{installed, node_modules};
use crate::harness::{Harness, tree};

/// The output of a program in a folder.
#[expect(clippy::disallowed_methods, reason = "it is what the plans are compared with")]
fn output(program: &Path, arguments: &[&str], folder: &Path) -> Vec<u8> {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    let done = command.env_remove("CARGO_TARGET_DIR").output().unwrap();
    // Analysers and the compiler report what they found by their exit status.
    let stderr = String::from_utf8_lossy(&done.stderr);
    assert!(matches!(done.status.code(), Some(0 | 1 | 101)), "{arguments:?}\n{stderr}");
    done.stdout
}

fn run(ours: &Harness, bytes: &[u8]) {
    let plan = planned(bytes, &ours.workspace()).unwrap();
    let finished = ours.execute(ours.approve_now(&plan));
    assert_eq!(finished.words().1, "completed", "{:?}", finished.codes());
}

/// Every fix of Ruff's SARIF is made as `ruff --fix` makes it.
#[test]
fn fixes_are_made_as_by_ruff() {
    let ruff = installed("COUNTERSIGN_READERS", "readers/bin/python").with_file_name("ruff");
    let rules = ["check", "--isolated", "--no-cache", "--select", "F401,F541,E713"];
    let with = |more: &[&'static str]| [&rules[..], more].concat();
    let lines = [
        "import os\n",
        "x = f\"äö\"\n",
        "y = not x in [1]\n",
        "z = 1\n",
        "if not x in y and f\"b\": pass\n",
    ];
    let mut numbers = Numbers(9);
    for _ in 0..20 {
        let (ours, by_ruff) = (Harness::new(), tempfile::tempdir().unwrap());
        for name in ["a.py", "b c.py"] {
            let text: String = (0..12).map(|_| *numbers.of(&lines)).collect();
            // The import must be used nowhere, and once.
            let text = format!("import os\n{}", text.replace("import os\n", "z = f\"\"\n"));
            fs::write(ours.workspace().join(name), &text).unwrap();
            fs::write(by_ruff.path().join(name), &text).unwrap();
        }
        let sarif = output(&ruff, &with(&["--output-format", "sarif"]), &ours.workspace());
        let _ = output(&ruff, &with(&["--fix", "--quiet"]), by_ruff.path());
        run(&ours, &sarif);
        assert_eq!(tree(&ours.workspace()), tree(by_ruff.path()));
    }
}

/// Every suggestion that can be applied as it is changes the files as `cargo fix` does.
#[test]
fn suggestions_are_applied_as_by_cargo_fix() {
    let (ours, by_cargo) = (Harness::new(), tempfile::tempdir().unwrap());
    let manifest =
        "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n";
    let lib = "use std::fmt;\nuse std::io::{Read, Write};\n\npub fn f() -> i32 {\n    let mut ä = 1;\n    return (ä);\n}\n\
               pub fn g(w: &mut dyn Write) { let mut b = [0; 2]; let _ = (w.write(&b), if (true) { 1 } else { 2 }); }\n";
    for folder in [ours.workspace(), by_cargo.path().to_owned()] {
        fs::create_dir_all(folder.join("src")).unwrap();
        fs::write(folder.join("Cargo.toml"), manifest).unwrap();
        fs::write(folder.join("src/lib.rs"), lib).unwrap();
    }
    let messages = output(
        Path::new("cargo"),
        &["check", "--offline", "--message-format=json"],
        &ours.workspace(),
    );
    let _ = output(
        Path::new("cargo"),
        &["fix", "--offline", "--allow-no-vcs", "--lib"],
        by_cargo.path(),
    );
    run(&ours, &messages);
    let read = |folder: &Path| fs::read_to_string(folder.join("src/lib.rs")).unwrap();
    assert_eq!(read(&ours.workspace()), read(by_cargo.path()));
    assert!(!read(by_cargo.path()).contains("mut ä"));
}

/// What a script writes to the file `results` in a folder, with the libraries for editors that `packaging/test.sh` installs.
pub fn by_editor_library(script: &str, folder: &Path) -> Vec<u8> {
    std::os::unix::fs::symlink(node_modules(), folder.join("node_modules")).unwrap();
    let _ = output(Path::new("node"), &["-e", script], folder);
    fs::read(folder.join("results")).unwrap()
}

/// Applies each case of the file `cases`, as an editor does.
const EDITOR: &str = r#"
const { TextDocument } = require("vscode-languageserver-textdocument");
const cases = JSON.parse(require("fs").readFileSync("cases", "utf8"));
const results = cases.map(({ text, edits }) => {
  try {
    const result = TextDocument.applyEdits(TextDocument.create("file:///a", "x", 1, text), edits);
    encodeURIComponent(result); // An edit in the middle of a character leaves no text.
    return result;
  } catch { return null; }
});
require("fs").writeFileSync("results", JSON.stringify(results));
"#;

/// Where a plan is made of the edits of a language server, an editor makes the same text of them.
#[test]
fn edits_are_made_as_by_an_editor() {
    let folder = tempfile::tempdir().unwrap();
    let (mut numbers, pieces) = (Numbers(4), ["a", "😀", "é", "\n", "\r\n", "xyz", " "]);
    let cases: Vec<(String, Value)> = (0..400)
        .map(|_| {
            let text: String = (0..numbers.below(25)).map(|_| *numbers.of(&pieces)).collect();
            let edits: Vec<Value> = (0..1 + numbers.below(3))
                .map(|_| {
                    let (line, character) = (numbers.below(4), numbers.below(6));
                    let end = (line + numbers.below(2), character + numbers.below(3));
                    let position =
                        |(line, character)| json!({"line": line, "character": character});
                    let range = json!({"start": position((line, character)), "end": position(end)});
                    json!({"range": range, "newText": numbers.of(&pieces)})
                })
                .collect();
            (text, Value::Array(edits))
        })
        .collect();
    let written: Vec<Value> =
        cases.iter().map(|(text, edits)| json!({"text": text, "edits": edits})).collect();
    fs::write(folder.path().join("cases"), Value::Array(written).to_string()).unwrap();
    let results = by_editor_library(EDITOR, folder.path());
    let results: Vec<Option<String>> = serde_json::from_slice(&results).unwrap();
    let (ours, mut accepted) = (Harness::new(), 0);
    let path = ours.workspace().join("a");
    for ((text, edits), by_editor) in cases.iter().zip(results) {
        fs::write(&path, text).unwrap();
        let uri = format!("file://{}", path.display());
        let edit = json!({"changes": {uri: edits}}).to_string();
        let Ok(plan) = planned(edit.as_bytes(), &ours.workspace()) else { continue };
        let finished = ours.execute(ours.approve_now(&plan));
        assert_eq!(finished.words().1, "completed", "{:?}\n{text:?} {edits}", finished.codes());
        assert_eq!(Some(fs::read_to_string(&path).unwrap()), by_editor, "{text:?} {edits}");
        accepted += 1;
    }
    assert!(accepted > 40, "{accepted}");
}
