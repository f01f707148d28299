//! `verify`, `compile` and `run` with the real cargo: approval, confirmations, output and records (SPEC §2, §3,
//! §9).

use countersign::run::{AnsweredBy, Control, Decision, RunEvent, RunState, Stream};
use serde_json::{Value, json};

use crate::harness::{Harness, actions};

const MANIFEST: &str = "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
const FAULTY: &str = "pub fn f() -> u8 {\n    absent\n}\n";

fn app(files: &[(&str, &str)]) -> Harness {
    let harness = Harness::with(&[("Cargo.toml", MANIFEST)]);
    files.iter().for_each(|(path, content)| harness.put(path, content));
    harness
}

/// The result artifacts of the steps, in order.
fn results(harness: &Harness) -> Vec<Value> {
    let sql = "SELECT a.content_json FROM execution_artifacts AS a
               JOIN executions AS x ON x.id = a.execution_id
               WHERE a.artifact_type = 'result' ORDER BY x.timestamp, x.rowid";
    let texts = harness.texts(sql, []);
    texts.iter().map(|text| serde_json::from_str(text).unwrap()).collect()
}

/// Result, events and evidence agree.
#[test]
fn verify_compile_and_run_are_recorded() {
    let main = "fn main() { println!(\"{:?}\", std::env::args().skip(1).collect::<Vec<_>>()); }";
    let harness = app(&[("src/main.rs", main)]);
    let plan = actions([
        ("verify", json!({ "scope": "full" })),
        ("compile", json!({ "opt_level": "O1", "entry_function": "app" })),
        ("run", json!({ "args": ["one", "two words"] })),
    ]);
    let ran = harness.run(&plan);
    assert_eq!(ran.words(), (vec!["succeeded"; 3], "completed"));
    let [verify, _, run] = &ran.result().step_results[..] else { panic!("three steps") };
    assert!(verify.stdout.as_ref().unwrap().contains("test result: ok"));
    assert_eq!(run.stdout.as_deref(), Some("[\"one\", \"two words\"]\n"));
    let streamed: String = ran
        .callbacks
        .events()
        .iter()
        .filter_map(|event| match event {
            RunEvent::StepOutput { step_id, stream: Stream::Stdout, chunk } => {
                (step_id == "action_2").then(|| chunk.clone())
            }
            _ => None,
        })
        .collect();
    assert_eq!(Some(streamed), run.stdout);
    let kept = results(&harness);
    assert_eq!(kept[0]["passed"], true);
    assert_eq!(kept[1]["opt_level"], "O1");
    assert_eq!(kept[2]["args"], json!(["one", "two words"]));
    let state: RunState = harness.replayed(ran.result().run_id);
    assert_eq!(state.steps.len(), 3);
    // Each may have an effect, so each has an intent.
    assert_eq!(harness.count("SELECT count(*) FROM intents", []), 3);
}

#[test]
fn failed_verify_ends_run_with_diagnostics() {
    let harness = app(&[("src/lib.rs", FAULTY)]);
    let ran = harness.run(&actions([("verify", json!({})), ("inspect", json!({}))]));
    assert_eq!(ran.words(), (vec!["failed"], "failed"));
    assert_eq!(ran.codes(), [Some("E304")]);
    let sql = "SELECT file_name FROM diagnostics WHERE code = 'E0425'";
    assert_eq!(harness.texts(sql, []), ["src/lib.rs"]);
    assert_eq!(results(&harness)[0]["passed"], false);
}

#[test]
fn missing_verification_command_is_reported() {
    let harness = Harness::with(&[("notes.md", "")]);
    let ran = harness.run(&actions([("verify", json!({}))]));
    assert_eq!(ran.codes(), [Some("E102")]);
}

#[test]
fn file_changed_by_program_is_shown_again() {
    let main = "fn main() { std::fs::write(\"notes.txt\", \"by the program\").unwrap(); }";
    let write = json!({ "edits": [{ "op": "write", "path": "notes.txt", "contents": "after" }] });
    let plan = actions([("run", json!({})), ("mutate_batch", write)]);
    for (decision, content) in [(Decision::Approve, "after"), (Decision::Cancel, "by the program")]
    {
        let harness = app(&[("src/main.rs", main), ("notes.txt", "before")]);
        let harness = harness.answering(move |_| decision);
        let ran = harness.run(&plan);
        let asked = ran.callbacks.confirmation_requests();
        let [asked] = &asked[..] else { panic!("{asked:?}") };
        assert_eq!(asked.step_id, "action_1");
        assert!(
            asked.why.contains("changed files that your authorization covers: notes.txt"),
            "{}",
            asked.why
        );
        assert_eq!(harness.content("notes.txt").as_deref(), Some(content));
    }
}

#[test]
fn stop_ends_program_and_cancels_run() {
    let main = "fn main() { println!(\"here\"); loop { std::thread::park() } }";
    let harness = app(&[("src/main.rs", main)]);
    let control = harness.control.clone();
    let harness = harness.on_event(move |event| {
        if matches!(event, RunEvent::StepOutput { chunk, .. } if chunk.contains("here")) {
            control.request(Control::StopNow, AnsweredBy::Test);
        }
    });
    let ran = harness.run(&actions([("run", json!({})), ("verify", json!({}))]));
    assert_eq!(ran.words(), (vec!["cancelled"], "cancelled"));
    assert_eq!(ran.codes(), [Some("E307")]);
}
