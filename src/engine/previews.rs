//! Previews all steps of a plan in batches, each in the state after the steps before it. Between two batches the thread
//! that computes them can do something else. Read-only.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::history_source::open_tools;
use super::review::faulty_preview;
use super::simulation::failure_preview;
use crate::evidence::EvidenceLocation;
use crate::plan::{Code, ShownPlan, ToolCall};
use crate::risk::Policy;
use crate::run::{FileEffect, Preview, PreviewedStep, StopSignal};
use crate::tools::{ToolError, Toolbox};
use crate::workspace::Overlay;

/// The limits of the previews of one plan.
#[derive(Debug, Clone, Copy)]
struct Limits {
    /// The maximum number of steps.
    steps: usize,
    /// The maximum size of all contents that are compared, in bytes. It also bounds the [`Overlay`].
    bytes: u64,
    /// The maximum duration of all batches.
    time: Duration,
}

const LIMITS: Limits = Limits { steps: 5_000, bytes: 64 << 20, time: Duration::from_secs(10) };

/// The duration after which a batch ends, so that other queries do not wait for long.
const BATCH: Duration = Duration::from_millis(50);

/// Where the next batch begins.
#[derive(Debug, Default)]
pub struct PreviewPosition {
    /// The changes of the steps before.
    overlay: Overlay,
    /// The index of the next step.
    next: usize,
    bytes: u64,
    took: Duration,
}

impl PreviewPosition {
    fn is_within(&self, limits: Limits) -> bool {
        self.next < limits.steps && self.bytes < limits.bytes && self.took < limits.time
    }
}

/// The previews of some successive steps.
#[derive(Debug)]
pub struct PreviewBatch {
    /// What the previews say, by step index.
    pub steps: Vec<(usize, PreviewedStep)>,
    /// Where the next batch begins; `None` after the last step, or once a limit is reached.
    pub rest: Option<Box<PreviewPosition>>,
}

/// Previews the steps from `position` on, for a short time.
///
/// # Errors
/// When the workspace cannot be opened, or after `stop` was set.
pub fn preview_batch(
    plan: &ShownPlan,
    workspace: &Path,
    policy: &Policy,
    evidence: Option<&EvidenceLocation>,
    position: Box<PreviewPosition>,
    stop: &Arc<StopSignal>,
) -> Result<PreviewBatch, ToolError> {
    let toolbox = open_tools(workspace, policy, evidence, stop)?;
    batch_within(plan, &toolbox, position, LIMITS, BATCH)
}

fn batch_within(
    plan: &ShownPlan,
    toolbox: &Toolbox,
    mut position: Box<PreviewPosition>,
    limits: Limits,
    duration: Duration,
) -> Result<PreviewBatch, ToolError> {
    let (begun, before) = (Instant::now(), position.took);
    let mut steps = Vec::new();
    loop {
        toolbox.check_cancelled()?;
        let Some(step) = plan.steps.get(position.next) else {
            return Ok(PreviewBatch { steps, rest: None });
        };
        let (preview, effects) = match &step.call {
            Some(call) => preview(call, toolbox, &position.overlay)?,
            None => (faulty_preview(), Vec::new()),
        };
        steps.push((step.step_index, PreviewedStep::of(&preview)));
        position.bytes += effects.iter().map(size).sum::<u64>();
        if let Some(call) = &step.call {
            // An error of a step is in its preview.
            let _ = toolbox.project(call, &mut position.overlay);
        }
        position.next += 1;
        position.took = before + begun.elapsed();
        let is_last = position.next >= plan.steps.len();
        if is_last || !position.is_within(limits) {
            return Ok(PreviewBatch { steps, rest: None });
        }
        // At least one step was previewed, so that a slow step does not come back for ever.
        if begun.elapsed() >= duration {
            return Ok(PreviewBatch { steps, rest: Some(position) });
        }
    }
}

/// The preview of a call with its file changes. A call that cannot even be previewed would fail.
fn preview(
    call: &ToolCall,
    toolbox: &Toolbox,
    overlay: &Overlay,
) -> Result<(Preview, Vec<FileEffect>), ToolError> {
    match toolbox.after(overlay).preview_with_effects(call) {
        Err(error) if error.code() == Code::Cancelled => Err(error),
        Err(error) => Ok((failure_preview(&error, Vec::new()), Vec::new())),
        found => found,
    }
}

/// The size of the compared contents, in bytes.
fn size(effect: &FileEffect) -> u64 {
    let contents = [&effect.before_bytes, &effect.after_bytes];
    contents.into_iter().flatten().map(|bytes| bytes.len() as u64).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::parse;

    /// Writes `a`, creates `a`, which exists then, and creates `b`.
    const PLAN: &str = r#"{"plan_id": "p", "intent": "MUTATE", "steps": [
        {"step_id": "1", "tool": "file_write", "arguments": {"path": "a", "contents": "one\ntwo\n"}},
        {"step_id": "2", "tool": "file_create", "arguments": {"path": "a", "contents": "x\n"}},
        {"step_id": "3", "tool": "file_create", "arguments": {"path": "b", "contents": "x\n"}}
    ]}"#;

    fn plan() -> ShownPlan {
        parse(PLAN.as_bytes()).into_shown().unwrap()
    }

    fn failing(batch: &PreviewBatch) -> Vec<(usize, bool)> {
        batch.steps.iter().map(|(index, step)| (*index, step.failure.is_some())).collect()
    }

    #[test]
    fn steps_are_previewed_after_those_before_them() {
        let folder = tempfile::tempdir().unwrap();
        let (plan, policy, stop) = (plan(), Policy::default(), Arc::default());
        let batch =
            preview_batch(&plan, folder.path(), &policy, None, Box::default(), &stop).unwrap();
        assert_eq!(failing(&batch), [(0, false), (1, true), (2, false)]);
        assert!(batch.rest.is_none());
        assert_eq!(batch.steps[0].1.lines, Some((2, 0)));
        stop.set();
        let stopped = preview_batch(&plan, folder.path(), &policy, None, Box::default(), &stop);
        assert_eq!(stopped.unwrap_err().code(), Code::Cancelled);
    }

    #[test]
    fn batches_go_on_where_the_last_one_ended() {
        let folder = tempfile::tempdir().unwrap();
        let (plan, policy) = (plan(), Policy::default());
        let toolbox = open_tools(folder.path(), &policy, None, &Arc::default()).unwrap();
        let (mut all, mut position) = (Vec::new(), Some(Box::default()));
        let mut batches = 0;
        while let Some(from) = position.take() {
            let batch = batch_within(&plan, &toolbox, from, LIMITS, Duration::ZERO).unwrap();
            all.extend(failing(&batch));
            position = batch.rest;
            batches += 1;
        }
        assert_eq!((all, batches), (vec![(0, false), (1, true), (2, false)], 3));
    }

    #[test]
    fn each_limit_ends_the_previews() {
        let folder = tempfile::tempdir().unwrap();
        let (plan, policy) = (plan(), Policy::default());
        let toolbox = open_tools(folder.path(), &policy, None, &Arc::default()).unwrap();
        for limits in [
            Limits { steps: 1, ..LIMITS },
            Limits { bytes: 8, ..LIMITS },
            Limits { time: Duration::ZERO, ..LIMITS },
        ] {
            let batch = batch_within(&plan, &toolbox, Box::default(), limits, BATCH).unwrap();
            assert_eq!(failing(&batch), [(0, false)], "{limits:?}");
            assert!(batch.rest.is_none());
        }
    }
}
