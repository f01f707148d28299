//! `lsp_check` in a run: its diagnostics in result, events and evidence, and a stop during it (SPEC §3, §4,
//! §8).

use std::fs::{self, OpenOptions};
use std::thread;

use countersign::evidence::{EvidenceReader, Range};
use countersign::run::{
    AnsweredBy, Control, DiagnosticArtifact, Level, RunEvent, StepState, Stream,
};
use serde_json::{Value, json};

use crate::harness::home::{Done, Home};
use crate::harness::{Harness, plan, step, write_file};

const MANIFEST: &str = "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
const FAULTY: &str = "pub fn f() -> u8 {\n    absent\n}\n";

fn check(id: &str, path: &str) -> Value {
    step(id, "lsp_check", json!({ "path": path }))
}

fn app(source: &str) -> Harness {
    Harness::with(&[("Cargo.toml", MANIFEST), ("src/lib.rs", source)])
}

fn errors(diagnostics: &[DiagnosticArtifact]) -> Vec<(Option<&str>, &str, i64)> {
    let errors = diagnostics.iter().filter(|it| it.level == Level::Error);
    errors.map(|it| (it.code.as_deref(), it.file_name.as_str(), it.line_start)).collect()
}

/// Result, events and evidence have the errors.
#[test]
fn check_errors_end_the_run_and_are_recorded() {
    let harness = app(FAULTY);
    let ran = harness.run(&plan([check("check", "."), write_file("never", "a", "1")]));
    assert_eq!(ran.words(), (vec!["failed"], "failed"));
    assert_eq!(ran.codes(), [Some("E304")]);
    let result = &ran.result().step_results[0];
    let wanted = [(Some("E0425"), "src/lib.rs", 2)];
    assert_eq!(errors(&result.diagnostic_artifacts), wanted);
    assert_eq!(result.exit_code, Some(101));
    assert!(result.stdout.as_ref().unwrap().contains("\"reason\":\"build-finished\""));
    assert!(result.stderr.as_ref().unwrap().contains("could not compile `app`"));
    let message = result.error_message.as_ref().unwrap();
    assert!(message.starts_with("cargo check reported 1 error: error[E0425]: "), "{message}");

    // The streamed output equals the recorded output.
    let streamed = |wanted: Stream| -> String {
        let events = ran.callbacks.events();
        let chunk = |event: &RunEvent| match event {
            RunEvent::StepOutput { stream, chunk, .. } if *stream == wanted => chunk.clone(),
            _ => String::new(),
        };
        events.iter().map(chunk).collect()
    };
    assert_eq!(Some(streamed(Stream::Stdout)), result.stdout);
    assert_eq!(Some(streamed(Stream::Stderr)), result.stderr);

    // The replayed run is equal, and queries find its codes and files.
    let replayed = harness.replayed(ran.result().run_id);
    let StepState::Done(again) = &replayed.steps[0] else { panic!("{replayed:?}") };
    assert_eq!(**again, *result);
    assert!(!again.diagnostic_artifacts[0].spans.is_empty());
    assert_eq!(harness.count("SELECT count(*) FROM intents", []), 1, "announced before it ran");
    let key = harness.workspace().parent().unwrap().join("key");
    let mut reader = EvidenceReader::open(&harness.evidence(), &key).unwrap();
    let id = result.execution_id;
    let found = reader.q3("E0425", Range::default()).unwrap();
    assert_eq!(found.iter().map(|it| it.row.execution_id).collect::<Vec<_>>(), [id]);
    let files = reader.q4("src/lib.rs", Range::default()).unwrap();
    assert_eq!(files.len(), 1, "the file with the error is linked");
    let recurring = reader.q7(1, Range::default()).unwrap();
    let recurring = recurring.iter().find(|it| it.code == "E0425").unwrap();
    assert_eq!((recurring.file_name.as_str(), recurring.count), ("src/lib.rs", 1));
    let edges = harness
        .texts("SELECT edge_type || ' ' || target_kind || ' ' || target FROM edges ORDER BY 1", []);
    assert_eq!(
        edges,
        ["EXECUTED_ON file .", "PRODUCED diagnostic E0425", "REFERENCED file src/lib.rs"]
    );
    let kept: Value = serde_json::from_str(
        &harness.texts(
            "SELECT content_json FROM execution_artifacts WHERE artifact_type = 'result'",
            [],
        )[0],
    )
    .unwrap();
    assert_eq!((&kept["errors"], &kept["exit_code"]), (&json!(1), &json!(101)));
}

