//! Signatures with SSH keys (SPEC §14), with the `ssh-keygen` and `ssh-agent` of the system.

mod asked;
mod changes;
mod forged;
mod persons;
mod reasons;
mod refused;
mod run;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::harness::home::{Done, Home};
use crate::harness::{create_file, read_file};

/// The person of the settings.
const ADA: &str = "ada@example.org";
/// The passphrase of keys that have one.
const PASSPHRASE: &str = "kingfisherquartz";

/// Runs a program of the system with this input.
#[expect(clippy::disallowed_methods, reason = "asks the programs that others use")]
fn program(name: &str, arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(name)
        .args(arguments)
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    // A program that fails early does not read it.
    let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), input);
    child.wait_with_output().unwrap()
}

fn succeeds(name: &str, arguments: &[&str]) -> String {
    let output = program(name, arguments, b"");
    assert!(output.status.success(), "{name} {arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Makes a key with this passphrase in the home, and returns its path.
fn key(home: &Home, name: &str, passphrase: &str) -> PathBuf {
    let path = home.path().join(name);
    let shown = path.to_str().unwrap();
    succeeds("ssh-keygen", &["-q", "-t", "ed25519", "-N", passphrase, "-C", "", "-f", shown]);
    path
}

/// The public key, as lists of allowed signers have it.
fn public(key: &Path) -> String {
    let text = std::fs::read_to_string(key.with_extension("pub")).unwrap();
    text.trim().to_owned()
}

/// Writes a list of allowed signers, and returns its path.
fn allowed(home: &Home, lines: &[String]) -> String {
    let path = home.path().join("allowed_signers");
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    path.to_str().unwrap().to_owned()
}

/// Settings that sign these with this key.
fn settings(home: &Home, key: &Path, sign: &[&str]) {
    home.settings(format!(
        "[signatures]\nkey = {:?}\nprincipal = {ADA:?}\nsign = {sign:?}\nseconds = 20\n",
        key.to_str().unwrap()
    ));
}

/// A home with a plan that creates a file, and a key without a passphrase that signs all.
fn signing_home() -> (Home, PathBuf) {
    let home = Home::new();
    home.write("a.txt", "a\n");
    home.plan(json!([read_file("look", "a.txt"), create_file("make", "new.txt", "new\n")]));
    let key = key(&home, "id", "");
    settings(&home, &key, &["authorizations", "run_ends", "heads"]);
    (home, key)
}

fn run(home: &Home) -> Done {
    home.json(["run", "space/p.json", "--yes", "--confirm", "approve"])
}

/// Asserts that nothing of the plan ran, and that nothing of its approval is recorded.
fn nothing_ran(home: &Home, done: &Done) {
    assert_eq!((done.code, done.error_code().as_str()), (3, "E002"), "{done:?}");
    assert!(!home.file("new.txt").exists());
    for table in ["authorizations", "decisions", "plans", "runs", "signatures", "blobs"] {
        let sql = format!("SELECT count(*) || '' FROM {table}");
        assert_eq!(home.texts(&sql, ()), ["0"], "{table}");
    }
    assert!(home.json(["evidence", "verify"]).exits(0).document()["ok"].as_bool().unwrap());
}

/// What `evidence verify-signature` says of this, with its exit code.
fn verified(home: &Home, subject: &str, signers: &str, more: &[&str]) -> (i32, Value) {
    let line = ["evidence", "verify-signature", subject, "--allowed-signers", signers];
    let done = home.json(line.iter().chain(more).copied());
    assert!(matches!(done.code, 0 | 6), "{done:?}");
    (done.code, done.document())
}

/// The kinds and states of all signatures of this document.
fn states(document: &Value) -> Vec<(&str, &str)> {
    let signatures = document["signatures"].as_array().unwrap().iter();
    signatures.map(|it| (it["kind"].as_str().unwrap(), it["state"].as_str().unwrap())).collect()
}

/// Unpacks the case file of a run, and returns the folder.
fn case(home: &Home, run_id: &str) -> PathBuf {
    let file = home.path().join("case.zip");
    let (zip, folder) = (file.to_str().unwrap().to_owned(), home.path().join("case"));
    home.json(["evidence", "case", run_id, "--out", &zip, "--force"]).exits(0);
    let shown = folder.to_str().unwrap().to_owned();
    let _ = std::fs::remove_dir_all(&folder);
    succeeds("python3", &["-m", "zipfile", "-e", &zip, &shown]);
    folder
}

/// The documents in a case file with their signatures, by name.
fn signed(case: &Path) -> Vec<(String, Vec<u8>, String)> {
    let mut names: Vec<_> = std::fs::read_dir(case.join("signatures"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|it| it == "json"))
        .collect();
    names.sort();
    let read = |path: &PathBuf| {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let signature = std::fs::read_to_string(path.with_extension("sig")).unwrap();
        (name, std::fs::read(path).unwrap(), signature)
    };
    names.iter().map(read).collect()
}
