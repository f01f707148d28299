//! `evidence`: search, show, query, verify (SPEC §8, §11).

use std::fs;

use serde_json::{Value, json};

use crate::harness::home::{Done, Home, execution_ids, keys};
use crate::harness::{create_file, read_file};

/// A home with a run that succeeded in one step and failed in the next, and its result.
fn with_a_run() -> (Home, Value) {
    let home = Home::new();
    home.write("a.txt", "a wombat lives here\n");
    home.plan(json!([
        read_file("look", "a.txt"),
        create_file("make", "b.txt", "new\n"),
        read_file("miss", "absent.txt"),
    ]));
    let result = home.json(["run", "space/p.json", "--yes"]).exits(1).document();
    (home, result)
}

fn execution(result: &Value, step: usize) -> &str {
    result["step_results"][step]["execution_id"].as_str().unwrap()
}

fn query(home: &Home, arguments: &[&str]) -> Vec<Value> {
    let line = ["evidence", "query"].into_iter().chain(arguments.iter().copied());
    home.json(line).exits(0).lines()
}

#[test]
fn search_finds_a_word_of_output() {
    let (home, result) = with_a_run();
    let lines = home.json(["evidence", "search", "wombat"]).exits(0).lines();
    assert_eq!(execution_ids(&lines), [execution(&result, 0)]);
    assert_eq!(lines[0]["outcome"], "succeeded");
    assert_eq!(lines[0]["tool_name"], "file_read");
    assert!(lines[0]["excerpt"].as_str().unwrap().contains("wombat"));

    assert_eq!(home.json(["evidence", "search"]).exits(0).lines().len(), 3);
    let failed = home.json(["evidence", "search", "--outcome", "failed"]).exits(0).lines();
    assert_eq!(execution_ids(&failed), [execution(&result, 2)]);
    let one = home.json(["evidence", "search", "--limit", "1"]).exits(0);
    assert_eq!(one.lines().len(), 1);
    assert!(one.stderr.contains("1 of 3 shown"), "a reached limit is reported: {one:#?}");
    let nothing = home.json(["evidence", "search", "quokka"]).exits(0);
    assert_eq!(nothing.stdout, "", "no rows are no error");
    let people = home.run(["evidence", "search", "wombat"]).exits(0);
    assert!(people.stdout.contains(execution(&result, 0)), "{people:#?}");
    // Options such as --run take this id.
    let run = format!(" run {}: ", result["run_id"].as_str().unwrap());
    assert!(people.stdout.contains(&run), "{people:#?}");
}

#[test]
fn search_excludes_words_and_knows_who_decided() {
    let (home, result) = with_a_run();
    let index = home.evidence().join("search_index.db");
    let indexed = fs::metadata(&index).unwrap().modified().unwrap();
    let [look, make, miss] = [0, 1, 2].map(|step| execution(&result, step));
    for (arguments, expected) in [
        (&["file_read -wombat"][..], &[miss][..]),
        (&["womb*", "here"], &[look]),
        (&["--file", "b.txt"], &[make]),
        (&["--by", "command_line_yes"], &[miss, make, look]),
        (&["--by", "nobody"], &[]),
    ] {
        let line = ["evidence", "search"].into_iter().chain(arguments.iter().copied());
        let found = home.json(line).exits(0).lines();
        assert_eq!(execution_ids(&found), expected, "{arguments:?}");
    }
    let now = fs::metadata(&index).unwrap().modified().unwrap();
    assert_eq!(now, indexed, "the run has indexed its records");
}

#[test]
fn show_prints_executions_and_runs_in_full() {
    let (home, result) = with_a_run();
    let shown = home.json(["evidence", "show", execution(&result, 1)]).exits(0).document();
    assert_eq!(shown["execution_id"], execution(&result, 1));
    assert_eq!(shown["arguments"]["contents"], "new\n");
    assert_eq!(shown["run"]["status"], "failed");
    assert!(shown["intent_at_ms"].is_i64());
    for key in ["artifacts", "edges", "decisions", "ledger_digest"] {
        assert!(!shown[key].is_null(), "{key}");
    }

    let run_id = result["run_id"].as_str().unwrap();
    let run = home.json(["evidence", "show", run_id]).exits(0).document();
    assert_eq!(keys(&run), ["changed", "executions", "run"]);
    let executions = run["executions"].as_array().unwrap();
    assert_eq!(execution_ids(executions), [0, 1, 2].map(|step| execution(&result, step)));

    let people = home.run(["evidence", "show", execution(&result, 0)]).exits(0);
    assert!(people.stdout.contains("a wombat lives here"), "{people:#?}");
    let people = home.run(["evidence", "show", run_id]).exits(0);
    assert!(people.stdout.contains(execution(&result, 2)), "{people:#?}");

    let absent = "00000000-0000-4000-8000-000000000000";
    assert_eq!(home.json(["evidence", "show", absent]).exits(5).error_code(), "E014");
}

