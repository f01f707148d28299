//! `simulate` (SPEC §9): runs edits, steps or a function on a copy of the workspace.
//!
//! The copy has the files that git does not ignore, in a private folder ([`Scratch`]) that is removed when
//! the step ends, also by an error or a panic. The usual tools work on the copy, and build output is written beside
//! it. A program that runs there is confined by the walls of the step, not by the copy: where the walls allow
//! it, the program can reach files outside by an absolute path.
//!
//! # The copy
//!
//! The toolbox of a copy has the copy as its root, under the path of the original, so that absolute paths in a plan
//! mean the copy. It has no other root, its programs build beside the copy, and processes that they leave running
//! are ended. Edits and verifications use the same code as on the workspace.
//!
//! The files are chosen by the walk of a search (`FileSelection::Git`): hidden files too, but no file that git's
//! ignore lists name, no `.git`, and no folder with a `CACHEDIR.TAG`. Files that the simulation names are
//! always copied. The copy therefore lacks tracked files that an ignore list names, and everything that cargo
//! would find above the workspace: path dependencies there, `.cargo/config.toml`, and an override of rustup
//! for the folder. A link is copied only if it leads inside, with another target where needed. A file that cannot
//! be read is left out and reported; no run could read it either. Contents are shared if the file system supports it
//! (`FICLONE` on Linux), and copied otherwise.
//!
//! The folder is in the user's cache folder or the temporary folder, with a lock that the system releases when the
//! process ends. A folder whose lock is free is left from a killed process; the next simulation, or the next start
//! of Countersign, removes it. A simulation uses no earlier build output.
//!
//! # The difference
//!
//! A copied file counts as unchanged if its inode, size, mode and change time, which no program can set, are
//! as after copying, and if the change time is before the end of the copying. The contents of all other files
//! are compared. So changes that no tool reported are found too, with `predicted: false`; the changes of a
//! verification are listed separately. A verification that does not pass fails the step (E304), with the
//! difference and the diagnostics in its result, so that no later step runs. The only file that an authorization
//! of the step covers is `countersign.toml`, if the step would run its commands.
//!
//! # A function
//!
//! The function is a binary or an example, or else every test of exactly that name: `cargo test --workspace
//! --tests --no-fail-fast NAME -- --exact --show-output -- INPUTS`. After the second `--` the harness takes the
//! inputs for names of further tests and never for options; the test reads them from its own arguments.

mod copy;
mod difference;
mod error;
mod links;
mod preview;
pub(super) mod settings;
mod stamp;
mod tee;
#[cfg(test)]
mod tests;
mod verdict;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

use super::tool::{PreviewWithEffects, Tool, without_effects};
use super::{CallResult, Context, ProjectedToolbox, ToolError, Toolbox, program, splice};
use crate::authorization::{FileState, SecretInputs};
use crate::plan::{COMMANDS_FILE, Simulation, ToolCall};
use crate::process::{ProcessError, Scratch, scratch_parent, scratch_parents, tidy_scratch};
use crate::workspace::{Budget, Root, Workspace};

use copy::Copied;
use difference::{by_verification, difference};
use settings::SimulationSettings;
use stamp::Stamp;
use tee::Tee;
use verdict::Verdict;

pub use error::SimulationError;

/// Removes the copies of this user's simulations whose processes were killed.
///
/// # Errors
/// The system's error. The remaining copies are removed at a later start of Countersign.
pub fn remove_abandoned() -> std::io::Result<()> {
    scratch_parents().try_for_each(|parent| tidy_scratch(&parent))
}

/// A call of `simulate`: edits, steps or a function to run on a copy.
pub(super) struct Simulate<'a>(pub(super) &'a Simulation);

impl Tool for Simulate<'_> {
    fn preview(&self, projected: ProjectedToolbox<'_>) -> Result<PreviewWithEffects, ToolError> {
        preview::preview(projected, self.0).map(without_effects)
    }

    fn adds_file_edges(&self) -> bool {
        true
    }

    fn invoke(&self, toolbox: &Toolbox, context: &Context<'_>) -> Result<CallResult, ToolError> {
        let started = Instant::now();
        let parent = toolbox.simulations_folder();
        let scratch = Scratch::create(&parent).map_err(|source| SimulationError::NoScratch {
            folder: parent.to_string_lossy().into_owned(),
            source,
        })?;
        let mut call_result = simulate(toolbox, self.0, &scratch, started, context)?;
        if let Err(error) = scratch.remove() {
            let warning =
                format!("the copy could not be removed: {error}; the next simulation tries again");
            verdict::warn(&mut call_result.result, warning);
        }
        Ok(call_result)
    }
}

