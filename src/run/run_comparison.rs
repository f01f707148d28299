//! Compares two runs of the same or a revised plan (SPEC §8): their plans, approved inputs, outcomes, outputs and
//! durations. Pure; the contents of outputs come from a function of the caller.

use std::collections::{BTreeMap, HashMap, VecDeque};

use serde::{Serialize, Serializer};

use super::argument_difference::argument_difference;
use super::line_diff::diff;
use super::{Diff, FileChange, PlanDifference, RunSummary, StepTimes, Waterfall};
use crate::authorization::FileState;
use crate::plan::Digest;
use crate::plan::words::words;

/// The maximum size of an output that is compared line by line, in bytes.
pub const MAX_COMPARED_BYTES: u64 = 1 << 20;
/// The maximum number of lines of all differences of outputs together. What is beyond is counted, not shown.
const MAX_LINES: usize = 20_000;

/// Reads a stored content; `None` if it is not available.
pub type ReadContent<'r, E> = dyn FnMut(&Digest) -> Result<Option<Vec<u8>>, E> + 'r;

/// The arguments of a step by name.
type Arguments = BTreeMap<String, String>;

/// An output of a step, as it is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedOutput {
    /// `stdout` or `stderr`.
    pub stream: String,
    /// The size of the whole output in bytes.
    pub bytes: u64,
    /// The output itself, or where it is.
    pub content: OutputContent,
}

/// A recorded output, or the digest under which it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutputContent {
    /// The whole output.
    Text(String),
    /// The digest of the content.
    Stored(Digest),
}

/// What is recorded of one step beside its times.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RecordedStep {
    /// The arguments, with redacted secrets.
    pub arguments: Arguments,
    /// The outputs that are not empty.
    pub outputs: Vec<RecordedOutput>,
}

/// A recorded run, as a comparison needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedSteps {
    /// The run and its times.
    pub waterfall: Waterfall,
    /// For each step of the waterfall, what else is recorded of it.
    pub steps: Vec<RecordedStep>,
    /// The states of files that the approval of the run covered, by path.
    pub inputs: BTreeMap<String, FileState>,
}

words! {
    /// Whether both runs have a step.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum StepPair {
        /// Both have it, with the same tool and arguments.
        Same = "same",
        /// Both have a step with this id and tool, with other arguments.
        Changed = "changed",
        /// Only the first run has it.
        OnlyBefore = "only_before",
        /// Only the second run has it.
        OnlyAfter = "only_after",
    }
}

/// The difference between the outputs of a step in both runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputDifference {
    /// The differing lines; of a content that is no text, too large or no longer there, the sizes only. The path is
    /// `stdout` or `stderr`.
    pub change: FileChange,
}

impl Serialize for OutputDifference {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Fields<'a> {
            stream: &'a str,
            diff: &'a Diff,
        }
        Fields { stream: &self.change.path, diff: &self.change.diff }.serialize(serializer)
    }
}

/// A step of the first or second run, or of both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StepComparison {
    /// Whether both runs have it.
    pub pair: StepPair,
    /// The step in the first run.
    pub before: Option<StepTimes>,
    /// The step in the second run.
    pub after: Option<StepTimes>,
    /// The differing lines of its arguments, each with `-`, `+` or a space in front; empty if they are equal.
    pub arguments: String,
    /// The outputs that differ.
    pub outputs: Vec<OutputDifference>,
}

impl StepComparison {
    /// Whether the outcomes differ; false if only one run has the step.
    pub fn has_other_outcome(&self) -> bool {
        let known = |step: &Option<StepTimes>| step.as_ref().map(|it| it.listed.row.known);
        matches!((known(&self.before), known(&self.after)), (Some(one), Some(other)) if one != other)
    }

    /// Whether anything but the times differs.
    pub fn differs(&self) -> bool {
        self.pair != StepPair::Same || self.has_other_outcome() || !self.outputs.is_empty()
    }

    /// What differs, in words: `arguments`, `outcome`, `output`; empty if nothing but the times does.
    pub fn differing(&self) -> Vec<&'static str> {
        let parts = [
            (self.pair == StepPair::OnlyBefore, "only in the first run"),
            (self.pair == StepPair::OnlyAfter, "only in the second run"),
            (self.pair == StepPair::Changed, "arguments"),
            (self.has_other_outcome(), "outcome"),
            (!self.outputs.is_empty(), "output"),
        ];
        parts.into_iter().filter_map(|(is_so, word)| is_so.then_some(word)).collect()
    }

    /// The step of the second run, or else of the first one.
    pub fn latest(&self) -> Option<&StepTimes> {
        self.after.as_ref().or(self.before.as_ref())
    }
}