#[test]
fn changed_rows_are_marked() {
    let (home, result) = with_a_run();
    let (run_id, made) = (result["run_id"].as_str().unwrap(), execution(&result, 1));
    let shown = |id: &str| {
        let document = home.json(["evidence", "show", id]).exits(0).document();
        (document["changed"].clone(), home.run(["evidence", "show", id]).exits(0).stdout)
    };
    let hits = || -> Vec<Value> {
        let lines = home.json(["evidence", "search", "--tool", "file_create"]).exits(0).lines();
        lines.iter().map(|line| line["changed"].clone()).collect()
    };
    for id in [run_id, made] {
        let (changed, people) = shown(id);
        assert_eq!(changed, json!([]));
        assert!(!people.contains("changed after it was written"), "{people}");
    }
    assert_eq!(hits(), [json!(false)]);
    let questions =
        [&["q1", "file_create"][..], &["q2", "file_read"], &["q4", "b.txt"], &["q6", "b.txt"]];
    let answers = || questions.map(|asked| query(&home, asked)[0]["changed"].clone());
    assert_eq!(answers(), [false, false, false, false].map(Value::from));
    change(
        &home,
        "executions",
        &format!("UPDATE executions SET about = 'c.txt' WHERE id = '{made}'"),
    );
    for id in [run_id, made] {
        let (changed, people) = shown(id);
        assert!(changed[0].as_str().unwrap().contains("of executions"), "{changed}");
        assert_eq!(changed.as_array().unwrap().len(), 1, "{changed}");
        assert!(
            people.starts_with("This record was changed after it was written: row "),
            "{people}"
        );
    }
    assert_eq!(shown(execution(&result, 0)).0, json!([]), "another execution was not");
    assert_eq!(hits(), [json!(true)]);
    assert_eq!(answers(), [true, false, true, true].map(Value::from));
    for asked in questions {
        let line = ["evidence", "query"].into_iter().chain(asked.iter().copied());
        let people = home.run(line).exits(0).stdout;
        let said = format!("{made}: this record was changed after it was written.");
        assert_eq!(people.contains(&said), asked[0] != "q2", "{people}");
    }
    let people = home.run(["evidence", "search"]).exits(0).stdout;
    assert_eq!(people.matches("this record was changed after it was written").count(), 1);
    let answered = query(&home, &["q5", made]);
    assert!(!answered[0]["changed"].as_array().unwrap().is_empty());
    // The output and the end of the run are rows of their own.
    let look = execution(&result, 0);
    let sql = format!("UPDATE execution_artifacts SET bytes = 1 WHERE execution_id = '{look}'");
    change(&home, "execution_artifacts", &sql);
    let (changed, _) = shown(look);
    assert!(changed[0].as_str().unwrap().contains("of execution_artifacts"), "{changed}");
    change(&home, "run_ends", "UPDATE run_ends SET completed_steps = 9");
    let (changed, _) = shown(run_id);
    assert!(changed.to_string().contains("of run_ends"), "{changed}");
}

