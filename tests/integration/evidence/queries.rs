//! `evidence query q1` to `q8` on runs that check, patch and repair a small crate with the real cargo
//! (SPEC §8).

use serde_json::{Value, json};

use crate::harness::home::{Home, execution_ids};
use crate::harness::{create_file, read_file, step};

const MANIFEST: &str = "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
const FAULTY: &str = "pub fn f() -> u8 {\n    nope()\n}\n";
const SOUND: &str = "pub fn f() -> u8 {\n    1\n}\n";

/// Runs these steps and returns the ids of their executions.
fn run(home: &Home, steps: Value, exit: i32) -> Vec<String> {
    home.plan(steps);
    let result = home.json(["run", "space/p.json", "--yes"]).exits(exit).document();
    let results = result["step_results"].as_array().unwrap().iter();
    results.map(|step| step["execution_id"].as_str().unwrap().to_owned()).collect()
}

fn crate_of(source: &str) -> Home {
    let home = Home::new();
    home.write("Cargo.toml", MANIFEST);
    std::fs::create_dir(home.file("src")).unwrap();
    home.write("src/lib.rs", source);
    home
}

/// The answer of a query, which must be the same each time.
fn query(home: &Home, arguments: &[&str]) -> Vec<Value> {
    let line = || ["evidence", "query"].into_iter().chain(arguments.iter().copied());
    let first = home.json(line()).exits(0);
    assert_eq!(first.stdout, home.json(line()).exits(0).stdout, "{arguments:?}");
    first.lines()
}

/// The edges of an execution, sorted, as `TYPE kind target`.
fn edges(home: &Home, id: &str) -> Vec<String> {
    let whole = query(home, &["q5", id]);
    let edges = whole[0]["edges"].as_array().unwrap().iter();
    let word = |edge: &Value, name: &str| edge[name].as_str().unwrap().to_owned();
    let mut edges: Vec<_> = edges
        .map(|edge| ["edge_type", "target_kind", "target"].map(|name| word(edge, name)).join(" "))
        .collect();
    edges.sort();
    edges
}

