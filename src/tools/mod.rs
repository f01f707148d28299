//! The hands: the one room that touches the workspace (SPEC §4).
//!
//! The engine calls [`Toolbox`]; nobody else does. Every path goes through an open folder handle, so
//! that no `..` and no link leads outside. Absent on purpose: who approved what, in which order steps
//! run, and the evidence; callers hand in what was approved and take away what happened.

mod after;
mod attributes;
mod batch;
mod beneath;
mod cargo;
mod diff;
mod editor;
mod engine;
mod error;
mod facts;
mod file;
mod history;
mod inspect;
mod leftover;
mod looking;
mod overlay;
mod own;
mod place;
mod planner;
mod preview;
mod process;
mod program;
mod read;
mod remote;
mod rules;
mod search;
mod shell;
mod simulate;
mod source_file;
mod source_lines;
mod splice;
mod stop;
#[cfg(test)]
mod tests;
mod touched;
mod walk;
mod words;
mod write;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use uuid::Uuid;

use crate::authorization::{FileState, StepWalls, Target};
use crate::plan::{Digest, ToolCall};
use crate::risk::{EngineChoice, Policy, Shell};
use crate::run::{
    DiagnosticArtifact, Edge, FileChange, FileEffect, Host, Preview, Stream, StreamEnds,
};

use place::{Last, Root, Roots};
use write::Existing;

pub use after::After;
pub use batch::{BatchError, PatchError};
pub use cargo::{Offer, Replacement, Suggestions};
pub use engine::EngineError;
pub use error::{Access, INPUT_BYTES, ToolError};
pub use facts::Kind;
pub use history::{Conflict, HistoryError, NotAvailable, Past};
pub use overlay::Overlay;
pub use own::own_folders;
pub use planner::{MODEL_KEY, PlannerEnd, PlannerFinished, PlannerProgram};
pub use process::walls::{RunWalls, WallPlace, WallProbe, WallReport, start_helper};
pub use program::{
    COMMANDS_FILE, CommandName, Fault, ProgramError, WorkspaceCommand, WorkspaceCommands,
};
pub use remote::{
    Connection, RemoteCommand, RemoteEnd, RemoteError, RemoteFinished, RemoteStop, SshClient,
    check_target, known_target,
};
pub use simulate::{SimulationError, tidy as tidy_simulations};
pub use splice::SpliceError;
pub use stop::StopSignal;

/// The tools of one workspace.
pub struct Toolbox {
    roots: Roots,
    engine: EngineChoice,
    /// The program `splice` where the person has named one.
    splice: Option<PathBuf>,
    /// When `lsp_check` is ended.
    check_timeout: Duration,
    /// When a program that a `run` has built is ended.
    run_timeout: Duration,
    /// The files of commands that a person trusts in this workspace, by their digests.
    trusted: BTreeSet<Digest>,
    /// What the first look at the program found in this run.
    first_errors: Mutex<Option<Vec<DiagnosticArtifact>>>,
    /// The shell of this machine, looked for once: the one that was judged for is the one that runs.
    reader: OnceLock<Option<shell::Reader>>,
    /// The host on which commands with a target run.
    remote: Option<Connection>,
    /// What is recorded of the workspace, where somebody has handed it in.
    past: Option<Box<dyn Past>>,
    /// Where simulations are made, and how large.
    simulations: simulate::Settings,
    /// What is special about a workspace that is the copy of another one.
    copy: Option<simulate::Copy>,
    /// The walls of what is started here, for as long as this lives.
    walls: RunWalls,
    /// What is looked at before somebody signs.
    looks: looking::Looks,
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

/// Where the output of a command goes, which may be too large for memory (SPEC §7.2).
pub trait Capture {
    /// Keeps these bytes. False when they cannot be kept: then the command is ended.
    fn keep(&self, stream: Stream, bytes: &[u8]) -> bool;

    /// The command has printed nothing for this long; told once each time.
    fn quiet(&self, so_far: Duration);
}

/// Lets the output of commands go, for calls that run none.
#[derive(Debug, Clone, Copy)]
pub struct NoCapture;

impl Capture for NoCapture {
    fn keep(&self, _: Stream, _: &[u8]) -> bool {
        true
    }

    fn quiet(&self, _: Duration) {}
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
        Ok(Self {
            walls: RunWalls::new(workspace.path.clone(), place),
            roots: Roots::new(workspace, extra?, own),
            trusted,
            engine: policy.engine,
            splice: policy.splice_program.clone(),
            check_timeout: cargo::CHECK_TIMEOUT,
            run_timeout: program::RUN_TIMEOUT,
            first_errors: Mutex::new(None),
            reader: OnceLock::new(),
            remote: None,
            past: None,
            simulations: simulate::Settings::default(),
            copy: None,
            looks: looking::Looks::default(),
        })
    }

    /// The same tools, with what is recorded of the workspace.
    #[must_use]
    pub fn remembering(self, past: Option<Box<dyn Past>>) -> Self {
        Self { past, ..self }
    }

    /// The same tools, with what the walls of a run need to know besides the workspace.
    #[must_use]
    pub fn walled(self, mut place: WallPlace) -> Self {
        place.hidden.extend_from_slice(self.own_folders());
        let walls = RunWalls::new(self.workspace().to_owned(), place);
        Self { walls, ..self }
    }

    /// The same tools for a plan from this file: nothing that they start behind walls writes it.
    #[must_use]
    pub fn of_plan(self, file: Option<PathBuf>) -> Self {
        Self { walls: self.walls.also([], file), ..self }
    }

