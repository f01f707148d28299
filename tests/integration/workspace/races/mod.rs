//! Confinement while another process exchanges names in the workspace for links that lead outside (SPEC §4):
//! no byte outside is read or written.
//!
//! The kernel reports every access outside (inotify), so that a read is found even when its result is not
//! used.

mod approved;
mod outside;
mod swapper;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Mutex;

use countersign::plan::{ToolCall, parse};
use countersign::run::RunEvent;
use countersign::tools::Toolbox;
use serde_json::{Value, json};
use tempfile::{tempdir, tempdir_in};
use uuid::Uuid;

use crate::harness::home::{Done, Home};
use crate::harness::{self, Harness, invoke};
use outside::{MARK, Outside};
use swapper::Swapper;

/// The least number of swaps for a valid test.
const SWAPS: u64 = 100_000;
/// Each round uses new folders, because a write may replace a link permanently.
const ROUNDS: usize = 3;
/// Runs of the program in each round.
const RUNS: usize = 35;
/// Plans per round whose tools are called directly.
const PLANS: usize = 700;

/// The pairs of names that are exchanged, below the home.
const PAIRS: [(&str, &str); 11] = [
    // A file and a link to a file outside, for reads and for writes.
    ("space/file.txt", "stage/file"),
    ("space/target.txt", "stage/target"),
    // A folder and a link to a folder outside with the same names.
    ("space/folder", "stage/folder"),
    ("space/drop", "stage/drop"),
    // The same in the middle of a path, and by a relative link.
    ("space/deep/middle", "stage/middle"),
    // Ignore files, which the search itself reads.
    ("space/.ignore", "stage/ignore"),
    ("space/repository/.git", "stage/git"),
    // A file and a folder, a pipe, and a hard link to a file outside.
    ("space/mixed", "stage/mixed"),
    ("space/pipe", "stage/pipe"),
    ("space/hard.txt", "stage/hard"),
    // Two folders of the workspace.
    ("space/one", "space/two"),
];

