//! Plan files that are no valid plan, through the real command (SPEC §1.4, §2, §11): what `check` and `run`
//! print, and that nothing runs.
//!
//! The exact findings are tested with `tests/fixtures/plans`.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::home::{Done, Home};
use crate::harness::tree;
use crate::harness::{create_file, read_file};

/// Long enough to read 16 MiB on a busy machine. A command that waits for a pipe would never end.
const PATIENCE: Duration = Duration::from_secs(60);

/// A home with one recorded run, so that a loss would show.
fn home() -> Home {
    let home = Home::new();
    home.write("a.txt", "a wombat\n");
    home.plan(json!([read_file("look", "a.txt"), create_file("make", "b.txt", "new\n")]));
    let _ = home.json(["run", "space/p.json", "--yes"]).exits(0);
    home
}

fn start(home: &Home, arguments: &[&str]) -> Child {
    let mut command = home.child(arguments.iter().copied());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Runs the command with a time limit.
fn in_time(home: &Home, arguments: &[&str]) -> Done {
    let mut child = start(home, arguments);
    let (sender, ended) = std::sync::mpsc::sync_channel(1);
    let (mut stdout, mut stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut texts = (String::new(), String::new());
            std::io::Read::read_to_string(&mut stdout, &mut texts.0).unwrap();
            std::io::Read::read_to_string(&mut stderr, &mut texts.1).unwrap();
            sender.send(texts).unwrap();
        });
        let texts = ended.recv_timeout(PATIENCE);
        if texts.is_err() {
            child.kill().unwrap();
        }
        let code = child.wait().unwrap().code();
        let (stdout, stderr) =
            texts.unwrap_or_else(|_| panic!("{arguments:?} was not done in {PATIENCE:?}"));
        Done { code: code.unwrap(), stdout, stderr }
    })
}

fn steps(steps: &Value) -> Vec<u8> {
    json!({"plan_id": "p", "intent": "MUTATE", "steps": steps}).to_string().into_bytes()
}

/// Asserts that `check` and `run` refuse `space/bad.json` with this code, these words and exit code 2, as
/// JSON and as text, and that nothing runs or is recorded.
fn assert_refused(home: &Home, what: &str, code: &str, words: &str) {
    let before = tree(&home.file(""));
    let head = home.json(["evidence", "verify"]).exits(0).document();
    assert_eq!(head["ok"], true);

    let checked = in_time(home, &["check", "space/bad.json", "--json"]).exits(2).document();
    assert_eq!(checked["valid"], false, "{what}");
    let ran = in_time(home, &["run", "space/bad.json", "--yes", "--json"]).exits(2);
    let error = ran.error_code();
    assert!(error == "E001" || error == code, "{what}: {error}");
    let error = &ran.document()["error"];
    for findings in [&checked["findings"], &error["details"]["findings"]] {
        let findings = findings.as_array().unwrap();
        let found = findings.iter().find(|it| it["code"] == code);
        let found = found.unwrap_or_else(|| panic!("{what}: no {code} in {findings:#?}"));
        assert_eq!(found["severity"], "error", "{what}");
        assert!(found["line"].as_u64() >= Some(1), "{what}: {found}");
        let message = found["message"].as_str().unwrap();
        assert!(message.contains(words), "{what}: {message}");
    }
    for arguments in [&["check", "space/bad.json"][..], &["run", "space/bad.json", "--yes"]] {
        let people = in_time(home, arguments).exits(2);
        let said = format!("{}{}", people.stdout, people.stderr);
        assert!(said.contains(code) && said.contains(words), "{what}: {people:#?}");
    }

    assert_eq!(tree(&home.file("")), before, "{what}: the workspace is as it was");
    assert_eq!(home.json(["evidence", "verify"]).exits(0).document(), head, "{what}");
    let found = home.json(["evidence", "search", "wombat"]).exits(0).lines();
    assert_eq!(found.len(), 1, "{what}: what was recorded before is still there");
}

