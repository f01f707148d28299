//! A batch killed at each system call that changes something (SPEC §8, §9).
//!
//! `strace` kills the real program as it enters the call, so that the call has no effect. Then the evidence
//! of each file is compared with the disk, and *Reconcile* restores all files or finishes the step, each by
//! an ordinary plan.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use countersign::engine::{FollowUp, FollowUpError, reconcile};
use countersign::evidence::{EvidenceReader, verify};
use countersign::plan::Digest;
use countersign::risk::Policy;
use countersign::run::{DiskState, Reconciled, RunFate, SettleMode};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::harness::batch;
use crate::harness::home::{Home, PROGRAM};
use crate::harness::set_mode;

/// The calls that change names, contents or modes in the workspace, or make them durable.
const CALLS: [&str; 6] = ["mkdirat", "openat2", "fchmod", "fsync", "renameat2", "unlinkat"];

/// Every file below the workspace, with mode and content. Folders are ignored, because a plan removes none.
type Tree = BTreeMap<String, (u32, Vec<u8>)>;

fn tree(home: &Home) -> Tree {
    fn collect(folder: &Path, top: &Path, tree: &mut Tree) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, top, tree);
                continue;
            }
            let name = path.strip_prefix(top).unwrap().to_str().unwrap().to_owned();
            let mode = path.metadata().unwrap().permissions().mode();
            tree.insert(name, (mode, fs::read(&path).unwrap()));
        }
    }
    let mut tree = Tree::new();
    collect(&home.file(""), &home.file(""), &mut tree);
    tree
}

/// The number of further files with which a batch is large enough to be flushed at once.
const MANY: usize = 12;

/// The name of a further file that the plan creates.
fn further(index: usize) -> String {
    format!("more/{index:02}.txt")
}

/// A workspace, and beside it a plan that replaces, deletes, renames and creates files, and this many further ones.
fn home(more: usize) -> Home {
    let home = Home::new();
    for (name, content, mode) in [
        ("a.txt", &b"old a\n"[..], 0o640),
        ("run.sh", b"old run\n", 0o755),
        ("gone.bin", b"\0\xff\0", 0o600),
        ("old.sh", b"moved\n", 0o750),
    ] {
        let path = home.write(name, content);
        set_mode(&path, mode);
    }
    let mut edits = vec![
        json!({ "op": "write", "path": "a.txt", "contents": "new a\n" }),
        json!({ "op": "replace", "path": "run.sh", "old": "old", "new": "new" }),
        json!({ "op": "delete", "path": "gone.bin" }),
        json!({ "op": "rename", "path": "old.sh", "to": "bin/new.sh" }),
        json!({ "op": "create", "path": "deep/er/new.txt", "contents": "new\n" }),
    ];
    edits.extend((0..more).map(
        |index| json!({ "op": "create", "path": further(index), "contents": format!("{index}\n") }),
    ));
    fs::write(home.path().join("plan.json"), batch(json!(edits)).to_string()).unwrap();
    home
}

const RUN: [&str; 8] =
    ["run", "plan.json", "--yes", "--confirm", "approve", "--workspace", "space", "--evidence"];

/// Runs the plan and kills it at the `n`th of these calls, from 1. Returns false if the run made fewer calls.
fn killed(home: &Home, call: &str, n: usize) -> bool {
    let inject = format!("--inject={call}:signal=KILL:when={n}");
    let trace = home.path().join("trace");
    let mut command = home.command_of("strace");
    command.args(["-f", "-qq", "-o"]).arg(&trace).arg(format!("--trace={call}")).arg(inject);
    command.arg(PROGRAM).args(RUN).arg(home.evidence());
    let output = command.output().expect("strace; install it, or run packaging/test.sh");
    match output.status.code() {
        Some(0) => false,
        Some(code) => panic!("{call} {n}: exit code {code}: {output:?}"),
        None => true,
    }
}

#[test]
fn killed_batch_can_be_taken_back_and_finished() {
    let seen = kill_everywhere(&CALLS, 0);
    let inside = |call: &str| seen.get(&(call, "inside")).copied().unwrap_or_default();
    // Two exchanges and four renames; four temporary files are removed at the end.
    assert_eq!(inside("renameat2"), 6, "{seen:?}");
    assert_eq!(inside("unlinkat"), 4, "{seen:?}");
    assert_eq!(inside("mkdirat"), 3, "{seen:?}");
    assert_eq!(inside("fchmod"), 3, "{seen:?}");
    assert!(inside("fsync") >= 4 + 4, "{seen:?}");
    assert!(inside("openat2") >= 4, "{seen:?}");
}

/// A batch of many files may be flushed at once. It still changes nothing before all contents are on the disk.
#[test]
fn killed_batch_of_many_files_can_be_taken_back_and_finished() {
    let seen = kill_everywhere(&["syncfs", "renameat2"], MANY);
    let inside = |call: &str| seen.get(&(call, "inside")).copied().unwrap_or_default();
    assert_eq!(inside("renameat2"), 6 + MANY, "{seen:?}");
    // Not on every file system, and not while other programs write much.
    assert!(inside("syncfs") <= 1, "{seen:?}");
}

