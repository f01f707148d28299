//! The commands of `countersign.toml`: for any language, and only where a person trusts them (SPEC §2, §9,
//! §11).

use std::fs;

use countersign::evidence::TrustDecision;
use countersign::plan::{Digest, parse};
use countersign::run::{AnsweredBy, Decision, Level};
use serde_json::{Value, json};

use crate::harness::actions;
use crate::harness::home::{Home, keys};
use crate::harness::{Harness, NOW_MS};

const FILE: &str = "countersign.toml";

fn verify() -> Value {
    actions([("verify", json!({}))])
}

/// Records a decision about the file in its present state.
fn decide(harness: &mut Harness, trusted: bool) {
    let digest = Digest::of(harness.content(FILE).unwrap().as_bytes());
    let workspace = fs::canonicalize(harness.workspace()).unwrap();
    let mut store = harness.store();
    store
        .record_trust(&TrustDecision {
            workspace: workspace.to_str().unwrap(),
            digest,
            trusted,
            shown: None,
            by: AnsweredBy::Test,
            timestamp_ms: NOW_MS,
        })
        .unwrap();
    harness.policy.trusted_commands = store.trusted_commands().unwrap();
}

fn trusted(files: &[(&str, &str)]) -> Harness {
    let mut harness = Harness::with(files);
    decide(&mut harness, true);
    harness
}

/// Fails with advice where a program that the tests need is missing.
fn needs(program: &str) {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let there = std::env::split_paths(&paths).any(|folder| folder.join(program).is_file());
    assert!(there, "this test needs {program}, which is not on PATH");
}

/// The commands of the project verify, build and run it.
#[test]
fn c_project_uses_its_own_commands() {
    needs("make");
    needs("gcc");
    let faulty = "#include <stdio.h>\nint main(int argc, char **argv) {\n    return absent;\n}\n";
    let harness = trusted(&[
        (
            FILE,
            "[verify.local]\ncommand = \"make check\"\nmatcher = \"gnu\"\n[build]\ncommand = \"make app\"\n\
            matcher = \"gnu\"\n[run]\ncommand = './app \"$@\"'\n",
        ),
        ("Makefile", "check:\n\tgcc -Wall -fsyntax-only app.c\napp: app.c\n\tgcc -o app app.c\n"),
        ("app.c", faulty),
    ]);
    let ran = harness.run(&verify());
    assert_eq!((ran.words(), ran.codes()), ((vec!["failed"], "failed"), vec![Some("E304")]));
    let result = &ran.result().step_results[0];
    let errors = result.diagnostic_artifacts.iter().filter(|it| it.level == Level::Error);
    let errors: Vec<_> = errors.map(|it| (it.file_name.as_str(), it.line_start)).collect();
    assert_eq!(errors, [("app.c", 3)], "{:?}", result.diagnostic_artifacts);
    assert!(result.stderr.as_ref().unwrap().contains("absent"));
    assert_eq!(harness.texts("SELECT DISTINCT file_name FROM diagnostics", []), ["app.c"]);

    harness.put("app.c", "#include <stdio.h>\nint main(int c, char **v) { printf(\"%s\\n\", v[1]); return c - 2; }\n");
    let ran = harness.run(&actions([
        ("verify", json!({})),
        ("compile", json!({})),
        ("run", json!({ "args": ["two words"] })),
    ]));
    assert_eq!(ran.words(), (vec!["succeeded"; 3], "completed"));
    assert_eq!(
        ran.result().step_results[2].stdout.as_deref().unwrap().lines().last(),
        Some("two words")
    );
}

#[test]
fn python_project_uses_its_own_tests() {
    needs("python3");
    let wrong = "import unittest\nclass T(unittest.TestCase):\n    def test_sum(self):\n        self.assertEqual(1 + 1, 3)\n";
    let harness = trusted(&[
        (
            FILE,
            "[test]\ncommand = \"python3 -m unittest test_app\"\nmatcher = { pattern = \
            '^(?<severity>FAIL|ERROR): (?<message>.+)$' }\n",
        ),
        ("test_app.py", wrong),
    ]);
    let full = actions([("verify", json!({ "scope": "full" }))]);
    let ran = harness.run(&full);
    assert_eq!(ran.codes(), [Some("E304")]);
    let said = &ran.result().step_results[0].diagnostic_artifacts;
    let [said] = &said[..] else { panic!("{said:?}") };
    assert_eq!((said.level, said.tool_level.as_str()), (Level::Error, "FAIL"));
    assert!(said.message.starts_with("test_sum (test_app.T"), "{said:?}");
    // Of another length: python takes what it compiled in the same second for that of a file of this length.
    harness.put("test_app.py", wrong.replace('3', "1 + 1"));
    assert_eq!(harness.run(&full).words(), (vec!["succeeded"], "completed"));
}

