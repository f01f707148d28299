//! Several processes on one evidence folder, some of them killed (SPEC §8): one chain, no lost record, and no
//! error about a busy database.
//!
//! The environment variable `ROUNDS` sets the number of rounds; the default is 2, and `test.sh --long` uses 20.

use std::collections::BTreeSet;
use std::process::{Child, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use uuid::Uuid;

use crate::harness::home::{Done, Home};

/// Processes that run at the same time; every second one is killed.
const PROGRAMS: usize = 4;
const STEPS: usize = 100;

#[test]
fn programs_share_one_chain_while_some_are_killed() {
    let rounds = std::env::var("ROUNDS").map_or(2, |text| text.parse().expect("a number"));
    let (mut interrupted, mut asked) = (0, 0);
    for _ in 0..rounds {
        let home = Home::new();
        // The first wave also creates the database; the second finds what killed processes left.
        for wave in ["first", "second"] {
            let ran = wave_of_programs(&home, wave);
            interrupted += ran.interrupted;
            asked += ran.questions;
        }
    }
    println!("{interrupted} runs interrupted, {asked} questions answered meanwhile");
    assert!(interrupted >= rounds, "{interrupted} of {} kills were inside a run", rounds * 4);
    assert!(asked >= rounds * 4);
}

struct Wave {
    interrupted: usize,
    questions: usize,
}

fn wave_of_programs(home: &Home, wave: &str) -> Wave {
    let names: Vec<String> = (0..PROGRAMS).map(|n| format!("{wave}_{n}")).collect();
    // Every second process is killed, at a random moment. A seed would not reproduce the moment.
    let moment = |n: usize| (n % 2 == 1).then(|| Uuid::new_v4().as_u128() as usize % STEPS);
    let children: Vec<Child> = names.iter().map(|name| start(home, name)).collect();
    let running = AtomicUsize::new(PROGRAMS);
    let (outputs, questions) = std::thread::scope(|scope| {
        let reader = scope.spawn(|| ask_until_none(home, &running));
        let watchers: Vec<_> = (children.into_iter().zip(&names).enumerate())
            .map(|(n, (child, name))| {
                let running = &running;
                scope.spawn(move || {
                    let output = end(home, name, child, moment(n));
                    running.fetch_sub(1, Ordering::SeqCst);
                    output
                })
            })
            .collect();
        let outputs: Vec<Output> = watchers.into_iter().map(|it| it.join().unwrap()).collect();
        (outputs, reader.join().unwrap())
    });
    let report = home.json(["evidence", "verify"]).exits(0).document();
    assert_eq!(report["ok"], true, "{report}");
    let interrupted =
        names.iter().zip(outputs).filter(|(name, output)| was_interrupted(home, name, output));
    Wave { interrupted: interrupted.count(), questions }
}

fn start(home: &Home, name: &str) -> Child {
    std::fs::create_dir(home.path().join(name)).unwrap();
    let create = |n: usize| {
        let arguments = json!({"path": n.to_string(), "contents": format!("{name} {n}\n")});
        json!({"tool": "file_create", "arguments": arguments})
    };
    let steps: Vec<Value> = (0..STEPS).map(create).collect();
    let plan = json!({"plan_id": name, "intent": "MUTATE", "steps": steps});
    std::fs::write(home.path().join(format!("{name}.json")), plan.to_string()).unwrap();
    let plan = format!("{name}.json");
    let mut command = home.child(["run", "--yes", "--json", "--workspace", name, &plan]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits for the end of the process, or kills it once it has created this many files.
fn end(home: &Home, name: &str, mut child: Child, killed_at: Option<usize>) -> Output {
    if let Some(moment) = killed_at {
        while files(home, name).len() < moment && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        child.kill().unwrap();
    }
    child.wait_with_output().unwrap()
}

/// The numbers of the files that the process created. Temporary files have other names.
fn files(home: &Home, name: &str) -> BTreeSet<usize> {
    let entries = std::fs::read_dir(home.path().join(name)).unwrap();
    entries.filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok()).collect()
}

/// Queries the evidence repeatedly while processes write to it. Returns the number of answers.
fn ask_until_none(home: &Home, running: &AtomicUsize) -> usize {
    let mut answered = 0;
    while running.load(Ordering::SeqCst) > 0 {
        let report = home.json(["evidence", "verify"]).exits(0);
        assert_eq!(report.document()["ok"], true, "{report:#?}");
        for question in [&["search", "file_create"][..], &["query", "q1", "file_create"]] {
            let line = ["evidence"].into_iter().chain(question.iter().copied());
            let answer: Done = home.json(line.chain(["--limit", "50"])).exits(0);
            let only_the_limit = answer.stderr.is_empty() || answer.stderr.contains(" shown");
            assert!(only_the_limit, "{answer:#?}");
        }
        answered += 3;
    }
    answered
}

/// Whether the process was killed inside its run. Asserts that its files and its records agree.
fn was_interrupted(home: &Home, name: &str, output: &Output) -> bool {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(stderr, "", "{name}: stderr is empty");
    let numbers = |table: &str, which: &str| -> BTreeSet<usize> {
        let sql = format!(
            "SELECT about FROM {table} JOIN runs ON runs.id = {table}.run_id
             WHERE plan_id = ?1 {which}"
        );
        let found = home.texts(&sql, [name]);
        let numbers: BTreeSet<usize> = found.iter().map(|about| about.parse().unwrap()).collect();
        assert_eq!(numbers.len(), found.len(), "{name}: each once");
        numbers
    };
    let (intents, done) = (numbers("intents", ""), numbers("executions", "AND success = 1"));
    let made = files(home, name);
    assert!(made.is_subset(&intents), "{name}: every file has its intent");
    assert!(done.is_subset(&made), "{name}: every recorded success is on the disk");
    assert!(intents.len() - done.len() <= 1, "{name}: at most one step is in doubt");

    let all: BTreeSet<usize> = (0..STEPS).collect();
    let ended = "SELECT status FROM run_ends JOIN runs ON runs.id = run_id WHERE plan_id = ?1";
    let ended = home.texts(ended, [name]);
    if output.status.code().is_some() {
        let result: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(0), "{result:#}");
        assert_eq!(result["status"], "completed");
        let told = result["step_results"].as_array().unwrap();
        let told: Vec<&str> = told.iter().map(|it| it["execution_id"].as_str().unwrap()).collect();
        let recorded = "SELECT executions.id FROM executions JOIN runs ON runs.id = run_id
            WHERE runs.plan_id = ?1 ORDER BY step_index";
        assert_eq!(
            home.texts(recorded, [name]),
            told,
            "{name}: the printed results are the recorded ones"
        );
        assert_eq!((&made, &done, &*ended), (&all, &all, &["completed".to_owned()][..]));
        return false;
    }
    let Some(run_id) = home.texts("SELECT id FROM runs WHERE plan_id = ?1", [name]).pop() else {
        assert_eq!(made, BTreeSet::new(), "{name}: nothing without its run");
        return false;
    };
    let shown = home.json(["evidence", "show", &run_id]).exits(0).document();
    if !ended.is_empty() {
        assert_eq!(shown["run"]["status"], "completed");
        return false;
    }
    assert_eq!(shown["run"]["status"], "interrupted");
    assert_eq!(shown["reconcile"].as_array().unwrap().len(), intents.len() - done.len());
    true
}
