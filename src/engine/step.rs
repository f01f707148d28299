//! One step of a run (SPEC §3): precondition, confirmation, intent, one tool call, record.

mod context;
mod inputs;
mod record;
mod request;

use std::collections::BTreeMap;

use uuid::Uuid;

use self::context::StepProgress;
pub(super) use self::context::StepRun;
use self::inputs::Inputs;
use self::request::Why;
use super::capture::Incoming;
use super::drift_check::not_as_shown;
use super::error::ExecutionError;
use super::simulation::would_fail;
use super::{preconditions, review, walls};
use crate::authorization::StepWalls;
use crate::evidence::{Entry, EvidenceError, IntentRecord, StepDecision};
use crate::plan::{Code, ToolClass};
use crate::risk::Verdict;
use crate::run::{Answer, Decision, Failure, FileEffect, Outcome, Preview, RunEvent, StepResult};
use crate::tools::Context;

type Stopped = (Outcome, Option<ExecutionError>);

/// The end of a step that a person stopped.
fn cancelled() -> Stopped {
    (Outcome::Cancelled, Some(ExecutionError::Cancelled))
}

impl StepRun<'_, '_> {
    /// Runs the step and records it. Returns its result, and the failure if it ends the run.
    ///
    /// # Errors
    /// Only when the evidence cannot be written.
    pub(super) fn execute(mut self) -> Result<(StepResult, Option<Failure>), EvidenceError> {
        let timestamp_ms = self.run.clock.now_ms();
        self.run.journal.tell(&RunEvent::StepStarted {
            step_id: self.step.step_id.clone(),
            step_index: self.step.step_index,
            tool_name: self.step.tool_name.clone(),
            about: self.step.call.headline().1,
            timestamp_ms,
        });
        let toolbox = &self.run.runnable.toolbox;
        let policy = &self.run.deps.policy;
        let verdict = review::judge(self.step, toolbox.now(), toolbox.shell(), policy);
        let verdict = walls::raised(verdict, self.walls());
        let mut progress =
            StepProgress { execution_id: Uuid::new_v4(), timestamp_ms, ..StepProgress::default() };
        let (outcome, error) = match self.until_invoked(&verdict, &mut progress)? {
            Some(stopped) => stopped,
            None => self.invoke(&mut progress),
        };
        self.record(&verdict, progress, outcome, error)
    }

    /// Everything before the call of the tool; `Some` if the tool must not be called.
    fn until_invoked(
        &mut self,
        verdict: &Verdict,
        progress: &mut StepProgress,
    ) -> Result<Option<Stopped>, EvidenceError> {
        if self.is_skipped_with_its_command() {
            return Ok(Some((Outcome::Skipped, None)));
        }
        let toolbox = &self.run.runnable.toolbox;
        let now = preconditions::Now {
            after: toolbox.now(),
            toolbox,
            outcomes: &self.run.outcomes,
            stop: self.run.deps.control.stop_signal(),
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
            // The person has seen this state, so it counts as the approved one from now on.
            self.run.expected.extend(changed.unwrap_or_default());
            // The dialog may have been open for long.
            if let Inputs::Stale(error) = self.inputs() {
                return Ok(Some((Outcome::Failed, Some(error))));
            }
        }
        if self.step.call.class() != ToolClass::Read {
            self.commit_intent(verdict, progress)?;
        }
        Ok(None)
    }

    /// Whether the step verifies a command that a person has skipped (SPEC §1.2).
    fn is_skipped_with_its_command(&self) -> bool {
        let before = self.step.step_index.checked_sub(1);
        self.step.is_verification()
            && before
                .and_then(|index| self.run.runnable.plan.steps.get(index))
                .and_then(|command| self.run.outcomes.get(&command.step_id))
                .is_some_and(|outcome| *outcome == Outcome::Skipped)
    }

