//! The processor time of a frame of the evidence page over 100,000 records against one over 100: while the
//! mouse moves over the results and while they are scrolled.
//!
//! The records come from real runs, and the window's query thread reads them.

#![allow(
    missing_docs,
    clippy::expect_used,
    clippy::panic,
    reason = "a bench that meets the unexpected should stop"
)]
#![allow(dead_code, reason = "each bench uses its part of the support")]

#[path = "support/frames.rs"]
mod frames;
mod support;

use std::process::ExitCode;

use countersign::app::Options;
use egui::Key;
use frames::{Frames, fast_folder};
use serde_json::json;
use support::{Bench, exit, holds, in_pairs, plan};

const AT_MOST: f64 = 1.5;
const PAIRS: usize = 31;

fn main() -> ExitCode {
    let (many_records, mut many) = open(10, 10_000, "100,000 of 100,000 executions in ");
    let (few_records, mut few) = open(1, 100, "100 of 100 executions in ");
    let what = "of the evidence page, 100,000 records against 100";
    let (ours, theirs) = in_pairs(PAIRS, || many.hovering(), || few.hovering());
    let mouse = holds(&format!("a frame under the mouse {what}"), AT_MOST, ours, theirs);
    let (ours, theirs) = in_pairs(PAIRS, || many.scrolling(), || few.scrolling());
    let wheel = holds(&format!("a frame under the wheel {what}"), AT_MOST, ours, theirs);
    drop((many_records, few_records));
    exit(mouse && wheel)
}

/// The evidence page over `runs` runs of `steps` steps each, once it shows the count `shown`.
fn open(runs: usize, steps: usize, shown: &str) -> (Bench, Frames) {
    let mut bench = Bench::in_folder(fast_folder());
    std::fs::write(bench.workspace().join("notes.txt"), "a line of text\n").expect("a file");
    let step = || json!({"tool": "file_read", "arguments": {"path": "notes.txt"}});
    let plan = plan((0..steps).map(|_| step()).collect());
    for _ in 0..runs {
        bench.run(&plan);
    }
    let mut frames = Frames::open(bench.folder(), Options::default());
    frames.press_with_ctrl(Key::F);
    frames.until(shown);
    (bench, frames)
}
