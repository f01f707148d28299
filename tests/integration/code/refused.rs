//! Code plans that cannot be executed, through the real command: each is refused with its reason, and no byte
//! of the workspace changes (SPEC §4, §6).

use std::fs;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::harness::cargo_project::{cargo_project, lib, outcomes, result_of, run};
use crate::harness::home::Home;
use crate::harness::magellan::index;
use crate::harness::tree;

/// More definitions for the example, beside `old_function`.
const MORE: &str = "
macro_rules! make {
    () => {
        pub fn made() -> u8 {
            1
        }
    };
}
make!();

pub mod left {
    pub fn twin() -> u8 {
        1
    }
}

pub mod right {
    pub fn twin() -> u8 {
        2
    }
}

pub struct Twin;

pub mod helper {}

pub fn helper() -> u8 {
    fn inner() -> u8 {
        fn innermost() -> u8 {
            4
        }
        innermost()
    }
    inner()
}
";

/// The example project with these definitions, and every kind of bad replacement.
fn project() -> Home {
    let home = cargo_project();
    home.write("src/lib.rs", format!("{}{MORE}", lib(&home)));
    home.write("src/broken.rs", "fn good() -> u8 {\n    1\n}\n\nfn bad() {\n    let }\n");
    home.write("patches/empty.rs", "");
    home.write("patches/blank.rs", " \n\t\n");
    home.write("patches/words.rs", "// only words\n");
    home.write("patches/latin.rs", b"pub fn old_function() { /* \xe9 */ }");
    home.write("patches/open.rs", "pub fn old_function() {");
    home
}

fn patch(file: &str, symbol: &str, with: &str, kind: Option<&str>) -> Value {
    let mut arguments = json!({"file": file, "symbol": symbol, "with": with});
    if let Some(kind) = kind {
        arguments["kind"] = kind.into();
    }
    json!({"step_id": "s", "tool": "splice_patch", "arguments": arguments})
}

/// Runs one step, and asserts that it fails and changes nothing.
fn assert_fails(home: &Home, engine: &str, step: &Value, code: &str, part: &str) {
    home.plan(json!([step]));
    let before = tree(&home.file(""));
    let document = run(home, engine).exits(1).document();
    let failed = &document["step_results"][0];
    assert_eq!(failed["error_code"], code, "{engine}: {step}: {document:#}");
    let message = failed["error_message"].as_str().unwrap();
    assert!(message.contains(part), "{engine}: {step}: {message}");
    assert!(!failed["next"].as_str().unwrap().is_empty(), "{engine}: {step}");
    assert!(tree(&home.file("")) == before, "{engine}: {step} has changed something");
}

/// Both engines report what cannot be replaced, and change no byte.
#[test]
fn both_engines_refuse_impossible_replacements() {
    let home = project();
    let of_lib = |symbol, with| patch("src/lib.rs", symbol, with, None);
    let of_kind = |symbol, kind| patch("src/lib.rs", symbol, "patches/fix.rs", Some(kind));
    for engine in ["embedded", "external"] {
        for (step, code, part) in [
            (of_lib("nowhere", "patches/fix.rs"), "E104", "src/lib.rs: no definition of nowhere"),
            (of_lib("OLD_FUNCTION", "patches/fix.rs"), "E104", "did you mean old_function"),
            (
                of_lib("twin", "patches/fix.rs"),
                "E104",
                "twin is defined 2 times: function left::twin (line 22), function right::twin (line 28)",
            ),
            (of_lib("made", "patches/fix.rs"), "E104", "the name stands in the macro make"),
            (
                of_kind("old_function", "struct"),
                "E104",
                "what has this name is a function (line 3)",
            ),
            (
                of_kind("old_function", "thing"),
                "E203",
                "thing is no kind of definition; known: fun",
            ),
            (
                of_lib("old_function", "patches/absent.rs"),
                "E101",
                "patches/absent.rs does not exist",
            ),
            (of_lib("old_function", "patches/empty.rs"), "E203", "it is empty"),
            (of_lib("old_function", "patches/blank.rs"), "E203", "it is empty"),
            (of_lib("old_function", "patches/words.rs"), "E203", "the replacement holds no code"),
            (of_lib("old_function", "patches/latin.rs"), "E203", "it is not UTF-8 text"),
            (
                of_lib("old_function", "patches/open.rs"),
                "E303",
                "the result does not parse as Rust",
            ),
            (of_lib("old_function", "patches"), "E301", "patches is a folder"),
            (patch("src/no.rs", "f", "patches/fix.rs", None), "E101", "src/no.rs does not exist"),
            (
                patch("src/broken.rs", "bad", "patches/fix.rs", None),
                "E310",
                "src/broken.rs: the file does not parse as Rust: line 6",
            ),
            (patch("Cargo.toml", "name", "patches/fix.rs", None), "E310", "no grammar is there"),
        ] {
            assert_fails(&home, engine, &step, code, part);
        }
    }
}

