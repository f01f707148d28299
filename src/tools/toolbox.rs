//! The tools of one workspace, and what a call gets and gives.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use uuid::Uuid;

use super::ToolError;
use super::command_shell::{self, CommandShell};
use super::past::Past;
use super::simulate::settings::Settings;
use crate::authorization::{FileState, StepWalls, Target};
use crate::cargo::Cargo;
use crate::plan::{Code, Digest};
use crate::process::walls::{RunWalls, WallPlace, WallReport};
use crate::process::{Behind, Capture, Launcher, ProcessError, ProcessIo};
use crate::remote::{Connection, RemoteError, SshClient};
use crate::risk::{Policy, Shell};
use crate::run::{
    DiagnosticArtifact, Edge, FileChange, FileEffect, Host, StopSignal, Stream, StreamEnds,
};
use crate::symbols::{SymbolSettings, Symbols};
use crate::workspace::{
    Budget, Overlay, Projected, Root, Workspace, WorkspaceError, WriteContext, own_folders, scan,
};

/// When a check is ended, unless the toolbox says otherwise: the first one of a large project builds
/// all that it depends on.
const CHECK_TIMEOUT: Duration = Duration::from_secs(30 * 60);
/// When a program that was built is ended, as a command would be.
const RUN_TIMEOUT: Duration = Duration::from_secs(120);

/// The tools of one workspace.
pub struct Toolbox {
    /// The folders that tools may touch.
    pub files: Workspace,
    /// How programs are started.
    pub(crate) launcher: Launcher,
    pub(crate) symbols: SymbolSettings,
    /// When `lsp_check` is ended.
    pub(crate) check_timeout: Duration,
    /// When a program that a `run` has built is ended.
    pub(crate) run_timeout: Duration,
    /// The files of commands that a person trusts in this workspace, by their digests.
    pub(crate) trusted: BTreeSet<Digest>,
    /// What the first look at the program found in this run.
    pub(crate) first_errors: Mutex<Option<Vec<DiagnosticArtifact>>>,
    /// The shell of this machine, looked for once: the one that was judged for is the one that runs.
    pub(super) reader: OnceLock<Option<CommandShell>>,
    /// The host on which commands with a target run.
    pub(crate) remote: Option<Connection>,
    /// What is recorded of the workspace, where somebody has handed it in.
    pub(crate) past: Option<Box<dyn Past>>,
    /// Where simulations are made, and how large.
    pub(super) simulations: Settings,
}

/// What a call may look at besides its arguments.
pub struct Context<'a> {
    /// What each input file must still be just before the effect, by canonical path. A mutating call
    /// whose target is not in it is refused as stale.
    pub expected: &'a BTreeMap<String, FileState>,
    /// Set when a person asked to stop now.
    pub stop: &'a StopSignal,
    /// Stands in the name of a temporary file, so that one that a crash leaves can be attributed.
    pub execution_id: Uuid,
    /// Takes output as it comes, as text for a person.
    pub output: &'a dyn Fn(Stream, &str),
    /// Takes every byte of the output of a command as it comes, for the records.
    pub capture: &'a dyn Capture,
    /// The walls that were approved for what the call starts on this computer.
    pub walls: &'a StepWalls,
}

impl<'a> Context<'a> {
    /// How a program that the call starts is stopped, and where its output goes.
    pub(crate) fn io(&self) -> ProcessIo<'a> {
        ProcessIo { stop: self.stop, output: self.output, capture: self.capture }
    }

    /// What a write looks at besides its target.
    pub(crate) fn write(&self) -> WriteContext<'a> {
        WriteContext { expected: self.expected, execution_id: self.execution_id, stop: self.stop }
    }
}

