//! `mutate_batch` of 128 files, a complete recorded run, against the work that cannot be avoided: each new
//! content written, synced and renamed over the old one, and the folder synced once. Printed without a claim: the times
//! of `git apply` for the same change, which syncs nothing, and of `git add` of these files, which syncs its objects as
//! a batch.

#![allow(
    missing_docs,
    clippy::expect_used,
    reason = "a bench that meets the unexpected should stop"
)]
#![allow(clippy::disallowed_methods, reason = "the other side of the claim writes files itself")]
#![allow(dead_code, reason = "each bench uses its part of the support")]

mod support;

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

use countersign::plan::{Plan, parse};
use serde_json::json;
use support::{Bench, exit, holds, in_pairs, time};

const FILES: usize = 128;
const PAIRS: usize = 9;

fn name(index: usize) -> String {
    format!("f{index}.txt")
}

/// The content of every file in this round.
fn contents(round: usize) -> String {
    format!("a line of text in round {round}\n").repeat(60)
}

/// A plan that gives every file its content of this round.
fn batch(round: usize) -> Plan {
    let edit = |index| json!({ "op": "write", "path": name(index), "contents": contents(round) });
    let edits: Vec<_> = (0..FILES).map(edit).collect();
    let action = json!({ "type": "mutate_batch", "request": { "edits": edits } });
    let text = json!({ "version": "2026-02-19", "goal": "bench", "actions": [action] });
    let parsed = parse(text.to_string().as_bytes());
    assert!(parsed.is_valid(), "{:?}", parsed.findings);
    parsed.plan.expect("a plan")
}

fn write_all(folder: &Path, round: usize) -> Duration {
    let text = contents(round);
    time(|| {
        for index in 0..FILES {
            let fresh = folder.join(format!("fresh{index}"));
            let mut file = File::create(&fresh).expect("a file");
            file.write_all(text.as_bytes()).expect("a write");
            file.sync_all().expect("a sync");
            fs::rename(&fresh, folder.join(name(index))).expect("a rename");
        }
        File::open(folder).and_then(|folder| folder.sync_all()).expect("a sync");
    })
}

fn git(folder: &Path, arguments: &[&str]) {
    let done = Command::new("git").args(arguments).current_dir(folder).output().expect("git");
    assert!(done.status.success(), "{done:?}");
}

/// A change of every file as git writes it, from one round to the next.
fn diff(from: usize, to: usize) -> String {
    let lines = |round: usize, sign: char| {
        contents(round).lines().map(|line| format!("{sign}{line}\n")).collect::<String>()
    };
    let hunk = format!("@@ -1,60 +1,60 @@\n{}{}", lines(from, '-'), lines(to, '+'));
    (0..FILES)
        .map(|index| {
            let name = name(index);
            format!("diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n{hunk}")
        })
        .collect()
}

fn main() -> ExitCode {
    let mut bench = Bench::new();
    let ours = bench.workspace();
    let theirs = bench.folder().join("theirs");
    let gits = bench.folder().join("git");
    for folder in [&ours, &theirs, &gits] {
        fs::create_dir_all(folder).expect("a folder");
        write_all(folder, 0);
    }
    git(&gits, &["init", "-q"]);

    let (mut round, mut other) = (0, 0);
    let (ours_took, theirs_took) = in_pairs(
        PAIRS,
        || {
            round += 1;
            bench.run(&batch(round)).0
        },
        || {
            other += 1;
            write_all(&theirs, other)
        },
    );
    let held = holds(
        "mutate_batch of 128 files against writing, syncing and renaming them",
        0.6,
        ours_took,
        theirs_took,
    );

    let mut applied = 0;
    let (again, with_git) = in_pairs(
        PAIRS,
        || {
            round += 1;
            bench.run(&batch(round)).0
        },
        || {
            applied += 1;
            let patch = gits.join("change.patch");
            fs::write(&patch, diff(applied - 1, applied)).expect("a patch");
            time(|| git(&gits, &["apply", "change.patch"]))
        },
    );
    // Only printed, not a claim: git makes nothing durable and keeps no record.
    holds("mutate_batch of 128 files against git apply", f64::INFINITY, again, with_git);

    let mut added = applied;
    let (again, with_git) = in_pairs(
        PAIRS,
        || {
            round += 1;
            bench.run(&batch(round)).0
        },
        || {
            added += 1;
            for index in 0..FILES {
                // Every object is another one, as every content is.
                let text = format!("{index} {}", contents(added));
                fs::write(gits.join(name(index)), text).expect("a file");
            }
            let durable = ["-c", "core.fsync=loose-object", "-c", "core.fsyncMethod=batch"];
            time(|| git(&gits, &[&durable[..], &["add", "--all"]].concat()))
        },
    );
    let what = "mutate_batch of 128 files against git add with its syncs as a batch";
    holds(what, f64::INFINITY, again, with_git);
    exit(held)
}