/// Kills the plan with this many further files at each of these calls, and settles each run. Returns how often which
/// moment was seen, by call.
fn kill_everywhere<'c>(calls: &[&'c str], more: usize) -> BTreeMap<(&'c str, &'static str), usize> {
    let before = tree(&home(more));
    let done = home(more);
    let _ = done.run(RUN[..7].iter().copied()).exits(0);
    let after = tree(&done);
    let mut seen = BTreeMap::new();
    for call in calls {
        for n in 1.. {
            let home = home(more);
            if !killed(&home, call, n) {
                assert_eq!(tree(&home), after);
                break;
            }
            let way = SettleMode::ALL[n % 2];
            let came = check_and_settle(&home, way, &before, &after);
            *seen.entry((*call, came)).or_insert(0) += 1;
        }
    }
    seen
}

/// Asserts that the evidence agrees with the disk, then settles the step in one way. Returns the moment of the
/// kill: `before` the run, `inside` the step, or `outside` it.
fn check_and_settle(home: &Home, way: SettleMode, before: &Tree, after: &Tree) -> &'static str {
    let sound = || {
        let report = verify(&home.evidence(), None).expect("a readable database");
        assert!(report.ok, "{report:?}");
    };
    sound();
    let now = tree(home);
    let policy = Policy::default();
    let mut evidence =
        EvidenceReader::open(&home.evidence(), home.path().join("no key")).expect("evidence");
    let run = match evidence.runs(1).expect("runs").pop() {
        Some(run) => run,
        None => {
            assert_eq!(now, *before, "nothing before the intent");
            return "before";
        }
    };
    let id = run.run_id;
    if run.fate != RunFate::Interrupted || evidence.open_intents(id).expect("intents").is_empty() {
        let recorded = evidence.succeeded_steps(id).expect("steps").len() == 1;
        assert_eq!(now, *if recorded { after } else { before });
        return "outside";
    }
    let found = reconcile(&mut evidence, id, &policy).expect("a comparison");
    assert_files_listed(&found, &now, before, after);
    let said = settle(home, &mut evidence, id, way);
    let mut wanted = match way {
        SettleMode::RollBack => before.clone(),
        SettleMode::Finish => after.clone(),
    };
    // Only the removal of the last temporary files was missing. A plan cannot contain binary content.
    let is_lost = said.contains("gone.bin does not get its earlier content: it is not text");
    if is_lost {
        wanted.remove("gone.bin");
    }
    assert_eq!(tree(home), wanted, "{way:?} of {now:?}: {said}");
    sound();
    let again = reconcile(&mut evidence, id, &policy).expect("a comparison");
    assert_eq!(way.is_open(&again), is_lost, "{again:?}");
    assert_eq!(evidence.runs(9).expect("runs").pop().map(|it| it.fate), Some(RunFate::Interrupted));
    "inside"
}

/// Asserts that each file of the step is listed with its state, and each temporary file.
fn assert_files_listed(found: &[Reconciled], now: &Tree, before: &Tree, after: &Tree) {
    let content = |tree: &Tree, path: &str| tree.get(path).map(|(_, content)| content.clone());
    let paths: Vec<&str> = found.iter().filter_map(|it| it.path.as_deref()).collect();
    let all = ["a.txt", "run.sh", "gone.bin", "old.sh", "bin/new.sh", "deep/er/new.txt"];
    // Two of them are gone afterwards.
    let more: Vec<_> = (0..after.len() + 2 - all.len()).map(further).collect();
    assert_eq!(paths, all.into_iter().chain(more.iter().map(String::as_str)).collect::<Vec<_>>());
    for row in found {
        let path = row.path.as_deref().expect("a file");
        let is = content(now, path);
        let state = match row.finding {
            DiskState::AsBefore => content(before, path),
            DiskState::AsAfter => content(after, path),
            other => panic!("{path} is {other:?}"),
        };
        assert_eq!(is, state, "{path}");
    }
    let named: Vec<&String> = found.iter().filter_map(|row| row.leftover.as_ref()).collect();
    let left: Vec<&String> = now.keys().filter(|path| path.contains(".countersign-")).collect();
    assert_eq!(named.len(), left.len(), "{named:?} {left:?}");
    assert!(left.iter().all(|path| named.contains(path)), "{named:?} {left:?}");
}

/// Authorizes and runs the plan that *Reconcile* offers. Returns the plan's own description.
fn settle(home: &Home, evidence: &mut EvidenceReader, run_id: Uuid, way: SettleMode) -> String {
    let bytes = match FollowUp::Settle(way).plan(evidence, run_id, &Policy::default()) {
        Ok((_, bytes)) => bytes,
        Err(error @ FollowUpError::NothingToSettle { .. }) => return error.to_string(),
        Err(error) => panic!("{error}"),
    };
    let plan: Value = serde_json::from_slice(&bytes).unwrap();
    let way = match way {
        SettleMode::RollBack => "--roll-back",
        SettleMode::Finish => "--finish",
    };
    let run = run_id.to_string();
    let shown = home.json(["reconcile", &run, way]).exits(3).document();
    let digest = shown["error"]["details"]["digest"].as_str().unwrap().to_owned();
    assert_eq!(digest, Digest::of(&bytes).to_string());
    let words = ["reconcile", &run, way, "--authorize", &digest, "--confirm", "approve"];
    let result: Value = home.json(words).exits(0).document();
    assert_eq!(result["status"], "completed");
    let settled = result["run_id"].as_str().unwrap();
    let record = home.json(["evidence", "show", settled]).exits(0).document();
    assert!(record["run"]["parent_run"].is_null(), "it is not the rest of the run");
    plan["actions"][0]["rationale"].as_str().unwrap_or_default().to_owned()
}
