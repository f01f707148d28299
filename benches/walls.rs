//! The time of a program behind walls: at level full against the same program in bubblewrap with new namespaces,
//! and at level files against `countersign --version`.
//!
//! The namespaces are created once per run, so the first program of a run is measured apart from the later ones.
//! `COUNTERSIGN` may name the program; the default is that of this build. Needs bubblewrap.

#![allow(
    missing_docs,
    clippy::expect_used,
    reason = "a bench that meets the unexpected should stop"
)]
#![allow(clippy::disallowed_methods, reason = "the other side of the claim is a program")]
#![allow(dead_code, reason = "each bench uses its part of the support")]

mod support;

use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use countersign::authorization::{StepWalls, WallLevel};
use countersign::risk::Policy;
use countersign::run::StopSignal;
use countersign::tools::{PlannerProgram, Toolbox};
use support::{exit, holds, in_pairs, time};

const PAIRS: usize = 41;
const TRUE: &str = "/usr/bin/true";

fn main() -> ExitCode {
    let folder = tempfile::tempdir().expect("a folder");
    let open = || Toolbox::open(folder.path(), &Policy::default()).expect("a workspace");
    let bubblewrap = || {
        let line = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"];
        run(Command::new("bwrap").args(["--unshare-net", "--unshare-pid"]).args(line).arg(TRUE))
    };
    let program = std::env::var_os("COUNTERSIGN")
        .map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_countersign")), PathBuf::from);
    let toolbox = open();
    let (ours, theirs) = in_pairs(PAIRS, || walled(&toolbox, WallLevel::Full), bubblewrap);
    let later = holds("true behind walls at level full against bubblewrap", 1.4, ours, theirs);
    let first = || {
        let toolbox = open();
        walled(&toolbox, WallLevel::Full)
    };
    let (ours, theirs) = in_pairs(PAIRS, first, bubblewrap);
    let first = holds("the first one of a run against bubblewrap", 1.4, ours, theirs);
    let version = || run(Command::new(&program).arg("--version"));
    let (ours, theirs) = in_pairs(PAIRS, || walled(&toolbox, WallLevel::Files), version);
    let files = holds("true behind walls at level files against --version", 2.0, ours, theirs);
    exit(later && first && files)
}

/// The time of [`TRUE`] behind walls of this level.
fn walled(toolbox: &Toolbox, level: WallLevel) -> Duration {
    let walls = StepWalls { level, ..StepWalls::default() };
    let program =
        PlannerProgram::Program { program: TRUE.into(), arguments: Vec::new(), has_key: false };
    let timeout = Duration::from_secs(60);
    let mut finished = None;
    let took = time(|| {
        let stop = StopSignal::default();
        finished = Some(toolbox.run_planner(&program, b"", &walls, timeout, &stop, &|_| {}));
    });
    let finished = finished.expect("it ran").expect("it was started");
    assert_eq!(finished.exit_code, Some(0), "{finished:?}");
    took
}

/// The time until the command has ended.
fn run(command: &mut Command) -> Duration {
    let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    time(|| assert!(command.output().expect("it was started").status.success()))
}
