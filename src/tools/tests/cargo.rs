//! Real cargo on small projects without dependencies, and so without a network.

mod ends;

use std::cell::RefCell;
use std::fs::OpenOptions;
use std::thread;

use serde_json::{Value, json};

use super::*;
use crate::cargo::{CargoError, new_errors};
use crate::run::{DiagnosticArtifact, EdgeType, Level, Predicted, text};

/// A workspace with Cargo projects in it.
struct Fixture {
    folder: TempDir,
    tools: Toolbox,
    stop: StopSignal,
}

impl Fixture {
    fn with(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = folder.path().join("ws").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let tools =
            Toolbox::open(&folder.path().join("ws"), &crate::risk::Policy::default()).unwrap();
        Self { folder, tools, stop: StopSignal::default() }
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.folder.path().join("ws").join(relative)
    }

    /// The result and the streamed output: stdout, then stderr.
    fn check(&self, path: &str) -> (CallResult, [String; 2]) {
        let printed = RefCell::new([String::new(), String::new()]);
        let output = |stream: Stream, text: &str| {
            printed.borrow_mut()[usize::from(stream == Stream::Stderr)].push_str(text);
        };
        let call = ToolCall::LspCheck { path: path.to_owned() };
        let call_result = self.tools.invoke(&call, &self.context(&output));
        (call_result, printed.into_inner())
    }

    fn context<'a>(&'a self, output: &'a dyn Fn(Stream, &str)) -> Context<'a> {
        static NOTHING: BTreeMap<String, crate::authorization::FileState> = BTreeMap::new();
        Context {
            expected: &NOTHING,
            stop: &self.stop,
            execution_id: Uuid::nil(),
            output,
            capture: &NoCapture,
            walls: crate::authorization::StepWalls::NONE,
            terminal: None,
        }
    }

    fn errors(&self, path: &str) -> Result<Option<Vec<DiagnosticArtifact>>, CargoError> {
        let verdict = self.tools.cargo(&self.context(&|_, _| {})).check_workspace(path)?;
        verdict.map(|gate| Ok(gate.verdict?.errors)).transpose()
    }
}

fn package(name: &str) -> String {
    format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n")
}

/// A package with one library.
fn one(source: &str) -> Fixture {
    Fixture::with(&[("Cargo.toml", &package("one")), ("src/lib.rs", source)])
}

fn targets(call_result: &CallResult, edge_type: EdgeType) -> Vec<&str> {
    let edges = call_result.edges.iter().filter(|edge| edge.edge_type == edge_type);
    edges.map(|edge| edge.target.as_str()).collect()
}

#[test]
fn valid_code_succeeds_with_output_of_cargo() {
    let fixture = one("pub fn f() {}\n");
    let (call_result, [stdout, stderr]) = fixture.check(".");
    assert!(call_result.error.is_none(), "{:?}", call_result.error);
    assert_eq!(call_result.exit_code, Some(0));
    assert!(call_result.diagnostics.is_empty());
    assert_eq!(call_result.stdout.as_deref(), Some(stdout.as_bytes()));
    assert_eq!(call_result.stderr.as_deref(), Some(stderr.as_bytes()));
    assert!(stdout.ends_with("{\"reason\":\"build-finished\",\"success\":true}\n"), "{stdout}");
    assert!(stderr.contains("Checking one v0.1.0"), "{stderr}");
    let result = &call_result.result;
    assert_eq!(result["command"], "cargo check --message-format=json");
    assert_eq!((&result["exit_code"], &result["timed_out"]), (&json!(0), &json!(false)));
    assert_eq!((&result["signal"], &result["errors"]), (&Value::Null, &json!(0)));
    assert_eq!(targets(&call_result, EdgeType::ExecutedOn), ["."]);
}

