//! The slowest frame while a difference of 10 MB is shown, scrolled and set side by side, against a
//! sixtieth of a second: a frame that takes longer is late.

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
use std::time::Duration;

use countersign::app::Options;
use frames::{Frames, fast_folder};
use serde_json::json;
use support::{exit, holds};

/// Lines of the file before; each has 40 bytes.
const LINES: usize = 250_000;
/// Lines of the file after: almost the largest size of an argument.
const NEW_LINES: usize = 25_000;
const FRAME: Duration = Duration::from_nanos(1_000_000_000 / 60);
const ROUNDS: usize = 5;

fn main() -> ExitCode {
    let home = fast_folder();
    let work = home.path().join("work");
    std::fs::create_dir(&work).expect("a workspace");
    let text = |word: &str, lines: usize| -> String {
        (0..lines).map(|line| format!("{word} {line:>8} and some more of it....\n")).collect()
    };
    std::fs::write(work.join("large.txt"), text("before", LINES)).expect("a file");
    let steps = [
        json!({"tool": "file_glob", "arguments": {"pattern": "*.txt", "root": "."}}),
        json!({"tool": "file_write", "arguments": {"path": "large.txt", "contents": text("after ", NEW_LINES)}}),
    ];
    let title = "Replace a large file";
    let plan = json!({"plan_id": "bench", "title": title, "intent": "MUTATE", "steps": steps});
    let file = work.join("bench.plan.json");
    std::fs::write(&file, plan.to_string()).expect("a plan");
    let mut slowest: [Vec<Duration>; 3] = Default::default();
    for _ in 0..ROUNDS {
        let options = Options {
            plan: Some(file.clone()),
            workspace: Some(work.clone()),
            ..Options::default()
        };
        let mut frames = Frames::open(home.path(), options);
        frames.until(title);
        let [shown, scrolled, beside] = &mut slowest;
        shown.push(frames.slowest(|frames| {
            frames.click_once("large.txt");
            frames.until("before        0");
            // All of it is laid out by then.
            frames.draw(300);
        }));
        scrolled.push(frames.slowest(|frames| {
            frames.scrolling();
        }));
        beside.push(frames.slowest(|frames| {
            frames.click_once("Side by side");
            frames.draw(300);
        }));
    }
    let mut all = true;
    for (when, slowest) in ["shown", "scrolled", "set side by side"].into_iter().zip(slowest) {
        let frame = vec![FRAME; slowest.len()];
        let what = format!("the slowest frame of a difference of 10 MB, {when}, against 1/60 s");
        all &= holds(&what, 1.0, slowest, frame);
    }
    exit(all)
}
