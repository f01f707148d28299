//! The page of bounded loops: the form of a new loop, the loop that was started last, and a loop from the evidence.
//!
//! One view serves live and recorded loops, because both are a `run::LoopState`. No plan is authorized on this page:
//! the plan of an attempt becomes a session of the plan page (`src/app/plan_page/attempt.rs`) with the same action bar
//! and dialog as any plan. The decision about it is sent to the waiting executor thread and not to the query thread,
//! because the loop records it. The session of a plan that awaits a decision is kept when another plan is opened, and
//! a decision counts only while the dialog about that plan is shown. The verification of the loop is shown on this page
//! only; its session has no plan and serves only its confirmations.
//!
//! The folders in the form are checked by a query (`src/worker/loop_folders.rs`). It is sent when the form is shown or
//! filled in, after a pause in typing, when the window gets the focus, after a decision about trust, and every two
//! seconds while the loop cannot start there. A result is shown only if it is about the folders in the form
//! (`loop_folders.rs`). It can only disable the start: the loop checks its folders again. Every attempt of a long loop
//! has a line, so that it can be reached by keyboard; expanded content is drawn only near the visible part
//! (`draw_near` in `src/ui/loop_page/attempt.rs`).

mod actions;
mod loop_folders;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use uuid::Uuid;

use super::shared::Shared;
use crate::plan::drawable;
use crate::run::{
    Attempt, Failure, LoopFate, LoopPhase, LoopState, LoopSummary, RunEvent, RunSummary, StopCode,
    other_runs, other_runs_warning,
};
use crate::ui::Tone;
use crate::ui::loop_page::{
    FormView, LoopForm, LoopView, Sequel, Shown, ShownLoop, TimelineView, prequel, sequel,
    stop_word,
};
use crate::ui::notice::Scope;
use crate::worker::{PlanProposal, ReadLoopAgain, ReplayedLoop};
use loop_folders::LoopFolders;

/// The content of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum LoopContent {
    #[default]
    Form,
    /// The loop that was started last in this window.
    Live,
    /// A loop from the evidence.
    Recorded,
    /// A loop from the evidence, while it is read.
    Reading,
}

/// The state of the page.
#[derive(Debug, Default)]
pub(super) struct LoopPage {
    pub(super) form: LoopForm,
    folders: LoopFolders,
    /// The recorded loops, the latest first.
    pub(super) summaries: Vec<LoopSummary>,
    /// The loop that was started last in this window.
    pub(super) live: Option<ShownLoop>,
    recorded: Option<ShownLoop>,
    pub(super) content: LoopContent,
    /// The attempts that the person has expanded or folded, by number.
    expanded: BTreeMap<u32, bool>,
    scroll_to_latest: bool,
    /// The person's answer to the planner's question, as far as it is typed.
    answer: String,
    /// The warning about other runs under way in the workspace of the form.
    other_runs: Option<String>,
    /// Whether the goal gets the keyboard focus in the next frame.
    focus_goal: bool,
}

/// The attempt that a loop is in.
#[derive(Debug, Clone, Copy)]
pub(super) struct CurrentAttempt {
    pub(super) attempt: Attempt,
    /// Whether the verification of the loop is under way.
    pub(super) is_verifying: bool,
}

/// What the page shows of a loop from the evidence.
fn recorded(replayed: ReplayedLoop) -> ShownLoop {
    let ReplayedLoop { detail, events, planner_stderr } = replayed;
    let mut state = LoopState::default();
    events.iter().for_each(|event| state.apply(event));
    match detail.summary.fate {
        LoopFate::Interrupted => state.interrupt(),
        LoopFate::Active => state.mark_elsewhere(),
        LoopFate::Ended(_) => {}
    }
    ShownLoop {
        state,
        recorded: true,
        verify: detail.summary.verify,
        class: detail.class.and_then(|class| serde_json::from_value(class).ok()),
        class_revoked: detail.class_revoked,
        planner_output: planner_stderr,
        ended_at_ms: detail.summary.ended_at_ms,
        ..ShownLoop::default()
    }
}