#[test]
fn the_eight_questions_are_answered_about_real_checks() {
    let home = crate_of(FAULTY);
    let check = || step("check", "lsp_check", json!({"path": "."}));
    let write =
        |text: &str| step("write", "file_write", json!({"path": "src/lib.rs", "contents": text}));
    let first = run(&home, json!([check()]), 1);
    let repaired = run(&home, json!([write(SOUND), check()]), 0);
    let broken = run(&home, json!([write(FAULTY), check()]), 1);
    let missed = run(&home, json!([read_file("miss", "src/absent.rs")]), 1);
    let (fix, passed) = (repaired[0].as_str(), repaired[1].as_str());
    let (spoil, failed) = (broken[0].as_str(), broken[1].as_str());
    let first = first[0].as_str();

    assert_eq!(execution_ids(&query(&home, &["q1", "lsp_check"])), [first, passed, failed]);
    assert_eq!(execution_ids(&query(&home, &["q1", "lsp_check", "--limit", "2"])), [first, passed]);
    assert_eq!(execution_ids(&query(&home, &["q2", "lsp_check"])), [failed, first]);
    let with_code = query(&home, &["q3", "E0425"]);
    assert_eq!(execution_ids(&with_code), [first, failed]);
    assert_eq!(with_code[0]["error_code"], "E304");
    let touched = query(&home, &["q4", "src/lib.rs"]);
    assert_eq!(execution_ids(&touched), [first, fix, spoil, failed]);
    let types: Vec<_> = touched.iter().map(|line| &line["edge_types"]).collect();
    assert_eq!(*types[0], json!(["REFERENCED"]));
    assert_eq!(*types[1], json!(["AFFECTED", "EXECUTED_ON"]));
    let whole = query(&home, &["q5", first]);
    let artifacts = whole[0]["artifacts"].as_array().unwrap().iter();
    assert!(artifacts.map(|it| &it["artifact_type"]).any(|it| it == "diagnostics"));
    assert_eq!(
        edges(&home, first),
        ["EXECUTED_ON file .", "PRODUCED diagnostic E0425", "REFERENCED file src/lib.rs"]
    );
    assert_eq!(execution_ids(&query(&home, &["q6", "src/lib.rs"])), [spoil]);
    // An attempt that failed is the latest outcome too.
    let latest = query(&home, &["q6", "src/absent.rs"]);
    assert_eq!(
        (execution_ids(&latest), &latest[0]["outcome"]),
        (vec![&*missed[0]], &json!("failed"))
    );
    let recurring = query(&home, &["q7"]);
    assert_eq!(recurring.len(), 1, "{recurring:#?}");
    assert_eq!(recurring[0]["code"], "E0425");
    assert_eq!(recurring[0]["file_name"], "src/lib.rs");
    assert_eq!(recurring[0]["count"], 2);
    assert_eq!(recurring[0]["execution_ids"], json!([first, failed]));
    let seen = |name: &str| recurring[0][name].as_i64().unwrap();
    assert!(seen("first_seen_ms") < seen("last_seen_ms"));
    for about in [&["q8", "E0425"][..], &["q8", "E0425", "src/lib.rs"]] {
        let later = query(&home, about);
        assert_eq!(execution_ids(&later), [fix, spoil]);
        for line in &later {
            assert_eq!(line["diagnostic_execution_id"], first);
            assert_eq!(line["file_name"], "src/lib.rs");
            assert!(line["after_ms"].as_i64().unwrap() > 0);
        }
    }

    // The text output has the same rows.
    for (question, found) in [
        (vec!["q1", "lsp_check"], first),
        (vec!["q2", "lsp_check"], failed),
        (vec!["q3", "E0425"], first),
        (vec!["q4", "src/lib.rs"], "AFFECTED, EXECUTED_ON"),
        (vec!["q5", first], "E0425"),
        (vec!["q6", "src/lib.rs"], spoil),
        (vec!["q7"], "E0425"),
        (vec!["q8", "E0425"], "ms after"),
    ] {
        let line = ["evidence", "query"].into_iter().chain(question.iter().copied());
        let people = home.run(line).exits(0);
        assert!(people.stdout.contains(found), "{question:?}: {people:#?}");
        if question[0] != "q5" {
            let rows = query(&home, &question).len();
            assert_eq!(people.stdout.lines().count(), rows, "{people:#?}");
        }
    }
    // An empty answer is no error.
    let absent = "00000000-0000-4000-8000-000000000000";
    for question in [
        &["q1", "file_glob"][..],
        &["q2", "file_write"],
        &["q3", "E9999"],
        &["q4", "nowhere.rs"],
        &["q5", absent],
        &["q6", "nowhere.rs"],
        &["q7", "--threshold", "9"],
        &["q8", "E9999"],
        &["q8", "E0425", "nowhere.rs"],
    ] {
        assert_eq!(query(&home, question), [Value::Null; 0], "{question:?}");
        let line = ["evidence", "query"].into_iter().chain(question.iter().copied());
        let people = home.run(line).exits(0);
        assert!(
            people.stdout.is_empty() && people.stderr.contains("Nothing found."),
            "{people:#?}"
        );
    }
}