/// What a call did.
#[derive(Debug, Default)]
pub struct Invocation {
    /// The whole stdout; none where the tool has none (SPEC §4).
    pub stdout: Option<Vec<u8>>,
    /// The whole stderr.
    pub stderr: Option<Vec<u8>>,
    /// The ends of stdout and stderr of a command, whose whole went to [`Context::capture`]; `stdout` and
    /// `stderr` are none then.
    pub captured: Option<[StreamEnds; 2]>,
    /// The exit code, where a process ran.
    pub exit_code: Option<i32>,
    /// The return value; null when the call failed before there was one.
    pub result: serde_json::Value,
    /// What really happened to files; may be non-empty beside an error.
    pub files: Vec<FileEffect>,
    /// What a program that the call runs did to files of its own, which nothing can predict: cargo to its
    /// lock file.
    pub beside: Vec<FileEffect>,
    /// What became different on a copy of the workspace, which itself is as it was.
    pub simulated: Vec<FileChange>,
    /// Diagnostics of the tool.
    pub diagnostics: Vec<DiagnosticArtifact>,
    /// What the call touched.
    pub edges: Vec<Edge>,
    /// What walls refused the command.
    pub walls: WallReport,
    /// Why it failed; `None` when it succeeded.
    pub error: Option<ToolError>,
}

impl Toolbox {
    /// Opens the workspace, with the roots that the person added and the engine they chose.
    ///
    /// # Errors
    /// A folder that cannot be opened.
    pub fn open(workspace: &Path, policy: &Policy) -> Result<Self, ToolError> {
        let roots = policy.extra_roots.iter();
        let extra = roots.map(|root| Root::open(root, false)).collect::<Result<_, _>>();
        let workspace = Root::open(workspace, true)?;
        let trusted = policy.trusted_in(&workspace.path);
        let own = own_folders(policy.own_folders.iter().map(PathBuf::as_path));
        let place = WallPlace { hidden: own.clone(), ..WallPlace::default() };
        let walls = RunWalls::new(workspace.path.clone(), place);
        Ok(Self {
            launcher: Launcher::new(workspace.path.clone(), walls),
            files: Workspace::new(workspace, extra?, own),
            trusted,
            symbols: SymbolSettings {
                choice: policy.engine,
                splice: policy.splice_program.clone(),
            },
            check_timeout: CHECK_TIMEOUT,
            run_timeout: RUN_TIMEOUT,
            first_errors: Mutex::new(None),
            reader: OnceLock::new(),
            remote: None,
            past: None,
            simulations: Settings::default(),
        })
    }

    /// The same tools, with what is recorded of the workspace.
    #[must_use]
    pub fn remembering(self, past: Option<Box<dyn Past>>) -> Self {
        Self { past, ..self }
    }

    /// The same tools, with what the walls of a run need to know besides the workspace.
    #[must_use]
    pub fn walled(mut self, mut place: WallPlace) -> Self {
        place.hidden.extend_from_slice(self.own_folders());
        self.launcher.walls = RunWalls::new(self.workspace().to_owned(), place);
        self
    }

    /// The same tools for a plan from this file: nothing that they start behind walls writes it.
    #[must_use]
    pub fn of_plan(mut self, file: Option<PathBuf>) -> Self {
        self.launcher.walls = self.launcher.walls.also([], file);
        self
    }

