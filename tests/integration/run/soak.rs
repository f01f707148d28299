//! Many runs in one process leave nothing behind but their records: no memory, descriptor, thread, process or file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use countersign::plan::Plan;
use serde_json::{Value, json};

use crate::harness::{Harness, files_below, read};

/// The environment variable with the folder for the child process, which has no other tests beside it.
const FOLDER: &str = "SOAK_IN";
/// The environment variable with the number of runs; `test.sh --long` sets a thousand.
const RUNS: &str = "SOAK_RUNS";
const FEWEST_RUNS: usize = 8;
const STEPS: usize = 100;
const DAY_MS: i64 = 86_400_000;
/// How much the memory may grow from the first quarter to the end, in KiB. Records that stayed in memory would take more
/// than this in 1,000 runs, and the allocator's own noise takes less.
const GROWTH_KIB: u64 = 8 << 10;

#[test]
#[expect(clippy::disallowed_methods, reason = "it has to be another process")]
fn many_runs_leave_only_their_records() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        return soak(Path::new(&folder));
    }
    let folder = tempfile::tempdir().unwrap();
    let done = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "run::soak::many_runs_leave_only_their_records", "--nocapture"])
        .env(FOLDER, folder.path())
        .env("TMPDIR", folder.path())
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{printed}\n{}", String::from_utf8_lossy(&done.stderr));
    print!("{printed}");
    assert!(printed.contains(&format!("{} steps", runs() * STEPS)), "{printed}");
}

fn runs() -> usize {
    std::env::var(RUNS).map_or(FEWEST_RUNS, |runs| runs.parse().unwrap())
}

fn soak(folder: &Path) {
    let harness = Harness::new();
    for n in 0..10 {
        harness.put(&format!("{n}.txt"), "a line of text\n".repeat(20));
    }
    let mut early = None;
    for run in 0..runs() {
        let plan: Plan = read(&plan(run));
        let approved = harness.approve_now(&plan);
        let finished = harness.execute(approved);
        let (outcomes, status) = finished.words();
        assert_eq!((outcomes.len(), status), (STEPS, "completed"), "{:?}", finished.codes());
        harness.clock.advance(DAY_MS);
        if run + 1 == runs() / 4 {
            early = Some(Left::now(folder));
        }
    }
    let (early, late) = (early.unwrap(), Left::now(folder));
    println!("{} steps: {early:?}, then {late:?}", runs() * STEPS);
    let mut of_store = harness.store();
    of_store.flush().unwrap();
    let executions = harness.count("SELECT count(*) FROM executions", []);
    assert_eq!(usize::try_from(executions).unwrap(), runs() * STEPS);
    assert!(late.memory_kib <= early.memory_kib + GROWTH_KIB, "{early:?}, then {late:?}");
    assert_eq!((late.descriptors, late.threads), (early.descriptors, early.threads));
    assert_eq!(late.children, Vec::<String>::new());
    assert_eq!(late.files, early.files);
}

/// Reads, writes and searches, other contents in each run; every tenth plan is of commands with processes of their own.
fn plan(run: usize) -> Value {
    if run % 10 == 1 {
        let command =
            |n: usize| json!({"description": "a command", "command": format!("echo {n}")});
        let steps: Vec<_> = (0..STEPS).map(command).collect();
        return json!({"id": "soak", "goal": "nothing is left", "steps": steps});
    }
    let step = |n: usize| {
        let path = format!("{}.txt", n % 10);
        let (tool, arguments) = match n % 20 {
            19 => ("file_search", json!({"pattern": "line", "root": "."})),
            n if n % 4 == 1 => {
                let contents = format!("line {n} of run {run}\n");
                ("file_write", json!({"path": path, "contents": contents}))
            }
            _ => ("file_read", json!({"path": path})),
        };
        json!({"tool": tool, "arguments": arguments})
    };
    let steps: Vec<_> = (0..STEPS).map(step).collect();
    json!({"plan_id": "soak", "intent": "MUTATE", "steps": steps})
}

/// What this process has, and the files below its folder.
#[derive(Debug)]
struct Left {
    memory_kib: u64,
    descriptors: usize,
    threads: usize,
    children: Vec<String>,
    files: BTreeSet<PathBuf>,
}

impl Left {
    fn now(folder: &Path) -> Self {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        let entries = |path: &str| std::fs::read_dir(path).unwrap().map(|it| it.unwrap().path());
        let children = entries("/proc/self/task")
            .filter_map(|task| std::fs::read_to_string(task.join("children")).ok())
            .filter(|children| !children.is_empty());
        Self {
            memory_kib: memory.trim().trim_end_matches(" kB").parse().unwrap(),
            descriptors: entries("/proc/self/fd").count(),
            threads: entries("/proc/self/task").count(),
            children: children.collect(),
            files: files_below(folder).into_iter().collect(),
        }
    }
}
