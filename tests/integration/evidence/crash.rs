//! Runs killed with SIGKILL at random moments (SPEC §8).
//!
//! Each kill has a workspace and an evidence folder of its own, so that everything on the disk comes from
//! that run. `KILLS` sets their number; `test.sh --long` uses 200.

use std::collections::BTreeSet;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use countersign::evidence::verify;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::harness::home::Home;

const STEPS: usize = 200;

/// How far the run had come when it was killed.
#[derive(Debug, PartialEq, Eq)]
enum Progress {
    NotBegun,
    Inside {
        /// Whether a step has an intent and no execution.
        in_doubt: bool,
        /// Whether a temporary file is left.
        leftover: bool,
    },
    ToItsEnd,
}

#[test]
fn killed_run_leaves_truthful_evidence() {
    let kills: usize = std::env::var("KILLS").map_or(40, |text| text.parse().expect("a number"));
    let came: Vec<Progress> = (0..kills).map(|_| kill_once()).collect();
    let count = |wanted: fn(&Progress) -> bool| came.iter().filter(|came| wanted(came)).count();
    let inside = count(|came| matches!(came, Progress::Inside { .. }));
    let in_doubt = count(|came| matches!(came, Progress::Inside { in_doubt: true, .. }));
    let leftovers = count(|came| matches!(came, Progress::Inside { leftover: true, .. }));
    let ended = count(|came| *came == Progress::ToItsEnd);
    println!(
        "{kills} kills: {inside} inside the run, {in_doubt} of them with a step in doubt, \
         {leftovers} with a temporary file left; {ended} after its end"
    );
    assert!(inside * 5 >= kills * 2, "only {inside} of {kills} kills were inside the run");
}

/// A random number below this. A seed would not reproduce the moment of a kill.
fn random(below: u64) -> u64 {
    Uuid::new_v4().as_u64_pair().1 % below
}

fn kill_once() -> Progress {
    let home = Home::new();
    let create = |index: usize| {
        let path = format!("out/f{index}.txt");
        json!({"tool": "file_create", "arguments": {"path": path, "contents": format!("{index}\n")}})
    };
    let plan = home.plan((0..STEPS).map(create).collect());
    let mut child = start(&home, &plan);
    // A random moment from before the run to after its end, measured in created files.
    let moment = usize::try_from(random(STEPS as u64 + 20)).expect("a small number");
    wait_for_files(&home, moment, &mut child);
    spin(Duration::from_micros(random(4_000)));
    child.kill().expect("SIGKILL");
    child.wait().expect("the end of the child");
    check_evidence(&home)
}

fn start(home: &Home, plan: &std::path::Path) -> Child {
    let mut command = home.child(["run", "--yes"]);
    command.arg(plan).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program")
}

fn wait_for_files(home: &Home, count: usize, child: &mut Child) {
    while files(home).len() < count && child.try_wait().expect("the child").is_none() {
        std::thread::yield_now();
    }
}

fn spin(length: Duration) {
    let end = Instant::now() + length;
    while Instant::now() < end {
        std::hint::spin_loop();
    }
}

/// The files that the run created, without temporary files.
fn files(home: &Home) -> BTreeSet<String> {
    names(home).into_iter().filter(|path| !path.starts_with("out/.")).collect()
}

/// All files in the output folder, temporary ones included.
fn names(home: &Home) -> BTreeSet<String> {
    let Ok(entries) = std::fs::read_dir(home.file("out")) else { return BTreeSet::new() };
    entries
        .map(|entry| format!("out/{}", entry.expect("an entry").file_name().to_string_lossy()))
        .collect()
}

