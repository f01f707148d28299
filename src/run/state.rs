//! From events to what is true now; the same function serves the live run and a reopened one.

use uuid::Uuid;

use super::confirm::{ConfirmationRequest, Control};
use super::event::{RunEvent, Stream};
use super::host::Host;
use super::result::{Outcome, RunStatus, StepResult};
use super::steps::Steps;
use crate::plan::Code;

/// Where a run stands (SPEC §3).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Phase {
    /// Nothing was handed over.
    #[default]
    Idle,
    /// A step is under way.
    Running,
    /// A person is asked.
    AwaitingConfirmation(Box<ConfirmationRequest>),
    /// Waiting at a step boundary.
    Paused,
    /// It ended.
    Ended(RunStatus),
    /// It has no end and its process is gone: the outcome of the step that was under way is unknown.
    Interrupted,
}

/// What a row of the step list shows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum StepState {
    /// Not reached.
    #[default]
    Waiting,
    /// Under way.
    Running,
    /// Ended.
    Done(Box<StepResult>),
}

impl StepState {
    /// The outcome, once there is one.
    pub fn outcome(&self) -> Option<Outcome> {
        match self {
            Self::Done(result) => Some(result.outcome),
            Self::Waiting | Self::Running => None,
        }
    }
}

/// How much output of the step under way is kept for the inspector, in bytes: the latest, because it is
/// laid out anew whenever there is more. The whole goes into the evidence.
const LIVE_OUTPUT_BYTES: usize = 32 << 10;

/// A run as its events tell it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunState {
    /// The run, once it has started.
    pub run_id: Option<Uuid>,
    /// The plan it runs.
    pub plan_id: String,
    /// Where it stands.
    pub phase: Phase,
    /// One state for each step.
    pub steps: Steps,
    /// The step under way, or the number of steps that ended (SPEC §3: they are equal).
    pub current_step: usize,
    /// When it started, in Unix milliseconds.
    pub started_at_ms: i64,
    /// What a person asked for and is still to come.
    pub requested: Option<Control>,
    /// Whether a person made it a guided one while it ran (SPEC §7.4); the plan says how it began.
    pub became_guided: bool,
    /// The latest output of the step under way, in order of arrival.
    pub live_output: Vec<(Stream, String)>,
    /// How many bytes of it are in `live_output`.
    pub live_bytes: usize,
    /// How many bytes came before `live_output` and are left out of it.
    pub live_left_out: u64,
    /// For how long the step under way had printed nothing when that was noticed; none once it prints again.
    pub quiet_ms: Option<u64>,
    /// The host that it has reached, where its commands run on one.
    pub host: Option<Box<Host>>,
    /// Why it failed.
    pub failure: Option<(Code, String)>,
}

