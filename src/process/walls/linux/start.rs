//! Builds the helper's command line for a walled program, and receives the helper's messages.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::bubblewrap;
use super::filter::Network;
use super::helper::{COMMAND, END, option, work};
use super::keeper::THIS_PROGRAM;
use super::landlock_rules::DEVICES;
use super::lasting::{MEMORY, Shared};
use super::report::{Hearer, Message};
use super::table::{self, Access, Table};
use super::view::Ingredients;
use super::watched::Watched;
use super::{TEMPORARY, WallProbe, WallReport, probe, refused};
use crate::authorization::WallLevel;
use crate::process::{Behind, Program, command, tree};

/// How long the helper may take to report the start; the program's own timeout also limits it.
const START: Duration = Duration::from_secs(10);

/// A program behind walls.
pub(in crate::process) struct Walled {
    arguments: Vec<OsString>,
    environment: Vec<(&'static str, OsString)>,
    /// Descriptors that the helper inherits, until it is started.
    inherited: Vec<OwnedFd>,
    hearer: Hearer,
    watched: Watched,
    refused: Refused,
    writable: Vec<PathBuf>,
    is_incomplete: bool,
    shared: Shared,
}

/// The counter of refused network access.
enum Refused {
    /// The listener of the seccomp filter counts.
    Sockets(Arc<AtomicU64>),
    /// The kernel counts in the run's network namespace: the process id of the keeper, and the count before
    /// this program.
    Unreachable(i32, u64),
    /// Refused access is not counted, because the network is allowed.
    Nothing,
}

impl Walled {
    /// The program behind its walls; `None` when its profile has none.
    ///
    /// # Errors
    /// Walls that cannot be put up.
    pub(in crate::process) fn of(program: &Program<'_>, mark: &str) -> io::Result<Option<Self>> {
        match program.profile.walls() {
            None => Ok(None),
            Some(behind) => Self::behind(behind, program, mark).map(Some),
        }
    }

    fn behind(behind: Behind<'_>, program: &Program<'_>, mark: &str) -> io::Result<Self> {
        let Behind { step, run, write } = behind;
        if let Some(why) = run.impossible() {
            return Err(io::Error::other(why));
        }
        let is_trial = program.arguments.get(1) == Some(&probe::TRY)
            && program.program == OsStr::new(THIS_PROGRAM);
        if !is_trial {
            let here = WallProbe::of_this_computer();
            if here.level < step.level {
                let why = here.why_not_better.as_deref().unwrap_or_default();
                let text = format!("walls of level {} were authorized: {why}", step.level);
                return Err(io::Error::other(text));
            }
        }
        let shared = run.state.shared();
        let mut lasting = shared.lock();
        // Stops the processes of earlier steps before the workspace is examined.
        lasting.halt();
        let table = Table::of(run, step, write, program.folder)?;
        let temporary = lasting.temporary()?;
        let (ours, theirs) = super::system::channel()?;
        let line = Line { step, program, table: &table, temporary, report: &theirs };
        let (arguments, mut inherited, refused) = match step.level {
            WallLevel::Full => {
                let wanted = line.view(lasting.memory());
                let keeper = lasting.keeper(run, &wanted)?;
                let program = bubblewrap::path(&run.workspace)?;
                let namespaces = keeper.namespaces_for(&program, wanted, step.network)?;
                let refused = match step.network {
                    true => Refused::Nothing,
                    false => Refused::Unreachable(keeper.id, refused::unreachable(keeper.id)),
                };
                (line.full(&namespaces)?, namespaces, refused)
            }
            WallLevel::Files => {
                lasting.marks.push(mark.to_owned());
                (line.files(), Vec::new(), Refused::Sockets(Arc::default()))
            }
            WallLevel::None => return Err(io::Error::other("there are no walls of level none")),
        };
        let environment = line.environment();
        let writable = line.writable();
        inherited.push(theirs);
        let watched = match step.level {
            WallLevel::Full => Watched::look(table.absent(), table.read_only()),
            _ => Watched::look([table.absent(), table.read_only()].concat(), Vec::new()),
        };
        drop(lasting);
        Ok(Self {
            arguments,
            environment,
            inherited,
            hearer: Hearer(ours),
            watched,
            refused,
            writable,
            is_incomplete: table.is_incomplete,
            shared,
        })
    }

