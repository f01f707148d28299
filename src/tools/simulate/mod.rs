//! `simulate` (SPEC §9): runs edits, steps or a function on a copy of the workspace.
//!
//! The copy has the files that git does not ignore, in a private folder ([`Scratch`]) that is removed when
//! the step ends, however it ends. The usual tools work on the copy, and build output goes beside it. A
//! program that runs there is not confined to the copy: through an absolute path it can do whatever the
//! user may, as in a `run`.
//!
//! # The copy
//!
//! The toolbox of a copy has the copy as its root and answers to the name of the original, so that absolute paths of
//! a plan mean the copy. No other root is open to it, its programs build beside the copy, and nothing that they
//! leave running survives. There is no second implementation of an edit or of a verification.
//!
//! The walk of a search chooses the files (`Choice::Git`): hidden files too, but nothing that git's ignore lists
//! name, no `.git`, and no folder that `CACHEDIR.TAG` marks. What the plan names is always copied. Left out are
//! tracked files that an ignore list names, and what cargo would find above the workspace: a path dependency there,
//! `.cargo/config.toml`, and an override of rustup for the folder. A link is copied only if it leads inside, if need
//! be with another text. What cannot be read is left out and reported: no run could read it either. Contents are
//! shared where the file system can (`FICLONE` on Linux), else copied by the system (`copy_file_range`).
//!
//! The folder is in the user's cache, with a lock that the system releases when a process dies. A folder whose lock
//! is free belongs to nobody, and the next simulation or start removes it. Each simulation builds all that it needs.
//!
//! # The difference
//!
//! It comes from times of change, inodes and sizes, which nobody can set back, and from contents where those do not
//! decide, also for what falls into the same tick as the end of the copying. So it contains what no tool reported,
//! as `predicted: false`; what a verification left is reported apart. A verification that does not pass fails the
//! step (E304) with difference and diagnostics as its result, so that no later step builds on it. The only input of
//! the step is `countersign.toml`, where commands of it would run.
//!
//! # A function
//!
//! The function is a binary or an example, else every test of exactly that name: `cargo test --workspace --tests
//! NAME -- --exact --show-output -- INPUTS`. Behind the second `--` the harness takes inputs for names of further
//! tests and never for options; the test reads them among its own arguments.

mod copy;
mod difference;
mod error;
mod links;
mod preview;
pub(super) mod settings;
mod tee;
#[cfg(test)]
mod tests;
mod verdict;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

use crate::authorization::FileState;
use crate::plan::{Simulation, ToolCall};

use super::tool::{PreviewWithEffects, Tool, changes_nothing};
use super::{After, Context, Invocation, ToolError, Toolbox, program, splice};
use crate::plan::COMMANDS_FILE;
use crate::process::{ProcessError, Scratch, scratch_parent, scratch_parents, tidy_scratch};
use crate::run::StopSignal;
use crate::workspace::{Budget, Root, Workspace};

use copy::{Copied, Stamp};
use difference::{by_verification, difference};
use settings::Settings;
use tee::Tee;
use verdict::Verdict;

pub use error::SimulationError;

/// Removes the copies left by simulations of this user whose process was killed.
///
/// # Errors
/// The system's error; the next simulation tries again.
pub fn tidy() -> std::io::Result<()> {
    scratch_parents().try_for_each(|parent| tidy_scratch(&parent))
}

/// Edits, steps or a function to run on a copy.
pub(super) struct Simulate<'a>(pub(super) &'a Simulation);

impl Tool for Simulate<'_> {
    fn preview(&self, at: After<'_>, stop: &StopSignal) -> Result<PreviewWithEffects, ToolError> {
        preview::preview(at, self.0, stop).map(changes_nothing)
    }

    fn tells_files(&self) -> bool {
        true
    }

    fn invoke(&self, toolbox: &Toolbox, context: &Context<'_>) -> Result<Invocation, ToolError> {
        let started = Instant::now();
        let parent = toolbox.simulations_in();
        let scratch = Scratch::create(&parent).map_err(|source| SimulationError::NoScratch {
            folder: parent.to_string_lossy().into_owned(),
            source,
        })?;
        let mut invocation = on_copy(toolbox, self.0, &scratch, started, context)?;
        if let Err(error) = scratch.remove() {
            let warning =
                format!("the copy could not be removed: {error}; the next simulation tries again");
            verdict::warn(&mut invocation.result, warning);
        }
        Ok(invocation)
    }
}

