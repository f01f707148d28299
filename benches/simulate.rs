//! Setting up a simulation, which is a copy of the workspace, against `cp -r` of the same files to the same
//! file system: a tree of many small files, and one of few large ones.

#![allow(
    missing_docs,
    clippy::expect_used,
    reason = "a bench that meets the unexpected should stop"
)]
#![allow(clippy::disallowed_methods, reason = "the other side of the claim is a program")]
#![allow(dead_code, reason = "each bench uses its part of the support")]

mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

use countersign::plan::{Edit, Simulation, ToolCall};
use countersign::process::NoCapture;
use countersign::risk::Policy;
use countersign::run::StopSignal;
use countersign::tools::{Context, Toolbox};
use support::{exit, holds, in_pairs, time};
use uuid::Uuid;

/// Copies of each side.
const PAIRS: usize = 11;

fn main() -> ExitCode {
    // Simulations are created below this folder, so `cp` copies there too.
    let cache = directories::BaseDirs::new().expect("a home").cache_dir().to_owned();
    std::fs::create_dir_all(&cache).expect("a cache folder");
    let trees: [(&str, usize, usize); 2] =
        [("5,000 files of 4 KiB", 5_000, 4 << 10), ("12 files of 25 MiB", 12, 25 << 20)];
    let all = trees.map(|(what, files, size)| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("target");
        std::fs::create_dir_all(&root).expect("target");
        let tree = tempfile::tempdir_in(root).expect("a folder");
        fill(tree.path(), files, size);
        let toolbox = Toolbox::open(tree.path(), &Policy::default()).expect("the tree");
        let (ours, theirs) =
            in_pairs(PAIRS, || set_up(&toolbox, files), || copy(tree.path(), &cache));
        holds(&format!("simulate: the copy of {what} against cp -r"), 1.2, ours, theirs)
    });
    exit(all.iter().all(|holds| *holds))
}

/// Files of different contents, a hundred in each folder.
fn fill(tree: &Path, files: usize, size: usize) {
    for index in 0..files {
        let folder = tree.join(format!("folder{}", index / 100));
        std::fs::create_dir_all(&folder).expect("a folder");
        let line = format!("{index} and a line of text\n");
        let text = line.repeat(size / line.len());
        std::fs::write(folder.join(format!("file{index}.txt")), text).expect("a file");
    }
}

/// The time until the copy is complete, which the step's result reports.
fn set_up(toolbox: &Toolbox, files: usize) -> Duration {
    let edits = vec![Edit::Create { path: "new.txt".to_owned(), contents: String::new() }];
    let call = ToolCall::Simulate(Simulation::Edits { edits, verify: None });
    let (expected, stop) = (BTreeMap::new(), StopSignal::default());
    let context = Context {
        expected: &expected,
        stop: &stop,
        capture: &NoCapture,
        walls: countersign::authorization::StepWalls::NONE,
        terminal: None,
        execution_id: Uuid::new_v4(),
        output: &|_, _| {},
    };
    let done = toolbox.invoke(&call, &context);
    assert!(done.error.is_none(), "{:?}", done.error);
    let copied = |what: &str| done.result.pointer(what).and_then(serde_json::Value::as_u64);
    assert_eq!(copied("/copy/files"), Some(files as u64), "all of them");
    Duration::from_millis(copied("/copy/duration_ms").expect("a time"))
}

/// The time of `cp -r`.
fn copy(tree: &Path, cache: &Path) -> Duration {
    let folder = tempfile::tempdir_in(cache).expect("a folder");
    let to = folder.path().join("copy");
    time(|| {
        let status = Command::new("cp").arg("-r").arg(tree).arg(&to).status().expect("cp");
        assert!(status.success(), "cp -r");
    })
}
