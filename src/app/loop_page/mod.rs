//! The page of the bounded loop: its form, the loop that was started last, and one from the evidence.
//!
//! One view serves live and recorded loops, because both are `run::LoopState`. The page decides nothing: the plan of
//! an attempt becomes a session of the plan page (`src/app/plan_page/attempt.rs`) with its bar, dialog and arming.
//! The decision about it is sent to the waiting worker instead of the evidence, because the loop records it. The
//! session of a plan that the loop waits for is kept when another plan is opened, and an answer counts only while the
//! dialog of that plan is in front. The loop's own verification has a session without a plan, which holds the
//! confirmations of its run and is shown on this page only.
//!
//! The findings about the folders in the form come from a query (`src/worker/loop_place.rs`). It is sent when the form
//! is filled in or shown, after a pause in typing, when the window gets the focus, after a decision about the commands
//! found there, and every two seconds while a folder is unusable. Only findings about the folders in the form are shown
//! (`loop_folders.rs`). They only disable the start: the loop checks its folders again. Every attempt of a long loop
//! has a line, so that it can be reached by keyboard; expanded content is drawn only near the visible part
//! (`draw_near` in `src/ui/loop_page/attempt.rs`).

mod actions;
mod loop_folders;

use std::collections::BTreeMap;
use std::sync::Arc;

use uuid::Uuid;

use super::shared::Shared;
use crate::run::{Attempt, Failure, LoopFate, LoopPhase, LoopState, LoopSummary, RunEvent};
use crate::ui::loop_page::{FormView, LoopForm, LoopView, Shown, ShownLoop, TimelineView};
use crate::worker::{LoopReplayed, PlanProposal};
use loop_folders::LoopFolders;

/// The content of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Which {
    #[default]
    Form,
    Live,
    Recorded,
    Reading,
}

/// The state of the page.
#[derive(Debug, Default)]
pub(super) struct LoopPage {
    pub(super) form: LoopForm,
    folders: LoopFolders,
    pub(super) loops: Vec<LoopSummary>,
    /// The loop that was started last in this window.
    pub(super) live: Option<ShownLoop>,
    recorded: Option<ShownLoop>,
    pub(super) which: Which,
    expanded: BTreeMap<u32, bool>,
    scroll_to_latest: bool,
    /// Whether the goal gets the keyboard focus in the next frame.
    focus_goal: bool,
}

/// The attempt that a loop is in.
#[derive(Debug, Clone, Copy)]
pub(super) struct CurrentAttempt {
    pub(super) attempt: Attempt,
    /// Whether the loop's own verification is under way.
    pub(super) verifies: bool,
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
    fn show(&mut self, which: Which) {
        self.which = which;
        self.expanded.clear();
        self.scroll_to_latest = which == Which::Live;
    }

    /// Shows a loop from the evidence, unless the person has left the page that waits for it.
    fn show_recorded(&mut self, replayed: LoopReplayed) {
        let LoopReplayed { detail, events, printed } = replayed;
        let mut state = LoopState::default();
        events.iter().for_each(|event| state.apply(event));
        if detail.summary.fate == LoopFate::Interrupted {
            state.interrupt();
        }
        self.recorded = Some(ShownLoop {
            state,
            recorded: true,
            verify: detail.summary.verify,
            class: detail.class.and_then(|class| serde_json::from_value(class).ok()),
            class_revoked: detail.class_revoked,
            planner_output: printed,
            ended_at_ms: detail.summary.ended_at_ms,
            ..ShownLoop::default()
        });
        self.leave_reading(Which::Recorded);
    }

    /// Replaces the page that waits for a loop from the evidence.
    fn leave_reading(&mut self, which: Which) {
        if self.which == Which::Reading {
            self.show(which);
        }
    }

    /// Applies an event to the loop under way. Returns its current attempt.
    pub(super) fn happened(
        &mut self,
        event: &RunEvent,
        shared: &mut Shared,
    ) -> Option<CurrentAttempt> {
        let live = self.under_way_mut()?;
        live.state.apply(event);
        let current = live.state.loop_id.zip(live.state.attempts.last().map(|it| it.attempt));
        let verifies = live.state.phase == LoopPhase::Verifying;
        match event {
            RunEvent::LoopStarted { .. } => shared.list_loops(),
            RunEvent::AttemptStarted { .. } => self.scroll_to_latest = true,
            _ => {}
        }
        current.map(|(loop_id, number)| {
            let attempt = Attempt { loop_id, number };
            CurrentAttempt { attempt, verifies }
        })
    }

    /// Stores the plan of an attempt. Returns false if no loop is under way.
    pub(super) fn take_proposal(&mut self, proposal: &PlanProposal) -> bool {
        let Some(live) = self.under_way_mut() else { return false };
        live.plans.insert(proposal.attempt, Arc::clone(&proposal.plan));
        true
    }

    /// Marks the loop under way as stopping.
    pub(super) fn stopping(&mut self) {
        if let Some(live) = self.under_way_mut() {
            live.stopping = true;
        }
    }

    /// Notes that the loop under way has ended. Returns its id; a loop that could not begin has none and returns to
    /// the form.
    pub(super) fn ended(&mut self, failure: Option<&Failure>, now_ms: i64) -> Option<Uuid> {
        let live = self.under_way_mut()?;
        live.ended_at_ms = Some(now_ms);
        live.state.interrupt();
        let loop_id = live.state.loop_id;
        if let (None, Some(failure)) = (loop_id, failure) {
            self.live = None;
            self.form.refusal =
                Some(format!("{} {} {}", failure.code, failure.message, failure.next));
            if self.which == Which::Live {
                self.show(Which::Form);
            }
        }
        loop_id
    }

    /// Resets the flags that apply to one frame only.
    pub(super) fn drawn(&mut self) {
        self.scroll_to_latest = false;
        self.focus_goal = false;
    }

    /// The loop on the page.
    fn shown(&self) -> Option<&ShownLoop> {
        match self.which {
            Which::Live => self.live.as_ref(),
            Which::Recorded => self.recorded.as_ref(),
            Which::Form | Which::Reading => None,
        }
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
                scroll_to_latest: self.scroll_to_latest && !shown.recorded,
            }),
            None if self.which == Which::Reading => Shown::Reading,
            None => Shown::Form(FormView {
                form: &self.form,
                place: self.place(),
                focus_goal: self.focus_goal,
            }),
        };
        LoopView { loops: &self.loops, shown, now: &shared.now }
    }
}