/// Every kind of report: no evidence, sound, compared with a head, changed, with another schema, truncated.
#[test]
fn verification_schema_is_printed_and_holds() {
    let (home, _) = with_a_run();
    let printed = Done::of(home.command().args(["schema", "evidence_verify"])).exits(0);
    let printed: Value = serde_json::from_str(&printed.stdout).unwrap();
    let schema = jsonschema::validator_for(&printed).unwrap();
    let holds = |report: &Value, is_ok: bool| {
        let complaints: Vec<_> = schema.iter_errors(report).map(|it| it.to_string()).collect();
        assert!(complaints.is_empty(), "{report}: {complaints:#?}");
        assert_eq!(report["ok"], is_ok, "{report}");
    };
    let verify = |home: &Home, head: &[&str], code: i32| {
        let words = [&["evidence", "verify"], head].concat();
        home.json(words).exits(code).document()
    };
    holds(&verify(&Home::new(), &[], 0), true);
    let sound = verify(&home, &[], 0);
    holds(&sound, true);
    holds(&verify(&home, &["--head", sound["head"].as_str().unwrap()], 0), true);
    let head = format!("sha256:{}", "0".repeat(63) + "1");
    holds(&verify(&home, &["--head", &head], 6), false);
    let (other, _) = with_a_run();
    change(&home, "executions", "UPDATE executions SET about = 'c.txt'");
    holds(&verify(&home, &[], 6), false);
    change(&other, "executions", "DROP TRIGGER runs_refuses_delete");
    let report = verify(&other, &[], 6);
    holds(&report, false);
    assert_ne!(report["schema"], json!([]));
    fs::write(home.evidence().join("execution_log.db"), "").unwrap();
    let cut = verify(&home, &[], 6);
    holds(&cut, false);
    assert!(cut["kept"]["difference"].is_string());
    // The schema is strict about fields that it does not name.
    for (pointer, wrong) in
        [("ok", json!(false)), ("head", json!("x")), ("rows", json!(-1)), ("more", json!(1))]
    {
        let mut report = sound.clone();
        report[pointer] = wrong;
        assert!(!schema.is_valid(&report), "{report}");
    }
}

/// Changes rows with the protecting trigger removed for that time, so that only the chain shows it.
fn change(home: &Home, table: &str, sql: &str) {
    let conn = home.sql();
    let trigger = format!("{table}_refuses_update");
    let asked = "SELECT sql FROM sqlite_schema WHERE name = ?1";
    let made: String = conn.query_row(asked, [&trigger], |row| row.get(0)).unwrap();
    conn.execute_batch(&format!("DROP TRIGGER {trigger}; {sql}; {made};")).unwrap();
}

// A person rejects plans in the window only.
#[test]
fn rejected_plans_are_listed_with_their_reason() {
    let (home, _) = with_a_run();
    assert_eq!(query(&home, &["rejected"]), [Value::Null; 0]);
    let sql = "UPDATE authorizations SET status = 'rejected', reason = 'Too many wombats'";
    change(&home, "authorizations", sql);
    let rejected = query(&home, &["rejected", "many", "WOMBATS"]);
    assert_eq!(rejected.len(), 1);
    assert_eq!(
        keys(&rejected[0]),
        [
            "authorization_id",
            "by",
            "changed",
            "plan_digest",
            "plan_id",
            "plan_name",
            "reason",
            "timestamp_ms",
            "workspace",
        ]
    );
    assert_eq!(rejected[0]["reason"], "Too many wombats");
    assert_eq!(rejected[0]["changed"], true);
    assert_eq!(query(&home, &["rejected", "badgers"]), [Value::Null; 0]);
    let people = home.run(["evidence", "query", "rejected"]).exits(0).stdout;
    assert!(
        people.contains("Too many wombats") && people.contains("was changed after"),
        "{people}"
    );
    let search = home.run(["evidence", "search", "many wombats"]).exits(0);
    assert!(search.stderr.contains("1 rejected plan has these words"), "{search:#?}");
    let document = home.json(["check", "space/p.json"]).document();
    assert_eq!(document["rejected"]["reason"], "Too many wombats");
    let checked = home.run(["check", "space/p.json"]);
    assert!(checked.stdout.contains("Warning: This plan was rejected on 20"), "{checked:#?}");
    assert!(checked.stdout.contains("not authorized since: Too many wombats"), "{checked:#?}");
}