#[test]
fn code_steps_link_files_symbols_and_diagnostics() {
    let home = crate_of(SOUND);
    home.write("good.txt", "pub fn f() -> u8 {\n    2\n}\n");
    home.write("bad.txt", "pub fn f() -> u8 {\n    nope()\n}\n");
    let patch = |id: &str, with: &str| {
        step(id, "splice_patch", json!({"file": "src/lib.rs", "symbol": "f", "with": with}))
    };
    let file = json!({"file_path": "src/lib.rs"});
    let from = json!({"file_path": "src/lib.rs", "symbol": "f"});
    let done = run(
        &home,
        json!([
            step("symbols", "symbols_in_file", file),
            step("all", "references_to_symbol_name", json!({"symbol": "f"})),
            step("some", "references_from_file_to_symbol_name", from),
            patch("good", "good.txt"),
            patch("bad", "bad.txt"),
        ]),
        1,
    );
    let expected: [&[&str]; 5] = [
        &["EXECUTED_ON file src/lib.rs", "REFERENCED symbol f"],
        &["EXECUTED_ON file .", "REFERENCED symbol f"],
        &["EXECUTED_ON file src/lib.rs", "REFERENCED symbol f"],
        &[
            // The check creates this file.
            "AFFECTED file Cargo.lock",
            "AFFECTED file src/lib.rs",
            "AFFECTED symbol f",
            "EXECUTED_ON file src/lib.rs",
            "EXECUTED_ON symbol f",
            "REFERENCED file good.txt",
        ],
        // The check refused the replacement: the file was changed and restored.
        &[
            "EXECUTED_ON file src/lib.rs",
            "EXECUTED_ON symbol f",
            "PRODUCED diagnostic E0425",
            "REFERENCED file bad.txt",
        ],
    ];
    for (id, expected) in done.iter().zip(expected) {
        assert_eq!(edges(&home, id), expected);
    }
    assert_eq!(execution_ids(&query(&home, &["q3", "E0425"])), [&done[4]]);
    assert_eq!(execution_ids(&query(&home, &["q6", "src/lib.rs"])), [&done[4]]);

    // A missing symbol is linked too.
    let absent = json!({"file": "src/lib.rs", "symbol": "gone", "with": "good.txt"});
    let failed = run(&home, json!([step("absent", "splice_patch", absent)]), 1);
    assert_eq!(
        edges(&home, &failed[0]),
        ["EXECUTED_ON file src/lib.rs", "EXECUTED_ON symbol gone"]
    );
}

/// Wherever an id is taken, its beginning is, too.
#[test]
fn the_beginning_of_an_id_is_enough() {
    let home = Home::new();
    home.write("a.txt", "a wombat\n");
    home.plan(json!([read_file("look", "a.txt"), create_file("make", "b.txt", "new\n")]));
    let run = home.json(["run", "space/p.json", "--yes"]).exits(0).document();
    let run = run["run_id"].as_str().unwrap().to_owned();
    let execution = home.texts("SELECT id FROM executions ORDER BY row LIMIT 1", []).remove(0);
    let (short, of_step) = (&run[..8], &execution[..12]);
    assert_eq!(home.json(["evidence", "search", "--run", short]).exits(0).lines().len(), 2);
    for line in [["evidence", "show", short], ["evidence", "times", short]] {
        assert_eq!(home.json(line).exits(0).document()["run"]["run_id"], run, "{line:?}");
    }
    let shown = home.json(["evidence", "show", of_step]).exits(0).document();
    assert_eq!(shown["execution_id"], execution);
    let _ = home.json(["evidence", "durations", of_step]).exits(0);
    let _ = home.json(["evidence", "compare", short, &run[..10]]).exits(0);
    let case = home.path().join("case.zip");
    let _ = home.json(["evidence", "case", short, "--out", case.to_str().unwrap()]).exits(0);
    let line = ["evidence", "export", "--format", "csv", "--run", short];
    assert_eq!(home.run(line).exits(0).stdout.lines().count(), 3);
    let line = ["evidence", "purge", "--run", short, "--dry-run"];
    assert_eq!(home.json(line).exits(0).document()["rule"]["run_id"], run);
    assert!(home.run(["revert", short]).exits(3).stdout.contains("b.txt"));

    // Too short, of nothing, and of several.
    assert!(home.run(["evidence", "show", &run[..7]]).exits(5).stderr.contains("8 or more"));
    let nothing = home.run(["evidence", "show", "00000000"]).exits(5);
    assert!(nothing.stderr.contains("begins with 00000000"), "{nothing:?}");
    let twin = format!("{}0000-4000-8000-000000000000", &run[..9]);
    let sql = home.sql();
    let copied = "INSERT INTO runs SELECT 1000000, ?1, plan_digest, plan_id, authorization_id, workspace,
                  mode, policy_digest, target, host_key, parent_run, attempt_id, program_version, user_name,
                  timestamp FROM runs";
    sql.execute(copied, [&twin]).unwrap();
    let several = home.run(["evidence", "search", "--run", short]).exits(5);
    for words in ["several ids begin with", &run, &twin] {
        assert!(several.stderr.contains(words), "{several:?}");
    }
}