#[test]
fn commands_changed_after_approval_void_it() {
    let text = "[verify.local]\ncommand = \"touch done\"\n";
    let mut harness = trusted(&[(FILE, text)]);
    let approved = harness.authorize(&verify());
    harness.put(FILE, text.replace("done", "other"));
    // Even where the new commands are trusted: they are not the approved ones.
    decide(&mut harness, true);
    let ran = harness.execute(approved);
    assert_eq!(ran.refusal(), "E004");
    assert!(ran.outcome.unwrap_err().to_string().contains("countersign.toml"));

    // A file of commands that appears later voids the approval of a plan that cargo would have verified.
    let harness = Harness::with(&[("Cargo.toml", "[package]\nname = \"a\"\n"), ("src/lib.rs", "")]);
    let approved = harness.authorize(&verify());
    harness.put(FILE, text);
    assert_eq!(harness.execute(approved).refusal(), "E004");
    assert_eq!(harness.content("done"), None);
}

#[test]
fn revoked_trust_voids_the_approval() {
    let mut harness = trusted(&[(FILE, "[verify.local]\ncommand = \"touch done\"\n")]);
    let approved = harness.authorize(&verify());
    decide(&mut harness, false);
    assert_eq!(harness.execute(approved).refusal(), "E002");
    assert_eq!(harness.content("done"), None);
    let decisions = harness.texts("SELECT decision FROM decisions WHERE run_id IS NULL AND decision LIKE 'commands%' ORDER BY id", []);
    assert_eq!(decisions, ["commands_trusted", "commands_revoked"]);
    decide(&mut harness, true);
    assert_eq!(harness.run(&verify()).words(), (vec!["succeeded"], "completed"));
}

/// The confirmation shows them.
#[test]
fn commands_written_by_the_run_do_not_run() {
    let main = "fn main() { std::fs::write(\"countersign.toml\", \
                \"[verify.local]\\ncommand = \\\"touch done\\\"\\n\").unwrap(); }";
    let manifest = "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    let mut harness = Harness::with(&[("Cargo.toml", manifest), ("src/main.rs", main)]);
    // Behind walls the program could not write that file.
    harness.policy.walls = countersign::risk::WallSetting::Off;
    let ran = harness.run(&actions([("run", json!({})), ("verify", json!({}))]));
    assert_eq!(ran.words(), (vec!["succeeded", "failed"], "failed"));
    assert_eq!(ran.codes(), [None, Some("E002")]);
    let asked = ran.callbacks.confirmation_requests();
    let [_, asked] = &asked[..] else { panic!("{asked:?}") };
    assert!(
        asked.why.contains("changed files that your authorization covers: countersign.toml"),
        "{}",
        asked.why
    );
    assert!(asked.preview.summary.contains("touch done"), "{:?}", asked.preview);
    assert_eq!(harness.content("done"), None);
}

#[test]
fn dangerous_commands_ask_blocked_commands_never_run() {
    let harness = trusted(&[(FILE, "[verify.local]\ncommand = \"rm -rf build/*\"\n")])
        .answering(|_| Decision::Cancel);
    let ran = harness.run(&verify());
    assert_eq!(ran.words(), (vec!["denied"], "failed"));
    let asked = ran.callbacks.confirmation_requests();
    assert!(asked[0].risk.reason.starts_with("verify.local of countersign.toml: "), "{asked:?}");

    let harness = trusted(&[(FILE, "[verify.local]\ncommand = \"rm -rf /\"\n")]);
    assert_eq!(harness.run(&verify()).refusal(), "E001");
}

