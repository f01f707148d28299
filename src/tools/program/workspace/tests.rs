//! Commands of small workspaces, run by the real shell.

use serde_json::json;

use super::*;
use crate::plan::{Build, Code};
use crate::run::{DiagnosticArtifact, Level};
use crate::tools::Invocation;
use crate::tools::program::tests::Bench;
use crate::workspace::Overlay;

/// A workspace with these commands, trusted by a person.
fn trusted(text: &str) -> Bench {
    let mut bench = Bench::with(&[(FILE, text)]);
    bench.tools.trusted.insert(Digest::of(text.as_bytes()));
    bench
}

fn verify(scope: VerifyScope) -> ToolCall {
    ToolCall::Verify { scope }
}

fn error(invocation: &Invocation) -> (Code, String) {
    let error = invocation.error.as_ref().expect("it fails");
    assert!(!error.next().is_empty());
    (error.code(), error.to_string())
}

fn places(said: &[DiagnosticArtifact]) -> Vec<(Level, &str, i64, &str)> {
    said.iter()
        .map(|it| (it.level, it.file_name.as_str(), it.line_start, it.message.as_str()))
        .collect()
}

#[test]
fn untrusted_commands_are_not_run() {
    let mut bench = Bench::with(&[(FILE, "[verify.local]\ncommand = \"touch done\"\n")]);
    let (invocation, printed) = bench.call(&verify(VerifyScope::Local));
    let (code, message) = error(&invocation);
    assert_eq!(code, Code::NotAuthorized);
    assert!(
        message.contains("the commands of countersign.toml are not trusted (sha256:"),
        "{message}"
    );
    assert_eq!(printed, [String::new(), String::new()]);
    // Trust covers exact bytes.
    bench.tools.trusted.insert(Digest::of(b"[verify.local]\ncommand = \"touch done\""));
    assert_eq!(error(&bench.call(&verify(VerifyScope::Local)).0).0, Code::NotAuthorized);
    assert_eq!(bench.names(), [FILE]);
    let file = bench.tools.workspace_commands().unwrap().unwrap();
    bench.tools.trusted.insert(file.digest);
    assert!(bench.call(&verify(VerifyScope::Local)).0.error.is_none());
    assert_eq!(bench.names(), [FILE, "done"]);
}

#[test]
fn faulty_commands_file_is_an_error() {
    let bench = trusted("[verify.locl]\ncommand = \"touch done\"\n");
    bench.put("Cargo.toml", "[package]\nname = \"a\"\n");
    let (code, message) = error(&bench.call(&verify(VerifyScope::Local)).0);
    assert_eq!(code, Code::BadValue);
    assert!(message.contains("countersign.toml:1:9: there is no \"locl\" here"), "{message}");
    let call = verify(VerifyScope::Local);
    assert!(bench.tools.preview(&call, Overlay::nothing()).unwrap().would_fail());
    bench.put(FILE, &format!("#{}", "x".repeat(64 << 10)));
    assert_eq!(error(&bench.call(&call).0).0, Code::ReadFailed);
}

#[test]
fn matched_error_fails_a_successful_command() {
    let bench = trusted(
        "[verify.local]\ncommand = \"printf 'a.c:2:1: error: wrong\\\\na.c:3:1: warning: odd\\\\n' >&2\"\n\
         matcher = \"gnu\"\n[test]\ncommand = \"touch tested\"\n",
    );
    bench.put("a.c", "");
    let (invocation, [_, stderr]) = bench.call(&verify(VerifyScope::Full));
    let (code, message) = error(&invocation);
    assert_eq!(code, Code::CargoCheck);
    assert_eq!(message, "the verify command reported 1 error: error: wrong (a.c:2)");
    let told = [(Level::Error, "a.c", 2, "wrong"), (Level::Warning, "a.c", 3, "odd")];
    assert_eq!(places(&invocation.diagnostics), told);
    assert!(stderr.contains("a.c:3:1: warning: odd"), "and is printed as it is");
    assert_eq!(invocation.result["by"], "countersign.toml");
    assert_eq!(invocation.exit_code, Some(0), "though it says that all is well");
    assert!(!bench.path("tested").exists(), "nothing follows a failure");
}