/// A missing file, a folder, a pipe or a device is refused and not waited for.
#[test]
fn only_regular_files_are_read_as_plans() {
    let home = home();
    assert_refused(&home, "no file", "E010", "cannot read space/bad.json: No such file");
    fs::create_dir(home.file("bad.json")).unwrap();
    assert_refused(&home, "a folder", "E010", "is a folder; choose a plan file");
    fs::remove_dir(home.file("bad.json")).unwrap();
    #[cfg(unix)]
    {
        let bad = home.file("bad.json");
        std::os::unix::fs::symlink("bad.json", &bad).unwrap();
        assert_refused_without_tree(&home, "a link to itself", "cannot read space/bad.json");
        for device in ["/dev/zero", "/dev/full"] {
            fs::remove_file(&bad).unwrap();
            std::os::unix::fs::symlink(device, &bad).unwrap();
            assert_refused_without_tree(&home, device, "is no regular file; choose a plan file");
        }
        fs::remove_file(&bad).unwrap();
        fifo(&bad);
        assert_refused_without_tree(&home, "a pipe", "is no regular file; choose a plan file");
    }
}

/// As [`assert_refused`], for a file that the test cannot read either.
#[cfg(unix)]
fn assert_refused_without_tree(home: &Home, what: &str, words: &str) {
    for arguments in
        [&["check", "space/bad.json", "--json"][..], &["run", "space/bad.json", "--yes", "--json"]]
    {
        let done = in_time(home, arguments).exits(2).document();
        let findings = done.pointer("/error/details/findings").or(done.get("findings")).unwrap();
        assert_eq!(findings[0]["code"], "E010", "{what}");
        let message = findings[0]["message"].as_str().unwrap();
        assert!(message.contains(words), "{what}: {message}");
    }
    let report = home.json(["evidence", "verify"]).exits(0).document();
    assert_eq!(report["ok"], true, "{what}");
}

#[cfg(unix)]
fn fifo(path: &Path) {
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
}

/// An ordinary user is restricted by `chmod`; root first becomes one (`setpriv`).
#[cfg(unix)]
#[test]
fn unreadable_plan_is_refused() {
    use crate::harness::unprivileged::Unprivileged;
    let home = home();
    home.write("bad.json", steps(&json!([read_file("look", "a.txt")])));
    let user = Unprivileged::of(&home);
    user.forbid(&home.file("bad.json"), 0o000);
    for arguments in [&["check", "space/bad.json"][..], &["run", "space/bad.json", "--yes"]] {
        let done = user.json(arguments).exits(2).document();
        let findings = done.pointer("/error/details/findings").or(done.get("findings")).unwrap();
        assert_eq!(findings[0]["code"], "E010");
        let message = findings[0]["message"].as_str().unwrap();
        assert!(message.contains("cannot read space/bad.json: Permission denied"), "{message}");
    }
}

