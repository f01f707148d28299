//! One step (SPEC §3): precondition, confirmation, intent, one tool call, record.

mod inputs;
mod record;
mod request;

use std::collections::BTreeMap;

use uuid::Uuid;

use self::inputs::Inputs;
use self::request::Why;
use super::capture::Incoming;
use super::error::ExecutionError;
use super::executor::{Executor, Run};
use super::runnable::Runnable;
use super::shown::not_as_shown;
use super::{preconditions, review, walls};
use crate::authorization::StepWalls;
use crate::evidence::{Decided, EvidenceError, IntentRecord, NewDecision, Taken};
use crate::plan::{Code, Step, ToolClass};
use crate::risk::Verdict;
use crate::run::{
    Answer, ConfirmationRequest, Control, Decision, Failure, FileEffect, Outcome, Predicted,
    Preview, RunEvent, StepResult,
};
use crate::tools::{Context, Invocation};

/// How the steps of a run came to an end.
pub(super) enum Ended {
    /// The plan was through.
    Completed,
    /// At this failure.
    Failed(Failure),
    /// A person asked for it.
    ByPerson(Control),
}

/// One step of one run.
pub(super) struct StepRun<'a, 'r> {
    pub(super) executor: &'a mut Executor,
    pub(super) run: &'a mut Run<'r>,
    pub(super) step: &'a Step,
}

/// The answer to a confirmation, kept until it is recorded with the step.
struct Answered {
    request: ConfirmationRequest,
    answer: Answer,
    timestamp_ms: i64,
}

impl Answered {
    fn record(&self) -> NewDecision<'_> {
        NewDecision {
            decided: Decided::Answer(self.answer.decision),
            by: self.answer.by,
            note: &self.answer.note,
            timestamp_ms: self.timestamp_ms,
            request: Some(&self.request),
        }
    }
}

/// How far a step came.
#[derive(Default)]
struct Progress {
    execution_id: Uuid,
    timestamp_ms: i64,
    duration_ms: i64,
    answered: Option<Answered>,
    /// Whether the answer went into the evidence with the intent.
    answer_recorded: bool,
    invocation: Option<Invocation>,
    /// What a program printed, on its way into the evidence; or why that could not be kept.
    taken: Option<Result<Taken, EvidenceError>>,
    /// What the step would do, computed just before it did.
    preview: Option<Preview>,
    /// The same with the exact contents, which the evidence looks at for secrets.
    predicted: Vec<FileEffect>,
}

type Stopped = (Outcome, Option<ExecutionError>);

/// The end of a step that a person stopped.
fn cancelled() -> Stopped {
    (Outcome::Cancelled, Some(ExecutionError::Cancelled))
}

impl<'r> StepRun<'_, 'r> {
    /// The approved walls of the step; none where it starts no process on this computer.
    fn walls(&self) -> Option<&'r StepWalls> {
        let runnable: &'r Runnable = self.run.runnable;
        let walls = runnable.authorization.binding.walls.as_ref()?;
        walls.get(self.step.step_index)?.as_ref()
    }
}

impl StepRun<'_, '_> {
    /// Runs the step and records it. The failure is what ends the run, if this step does.
    ///
    /// # Errors
    /// Only when the evidence could not be written.
    pub(super) fn execute(mut self) -> Result<(StepResult, Option<Failure>), EvidenceError> {
        let timestamp_ms = self.run.clock.now_ms();
        self.executor.emit(&RunEvent::StepStarted {
            step_id: self.step.step_id.clone(),
            step_index: self.step.step_index,
            timestamp_ms,
        });
        self.executor.parts.progress.on_step_start(self.step);
        let toolbox = &self.run.runnable.toolbox;
        let policy = &self.executor.parts.policy;
        let verdict = review::judge(self.step, toolbox.now(), toolbox.shell(), policy);
        let verdict = walls::raised(verdict, self.walls());
        let mut progress =
            Progress { execution_id: Uuid::new_v4(), timestamp_ms, ..Progress::default() };
        let (outcome, error) = match self.until_invoked(&verdict, &mut progress)? {
            Some(stopped) => stopped,
            None => self.invoke(&mut progress),
        };
        self.record(&verdict, progress, outcome, error)
    }