fn on_copy(
    toolbox: &Toolbox,
    simulation: &Simulation,
    scratch: &Scratch,
    started: Instant,
    context: &Context<'_>,
) -> Result<Invocation, ToolError> {
    let named = named(toolbox, simulation);
    let (copied, mark) = toolbox.copy_into(scratch, &named, context)?;
    let mut verdict = Verdict::new(simulation, copied, started.elapsed());
    let traces = matches!(simulation, Simulation::Function { trace_enabled: true, .. });
    let copy = toolbox.on_copy(scratch, traces)?;
    let tee = Tee::new(context);
    let verify = match simulation {
        Simulation::Edits { edits, verify } => {
            verdict.edit(call(&copy, &ToolCall::MutateBatch(preview::as_batch(edits)), &tee));
            *verify
        }
        Simulation::Steps { steps, verify } => {
            for (index, step) in steps.iter().enumerate() {
                if verdict.error.is_none() {
                    verdict.step(index, step, call(&copy, step, &tee));
                }
            }
            *verify
        }
        Simulation::Function { function, inputs, trace_enabled } => {
            let expected = BTreeMap::new();
            let context = tee.context(&expected);
            let ran = program::function(&copy, function, inputs, *trace_enabled, &context);
            let failed = |error| Invocation { error: Some(error), ..Invocation::default() };
            verdict.function(ran.unwrap_or_else(failed));
            None
        }
    };
    let look = |copied: &Copied| difference(toolbox, &copy, copied, mark, &named, context.stop);
    match look(&verdict.copied) {
        Ok(found) => {
            if let (Some(scope), None) = (verify, &verdict.error) {
                let ran = call(&copy, &ToolCall::Verify { scope }, &tee);
                let changed = by_verification(look(&verdict.copied), &found);
                verdict.verify(scope, ran, changed);
            }
            verdict.found(found);
        }
        Err(error) => {
            verdict.error.get_or_insert(error.into());
        }
    }
    Ok(verdict.invocation(tee))
}

/// Executes one call on the copy.
fn call(copy: &Toolbox, call: &ToolCall, tee: &Tee<'_>) -> Invocation {
    // If this fails, the tool fails with the same error and reports it.
    let expected: BTreeMap<String, FileState> = copy.inputs(call).unwrap_or_default();
    let mut invocation = copy.invoke(call, &tee.context(&expected));
    if invocation.captured.is_none() {
        let kept = tee.whole(crate::run::Stream::Stdout, invocation.stdout.as_deref())
            && tee.whole(crate::run::Stream::Stderr, invocation.stderr.as_deref());
        if !kept && invocation.error.is_none() {
            invocation.error = Some(ProcessError::NotKept { program: call.tool().name() }.into());
        }
    }
    invocation
}

/// The files that a simulation names. They are copied whether git ignores them or not.
fn named(toolbox: &Toolbox, simulation: &Simulation) -> Vec<String> {
    let told = simulation.paths().into_iter().filter(|named| named.argument.is_some());
    let mut named: Vec<String> = told.map(|named| named.path.to_owned()).collect();
    if let Simulation::Steps { steps, .. } = simulation {
        for step in steps {
            // If the splice plan cannot be read, the tool reports it.
            if let ToolCall::SplicePlan { plan_file } = step {
                let found = splice::named(toolbox.now(), plan_file);
                named.extend(found.unwrap_or_default().into_iter().map(|(_, path)| path));
            }
        }
    }
    // The commands of the workspace are needed even when git ignores their file.
    named.push(COMMANDS_FILE.to_owned());
    named
}

impl Toolbox {
    fn simulations_in(&self) -> PathBuf {
        let usual = || scratch_parent(self.workspace());
        self.simulations.parent.clone().unwrap_or_else(usual)
    }

    /// Copies the workspace into a scratch folder.
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
        let top = Root::open(&folder, true)?;
        let limits = self.simulations.limits;
        let copied = copy::copy(&self.files, &top.dir, named, limits, context.stop)?;
        let mark = scratch.mark().and_then(|mark| cap_std::fs::File::from_std(mark).metadata());
        Ok((copied, Stamp::of(&mark.map_err(failed)?)))
    }

    /// The same tools on the copy, without any other root.
    fn on_copy(&self, scratch: &Scratch, traces: bool) -> Result<Self, ToolError> {
        let folder = scratch.copy_of(self.workspace());
        let root = Root::open_copy(&folder, &self.files.root)?;
        let first = self.first_errors.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let target = scratch.target();
        let walls = self.walls().of_copy(&folder, &target, &self.simulations_in());
        let target = target.to_string_lossy().into_owned();
        Ok(Self {
            launcher: self.launcher.on_copy(root.path.clone(), target, traces, walls),
            files: Workspace { root, extra: Vec::new(), budget: Budget::default() },
            symbols: self.symbols.clone(),
            check_timeout: self.check_timeout,
            run_timeout: self.run_timeout,
            trusted: self.trusted.clone(),
            first_errors: Mutex::new(first),
            reader: OnceLock::new(),
            remote: None,
            past: None,
            simulations: Settings::default(),
        })
    }
}