    /// The command that starts the helper instead of the program.
    pub(in crate::process) fn command(&mut self) -> Command {
        let mut command = command(OsStr::new(THIS_PROGRAM));
        command.args(&self.arguments);
        command
    }

    /// Adds the environment of the walls, and makes the child a session leader that inherits the descriptors.
    pub(in crate::process) fn new_session(&mut self, command: &mut Command) {
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        tree::new_session_with(command, std::mem::take(&mut self.inherited));
    }

    /// Waits until the program runs behind its walls. When no message arrives in time, for example because
    /// the program has stopped its helper, the program counts as started, and the supervisor's timeout ends
    /// it.
    ///
    /// # Errors
    /// Why the program was not started.
    pub(in crate::process) fn wait_until_started(&mut self, timeout: Duration) -> io::Result<()> {
        let started = self.started(START.min(timeout));
        self.shared.lock().go_on();
        started
    }

    fn started(&self, patience: Duration) -> io::Result<()> {
        let mut is_about_to = false;
        loop {
            if !self.hearer.hears_within(patience)? {
                return Ok(());
            }
            match self.hearer.next(true)? {
                Some(Message::AboutToStart) => is_about_to = true,
                Some(Message::Started) => return Ok(()),
                Some(Message::Failed(error)) => return Err(error),
                Some(Message::Listener(listener)) => {
                    let Refused::Sockets(count) = &self.refused else {
                        return Err(io::Error::other(
                            "the helper sent a count that was not requested",
                        ));
                    };
                    refused::count_sockets(listener, Arc::clone(count))?;
                }
                // The program replaced the helper, which closed the channel.
                None if is_about_to => return Ok(()),
                Some(Message::Ended(_)) | None => {
                    return Err(io::Error::other("the helper of the walls ended early"));
                }
            }
        }
    }

    /// The exit status of the program, given the status `outer` of the process that was started for it.
    pub(in crate::process) fn status(&self, outer: Option<ExitStatus>) -> Option<ExitStatus> {
        use std::os::unix::process::ExitStatusExt as _;
        let outer = outer?;
        if matches!(self.refused, Refused::Sockets(_)) {
            return Some(outer);
        }
        loop {
            match self.hearer.next(false) {
                Ok(Some(Message::Ended(status))) => return Some(status),
                // A late message about the start.
                Ok(Some(Message::Started)) => {}
                // The helper inside was killed before it sent a status, and the program was killed with it.
                _ => return Some(ExitStatus::from_raw(rustix::process::Signal::KILL.as_raw())),
            }
        }
    }

    /// The report of the walls. Also stops the processes that the program left running, and renames protected
    /// files that were created.
    pub(in crate::process) fn report(&self) -> WallReport {
        let refused = match &self.refused {
            Refused::Sockets(count) => count.load(Ordering::Relaxed),
            Refused::Unreachable(keeper, before) => {
                refused::unreachable(*keeper).saturating_sub(*before)
            }
            Refused::Nothing => 0,
        };
        let (writable, is_incomplete) = (self.writable.clone(), self.is_incomplete);
        self.shared.lock().halt();
        WallReport { refused, changed: self.watched.set_aside(), writable, is_incomplete }
    }
}

/// The inputs of the helper's command line.
struct Line<'a> {
    step: &'a crate::authorization::StepWalls,
    program: &'a Program<'a>,
    table: &'a Table,
    temporary: PathBuf,
    report: &'a OwnedFd,
}