/// A file whose approved state differs between two runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InputDifference {
    /// The file.
    pub path: String,
    /// Its state at the first approval; `None` if that did not cover the file.
    pub before: Option<FileState>,
    /// Its state at the second approval; `None` if that did not cover the file.
    pub after: Option<FileState>,
}

/// A run of a comparison: what it was, and how long it took.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ComparedRun {
    /// The run.
    pub run: RunSummary,
    /// From its start to its end, in milliseconds.
    pub total_ms: i64,
    /// How long it waited for a person, in milliseconds.
    pub waited_ms: i64,
    /// How long tools worked, in milliseconds.
    pub worked_ms: i64,
}

impl From<Waterfall> for ComparedRun {
    fn from(times: Waterfall) -> Self {
        let Waterfall { run, total_ms, waited_ms, worked_ms, .. } = times;
        Self { run, total_ms, waited_ms, worked_ms }
    }
}

/// What differs between two runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunComparison {
    /// The first run.
    pub before: ComparedRun,
    /// The second run.
    pub after: ComparedRun,
    /// Whether both ran the same bytes.
    pub same_plan: bool,
    /// The difference between the plans; `None` if one of them is not available, or has steps that cannot be read.
    pub plan: Option<PlanDifference>,
    /// The files whose approved states differ, by path.
    pub inputs: Vec<InputDifference>,
    /// The steps, in the order of the second run; those that only the first run has come last.
    pub steps: Vec<StepComparison>,
    /// The number of outputs whose differing lines are left out, because all differences together are too long.
    pub left_out: usize,
}

impl RunComparison {
    /// Compares two runs. `read` gets a stored output of at most [`MAX_COMPARED_BYTES`] bytes, if it is available.
    ///
    /// # Errors
    /// Errors of `read`.
    pub fn between<E>(
        before: RecordedSteps,
        after: RecordedSteps,
        plan: Option<PlanDifference>,
        read: &mut ReadContent<'_, E>,
    ) -> Result<Self, E> {
        let inputs = input_differences(&before.inputs, &after.inputs);
        let (mut steps, mut lines, mut left_out) = (Vec::new(), 0, 0);
        for (pair, old, new) in pairs(&before, &after) {
            let times = |run: &RecordedSteps, index: Option<usize>| {
                index.and_then(|index| run.waterfall.steps.get(index)).cloned()
            };
            let (old_step, new_step) = (recorded(&before, old), recorded(&after, new));
            let mut outputs = Vec::new();
            for (stream, old, new) in output_pairs(old_step, new_step) {
                let difference = output_difference(old, new, read)?;
                lines += line_count(&difference);
                let diff = if lines <= MAX_LINES { difference } else { sizes(old, new) };
                left_out += usize::from(lines > MAX_LINES);
                let [before, after] = [old, new].map(state);
                let change = FileChange { path: stream.to_owned(), before, after, diff };
                outputs.push(OutputDifference { change });
            }
            let arguments = match (pair, old_step, new_step) {
                (StepPair::Changed, Some(old), Some(new)) => {
                    argument_difference(&old.arguments, &new.arguments)
                }
                _ => String::new(),
            };
            let (before, after) = (times(&before, old), times(&after, new));
            steps.push(StepComparison { pair, before, after, arguments, outputs });
        }
        let same_plan = before.waterfall.run.plan_digest == after.waterfall.run.plan_digest;
        let (before, after) = (before.waterfall.into(), after.waterfall.into());
        Ok(Self { before, after, same_plan, plan, inputs, steps, left_out })
    }

    /// The number of steps of which more than the times differs.
    pub fn differing_steps(&self) -> usize {
        self.steps.iter().filter(|step| step.differs()).count()
    }

    /// What became of the plan, as a sentence.
    pub fn plan_sentence(&self) -> String {
        match &self.plan {
            _ if self.same_plan => "Both ran the same plan.".to_owned(),
            Some(plan) if plan.is_same() => "The plans have the same steps.".to_owned(),
            Some(plan) => plan.sentence(),
            None => "The plans differ, and cannot be compared: one of them is not available, or \
                     cannot be read."
                .to_owned(),
        }
    }
}

fn recorded(run: &RecordedSteps, index: Option<usize>) -> Option<&RecordedStep> {
    run.steps.get(index?)
}