fn put(path: &Path, content: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// Creates the workspace, the entries to exchange, and the folder outside.
fn build(home: &Path) -> Outside {
    for name in ["file.txt", "target.txt", "mixed", "pipe", "hard.txt"] {
        put(&home.join("space").join(name), "inside\n");
    }
    for name in
        ["folder/inner.txt", "drop/seen.txt", "deep/middle/inner.txt", "one/f.txt", "two/f.txt"]
    {
        put(&home.join("space").join(name), "inside\n");
        put(&home.join("outside").join(name), MARK);
    }
    put(&home.join("space/repository/seen.txt"), "inside\n");
    put(&home.join("space/repository/.git/info/exclude"), "nothing\n");
    put(&home.join("space/.ignore"), "nothing\n");
    put(&home.join("stage/mixed/inner.txt"), "inside\n");
    for name in ["file.txt", "target.txt", "rules", "git/info/exclude", "git/HEAD"] {
        put(&home.join("outside").join(name), MARK);
    }
    put(&home.join("outside/folder").join(MARK), MARK);
    put(&home.join("shared"), "shared\n");
    fs::hard_link(home.join("shared"), home.join("stage/hard")).unwrap();
    let pipe = home.join("stage/pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, 0o600.into()).unwrap();
    for (name, target) in [
        ("file", "file.txt"),
        ("target", "target.txt"),
        ("folder", "folder"),
        ("drop", "drop"),
        ("ignore", "rules"),
        ("git", "git"),
    ] {
        symlink(home.join("outside").join(target), home.join("stage").join(name)).unwrap();
    }
    symlink("../../outside/deep/middle", home.join("stage/middle")).unwrap();
    Outside::watch(home.join("outside"))
}

/// Steps on the exchanged names. `number` varies them.
fn steps(number: usize) -> Vec<Value> {
    let step = |tool: &str, arguments: Value| json!({"tool": tool, "arguments": arguments});
    let read = |path: &str| step("file_read", json!({"path": path}));
    let search = |root: &str| step("file_search", json!({"pattern": ".", "root": root}));
    let glob = |root: &str| step("file_glob", json!({"pattern": "**", "root": root}));
    let text = format!("written {number} {}\n", Uuid::new_v4());
    let write = |path: &str| step("file_write", json!({"path": path, "contents": text}));
    let create = |folder: &str| {
        let path = format!("{folder}/{}/f.txt", Uuid::new_v4());
        step("file_create", json!({"path": path, "contents": text}))
    };
    match number % 7 {
        0 => vec![read("file.txt"), read("deep/middle/inner.txt")],
        1 => vec![search(".")],
        2 => vec![glob("."), search("folder"), glob("deep/middle")],
        3 => vec![write("target.txt"), write("folder/inner.txt")],
        4 => vec![create("drop"), create("deep/middle"), create("one")],
        5 => vec![read("mixed"), read("pipe"), read("hard.txt"), write("hard.txt")],
        _ => vec![search("."), read("folder/inner.txt"), write("one/f.txt"), create("folder")],
    }
}

/// How often each outcome occurred.
type Tally = BTreeMap<String, usize>;

/// Runs one plan by the real program.
fn run(home: &Home, number: usize, tally: &mut Tally) {
    let plan = json!({"plan_id": "p", "intent": "MUTATE", "steps": steps(number)});
    fs::write(home.path().join("plan.json"), plan.to_string()).unwrap();
    let done = home.json(["run", "plan.json", "--yes", "--workspace", "space"]);
    for text in [&done.stdout, &done.stderr] {
        assert!(!text.contains(MARK), "{done:#?}");
        assert!(!text.contains("panicked"), "{done:#?}");
    }
    *tally.entry(outcome(&done)).or_default() += 1;
}

fn outcome(done: &Done) -> String {
    let document = done.document();
    if document["status"] == "completed" {
        return "completed".to_owned();
    }
    let codes = document["step_results"].as_array().and_then(|results| results.last());
    let code = codes.map_or(&document["error"]["code"], |result| &result["error_code"]);
    code.as_str().unwrap_or_else(|| panic!("{done:#?}")).to_owned()
}

/// Calls the tools repeatedly, without process and database.
fn call(home: &Path, tally: &mut Tally) {
    let toolbox =
        Toolbox::open(&home.join("space"), &countersign::risk::Policy::default()).unwrap();
    for number in 0..PLANS {
        let text = harness::plan(steps(number)).to_string();
        for step in parse(text.as_bytes()).plan.unwrap().steps {
            let call: ToolCall = step.call;
            let invocation = invoke(&toolbox, &call, &toolbox.inputs(&call).unwrap_or_default());
            let told = format!("{invocation:?}");
            assert!(!told.contains(MARK), "{call:?}: {told}");
            for stream in [&invocation.stdout, &invocation.stderr].into_iter().flatten() {
                let text = String::from_utf8_lossy(stream);
                assert!(!text.contains(MARK), "{call:?}: {text}");
            }
            let how = match &invocation.error {
                None => "succeeded".to_owned(),
                Some(error) => error.code().to_string(),
            };
            *tally.entry(format!("{} {how}", call.tool().name())).or_default() += 1;
        }
    }
}

/// Asserts that no file of the evidence has a byte or digest of the files outside.
fn assert_not_kept(home: &Home, outside: &Outside) {
    let kept = harness::tree(&home.evidence());
    assert!(kept.contains_key("execution_log.db"));
    for (name, bytes) in kept {
        for word in std::iter::once(MARK).chain(outside.digests()) {
            let found = bytes.windows(word.len()).any(|part| part == word.as_bytes());
            assert!(!found, "{word} is in {name}");
        }
    }
}

#[test]
fn runs_stay_inside_while_names_are_exchanged() {
    let (mut runs, mut swaps) = (Tally::new(), 0);
    for _ in 0..ROUNDS {
        let home = Home::new();
        let outside = build(home.path());
        let mut swapper = Swapper::start(home.path(), &PAIRS);
        swapper.go();
        let enough = SWAPS / ROUNDS as u64 + 1;
        let mut number = 0;
        while number < RUNS || swapper.swaps() < enough {
            run(&home, number, &mut runs);
            assert_eq!(outside.events(), Vec::<String>::new(), "after {:?}", steps(number));
            number += 1;
        }
        swaps += swapper.stop();
        assert_not_kept(&home, &outside);
        assert_untouched(home.path(), outside);
    }
    println!("{swaps} swaps; runs: {runs:?}");
    assert!(swaps >= SWAPS, "only {swaps} swaps");
    let failed: usize = runs.iter().filter(|(how, _)| *how != "completed").map(|(_, n)| n).sum();
    assert!(runs.contains_key("completed") && failed > 0, "{runs:?}");
}

#[test]
fn tools_stay_inside_while_names_are_exchanged() {
    let (mut calls, mut swaps) = (Tally::new(), 0);
    for _ in 0..ROUNDS {
        // In memory no call waits for a disk, so more calls are made in the same time.
        let memory = Path::new("/dev/shm");
        let home = if memory.is_dir() { tempdir_in(memory) } else { tempdir() }.unwrap();
        let outside = build(home.path());
        let mut swapper = Swapper::start(home.path(), &PAIRS);
        swapper.go();
        call(home.path(), &mut calls);
        swaps += swapper.stop();
        assert_untouched(home.path(), outside);
    }
    println!("{swaps} swaps; calls: {calls:?}");
    for tool in ["file_read", "file_write", "file_create", "file_search", "file_glob"] {
        let hows = calls.keys().filter(|key| key.starts_with(tool)).count();
        assert!(calls.contains_key(&format!("{tool} succeeded")) && hows > 1, "{calls:?}");
    }
}

fn assert_untouched(home: &Path, outside: Outside) {
    outside.assert_untouched();
    assert_eq!(fs::read(home.join("shared")).unwrap(), b"shared\n", "by its other name");
}

/// A run keeps the folder that it opened, whatever its name refers to later.
#[test]
fn run_stays_in_the_folder_it_opened() {
    let house = Harness::with(&[("read.txt", "inside\n"), ("folder/write.txt", "inside\n")]);
    let base = house.workspace().parent().unwrap().to_owned();
    for name in ["read.txt", "folder/write.txt", ".ignore", ".git/info/exclude"] {
        put(&base.join("outside").join(name), MARK);
    }
    fs::create_dir(base.join("stage")).unwrap();
    symlink(base.join("outside"), base.join("stage/root")).unwrap();
    let outside = Outside::watch(base.join("outside"));
    let swapper = Mutex::new(Some(Swapper::start(&base, &[("ws", "stage/root")])));
    let house = house.on_event(move |event| match event {
        RunEvent::RunStarted { .. } => swapper.lock().unwrap().as_mut().unwrap().go(),
        RunEvent::RunCompleted { .. } => {
            let swaps = swapper.lock().unwrap().take().unwrap().stop();
            println!("{swaps} swaps of the root");
            assert!(swaps > 1_000, "only {swaps} swaps of the root");
        }
        _ => {}
    });
    let mut steps = Vec::new();
    for round in 0..60 {
        let text = format!("{round}\n");
        let mut add = |tool: &str, arguments: Value| {
            steps.push(harness::step(&format!("s{}", steps.len()), tool, arguments));
        };
        add("file_read", json!({"path": "read.txt"}));
        add("file_write", json!({"path": "folder/write.txt", "contents": text}));
        add("file_create", json!({"path": format!("new/{round}/f.txt"), "contents": text}));
        add("file_search", json!({"pattern": ".", "root": "."}));
        add("file_glob", json!({"pattern": "**", "root": "folder"}));
    }
    let ran = house.run(&harness::plan(steps));
    let result = ran.outcome.unwrap();
    assert!(
        result.step_results.iter().all(|step| step.success),
        "{:?}",
        result.step_results.last()
    );
    outside.assert_untouched();
    assert_eq!(house.content("folder/write.txt").unwrap(), "59\n");
    assert_eq!(house.content("new/59/f.txt").unwrap(), "59\n");
}

/// The opened folder is the one at its canonical path.
#[test]
fn folder_is_never_opened_under_another_path() {
    let folder = tempdir().unwrap();
    let base = fs::canonicalize(folder.path()).unwrap();
    for name in ["ws", "outside"] {
        put(&base.join(name).join("which.txt"), name);
    }
    fs::create_dir(base.join("stage")).unwrap();
    symlink(base.join("outside"), base.join("stage/root")).unwrap();
    let mut swapper = Swapper::start(&base, &[("ws", "stage/root")]);
    swapper.go();
    let mut seen = Tally::new();
    while swapper.swaps() < 20_000 {
        let Ok(toolbox) = Toolbox::open(&base.join("ws"), &countersign::risk::Policy::default())
        else {
            *seen.entry("refused".to_owned()).or_default() += 1;
            continue;
        };
        let name = toolbox.workspace().file_name().unwrap().to_str().unwrap().to_owned();
        let call = ToolCall::FileRead { path: "which.txt".to_owned() };
        let read =
            invoke(&toolbox, &call, &toolbox.inputs(&call).unwrap_or_default()).stdout.unwrap();
        assert_eq!(String::from_utf8(read).unwrap(), name);
        *seen.entry(name).or_default() += 1;
    }
    println!("{} swaps: {seen:?}", swapper.stop());
    assert!(seen.contains_key("ws") && seen.contains_key("outside"), "{seen:?}");
}
