//! The time until the window with the tour is painted, and the memory that it then uses, against Chromium's
//! `--app` on an empty page.
//!
//! Both start in turn on the same display, each with a home folder of its own, and both are measured from
//! outside. The X server reports when a window is mapped and drawn. The kernel reports the memory of the program
//! and its child processes, with each shared page divided among the processes that share it (PSS). The files of
//! both programs are in the page cache from the launch before.
//!
//! `COUNTERSIGN` may name the program; the default is that of this build. Needs Xvfb and `chromium`.

#![allow(
    missing_docs,
    clippy::expect_used,
    reason = "a bench that meets the unexpected should stop"
)]
#![allow(clippy::disallowed_methods, reason = "starts both programs, which is what it is for")]
#![allow(dead_code, reason = "each bench uses its part of the support")]

#[path = "../tests/window/painting.rs"]
mod painting;
#[path = "support/processes.rs"]
mod processes;
#[path = "../tests/window/screen.rs"]
mod screen;
mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use painting::{Change, Painting};
use processes::Tree;
use screen::{DriverError, Outcome, PATIENCE, Screen, fail, need};
use support::{Bytes, exit, holds, in_pairs};

const PAIRS: usize = 11;
/// The start is complete when nothing has been drawn for this long. Later, the window draws the same once more, when it has
/// read the settings again that it has changed itself.
const QUIET: Duration = Duration::from_millis(300);

fn main() -> ExitCode {
    match compare() {
        Ok(all) => exit(all),
        Err(error) => {
            eprintln!("cannot measure: {error}");
            ExitCode::FAILURE
        }
    }
}

fn compare() -> Outcome<bool> {
    need(&["Xvfb", "chromium"], "sh packaging/bench.sh")?;
    let screen = Screen::bare()?;
    let program = std::env::var_os("COUNTERSIGN")
        .map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_countersign")), PathBuf::from);
    let countersign = |home: &Path| {
        let tour = home.join("tour");
        copy_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/plans/tour"), &tour)
            .expect("a copy of the tour");
        let mut command = screen.command_at(home, &program);
        command.arg(tour.join("tour.plan.json"));
        command
    };
    let chromium = |home: &Path| {
        let mut command = screen.command_at(home, "chromium");
        command.args(["--app=about:blank", "--no-sandbox", "--no-first-run"]);
        command.arg(format!("--user-data-dir={}", home.join("profile").display()));
        command
    };
    let (ours, theirs) =
        in_pairs(PAIRS, || launch(&screen, &countersign), || launch(&screen, &chromium));
    let ours = ours.into_iter().collect::<Outcome<Vec<_>>>()?;
    let theirs = theirs.into_iter().collect::<Outcome<Vec<_>>>()?;
    let compare = |what: &str, our: fn(&Launch) -> Duration| {
        let their = theirs.iter().map(|launch| launch.shown).collect();
        holds(what, 0.7, ours.iter().map(our).collect(), their)
    };
    let shown = compare("the first window against Chromium's", |launch| launch.shown);
    let rested = compare("the whole tour against Chromium's first window", |launch| launch.rested);
    let memory = |launches: &[Launch]| launches.iter().map(|launch| launch.memory).collect();
    let what = "memory with the tour open against Chromium's";
    Ok(holds(what, 0.4, memory(&ours), memory(&theirs)) && shown && rested)
}

/// The measurements of a start.
struct Launch {
    /// Time until its window was painted.
    shown: Duration,
    /// Time until its last drawing.
    rested: Duration,
    /// The memory of all its processes at that time.
    memory: Bytes,
}

/// Starts a program with a home of its own, and ends it once it has stopped drawing.
fn launch(screen: &Screen, command: &dyn Fn(&Path) -> Command) -> Outcome<Launch> {
    let home = tempfile::tempdir().map_err(|e| DriverError(format!("no temporary folder: {e}")))?;
    let mut command = command(home.path());
    command.stderr(Stdio::null());
    let painting = Painting::watch(screen.display())?;
    painting.put_mouse_away()?;
    let start = Instant::now();
    let child =
        command.spawn().map_err(|e| DriverError(format!("{command:?} did not start: {e}")))?;
    let tree = Tree::of(child);
    let mut windows = Vec::new();
    let shown = loop {
        let Some((when, change)) = painting.next(start + PATIENCE)? else {
            return fail(format!("{command:?} showed no window within {PATIENCE:?}"));
        };
        if let Change::Mapped(window) = change {
            windows.push(window);
        }
        if windows.iter().any(|window| painting.is_painted(*window)) {
            break when;
        }
    };
    let rested = painting.wait_until_quiet(QUIET, PATIENCE)?.unwrap_or(shown);
    let memory = Bytes(tree.proportional_memory());
    Ok(Launch { shown: shown - start, rested: rested - start, memory })
}

fn copy_folder(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
