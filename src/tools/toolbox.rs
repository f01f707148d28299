//! The tools of one workspace, and the input and result of a call.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use uuid::Uuid;

use super::command_shell::CommandShell;
use super::repositories::RepositoryReader;
use super::simulate::settings::SimulationSettings;
use super::{HistorySource, ToolError, command_shell};
use crate::authorization::{FileState, SecretInputs, StepWalls, Target};
use crate::cargo::Cargo;
use crate::plan::{Code, Digest};
use crate::process::walls::{RunWalls, WallPaths, WallReport};
use crate::process::{Capture, Launcher, NOTHING_HIDDEN, ProcessError, ProcessIo, ProgramWalls};
use crate::remote::{Connection, RemoteError, SshClient};
use crate::risk::{EngineChoice, Policy, Repositories, Shell, is_hidden_from_planners};
use crate::run::{
    DiagnosticArtifact, Edge, FileChange, FileEffect, Host, OpenTerminal, StopSignal, Stream,
    StreamEnds,
};
use crate::symbols::{SymbolSettings, Symbols};
use crate::workspace::{
    Budget, Overlay, Projected, Root, Workspace, WorkspaceError, WriteContext, own_folders, scan,
};

/// Default time limit of a check. The first check of a large project builds all its dependencies.
const CHECK_TIMEOUT: Duration = Duration::from_secs(30 * 60);
/// Default time limit of a program that a `run` has built, the same as that of a shell command.
const RUN_TIMEOUT: Duration = Duration::from_secs(120);

/// The tools of one workspace.
pub struct Toolbox {
    /// The folders that tools may access.
    pub files: Workspace,
    /// The settings for starting programs.
    pub(crate) launcher: Launcher,
    pub(crate) symbols: SymbolSettings,
    /// The time limit of `lsp_check`.
    pub(crate) check_timeout: Duration,
    /// The time limit of a program that a `run` has built.
    pub(crate) run_timeout: Duration,
    /// The digests of the command files that a person trusts in this workspace.
    pub(crate) trusted: BTreeSet<Digest>,
    /// The errors that the first check of this run found; `None` before it.
    pub(crate) first_errors: Mutex<Option<Vec<DiagnosticArtifact>>>,
    /// The local shell, if any. It is looked up once, so that the risk is judged for the shell that runs the
    /// command.
    pub(super) local_shell: OnceLock<Option<CommandShell>>,
    /// The connection to the host on which commands with a target run.
    pub(crate) remote: Option<Connection>,
    /// The recorded history of the workspace, if the caller has passed in a source of it.
    pub(crate) history: Option<Box<dyn HistorySource>>,
    /// The secret inputs of the run.
    pub(super) secret_inputs: SecretInputs,
    /// The parent folder and the limits of simulations.
    pub(super) simulations: SimulationSettings,
}

/// The input of a call besides its arguments.
pub struct Context<'a> {
    /// The authorized state of each input file, by canonical path. It is compared again just before the effect. A
    /// mutating call whose target is missing here is refused as stale.
    pub expected: &'a BTreeMap<String, FileState>,
    /// Set when a person stops the run.
    pub stop: &'a StopSignal,
    /// Part of the names of temporary files, so that a file left by a crash can be attributed to its
    /// execution.
    pub execution_id: Uuid,
    /// Receives output as text while it is printed.
    pub output: &'a dyn Fn(Stream, &str),
    /// Receives every byte of a command's output while it is printed, for the evidence.
    pub capture: &'a dyn Capture,
    /// The authorized walls of the programs that the call starts on this computer.
    pub walls: &'a StepWalls,
    /// The terminal of the step, if its plan asks for one and there is a person at it.
    pub terminal: Option<&'a OpenTerminal>,
}

impl<'a> Context<'a> {
    /// The stop signal and the output callbacks for a program that the call starts.
    pub(crate) fn io(&self) -> ProcessIo<'a> {
        ProcessIo {
            stop: self.stop,
            output: self.output,
            capture: self.capture,
            hidden: &NOTHING_HIDDEN,
        }
    }

    /// The input of a write besides its target.
    pub(crate) fn write(&self) -> WriteContext<'a> {
        WriteContext { expected: self.expected, execution_id: self.execution_id, stop: self.stop }
    }
}

