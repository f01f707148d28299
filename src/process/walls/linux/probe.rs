//! Finds the best wall level of this computer by trial.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::process::parent_id;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use super::helper::{COMMAND, END};
use super::keeper::THIS_PROGRAM;
use super::wall_state::private_folder;
use super::{RunWalls, WallPaths, WallProbe};
use crate::authorization::{StepWalls, WallLevel};
use crate::process::{Cause, Leftovers, Profile, Program, ProgramWalls, run};
use crate::run::StopSignal;

/// The helper's task in a trial: to attempt what the walls forbid.
pub(super) const TRY: &str = "try";
/// The time limit of a trial.
const TRIAL_TIMEOUT: Duration = Duration::from_secs(20);
/// The file that a trial attempts to create outside the workspace.
const BESIDE: &str = "beside";
/// The hidden folder of a trial.
const HIDDEN: &str = "hidden";
/// A file in the hidden folder.
const INSIDE: &str = "inside";

impl WallProbe {
    /// The result of the trials. They run once per process.
    pub fn of_this_computer() -> &'static Self {
        static FOUND: OnceLock<WallProbe> = OnceLock::new();
        FOUND.get_or_init(|| find().at_most(max_level()))
    }

    fn at_most(self, max_level: Option<WallLevel>) -> Self {
        match max_level.filter(|max_level| *max_level < self.level) {
            Some(level) => {
                Self { level, why_not_better: Some("a better one is not to be used".to_owned()) }
            }
            None => self,
        }
    }
}

/// The best level that a test may use; `None` for no limit.
#[cfg(any(test, feature = "inspection"))]
fn max_level() -> Option<WallLevel> {
    let named = std::env::var("COUNTERSIGN_WALLS").ok()?;
    [WallLevel::None, WallLevel::Files, WallLevel::Full].into_iter().find(|it| it.as_str() == named)
}

#[cfg(not(any(test, feature = "inspection")))]
fn max_level() -> Option<WallLevel> {
    None
}

fn find() -> WallProbe {
    let full = trial(WallLevel::Full);
    let Err(no_full) = full else {
        return WallProbe { level: WallLevel::Full, why_not_better: None };
    };
    let no_full = format!("level full does not hold here: {no_full}");
    match trial(WallLevel::Files) {
        Ok(()) => WallProbe { level: WallLevel::Files, why_not_better: Some(no_full) },
        Err(no_files) => {
            let why = format!("{no_full}; level files does not hold here: {no_files}");
            WallProbe { level: WallLevel::None, why_not_better: Some(why) }
        }
    }
}

/// Starts a program behind walls of this level that attempts what the walls forbid.
///
/// # Errors
/// When the walls cannot be put up, allow what they must forbid, or forbid what they must allow.
fn trial(level: WallLevel) -> io::Result<()> {
    let top = private_folder()?;
    let (workspace, hidden) = (top.target().join("workspace"), top.target().join(HIDDEN));
    fs::create_dir(&workspace)?;
    fs::create_dir(&hidden)?;
    fs::write(hidden.join(INSIDE), "")?;
    let paths = WallPaths { hidden: vec![hidden], ..WallPaths::default() };
    let walls = RunWalls::new(workspace.canonicalize()?, paths);
    let step = StepWalls { level, ..StepWalls::default() };
    let own_id = std::process::id().to_string();
    let program = Program {
        profile: Profile::Step(ProgramWalls { step: &step, run: &walls, write: &[] }),
        program: OsStr::new(THIS_PROGRAM),
        arguments: &[COMMAND, TRY, END, level.as_str(), &own_id],
        input: None,
        folder: &walls.workspace,
        environment: &[],
        unset: &[],
        leftovers: Leftovers::End,
        timeout: TRIAL_TIMEOUT,
        output_limit: 1 << 16,
    };
    let finished = run(&program, &StopSignal::default(), &|_, _| {})?;
    match (finished.cause, finished.exit_code) {
        (None, Some(0)) if top.target().join(BESIDE).exists() => {
            Err(io::Error::other("a file outside the workspace can be created"))
        }
        (None, Some(0)) => Ok(()),
        (Some(Cause::TimedOut), _) => {
            let seconds = TRIAL_TIMEOUT.as_secs();
            Err(io::Error::other(format!(
                "a trial of the walls did not end within {seconds} seconds"
            )))
        }
        _ => {
            let stderr = String::from_utf8_lossy(&finished.stderr).trim().to_owned();
            Err(io::Error::other(if stderr.is_empty() {
                "a trial failed".to_owned()
            } else {
                stderr
            }))
        }
    }
}

/// The program of a trial, which runs behind the walls. It attempts accesses that the walls must forbid, and others
/// that they must allow.
///
/// # Errors
/// When an access is forbidden or allowed against these rules.
pub(super) fn attempts(line: &[std::ffi::OsString]) -> io::Result<u8> {
    let is_full = line.first().is_some_and(|level| level == WallLevel::Full.as_str());
    let outside: i32 =
        line.get(1).and_then(|it| it.to_str()?.parse().ok()).ok_or(io::ErrorKind::InvalidInput)?;
    let require = |condition: bool, message: &str| {
        if condition { Ok(()) } else { Err(io::Error::other(message.to_owned())) }
    };
    require(File::create("mine").is_ok(), "the workspace cannot be written")?;
    let temporary = std::env::temp_dir().join("mine");
    require(File::create(temporary).is_ok(), "the temporary folder cannot be written")?;
    // The process outside checks whether this file exists. Behind the walls, creating it may succeed in a private
    // temporary folder.
    let _ = File::create(Path::new("..").join(BESIDE));
    let hidden = Path::new("..").join(HIDDEN).join(INSIDE);
    require(File::open(hidden).is_err(), "a folder of Countersign can be read")?;
    let socket = std::os::unix::net::UnixStream::connect("/nonexistent");
    let refused = socket.is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied);
    require(refused, "sockets of daemons can be reached")?;
    let reached =
        std::net::UdpSocket::bind("0.0.0.0:0").and_then(|socket| socket.connect("192.0.2.1:9"));
    require(reached.is_err(), "the network can be reached")?;
    let chroot = rustix::process::chroot("/");
    require(chroot == Err(rustix::io::Errno::PERM), "the root folder can be changed")?;
    if is_full {
        let seen = Path::new("/proc").join(outside.to_string()).exists();
        // A low parent id shows a new PID namespace, in which a process may have the same id as the one outside.
        require(!seen || parent_id() < 10, "processes outside can be seen")?;
    }
    Ok(0)
}