/// Makes the copy, runs the simulation there, and compares the copy with the workspace.
fn simulate(
    toolbox: &Toolbox,
    simulation: &Simulation,
    scratch: &Scratch,
    started: Instant,
    context: &Context<'_>,
) -> Result<CallResult, ToolError> {
    let named = named_files(toolbox, simulation);
    let (copied, mark) = toolbox.copy_into(scratch, &named, context)?;
    let mut verdict = Verdict::new(simulation, copied, started.elapsed());
    let traces = matches!(simulation, Simulation::Function { trace_enabled: true, .. });
    let copy = toolbox.on_copy(scratch, traces)?;
    let tee = Tee::new(context);
    let verify = match simulation {
        Simulation::Edits { edits, verify } => {
            verdict.add_edits(call(&copy, &ToolCall::MutateBatch(preview::as_batch(edits)), &tee));
            *verify
        }
        Simulation::Steps { steps, verify } => {
            for (index, step) in steps.iter().enumerate() {
                if verdict.error.is_none() {
                    verdict.add_step(index, step, call(&copy, step, &tee));
                }
            }
            *verify
        }
        Simulation::Function { function, inputs, trace_enabled } => {
            let expected = BTreeMap::new();
            let context = tee.context(&expected);
            let result = program::run_function(&copy, function, inputs, *trace_enabled, &context);
            let failed = |error| CallResult { error: Some(error), ..CallResult::default() };
            verdict.add_function(result.unwrap_or_else(failed));
            None
        }
    };
    let compare = |copied: &Copied| difference(toolbox, &copy, copied, mark, &named, context.stop);
    match compare(&verdict.copied) {
        Ok(changes) => {
            if let (Some(scope), None) = (verify, &verdict.error) {
                let result = call(&copy, &ToolCall::Verify { scope }, &tee);
                let changed = by_verification(compare(&verdict.copied), &changes);
                verdict.add_verification(scope, result, changed);
            }
            verdict.add_difference(changes);
        }
        Err(error) => {
            verdict.error.get_or_insert(error.into());
        }
    }
    Ok(verdict.into_call_result(tee))
}

/// Executes one call on the copy.
fn call(copy: &Toolbox, call: &ToolCall, tee: &Tee<'_>) -> CallResult {
    // If the inputs cannot be read, the tool fails for the same reason and reports it.
    let expected: BTreeMap<String, FileState> = copy.inputs(call).unwrap_or_default();
    let mut call_result = copy.invoke(call, &tee.context(&expected));
    if call_result.captured.is_none() {
        let is_recorded = tee.forward(crate::run::Stream::Stdout, call_result.stdout.as_deref())
            && tee.forward(crate::run::Stream::Stderr, call_result.stderr.as_deref());
        if !is_recorded && call_result.error.is_none() {
            call_result.error = Some(ProcessError::NotKept { program: call.tool().name() }.into());
        }
    }
    call_result
}

/// The files that a simulation names. They are copied whether git ignores them or not.
fn named_files(toolbox: &Toolbox, simulation: &Simulation) -> Vec<String> {
    let in_arguments = simulation.paths().into_iter().filter(|path| path.argument.is_some());
    let mut named: Vec<String> = in_arguments.map(|path| path.path.to_owned()).collect();
    if let Simulation::Steps { steps, .. } = simulation {
        for step in steps {
            // If the splice plan cannot be read, the tool reports it.
            if let ToolCall::SplicePlan { plan_file } = step {
                let paths = splice::named_paths(toolbox.now(), plan_file);
                named.extend(paths.unwrap_or_default().into_iter().map(|(_, path)| path));
            }
        }
    }
    // The commands of the workspace are needed even when git ignores their file.
    named.push(COMMANDS_FILE.to_owned());
    named
}

impl Toolbox {
    fn simulations_folder(&self) -> PathBuf {
        let default_folder = || scratch_parent(self.workspace());
        self.simulations.parent.clone().unwrap_or_else(default_folder)
    }

    /// Copies the workspace into a scratch folder. Returns the copied files, and the stamp of a file that was created
    /// after them.
    fn copy_into(
        &self,
        scratch: &Scratch,
        named: &[String],
        context: &Context<'_>,
    ) -> Result<(Copied, Stamp), ToolError> {
        let folder = scratch.copy_of(self.workspace());
        let failed =
            |source| ToolError::from(SimulationError::Copy { path: ".".to_owned(), source });
        std::fs::create_dir(&folder).map_err(failed)?;
        let root = Root::open(&folder, true)?;
        let limits = self.simulations.limits;
        let copied = copy::copy(&self.files, &root.dir, named, limits, context.stop)?;
        let mark = scratch.mark().and_then(|mark| cap_std::fs::File::from_std(mark).metadata());
        Ok((copied, Stamp::of(&mark.map_err(failed)?)))
    }

    /// The same tools on the copy, without any other root, host or recorded history.
    fn on_copy(&self, scratch: &Scratch, traces: bool) -> Result<Self, ToolError> {
        let folder = scratch.copy_of(self.workspace());
        let root = Root::open_copy(&folder, &self.files.root)?;
        let first_errors = self.first_errors.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let target = scratch.target();
        let walls = self.walls().of_copy(&folder, &target, &self.simulations_folder());
        let target = target.to_string_lossy().into_owned();
        Ok(Self {
            launcher: self.launcher.on_copy(root.path.clone(), target, traces, walls),
            files: Workspace { root, extra: Vec::new(), budget: Budget::default() },
            symbols: self.symbols.clone(),
            check_timeout: self.check_timeout,
            run_timeout: self.run_timeout,
            trusted: self.trusted.clone(),
            first_errors: Mutex::new(first_errors),
            local_shell: OnceLock::new(),
            remote: None,
            history: None,
            secret_inputs: SecretInputs::default(),
            simulations: SimulationSettings::default(),
        })
    }
}