/// The result of a call.
#[derive(Debug, Default)]
pub struct CallResult {
    /// The complete stdout; `None` when the tool has none (SPEC §4).
    pub stdout: Option<Vec<u8>>,
    /// The complete stderr.
    pub stderr: Option<Vec<u8>>,
    /// The start and end of stdout and stderr of a command, whose complete output went to [`Context::capture`];
    /// `stdout` and `stderr` are then `None`.
    pub captured: Option<[StreamEnds; 2]>,
    /// The exit code of the last process, if a process ran and exited.
    pub exit_code: Option<i32>,
    /// The return value; null when the call failed before there was one.
    pub result: serde_json::Value,
    /// The real changes of files; may be non-empty together with an error.
    pub files: Vec<FileEffect>,
    /// Unpredicted changes that a program made to files of its own, such as cargo to its lock file.
    pub side_effects: Vec<FileEffect>,
    /// The changes on a copy of the workspace; the workspace itself is unchanged.
    pub simulated: Vec<FileChange>,
    /// Diagnostics of the tool.
    pub diagnostics: Vec<DiagnosticArtifact>,
    /// Edges to the files, symbols and diagnostics that the call touched.
    pub edges: Vec<Edge>,
    /// The access that the walls refused to the programs of the call.
    pub walls: WallReport,
    /// Why the call failed; `None` when it succeeded.
    pub error: Option<ToolError>,
}

impl Toolbox {
    /// Opens the workspace with the settings of the policy.
    ///
    /// # Errors
    /// A folder that cannot be opened.
    pub fn open(workspace: &Path, policy: &Policy) -> Result<Self, ToolError> {
        let roots = policy.extra_roots.iter();
        let extra = roots.map(|root| Root::open(root, false)).collect::<Result<_, _>>();
        let workspace = Root::open(workspace, true)?;
        let trusted = policy.trusted_in(&workspace.path);
        let own = own_folders(policy.own_folders.iter().map(PathBuf::as_path));
        let place = WallPaths { hidden: own.clone(), ..WallPaths::default() };
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
            local_shell: OnceLock::new(),
            remote: None,
            history: None,
            secret_inputs: policy.secret_inputs.clone(),
            simulations: SimulationSettings::default(),
        })
    }

    /// The same tools with the recorded history of the workspace.
    #[must_use]
    pub fn with_history_source(self, history: Option<Box<dyn HistorySource>>) -> Self {
        Self { history, ..self }
    }

    /// The same tools behind the walls of a run; `place` lists the paths that the walls need besides the workspace.
    #[must_use]
    pub fn with_walls(mut self, mut place: WallPaths) -> Self {
        place.hidden.extend_from_slice(self.own_folders());
        self.launcher.walls = RunWalls::new(self.workspace().to_owned(), place);
        self
    }

    /// The same tools for the plan in `file`, which no program behind walls can write.
    #[must_use]
    pub fn for_plan(mut self, file: Option<PathBuf>) -> Self {
        self.launcher.walls = self.launcher.walls.with_paths([], file);
        self
    }

    /// The same tools without access to these folders of Countersign (SPEC §4).
    #[must_use]
    pub fn without_folders<'f>(mut self, folders: impl IntoIterator<Item = &'f Path>) -> Self {
        let folders: Vec<_> = folders.into_iter().map(Path::to_owned).collect();
        let own = self.files.add_own_folders(&folders);
        self.launcher.walls = self.launcher.walls.with_paths(own, []);
        self
    }

    /// The same tools for a review, whose reading is limited and which `stop` cancels.
    #[must_use]
    pub fn for_review(mut self, stop: Arc<StopSignal>) -> Self {
        self.files.budget = Budget::for_review(stop);
        self
    }

    /// The same tools for the looks of a planner (SPEC §10): the workspace alone, without sensitive files, and without
    /// what `hide` removes from a text, whose lines it must keep. Symbols are looked up in the files themselves, because
    /// the index of another program covers all of them.
    #[must_use]
    pub fn for_looks(mut self, hide: Arc<dyn Fn(&str) -> String + Send + Sync>) -> Self {
        self.files.hide(is_hidden_from_planners, hide);
        self.symbols.choice = EngineChoice::Embedded;
        self
    }

    /// The walls of the run, for all programs that these tools start.
    pub fn walls(&self) -> &RunWalls {
        &self.launcher.walls
    }

    /// The walls of the programs that this call starts.
    pub(crate) fn behind<'a>(&'a self, context: &Context<'a>) -> ProgramWalls<'a> {
        self.launcher.walls_for(context.walls)
    }

    /// The runner of cargo for this call.
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

    /// Connects to the host on which commands with a target run; dropping the toolbox disconnects. Connecting
    /// sends no part of the plan. If the authorization does not cover the key of the host, the connection is
    /// closed (SPEC §2, §7.3).
    ///
    /// # Errors
    /// As [`Connection::open_approved`].
    pub fn connect(
        &mut self,
        client: &SshClient,
        approved: &Target,
        stop: &StopSignal,
    ) -> Result<(), RemoteError> {
        self.remote = Some(Connection::open_approved(client, approved, stop)?);
        Ok(())
    }

    /// The host of the connection; `None` before [`Self::connect`].
    pub fn host(&self) -> Option<&Host> {
        self.remote.as_ref().map(Connection::host)
    }

    /// The workspace folder, absolute and without links.
    pub fn workspace(&self) -> &Path {
        &self.files.root.path
    }

    /// The shell that runs local commands (SPEC §7.2).
    pub(super) fn command_shell(&self) -> Result<&CommandShell, ProcessError> {
        let found = self.local_shell.get_or_init(|| CommandShell::find(&self.launcher.programs));
        found.as_ref().ok_or_else(|| ProcessError::Missing {
            program: "bash",
            place: self.launcher.programs.where_searched("bash"),
            code: Code::CommandFailed,
        })
    }

    /// The dialect of the local shell. When there is no shell it is `Posix`, for which risk rules assume the
    /// least.
    pub fn shell(&self) -> Shell {
        self.command_shell().map_or(Shell::Posix, |found| found.shell)
    }

    /// The name and id of the user that calls on this computer run as.
    pub fn user(&self) -> String {
        command_shell::user()
    }

    /// The path of the `codegraph.db` in the workspace or the nearest folder above it.
    pub fn codegraph(&self) -> Option<PathBuf> {
        self.now().symbols().codegraph()
    }

    /// The nearest folder with a `.git`: the workspace or a parent.
    pub fn git_repository(&self) -> Option<PathBuf> {
        self.find_upwards(".git").and_then(|path| path.parent().map(Path::to_owned))
    }

    /// What git runs in the folders of commands, as it is when a command is judged. Every folder is read once.
    pub fn repositories(&self) -> Repositories {
        Repositories::Read(Arc::new(RepositoryReader::of(self.workspace().to_owned())))
    }

    /// The path of the command `name` on `PATH`; `None` if it is not found.
    pub fn find_command(&self, name: &str) -> Option<PathBuf> {
        self.launcher.programs.find(name)
    }

    /// The message that the command `name` is missing; it names a program of this name that is not used, if any.
    pub fn missing_command_message(&self, name: &str) -> String {
        format!("{name} is not {}", self.launcher.programs.where_searched(name))
    }

    /// The names of all files of the workspace, chosen and ordered as in a search.
    ///
    /// # Errors
    /// A folder that cannot be read, or a stop.
    pub fn file_names(&self, stop: &StopSignal) -> Result<Vec<String>, WorkspaceError> {
        scan::names(self, stop)
    }
}