/// The steps of both runs in pairs, each by its index: equal steps first, then those with the same id and tool.
fn pairs(
    before: &RecordedSteps,
    after: &RecordedSteps,
) -> Vec<(StepPair, Option<usize>, Option<usize>)> {
    fn keys(run: &RecordedSteps) -> impl Iterator<Item = (&str, &str, &Arguments)> {
        run.waterfall.steps.iter().zip(&run.steps).map(|(times, step)| {
            let row = &times.listed.row;
            (row.step_id.as_str(), row.tool_name.as_str(), &step.arguments)
        })
    }
    let mut equal: HashMap<_, VecDeque<usize>> = HashMap::new();
    for (index, (_, tool, arguments)) in keys(before).enumerate() {
        equal.entry((tool, arguments)).or_default().push_back(index);
    }
    let mut is_free = vec![true; before.steps.len()];
    let mut take = |index: usize| is_free.get_mut(index).is_some_and(std::mem::take);
    let mut same: Vec<Option<usize>> = Vec::with_capacity(after.steps.len());
    for (_, tool, arguments) in keys(after) {
        let index = equal.get_mut(&(tool, arguments)).and_then(VecDeque::pop_front);
        same.push(index.filter(|index| take(*index)));
    }
    let by_id: HashMap<_, usize> =
        keys(before).enumerate().map(|(index, (id, tool, _))| ((id, tool), index)).collect();
    let mut pairs: Vec<_> = keys(after)
        .zip(same)
        .enumerate()
        .map(|(new, ((id, tool, _), same))| {
            let mut changed = || by_id.get(&(id, tool)).copied().filter(|index| take(*index));
            match same {
                Some(old) => (StepPair::Same, Some(old), Some(new)),
                None => match changed() {
                    Some(old) => (StepPair::Changed, Some(old), Some(new)),
                    None => (StepPair::OnlyAfter, None, Some(new)),
                },
            }
        })
        .collect();
    let gone = is_free.iter().enumerate().filter(|(_, is_free)| **is_free);
    pairs.extend(gone.map(|(old, _)| (StepPair::OnlyBefore, Some(old), None)));
    pairs
}

/// The outputs of a step that both runs have, in pairs by stream; only those that differ.
fn output_pairs<'s>(
    before: Option<&'s RecordedStep>,
    after: Option<&'s RecordedStep>,
) -> Vec<(&'static str, Option<&'s RecordedOutput>, Option<&'s RecordedOutput>)> {
    let (Some(before), Some(after)) = (before, after) else { return Vec::new() };
    let of = |step: &'s RecordedStep, stream| step.outputs.iter().find(|it| it.stream == stream);
    let pairs = ["stdout", "stderr"].map(|stream| (stream, of(before, stream), of(after, stream)));
    let differs = |old: &Option<&RecordedOutput>, new: &Option<&RecordedOutput>| {
        old.map(|it| &it.content) != new.map(|it| &it.content)
    };
    pairs.into_iter().filter(|(_, old, new)| differs(old, new)).collect()
}

fn output_difference<E>(
    before: Option<&RecordedOutput>,
    after: Option<&RecordedOutput>,
    read: &mut ReadContent<'_, E>,
) -> Result<Diff, E> {
    let mut content = |output: Option<&RecordedOutput>| {
        let Some(output) = output else { return Ok(Some(Vec::new())) };
        match &output.content {
            OutputContent::Text(text) => Ok(Some(text.clone().into_bytes())),
            OutputContent::Stored(_) if output.bytes > MAX_COMPARED_BYTES => Ok(None),
            OutputContent::Stored(digest) => read(digest),
        }
    };
    let (old, new) = (content(before)?, content(after)?);
    Ok(match (old, new) {
        (Some(old), Some(new)) => diff(Some(&old), Some(&new)),
        _ => sizes(before, after),
    })
}

/// The output as the state of a file, by which differences are told apart.
fn state(output: Option<&RecordedOutput>) -> FileState {
    output.map_or(FileState::Absent, |output| {
        FileState::Content(match &output.content {
            OutputContent::Text(text) => Digest::of(text.as_bytes()),
            OutputContent::Stored(digest) => *digest,
        })
    })
}

/// The sizes of two outputs in place of their lines.
fn sizes(before: Option<&RecordedOutput>, after: Option<&RecordedOutput>) -> Diff {
    let bytes = |output: Option<&RecordedOutput>| output.map(|it| it.bytes);
    Diff::Binary { before_bytes: bytes(before), after_bytes: bytes(after) }
}

fn line_count(diff: &Diff) -> usize {
    match diff {
        Diff::Text { lines, .. } => lines.len(),
        Diff::Unchanged | Diff::Binary { .. } => 0,
    }
}

fn input_differences(
    before: &BTreeMap<String, FileState>,
    after: &BTreeMap<String, FileState>,
) -> Vec<InputDifference> {
    let mut paths: Vec<&String> = before.keys().chain(after.keys()).collect();
    paths.sort_unstable();
    paths.dedup();
    let states = |path: &String| (before.get(path).copied(), after.get(path).copied());
    let differing = paths.into_iter().map(|path| (path, states(path)));
    differing
        .filter(|(_, (before, after))| before != after)
        .map(|(path, (before, after))| InputDifference { path: path.clone(), before, after })
        .collect()
}

#[cfg(test)]
mod tests;