#[test]
fn warning_has_place_notes_and_suggestion() {
    let fixture = one("pub fn f() {\n    let größe = 1;\n}\n");
    // For a file, the project is found in a parent folder.
    let (call_result, _) = fixture.check("src/lib.rs");
    assert!(call_result.error.is_none(), "{:?}", call_result.error);
    let [warning] = &call_result.diagnostics[..] else { panic!("{:?}", call_result.diagnostics) };
    assert_eq!((warning.level, warning.tool_level.as_str()), (Level::Warning, "warning"));
    assert_eq!(warning.code.as_deref(), Some("unused_variables"));
    assert_eq!((warning.file_name.as_str(), warning.line_start), ("src/lib.rs", 2));
    assert_eq!((warning.column_start, warning.column_end), (Some(9), Some(14)), "in characters");
    assert!(warning.rendered.as_ref().unwrap().contains("let größe = 1;"));
    assert_eq!((warning.spans[0].byte_start, warning.spans[0].byte_end), (21, 28));
    let suggested = warning.children.iter().flat_map(|child| &child.spans);
    let suggested: Vec<_> = suggested
        .filter_map(|span| {
            Some((span.suggested_replacement.as_deref()?, span.applicability.as_deref()?))
        })
        .collect();
    assert_eq!(suggested, [("_größe", "MachineApplicable")]);
    let note = warning.children.iter().find(|child| child.tool_level == "note").unwrap();
    assert_eq!((note.level, note.file_name.as_str(), note.line_start), (Level::Info, "", 0));
    assert_eq!(call_result.result["warnings"], 1);
    assert_eq!(targets(&call_result, EdgeType::ExecutedOn), [".", "src/lib.rs"]);
    assert_eq!(targets(&call_result, EdgeType::Produced), ["unused_variables"]);
    assert_eq!(targets(&call_result, EdgeType::Referenced), ["src/lib.rs"]);
}

/// Two members with an error each; the second depends on the first.
fn two_members() -> Fixture {
    let depends =
        format!("{}[dependencies]\nfirst = {{ path = \"../first\" }}\n", package("second"));
    Fixture::with(&[
        ("Cargo.toml", "[workspace]\nresolver = \"3\"\nmembers = [\"crates/*\"]\n"),
        ("crates/first/Cargo.toml", &package("first")),
        ("crates/first/src/lib.rs", "pub fn f() -> u8 {\n    1\n}\npub mod deep;\n"),
        ("crates/first/src/deep/mod.rs", "pub fn g() {}\n"),
        ("crates/second/Cargo.toml", &depends),
        ("crates/second/src/lib.rs", "pub fn h() -> u8 {\n    first::f()\n}\n"),
    ])
}

// A check of one member ignores the errors of other members; a check of the workspace reports them.
#[test]
fn errors_of_the_checked_member_fail_the_step() {
    let fixture = two_members();
    fs::write(fixture.path("crates/first/src/deep/mod.rs"), "fn g() -> u8 {\n    absent\n}\n")
        .unwrap();
    let (call_result, _) = fixture.check("crates/first/src/deep");
    let error = call_result.error.as_ref().unwrap();
    assert_eq!(error.code(), Code::CargoCheck);
    assert_eq!(
        error.to_string(),
        "cargo check reported 1 error: error[E0425]: cannot find value `absent` in this scope \
         (crates/first/src/deep/mod.rs:2)"
    );
    assert_eq!(call_result.exit_code, Some(101));
    assert_eq!(call_result.diagnostics.iter().filter(|it| it.level == Level::Error).count(), 1);
    assert_eq!(targets(&call_result, EdgeType::Referenced), ["crates/first/src/deep/mod.rs"]);
    assert!(targets(&call_result, EdgeType::Produced).contains(&"E0425"));

    fs::write(fixture.path("crates/first/src/deep/mod.rs"), "pub fn g() {}\n").unwrap();
    fs::write(fixture.path("crates/second/src/lib.rs"), "fn h() {\n    first::f(1)\n}\n").unwrap();
    let (call_result, _) = fixture.check("crates/first");
    assert!(call_result.error.is_none(), "the other member is not looked at");
    let (call_result, _) = fixture.check(".");
    assert_eq!(call_result.error.as_ref().map(|error| error.code()), Some(Code::CargoCheck));
    assert_eq!(call_result.result["command"], "cargo check --workspace --message-format=json");
    assert!(call_result.diagnostics.iter().any(|it| it.file_name == "crates/second/src/lib.rs"));
    let message = call_result.error.unwrap().to_string();
    assert!(message.starts_with("cargo check reported 2 errors, the first: error"), "{message}");
}