fn check_evidence(home: &Home) -> Progress {
    let report = verify(&home.evidence(), None).expect("a readable database");
    assert!(report.ok, "{report:?}");
    let database = home.evidence().join("execution_log.db");
    if !database.exists() {
        assert_eq!(files(home), BTreeSet::new());
        return Progress::NotBegun;
    }
    // Rows, not a set of paths: a step that ran twice would have two.
    let intents = || rows(home, "SELECT about FROM intents");
    let intents_before = intents();
    let before: BTreeSet<String> = intents_before.iter().cloned().collect();
    assert_eq!(before.len(), intents_before.len(), "no step was announced twice");
    let done = paths(home, "SELECT about FROM executions WHERE success = 1");
    let on_disk = files(home);
    for path in &on_disk {
        let content = std::fs::read_to_string(home.file(path)).expect("a file");
        assert_eq!(
            format!("out/f{}.txt", content.trim_end()),
            *path,
            "the file is complete or absent"
        );
    }
    assert!(on_disk.is_subset(&before), "every file has its intent: {on_disk:?} {before:?}");
    assert!(done.is_subset(&on_disk), "every recorded success is on the disk");
    assert!(before.len() - done.len() <= 1, "at most one step is in doubt");
    let Some(run_id) = paths(home, "SELECT id FROM runs").pop_first() else {
        assert_eq!(before, BTreeSet::new());
        return Progress::NotBegun;
    };
    if !paths(home, "SELECT run_id FROM run_ends").is_empty() {
        assert_eq!(on_disk.len(), STEPS);
        return Progress::ToItsEnd;
    }
    let all = names(home);
    let in_doubt: BTreeSet<String> = before.difference(&done).cloned().collect();
    reconcile(home, &run_id, &in_doubt);
    assert_eq!(intents(), intents_before, "a query runs nothing again");
    let warned = || home.run(["evidence", "verify"]).exits(0).stderr.contains("has no end");
    assert!(warned(), "it may have been a power cut");
    run_something_else(home);
    assert!(!warned());
    assert_eq!(intents(), intents_before, "nor by a later run");
    assert_eq!(names(home), all, "nothing is made, and nothing is tidied away");
    Progress::Inside { in_doubt: !in_doubt.is_empty(), leftover: all.len() > on_disk.len() }
}

/// The evidence accepts another run, and the interrupted one does not change.
fn run_something_else(home: &Home) {
    let step = json!({"tool": "file_read", "arguments": {"path": "p.json"}});
    let plan = json!({"plan_id": "later", "intent": "READ", "steps": [step]});
    home.write("later.json", plan.to_string());
    home.json(["run", "space/later.json", "--yes"]).exits(0);
    let report = verify(&home.evidence(), None).expect("a readable database");
    assert!(report.ok, "{report:?}");
}

/// `evidence show` describes the interrupted step as the disk has it.
fn reconcile(home: &Home, run_id: &str, in_doubt: &BTreeSet<String>) {
    let shown = home.json(["evidence", "show", run_id]);
    let shown: Value = serde_json::from_str(&shown.stdout).expect("JSON");
    assert_eq!(shown["run"]["status"], "interrupted");
    let found = shown["reconcile"].as_array().expect("a list");
    assert_eq!(found.len(), in_doubt.len(), "{found:?}");
    for (row, path) in found.iter().zip(in_doubt) {
        assert_eq!(row["path"], path.as_str());
        let expected = if home.file(path).exists() { "as_after" } else { "as_before" };
        assert_eq!(row["finding"], expected);
    }
    let named: BTreeSet<String> =
        found.iter().filter_map(|row| row["leftover"].as_str()).map(str::to_owned).collect();
    let left: BTreeSet<String> = names(home).difference(&files(home)).cloned().collect();
    assert_eq!(named, left, "every temporary file is named");
}

fn paths(home: &Home, sql: &str) -> BTreeSet<String> {
    rows(home, sql).into_iter().collect()
}

#[expect(clippy::disallowed_methods, reason = "asserts on the rows themselves")]
fn rows(home: &Home, sql: &str) -> Vec<String> {
    let conn = rusqlite::Connection::open(home.evidence().join("execution_log.db")).expect("rows");
    let mut statement = match conn.prepare(sql) {
        Ok(statement) => statement,
        // The process was killed before it created the tables.
        Err(_) => return Vec::new(),
    };
    let rows = statement.query_map([], |row| row.get(0)).expect("rows");
    rows.map(|row| row.expect("a text")).collect()
}