// Without a command `verify.full`.
#[test]
fn full_verify_defaults_to_local_and_tests() {
    let bench =
        trusted("[verify.local]\ncommand = \"echo one\"\n[test]\ncommand = \"echo two; exit 3\"\n");
    let (invocation, [stdout, _]) = bench.call(&verify(VerifyScope::Full));
    assert_eq!(stdout, "one\ntwo\n");
    let (code, message) = error(&invocation);
    assert_eq!((code, invocation.exit_code), (Code::CargoCheck, Some(3)));
    assert_eq!(message, "echo two; exit 3 ended with exit code 3\ntwo");
    let bench = trusted("[verify.full]\ncommand = \"echo all\"\n");
    assert_eq!(bench.call(&verify(VerifyScope::Full)).1[0], "all\n");
    // Without such a command cargo is used, and there is no project here.
    assert_eq!(error(&bench.call(&verify(VerifyScope::Local)).0).0, Code::NoCargoProject);
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
    let bench = trusted(text);
    bench.put("a.c", "");
    bench.put("out.sarif", &log("of long ago"));
    assert!(bench.call(&verify(VerifyScope::Local)).0.error.is_none());
    bench.put("next", &log("of today"));
    let (invocation, _) = bench.call(&verify(VerifyScope::Local));
    assert_eq!(places(&invocation.diagnostics), [(Level::Error, "a.c", 4, "of today")]);
    bench.put("next", "no log at all");
    let (code, message) = error(&bench.call(&verify(VerifyScope::Local)).0);
    assert_eq!(code, Code::CargoCheck);
    assert!(message.contains("left no SARIF in out.sarif: expected ident"), "{message}");

    let bench = trusted("[verify.local]\ncommand = \"cat log\"\nmatcher = \"sarif\"\n");
    bench.put("log", &log("printed"));
    let (invocation, _) = bench.call(&verify(VerifyScope::Local));
    assert_eq!(invocation.diagnostics[0].message, "printed");
}

#[test]
fn build_and_run_commands_get_their_options() {
    let bench = trusted(
        "[build]\ncommand = 'echo \"$COUNTERSIGN_OPT_LEVEL/$COUNTERSIGN_ENTRY/$COUNTERSIGN_DEBUG_SYMBOLS\"'\n\
         [run]\ncommand = 'printf \"<%s>\" \"$@\"; exit 4'\n",
    );
    let build = Build { entry_function: Some("app".to_owned()), ..Build::default() };
    let args = vec!["a b".to_owned(), "$(touch x)".to_owned()];
    let run = ToolCall::Run { build: build.clone(), args: args.clone() };
    let (invocation, [stdout, _]) = bench.call(&run);
    assert_eq!(stdout, "O0/app/0\n<a b><$(touch x)>");
    assert_eq!(
        error(&invocation),
        (Code::CommandFailed, "the program ended with exit code 4".to_owned())
    );
    assert_eq!(invocation.result["commands"].as_array().unwrap().len(), 2);
    let (invocation, [stdout, _]) = bench.call(&ToolCall::Compile { build: build.clone() });
    assert!(invocation.error.is_none());
    assert_eq!(stdout, "O0/app/0\n");
    assert_eq!(bench.names(), [FILE], "no shell reads the arguments");
    let preview = bench.tools.preview(&run, Overlay::nothing()).unwrap();
    assert!(preview.summary.starts_with("Runs `echo "), "{preview:?}");
    assert!(
        preview
            .notes
            .iter()
            .any(|note| note.starts_with("build of countersign.toml: time limit 10 minutes")),
        "{preview:?}"
    );

    let bench = trusted("[run]\ncommand = \"true\"\n");
    let (code, message) = error(&bench.call(&ToolCall::Run { build, args }).0);
    assert_eq!(code, Code::BadArgument);
    assert!(message.contains("takes no arguments"), "{message}");
}

#[test]
fn timeout_ends_the_command() {
    let bench = trusted("[verify.local]\ncommand = \"read -r line < pipe\"\ntimeout_seconds = 1\n");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, bench.path("pipe"), rustix::fs::FileType::Fifo, mode, 0)
        .unwrap();
    let (code, message) = error(&bench.call(&verify(VerifyScope::Local)).0);
    assert_eq!(code, Code::TimedOut);
    assert_eq!(message, "the verify command was still running after 1 second and was ended");
}

#[test]
fn commands_file_is_an_approved_input() {
    let bench = Bench::with(&[]);
    let call = verify(VerifyScope::Local);
    let inputs = bench.tools.inputs(&call).unwrap();
    assert_eq!(
        inputs.get(FILE),
        Some(&FileState::Absent),
        "one that comes later would change what runs"
    );
    bench.put(FILE, "x");
    let state = FileState::Content(Digest::of(b"x"));
    assert_eq!(bench.tools.inputs(&call).unwrap().get(FILE), Some(&state));
}
