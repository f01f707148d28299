//! Loops killed with SIGKILL while they plan, apply and verify (SPEC §8, §10): each is shown as interrupted,
//! and none resumes by itself.

use std::collections::BTreeMap;
use std::fs;
use std::process::Stdio;

use countersign::evidence::{EvidenceReader, verify};
use countersign::run::LoopState;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::harness::scripted_planner::{Answer, Scripted, cargo_project};

/// A moment of a loop, by the number of rows in a table.
type Moment = (&'static str, i64);

#[test]
fn a_killed_loop_comes_back_as_interrupted() {
    let kills: usize = std::env::var("LOOP_KILLS").map_or(24, |text| text.parse().unwrap());
    let moments: [Moment; 8] = [
        ("loops", 1),
        ("attempts", 1),
        ("authorizations", 1),
        ("runs", 1),
        ("intents", 1),
        ("attempt_ends", 1),
        ("attempts", 2),
        ("executions", 2),
    ];
    let mut came: BTreeMap<String, usize> = BTreeMap::new();
    for kill in 0..kills {
        let moment = moments[kill % moments.len()];
        let step = |number: usize| {
            let command = format!("echo {number} >> tries.txt; exit {number}");
            Answer::Plan(json!({"goal": "g", "steps": [{"command": command}]}))
        };
        let planner = Scripted::new((1..4).map(step));
        *came.entry(kill_at(&planner, moment)).or_default() += 1;
    }
    println!("{kills} kills: {came:?}");
    let interrupted = came.get("interrupted").copied().unwrap_or_default();
    assert!(interrupted * 2 >= kills, "only {interrupted} of {kills} loops were interrupted");
}

/// The run of its verification is interrupted too.
#[test]
fn loop_killed_while_verifying_is_interrupted() {
    let planner = Scripted::new([Answer::Plan(json!({
        "plan_id": "p", "intent": "MUTATE", "steps": [
            {"tool": "file_create", "arguments": {"path": "a.txt", "contents": ""}}]}))]);
    cargo_project(&planner.home, "");
    // The build waits for the pipe, so that the loop cannot end before it is killed.
    let go = planner.home.file("go");
    rustix::fs::mkfifoat(rustix::fs::CWD, &go, rustix::fs::Mode::RWXU).unwrap();
    planner.home.write("build.rs", "fn main() { let _ = std::fs::read(\"go\"); }\n");
    assert_eq!(kill_at(&planner, ("runs", 2)), "interrupted");
    // Releases a build that is opening the pipe, and one that opens it later.
    let open = fs::OpenOptions::new().read(true).write(true).open(&go);
    fs::remove_file(&go).unwrap();
    drop(open.unwrap());
    let id = rows(&planner, "SELECT id FROM loops ORDER BY row").remove(0);
    let shown = planner.home.json(["evidence", "show", &id]).exits(0).document();
    let runs = shown["loop"]["attempts"][0]["runs"].as_array().unwrap();
    let fates: Vec<_> = runs.iter().map(|run| run["status"].as_str().unwrap()).collect();
    assert_eq!(fates, ["completed", "interrupted"]);
}

#[test]
fn what_the_planner_of_a_killed_attempt_saw_is_shown() {
    let planner = Scripted::new([
        Answer::Plan(json!({"looks": [{"read": "heron.txt"}, {"glob": "*.md"}]})),
        Answer::Script("echo > \"$d/ready\"; exec sleep 600"),
    ]);
    planner.home.write("heron.txt", "grey\n");
    let mut child = planner.start(Stdio::null);
    while !planner.folder().join("ready").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it was killed");
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let id = rows(&planner, "SELECT id FROM loops").remove(0);
    let shown = planner.home.run(["evidence", "show", &id]).exits(0).stdout;
    let looks =
        "Attempt 1 of 3: interrupted\n    Read heron.txt: 5 bytes\n    List *.md: 2 bytes\n";
    assert!(shown.contains(looks), "{shown}");
    let document = planner.home.json(["evidence", "show", &id]).exits(0).document();
    let attempt = &document["loop"]["attempts"][0];
    assert_eq!(attempt["record"], Value::Null);
    assert_eq!(attempt["looks"][0]["look"], json!({"read": "heron.txt"}));
    // The page of the window shows the replayed events.
    let secrets = planner.home.path().join(".local/share/countersign");
    let mut reader = EvidenceReader::open(&planner.home.evidence(), secrets).unwrap();
    let mut state = LoopState::default();
    reader.replay_loop(id.parse().unwrap()).unwrap().iter().for_each(|event| state.apply(event));
    assert_eq!(json!(state.attempts[0].looks), attempt["looks"]);
}

/// Kills the loop shortly after this moment. Returns the status that the evidence shows afterwards.
fn kill_at(planner: &Scripted, (table, count): Moment) -> String {
    let mut child = planner.start(Stdio::null);
    let sql = format!("SELECT 'x' FROM {table}");
    while (rows(planner, &sql).len() as i64) < count && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    for _ in 0..Uuid::new_v4().as_u64_pair().1 % 2_000_000 {
        std::hint::spin_loop();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    check_evidence(planner)
}

fn check_evidence(planner: &Scripted) -> String {
    let report = verify(&planner.home.evidence(), None).unwrap();
    assert!(report.ok, "{report:?}");
    let ids = rows(planner, "SELECT id FROM loops");
    assert!(ids.len() <= 1);
    let Some(id) = ids.first() else { return "not begun".to_owned() };
    let shown = planner.home.json(["evidence", "show", id]).exits(0).document();
    let status = shown["loop"]["status"].as_str().unwrap().to_owned();
    let ended = rows(planner, "SELECT code FROM loop_ends");
    assert_eq!(ended.first().map_or("interrupted", String::as_str), status);
    for attempt in shown["loop"]["attempts"].as_array().unwrap() {
        let has_end = !attempt["record"].is_null();
        for run in attempt["runs"].as_array().unwrap() {
            let run_ended = run["status"] != "interrupted";
            assert!(run_ended || !has_end, "an attempt with an end has no interrupted run");
        }
    }
    // Neither a query nor another loop resumes the killed loop.
    let before = std::fs::read_to_string(planner.home.file("tries.txt")).unwrap_or_default();
    let intents = rows(planner, "SELECT id FROM intents");
    let tries = before.lines().count();
    assert!(tries <= intents.len(), "every command has its intent: {before}");
    let words = ["loop", "--goal", "other", "--planner", "exit 1", "--max-attempts", "1", "--yes"];
    planner.home.json(words.into_iter().chain(["--workspace", "space"])).exits(1);
    let after = std::fs::read_to_string(planner.home.file("tries.txt")).unwrap_or_default();
    assert_eq!(before, after);
    assert_eq!(rows(planner, "SELECT id FROM intents"), intents);
    let again = planner.home.json(["evidence", "show", id]).exits(0).document();
    assert_eq!(again["loop"]["status"], status.as_str());
    assert!(verify(&planner.home.evidence(), None).unwrap().ok);
    status
}

#[expect(clippy::disallowed_methods, reason = "asserts on the rows themselves")]
fn rows(planner: &Scripted, sql: &str) -> Vec<String> {
    let database = planner.home.evidence().join("execution_log.db");
    if !database.exists() {
        return Vec::new();
    }
    let conn = rusqlite::Connection::open(database).unwrap();
    let Ok(mut statement) = conn.prepare(sql) else { return Vec::new() };
    let Ok(rows) = statement.query_map([], |row| row.get(0)) else { return Vec::new() };
    // Another process may be creating the tables at this moment.
    rows.map_while(Result::ok).collect()
}