    /// Asks a person; `Some` if the step must not run.
    fn confirm(
        &mut self,
        verdict: &Verdict,
        why: Why,
        progress: &mut StepProgress,
    ) -> Option<Stopped> {
        let (preview, predicted) = self.preview();
        progress.predicted = predicted;
        progress.preview = Some(preview.clone());
        if self.run.deps.control.is_stopped() {
            return Some(cancelled());
        }
        let request = self.request(verdict, why, preview);
        self.run.journal.tell(&RunEvent::ConfirmationNeeded { request: Box::new(request.clone()) });
        let confirmation = &self.run.deps.confirmation;
        let before = if request.guided { self.covered_files() } else { BTreeMap::new() };
        let decision = confirmation.request_confirmation(&request);
        // An answer that was not offered counts as a denial.
        let decision = if request.offers(decision) { decision } else { Decision::Cancel };
        let provenance = confirmation.provenance();
        if self.run.deps.control.is_stopped() {
            return Some(cancelled());
        }
        let answer = Answer { decision, by: provenance.by, note: provenance.note };
        self.run.journal.tell(&RunEvent::ConfirmationDecided {
            step_id: self.step.step_id.clone(),
            answer: answer.clone(),
        });
        let note = answer.note.clone();
        let timestamp_ms = self.run.clock.now_ms();
        progress.decision = Some(StepDecision { request, answer, timestamp_ms });
        match decision {
            Decision::Approve => None,
            Decision::Skip => Some((Outcome::Skipped, None)),
            Decision::DoneByHand => {
                self.note_changes(&before);
                Some((Outcome::DoneByHand, None))
            }
            Decision::Cancel => {
                let step_id = self.step.step_id.clone();
                Some((Outcome::Denied, Some(ExecutionError::ConfirmationDenied { step_id, note })))
            }
        }
    }

    /// The preview of the call. If it cannot be computed, the call will fail with its own error.
    fn preview(&self) -> (Preview, Vec<FileEffect>) {
        let stop = self.run.deps.control.stop_signal();
        let preview = self.run.runnable.toolbox.preview_with_effects(&self.step.call, stop);
        preview.unwrap_or_else(|error| (would_fail(error, Vec::new()), Vec::new()))
    }

    /// Commits the intent. No effect happens before this returns (DESIGN invariant 3).
    fn commit_intent(
        &mut self,
        verdict: &Verdict,
        progress: &mut StepProgress,
    ) -> Result<(), EvidenceError> {
        // Computed again, because the dialog may have been open for long; the preview that was shown is recorded.
        let (preview, predicted) = self.preview();
        progress.predicted = predicted;
        progress.preview.get_or_insert(preview);
        self.run.journal.commit(&Entry::Intent(IntentRecord {
            execution_id: progress.execution_id,
            run_id: self.run.run_id,
            step: self.step,
            risk: verdict,
            timestamp_ms: progress.timestamp_ms,
            host: self.run.runnable.plan.target.as_deref(),
            walls: self.walls(),
            files: &progress.predicted,
            decision: progress.decision.as_ref(),
        }))?;
        progress.decision_recorded = true;
        Ok(())
    }

    /// Calls exactly one tool with exactly the plan's arguments.
    fn invoke(&mut self, progress: &mut StepProgress) -> Stopped {
        let changes = self.step.call.may_change_anything();
        let before = if changes { self.covered_files() } else { BTreeMap::new() };
        let started_ms = self.run.deps.clock.monotonic_ms();
        let journal = &*self.run.journal;
        let incoming = Incoming::new(journal.store.capture(), journal, self.step);
        let mut invocation = self.run.runnable.toolbox.invoke(
            &self.step.call,
            &Context {
                expected: &self.run.expected,
                stop: self.run.deps.control.stop_signal(),
                execution_id: progress.execution_id,
                output: &|stream, chunk| {
                    journal.tell(&RunEvent::StepOutput {
                        step_id: self.step.step_id.clone(),
                        stream,
                        chunk: chunk.to_owned(),
                    });
                },
                capture: &incoming,
                walls: self.walls().unwrap_or(StepWalls::NONE),
            },
        );
        progress.taken = Some(incoming.finish());
        progress.duration_ms = self.run.deps.clock.monotonic_ms() - started_ms;
        self.note_changes(&before);
        for FileEffect { path, after, .. } in
            invocation.files.iter().chain(&invocation.side_effects)
        {
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