    /// Everything before the tool is called; `Some` when it must not be.
    fn until_invoked(
        &mut self,
        verdict: &Verdict,
        progress: &mut Progress,
    ) -> Result<Option<Stopped>, EvidenceError> {
        if self.is_skipped_with_its_command() {
            return Ok(Some((Outcome::Skipped, None)));
        }
        let toolbox = &self.run.runnable.toolbox;
        let now = preconditions::Now {
            after: toolbox.now(),
            toolbox,
            outcomes: &self.run.outcomes,
            stop: self.executor.parts.control.stop_signal(),
        };
        match preconditions::check(self.step, &self.step.call, &now) {
            Ok(_) => {}
            Err(error) if error.code() == Code::Cancelled => return Ok(Some(cancelled())),
            Err(error) => return Ok(Some((Outcome::PreconditionFailed, Some(error)))),
        }
        let changed = match self.inputs() {
            Inputs::AsApproved => None,
            Inputs::ChangedByRun(changed) => Some(changed),
            Inputs::Stale(error) => return Ok(Some((Outcome::Failed, Some(error)))),
        };
        if let Some(error) = self.too_dangerous(verdict) {
            return Ok(Some((Outcome::Failed, Some(error))));
        }
        if let Some(why) = self.why(verdict, changed.as_ref()) {
            if let Some(stopped) = self.confirm(verdict, why, progress) {
                return Ok(Some(stopped));
            }
            // What they were shown is what is approved from now on.
            self.run.expected.extend(changed.unwrap_or_default());
            // A person may have looked at it for long.
            if let Inputs::Stale(error) = self.inputs() {
                return Ok(Some((Outcome::Failed, Some(error))));
            }
        }
        if self.step.call.class() != ToolClass::Read {
            self.commit_intent(verdict, progress)?;
        }
        Ok(None)
    }

    /// Whether this verifies a command that a person has skipped (SPEC §1.2).
    fn is_skipped_with_its_command(&self) -> bool {
        let before = self.step.step_index.checked_sub(1);
        self.step.is_verification()
            && before
                .and_then(|index| self.run.runnable.plan.steps.get(index))
                .and_then(|command| self.run.outcomes.get(&command.step_id))
                .is_some_and(|outcome| *outcome == Outcome::Skipped)
    }

    /// Asks a person; `Some` when the step must not run.
    fn confirm(&mut self, verdict: &Verdict, why: Why, progress: &mut Progress) -> Option<Stopped> {
        let (preview, predicted) = self.foresee();
        progress.predicted = predicted;
        progress.preview = Some(preview.clone());
        if self.executor.parts.control.is_stopped() {
            return Some(cancelled());
        }
        let request = self.request(verdict, why, preview);
        self.executor.emit(&RunEvent::ConfirmationNeeded { request: Box::new(request.clone()) });
        let confirmation = &self.executor.parts.confirmation;
        let before = if request.guided { self.covered_files() } else { BTreeMap::new() };
        let decision = confirmation.request_confirmation(&request);
        // What was not offered cannot have been meant.
        let decision = if request.offers(decision) { decision } else { Decision::Cancel };
        let provenance = confirmation.provenance();
        if self.executor.parts.control.is_stopped() {
            return Some(cancelled());
        }
        let answer = Answer { decision, by: provenance.by, note: provenance.note };
        self.executor.emit(&RunEvent::ConfirmationDecided {
            step_id: self.step.step_id.clone(),
            answer: answer.clone(),
        });
        let note = answer.note.clone();
        let timestamp_ms = self.run.clock.now_ms();
        progress.answered = Some(Answered { request, answer, timestamp_ms });
        if decision == Decision::DoneByHand {
            self.note_changes(&before);
        }
        match decision {
            Decision::Approve => None,
            Decision::Skip => Some((Outcome::Skipped, None)),
            Decision::DoneByHand => Some((Outcome::DoneByHand, None)),
            Decision::Cancel => Some((
                Outcome::Denied,
                Some(ExecutionError::ConfirmationDenied {
                    step_id: self.step.step_id.clone(),
                    note,
                }),
            )),
        }
    }

