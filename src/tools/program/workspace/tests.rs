//! Commands of small workspaces, run by the real shell.

use serde_json::json;

use super::*;
use crate::plan::{Build, Code};
use crate::run::{DiagnosticArtifact, Level};
use crate::tools::CallResult;
use crate::tools::program::tests::Fixture;
use crate::workspace::Overlay;

/// A workspace with these commands, trusted by a person.
fn trusted(text: &str) -> Fixture {
    let mut fixture = Fixture::with(&[(FILE, text)]);
    fixture.tools.trusted.insert(Digest::of(text.as_bytes()));
    fixture
}

fn verify(scope: VerifyScope) -> ToolCall {
    ToolCall::Verify { scope }
}

fn error(call_result: &CallResult) -> (Code, String) {
    let error = call_result.error.as_ref().expect("it fails");
    assert!(!error.next().is_empty());
    (error.code(), error.to_string())
}

fn rows(diagnostics: &[DiagnosticArtifact]) -> Vec<(Level, &str, i64, &str)> {
    diagnostics
        .iter()
        .map(|it| (it.level, it.file_name.as_str(), it.line_start, it.message.as_str()))
        .collect()
}

#[test]
fn untrusted_commands_are_not_run() {
    let mut fixture = Fixture::with(&[(FILE, "[verify.local]\ncommand = \"touch done\"\n")]);
    let (call_result, printed) = fixture.call(&verify(VerifyScope::Local));
    let (code, message) = error(&call_result);
    assert_eq!(code, Code::NotAuthorized);
    assert!(
        message.contains("the commands of countersign.toml are not trusted (sha256:"),
        "{message}"
    );
    assert_eq!(printed, [String::new(), String::new()]);
    // Trust covers exact bytes.
    fixture.tools.trusted.insert(Digest::of(b"[verify.local]\ncommand = \"touch done\""));
    assert_eq!(error(&fixture.call(&verify(VerifyScope::Local)).0).0, Code::NotAuthorized);
    assert_eq!(fixture.names(), [FILE]);
    let file = fixture.tools.workspace_commands().unwrap().unwrap();
    fixture.tools.trusted.insert(file.digest);
    assert!(fixture.call(&verify(VerifyScope::Local)).0.error.is_none());
    assert_eq!(fixture.names(), [FILE, "done"]);
}

#[test]
fn faulty_commands_file_is_an_error() {
    let fixture = trusted("[verify.locl]\ncommand = \"touch done\"\n");
    fixture.put("Cargo.toml", "[package]\nname = \"a\"\n");
    let (code, message) = error(&fixture.call(&verify(VerifyScope::Local)).0);
    assert_eq!(code, Code::BadValue);
    assert!(message.contains("countersign.toml:1:9: there is no \"locl\" here"), "{message}");
    let call = verify(VerifyScope::Local);
    assert!(fixture.tools.preview(&call, Overlay::empty()).unwrap().would_fail());
    fixture.put(FILE, &format!("#{}", "x".repeat(64 << 10)));
    assert_eq!(error(&fixture.call(&call).0).0, Code::ReadFailed);
}

#[test]
fn matched_error_fails_a_successful_command() {
    let fixture = trusted(
        "[verify.local]\ncommand = \"printf 'a.c:2:1: error: wrong\\\\na.c:3:1: warning: odd\\\\n' >&2\"\n\
         matcher = \"gnu\"\n[test]\ncommand = \"touch tested\"\n",
    );
    fixture.put("a.c", "");
    let (call_result, [_, stderr]) = fixture.call(&verify(VerifyScope::Full));
    let (code, message) = error(&call_result);
    assert_eq!(code, Code::CargoCheck);
    assert_eq!(message, "the verify command reported 1 error: error: wrong (a.c:2)");
    let expected = [(Level::Error, "a.c", 2, "wrong"), (Level::Warning, "a.c", 3, "odd")];
    assert_eq!(rows(&call_result.diagnostics), expected);
    assert!(stderr.contains("a.c:3:1: warning: odd"), "and is printed as it is");
    assert_eq!(call_result.result["by"], "countersign.toml");
    assert_eq!(call_result.exit_code, Some(0), "though it says that all is well");
    assert!(!fixture.path("tested").exists(), "nothing follows a failure");
}

// Without a command `verify.full` the commands `verify.local` and `test` run.
#[test]
fn full_verify_defaults_to_local_and_tests() {
    let fixture =
        trusted("[verify.local]\ncommand = \"echo one\"\n[test]\ncommand = \"echo two; exit 3\"\n");
    let (call_result, [stdout, _]) = fixture.call(&verify(VerifyScope::Full));
    assert_eq!(stdout, "one\ntwo\n");
    let (code, message) = error(&call_result);
    assert_eq!((code, call_result.exit_code), (Code::CargoCheck, Some(3)));
    assert_eq!(message, "echo two; exit 3 ended with exit code 3\ntwo");
    let fixture = trusted("[verify.full]\ncommand = \"echo all\"\n");
    assert_eq!(fixture.call(&verify(VerifyScope::Full)).1[0], "all\n");
    // Without a command for a local verification cargo is used, and there is no Cargo project here.
    assert_eq!(error(&fixture.call(&verify(VerifyScope::Local)).0).0, Code::NoCargoProject);
}