impl RunState {
    /// The state after one more event. Pure; events of another run are the caller's mistake.
    pub fn apply(&mut self, event: &RunEvent) {
        match event {
            RunEvent::RunStarted { run_id, plan_id, step_count, timestamp_ms } => {
                *self = Self {
                    run_id: Some(*run_id),
                    plan_id: plan_id.clone(),
                    phase: Phase::Running,
                    steps: Steps::waiting(*step_count),
                    started_at_ms: *timestamp_ms,
                    ..Self::default()
                };
            }
            RunEvent::HostReached { host } => self.host = Some(host.clone()),
            RunEvent::StepStarted { step_index, .. } => {
                self.current_step = *step_index;
                self.phase = Phase::Running;
                self.forget_output();
                self.steps.set(*step_index, StepState::Running);
            }
            RunEvent::StepOutput { stream, chunk, .. } => {
                self.add_output(*stream, chunk);
            }
            RunEvent::OutputLeftOut { bytes, .. } => {
                // What came before it is no longer next to what comes.
                self.live_left_out += self.live_bytes as u64 + bytes;
                self.live_output.clear();
                self.live_bytes = 0;
            }
            RunEvent::StepQuiet { quiet_ms, .. } => self.quiet_ms = Some(*quiet_ms),
            RunEvent::StepCompleted { result }
            | RunEvent::StepFailed { result }
            | RunEvent::StepSkipped { result, .. } => {
                self.steps.set(result.step_index, StepState::Done(result.clone()));
                self.current_step = result.step_index + 1;
                self.phase = Phase::Running;
                self.forget_output();
            }
            RunEvent::ConfirmationNeeded { request } => {
                self.phase = Phase::AwaitingConfirmation(request.clone());
            }
            RunEvent::ConfirmationDecided { .. } => self.phase = Phase::Running,
            RunEvent::Paused => {
                self.phase = Phase::Paused;
                self.requested = None;
            }
            RunEvent::Resumed => self.phase = Phase::Running,
            RunEvent::ControlRequested { control } => match control {
                Control::Resume => self.requested = None,
                Control::GoOnGuided => self.became_guided = true,
                _ => self.requested = Some(*control),
            },
            RunEvent::RunCompleted { .. } => self.end(RunStatus::Completed),
            RunEvent::RunFailed { code, message } => {
                self.failure = Some((*code, message.clone()));
                self.end(RunStatus::Failed);
            }
            RunEvent::RunCancelled { .. } => self.end(RunStatus::Cancelled),
            // What a loop does around its runs; [`super::LoopState`] tells that.
            RunEvent::LoopStarted { .. }
            | RunEvent::AttemptStarted { .. }
            | RunEvent::PlannerStarted { .. }
            | RunEvent::PlannerOutput { .. }
            | RunEvent::PlannerAnswered { .. }
            | RunEvent::PlanRevised { .. }
            | RunEvent::NoProgress { .. }
            | RunEvent::AuthorizationNeeded { .. }
            | RunEvent::AuthorizationDecided { .. }
            | RunEvent::VerifyStarted
            | RunEvent::AttemptEnded { .. }
            | RunEvent::BudgetWarning { .. }
            | RunEvent::LoopEnded { .. } => {}
        }
    }

    /// Marks a run that will send no more events although it has no end.
    pub fn interrupt(&mut self) {
        if !self.is_over() {
            self.phase = Phase::Interrupted;
            self.requested = None;
        }
    }

    /// Whether a worker is still busy with it.
    pub fn is_active(&self) -> bool {
        matches!(self.phase, Phase::Running | Phase::AwaitingConfirmation(_) | Phase::Paused)
    }

    /// Whether nothing more can happen in it.
    pub fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Ended(_) | Phase::Interrupted)
    }

    fn end(&mut self, status: RunStatus) {
        self.phase = Phase::Ended(status);
        self.requested = None;
    }

    fn add_output(&mut self, stream: Stream, chunk: &str) {
        self.quiet_ms = None;
        self.live_output.push((stream, chunk.to_owned()));
        self.live_bytes += chunk.len();
        // Not at every chunk, because each time all others move.
        if self.live_bytes > 2 * LIVE_OUTPUT_BYTES {
            let mut dropped = 0;
            while let Some((_, chunk)) = self.live_output.get(dropped)
                && self.live_bytes > LIVE_OUTPUT_BYTES
                && dropped + 1 < self.live_output.len()
            {
                self.live_bytes -= chunk.len();
                self.live_left_out += chunk.len() as u64;
                dropped += 1;
            }
            self.live_output.drain(..dropped);
        }
    }

    fn forget_output(&mut self) {
        self.live_output.clear();
        (self.live_bytes, self.live_left_out, self.quiet_ms) = (0, 0, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_endless_output_the_latest_is_kept_and_the_rest_counted() {
        let mut state = RunState::default();
        let chunk = "x".repeat(10_000);
        let output =
            |stream| RunEvent::StepOutput { step_id: "s".to_owned(), stream, chunk: chunk.clone() };
        for _ in 0..9_999 {
            state.apply(&output(Stream::Stdout));
        }
        state.apply(&output(Stream::Stderr));
        let kept: usize = state.live_output.iter().map(|(_, chunk)| chunk.len()).sum();
        let least = LIVE_OUTPUT_BYTES - chunk.len();
        assert!((least..=2 * LIVE_OUTPUT_BYTES).contains(&kept), "{kept}");
        assert_eq!(kept as u64 + state.live_left_out, 100_000_000);
        assert_eq!(state.live_output.last().map(|(stream, _)| *stream), Some(Stream::Stderr));
        state.apply(&RunEvent::StepStarted {
            step_id: "t".to_owned(),
            step_index: 1,
            timestamp_ms: 0,
        });
        assert_eq!((state.live_output.len(), state.live_left_out), (0, 0));
    }
}