#[test]
fn the_questions_answer_in_json_lines() {
    let (home, result) = with_a_run();
    let reads = [execution(&result, 0), execution(&result, 2)];
    assert_eq!(execution_ids(&query(&home, &["q1", "file_read"])), reads);
    assert_eq!(execution_ids(&query(&home, &["q1", "file_read", "--limit", "1"])), reads[..1]);
    assert_eq!(query(&home, &["q1", "file_read", "--until", "2001-01-01"]), [Value::Null; 0]);
    assert_eq!(execution_ids(&query(&home, &["q1", "file_read", "--since", "2001-01-01"])), reads);
    assert_eq!(execution_ids(&query(&home, &["q2", "file_read"])), reads[1..]);
    assert_eq!(query(&home, &["q3", "E0425"]), [Value::Null; 0]);
    let touched = query(&home, &["q4", "b.txt"]);
    assert_eq!(execution_ids(&touched), [execution(&result, 1)]);
    assert!(touched[0]["edge_types"].as_array().is_some_and(|types| !types.is_empty()));
    let whole = query(&home, &["q5", execution(&result, 1)]);
    assert_eq!(execution_ids(&whole), [execution(&result, 1)]);
    assert!(whole[0]["artifacts"].is_array() && whole[0]["edges"].is_array());
    assert_eq!(query(&home, &["q5", "00000000-0000-4000-8000-000000000000"]), [Value::Null; 0]);
    assert_eq!(execution_ids(&query(&home, &["q6", "b.txt"])), [execution(&result, 1)]);
    assert_eq!(query(&home, &["q7", "--threshold", "1"]), [Value::Null; 0]);
    assert_eq!(query(&home, &["q8", "E0425", "b.txt"]), [Value::Null; 0]);
    for question in [&["q1", "file_read"][..], &["q4", "b.txt"], &["q7"], &["q8", "E0425"]] {
        let line = ["evidence", "query"].into_iter().chain(question.iter().copied());
        let people = home.run(line).exits(0);
        assert!(
            people.stdout.contains(reads[0])
                || people.stdout.contains(execution(&result, 1))
                || people.stderr.contains("Nothing found."),
            "{people:#?}"
        );
    }
}

#[test]
fn verify_says_sound_tampered_and_truncated() {
    let (home, _) = with_a_run();
    let sound = home.json(["evidence", "verify"]).exits(0).document();
    assert_eq!(keys(&sound), ["first_bad", "head", "kept", "ok", "purged", "rows", "schema"]);
    assert_eq!(sound["ok"], true);
    assert!(sound["rows"].as_u64().unwrap() > 5 && sound["first_bad"].is_null());
    let head = sound["head"].as_str().unwrap();
    home.json(["evidence", "verify", "--head", head]).exits(0);
    let other = format!("sha256:{}", "1".repeat(64));
    let cut = home.json(["evidence", "verify", "--head", &other]).exits(6).document();
    assert_eq!(cut["ok"], false);

    let connection = home.sql();
    let triggers: Vec<String> = connection
        .prepare("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    for trigger in triggers {
        connection.execute_batch(&format!("DROP TRIGGER \"{trigger}\"")).unwrap();
    }
    let changed = connection.execute("UPDATE executions SET success = 1 WHERE success = 0", []);
    assert_eq!(changed.unwrap(), 1);
    drop(connection);
    let tampered = home.json(["evidence", "verify"]).exits(6).document();
    assert_eq!(tampered["ok"], false);
    assert!(tampered["first_bad"].is_string());
    let people = home.run(["evidence", "verify"]).exits(6);
    assert!(people.stdout.contains("The evidence was changed"), "{people:#?}");
}

#[test]
fn absent_evidence_is_sound_and_stays_absent() {
    let home = Home::new();
    assert_eq!(home.json(["evidence", "search", "x"]).exits(0).stdout, "");
    assert_eq!(query(&home, &["q1", "file_read"]), [Value::Null; 0]);
    let sound = home.json(["evidence", "verify"]).exits(0).document();
    assert_eq!((&sound["ok"], &sound["rows"]), (&json!(true), &json!(0)));
    let people = home.run(["evidence", "verify"]).exits(0);
    assert!(people.stderr.contains("There is no evidence in"), "{people:#?}");
    assert!(!home.evidence().exists(), "reading makes nothing");
}

#[test]
fn file_that_is_no_database_is_reported() {
    let home = Home::new();
    fs::create_dir(home.evidence()).unwrap();
    fs::write(home.evidence().join("execution_log.db"), "this is no database, but is long enough")
        .unwrap();
    for command in [&["search"][..], &["query", "q1", "file_read"], &["verify"]] {
        let line = ["evidence"].into_iter().chain(command.iter().copied());
        assert_eq!(home.json(line).exits(4).error_code(), "E401", "{command:?}");
    }
}
