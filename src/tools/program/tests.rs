//! Real cargo on small projects without dependencies, and so without a network.

mod ends;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use tempfile::TempDir;
use uuid::Uuid;

use serde_json::{Value, json};

use super::*;
use crate::authorization::FileState;
use crate::plan::{Build, Code, OptLevel, VerifyScope};
use crate::process::Capture;
use crate::run::{Level, Predicted, StopSignal, Stream};
use crate::workspace::Overlay;

/// A workspace, and its tools.
pub(super) struct Fixture {
    folder: TempDir,
    pub(super) tools: Toolbox,
    stop: StopSignal,
}

/// Keeps all captured output.
#[derive(Default)]
struct Kept(RefCell<[Vec<u8>; 2]>);

impl Capture for Kept {
    fn keep(&self, stream: Stream, bytes: &[u8]) -> bool {
        self.0.borrow_mut()[usize::from(stream == Stream::Stderr)].extend_from_slice(bytes);
        true
    }

    fn quiet(&self, _: Duration) {}
}

impl Fixture {
    pub(super) fn with(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let tools = Toolbox::open(folder.path(), &crate::risk::Policy::default()).unwrap();
        let fixture = Self { folder, tools, stop: StopSignal::default() };
        files.iter().for_each(|(path, content)| fixture.put(path, content));
        fixture
    }

