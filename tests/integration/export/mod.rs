//! Evidence that leaves the machine: each export is read by something that was not written here (SPEC §14).

mod asciicast;
#[cfg(target_os = "linux")]
mod browser;
mod case;
mod corrupted;
mod files;
mod forged;
mod formats;
mod pictures;
mod proof;
mod selection;

use std::path::Path;

use assert_cmd::Command;
use serde_json::{Value, json};

use crate::harness::home::{Done, Home};
use crate::harness::{and, asking, create_file, read_file, write_file};

/// A secret in the clear, which must not leave the machine.
const SECRET: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
/// Text that must be escaped, defused or made visible.
const HOSTILE: &str =
    "<script>alert('x')</script> & \"quoted\" ]]> \u{1b}[31m \u{202e}hidden\n=1+1\n";

/// A home with the files that [`first_run`] reads and writes.
fn home() -> Home {
    let home = Home::new();
    home.write("a.txt", "a wombat lives here\n");
    home
}

/// Runs a plan with a success, hostile text, a change, a skipped step and a failure. Returns its result.
fn first_run(home: &Home) -> Value {
    home.plan(json!([
        and(read_file("look", "a.txt"), "reason", "See what is <there>."),
        create_file("make", "b.txt", HOSTILE),
        create_file("formula", "=cmd.txt", "one\ntwo\n"),
        write_file("write", "=cmd.txt", "one\nthree\n"),
        asking(write_file("ask", "a.txt", "nothing\n")),
        read_file("miss", "absent.txt"),
        read_file("never", "a.txt"),
    ]));
    home.json(["run", "space/p.json", "--yes", "--confirm", "skip"]).exits(1).document()
}

/// Runs a plan whose file contains a secret, and commands. Returns the results of both.
fn further_runs(home: &Home) -> [Value; 2] {
    home.plan(json!([create_file("keep", "secret.txt", &format!("token = \"{SECRET}\"\n"))]));
    let secret = home.json(["run", "space/p.json", "--yes"]).exits(0).document();
    let steps = json!([
        { "id": "many", "command": "seq 1 20000" },
        { "id": "colour", "command": "printf '\\033[31mquokka\\033[0m\\n'; echo oops >&2; exit 3" },
    ]);
    let plan = json!({ "id": "commands", "goal": "Try commands", "steps": steps });
    home.write("p.json", plan.to_string());
    let line = ["run", "space/p.json", "--yes", "--confirm", "approve"];
    [secret, home.json(line).exits(1).document()]
}

fn run_id(result: &Value) -> &str {
    result["run_id"].as_str().unwrap()
}

/// Exports to stdout.
fn exported(home: &Home, format: &str, more: &[&str]) -> String {
    let line = ["evidence", "export", "--format", format].into_iter().chain(more.iter().copied());
    home.run(line).exits(0).stdout
}

/// Writes the case file of a run to the home.
fn case_file(home: &Home, run_id: &str, name: &str) -> std::path::PathBuf {
    let path = home.path().join(name);
    let shown = path.to_str().unwrap();
    let document = home.json(["evidence", "case", run_id, "--out", shown]).exits(0).document();
    assert_eq!((&document["file"], &document["runs"]), (&json!(shown), &json!(1)));
    assert_eq!(document["bytes"], path.metadata().unwrap().len());
    path
}

/// The verifier that is in the repository.
fn verifier() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/verifier/verify.py")
}

/// Runs Python with these arguments.
fn python<'a>(arguments: impl IntoIterator<Item = &'a Path>) -> Done {
    Done::of(Command::new("python3").arg("-B").args(arguments))
}

/// What the verifier says of this path, with its exit code.
fn verified(path: &Path) -> (i32, String) {
    let done = python([verifier().as_path(), path]);
    (done.code, done.stdout)
}
