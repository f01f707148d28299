//! Workspaces that cost time or memory to read: everything read before an approval is bounded by counts,
//! names the limit that was reached, and stays below 1 GiB (SPEC §1.4).
//!
//! No time is measured. A process that does not end within [`PATIENCE`] is killed and fails its test, and so
//! does one that needs more memory.

use std::fs;
use std::time::Duration;

use assert_cmd::Command;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::harness::home::{Done, Home, PROGRAM};
use crate::harness::{create_file, read_file};

/// The timeout of a command, far longer than it takes on a slow and busy machine.
const PATIENCE: Duration = Duration::from_secs(240);
/// The address space of a command, in KiB: 1 GiB.
const MEMORY: &str = "1048576";

/// Runs `check` or `simulate` on the plan of this home, with limited memory and time.
fn look(home: &Home, command: &str) -> Done {
    let limited = format!("ulimit -v {MEMORY} && exec \"$0\" \"$@\"");
    let mut shell: Command = home.command_of("sh");
    shell.args(["-c", &limited, PROGRAM, command]).arg(home.file("p.json"));
    shell.arg("--workspace").arg(home.file("")).arg("--evidence").arg(home.evidence());
    Done::of(shell.args(["--json", "--engine", "auto"]).timeout(PATIENCE))
}

/// The findings, as code and message.
fn findings(done: &Done) -> Vec<String> {
    let document = done.document();
    let found = document["findings"].as_array().unwrap().iter();
    let text = |it: &Value| {
        format!("{} {}", it["code"].as_str().unwrap(), it["message"].as_str().unwrap())
    };
    found.map(text).collect()
}

fn symbols(file: &str) -> Value {
    json!({"step_id": "look", "tool": "symbols_in_file", "arguments": {"file_path": file}})
}

/// A step that replaces `a`, with the precondition that it exists.
fn patch(file: &str) -> Value {
    json!({"step_id": "patch", "tool": "splice_patch", "precondition": "symbol exists",
        "arguments": {"file": file, "symbol": "a", "with": "with.txt"}})
}

/// A search for a symbol in all files.
fn search() -> Value {
    json!({"step_id": "search", "tool": "references_to_symbol_name",
        "precondition": "symbol exists", "arguments": {"symbol": "wanted"}})
}

#[test]
fn hard_source_text_names_its_limit() {
    let texts = [
        ("brackets.rs", format!("fn a() {{{}", "(".repeat(300_000)), "open brackets"),
        ("line.rs", format!("fn a() {{{}", "[".repeat(16 << 20)), "open brackets"),
        ("open.rs", "<".repeat(300_000), "comparisons of neighbouring nodes"),
        ("casts.c", "+(a)".repeat(300_000), "tokens without"),
        ("types.java", "a<".repeat(300_000), "tokens without"),
        ("parts.rs", "a,".repeat(8 << 20), "parser steps"),
        ("raw.rs", "r#\"".repeat(300_000), "bytes read by the parser"),
        ("strings.go", "R\"(".repeat(300_000), "open brackets"),
        ("less.cpp", "a<".repeat(300_000), "tokens without"),
        ("catch.rs", "^catch(".repeat(2_000), "unclosed brackets"),
        (
            "caught.rs",
            "^catch(".repeat(2_000) + &")".repeat(2_000),
            "in a text with a syntax error",
        ),
        ("members.cpp", ".&,".repeat(100_000), "bytes allocated"),
        ("stars.rs", "*+".repeat(200_000), "bytes allocated"),
        ("arrows.go", "->||".repeat(16_000), "bytes allocated"),
        ("classes.c", "=>class ".repeat(1_250), "bytes allocated"),
    ];
    for (name, text, limit) in texts {
        let home = Home::new();
        home.write(name, text);
        home.write("with.txt", "fn a() {}\n");
        home.plan(json!([symbols(name), patch(name)]));
        for command in ["check", "simulate"] {
            let done = look(&home, command).exits(2);
            let said = findings(&done);
            assert!(
                said.iter().any(|it| it.starts_with("E018 step 2: ") && it.contains(limit)),
                "{command} {name}: {said:#?}"
            );
        }
    }
}

#[test]
fn hard_replacement_is_a_limit_of_simulation() {
    let home = Home::new();
    home.write("a.rs", "(".repeat(300_000));
    home.write("with.txt", "fn a() {}\n");
    let mut step = patch("a.rs");
    step["precondition"] = "none".into();
    home.plan(json!([step]));
    assert_eq!(findings(&look(&home, "check").exits(0)), [""; 0], "nothing of it is parsed yet");
    let said = findings(&look(&home, "simulate").exits(2));
    assert!(matches!(&*said, [one] if one.starts_with("E018 step 1: a.rs: ")), "{said:#?}");
}

#[test]
fn the_same_bytes_reach_the_same_limit() {
    let home = Home::new();
    home.write("a.rs", "a,".repeat(2 << 20));
    home.write("with.txt", "fn a() {}\n");
    home.plan(json!([patch("a.rs")]));
    let [first, second] = [(), ()].map(|()| look(&home, "check").exits(2).document());
    assert_eq!(first["findings"], second["findings"]);
}