#[test]
fn the_command_line_shows_trusts_and_revokes() {
    let home = Home::new();
    let text = "[verify.local]\ncommand = \"touch done\"\n[build]\ncommand = \"make\"\ntimeout_seconds = 5\n";
    home.write(FILE, text);
    home.write("p.json", verify().to_string());
    let check = |code| home.json(["check", "space/p.json"]).exits(code).document();
    let document = check(2);
    assert_eq!(document["valid"], false);
    let commands = &document["workspace_commands"];
    assert_eq!(keys(commands), ["commands", "digest", "faults", "trusted"]);
    let digest = Digest::of(text.as_bytes()).to_string();
    assert_eq!((&commands["digest"], &commands["trusted"]), (&json!(digest), &json!(false)));
    let first = &commands["commands"][0];
    assert_eq!(keys(first), ["command", "matcher", "name", "risk", "steps", "timeout_seconds"]);
    assert_eq!((&first["command"], &first["steps"]), (&json!("touch done"), &json!([0])));
    assert_eq!(commands["commands"][1]["steps"], json!([]));
    let [finding] = &document["findings"].as_array().unwrap()[..] else { panic!("{document}") };
    assert_eq!((&finding["code"], &finding["severity"]), (&json!("E002"), &json!("error")));
    let people = home.run(["check", "space/p.json"]).exits(2).stdout;
    assert!(people.contains("verify.local (caution): touch done"), "{people}");
    assert!(people.contains(&format!("run --trust-commands {digest}")), "{people}");

    // Authorizing the plan does not trust the commands.
    assert_eq!(home.json(["run", "space/p.json", "--yes"]).exits(3).error_code(), "E002");
    let other = Digest::of(b"other").to_string();
    let run =
        |digest: &str| home.json(["run", "space/p.json", "--yes", "--trust-commands", digest]);
    assert_eq!(run(&other).exits(3).error_code(), "E004");
    assert!(!home.file("done").exists());
    assert_eq!(run(&digest).exits(0).document()["status"], "completed");
    assert!(home.file("done").exists());
    assert_eq!(check(0)["workspace_commands"]["trusted"], true);
    home.json(["run", "space/p.json", "--yes"]).exits(0);

    // Trust belongs to a content: another content asks again, the former one does not.
    home.write(FILE, format!("{text}# more\n"));
    assert_eq!(check(2)["workspace_commands"]["trusted"], false);
    home.write(FILE, text);
    let revoke = ["check", "space/p.json", "--revoke-commands", &digest];
    let document = home.json(revoke).exits(2).document();
    assert_eq!(document["workspace_commands"]["trusted"], false);
    assert_eq!(home.json(["run", "space/p.json", "--yes"]).exits(3).error_code(), "E002");
    home.json(["evidence", "verify"]).exits(0);

    // Every fault is a finding of the plan that uses the file, and a faulty file cannot be trusted.
    home.write(FILE, "[verify.local]\ncomand = \"x\"\n");
    let document = check(2);
    assert_eq!(document["findings"][0]["code"], "E014");
    let faults = document["workspace_commands"]["faults"].as_array().unwrap();
    assert_eq!(faults.len(), 2, "{faults:?}");
    let digest = document["workspace_commands"]["digest"].as_str().unwrap();
    assert_eq!(run(digest).exits(2).error_code(), "E001");
    assert!(parse(verify().to_string().as_bytes()).findings.is_empty());
}

#[test]
fn loop_verifies_by_commands_once_trusted() {
    let home = Home::new();
    home.write(FILE, "[verify.local]\ncommand = \"touch verified\"\n");
    fs::create_dir(home.path().join("plans")).unwrap();
    let edits = json!({ "edits": [{ "op": "create", "path": "a.txt", "contents": "a" }] });
    let plan = actions([("mutate_batch", edits)]).to_string();
    fs::write(home.path().join("plans/1.json"), plan).unwrap();
    let replay = |code| {
        let looped = [
            "loop",
            "--goal",
            "make a",
            "--planner",
            "replay:plans",
            "--yes",
            "--workspace",
            "space",
        ];
        home.json(looped).exits(code).document()
    };
    // The loop ends before the first attempt, because its verification cannot succeed.
    let document = replay(3);
    assert_eq!(document["stop_reason"]["code"], "not_authorized", "{document:#}");
    let message = document["stop_reason"]["message"].as_str().unwrap();
    assert!(message.contains("countersign.toml, which are not trusted"), "{message}");
    assert!(!home.file("a.txt").exists() && !home.file("verified").exists());

    home.write("p.json", verify().to_string());
    let digest = Digest::of(&fs::read(home.file(FILE)).unwrap()).to_string();
    home.json(["run", "space/p.json", "--yes", "--trust-commands", &digest]).exits(0);
    fs::remove_file(home.file("verified")).unwrap();
    let document = replay(0);
    assert_eq!(document["stop_reason"]["code"], "completed", "{document:#}");
    assert!(home.file("verified").exists());
}