#[test]
fn only_a_newly_written_report_counts() {
    let log = |message: &str| {
        json!({ "runs": [{ "results": [{ "level": "error", "message": { "text": message },
            "locations": [{ "physicalLocation": { "artifactLocation": { "uri": "a.c" },
                "region": { "startLine": 4 } } }] }] }] })
        .to_string()
    };
    let text = "[verify.local]\ncommand = \"if test -f next; then cp next out.sarif; fi\"\n\
                matcher = { sarif = \"out.sarif\" }\n";
    let fixture = trusted(text);
    fixture.put("a.c", "");
    fixture.put("out.sarif", &log("of long ago"));
    let preview = fixture.tools.preview(&verify(VerifyScope::Local), Overlay::empty()).unwrap();
    let is_named = |note: &String| note.contains("its diagnostics are read from out.sarif");
    assert!(preview.notes.iter().any(is_named), "{preview:?}");
    assert!(fixture.call(&verify(VerifyScope::Local)).0.error.is_none());
    fixture.put("next", &log("of today"));
    let (call_result, _) = fixture.call(&verify(VerifyScope::Local));
    assert_eq!(rows(&call_result.diagnostics), [(Level::Error, "a.c", 4, "of today")]);
    fixture.put("next", "no log at all");
    let (code, message) = error(&fixture.call(&verify(VerifyScope::Local)).0);
    assert_eq!(code, Code::CargoCheck);
    assert!(message.contains("left no SARIF in out.sarif"), "{message}");

    let fixture = trusted("[verify.local]\ncommand = \"cat log\"\nmatcher = \"sarif\"\n");
    fixture.put("log", &log("printed"));
    let (call_result, _) = fixture.call(&verify(VerifyScope::Local));
    assert_eq!(call_result.diagnostics[0].message, "printed");
}

#[test]
fn build_and_run_commands_get_their_options() {
    let fixture = trusted(
        "[build]\ncommand = 'echo \"$COUNTERSIGN_OPT_LEVEL/$COUNTERSIGN_ENTRY/$COUNTERSIGN_DEBUG_SYMBOLS\"'\n\
         [run]\ncommand = 'printf \"<%s>\" \"$@\"; exit 4'\n",
    );
    let build = Build { entry_function: Some("app".to_owned()), ..Build::default() };
    let args = vec!["a b".to_owned(), "$(touch x)".to_owned()];
    let run = ToolCall::Run { build: build.clone(), args: args.clone() };
    let (call_result, [stdout, _]) = fixture.call(&run);
    assert_eq!(stdout, "O0/app/0\n<a b><$(touch x)>");
    assert_eq!(
        error(&call_result),
        (Code::CommandFailed, "the program ended with exit code 4".to_owned())
    );
    assert_eq!(call_result.result["commands"].as_array().unwrap().len(), 2);
    let (call_result, [stdout, _]) = fixture.call(&ToolCall::Compile { build: build.clone() });
    assert!(call_result.error.is_none());
    assert_eq!(stdout, "O0/app/0\n");
    assert_eq!(fixture.names(), [FILE], "no shell reads the arguments");
    let preview = fixture.tools.preview(&run, Overlay::empty()).unwrap();
    assert!(preview.summary.starts_with("Runs `echo "), "{preview:?}");
    assert!(
        preview
            .notes
            .iter()
            .any(|note| note.starts_with("build of countersign.toml: time limit 10 minutes")),
        "{preview:?}"
    );

    let fixture = trusted("[run]\ncommand = \"true\"\n");
    let run = ToolCall::Run { build: build.clone(), args };
    let (code, message) = error(&fixture.call(&run).0);
    assert_eq!(code, Code::BadArgument);
    assert!(message.contains("takes no arguments"), "{message}");
    let preview = fixture.tools.preview(&run, Overlay::empty()).unwrap();
    assert!(preview.would_fail(), "{preview:?}");
    assert!(preview.summary.contains("takes no arguments"), "{preview:?}");
    let run = ToolCall::Run { build, args: Vec::new() };
    assert!(!fixture.tools.preview(&run, Overlay::empty()).unwrap().would_fail());
}

#[test]
fn timeout_ends_the_command() {
    let fixture =
        trusted("[verify.local]\ncommand = \"read -r line < pipe\"\ntimeout_seconds = 1\n");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, fixture.path("pipe"), rustix::fs::FileType::Fifo, mode, 0)
        .unwrap();
    let (code, message) = error(&fixture.call(&verify(VerifyScope::Local)).0);
    assert_eq!(code, Code::TimedOut);
    assert_eq!(message, "the verify command was still running after 1 second and was ended");
}

#[test]
fn commands_file_is_an_approved_input() {
    let fixture = Fixture::with(&[]);
    let call = verify(VerifyScope::Local);
    let inputs = fixture.tools.inputs(&call).unwrap();
    assert_eq!(
        inputs.get(FILE),
        Some(&FileState::Absent),
        "one that comes later would change what runs"
    );
    fixture.put(FILE, "x");
    let state = FileState::Content(Digest::of(b"x"));
    assert_eq!(fixture.tools.inputs(&call).unwrap().get(FILE), Some(&state));
}