/// A type, a module or a kind in the request chooses one of several definitions with the same name.
#[test]
fn equal_names_are_told_apart() {
    let home = project();
    for (symbol, kind, old, new) in [
        ("right::twin", None, "        2\n", "        22\n"),
        ("innermost", None, "            4\n", "            44\n"),
        ("helper::inner", None, "        innermost()\n", "        innermost() + 1\n"),
        ("helper", Some("function"), "    inner()\n", "    inner() + 1\n"),
        (
            "helper",
            Some("module"),
            "pub mod helper {}",
            "pub mod helper {\n    pub fn more() {}\n}",
        ),
    ] {
        let before = lib(&home);
        let expected = before.replacen(old, new, 1);
        assert_ne!(expected, before);
        let changed = |text: &str| -> String {
            // The expected definition, cut out by the engine itself.
            let path = home.write("cut.rs", text);
            home.plan(json!([{"step_id": "s", "tool": "symbols_in_file",
                "arguments": {"file_path": "cut.rs"}}]));
            let document = run(&home, "embedded").exits(0).document();
            fs::remove_file(path).unwrap();
            let rows = document["step_results"][0]["stdout"].as_str().unwrap().to_owned();
            let rows: Vec<Value> = serde_json::from_str(&rows).unwrap();
            let is_it = |row: &&Value| {
                row["fqn"].as_str().unwrap().ends_with(symbol)
                    && kind.is_none_or(|kind| row["kind"] == kind)
            };
            let found: Vec<_> = rows.iter().filter(is_it).collect();
            let [row] = found[..] else { panic!("{symbol}: {found:?}") };
            let byte = |key: &str| usize::try_from(row[key].as_u64().unwrap()).unwrap();
            text[byte("byte_start")..byte("byte_end")].to_owned()
        };
        home.write("patches/new.rs", changed(&expected));
        home.plan(json!([patch("src/lib.rs", symbol, "patches/new.rs", kind)]));
        let document = run(&home, "embedded").exits(0).document();
        assert_eq!(outcomes(&document), ["succeeded"], "{document:#}");
        assert_eq!(lib(&home), expected, "{symbol}");
    }
    // A definition beside a syntax error is not guessed; elsewhere in the file it is found.
    home.write("patches/good.rs", "fn good() -> u8 {\n    11\n}\n");
    home.plan(json!([patch("src/broken.rs", "good", "patches/good.rs", None)]));
    run(&home, "embedded").exits(0);
    let broken = fs::read_to_string(home.file("src/broken.rs")).unwrap();
    assert_eq!(broken, "fn good() -> u8 {\n    11\n}\n\nfn bad() {\n    let }\n");
}

#[test]
fn unusable_code_graph_is_reported_and_kept() {
    let home = project();
    let list = json!({"step_id": "s", "tool": "symbols_in_file",
        "arguments": {"file_path": "src/lib.rs"}});
    let find = json!({"step_id": "s", "tool": "references_to_symbol_name",
        "arguments": {"symbol": "old_function"}});
    let missing = "there is no codegraph.db in the workspace or above it";
    assert_fails(&home, "external", &list, "E103", missing);
    fs::create_dir(home.file("codegraph.db")).unwrap();
    assert_fails(&home, "external", &list, "E103", missing);
    fs::remove_dir(home.file("codegraph.db")).unwrap();

    index(&home.file(""));
    let good = fs::read(home.file("codegraph.db")).unwrap();
    let mut scribbled = good.clone();
    scribbled[100..4096].fill(0x5a);
    let other = home.path().join("other.db");
    #[expect(clippy::disallowed_methods, reason = "a database of somebody else")]
    let connection = Connection::open(&other).unwrap();
    connection.execute_batch("CREATE TABLE notes (id INTEGER)").unwrap();
    connection.close().unwrap();
    for (bytes, part) in [
        (Vec::new(), "it is empty"),
        (b"SQLite".to_vec(), "it is no SQLite database"),
        (vec![b'x'; 9_000], "it is no SQLite database"),
        (good[..good.len() / 2].to_vec(), "malformed"),
        (scribbled, "malformed"),
        (
            fs::read(&other).unwrap(),
            "it is no code graph that this engine knows: there is no table",
        ),
    ] {
        home.write("codegraph.db", &bytes);
        for step in [&list, &find] {
            assert_fails(&home, "external", step, "E310", part);
        }
        let mut asked = list.clone();
        asked["precondition"] = "magellan has indexed file".into();
        assert_fails(&home, "external", &asked, "E310", part);
        // `auto` continues without the graph and says why.
        home.plan(json!([list]));
        let before = tree(&home.file(""));
        let document = run(&home, "auto").exits(0).document();
        let id = document["step_results"][0]["execution_id"].as_str().unwrap();
        let shown = home.json(["evidence", "show", id]).exits(0).document();
        let engine = &result_of(&shown)["engine"];
        assert_eq!(engine["name"], "embedded", "{engine:#}");
        assert!(engine["remarks"][0].as_str().unwrap().contains(part), "{engine:#}");
        assert!(tree(&home.file("")) == before);
    }

    home.write("codegraph.db", &good);
    #[expect(clippy::disallowed_methods, reason = "the database of magellan")]
    let writer = Connection::open(home.file("codegraph.db")).unwrap();
    // An exclusive lock, as while magellan checkpoints its log; a log alone does not block readers.
    writer.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE").unwrap();
    // The bytes are not read here, because closing the file would release this process's lock.
    home.plan(json!([list]));
    let document = run(&home, "external").exits(1).document();
    let failed = &document["step_results"][0];
    assert_eq!(failed["error_code"], "E310", "{document:#}");
    let message = failed["error_message"].as_str().unwrap();
    assert!(message.ends_with("cannot be used: database is locked"), "{message}");
    writer.close().unwrap();
    run(&home, "external").exits(0);
}
