//! The three forms of a simulation: edits, steps and functions.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use serde_json::json;

use super::*;
use crate::run::Predicted;

fn text(text: &str) -> String {
    text.to_owned()
}

fn create(path: &str, contents: &str) -> ToolCall {
    ToolCall::FileCreate { path: text(path), contents: text(contents) }
}

#[test]
fn edits_show_their_whole_difference_and_change_nothing() {
    let fixture =
        Fixture::with(&[("a.txt", "one\ntwo\n"), ("old.txt", "x\n"), ("gone.txt", "1\n")]);
    let edits = vec![
        Edit::Replace { path: text("a.txt"), old: text("two"), new: text("2\n3") },
        Edit::Rename { path: text("old.txt"), to: text("new/name.txt") },
        Edit::Delete { path: text("gone.txt") },
    ];
    let done = fixture.edits(edits, None).succeeds();
    let change = |path: &str, added, removed| (text(path), added, removed);
    let expected = [
        change("a.txt", 2, 1),
        change("gone.txt", 0, 1),
        change("new/name.txt", 1, 0),
        change("old.txt", 0, 1),
    ];
    assert_eq!(done.changes(), expected);
    assert!(done.predicted().iter().all(|(_, predicted)| *predicted));
    let result = done.result();
    assert_eq!((&result["form"], &result["valid"]), (&json!("edits"), &json!(true)));
    assert_eq!((&result["verify"], &result["exit_code"]), (&Value::Null, &Value::Null));
    assert_eq!(result["copy"]["files"], 3);
    assert_eq!(done.call_result.exit_code, None, "no process ran");
    assert!(done.call_result.captured.is_none(), "and nothing was printed");
    let referenced =
        done.call_result.edges.iter().filter(|it| it.edge_type == EdgeType::Referenced);
    assert_eq!(referenced.count(), 4);
}

#[test]
fn impossible_edits_fail_as_in_a_batch() {
    let fixture = Fixture::with(&[("a.txt", "one\n")]);
    let edits = vec![write("a.txt", "two\n"), Edit::Delete { path: text("absent") }];
    let done = fixture.edits(edits.clone(), Some(VerifyScope::Local));
    let (code, message) = done.error();
    assert_eq!(code, "E302");
    assert!(message.contains("edit 2 (delete)"), "{message}");
    let result = done.result();
    assert_eq!((&result["valid"], &result["changed_files"]), (&json!(false), &json!([])));
    assert_eq!(result["errors"][0]["edit_index"], 1);
    assert_eq!(result["verify"], Value::Null, "nothing was left to verify");
    let preview = fixture.preview(Simulation::Edits { edits, verify: None });
    assert!(preview.would_fail(), "{preview:?}");
}

#[test]
fn verification_of_the_copy_names_workspace_files() {
    let fixture = app(&[("src/lib.rs", "pub fn f() -> u8 { absent }\n")]);
    let fixed = || {
        vec![write("src/lib.rs", "pub fn f() -> u8 { 1 }\n#[test] fn t() { assert_eq!(f(), 1) }\n")]
    };
    let done = fixture.edits(fixed(), Some(VerifyScope::Full)).succeeds();
    let verify = &done.result()["verify"];
    assert_eq!((&verify["scope"], &verify["passed"]), (&json!("full"), &json!(true)));
    assert_eq!(verify["changed_files"][0]["path"], "Cargo.lock", "which cargo made");
    assert_eq!(done.predicted(), [("src/lib.rs", true)], "and no edit did");
    assert_eq!(done.call_result.exit_code, Some(0));
    assert!(done.printed[0].contains("test t ... ok"), "{:?}", done.printed);
    assert!(done.call_result.captured.is_some());

    let wrong =
        vec![write("src/lib.rs", "pub fn f() -> u8 { absent }\npub fn g() { nothing() }\n")];
    let done = fixture.edits(wrong, Some(VerifyScope::Local));
    let (code, message) = done.error();
    assert_eq!(code, "E304");
    assert!(message.contains("2 errors"), "{message}");
    let result = done.result();
    assert_eq!((&result["valid"], &result["verify"]["passed"]), (&json!(true), &json!(false)));
    assert_eq!(result["verify"]["errors"], 2);
    assert_eq!(done.changes(), [(text("src/lib.rs"), 1, 0)], "the difference is told all the same");
    // The compiler's total is a diagnostic without a file.
    let files = done.call_result.diagnostics.iter().map(|it| it.file_name.as_str());
    let files: Vec<_> = files.filter(|file| !file.is_empty()).collect();
    assert_eq!(files, ["src/lib.rs"; 2], "by their names in the workspace");
}