/// The write makes the second check succeed, and the evidence links it to the first.
#[test]
fn write_between_two_checks_is_recorded() {
    let harness = app(FAULTY);
    let ran = harness.run(&plan([check("before", ".")]));
    assert_eq!(ran.codes(), [Some("E304")]);
    harness.clock.advance(1_000);
    let fix = write_file("fix", "src/lib.rs", "pub fn f() -> u8 {\n    1\n}\n");
    let ran = harness.run(&plan([fix, check("after", "src/lib.rs")]));
    assert_eq!(ran.words(), (vec!["succeeded", "succeeded"], "completed"));
    assert!(ran.result().step_results[1].diagnostic_artifacts.is_empty());
    let key = harness.workspace().parent().unwrap().join("key");
    let mut reader = EvidenceReader::open(&harness.evidence(), &key).unwrap();
    let later = reader.q8("E0425", None, Range::default()).unwrap();
    let fixed = ran.result().step_results[0].execution_id;
    assert_eq!(later.iter().map(|it| it.listed.row.execution_id).collect::<Vec<_>>(), [fixed]);
}

#[test]
fn stop_does_not_wait_for_a_check() {
    let harness = app("");
    let made = assert_cmd::Command::new("mkfifo").arg(harness.path("fifo")).output().unwrap();
    assert!(made.status.success());
    let script = format!("fn main() {{ std::fs::read({:?}).unwrap(); }}", harness.path("fifo"));
    harness.put("build.rs", script);
    let approved = harness.authorize(&plan([check("check", "."), write_file("never", "a", "1")]));
    let control = harness.control.clone();
    let fifo = harness.path("fifo");
    let (ran, pipe) = thread::scope(|scope| {
        let person = scope.spawn(move || {
            // Opening returns once the build script opens the pipe. Its read blocks while this side is open.
            let pipe = OpenOptions::new().write(true).open(fifo).unwrap();
            control.request(Control::StopNow, AnsweredBy::Test);
            pipe
        });
        (harness.execute(approved), person.join().unwrap())
    });
    drop(pipe);
    assert_eq!(ran.words(), (vec!["cancelled"], "cancelled"));
    assert_eq!(ran.codes(), [Some("E307")]);
    assert_eq!(harness.texts("SELECT outcome FROM executions", []), ["cancelled"]);
    assert!(harness.content("a").is_none());
}

#[test]
fn missing_cargo_is_reported() {
    let home = Home::new();
    home.write("Cargo.toml", MANIFEST);
    home.plan(json!([check("check", ".")]));
    let empty = home.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let run = |path: &std::path::Path| {
        let mut command = home.command();
        command.env("PATH", path).args(["run", "space/p.json", "--yes", "--json", "--evidence"]);
        Done::of(command.arg(home.evidence()))
    };
    let document = run(&empty).exits(1).document();
    let result = &document["step_results"][0];
    assert_eq!(result["error_code"], "E304");
    assert_eq!(result["error_message"], "cargo is not on PATH");
    assert_eq!(result["next"], "Install cargo, or add its folder to PATH.");
    assert!(result["exit_code"].is_null());

    // A file of this name that cannot be executed: the error of the system is reported.
    let broken = empty.join("cargo");
    fs::write(&broken, "#!/no/such/interpreter\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&broken, mode).unwrap();
    let document = run(&empty).exits(1).document();
    let message = document["step_results"][0]["error_message"].as_str().unwrap();
    assert!(message.starts_with("cannot start cargo: No such file"), "{message}");
}
