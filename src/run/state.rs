//! From events to the state of a run, live or replayed.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::confirm::{ConfirmationRequest, Control};
use super::event::RunEvent;
use super::host::Host;
use super::result::{RunStatus, StepResult};
use super::steps::{StepState, Steps};
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
    /// Its process ended without recording an end: the outcome of the step under way is unknown.
    Interrupted,
}

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
    /// Whether a step has begun since: until then, the one under way is the last that nobody is asked about.
    pub guided_begun: bool,
    /// Why steps were skipped, where there is a word about it.
    pub skip_reasons: BTreeMap<usize, String>,
    /// The host that it has reached, where its commands run on one.
    pub host: Option<Box<Host>>,
    /// What steps had left running behind their walls, and was ended with the run.
    pub left_running: Vec<String>,
    /// Why it failed.
    pub failure: Option<(Code, String)>,
}

impl RunState {
    /// Applies one event. Pure; the caller passes events of this run only.
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
            RunEvent::LeftRunning { processes } => self.left_running.clone_from(processes),
            RunEvent::StepStarted { step_index, .. } => {
                self.current_step = *step_index;
                self.guided_begun = self.became_guided;
                self.phase = Phase::Running;
                self.steps.set(*step_index, StepState::Running);
            }
            RunEvent::StepCompleted { result } | RunEvent::StepFailed { result } => {
                self.end_step(result);
            }
            RunEvent::StepSkipped { result, reason } => {
                self.end_step(result);
                if !reason.is_empty() {
                    self.skip_reasons.insert(result.step_index, reason.clone());
                }
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
            // Output is for `Transcript`, and what a loop does around its runs for `LoopState`.
            _ => {}
        }
    }

    /// Marks a run without an end that will send no more events.
    pub fn interrupt(&mut self) {
        if !self.is_over() {
            self.phase = Phase::Interrupted;
            self.requested = None;
        }
    }

    /// Whether it is still running.
    pub fn is_active(&self) -> bool {
        matches!(self.phase, Phase::Running | Phase::AwaitingConfirmation(_) | Phase::Paused)
    }

    /// Whether nothing more can happen in it.
    pub fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Ended(_) | Phase::Interrupted)
    }

    fn end_step(&mut self, result: &StepResult) {
        self.steps.set(result.step_index, StepState::Done(Box::new(result.clone())));
        self.current_step = result.step_index + 1;
        self.phase = Phase::Running;
    }

    fn end(&mut self, status: RunStatus) {
        self.phase = Phase::Ended(status);
        self.requested = None;
    }
}