    /// The same tools, which do not reach these folders of the program either (SPEC §4).
    #[must_use]
    pub fn keeping_out<'f>(mut self, folders: impl IntoIterator<Item = &'f Path>) -> Self {
        let folders: Vec<_> = folders.into_iter().map(Path::to_owned).collect();
        let own = self.files.keep_out(&folders);
        self.launcher.walls = self.launcher.walls.also(own, []);
        self
    }

    /// The same tools for a look before somebody signs: within limits, and until `stop` is set.
    #[must_use]
    pub fn before_signing(mut self, stop: Arc<StopSignal>) -> Self {
        self.files.budget = Budget::before_signing(stop);
        self
    }

    /// The walls of everything that is started here.
    pub fn walls(&self) -> &RunWalls {
        &self.launcher.walls
    }

    /// The walls of what this call starts.
    pub(crate) fn behind<'a>(&'a self, context: &Context<'a>) -> Behind<'a> {
        self.launcher.behind(context.walls)
    }

    /// cargo, for this call.
    pub(crate) fn cargo<'a>(&'a self, context: &Context<'a>) -> Cargo<'a> {
        Cargo {
            workspace: self,
            launcher: &self.launcher,
            check_timeout: self.check_timeout,
            walls: context.walls,
            stop: context.stop,
            output: context.output,
        }
    }

    /// Connects to the host on which commands with a target run, until this is dropped. Nothing of a plan is
    /// sent, and nothing at all to a host that shows a key which the approval does not cover (SPEC §2, §7.3).
    ///
    /// # Errors
    /// As for [`Connection::open_approved`].
    pub fn connect(
        &mut self,
        client: &SshClient,
        approved: &Target,
        stop: &StopSignal,
    ) -> Result<(), RemoteError> {
        self.remote = Some(Connection::open_approved(client, approved, stop)?);
        Ok(())
    }

    /// The host to which this is connected.
    pub fn host(&self) -> Option<&Host> {
        self.remote.as_ref().map(Connection::host)
    }

    /// The workspace folder, absolute and without links.
    pub fn workspace(&self) -> &Path {
        &self.files.root.path
    }

    /// The shell that reads the commands of this machine (SPEC §7.2).
    pub(super) fn command_shell(&self) -> Result<&CommandShell, ProcessError> {
        let found = self.reader.get_or_init(|| CommandShell::find(&self.launcher.programs));
        found.as_ref().ok_or_else(|| ProcessError::Missing {
            program: "bash",
            place: self.launcher.programs.nowhere("bash"),
            code: Code::CommandFailed,
        })
    }

    /// Which shell that is. Where there is none, nothing can be relied on.
    pub fn shell(&self) -> Shell {
        self.command_shell().map_or(Shell::Posix, |found| found.shell)
    }

    /// As whom a call runs on this machine.
    pub fn user(&self) -> String {
        command_shell::user()
    }

    /// The state of the file with this canonical path, now.
    ///
    /// # Errors
    /// A path that cannot be used, leads outside, is no file, or cannot be read.
    pub fn state_of(&self, key: &str) -> Result<FileState, WorkspaceError> {
        self.digest_of(key)
    }

    /// The `codegraph.db` in the workspace or the nearest folder above it.
    pub fn codegraph(&self) -> Option<PathBuf> {
        self.now().symbols().codegraph()
    }

    /// The folder, the workspace or the nearest above it, that has a `.git`.
    pub fn git_repository(&self) -> Option<PathBuf> {
        self.above(".git").and_then(|path| path.parent().map(Path::to_owned))
    }

    /// Where the command `name` would be found through `PATH`.
    pub fn command_available(&self, name: &str) -> Option<PathBuf> {
        self.launcher.programs.find(name)
    }

    /// That the command `name` is not there, with what was passed over.
    pub fn not_available(&self, name: &str) -> String {
        format!("{name} is not {}", self.launcher.programs.nowhere(name))
    }

    /// The names of all files of the workspace, as a search chooses and orders them.
    ///
    /// # Errors
    /// A stop, or an answer that is too large.
    pub fn file_names(&self, stop: &StopSignal) -> Result<Vec<String>, WorkspaceError> {
        scan::names(self, stop)
    }
}

/// A toolbox is asked about files as its workspace is.
impl Deref for Toolbox {
    type Target = Workspace;

    fn deref(&self) -> &Workspace {
        &self.files
    }
}

/// The tools on a workspace after the steps in an overlay; with an empty one, as it is now.
#[derive(Clone, Copy)]
pub struct After<'a> {
    pub(super) toolbox: &'a Toolbox,
    files: Projected<'a>,
}

impl Toolbox {
    /// The workspace as the steps in `overlay` would leave it.
    pub fn after<'a>(&'a self, overlay: &'a Overlay) -> After<'a> {
        After { toolbox: self, files: self.projected(overlay) }
    }

    /// The workspace as it is.
    pub fn now(&self) -> After<'_> {
        self.after(Overlay::nothing())
    }
}

impl<'a> After<'a> {
    /// The code engines on this workspace.
    pub(super) fn symbols(self) -> Symbols<'a> {
        let toolbox = self.toolbox;
        let programs = &toolbox.launcher.programs;
        Symbols { files: self.files, settings: &toolbox.symbols, programs }
    }
}

/// A toolbox after steps is asked about files as its workspace is.
impl<'a> Deref for After<'a> {
    type Target = Projected<'a>;

    fn deref(&self) -> &Projected<'a> {
        &self.files
    }
}