impl LoopPage {
    /// The loop under way.
    pub(super) fn under_way(&self) -> Option<&ShownLoop> {
        self.live.as_ref().filter(|live| live.ended_at_ms.is_none())
    }

    fn under_way_mut(&mut self) -> Option<&mut ShownLoop> {
        self.live.as_mut().filter(|live| live.ended_at_ms.is_none())
    }

    /// Changes the content of the page.
    fn show(&mut self, content: LoopContent) {
        self.content = content;
        self.expanded.clear();
        self.scroll_to_latest = content == LoopContent::Live;
    }

    /// Stores a loop from the evidence, and shows it if the page still waits for one.
    fn show_recorded(&mut self, replayed: ReplayedLoop) {
        self.recorded = Some(recorded(replayed));
        self.leave_reading(LoopContent::Recorded);
    }

    /// The loop on the page, if another window or command runs it.
    fn shown_elsewhere(&self) -> Option<Uuid> {
        let recorded = self.shown().filter(|it| it.recorded && !it.state.is_over());
        recorded.and_then(|it| it.state.loop_id)
    }

    /// Whether another window or command runs the loop on the page or one in the list.
    pub(super) fn knows_loop_elsewhere(&self) -> bool {
        let own = self.under_way().and_then(|live| live.state.loop_id);
        let is_foreign = |it: &LoopSummary| it.fate == LoopFate::Active && Some(it.loop_id) != own;
        self.shown_elsewhere().is_some() || self.summaries.iter().any(is_foreign)
    }

    /// Reads the loop on the page again, if another window or command runs it. What the person expanded stays.
    pub(super) fn follow_elsewhere(&self, shared: &mut Shared) {
        let Some(loop_id) = self.shown_elsewhere() else { return };
        shared.query(ReadLoopAgain(loop_id), move |app, replayed| {
            // The person may have opened something else meanwhile.
            if app.loop_page.shown_elsewhere() == Some(loop_id) {
                app.loop_page.recorded = Some(recorded(replayed));
            }
        });
    }

    /// Changes the content of the page if it waits for a loop from the evidence.
    fn leave_reading(&mut self, content: LoopContent) {
        if self.content == LoopContent::Reading {
            self.show(content);
        }
    }

    /// Applies an event to the loop under way. Returns its current attempt; `None` without a loop or an attempt.
    pub(super) fn apply_event(
        &mut self,
        event: &RunEvent,
        shared: &mut Shared,
    ) -> Option<CurrentAttempt> {
        let live = self.under_way_mut()?;
        live.state.apply(event);
        let current = live.state.loop_id.zip(live.state.attempts.last().map(|it| it.attempt));
        let is_verifying = live.state.phase == LoopPhase::Verifying;
        match event {
            RunEvent::LoopStarted { .. } => shared.list_loops(),
            RunEvent::AttemptStarted { .. } => self.scroll_to_latest = true,
            RunEvent::PlannerAsked { .. } => {
                self.answer.clear();
                self.scroll_to_latest = true;
            }
            _ => {}
        }
        current.map(|(loop_id, number)| {
            let attempt = Attempt { loop_id, number };
            CurrentAttempt { attempt, is_verifying }
        })
    }

    /// Notes which of these runs are under way in the workspace of the form, besides the run `own` of this window.
    pub(super) fn note_other_runs(&mut self, runs: &[RunSummary], own: Option<Uuid>) {
        let place = self.folder_review().filter(|place| place.workspace_fault.is_none());
        self.other_runs = place
            .and_then(|it| other_runs_warning(&other_runs(runs, Path::new(&it.workspace), own)));
    }

    /// Whether the planner of the loop under way waits for an answer.
    pub(super) fn is_asked(&self) -> bool {
        let phase = self.under_way().map(|live| &live.state.phase);
        matches!(phase, Some(LoopPhase::AwaitingAnswer(_)))
    }

