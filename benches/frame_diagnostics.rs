//! The processor time of a frame of the diagnostics page with 10,000 diagnostics against one with 10,
//! while the mouse moves over the table and while it is scrolled. The diagnostics come from a real `cargo check`.

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
    let mut many = open(many_home.path(), 10_000, "10,000 of 10,000");
    let mut few = open(few_home.path(), 10, "10 of 10");
    let (ours, theirs) = in_pairs(PAIRS, || many.hovering(), || few.hovering());
    let hovering = holds("a frame under the mouse, 10,000 against 10", AT_MOST, ours, theirs);
    let (ours, theirs) = in_pairs(PAIRS, || many.scrolling(), || few.scrolling());
    let scrolling = holds("a frame under the wheel, 10,000 against 10", AT_MOST, ours, theirs);
    exit(hovering && scrolling)
}

/// The diagnostics page after a check of a crate with `count` unused variables.
fn open(home: &std::path::Path, count: usize, shown: &str) -> Frames {
    let work = home.join("work");
    std::fs::create_dir_all(work.join("src")).expect("a workspace");
    let manifest = "[package]\nname = \"unused\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    std::fs::write(work.join("Cargo.toml"), manifest).expect("a manifest");
    let lines: String = (0..count).map(|at| format!("    let unused_{at} = {at};\n")).collect();
    std::fs::write(work.join("src/lib.rs"), format!("pub fn all() {{\n{lines}}}\n"))
        .expect("a file");
    let steps = json!([{"step_id": "check", "tool": "lsp_check", "arguments": {"path": "."}}]);
    let title = format!("Check of {count}");
    let plan = json!({"plan_id": "bench", "title": title, "intent": "QUERY", "steps": steps});
    let file = work.join("bench.plan.json");
    std::fs::write(&file, plan.to_string()).expect("a plan");
    let options = Options { plan: Some(file), workspace: Some(work), ..Options::default() };
    let mut frames = Frames::open(home, options);
    frames.until(&title);
    frames.press_with_ctrl(Key::Enter);
    frames.until("Authorize exactly this plan?");
    frames.click("Authorize");
    frames.click("Run");
    frames.until("Completed");
    frames.press_with_ctrl(Key::Num3);
    frames.until(shown);
    frames
}
