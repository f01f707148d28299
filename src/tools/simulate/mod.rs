//! `simulate` (SPEC §9): edits, steps or a function, tried on a copy of the workspace.
//!
//! The copy has the files that git would know, in a private folder of its own ([`scratch`]), and is gone when
//! the step is over, however it ends. The same tools work on it that work on the workspace; what they built
//! goes beside it. What a program that is run there does by an absolute path is its own doing: it has the
//! rights of the user, as it has in a `run`.

mod copy;
mod difference;
mod error;
mod links;
mod preview;
mod scratch;
mod tee;
#[cfg(test)]
mod tests;
mod verdict;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

use crate::authorization::FileState;
use crate::plan::{Edit, MutateBatch, Simulation, ToolCall};

use super::looking::Looks;
use super::place::{Root, Roots};
use super::process::Leftovers;
use super::{COMMANDS_FILE, Context, Invocation, Overlay, ToolError, Toolbox, program, splice};

use copy::{Copied, Limits, Stamp};
use difference::difference;
pub(super) use scratch::Scratch;
use tee::Tee;
use verdict::Verdict;

pub use error::SimulationError;
pub(super) use preview::preview;

/// Where the simulations of a toolbox are made, and how large.
#[derive(Debug)]
pub(super) struct Settings {
    /// None for the usual place.
    parent: Option<PathBuf>,
    limits: Limits,
}

impl Default for Settings {
    fn default() -> Self {
        Self { parent: None, limits: Limits::USUAL }
    }
}

/// What is special about a workspace that is a copy.
#[derive(Debug)]
pub(super) struct Copy {
    /// The workspace whose copy it is.
    pub(super) of: PathBuf,
    /// Where everything goes that is built.
    target: String,
    /// Whether programs tell where they were when they panic.
    traces: bool,
}

/// Removes what simulations of this user left behind whose process was killed.
///
/// # Errors
/// The system's own words; the next simulation tries again.
pub fn tidy() -> std::io::Result<()> {
    scratch::parents().try_for_each(|parent| scratch::tidy(&parent))
}

/// Does it.
///
/// # Errors
/// A copy that cannot be made; a stop.
pub(super) fn invoke(
    toolbox: &Toolbox,
    simulation: &Simulation,
    context: &Context<'_>,
) -> Result<Invocation, ToolError> {
    let started = Instant::now();
    let parent = toolbox.simulations_in();
    let scratch = Scratch::create(&parent).map_err(|source| SimulationError::NoScratch {
        folder: parent.to_string_lossy().into_owned(),
        source,
    })?;
    let mut invocation = on_copy(toolbox, simulation, &scratch, started, context)?;
    if let Err(error) = scratch.remove() {
        let warning =
            format!("the copy could not be removed: {error}; the next simulation tries again");
        verdict::warn(&mut invocation.result, warning);
    }
    Ok(invocation)
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
            verdict.edit(call(&copy, &ToolCall::MutateBatch(batch(edits)), &tee));
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
                // Of a verification that was stopped nobody asks what it left.
                let after = look(&verdict.copied).unwrap_or_default();
                verdict.verify(scope, ran, &after.since(&found));
            }
            verdict.found(found);
        }
        Err(error) => {
            verdict.error.get_or_insert(error);
        }
    }
    Ok(verdict.invocation(tee))
}

/// The edits as a batch, which takes what it finds.
fn batch(edits: &[Edit]) -> MutateBatch {
    MutateBatch { edits: edits.to_vec(), expected_hashes: BTreeMap::new(), dry_run: false }
}

/// One call on the copy.
fn call(copy: &Toolbox, call: &ToolCall, tee: &Tee<'_>) -> Invocation {
    // Where this fails, the tool meets the same obstacle and says so.
    let expected: BTreeMap<String, FileState> = copy.inputs(call).unwrap_or_default();
    let mut invocation = copy.invoke(call, &tee.context(&expected));
    if invocation.captured.is_none() {
        let kept = tee.whole(crate::run::Stream::Stdout, invocation.stdout.as_deref())
            && tee.whole(crate::run::Stream::Stderr, invocation.stderr.as_deref());
        if !kept && invocation.error.is_none() {
            invocation.error = Some(ToolError::NotKept { program: call.tool().name() });
        }
    }
    invocation
}

/// The files that a simulation names: they are copied whether git would know them or not.
fn named(toolbox: &Toolbox, simulation: &Simulation) -> Vec<String> {
    let told = simulation.paths().into_iter().filter(|named| named.argument.is_some());
    let mut named: Vec<String> = told.map(|named| named.path.to_owned()).collect();
    if let Simulation::Steps { steps, .. } = simulation {
        for step in steps {
            // Where the splice plan cannot be read, the tool says so.
            if let ToolCall::SplicePlan { plan_file } = step {
                let found = splice::named(toolbox, Overlay::nothing(), plan_file);
                named.extend(found.unwrap_or_default().into_iter().map(|(_, path)| path));
            }
        }
    }
    // What the workspace says of its own commands is no matter of git's.
    named.push(COMMANDS_FILE.to_owned());
    named
}

impl Toolbox {
    fn simulations_in(&self) -> PathBuf {
        let usual = || scratch::usual_parent(self.workspace());
        self.simulations.parent.clone().unwrap_or_else(usual)
    }

    /// Copies this workspace into a scratch folder.
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
        let copied = copy::copy(&self.roots, &top.dir, named, limits, context.stop)?;
        let mark = scratch.mark().and_then(|mark| cap_std::fs::File::from_std(mark).metadata());
        Ok((copied, Stamp::of(&mark.map_err(failed)?)))
    }

    /// The same tools on the copy, and there alone: no other root is open to them.
    fn on_copy(&self, scratch: &Scratch, traces: bool) -> Result<Self, ToolError> {
        let folder = scratch.copy_of(self.workspace());
        let workspace = Root::open_copy(&folder, &self.roots.workspace)?;
        let first = self.first_errors.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let walls = self.walls.of_copy(&folder, &scratch.target(), &self.simulations_in());
        Ok(Self {
            walls,
            roots: Roots { workspace, extra: Vec::new() },
            engine: self.engine,
            splice: self.splice.clone(),
            check_timeout: self.check_timeout,
            run_timeout: self.run_timeout,
            trusted: self.trusted.clone(),
            first_errors: Mutex::new(first),
            reader: OnceLock::new(),
            remote: None,
            past: None,
            simulations: Settings::default(),
            copy: Some(Copy {
                of: self.workspace().to_owned(),
                target: scratch.target().to_string_lossy().into_owned(),
                traces,
            }),
            looks: Looks::default(),
        })
    }

    /// What programs of the workspace find in their environment besides; on a copy, that everything which is
    /// built goes beside it, whatever the settings of the user say.
    pub(super) fn environment(&self) -> Vec<(&str, &str)> {
        let Some(copy) = &self.copy else { return Vec::new() };
        let mut environment = vec![
            ("CARGO_TARGET_DIR", copy.target.as_str()),
            ("CARGO_BUILD_BUILD_DIR", copy.target.as_str()),
        ];
        if copy.traces {
            environment.push(("RUST_BACKTRACE", "full"));
        }
        environment
    }

    /// What becomes of processes that a program leaves: nothing works on a copy that is to be removed.
    pub(super) fn leftovers(&self, usual: Leftovers) -> Leftovers {
        if self.copy.is_some() { Leftovers::End } else { usual }
    }
}
