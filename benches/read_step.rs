//! A recorded read step against durable appends of 4 KiB to a fresh file.

#![allow(
    missing_docs,
    clippy::expect_used,
    reason = "a bench that meets the unexpected should stop"
)]
#![allow(dead_code, reason = "each bench uses its part of the support")]

mod support;

use std::fs::File;
use std::io::Write as _;
use std::process::ExitCode;

use serde_json::json;
use support::{Bench, claim, plan, time};

/// Steps per run. The measured time of a step includes its share of the run's start and end.
const STEPS: u32 = 100;

fn main() -> ExitCode {
    let mut bench = Bench::new();
    std::fs::write(bench.workspace().join("a.txt"), "a line of text\n".repeat(200))
        .expect("a file");
    let steps = (0..STEPS).map(|_| json!({"tool": "file_read", "arguments": {"path": "a.txt"}}));
    let plan = plan(steps.collect());
    let folder = bench.folder().to_owned();
    let mut fresh = 0;
    claim(
        "a recorded read step against a durable append of 4 KiB",
        0.5,
        15,
        || bench.run(&plan).0 / STEPS,
        || {
            fresh += 1;
            let path = folder.join(format!("append{fresh}"));
            let mut file = File::create(&path).expect("a file");
            let took = time(|| {
                for _ in 0..STEPS {
                    file.write_all(&[7; 4096]).expect("an append");
                    file.sync_data().expect("a sync");
                }
            });
            std::fs::remove_file(path).expect("removed");
            took / STEPS
        },
    )
}