    /// Stores the plan of an attempt of the loop under way. Returns false if no loop is under way.
    pub(super) fn take_proposal(&mut self, proposal: &PlanProposal) -> bool {
        let Some(live) = self.under_way_mut() else { return false };
        live.plans.insert(proposal.attempt, Arc::clone(&proposal.plan));
        true
    }

    /// Marks the loop under way as stopping.
    pub(super) fn mark_stopping(&mut self) {
        if let Some(live) = self.under_way_mut() {
            live.stopping = true;
        }
    }

    /// Ends the loop under way. Returns its id. A loop that could not start has none; its failure is shown in the form.
    pub(super) fn end_loop(&mut self, failure: Option<&Failure>, now_ms: i64) -> Option<Uuid> {
        let live = self.under_way_mut()?;
        live.ended_at_ms = Some(now_ms);
        live.state.interrupt();
        let loop_id = live.state.loop_id;
        if let (None, Some(failure)) = (loop_id, failure) {
            self.live = None;
            self.form.refusal =
                Some(format!("{} {} {}", failure.code, failure.message, failure.next));
            if self.content == LoopContent::Live {
                self.show(LoopContent::Form);
            }
        }
        loop_id
    }

    /// Shows a notice about the end of the loop that was started last, for a person who looks at something else.
    pub(super) fn notify_end(&self, loop_id: Uuid, shared: &mut Shared) {
        let Some(live) = &self.live else { return };
        let (word, tone) = match &live.state.phase {
            LoopPhase::Ended(reason) if reason.code == StopCode::Completed => {
                ("completed", Tone::Safe)
            }
            LoopPhase::Ended(reason) => (stop_word(reason.code), Tone::Caution),
            _ => ("interrupted", Tone::Danger),
        };
        let goal = drawable(live.state.goal.lines().next().unwrap_or_default()).into_owned();
        let summary = format!("The loop “{goal}” has ended: {word}.");
        shared.notify_in(Scope::Loop(loop_id), tone, summary, "", "");
    }

    /// Resets the flags that apply to one frame only.
    pub(super) fn reset_frame_flags(&mut self) {
        self.scroll_to_latest = false;
        self.focus_goal = false;
        self.form.scroll_to = None;
    }

    /// The loop on the page.
    fn shown(&self) -> Option<&ShownLoop> {
        match self.content {
            LoopContent::Live => self.live.as_ref(),
            LoopContent::Recorded => self.recorded.as_ref(),
            LoopContent::Form | LoopContent::Reading => None,
        }
    }

    /// Why there is an attempt, if the page knows its loop.
    pub(super) fn prequel(&self, attempt: Attempt) -> Option<String> {
        prequel(self.known(attempt.loop_id)?, attempt.number)
    }

    /// How the loop of an attempt went on, if the page knows that loop.
    pub(super) fn sequel(&self, attempt: Attempt) -> Option<Sequel> {
        sequel(self.known(attempt.loop_id)?, attempt.number)
    }

    /// The state of this loop, if the page knows it.
    fn known(&self, loop_id: Uuid) -> Option<&LoopState> {
        let mut known = [&self.live, &self.recorded].into_iter().flatten();
        known.find(|it| it.state.loop_id == Some(loop_id)).map(|it| &it.state)
    }

    /// The state of the loop on the page.
    pub(super) fn shown_state(&self) -> Option<&LoopState> {
        self.shown().map(|shown| &shown.state)
    }

    pub(super) fn view<'a>(&'a self, shared: &'a Shared) -> LoopView<'a> {
        let shown = match self.shown() {
            Some(shown) => Shown::Loop(TimelineView {
                shown,
                expanded: &self.expanded,
                answer: &self.answer,
                scroll_to_latest: self.scroll_to_latest && !shown.recorded,
                now: &shared.now,
            }),
            None if self.content == LoopContent::Reading => Shown::Reading,
            None => Shown::Form(FormView {
                form: &self.form,
                place: self.folder_review(),
                other_runs: self.other_runs.as_deref(),
                focus_goal: self.focus_goal,
            }),
        };
        LoopView { loops: &self.summaries, shown, now: &shared.now }
    }
}