#[test]
fn ignore_lists_have_a_limit() {
    for line in ["a\n".to_owned(), "a*b*c?d\n".repeat(10), String::from("[")] {
        let home = Home::new();
        fs::create_dir(home.file(".git")).unwrap();
        home.write(".gitignore", line.repeat((16 << 20) / line.len()));
        home.write("x.rs", "fn wanted() {}\n");
        home.plan(json!([search()]));
        for command in ["check", "simulate"] {
            let done = look(&home, command).exits(0);
            assert_eq!(findings(&done), [""; 0], "a list without end counts as none");
        }
    }
}

#[test]
fn nested_folders_are_walked_to_path_depth() {
    let home = Home::new();
    let mut deepest = home.file("d");
    while fs::create_dir(&deepest).is_ok() {
        deepest.push("d");
    }
    home.write("x.rs", "fn wanted() {}\n");
    home.plan(json!([search()]));
    for command in ["check", "simulate"] {
        assert_eq!(findings(&look(&home, command).exits(0)), [""; 0]);
    }
}

#[test]
fn huge_file_is_a_limit_and_unread() {
    let home = Home::new();
    for name in ["big.txt", "Cargo.toml"] {
        fs::File::create(home.file(name)).unwrap().set_len(4 << 40).unwrap();
    }
    let write = json!({"step_id": "write", "tool": "file_write",
        "arguments": {"path": "big.txt", "contents": "x"}});
    let check = json!({"step_id": "check", "tool": "lsp_check", "arguments": {"path": "."}});
    home.plan(json!([read_file("read", "big.txt"), check, write]));
    let said = findings(&look(&home, "check").exits(2));
    assert!(matches!(&*said, [one] if one.starts_with("E018 step 3: big.txt has more than ")));
    let simulated = look(&home, "simulate").exits(2).document();
    let note = simulated["steps"][1]["note"].as_str().unwrap();
    assert!(note.contains("Cargo.toml has more than 1048576 bytes"), "{note}");
}

#[test]
fn huge_manifest_is_not_read() {
    let home = Home::new();
    let keys: String = (0..2_000_000).map(|index| format!("k{index}=1\n")).collect();
    home.write("Cargo.toml", keys);
    home.plan(json!([{"step_id": "c", "tool": "lsp_check", "arguments": {"path": "."}}]));
    let _ = look(&home, "check").exits(0);
    let simulated = look(&home, "simulate").exits(0).document();
    let note = simulated["steps"][0]["note"].as_str().unwrap();
    assert!(note.contains("has more than 1048576 bytes"), "{note}");
}

#[test]
fn cyclic_packages_are_visited_once() {
    let home = Home::new();
    for index in 0..300 {
        fs::create_dir(home.file(&format!("p{index}"))).unwrap();
        let next = (index + 1) % 300;
        let manifest = format!(
            "[package]\nname = \"p{index}\"\n[dependencies]\np{next} = {{ path = \"../p{next}\" }}\n"
        );
        home.write(&format!("p{index}/Cargo.toml"), manifest);
    }
    home.write("Cargo.toml", "[workspace]\nmembers = [\"p*\", \".\", \"p0/../p1\"]\n");
    home.plan(json!([{"step_id": "c", "tool": "lsp_check", "arguments": {"path": "p0"}}]));
    for command in ["check", "simulate"] {
        assert_eq!(findings(&look(&home, command).exits(0)), [""; 0]);
    }
}

#[test]
fn pipes_and_devices_are_never_waited_for() {
    let home = Home::new();
    fs::create_dir(home.file(".git")).unwrap();
    let pipes =
        ["a.rs", "with.txt", "Cargo.toml", "countersign.toml", ".gitignore", "codegraph.db"];
    for name in pipes.into_iter().chain([".git/config", ".git/HEAD"]) {
        rustix::fs::mkfifoat(rustix::fs::CWD, home.file(name), 0o600.into()).unwrap();
    }
    std::os::unix::fs::symlink("/dev/zero", home.file("zero.rs")).unwrap();
    let check = json!({"step_id": "check", "tool": "lsp_check", "arguments": {"path": "."}});
    home.plan(json!([
        search(),
        symbols("a.rs"),
        patch("a.rs"),
        symbols("zero.rs"),
        check,
        read_file("r", "a.rs"),
        create_file("c", "with.txt", "x"),
    ]));
    for command in ["check", "simulate"] {
        let said = findings(&look(&home, command).exits(2)).join("\n");
        assert!(said.contains("a.rs is a device, pipe or socket"), "{said}");
        assert!(said.contains("E204 step 4: zero.rs leads outside"), "{said}");
    }
}

/// A code graph whose view generates rows without end is read up to the limit.
#[test]
fn endless_code_graph_is_cut() {
    let home = Home::new();
    #[expect(clippy::disallowed_methods, reason = "the database of magellan")]
    let graph = Connection::open(home.file("codegraph.db")).unwrap();
    let rows = "WITH RECURSIVE c(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM c)
        SELECT id, 'Symbol' AS kind, 'wanted' AS name, 'x.rs' AS file_path, '{}' AS data FROM c";
    graph.execute_batch(&format!("CREATE VIEW graph_entities AS {rows}")).unwrap();
    home.write("x.rs", "fn wanted() {}\n");
    home.plan(json!([search()]));
    for command in ["check", "simulate"] {
        assert_eq!(findings(&look(&home, command).exits(0)), [""; 0]);
    }
}