// Files that a command changed are listed too, as not predicted.
#[test]
fn steps_run_in_order_until_one_fails() {
    let build = "fn main() { std::fs::write(\"src/made.rs\", \"// made\").unwrap();\n\
        std::fs::write(\"notes.txt\", \"longer\\n\").unwrap(); }\n";
    let fixture = app(&[("src/lib.rs", ""), ("notes.txt", "short\n"), ("build.rs", build)]);
    let steps = vec![
        create("docs/new.md", "text\n"),
        ToolCall::FileRead { path: text("docs/new.md") },
        ToolCall::LspCheck { path: text(".") },
        create("src/lib.rs", "never\n"),
        create("src/late.rs", "never\n"),
    ];
    let done = fixture.steps(steps.clone());
    let (code, message) = done.error();
    assert_eq!(code, "E302");
    assert_eq!(message, "step 4 (file_create): cannot create src/lib.rs: it exists already");
    let rows = done.result()["steps"].as_array().unwrap();
    let outcomes: Vec<_> = rows.iter().map(|row| row["success"].as_bool().unwrap()).collect();
    assert_eq!(outcomes, [true, true, true, false], "and the fifth was not begun");
    let predicted = [
        ("Cargo.lock", false),
        ("docs/new.md", true),
        ("notes.txt", false),
        ("src/made.rs", false),
    ];
    assert_eq!(done.predicted(), predicted);
    let [stdout, _] = done.call_result.captured.unwrap().map(|ends| ends.excerpt().text);
    assert!(stdout.starts_with("text\n"), "what was read is told: {stdout}");

    let preview = fixture.preview(Simulation::Steps { steps, verify: None });
    assert!(preview.summary.starts_with("Would fail: step 4 (file_create): "), "{preview:?}");
    assert_eq!(preview.changes.len(), 1);
}

const MAIN: &str = "fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    println!(\"{args:?} {:?}\", std::env::var(\"RUST_BACKTRACE\").ok());
    std::fs::write(\"out.txt\", &args[0]).unwrap();
    std::process::exit(args.len() as i32 - 1);
}
";

#[test]
fn binaries_examples_and_tests_get_their_inputs() {
    let lib = "#[cfg(test)] mod tests {\n#[test] fn inputs() {\n\
        let args: Vec<String> = std::env::args().collect();\n\
        println!(\"{args:?}\"); assert!(args.contains(&\"--right\".to_owned()));\n}\n\
        #[test] fn other() { panic!(\"not asked for\") }\n}\n";
    let fixture = app(&[
        ("src/lib.rs", lib),
        ("src/main.rs", MAIN),
        ("examples/show.rs", "fn main() { println!(\"shown\") }\n"),
    ]);
    let done = fixture.function("app", &["a b"], true).succeeds();
    assert_eq!(done.printed[0], "[\"a b\"] Some(\"full\")\n");
    assert_eq!(done.predicted(), [("Cargo.lock", false), ("out.txt", false)]);
    assert_eq!(done.result()["run"]["args"], json!(["a b"]));
    assert_eq!(done.result()["run"]["debug_symbols"], true);
    assert_eq!(done.call_result.exit_code, Some(0));

    let done = fixture.function("app", &["$HOME", "2"], false);
    assert_eq!(done.error(), ("E305", text("the program ended with exit code 1")));
    assert!(done.printed[0].starts_with("[\"$HOME\", \"2\"] "), "{:?}", done.printed);
    assert!(!done.printed[0].contains("full"), "{:?}", done.printed);
    assert_eq!(done.result()["exit_code"], 1);

    let done = fixture.function("show", &["x"], false).succeeds();
    assert_eq!(done.printed[0], "shown\n");

    let done = fixture.function("tests::inputs", &["--right"], false).succeeds();
    assert!(done.printed[0].contains("\"--right\"]"), "{:?}", done.printed);
    assert!(!done.printed[0].contains("not asked for"));
    assert_eq!(done.result()["run"]["tests"], 1);

    let done = fixture.function("tests::inputs", &["left"], false);
    let (code, message) = done.error();
    assert_eq!(code, "E304");
    assert!(message.contains("the test tests::inputs failed"), "{message}");
    assert_eq!(done.call_result.diagnostics.len(), 1);

    let done = fixture.function("inputs", &["--right"], false);
    let expected = "no binary, example or test is named \"inputs\"; available binaries and examples: app, show";
    assert_eq!(done.error(), ("E101", text(expected)));
}

#[test]
fn a_stop_ends_the_program_and_the_copy() {
    let fixture = app(&[(
        "src/main.rs",
        "fn main() { std::fs::write(\"half\", \"\").unwrap(); println!(\"here\"); loop { std::thread::park() } }",
    )]);
    let on_output = |text: &str| {
        if text.contains("here") {
            fixture.stop.set();
        }
    };
    let done = fixture.simulate_with(function("app", &["x"], false), &on_output);
    assert_eq!(done.error().0, "E307");
    assert_eq!(done.call_result.captured.as_ref().unwrap()[0].excerpt().text, "here\n");
    // After a stop not even a copy is made.
    let done = fixture.edits(vec![write("a", "")], None);
    assert_eq!(done.error().0, "E307");
}