    /// The walls of everything that is started here.
    pub fn walls(&self) -> &RunWalls {
        &self.walls
    }

    /// The walls of what this call starts.
    fn behind<'a>(&'a self, context: &Context<'a>) -> process::Behind<'a> {
        process::Behind { step: context.walls, run: &self.walls, write: &[] }
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
        &self.roots.workspace.path
    }

    /// The files that a mutating call takes as input, by canonical path: relative to the workspace
    /// with `/`, absolute in another root. Empty for calls that only read (SPEC §2).
    ///
    /// # Errors
    /// A path that cannot be used, leads outside, is no file, or cannot be read.
    pub fn inputs(&self, call: &ToolCall) -> Result<BTreeMap<String, FileState>, ToolError> {
        let state = |path: String| {
            let place = self.roots.resolve(&path, Last::Follow)?;
            let file = place.open(&path, Access::Read)?.map(|(file, _)| file);
            Ok((place.key, file::state(file, &path)?))
        };
        self.now().input_paths(call)?.into_iter().map(state).collect()
    }

    /// The state of the file with this canonical path, now.
    ///
    /// # Errors
    /// As [`Self::inputs`].
    pub fn state_of(&self, key: &str) -> Result<FileState, ToolError> {
        self.digest_of(key)
    }

    /// What the call would do after the earlier steps in `overlay`, for a person. Touches and
    /// executes nothing. A call that would fail has a preview that says so.
    ///
    /// # Errors
    /// A path or pattern that cannot be used, or leads outside; a stop.
    pub fn preview(&self, call: &ToolCall, overlay: &Overlay) -> Result<Preview, ToolError> {
        Ok(preview::foresee(self, call, overlay, self.stop())?.0)
    }

    /// What the call would do now: for a person, and exactly, as far as it changes files. Both from one
    /// look, so that they say the same. Nothing is changed by a call that only reads or would fail.
    ///
    /// # Errors
    /// As for [`Self::preview`]; and a stop.
    pub fn foresee(
        &self,
        call: &ToolCall,
        stop: &StopSignal,
    ) -> Result<(Preview, Vec<FileEffect>), ToolError> {
        preview::foresee(self, call, Overlay::nothing(), stop)
    }

    /// What the earlier steps in `overlay` leave, against what is there now; by path.
    ///
    /// # Errors
    /// A file that can no longer be read.
    pub fn changes(&self, overlay: &Overlay) -> Result<Vec<FileChange>, ToolError> {
        preview::changes(self, overlay)
    }

    /// Which shell reads the commands of this machine (SPEC §7.2).
    pub fn shell(&self) -> Shell {
        shell::kind(self)
    }

    /// As whom a call runs on this machine.
    pub fn user(&self) -> String {
        shell::user()
    }

    /// The folder on this machine in which a call works.
    pub fn folder_of(&self, call: &ToolCall) -> PathBuf {
        let named = match call {
            ToolCall::Shell { cwd: Some(cwd), target: None, .. } => cwd,
            _ => return self.workspace().to_owned(),
        };
        // One that cannot be used fails when the call is made; until then it is shown as it is named.
        let found = self.roots.resolve(named, Last::Follow);
        found.map_or_else(|_| named.into(), |place| place.root.path.join(place.relative))
    }

    /// Does it. What went wrong is in the answer, beside what was done all the same.
    pub fn invoke(&self, call: &ToolCall, context: &Context<'_>) -> Invocation {
        let roots = &self.roots;
        let answer = match call {
            ToolCall::FileRead { path } => read::invoke(roots, path, context),
            ToolCall::FileWrite { path, contents } => {
                Ok(write::invoke(roots, path, contents, Existing::Replace, context))
            }
            ToolCall::FileCreate { path, contents } => {
                Ok(write::invoke(roots, path, contents, Existing::Refuse, context))
            }
            ToolCall::FileSearch { pattern, root } => search::search(roots, pattern, root, context),
            ToolCall::FileGlob { pattern, root } => search::list(roots, pattern, root, context),
            ToolCall::LspCheck { path } => cargo::invoke(self, path, context),
            ToolCall::Shell { command, target, cwd, timeout_seconds } => {
                let (target, cwd) = (target.as_deref(), cwd.as_deref());
                let timeout_seconds = *timeout_seconds;
                let command = shell::Command { command, target, cwd, timeout_seconds };
                shell::invoke(self, &command, context)
            }
            ToolCall::SplicePatch { .. } | ToolCall::SplicePlan { .. } => {
                Ok(splice::invoke(self, call, context))
            }
            ToolCall::SymbolsInFile { file_path } => engine::symbols(self, file_path, context),
            ToolCall::ReferencesToSymbolName { symbol } => {
                engine::references(self, symbol, None, context)
            }
            ToolCall::ReferencesFromFileToSymbolName { file_path, symbol } => {
                engine::references(self, symbol, Some(file_path), context)
            }
            ToolCall::Verify { .. } | ToolCall::Compile { .. } | ToolCall::Run { .. } => {
                program::invoke(self, call, context)
            }
            ToolCall::MutateBatch(batch) => Ok(batch::invoke(self, batch, context)),
            ToolCall::Inspect { query, max_results } => {
                inspect::invoke(self, query, *max_results, context)
            }
            ToolCall::History { operation, limit } => {
                history::invoke(self, operation, *limit, context)
            }
            ToolCall::Simulate(simulation) => simulate::invoke(self, simulation, context),
        };
        let failed = |error| Invocation { error: Some(error), ..Invocation::default() };
        let mut invocation = answer.unwrap_or_else(failed);
        touched::complete(self, call, &mut invocation);
        invocation
    }
}
