//! One step of a run (SPEC §3): precondition, confirmation, intent, one tool call, record.

mod context;
mod fleet;
mod inputs;
mod record;
mod request;

use std::collections::BTreeMap;

use uuid::Uuid;

use self::context::StepProgress;
pub(super) use self::context::StepRun;
pub(super) use self::fleet::run_on_fleet;
use self::inputs::Inputs;
use self::request::StepReason;
use super::capture::StepCapture;
use super::commands::ReviewCommands;
use super::drift_check::drift_error;
use super::simulation::failure_preview;
use super::{ExecutionError, preconditions, review, walls};
use crate::authorization::StepWalls;
use crate::evidence::{Entry, EvidenceError, IntentRecord, StepDecision};
use crate::plan::{Code, ToolCall, ToolClass};
use crate::risk::Verdict;
use crate::run::{Answer, Decision, Failure, FileEffect, Outcome, Preview, RunEvent, StepResult};
use crate::tools::{Context, ShellError, ToolError};

/// The outcome of a step, and its error if it failed.
type StepEnd = (Outcome, Option<ExecutionError>);

/// The end of a step that a person stopped.
fn cancelled() -> StepEnd {
    (Outcome::Cancelled, Some(ExecutionError::Cancelled))
}

impl StepRun<'_, '_> {
    /// Runs the step and records it. Returns its result, and the failure that ends the run, if any.
    ///
    /// # Errors
    /// Only when the evidence cannot be written.
    pub(super) fn execute(mut self) -> Result<(StepResult, Option<Failure>), EvidenceError> {
        let timestamp_ms = self.run.clock.now_ms();
        self.send_start(timestamp_ms);
        let verdict = self.verdict();
        let mut progress =
            StepProgress { execution_id: Uuid::new_v4(), timestamp_ms, ..StepProgress::default() };
        let (outcome, error) = match self.prepare(&verdict, &mut progress)? {
            Some(end) => end,
            None => {
                let end = self.invoke(&mut progress);
                self.run.cut_off_if_wanted(self.step.step_index);
                end
            }
        };
        self.record(&verdict, progress, outcome, error)
    }

    fn send_start(&self, timestamp_ms: i64) {
        self.run.journal.send(&RunEvent::StepStarted {
            step_id: self.step.step_id.clone(),
            step_index: self.step.step_index,
            tool_name: self.step.tool_name.clone(),
            about: self.step.call.headline().1,
            timestamp_ms,
        });
    }

    /// The risk of the step now.
    fn verdict(&self) -> Verdict {
        let toolbox = &self.run.runnable.toolbox;
        let policy = &review::with_surroundings(&self.run.deps.policy, toolbox);
        let verdict =
            review::step_risk(self.step, toolbox.now(), &ReviewCommands::new(toolbox), policy);
        walls::raised(verdict, self.walls)
    }

    /// Checks the step, asks a person where needed, and commits the intent; `Some` if the tool must not be called.
    fn prepare(
        &mut self,
        verdict: &Verdict,
        progress: &mut StepProgress,
    ) -> Result<Option<StepEnd>, EvidenceError> {
        if let Some(end) = self.check(verdict, progress, false)? {
            return Ok(Some(end));
        }
        if self.step.call.class() == ToolClass::Read {
            self.run.journal.flush()?;
        } else {
            self.commit_intent(verdict, progress)?;
        }
        Ok(None)
    }

    /// Checks the step, and asks a person where needed; `Some` if the tool must not be called. With `early`, other steps
    /// run before this one does, so that it begins only for a question.
    fn check(
        &mut self,
        verdict: &Verdict,
        progress: &mut StepProgress,
        early: bool,
    ) -> Result<Option<StepEnd>, EvidenceError> {
        if self.is_skipped_with_its_command() {
            return Ok(Some((Outcome::Skipped, None)));
        }
        let toolbox = &self.run.runnable.toolbox;
        let now = toolbox.now().until(self.run.deps.control.stop_signal());
        match preconditions::check(self.step, &self.step.call, now, &self.run.outcomes) {
            Ok(_) => {}
            Err(error) if error.code() == Code::Cancelled => return Ok(Some(cancelled())),
            Err(error) => return Ok(Some((Outcome::PreconditionFailed, Some(error)))),
        }
        let changed = match self.inputs() {
            Inputs::AsApproved => None,
            Inputs::ChangedByRun(changed) => Some(changed),
            Inputs::Stale(error) => return Ok(Some((Outcome::Failed, Some(error)))),
        };
        if let Some(error) = self.risk_error(verdict) {
            return Ok(Some((Outcome::Failed, Some(error))));
        }
        if self.wants_terminal() && self.run.deps.terminal.is_none() {
            let error = ToolError::from(ShellError::NoTerminal);
            return Ok(Some((Outcome::Failed, Some(error.into()))));
        }
        if let Some(reason) = self.confirmation_reason(verdict, changed.as_ref()) {
            self.run.journal.flush()?;
            if early {
                self.send_start(progress.timestamp_ms);
            }
            if let Some(end) = self.confirm(verdict, reason, progress) {
                return Ok(Some(end));
            }
            // The person has seen this state of the files, so it counts as the approved one from now on.
            self.run.expected.extend(changed.unwrap_or_default());
            // The dialog may have been open for long.
            if let Inputs::Stale(error) = self.inputs() {
                return Ok(Some((Outcome::Failed, Some(error))));
            }
        }
        Ok(None)
    }

