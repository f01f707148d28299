//! Runs real programs: output, exit and cleanup. These tests are compiled and run once per wall level, which is
//! the end of the module's name.

mod ending;
mod output;
mod start;
mod terminal;

use std::cell::{Cell, RefCell};
use std::fs::{self, OpenOptions};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc::sync_channel;

use tempfile::TempDir;

use super::supervise::supervise;
use super::walls::{RunWalls, WallPaths};
use super::{path, *};
use crate::authorization::{StepWalls, WallLevel};

const LONG: Duration = Duration::from_secs(300);

/// The wall level of this module.
fn level() -> WallLevel {
    let module = module_path!();
    [WallLevel::Files, WallLevel::Full]
        .into_iter()
        .find(|level| module.ends_with(&format!("_{level}")))
        .unwrap_or_default()
}

/// A folder in which shell scripts run, with a named pipe that they can wait on forever.
struct Fixture {
    folder: TempDir,
    stop: StopSignal,
    walls: RunWalls,
    step: StepWalls,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let walls = RunWalls::new(folder.path().canonicalize().unwrap(), WallPaths::default());
        let step = StepWalls { level: level(), ..StepWalls::default() };
        let fixture = Self { folder, stop: StopSignal::default(), walls, step };
        let made = fixture.script("mkfifo fifo", LONG, u64::MAX, &|_, _| {});
        assert_eq!(made.exit_code, Some(0));
        fixture
    }

    /// A plan command behind the walls of this module.
    fn profile(&self) -> Profile<'_> {
        Profile::Step(ProgramWalls { step: &self.step, run: &self.walls, write: &[] })
    }

    /// Whether the process is running that has this id in the script's pid namespace.
    fn is_alive(&self, id: &str) -> bool {
        if level() != WallLevel::Full {
            return is_alive(id);
        }
        // The test sees the process under another id.
        self.processes().iter().any(|outside| {
            let status = fs::read_to_string(format!("/proc/{outside}/status")).unwrap_or_default();
            let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
            numbers.is_some_and(|numbers| numbers.split_whitespace().last() == Some(id))
        })
    }

    fn fifo(&self) -> PathBuf {
        self.folder.path().join("fifo")
    }

    /// Runs the script in `sh` with these limits.
    fn script(
        &self,
        script: &str,
        timeout: Duration,
        output_limit: u64,
        output: &dyn Fn(Stream, &str),
    ) -> Finished {
        let program = Program {
            profile: self.profile(),
            program: OsStr::new("sh"),
            arguments: &["-c", script],
            input: None,
            folder: self.folder.path(),
            environment: &[("HERON", "grey")],
            unset: &[],
            leftovers: Leftovers::Stay,
            timeout,
            output_limit,
        };
        run(&program, &self.stop, output).unwrap()
    }

    /// The running processes whose working directory is this folder.
    fn processes(&self) -> Vec<String> {
        let folder = self.folder.path().canonicalize().unwrap();
        let entries = fs::read_dir("/proc").unwrap().flatten();
        entries
            .filter(|entry| fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == folder))
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .filter(|id| is_alive(id))
            .collect()
    }

    /// Runs the script in `sh` without limits.
    fn run(&self, script: &str) -> Finished {
        self.script(script, LONG, u64::MAX, &|_, _| {})
    }

    /// Runs the script and stops it from another thread after it has printed this many lines. Also returns its lines.
    fn stopped_after(&self, script: &str, count: usize) -> (Finished, Vec<String>) {
        let (printed, seen) = (RefCell::new(String::new()), Cell::new(0));
        let (ready, wait) = sync_channel(1);
        let finished = thread::scope(|scope| {
            scope.spawn(move || {
                wait.recv().unwrap();
                self.stop.set();
            });
            self.script(script, LONG, u64::MAX, &|_, text| {
                printed.borrow_mut().push_str(text);
                // Only the new text is counted: counting all text each time would be slower than the output.
                let before = seen.get();
                seen.set(before + text.matches('\n').count());
                if before < count && seen.get() >= count {
                    ready.try_send(()).unwrap();
                }
            })
        });
        (finished, printed.into_inner().lines().map(str::to_owned).collect())
    }
}

/// Whether a process is running.
fn is_alive(id: &str) -> bool {
    fs::read_to_string(format!("/proc/{id}/stat")).is_ok_and(|stat| {
        !stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['Z', 'X']))
    })
}