/// Gives access to the methods of the workspace.
impl Deref for Toolbox {
    type Target = Workspace;

    fn deref(&self) -> &Workspace {
        &self.files
    }
}

/// The tools on the workspace as the steps in an overlay would leave it. With an empty overlay this is the present
/// workspace.
#[derive(Clone, Copy)]
pub struct ProjectedToolbox<'a> {
    pub(super) toolbox: &'a Toolbox,
    files: Projected<'a>,
    /// Ends a preview or a lookup.
    pub(super) stop: &'a StopSignal,
}

impl Toolbox {
    /// The workspace as the steps in `overlay` would leave it.
    pub fn after<'a>(&'a self, overlay: &'a Overlay) -> ProjectedToolbox<'a> {
        ProjectedToolbox { toolbox: self, files: self.projected(overlay), stop: self.stop_signal() }
    }

    /// The present workspace.
    pub fn now(&self) -> ProjectedToolbox<'_> {
        self.after(Overlay::empty())
    }
}

impl<'a> ProjectedToolbox<'a> {
    /// The same workspace; `stop` ends a preview or a lookup, in place of the signal that cancels a review.
    #[must_use]
    pub fn until(self, stop: &'a StopSignal) -> Self {
        Self { stop, ..self }
    }

    /// The workspace as the steps in `overlay` would leave it.
    pub(super) fn after(self, overlay: &'a Overlay) -> Self {
        self.toolbox.after(overlay).until(self.stop)
    }

    /// The tools, for facts that do not depend on the earlier steps.
    pub fn toolbox(self) -> &'a Toolbox {
        self.toolbox
    }

    /// The program `splice` for the external code engine, or where it was searched; and the code graph of the workspace.
    pub fn external_engine(self) -> (Result<PathBuf, String>, Option<PathBuf>) {
        let symbols = self.symbols();
        (symbols.splice_program().map_err(|error| error.to_string()), symbols.codegraph())
    }

    /// The code engines of this workspace.
    pub(super) fn symbols(self) -> Symbols<'a> {
        let toolbox = self.toolbox;
        let programs = &toolbox.launcher.programs;
        Symbols { files: self.files, settings: &toolbox.symbols, programs }
    }
}

/// Gives access to the methods of the projected workspace.
impl<'a> Deref for ProjectedToolbox<'a> {
    type Target = Projected<'a>;

    fn deref(&self) -> &Projected<'a> {
        &self.files
    }
}
