//! Computes the state of a run, live or replayed, from its events.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::{
    ConfirmationRequest, Control, Host, HostTable, RunEvent, RunStatus, RunTally, StepResult,
    StepState, Steps,
};
use crate::plan::Code;

/// The current phase of a run (SPEC §3).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Phase {
    /// No run has started.
    #[default]
    Idle,
    /// The run is active: a step is running, or the next one is about to begin.
    Running,
    /// The run waits for an answer to this question.
    AwaitingConfirmation(Box<ConfirmationRequest>),
    /// The run waits at a step boundary.
    Paused,
    /// The run ended.
    Ended(RunStatus),
    /// The process of the run ended without recording an end. The outcome of a step that is still running is unknown.
    Interrupted,
}

/// The state of a run, computed from its events.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunState {
    /// The run, once it has started.
    pub run_id: Option<Uuid>,
    /// The plan it runs.
    pub plan_id: String,
    /// The current phase.
    pub phase: Phase,
    /// One state for each step.
    pub steps: Steps,
    /// The index of the current step, which equals the number of steps that have ended (SPEC §3).
    pub current_step: usize,
    /// The time of the start, in Unix milliseconds.
    pub started_at_ms: i64,
    /// The control that a person requested and that has not taken effect yet.
    pub requested: Option<Control>,
    /// Whether a person switched the run to guided mode while it ran (SPEC §7.4). The mode at the start is in the
    /// plan.
    pub became_guided: bool,
    /// Whether a step has begun since that switch. Until then the current step is the last one that is not guided.
    pub guided_begun: bool,
    /// The reasons of skipped steps, by step index; a step without a reason has no entry.
    pub skip_reasons: BTreeMap<usize, String>,
    /// The remote host, once it is reached.
    pub host: Option<Box<Host>>,
    /// The states of the hosts, if the plan runs on several.
    pub hosts: HostTable,
    /// The processes that steps had left running behind their walls and that were ended with the run.
    pub left_running: Vec<String>,
    /// The code and message of the failure, if the run failed.
    pub failure: Option<(Code, String)>,
}

impl RunState {
    /// Whether this step has begun and has no result: it is under way, or was when the run ended. A step that waits for an
    /// answer has not begun.
    pub fn has_begun_step(&self, index: usize) -> bool {
        matches!(self.steps.get(index), Some(StepState::Running))
            && !matches!(self.phase, Phase::AwaitingConfirmation(_))
    }

    /// Applies one event. The caller passes events of this run only.
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
            RunEvent::HostsKnown { hosts } => self.hosts = HostTable::new(hosts),
            RunEvent::HostStarted { host, step_index } => self.hosts.start(host, *step_index),
            RunEvent::HostEnded { result } => self.hosts.end(result),
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
            // `Transcript` handles output, and `LoopState` the events of a loop around its runs.
            _ => {}
        }
    }

    /// Marks a run that has no end and will send no more events as interrupted.
    pub fn interrupt(&mut self) {
        if !self.is_over() {
            // A step that waits for an answer has done nothing yet.
            if matches!(self.phase, Phase::AwaitingConfirmation(_)) {
                self.steps.set(self.current_step, StepState::Waiting);
            }
            self.phase = Phase::Interrupted;
            self.requested = None;
        }
    }

    /// Whether the run was interrupted during a step, whose outcome is unknown.
    pub fn is_uncertain(&self) -> bool {
        self.phase == Phase::Interrupted && self.tally().unknown > 0
    }

    /// How many steps ended in which way.
    pub fn tally(&self) -> RunTally {
        RunTally::of(&self.steps)
    }

    /// Whether the run has started and not ended.
    pub fn is_active(&self) -> bool {
        matches!(self.phase, Phase::Running | Phase::AwaitingConfirmation(_) | Phase::Paused)
    }

    /// Whether the run has ended or was interrupted.
    pub fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Ended(_) | Phase::Interrupted)
    }

    /// Whether the run is under way or over. Then its plan is no longer compared with the files: the steps themselves
    /// have changed them.
    pub fn has_begun(&self) -> bool {
        self.is_active() || self.is_over()
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