    /// What the call would do. Where nothing can be predicted, it is going to fail, and says why itself.
    fn foresee(&self) -> (Preview, Vec<FileEffect>) {
        let stop = self.executor.parts.control.stop_signal();
        self.run.runnable.toolbox.foresee(&self.step.call, stop).unwrap_or_else(|error| {
            let failing = Preview {
                predicted: Predicted::Unpredictable,
                summary: format!("{}{error}.", Preview::WOULD_FAIL),
                changes: Vec::new(),
                notes: Vec::new(),
            };
            (failing, Vec::new())
        })
    }

    /// Nothing has an effect before this has returned (DESIGN invariant 3).
    fn commit_intent(
        &mut self,
        verdict: &Verdict,
        progress: &mut Progress,
    ) -> Result<(), EvidenceError> {
        // Computed anew where a person has looked for long; they were shown what is kept as the preview.
        let (preview, predicted) = self.foresee();
        progress.predicted = predicted;
        progress.preview.get_or_insert(preview);
        let decisions: Vec<_> = progress.answered.iter().map(Answered::record).collect();
        self.executor.store.record_intent(&IntentRecord {
            execution_id: progress.execution_id,
            run_id: self.run.run_id,
            step: self.step,
            risk: verdict,
            timestamp_ms: progress.timestamp_ms,
            host: self.run.runnable.plan.target.as_deref(),
            walls: self.walls(),
            files: &progress.predicted,
            decisions: &decisions,
        })?;
        progress.answer_recorded = true;
        Ok(())
    }

    /// Calls exactly one tool with exactly the plan's arguments.
    fn invoke(&mut self, progress: &mut Progress) -> Stopped {
        let before = if self.step.call.may_change_anything() {
            self.covered_files()
        } else {
            BTreeMap::new()
        };
        let parts = &self.executor.parts;
        let started_ms = self.run.clock.monotonic_ms();
        let incoming = Incoming::new(self.executor.store.intake(), &*parts.progress, self.step);
        let mut invocation = self.run.runnable.toolbox.invoke(
            &self.step.call,
            &Context {
                expected: &self.run.expected,
                stop: parts.control.stop_signal(),
                execution_id: progress.execution_id,
                output: &|stream, chunk| {
                    parts.progress.on_event(&RunEvent::StepOutput {
                        step_id: self.step.step_id.clone(),
                        stream,
                        chunk: chunk.to_owned(),
                    });
                    parts.progress.on_step_output(self.step, stream, chunk);
                },
                capture: &incoming,
                walls: self.walls().unwrap_or(StepWalls::NONE),
            },
        );
        progress.taken = Some(incoming.finish());
        progress.duration_ms = self.run.clock.monotonic_ms() - started_ms;
        self.note_changes(&before);
        for FileEffect { path, after, .. } in invocation.files.iter().chain(&invocation.beside) {
            self.run.expected.insert(path.clone(), *after);
        }
        let error = invocation.error.take().map(ExecutionError::from);
        let error = error.or_else(|| not_as_shown(&progress.predicted, &invocation.files));
        progress.invocation = Some(invocation);
        match error {
            None => (Outcome::Succeeded, None),
            Some(error) if error.code() == Code::Cancelled => cancelled(),
            Some(error) => (Outcome::Failed, Some(error)),
        }
    }
}