#[test]
fn bytes_that_are_no_plan_are_refused() {
    let look = || read_file("look", "a.txt");
    let mut nested = json!("deep");
    for _ in 0..40 {
        nested = json!([nested]);
    }
    let valid = String::from_utf8(steps(&json!([look()]))).unwrap();
    let utf16: Vec<u8> = valid.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let many: Vec<Value> = (0..10_001).map(|n| read_file(&format!("s{n}"), "a.txt")).collect();
    let long = "x".repeat((1 << 20) + 1);
    for (what, bytes, code, words) in [
        ("0 bytes", Vec::new(), "E010", "empty"),
        (
            "one byte too many",
            vec![b' '; (16 << 20) + 1],
            "E018",
            "more than 16777216 bytes, which is the limit",
        ),
        ("no UTF-8", b"{\"plan_id\": \"\xff\"}".to_vec(), "E010", "UTF-8"),
        ("UTF-16", utf16, "E010", ""),
        ("zeros", vec![0; 4096], "E010", ""),
        ("half a plan", valid.as_bytes()[..valid.len() / 2].to_vec(), "E010", ""),
        ("two plans", format!("{valid}{valid}").into_bytes(), "E010", ""),
        (
            "a duplicate key",
            valid.replacen('{', "{\"plan_id\": \"q\",", 1).into_bytes(),
            "E011",
            "plan_id",
        ),
        (
            "an unknown field",
            valid.replacen('{', "{\"requires_confirmation\": true,", 1).into_bytes(),
            "E012",
            "requires_confirmation",
        ),
        (
            "deep nesting",
            json!({"plan_id": "p", "steps": nested}).to_string().into_bytes(),
            "E018",
            "32",
        ),
        ("very deep nesting", "[".repeat(1 << 20).into_bytes(), "E018", "32"),
        ("10,001 steps", steps(&json!(many)), "E018", "10000"),
        (
            "an argument over 1 MiB",
            steps(&json!([create_file("make", "c.txt", &long)])),
            "E018",
            "the limit is 1048576",
        ),
        ("no steps", steps(&json!([])), "E013", "step"),
    ] {
        let home = home();
        home.write("bad.json", bytes);
        assert_refused(&home, what, code, words);
    }
}

#[test]
fn plan_changed_after_the_check_is_stale() {
    let home = home();
    let before =
        String::from_utf8(steps(&json!([create_file("make", "c.txt", "shown\n")]))).unwrap();
    home.write("p.json", &before);
    let digest = home.json(["check", "space/p.json"]).exits(0).document()["digest"].clone();
    let digest = digest.as_str().unwrap();
    let head = home.json(["evidence", "verify"]).exits(0).document();
    for changed in [before.replace("shown", "never shown"), format!("{before} "), String::new()] {
        home.write("p.json", &changed);
        let done = home.json(["run", "space/p.json", "--authorize", digest]).exits(3);
        assert_eq!(done.error_code(), "E004");
        assert_eq!(done.document()["error"]["details"]["changes"][0]["what"], "plan bytes");
        let people = home.run(["run", "space/p.json", "--authorize", digest]).exits(3);
        assert!(people.stderr.contains("authorize it again"), "{people:#?}");
    }
    fs::remove_file(home.file("p.json")).unwrap();
    let gone = home.json(["run", "space/p.json", "--authorize", digest]).exits(2);
    assert_eq!(gone.document()["error"]["details"]["findings"][0]["line"], 1);
    assert!(!home.file("c.txt").exists());
    assert_eq!(home.json(["evidence", "verify"]).exits(0).document(), head);
}

/// The plan's own first step overwrites the plan file, so the moment is certain.
#[test]
fn plan_changed_during_the_run_runs_as_approved() {
    let home = home();
    let other =
        String::from_utf8(steps(&json!([create_file("make", "c.txt", "other\n")]))).unwrap();
    let approved = steps(&json!([
        {"step_id": "swap", "tool": "file_write",
         "arguments": {"path": "p.json", "contents": other}},
        create_file("make", "c.txt", "approved\n"),
        read_file("look", "p.json"),
    ]));
    home.write("p.json", &approved);
    let digest = home.json(["check", "space/p.json"]).exits(0).document()["digest"].clone();
    let digest = digest.as_str().unwrap();
    let result = home.json(["run", "space/p.json", "--authorize", digest]).exits(0).document();
    assert_eq!(fs::read_to_string(home.file("c.txt")).unwrap(), "approved\n");
    assert_eq!(result["step_results"][2]["stdout"], other, "the file itself is the other plan");

    let run_id = result["run_id"].as_str().unwrap();
    let shown = home.json(["evidence", "show", run_id]).exits(0).document();
    assert_eq!(shown["run"]["plan_digest"], digest, "what ran is what the evidence keeps");
    assert_eq!(shown["executions"].as_array().unwrap().len(), 3);
    let again = home.json(["run", "space/p.json", "--authorize", digest]).exits(3);
    assert_eq!(again.error_code(), "E004", "the approval is not one of the other plan");
}
