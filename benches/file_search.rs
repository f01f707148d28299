//! The time of `file_search` against that of `rg` over the same tree. Both must find the same matches.
//!
//! `rg` must be on PATH, and `BENCH_TREE` may name the tree; the default is cargo's folder of unpacked crate sources.

#![allow(
    missing_docs,
    clippy::expect_used,
    reason = "a bench that meets the unexpected should stop"
)]
#![allow(clippy::disallowed_methods, reason = "the other side of the claim is a program")]
#![allow(dead_code, reason = "each bench uses its part of the support")]

mod support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use countersign::process::NoCapture;
use countersign::risk::Policy;
use countersign::run::StopSignal;
use countersign::tools::{Context, Toolbox};
use serde_json::{Value, json};
use support::{claim, plan, time};
use uuid::Uuid;

const PATTERN: &str = r"unsafe impl\s+Send";

fn main() -> ExitCode {
    let tree = tree();
    let toolbox = Toolbox::open(&tree, &Policy::default()).expect("the tree");
    let step = json!({"tool": "file_search", "arguments": {"pattern": PATTERN, "root": "."}});
    let call = plan(vec![step]).steps.remove(0).call;
    let stop = StopSignal::default();
    let search = || {
        let expected = BTreeMap::new();
        let context = Context {
            expected: &expected,
            stop: &stop,
            capture: &NoCapture,
            walls: countersign::authorization::StepWalls::NONE,
            terminal: None,
            execution_id: Uuid::nil(),
            output: &|_, _| {},
        };
        toolbox.invoke(&call, &context).stdout.expect("an answer")
    };
    let rg = || {
        Command::new("rg")
            .args(["--no-config", "--line-number", "--column", "--no-heading", "--color=never"])
            .args(["--regexp", PATTERN, "."])
            .current_dir(&tree)
            .output()
            .expect("rg; install ripgrep")
            .stdout
    };
    assert_eq!(our_lines(&search()), their_lines(&rg()), "the same matches");
    claim(
        &format!("file_search against rg over {}", tree.display()),
        1.1,
        21,
        || time(search),
        || time(rg),
    )
}

fn tree() -> PathBuf {
    if let Some(tree) = std::env::var_os("BENCH_TREE") {
        return tree.into();
    }
    let cargo = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .unwrap_or_else(|| Path::new(&std::env::var_os("HOME").expect("HOME")).join(".cargo"));
    cargo.join("registry/src")
}

/// `path:line` of each match, sorted.
fn our_lines(stdout: &[u8]) -> Vec<String> {
    let rows: Vec<Value> = serde_json::from_slice(stdout).expect("a JSON array");
    let line =
        |row: &Value| format!("{}:{}", row["path"].as_str().unwrap_or_default(), row["line"]);
    let mut lines: Vec<String> = rows.iter().map(line).collect();
    lines.sort();
    lines
}

fn their_lines(stdout: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(stdout).into_owned();
    let line = |line: &str| {
        let mut parts = line.trim_start_matches("./").splitn(3, ':');
        format!("{}:{}", parts.next().unwrap_or_default(), parts.next().unwrap_or_default())
    };
    let mut lines: Vec<String> = text.lines().map(line).collect();
    lines.sort();
    lines
}
