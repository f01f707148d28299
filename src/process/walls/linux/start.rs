//! Starts a program behind walls: builds the helper's command line, and receives the helper's messages.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::filter::Network;
use super::helper::{COMMAND, END, option, work};
use super::keeper::THIS_PROGRAM;
use super::landlock_rules::DEVICES;
use super::protected::ProtectedFiles;
use super::report::{Message, Receiver};
use super::table::{Access, Table};
use super::view::ViewInputs;
use super::wall_state::{SHARED_MEMORY, Shared};
use super::{TEMPORARY, WallProbe, WallReport, bubblewrap, probe, refused, system, table};
use crate::authorization::WallLevel;
use crate::process::{Input, Program, ProgramWalls, command, tree};

/// How long to wait for the helper's report of the start; the program's own timeout also limits the wait.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// A program behind walls.
pub(in crate::process) struct Walled {
    arguments: Vec<OsString>,
    environment: Vec<(&'static str, OsString)>,
    /// The descriptors that the helper inherits; empty once it was started.
    inherited: Vec<OwnedFd>,
    receiver: Receiver,
    protected: ProtectedFiles,
    refused: Refused,
    writable: Vec<PathBuf>,
    is_incomplete: bool,
    shared: Shared,
    /// Whether the process that is started becomes the program, and so must get its controlling terminal. Otherwise
    /// the helper inside does that for its child.
    controls_terminal: bool,
}

/// The counter of refused network access.
enum Refused {
    /// The listener of the seccomp filter counts.
    Sockets(Arc<AtomicU64>),
    /// The kernel counts in the run's network namespace. The values are the process id of the keeper, and the count
    /// before this program.
    Unreachable(i32, u64),
    /// Refused access is not counted, because the network is allowed.
    Nothing,
}

impl Walled {
    /// Prepares the walls of the program; `None` when its profile has none. `mark` is the mark in its environment.
    ///
    /// # Errors
    /// When the walls cannot be put up.
    pub(in crate::process) fn of(program: &Program<'_>, mark: &str) -> io::Result<Option<Self>> {
        let Some(walls) = program.profile.walls() else { return Ok(None) };
        let ProgramWalls { step, run, write } = walls;
        if let Some(why) = run.unsupported_reason() {
            return Err(io::Error::other(why));
        }
        // The probe itself starts a program behind walls.
        let is_trial = program.arguments.get(1) == Some(&probe::TRY)
            && program.program == OsStr::new(THIS_PROGRAM);
        if !is_trial {
            let probe = WallProbe::of_this_computer();
            if probe.level < step.level {
                let why = probe.why_not_better.as_deref().unwrap_or_default();
                let text = format!("walls of level {} were authorized: {why}", step.level);
                return Err(io::Error::other(text));
            }
        }
        let shared = run.state.shared();
        let mut wall_state = shared.lock();
        // The processes of earlier steps are suspended before the workspace is examined.
        wall_state.suspend();
        let table = Table::of(run, step, write, program.folder)?;
        let temporary = wall_state.temporary()?;
        let (own_end, helper_end) = system::channel()?;
        let line = HelperLine { step, program, table: &table, temporary, report: &helper_end };
        let (mut inherited, refused) = match step.level {
            WallLevel::Full => {
                let wanted = line.view(wall_state.shared_memory());
                let keeper = wall_state.keeper(run, &wanted)?;
                let bubblewrap = bubblewrap::path(&run.workspace)?;
                let namespaces = keeper.namespaces_for(&bubblewrap, wanted, step.network)?;
                let refused = match step.network {
                    true => Refused::Nothing,
                    false => Refused::Unreachable(keeper.id, refused::unreachable(keeper.id)),
                };
                (namespaces, refused)
            }
            WallLevel::Files => {
                wall_state.marks.push(mark.to_owned());
                (Vec::new(), Refused::Sockets(Arc::default()))
            }
            WallLevel::None => return Err(io::Error::other("there are no walls of level none")),
        };
        let arguments = line.arguments(&inherited)?;
        let environment = line.environment();
        let writable = line.writable();
        inherited.push(helper_end);
        let (mut compared, mut mounted) = (table.unmountable.clone(), table.read_only());
        if step.level != WallLevel::Full {
            compared.append(&mut mounted);
        }
        let protected = ProtectedFiles::read(compared, mounted);
        drop(wall_state);
        Ok(Some(Self {
            arguments,
            environment,
            inherited,
            receiver: Receiver(own_end),
            is_incomplete: table.is_incomplete || protected.is_incomplete,
            protected,
            refused,
            writable,
            shared,
            controls_terminal: has_terminal(program) && step.level != WallLevel::Full,
        }))
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
        if self.controls_terminal {
            tree::control_terminal(command);
        }
    }

    /// Waits until the program runs behind its walls, and resumes the processes of earlier steps. If no message arrives
    /// in time, for example because the program has suspended its helper, the program counts as started, and the
    /// supervisor's timeout ends it.
    ///
    /// # Errors
    /// Why the program was not started.
    pub(in crate::process) fn wait_until_started(&mut self, timeout: Duration) -> io::Result<()> {
        let started = self.receive_start(START_TIMEOUT.min(timeout));
        self.shared.lock().resume();
        started
    }