#[test]
fn timeout_ends_the_program() {
    let mut fixture = app(&[("src/main.rs", "fn main() { loop { std::thread::park() } }")]);
    fixture.tools.run_timeout = Duration::from_millis(700);
    let done = fixture.function("app", &["x"], false);
    assert_eq!(done.error().0, "E306");
}

#[test]
fn panic_leaves_no_copy() {
    let fixture = app(&[("src/main.rs", MAIN)]);
    let before = tree(&fixture.path(""));
    let boom = |_: &str| panic!("of the output callback");
    let panics = || fixture.simulate_with(function("app", &["x"], false), &boom);
    assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
    assert_eq!(fixture.scratch_files(), Vec::<PathBuf>::new());
    assert_eq!(tree(&fixture.path("")), before);
}

#[test]
fn leftover_processes_end_with_the_program() {
    let main = "fn main() { let me = std::env::current_exe().unwrap();\n\
        if std::env::args().nth(1).as_deref() == Some(\"stay\") { loop { std::thread::park() } }\n\
        let child = std::process::Command::new(me).arg(\"stay\").stdout(std::process::Stdio::null())\
        .stderr(std::process::Stdio::null()).spawn().unwrap();\nprintln!(\"{}\", child.id()); }";
    let fixture = app(&[("src/main.rs", main)]);
    let done = fixture.function("app", &["go"], false).succeeds();
    let id: u32 = done.printed[0].trim().parse().unwrap();
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    assert!(stat.is_empty() || stat.contains(") Z "), "{stat}");
}

// Other roots cannot be reached from a simulation.
#[test]
fn absolute_paths_lead_to_the_copy() {
    let folder = tempfile::tempdir().unwrap();
    let (ws, other) = (folder.path().join("ws"), folder.path().join("other"));
    fs::create_dir(&ws).unwrap();
    fs::create_dir(&other).unwrap();
    let policy = Policy { extra_roots: vec![other.clone()], ..Policy::default() };
    let mut tools = Toolbox::open(&ws, &policy).unwrap();
    tools.simulations.parent = Some(folder.path().join("scratch"));
    let fixture = Fixture { folder, tools, stop: StopSignal::default() };
    let absolute = |folder: &Path| folder.join("new.txt").to_string_lossy().into_owned();
    let done = fixture.edits(vec![write(&absolute(&ws), "x\n")], None).succeeds();
    assert_eq!(done.changes(), [(text("new.txt"), 1, 0)]);
    let done = fixture.steps(vec![create(&absolute(&other), "x\n")]);
    assert_eq!(done.error().0, "E204");
    assert_eq!(fs::read_dir(&other).unwrap().count(), 0);
}

#[test]
fn preview_has_exact_edits_and_names_commands() {
    let fixture = app(&[("src/lib.rs", "")]);
    let edits = vec![write("src/lib.rs", "// more\n"), write("b.txt", "b\n")];
    let preview = fixture.preview(Simulation::Edits { edits: edits.clone(), verify: None });
    assert_eq!(preview.predicted, Predicted::Exact);
    assert_eq!(preview.summary, "Tries the changes of 2 files on a copy of the workspace.");
    assert_eq!(preview.changes.len(), 2);
    let notes = preview.notes.join("\n");
    assert!(notes.contains("at most 200000 files and folders, 4 GiB and 5 minutes"), "{notes}");
    assert!(!notes.contains("built from scratch"), "{notes}");

    let verify = Some(VerifyScope::Local);
    let preview = fixture.preview(Simulation::Edits { edits, verify });
    assert_eq!(preview.predicted, Predicted::Partial);
    let summary = "Tries the changes of 2 files on a copy of the workspace, and runs \
        `cargo check --message-format=json` there.";
    assert_eq!(preview.summary, summary);
    assert!(preview.notes.join("\n").contains("built from scratch"));

    let preview = fixture.preview(function("app", &["a b"], true));
    assert_eq!(preview.predicted, Predicted::Unpredictable);
    let notes = preview.notes.join("\n");
    assert!(
        notes.contains("cargo test --workspace --tests --no-fail-fast app -- --exact"),
        "{notes}"
    );
    assert!(notes.contains("with the arguments [\"a b\"]"), "{notes}");

    // The preview uses the project as the edits would leave it.
    let gone = vec![Edit::Delete { path: text("Cargo.toml") }];
    let preview = fixture.preview(Simulation::Edits { edits: gone, verify });
    assert!(preview.would_fail() && preview.changes.len() == 1, "{preview:?}");
}