    pub(super) fn put(&self, path: &str, content: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// The result and the output: stdout, then stderr. Checks that the streamed and the captured output are equal.
    pub(super) fn call(&self, call: &ToolCall) -> (CallResult, [String; 2]) {
        static NOTHING: BTreeMap<String, FileState> = BTreeMap::new();
        let printed = RefCell::new([String::new(), String::new()]);
        let kept = Kept::default();
        let call_result = self.tools.invoke(
            call,
            &Context {
                expected: &NOTHING,
                stop: &self.stop,
                execution_id: Uuid::nil(),
                output: &|stream, text| {
                    printed.borrow_mut()[usize::from(stream == Stream::Stderr)].push_str(text);
                },
                capture: &kept,
                walls: crate::authorization::StepWalls::NONE,
                terminal: None,
            },
        );
        let printed = printed.into_inner();
        let kept = kept.0.into_inner().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        assert_eq!(printed, kept);
        if let Some(ends) = &call_result.captured {
            assert_eq!(ends.each_ref().map(|ends| ends.excerpt().text), printed);
        }
        (call_result, printed)
    }

    fn verify(&self, scope: VerifyScope) -> (CallResult, [String; 2]) {
        self.call(&ToolCall::Verify { scope })
    }

    fn run(&self, entry: Option<&str>, args: &[&str]) -> (CallResult, [String; 2]) {
        let build = Build { entry_function: entry.map(str::to_owned), ..Build::default() };
        self.call(&ToolCall::Run { build, args: args.iter().map(|it| (*it).to_owned()).collect() })
    }

    pub(super) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

const MANIFEST: &str = "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
/// A program that prints its arguments and its folder, and exits with the code in its first argument.
const MAIN: &str = r#"fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    println!("{args:?} {}", cfg!(debug_assertions));
    eprintln!("in {}", std::env::current_dir().unwrap().display());
    let code = args.first().and_then(|arg| arg.strip_prefix("exit=")).map(|it| it.parse().unwrap());
    std::process::exit(code.unwrap_or(0));
}
"#;

fn app(files: &[(&str, &str)]) -> Fixture {
    let fixture = Fixture::with(&[("Cargo.toml", MANIFEST)]);
    files.iter().for_each(|(path, content)| fixture.put(path, content));
    fixture
}

fn error(call_result: &CallResult) -> (Code, String) {
    let error = call_result.error.as_ref().expect("it fails");
    assert!(!error.next().is_empty());
    (error.code(), error.to_string())
}

fn succeeds(call_result: &CallResult) {
    assert!(call_result.error.is_none(), "{:?}", call_result.error);
    assert_eq!(call_result.exit_code, Some(0));
}

#[test]
fn verify_reads_diagnostics_and_prints_rendered_text() {
    let fixture = app(&[("src/lib.rs", "pub fn f() -> u8 {\n    absent\n}\n")]);
    let (call_result, [stdout, stderr]) = fixture.verify(VerifyScope::Local);
    let (code, message) = error(&call_result);
    assert_eq!(code, Code::CargoCheck);
    assert!(message.starts_with("cargo check reported 1 error: error[E0425]: "), "{message}");
    let diagnostic = &call_result.diagnostics[0];
    assert_eq!((diagnostic.file_name.as_str(), diagnostic.line_start), ("src/lib.rs", 2));
    assert_eq!(stdout, "", "messages for programs are not for people");
    assert!(stderr.contains("error[E0425]: cannot find value `absent`"), "{stderr}");
    assert!(stderr.contains("could not compile `app`"), "{stderr}");
    let result = &call_result.result;
    assert_eq!((&result["passed"], &result["errors"]), (&false.into(), &1.into()));
    assert_eq!(result["commands"][0]["command"], "cargo check --message-format=json");
    assert_eq!(result["commands"][0]["exit_code"], 101);
    assert_eq!(result["new_errors"], Value::Null, "nothing was known before");

    // A second check in the same run reports only new errors as new.
    fixture.put("src/lib.rs", "\n\npub fn f() -> u8 {\n    absent\n}\npub fn g() -> Missing {}\n");
    let (call_result, _) = fixture.verify(VerifyScope::Local);
    let new = call_result.result["new_errors"].as_array().unwrap();
    let [new] = &new[..] else { panic!("{new:?}") };
    assert!(new.as_str().unwrap().contains("Missing"), "{new}");

    fixture.put("src/lib.rs", "pub fn f() {\n    let unused = 1;\n}\n");
    let (call_result, _) = fixture.verify(VerifyScope::Local);
    succeeds(&call_result);
    assert_eq!(call_result.diagnostics[0].level, Level::Warning);
    assert_eq!(call_result.result["passed"], true);
    assert_eq!(call_result.result["new_errors"], json!([]));
}

#[test]
fn full_verify_reports_failed_tests_of_all_packages() {
    let lib =
        "#[test]\nfn fine() {}\n#[test]\nfn wrong() {\n    assert_eq!(1 + 1, 3, \"so much\");\n}\n";
    let fixture = app(&[
        ("src/lib.rs", "//! ```\n//! panic!(\"in the page\");\n//! ```\npub fn f() {}\n"),
        ("one/src/lib.rs", lib),
        ("one/Cargo.toml", &MANIFEST.replace("app", "one")),
    ]);
    fixture.put("Cargo.toml", &format!("{MANIFEST}[workspace]\nmembers = [\"one\"]\n"));
    let (local, _) = fixture.verify(VerifyScope::Local);
    succeeds(&local);
    let (full, [stdout, _]) = fixture.verify(VerifyScope::Full);
    let (code, message) = error(&full);
    assert_eq!(code, Code::CargoCheck);
    assert!(message.starts_with("cargo test reported 2 errors, the first: "), "{message}");
    assert!(stdout.contains("test wrong ... FAILED"), "{stdout}");
    let at = |name: &str| {
        let mut found = full.diagnostics.iter().filter(|it| it.message.contains(name));
        let it = found.next().unwrap_or_else(|| panic!("{:?}", full.diagnostics));
        (it.file_name.clone(), it.line_start, it.message.clone())
    };
    let (file, line, message) = at("the test wrong failed");
    assert_eq!((file.as_str(), line), ("one/src/lib.rs", 5));
    assert!(message.contains("so much") && message.contains("left: 2"), "{message}");
    assert!(at("src/lib.rs - (line 1)").2.contains("failed"), "of the documentation, too");
    let commands = full.result["commands"].as_array().unwrap();
    assert_eq!(commands[1]["command"], "cargo test --workspace --no-fail-fast");
    assert_eq!(full.exit_code, Some(101));

    fixture.put("one/src/lib.rs", "#[test]\nfn fine() {}\n");
    fixture.put("src/lib.rs", "");
    let (full, _) = fixture.verify(VerifyScope::Full);
    succeeds(&full);

    // cargo reports an error in test code for each target; it is listed once, and no test runs.
    fixture.put("one/src/lib.rs", "pub fn f() -> u8 { absent }\n");
    let (full, _) = fixture.verify(VerifyScope::Full);
    assert_eq!(full.result["commands"].as_array().unwrap().len(), 1);
    assert_eq!(full.result["errors"], 1, "{:?}", full.diagnostics);
}

#[test]
fn build_uses_the_requested_options() {
    let fixture = app(&[
        ("src/lib.rs", ""),
        ("src/main.rs", MAIN),
        ("examples/show.rs", "fn main() { println!(\"shown\"); }"),
    ]);
    let compile = |build: Build| fixture.call(&ToolCall::Compile { build });
    let (all, [stdout, stderr]) = compile(Build::default());
    succeeds(&all);
    assert_eq!(stdout, "");
    assert!(stderr.contains("Compiling app"), "{stderr}");
    let command = "cargo build --message-format=json --config profile.dev.opt-level=0 \
        --config profile.dev.debug=false";
    assert_eq!(all.result["commands"][0]["command"], command);
    assert_eq!(all.result["programs"].as_array().unwrap().len(), 1);
    assert!(fixture.path("target/debug/app").is_file());

    let build = Build {
        opt_level: OptLevel::O2,
        entry_function: Some("show".to_owned()),
        target_triple: None,
        debug_symbols: true,
    };
    let (one, _) = compile(build.clone());
    succeeds(&one);
    let command = "cargo build --message-format=json --config profile.dev.opt-level=2 \
        --config profile.dev.debug=true --example show";
    assert_eq!(one.result["commands"][0]["command"], command);
    assert_eq!(one.result["entry"], "show");
    assert!(fixture.path("target/debug/examples/show").is_file());

    let (other, _) = compile(Build { entry_function: Some("nobody".to_owned()), ..build.clone() });
    let (code, message) = error(&other);
    assert_eq!(code, Code::FileNotFound);
    assert_eq!(message, "no binary or example is named \"nobody\"; available: app, show");
    assert!(other.captured.is_none(), "nothing was built");

    let (other, _) = compile(Build { target_triple: Some("no-such-triple".to_owned()), ..build });
    let (code, message) = error(&other);
    assert_eq!(code, Code::CargoCheck);
    assert!(message.contains("no-such-triple"), "{message}");
}

#[test]
fn program_gets_its_arguments_without_a_shell() {
    let fixture = app(&[("src/main.rs", MAIN), ("src/bin/other.rs", "fn main() {}")]);
    // Two binaries without a default.
    let (call_result, _) = fixture.run(None, &[]);
    let (code, message) = error(&call_result);
    assert_eq!(code, Code::FileNotFound);
    assert_eq!(message, "no default binary is set; available: app, other");

    fixture.put("Cargo.toml", &format!("{MANIFEST}default-run = \"app\"\n"));
    let (call_result, [stdout, stderr]) = fixture.run(None, &["a b", "$HOME; exit 3"]);
    succeeds(&call_result);
    assert_eq!(stdout, "[\"a b\", \"$HOME; exit 3\"] true\n", "and nothing that cargo printed");
    let folder = fixture.folder.path().canonicalize().unwrap();
    assert!(stderr.contains(&format!("in {}", folder.display())), "{stderr}");
    assert_eq!(call_result.result["args"], json!(["a b", "$HOME; exit 3"]));
    assert_eq!(call_result.result["commands"].as_array().unwrap().len(), 2);
    assert!(call_result.result["program"].as_str().unwrap().ends_with("target/debug/app"));

    let (call_result, _) = fixture.run(Some("app"), &["exit=7"]);
    let expected = (Code::CommandFailed, "the program ended with exit code 7".to_owned());
    assert_eq!(error(&call_result), expected);
    assert_eq!(call_result.exit_code, Some(7));

    fixture.put("src/main.rs", "fn main() { absent() }");
    let (call_result, _) = fixture.run(Some("app"), &[]);
    assert_eq!(error(&call_result).0, Code::CargoCheck);
    assert_eq!(call_result.result["commands"].as_array().unwrap().len(), 1, "nothing was run");
}

#[test]
fn program_of_any_package_is_found() {
    let fixture = Fixture::with(&[
        (
            "Cargo.toml",
            "[workspace]\nresolver = \"3\"\nmembers = [\"one\", \"two\"]\ndefault-members = [\"one\"]\n",
        ),
        ("one/Cargo.toml", &MANIFEST.replace("app", "one")),
        ("one/src/main.rs", "fn main() { println!(\"the first\"); }"),
        ("two/Cargo.toml", &MANIFEST.replace("app", "two")),
        ("two/src/main.rs", "fn main() { println!(\"the second\"); }"),
        ("two/src/bin/both.rs", "fn main() {}"),
        ("one/src/bin/both.rs", "fn main() { println!(\"of the usual one\"); }"),
        ("one/src/bin/third.rs", "fn main() {}"),
    ]);
    let (call_result, [stdout, _]) = fixture.run(Some("two"), &[]);
    succeeds(&call_result);
    assert_eq!(stdout, "the second\n");
    let command = call_result.result["commands"][0]["command"].as_str().unwrap();
    assert!(command.ends_with("--manifest-path two/Cargo.toml --bin two"), "{command}");
    assert_eq!(fixture.run(Some("both"), &[]).1[0], "of the usual one\n");
    fixture.put("Cargo.toml", "[workspace]\nresolver = \"3\"\nmembers = [\"one\", \"two\"]\n");
    let (code, message) = error(&fixture.run(Some("both"), &[]).0);
    assert_eq!(code, Code::FileNotFound);
    assert_eq!(message, "\"both\" is in more than one package: one, two");
}

#[test]
fn verify_compile_and_run_need_a_project() {
    let fixture = Fixture::with(&[("notes.md", "")]);
    for (call, action) in [
        (ToolCall::Verify { scope: VerifyScope::Local }, "verify"),
        (ToolCall::Compile { build: Build::default() }, "compile"),
        (ToolCall::Run { build: Build::default(), args: Vec::new() }, "run"),
    ] {
        let (call_result, _) = fixture.call(&call);
        let (code, message) = error(&call_result);
        assert_eq!(code, Code::NoCargoProject);
        let expected = format!(
            "the workspace folder has neither a command for {action} in countersign.toml nor a Cargo.toml"
        );
        assert_eq!(message, expected);
        let error = call_result.error.as_ref().and_then(ToolError::get);
        assert!(matches!(error, Some(ProgramError::NoCommand { .. })));
        let preview = fixture.tools.preview(&call, Overlay::empty()).unwrap();
        assert!(preview.would_fail(), "{preview:?}");
    }
    assert_eq!(fixture.names(), ["notes.md"]);
}

#[test]
fn preview_names_commands_without_running_them() {
    let fixture = app(&[("src/main.rs", MAIN)]);
    let before = fixture.names();
    let preview = |call: ToolCall| {
        let preview = fixture.tools.preview(&call, Overlay::empty()).unwrap();
        assert_eq!(preview.predicted, Predicted::Unpredictable);
        (preview.summary, preview.notes.join("\n"))
    };
    let (summary, notes) = preview(ToolCall::Verify { scope: VerifyScope::Full });
    assert_eq!(
        summary,
        "Runs `cargo check --workspace --all-targets --message-format=json`, then \
         `cargo test --workspace --no-fail-fast` in the workspace folder."
    );
    assert!(notes.contains("Each command is ended after 30 minutes"), "{notes}");
    let build = Build { entry_function: Some("app".to_owned()), ..Build::default() };
    let (summary, notes) = preview(ToolCall::Run { build, args: vec!["a b".to_owned()] });
    assert!(summary.starts_with("Runs `cargo build --message-format=json --config "), "{summary}");
    assert!(
        summary.ends_with(" in the workspace folder, then the program that it built."),
        "{summary}"
    );
    assert!(notes.contains("with the arguments [\"a b\"], not through a shell"), "{notes}");
    assert!(notes.contains("`--bin app` or `--example app`"), "{notes}");
    assert!(notes.contains("The program is ended after 2 minutes"), "{notes}");
    assert_eq!(fixture.names(), before);
}

#[test]
fn output_resembling_a_message_is_printed() {
    let macros = "use proc_macro::TokenStream;\n#[proc_macro]\npub fn noise(_: TokenStream) -> TokenStream {\n\
        println!(\"{{\\\"reason\\\":\\\"mine\\\"}}\\n\\nplain\"); TokenStream::new() }\n";
    let manifest =
        format!("{MANIFEST}[dependencies]\nmacros = {{ path = \"macros\" }}\n[workspace]\n");
    let fixture = app(&[("src/lib.rs", "macros::noise!();\n"), ("macros/src/lib.rs", macros)]);
    fixture.put("Cargo.toml", &manifest);
    fixture.put(
        "macros/Cargo.toml",
        &format!("{}[lib]\nproc-macro = true\n", MANIFEST.replace("app", "macros")),
    );
    let (call_result, [stdout, _]) = fixture.verify(VerifyScope::Local);
    succeeds(&call_result);
    assert!(stdout.starts_with("{\"reason\":\"mine\"}\n\nplain\n"), "{stdout:?}");
}
