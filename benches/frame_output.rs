//! The slowest frame of the window while a command prints ten million lines, against the time between two
//! frames of a display, with all output shown and with the list of steps shown.

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
use egui::Key;
use frames::{Frames, fast_folder};
use serde_json::json;
use support::{exit, holds};

/// The time between two frames at 60 a second.
const FRAME: Duration = Duration::from_micros(16_667);

fn main() -> ExitCode {
    let mut all = true;
    for (what, hide) in [("the steps", true), ("all output", false)] {
        let home = fast_folder();
        let mut frames = open(home.path());
        frames.press_with_ctrl(Key::Enter);
        frames.until("Authorize exactly this plan?");
        frames.click("Authorize");
        frames.draw(30);
        frames.click("Run");
        if hide {
            frames.press_with_ctrl_and_shift(Key::O);
        }
        let slowest = frames.slowest(|frames| frames.until("Completed"));
        let what = format!("the slowest frame while 10 million lines come in, {what} shown");
        all &= holds(&what, 1.0, vec![slowest], vec![FRAME]);
    }
    exit(all)
}

/// A window with a plan of one command that prints a lot.
fn open(home: &std::path::Path) -> Frames {
    let work = home.join("work");
    std::fs::create_dir(&work).expect("a workspace");
    let steps = [json!({"command": "yes kingfisher | head -n 10000000"})];
    let plan = json!({"goal": "A flood of output", "steps": steps});
    let file = work.join("bench.plan.json");
    std::fs::write(&file, plan.to_string()).expect("a plan");
    let options = Options { plan: Some(file), workspace: Some(work), ..Options::default() };
    let mut frames = Frames::open(home, options);
    frames.until("A flood of output");
    frames
}