    /// Whether the step runs in a terminal, on this computer or on another host.
    fn wants_terminal(&self) -> bool {
        let is_remote = matches!(self.step.call, ToolCall::Shell { target: Some(_), .. });
        let needs = self.step.needs.as_ref();
        self.walls.is_some_and(|walls| walls.terminal)
            || is_remote && needs.is_some_and(|needs| needs.terminal)
    }

    /// Whether the step verifies a command that a person has skipped (SPEC §1.2).
    fn is_skipped_with_its_command(&self) -> bool {
        let previous = self.step.step_index.checked_sub(1);
        self.step.is_verification()
            && previous
                .and_then(|index| self.run.runnable.plan.steps.get(index))
                .and_then(|command| self.run.outcomes.get(&command.step_id))
                .is_some_and(|outcome| *outcome == Outcome::Skipped)
    }

    /// Asks a person; `Some` if the step must not run.
    fn confirm(
        &mut self,
        verdict: &Verdict,
        reason: StepReason,
        progress: &mut StepProgress,
    ) -> Option<StepEnd> {
        let (preview, predicted) = self.preview();
        progress.predicted = predicted;
        progress.preview = Some(preview.clone());
        if self.run.deps.control.is_stopped() {
            return Some(cancelled());
        }
        let request = self.request(verdict, reason, preview);
        self.run.journal.send(&RunEvent::ConfirmationNeeded { request: Box::new(request.clone()) });
        let confirmation = &self.run.deps.confirmation;
        let before = if request.guided { self.covered_files() } else { BTreeMap::new() };
        let decision = confirmation.request_confirmation(&request);
        // An answer that was not offered counts as a denial.
        let decision = if request.offers(decision) { decision } else { Decision::Cancel };
        let provenance = confirmation.provenance();
        if self.run.deps.control.is_stopped() {
            return Some((Outcome::Cancelled, Some(ExecutionError::QuestionStopped)));
        }
        let answer = Answer { decision, by: provenance.by, note: provenance.note };
        self.run.journal.send(&RunEvent::ConfirmationDecided {
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
                Some((Outcome::Denied, Some(ExecutionError::ConfirmationDenied { note })))
            }
        }
    }

    /// The preview of the call, and its predicted changes with exact contents. An error becomes the preview of a
    /// failure, because the call will fail too.
    fn preview(&self) -> (Preview, Vec<FileEffect>) {
        let stop = self.run.deps.control.stop_signal();
        let preview = self.run.runnable.toolbox.preview_with_effects(&self.step.call, stop);
        preview.unwrap_or_else(|error| (failure_preview(error, Vec::new()), Vec::new()))
    }

    /// Commits the intent. No effect happens before this returns (DESIGN invariant 3).
    fn commit_intent(
        &mut self,
        verdict: &Verdict,
        progress: &mut StepProgress,
    ) -> Result<(), EvidenceError> {
        // Predicted again, because the dialog may have been open for long. The preview that was shown is recorded.
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
            walls: self.walls,
            files: &progress.predicted,
            decision: progress.decision.as_ref(),
        }))?;
        progress.decision_recorded = true;
        Ok(())
    }

    /// Calls exactly one tool with exactly the plan's arguments.
    fn invoke(&mut self, progress: &mut StepProgress) -> StepEnd {
        let may_change = self.step.call.may_change_anything();
        let before = if may_change { self.covered_files() } else { BTreeMap::new() };
        let started_ms = self.run.deps.clock.monotonic_ms();
        let journal = &*self.run.journal;
        let walls = self.walls.unwrap_or(StepWalls::NONE);
        let port = self.run.deps.terminal.as_ref().filter(|_| self.wants_terminal());
        let terminal = port.map(|port| port.open(self.run.run_id, self.step.step_index));
        progress.had_terminal = terminal.is_some();
        if let Some(terminal) = &terminal {
            let (step_id, size) = (self.step.step_id.clone(), terminal.size);
            journal.send(&RunEvent::TerminalOpened { step_id, size });
        }
        let capture = StepCapture::new(journal.store.capture(), journal, self.step);
        let mut invocation = self.run.runnable.toolbox.invoke(
            &self.step.call,
            &Context {
                expected: &self.run.expected,
                stop: self.run.deps.control.stop_signal(),
                execution_id: progress.execution_id,
                output: &|stream, chunk| {
                    journal.send(&RunEvent::StepOutput {
                        step_id: self.step.step_id.clone(),
                        stream,
                        chunk: chunk.to_owned(),
                    });
                },
                capture: &capture,
                walls,
                terminal: terminal.as_ref(),
            },
        );
        progress.captured = Some(capture.finish());
        progress.duration_ms = self.run.deps.clock.monotonic_ms() - started_ms;
        self.note_changes(&before);
        for FileEffect { path, after, .. } in
            invocation.files.iter().chain(&invocation.side_effects)
        {
            self.run.expected.insert(path.clone(), *after);
        }
        let error = invocation.error.take().map(ExecutionError::from);
        let error = error.or_else(|| drift_error(&progress.predicted, &invocation.files));
        progress.invocation = Some(invocation);
        match error {
            None => (Outcome::Succeeded, None),
            Some(error) if error.code() == Code::Cancelled => cancelled(),
            Some(error) => (Outcome::Failed, Some(error)),
        }
    }
}
