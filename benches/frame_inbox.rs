//! The slowest frame of the window while 1,000 plans arrive in the inbox and a run is under way, against the time between
//! two frames of a display; the same while the whole list is scrolled; and the memory after all of them have changed ten
//! times.

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

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread::JoinHandle;
use std::time::Duration;

use countersign::app::Options;
use egui::Key;
use frames::{Frames, fast_folder};
use serde_json::json;
use support::{Bytes, exit, holds};

/// The time between two frames at 60 a second.
const FRAME: Duration = Duration::from_micros(16_667);
/// The memory that the window may need more after everything has changed ten times.
const MORE: Bytes = Bytes(16 << 20);
const PLANS: usize = 1_000;
const ROUNDS: usize = 10;

fn main() -> ExitCode {
    let home = fast_folder();
    let inbox = home.path().join("inbox");
    let mut frames = open(home.path());
    frames.press_with_ctrl(Key::Enter);
    frames.until("Authorize exactly this plan?");
    frames.click("Authorize");
    frames.draw(30);
    frames.click("Run");
    frames.until("Running step 1");
    let slowest = frames.slowest(|frames| {
        let writing = write(&inbox, 0);
        frames.until("Inbox (1000)");
        writing.join().expect("the files");
    });
    let what = "the slowest frame while 1,000 plans arrive and a run is under way";
    let mut all = holds(what, 1.0, vec![slowest], vec![FRAME]);
    frames.click("Show all 1000");
    let slowest = frames.slowest(|frames| {
        frames.scrolling_at(100.0);
    });
    all &= holds("the slowest frame while all are listed", 1.0, vec![slowest], vec![FRAME]);
    let before = memory();
    for round in 1..=ROUNDS {
        let writing = write(&inbox, round);
        frames.until(&format!("Round {round},"));
        writing.join().expect("the files");
        frames.until("Inbox (1000)");
    }
    let more = Bytes(memory().saturating_sub(before));
    all &= holds("memory after all have changed ten times", 1.0, vec![more], vec![MORE]);
    std::fs::write(home.path().join("work/done"), "").expect("a file");
    frames.until("Completed");
    exit(all)
}

/// Writes all plans on another thread, each under a temporary name first.
fn write(inbox: &Path, round: usize) -> JoinHandle<()> {
    let inbox: PathBuf = inbox.to_owned();
    let work = move || {
        for number in 0..PLANS {
            let steps = [json!({"tool": "file_read", "arguments": {"path": "notes.txt"}})];
            let title = format!("Round {round}, plan {number}");
            let plan =
                json!({"plan_id": "bench", "title": title, "intent": "READ", "steps": steps});
            let temporary = inbox.join(format!("{number}.part"));
            std::fs::write(&temporary, plan.to_string()).expect("a plan");
            std::fs::rename(temporary, inbox.join(format!("{number}.json"))).expect("a name");
        }
    };
    std::thread::Builder::new().spawn(work).expect("a thread")
}

/// A window with a plan of one command that goes on until there is a file.
fn open(home: &Path) -> Frames {
    let work = home.join("work");
    std::fs::create_dir(&work).expect("a workspace");
    let steps = [json!({"command": "while [ ! -e done ]; do echo waiting; sleep 0.1; done"})];
    let plan = json!({"goal": "Wait for a file", "steps": steps});
    let file = work.join("bench.plan.json");
    std::fs::write(&file, plan.to_string()).expect("a plan");
    let options = Options { plan: Some(file), workspace: Some(work), ..Options::default() };
    let mut frames = Frames::open(home, options);
    frames.until("Wait for a file");
    frames
}

/// The memory of this process, in bytes.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("/proc");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("its memory");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") << 10
}
