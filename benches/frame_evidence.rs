//! The window's evidence page over large generated evidence against one over 100 records: the processor time of a frame
//! while the mouse moves over the results and while they are scrolled, and the memory of the process after a search.
//!
//! `support/generated.rs` describes the evidence. The window's query thread reads it.

#![allow(
    missing_docs,
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a bench that meets the unexpected should stop"
)]
#![allow(dead_code, reason = "each bench uses its part of the support")]

#[path = "support/frames.rs"]
mod frames;
#[path = "support/generated.rs"]
mod generated;
mod support;

use std::path::Path;
use std::process::{Command, ExitCode};

use countersign::app::Options;
use countersign::run::SearchQuery;
use egui::Key;
use frames::Frames;
use generated::Generated;
use support::{Bytes, exit, holds, in_pairs};

const AT_MOST: f64 = 1.5;
const PAIRS: usize = 31;
const FEW: usize = 100;
/// How much more memory the window may need over large evidence.
const MORE: Bytes = Bytes(100 << 20);
/// The folder of the evidence for a process that only prints its memory.
const MEASURED: &str = "FRAME_EVIDENCE_MEMORY_OF";

fn main() -> ExitCode {
    if let Some(folder) = std::env::var_os(MEASURED) {
        let mut window = open(Path::new(&folder));
        window.type_text("error");
        // Fewer are found than there are.
        window.until_any("a count of the hits", |shown| {
            is_count(shown)
                && shown.split_once(" of ").is_some_and(|(hits, all)| !all.starts_with(hits))
        });
        window.scrolling();
        println!("{}", memory());
        return ExitCode::SUCCESS;
    }
    let (large, small) = (Generated::large(), Generated::of(FEW));
    let count = |of: &Generated| {
        let mut reader = of.reader();
        reader.catch_up_index().expect("an index");
        reader.search(&SearchQuery::default()).expect("hits").counts.total
    };
    let number = count(&large);
    count(&small);
    let (mut many, mut few) = (open(large.folder()), open(small.folder()));
    let what = format!("of the evidence page, {number} records against {FEW}");
    let (ours, theirs) = in_pairs(PAIRS, || many.hovering(), || few.hovering());
    let mouse = holds(&format!("a frame under the mouse {what}"), AT_MOST, ours, theirs);
    let (ours, theirs) = in_pairs(PAIRS, || many.scrolling(), || few.scrolling());
    let wheel = holds(&format!("a frame under the wheel {what}"), AT_MOST, ours, theirs);
    drop((many, few));
    let (many, few) = (memory_of(&large), memory_of(&small));
    println!("memory: {:?} against {:?}", Bytes(many), Bytes(few));
    let more = Bytes(many.saturating_sub(few));
    let memory =
        holds(&format!("memory beyond that over {FEW} records"), 1.0, vec![more], vec![MORE]);
    exit(mouse && wheel && memory)
}

/// Whether this is the count of all hits of a search.
fn is_count(shown: &str) -> bool {
    shown.contains(" executions in ") && !shown.starts_with("more than ")
}

/// The evidence page over the evidence in `folder`, once everything is counted.
fn open(folder: &Path) -> Frames {
    let mut frames = Frames::open(folder, Options::default());
    frames.press_with_ctrl(Key::F);
    frames.until_any("a count of all executions", is_count);
    frames
}

/// The memory of another process that opens this evidence and searches it.
fn memory_of(made: &Generated) -> u64 {
    let this = std::env::current_exe().expect("this program");
    let done = Command::new(this).env(MEASURED, made.folder()).output().expect("a process");
    assert!(done.status.success(), "{done:?}");
    String::from_utf8_lossy(&done.stdout).trim().parse().expect("a number")
}

/// The most memory that this process had, in bytes.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("/proc");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") << 10
}
