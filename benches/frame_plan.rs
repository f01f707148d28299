//! The processor time of a frame with a plan of 10,000 steps against one with 10: while the mouse moves
//! over the list and while it is scrolled, before the plan is authorized and after it has run.

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
use support::{exit, holds, in_pairs};

const AT_MOST: f64 = 1.5;
const PAIRS: usize = 31;

fn main() -> ExitCode {
    let (many_home, few_home) = (fast_folder(), fast_folder());
    let mut many = open(many_home.path(), 10_000);
    let mut few = open(few_home.path(), 10);
    let mut all = true;
    let mut compare = |when: &str, many: &mut Frames, few: &mut Frames| {
        let (ours, theirs) = in_pairs(PAIRS, || many.hovering(), || few.hovering());
        all &= holds(&format!("a frame under the mouse, {when}"), AT_MOST, ours, theirs);
        let (ours, theirs) = in_pairs(PAIRS, || many.scrolling(), || few.scrolling());
        all &= holds(&format!("a frame under the wheel, {when}"), AT_MOST, ours, theirs);
    };
    compare("10,000 steps to sign against 10", &mut many, &mut few);
    for frames in [&mut many, &mut few] {
        frames.press_with_ctrl(Key::Enter);
        frames.until("Authorize exactly this plan?");
    }
    compare("10,000 steps in question against 10", &mut many, &mut few);
    for frames in [&mut many, &mut few] {
        frames.click("Authorize");
        frames.click("Run");
        frames.until("Completed");
    }
    compare("10,000 steps that ran against 10", &mut many, &mut few);
    exit(all)
}

/// A window with a plan of `count` steps, of which every other one writes a file of its own.
fn open(home: &std::path::Path, count: usize) -> Frames {
    let work = home.join("work");
    std::fs::create_dir(&work).expect("a workspace");
    std::fs::write(work.join("notes.txt"), "a line of text\n".repeat(20)).expect("a file");
    let step = |index: usize| {
        if index.is_multiple_of(2) {
            json!({"tool": "file_read", "arguments": {"path": "notes.txt"}})
        } else {
            let path = format!("src/file_{index}.txt");
            json!({"tool": "file_create", "arguments": {"path": path, "contents": "a line\n"}})
        }
    };
    let steps: Vec<_> = (0..count).map(step).collect();
    let title = format!("Plan of {count}");
    let plan = json!({"plan_id": "bench", "title": title, "intent": "MUTATE", "steps": steps});
    let file = work.join("bench.plan.json");
    std::fs::write(&file, plan.to_string()).expect("a plan");
    let options = Options { plan: Some(file), workspace: Some(work), ..Options::default() };
    let mut frames = Frames::open(home, options);
    frames.until(&title);
    frames
}