impl Line<'_> {
    /// Whether the run's temporary folder is mounted at [`TEMPORARY`].
    fn replaces_temporary(&self) -> bool {
        self.step.level == WallLevel::Full && self.table.can_replace_temporary()
    }

    /// The path of the temporary folder as the program sees it.
    fn seen_temporary(&self) -> PathBuf {
        if self.replaces_temporary() { TEMPORARY.into() } else { self.temporary.clone() }
    }

    fn writable(&self) -> Vec<PathBuf> {
        let mut writable: Vec<PathBuf> =
            self.table.paths(Access::Write).map(ToOwned::to_owned).collect();
        writable.push(self.seen_temporary());
        writable.extend(DEVICES.map(PathBuf::from));
        writable
    }

    /// The command line: the options of the walls, those in `before`, then the program with its arguments.
    fn apply(&self, network: Network, before: Vec<OsString>) -> Vec<OsString> {
        let mut line: Vec<OsString> = vec![COMMAND.into(), work::APPLY.into()];
        line.extend([option::REPORT.into(), self.report.as_raw_fd().to_string().into()]);
        line.extend(before);
        line.extend([option::NETWORK.into(), network.as_str().into()]);
        for path in self.table.paths(Access::Write) {
            line.extend([option::WRITE.into(), path.into()]);
            if let Some((device, number)) = table::place(path) {
                line.extend([option::IS.into(), format!("{device}:{number}").into()]);
            }
        }
        line.extend([option::WRITE.into(), self.seen_temporary().into()]);
        match self.step.level {
            WallLevel::Full => {
                // These paths are mounted for the run alone.
                for path in [MEMORY, "/dev/pts", "/dev/ptmx"] {
                    line.extend([option::WRITE.into(), path.into()]);
                }
            }
            WallLevel::Files | WallLevel::None => {
                for path in self.table.paths(Access::Hidden) {
                    line.extend([option::HIDE.into(), path.into()]);
                }
            }
        }
        line.extend([END.into(), self.program.program.to_owned()]);
        line.extend(self.program.arguments.iter().map(OsString::from));
        line
    }

    fn files(&self) -> Vec<OsString> {
        let network = if self.step.network { Network::Granted } else { Network::Nothing };
        self.apply(network, Vec::new())
    }

    /// The inputs of the program's view of the file system.
    fn view(&self, memory: Option<PathBuf>) -> Ingredients {
        let temporary = self.seen_temporary();
        let mut folders = vec![(temporary.as_path(), self.temporary.as_path())];
        folders.extend(memory.as_deref().map(|memory| (Path::new(MEMORY), memory)));
        Ingredients::new(bubblewrap::view(self.table, &folders), self.table)
    }

    fn full(&self, namespaces: &[OwnedFd]) -> io::Result<Vec<OsString>> {
        let network = if self.step.network { Network::Granted } else { Network::Own };
        let join = namespaces.iter().flat_map(option::join);
        let mut before: Vec<OsString> = join.map(OsString::from).collect();
        before.extend([option::FOLDER.into(), self.program.folder.canonicalize()?.into()]);
        Ok(self.apply(network, before))
    }

    /// Variables that point programs to writable folders for temporary files and caches.
    fn environment(&self) -> Vec<(&'static str, OsString)> {
        let temporary = self.seen_temporary();
        let mut environment = vec![("TMPDIR", temporary.clone().into_os_string())];
        for (name, folder) in CACHES {
            let is_writable = std::env::var_os(name).is_some_and(|path| {
                let path = PathBuf::from(path);
                path.is_absolute() && self.writable().iter().any(|it| path.starts_with(it))
            });
            if !is_writable {
                environment.push((name, temporary.join(folder).into()));
            }
        }
        if !self.step.writes_repository {
            // Without this, `git status` would try to update the index, and be refused.
            environment.push(("GIT_OPTIONAL_LOCKS", "0".into()));
        }
        environment
    }
}

/// Caches that builds need: the variable that names the folder, and the folder in the run's temporary folder.
/// Each run has caches of its own, because files that one build writes into a shared cache would be used by
/// every later build. There is no entry for cargo, for which read access to its home suffices.
const CACHES: [(&str, &str); 3] =
    [("GOCACHE", "go-build"), ("PIP_CACHE_DIR", "pip"), ("npm_config_cache", "npm")];
