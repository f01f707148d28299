//! The slowest frame of the window while a step runs on 1,000 hosts, with the tab of the hosts and the output shown, and
//! while the list of hosts is scrolled, against the time between two frames of a display; and the memory of that run
//! beside that of one on 10 hosts.
//!
//! `ssh` is a script that runs the command on this computer. The bench starts itself again with the script and ansible on
//! `PATH`, which the window inherits.

#![allow(
    missing_docs,
    clippy::expect_used,
    clippy::panic,
    reason = "a bench that meets the unexpected should stop"
)]
#![allow(clippy::disallowed_methods, reason = "it has to be another process")]
#![allow(dead_code, reason = "each bench uses its part of the support")]

#[path = "support/frames.rs"]
mod frames;
#[path = "support/hosts.rs"]
mod hosts;
mod support;

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

use countersign::app::Options;
use egui::Key;
use frames::{Frames, fast_folder};
use hosts::LocalHosts;
use support::{Bytes, exit, holds};

/// The time between two frames at 60 a second.
const FRAME: Duration = Duration::from_micros(16_667);
/// The memory that the window may need more for 1,000 hosts than for 10.
const MORE: Bytes = Bytes(32 << 20);
const HOME: &str = "COUNTERSIGN_BENCH_HOME";

fn main() -> ExitCode {
    if let Some(home) = std::env::var_os(HOME) {
        return measure(Path::new(&home));
    }
    let home = fast_folder();
    let hosts = LocalHosts::new(home.path(), 1_000);
    let mut again = Command::new(std::env::current_exe().expect("this program"));
    again.env(HOME, home.path()).env("HOME", home.path()).env("PATH", hosts.path());
    let status = again.status().expect("this program again");
    if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn measure(home: &Path) -> ExitCode {
    let (few, _) = run(home, 10);
    let (many, holds_of_frames) = run(home, 1_000);
    let more = Bytes(many.0.saturating_sub(few.0));
    println!("memory of the run: {few:?} with 10 hosts, {many:?} with 1,000");
    let memory = holds("memory for 1,000 hosts beyond that for 10", 1.0, vec![more], vec![MORE]);
    exit(memory && holds_of_frames)
}

/// The memory that a run on so many hosts adds, and whether its frames hold.
fn run(home: &Path, count: usize) -> (Bytes, bool) {
    let work = home.join(format!("work{count}"));
    std::fs::create_dir(&work).expect("a workspace");
    let file = work.join("bench.plan.json");
    std::fs::write(&file, LocalHosts::plan(count, "echo here; seq 20")).expect("a plan");
    let options = Options { plan: Some(file), workspace: Some(work), ..Options::default() };
    let mut frames = Frames::open(home, options);
    frames.until("Hosts");
    frames.click_on("Hosts");
    frames.until("All steps run on");
    let before = memory();
    frames.press_with_ctrl(Key::Enter);
    frames.until("Authorize exactly this plan?");
    frames.click("Authorize");
    frames.draw(30);
    frames.click("Run");
    let slowest = frames.slowest(|frames| frames.until("Completed"));
    let what = format!("the slowest frame while a step runs on {count} hosts");
    let mut all = holds(&what, 1.0, vec![slowest], vec![FRAME]);
    frames.click_on(&format!("{} hosts", if count == 1_000 { "1,000" } else { "10" }));
    let slowest = frames.slowest(|frames| {
        frames.scrolling_at(1_000.0);
    });
    let what = format!("the slowest frame while {count} hosts are listed");
    all &= holds(&what, 1.0, vec![slowest], vec![FRAME]);
    (Bytes(memory().saturating_sub(before)), all)
}

/// The memory of this process, in bytes.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("/proc");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("its memory");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") << 10
}