    /// Receives messages until the program was started.
    fn receive_start(&self, timeout: Duration) -> io::Result<()> {
        let mut is_about_to = false;
        loop {
            if !system::is_readable_within(&self.receiver.0, timeout)? {
                return Ok(());
            }
            match self.receiver.next(true)? {
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
            match self.receiver.next(false) {
                Ok(Some(Message::Ended(status))) => return Some(status),
                // The message about the start came too late.
                Ok(Some(Message::Started)) => {}
                // The helper inside was killed before it sent the status, and the program was killed with it.
                _ => return Some(ExitStatus::from_raw(rustix::process::Signal::KILL.as_raw())),
            }
        }
    }

    /// Suspends the processes that the program left running, renames protected files that were created, and returns the
    /// report of the walls.
    pub(in crate::process) fn report(&self) -> WallReport {
        let refused = match &self.refused {
            Refused::Sockets(count) => count.load(Ordering::Relaxed),
            Refused::Unreachable(keeper, before) => {
                refused::unreachable(*keeper).saturating_sub(*before)
            }
            Refused::Nothing => 0,
        };
        let (writable, is_incomplete) = (self.writable.clone(), self.is_incomplete);
        self.shared.lock().suspend();
        WallReport { refused, changed: self.protected.rename_created(), writable, is_incomplete }
    }
}

/// Whether the program runs in a pseudo-terminal.
fn has_terminal(program: &Program<'_>) -> bool {
    matches!(program.input, Some(Input::Terminal(_)))
}

/// The inputs of the helper's command line.
struct HelperLine<'a> {
    step: &'a crate::authorization::StepWalls,
    program: &'a Program<'a>,
    table: &'a Table,
    temporary: PathBuf,
    report: &'a OwnedFd,
}

impl HelperLine<'_> {
    /// The path of the temporary folder as the program sees it: at level full, it is mounted over [`TEMPORARY`] if
    /// possible.
    fn seen_temporary(&self) -> PathBuf {
        let is_replaced = self.step.level == WallLevel::Full && self.table.can_replace_temporary();
        if is_replaced { TEMPORARY.into() } else { self.temporary.clone() }
    }

    /// The paths that the program can write to.
    fn writable(&self) -> Vec<PathBuf> {
        let mut writable: Vec<PathBuf> =
            self.table.paths(Access::Write).map(ToOwned::to_owned).collect();
        writable.push(self.seen_temporary());
        writable.extend(DEVICES.map(PathBuf::from));
        writable
    }

    /// The command line: the options of the walls, then the program with its arguments. `namespaces` are those that the
    /// program joins at level full.
    fn arguments(&self, namespaces: &[OwnedFd]) -> io::Result<Vec<OsString>> {
        let network = match self.step.level {
            _ if self.step.network => Network::Granted,
            WallLevel::Full => Network::Own,
            WallLevel::Files | WallLevel::None => Network::Nothing,
        };
        let mut line: Vec<OsString> = vec![COMMAND.into(), work::APPLY.into()];
        line.extend(option::descriptor(option::REPORT, self.report).map(OsString::from));
        for namespace in namespaces {
            line.extend(option::descriptor(option::JOIN, namespace).map(OsString::from));
        }
        line.extend([option::NETWORK.into(), network.as_str().into()]);
        for path in self.table.paths(Access::Write) {
            line.extend([option::WRITE.into(), path.into()]);
            if let Some((device, inode)) = table::identity(path) {
                line.extend([option::IDENTITY.into(), format!("{device}:{inode}").into()]);
            }
        }
        line.extend([option::WRITE.into(), self.seen_temporary().into()]);
        match self.step.level {
            WallLevel::Full => {
                line.extend([option::FOLDER.into(), self.program.folder.canonicalize()?.into()]);
                // These paths are mounted for the run alone.
                for path in [SHARED_MEMORY, "/dev/pts", "/dev/ptmx"] {
                    line.extend([option::WRITE.into(), path.into()]);
                }
            }
            WallLevel::Files | WallLevel::None => {
                for path in self.table.paths(Access::Hidden) {
                    line.extend([option::HIDE.into(), path.into()]);
                }
            }
        }
        if has_terminal(self.program) {
            line.push(option::TERMINAL.into());
        }
        line.extend([END.into(), self.program.program.to_owned()]);
        line.extend(self.program.arguments.iter().map(OsString::from));
        Ok(line)
    }

    /// The inputs of the program's view of the file system.
    fn view(&self, memory: Option<PathBuf>) -> ViewInputs {
        let temporary = self.seen_temporary();
        let mut folders = vec![(temporary.as_path(), self.temporary.as_path())];
        folders.extend(memory.as_deref().map(|memory| (Path::new(SHARED_MEMORY), memory)));
        ViewInputs::new(bubblewrap::view(self.table, &folders), self.table)
    }

    /// The environment of the walls: writable folders for temporary files and caches, and a setting of git.
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
            // Otherwise `git status` would try to update the index, and be refused.
            environment.push(("GIT_OPTIONAL_LOCKS", "0".into()));
        }
        environment
    }
}

/// Caches that builds need: the variable that names the folder, and the folder's name in the run's temporary folder.
/// Each run has its own caches, because files that one build writes into a shared cache would be used by every later
/// build. Cargo is not listed, because read access to its home suffices.
const CACHES: [(&str, &str); 3] =
    [("GOCACHE", "go-build"), ("PIP_CACHE_DIR", "pip"), ("npm_config_cache", "npm")];
