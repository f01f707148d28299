//! Sessions for runs from the evidence. One that is under way belongs to another window or command, and is only followed.

use std::path::PathBuf;

use super::{PlanPage, PlanSession};
use crate::app::shared::Shared;
use crate::run::{Phase, RunFate, RunState};
use crate::ui::plan::{Approval, RecordedRun, RunOutput};
use crate::worker::{OpenedPlan, ReadRunAgain, ReplayedRun};

/// The state of a run from the evidence.
fn state_of(replayed: &ReplayedRun) -> RunState {
    let mut run = RunState::default();
    for event in &replayed.events {
        run.apply(event);
    }
    run.run_id = Some(replayed.summary.run_id);
    if replayed.summary.fate == RunFate::Interrupted {
        run.interrupt();
    }
    run
}

/// The step that ended the run; without an end, the step that is under way or whose outcome is unknown.
fn step_to_show(run: &RunState) -> Option<usize> {
    let has_end = matches!(run.phase, Phase::Ended(_));
    let current = (!has_end && run.current_step < run.steps.len()).then_some(run.current_step);
    run.steps.stopped_at().or(current)
}

impl PlanSession {
    /// A session for a recorded run.
    pub fn from_replayed(replayed: ReplayedRun) -> Self {
        let run = state_of(&replayed);
        let mut output = RunOutput::default();
        for event in &replayed.events {
            output.transcript.apply(event);
        }
        let selected = step_to_show(&run);
        let summary = replayed.summary;
        let opened = OpenedPlan {
            plan: replayed.plan,
            digest: summary.plan_digest,
            continues: summary.parent_run,
            ..OpenedPlan::without_plan(PathBuf::new())
        };
        let mut session = Self {
            approval: Approval::Recorded,
            elapsed_ms: summary.ended_at_ms.map(|end| end - summary.started_at_ms),
            recorded: Some(RecordedRun {
                started_at_ms: summary.started_at_ms,
                workspace: summary.workspace.clone(),
                host: summary.target.clone(),
                risks: replayed.risks,
                judged: replayed.judged,
                decisions: replayed.decisions,
            }),
            run,
            output,
            ..Self::from_opened(opened, Some(summary.workspace.into()))
        };
        if let Some(selected) = selected {
            session.pane.select(selected);
        }
        session
    }

    /// Whether the run of this session is under way in this window.
    pub fn runs_here(&self) -> bool {
        self.run.is_active() && self.approval != Approval::Recorded
    }

    /// Whether the run of this session is under way in another window or command. It can only be looked at.
    pub fn runs_elsewhere(&self) -> bool {
        self.run.is_active() && self.approval == Approval::Recorded
    }

    /// Shows what the evidence has now of a run that is under way elsewhere. What the person chose on the page stays.
    fn follow_evidence(&mut self, replayed: ReplayedRun) {
        // Most readings find nothing new.
        if state_of(&replayed) == self.run {
            return;
        }
        let now = Self::from_replayed(replayed);
        self.run = now.run;
        self.elapsed_ms = now.elapsed_ms;
        self.output.transcript = now.output.transcript;
        self.recorded = now.recorded;
        if let Some(step) = step_to_show(&self.run) {
            self.pane.follow(step);
        }
    }
}

impl PlanPage {
    /// Whether the shown run is under way in another window or command.
    pub(in crate::app) fn shows_run_elsewhere(&self) -> bool {
        self.shown.as_ref().is_some_and(PlanSession::runs_elsewhere)
    }

    /// Reads the shown run again, if it is under way in another window or command.
    pub(in crate::app) fn follow_elsewhere(&self, shared: &mut Shared) {
        let shown = self.shown.as_ref().filter(|session| session.runs_elsewhere());
        let Some(run_id) = shown.and_then(|session| session.run.run_id) else { return };
        shared.query(ReadRunAgain(run_id), move |app, replayed| {
            // The person may have opened something else meanwhile.
            let is_shown =
                |it: &&mut PlanSession| it.run.run_id == Some(run_id) && it.runs_elsewhere();
            if let Some(session) = app.plan.shown.as_mut().filter(is_shown) {
                session.follow_evidence(replayed);
            }
        });
    }
}