#[test]
fn cargo_workspace_may_be_a_parent_folder() {
    let fixture = one("pub fn f() -> u8 { absent }\n");
    let root = "[workspace]\nresolver = \"3\"\nmembers = [\"ws\"]\n";
    fs::write(fixture.folder.path().join("Cargo.toml"), root).unwrap();
    let (call_result, _) = fixture.check(".");
    assert!(call_result.result["errors"] == 1, "{}", call_result.result);
    assert_eq!(call_result.diagnostics[0].file_name, "src/lib.rs", "not ws/src/lib.rs");
}

#[test]
fn output_of_scripts_and_macros_is_no_diagnostic() {
    let macros = format!("{}[lib]\nproc-macro = true\n", package("macros"));
    let user = format!("{}[dependencies]\nmacros = {{ path = \"../macros\" }}\n", package("user"));
    let deep = "[".repeat(200_000);
    let noise = format!(
        "use proc_macro::TokenStream;
         #[proc_macro]
         pub fn noise(_: TokenStream) -> TokenStream {{
             println!(\"plain text\");
             println!(\"{{{{\\\"reason\\\":\\\"compiler-message\\\",\\\"message\\\":{deep}\");
             println!(\"{{{{\\\"reason\\\":\\\"compiler-message\\\",\\\"message\\\":17}}}}\");
             eprintln!(\"to stderr\");
             \"pub fn made() -> u8 {{ absent }}\".parse().unwrap()
         }}"
    );
    let script = r#"fn main() {
        println!("cargo::warning=from the script");
        println!("something of its own");
        println!("cargo::rustc-cfg=made_by_script");
        eprintln!("to its stderr");
    }"#;
    let fixture = Fixture::with(&[
        ("Cargo.toml", "[workspace]\nresolver = \"3\"\nmembers = [\"macros\", \"user\"]\n"),
        ("macros/Cargo.toml", &macros),
        ("macros/src/lib.rs", &noise),
        ("user/Cargo.toml", &user),
        ("user/build.rs", script),
        ("user/src/lib.rs", "macros::noise!();\n"),
    ]);
    let (call_result, [stdout, stderr]) = fixture.check(".");
    assert!(stdout.contains("plain text\n"), "{stdout:.2000}");
    assert!(stdout.contains("\"reason\":\"build-script-executed\""));
    assert!(stderr.contains("from the script"), "{stderr}");
    assert!(stderr.contains("to stderr"), "{stderr}");
    // The code generated by the macro has the only error, reported at the use of the macro.
    let errors: Vec<_> =
        call_result.diagnostics.iter().filter(|it| it.level == Level::Error).collect();
    let [error] = errors[..] else { panic!("{errors:?}") };
    assert_eq!(error.code.as_deref(), Some("E0425"));
    assert_eq!((error.file_name.as_str(), error.line_start), ("user/src/lib.rs", 1));
}

#[test]
fn errors_inside_macros_are_reported_at_their_use() {
    let source = "pub fn f() {\n    assert_eq!(1_u8, \"one\");\n}\n\
                  macro_rules! round { ($($t:tt)*) => { round!($($t)* x) } }\nround!();\n";
    let fixture = one(source);
    let (call_result, _) = fixture.check(".");
    let places: Vec<_> = call_result
        .diagnostics
        .iter()
        .filter(|it| it.level == Level::Error)
        .map(|it| (it.message.as_str(), it.file_name.as_str(), it.line_start))
        .collect();
    let recursion = "recursion limit reached while expanding `round!`";
    assert!(
        places.iter().any(|(message, file, _)| *message == recursion && *file == "src/lib.rs"),
        "{places:?}"
    );
    let fixture = one("pub fn f() {\n    assert_eq!(1_u8, \"one\");\n}\n");
    let (call_result, _) = fixture.check(".");
    let error = &call_result.diagnostics[0];
    assert_eq!((error.file_name.as_str(), error.line_start), ("src/lib.rs", 2));
}

#[test]
fn broken_manifest_quotes_the_error_of_cargo() {
    let fixture = Fixture::with(&[("Cargo.toml", "[package]\nname = 3\n"), ("src/lib.rs", "")]);
    let (call_result, [_, stderr]) = fixture.check(".");
    let error = call_result.error.unwrap();
    assert_eq!(error.code(), Code::CargoCheck);
    let output = stderr.trim_end();
    assert!(output.contains("Cargo.toml") && output.starts_with("error"), "{output}");
    assert_eq!(error.to_string(), format!("cargo check ended with exit code 101\n{output}"));
    assert!(matches!(fixture.errors("src/lib.rs"), Err(CargoError::Failed { .. })));
}

#[test]
fn failed_build_script_is_reported_with_its_output() {
    let fixture = one("");
    let script = "fn main() { eprintln!(\"no heron here\"); std::process::exit(3); }";
    fs::write(fixture.path("build.rs"), script).unwrap();
    let message = fixture.check(".").0.error.unwrap().to_string();
    assert!(message.contains("ended with exit code 101\nerror: failed to run"), "{message}");
    assert!(message.contains("no heron here"), "{message}");
}

#[test]
fn only_a_project_inside_the_workspace_is_checked() {
    let fixture =
        Fixture::with(&[("docs/a.md", ""), ("app/Cargo.toml", "[workspace]"), ("app/x", "")]);
    fs::write(fixture.folder.path().join("Cargo.toml"), package("outer")).unwrap();
    for (path, code) in [
        ("docs", Code::NoCargoProject),
        ("docs/a.md", Code::NoCargoProject),
        ("absent", Code::ReadFailed),
        ("..", Code::OutsideWorkspace),
    ] {
        let (call_result, _) = fixture.check(path);
        assert_eq!(call_result.error.map(|error| error.code()), Some(code), "{path}");
        assert_eq!(call_result.exit_code, None, "{path}");
    }
    assert!(matches!(fixture.errors("docs/a.md"), Ok(None)));
}

#[test]
fn preview_names_command_and_folder_without_running() {
    let fixture = two_members();
    let preview = |path: &str, overlay: &Overlay| {
        let call = ToolCall::LspCheck { path: path.to_owned() };
        fixture.tools.preview(&call, overlay).unwrap()
    };
    let member = preview("crates/first/src/lib.rs", &Overlay::default());
    assert_eq!(member.predicted, Predicted::Unpredictable);
    assert_eq!(member.summary, "Runs `cargo check --message-format=json` in crates/first.");
    let all = preview(".", &Overlay::default());
    let summary = "Runs `cargo check --workspace --message-format=json` in the workspace folder.";
    assert_eq!(all.summary, summary);
    assert!(
        all.notes.iter().any(|note| note.starts_with("The check is ended after 30 minutes, ")),
        "{all:?}"
    );
    assert!(preview("absent", &Overlay::default()).would_fail());
    assert!(!fixture.path("target").exists() && !fixture.path("Cargo.lock").exists());

    // A manifest that an earlier step would create is found.
    let mut overlay = Overlay::default();
    let create = ToolCall::FileCreate {
        path: "crates/first/src/Cargo.toml".to_owned(),
        contents: "[workspace]".to_owned(),
    };
    fixture.tools.project(&create, &mut overlay).unwrap();
    let created = preview("crates/first/src/lib.rs", &overlay);
    assert!(created.summary.ends_with("in crates/first/src."), "{}", created.summary);
}

#[test]
fn new_errors_in_other_packages_are_found() {
    let fixture = two_members();
    let path = "crates/first/src/lib.rs";
    let before = fixture.errors(path).unwrap().unwrap();
    assert!(before.is_empty(), "{before:?}");
    fs::write(fixture.path(path), "pub fn f() -> &'static str {\n    \"\"\n}\npub mod deep;\n")
        .unwrap();
    let after = fixture.errors(path).unwrap().unwrap();
    let new = new_errors(&before, after.clone());
    let [error] = &new[..] else { panic!("{new:?}") };
    assert_eq!(error.file_name, "crates/second/src/lib.rs");
    // The same error three lines further down is not new.
    let moved = "// one\n// two\n// three\npub fn h() -> u8 {\n    first::f()\n}\n";
    fs::write(fixture.path("crates/second/src/lib.rs"), moved).unwrap();
    let later = fixture.errors(path).unwrap().unwrap();
    assert_eq!(later[0].line_start, error.line_start + 3);
    assert!(new_errors(&after, later).is_empty());
}

#[test]
fn durations_are_written_in_whole_units() {
    for (millis, text) in [
        (1_500, "1500 ms"),
        (1_000, "1 second"),
        (90_000, "90 seconds"),
        (60_000, "1 minute"),
        (1_800_000, "30 minutes"),
    ] {
        assert_eq!(text::duration(Duration::from_millis(millis)), text);
    }
}
