//! The page of the bounded loop: its form, the loop that was started last, and one from the evidence.

mod actions;
mod loop_folders;

use std::collections::BTreeMap;
use std::sync::Arc;

use uuid::Uuid;

use super::shared::Shared;
use crate::authorization::AuthorizationClass;
use crate::plan::Plan;
use crate::run::{Failure, LoopDetail, LoopFate, LoopPhase, LoopState, LoopSummary, RunEvent};
use crate::ui::loop_page::{Form, FormView, LoopView, Shown, TimelineView};
use crate::worker::{LoopReplayed, PlanProposal};
use loop_folders::LoopFolders;

/// What stands on the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Which {
    #[default]
    Form,
    Live,
    Recorded,
    Reading,
}

/// What the page remembers.
#[derive(Debug, Default)]
pub(super) struct LoopPage {
    pub(super) form: Form,
    folders: LoopFolders,
    pub(super) loops: Vec<LoopSummary>,
    /// The loop that was started here last.
    pub(super) live: Option<LiveLoop>,
    recorded: Option<Box<RecordedLoop>>,
    which: Which,
    unfolded: BTreeMap<u32, bool>,
    scroll_to_latest: bool,
    /// Whether the goal is to be typed with the next frame.
    focus_goal: bool,
}

/// The loop that was started here last.
#[derive(Debug)]
pub(super) struct LiveLoop {
    pub(super) state: LoopState,
    verify: &'static str,
    class: Option<AuthorizationClass>,
    pub(super) class_revoked: bool,
    plans: BTreeMap<u32, Arc<Plan>>,
    stopping: bool,
    pub(super) ended_at_ms: Option<i64>,
}

/// A loop from the evidence.
#[derive(Debug)]
struct RecordedLoop {
    state: LoopState,
    detail: LoopDetail,
    class: Option<AuthorizationClass>,
    printed: BTreeMap<u32, String>,
}

/// The attempt that a loop is in.
#[derive(Debug, Clone, Copy)]
pub(super) struct CurrentAttempt {
    pub(super) loop_id: Uuid,
    pub(super) number: u32,
    /// Whether the loop's own verification is under way.
    pub(super) verifies: bool,
}

/// A loop from the evidence has no plans here, and a live one nothing that was printed.
static NO_PLANS: BTreeMap<u32, Arc<Plan>> = BTreeMap::new();
static NOTHING_PRINTED: BTreeMap<u32, String> = BTreeMap::new();

impl LoopPage {
    /// The loop under way.
    pub(super) fn under_way(&self) -> Option<&LiveLoop> {
        self.live.as_ref().filter(|live| live.ended_at_ms.is_none())
    }

    fn under_way_mut(&mut self) -> Option<&mut LiveLoop> {
        self.live.as_mut().filter(|live| live.ended_at_ms.is_none())
    }

    /// Whether the form stands on the page.
    pub(super) fn shows_form(&self) -> bool {
        self.which == Which::Form
    }

    /// Puts this on the page.
    fn show(&mut self, which: Which) {
        self.which = which;
        self.unfolded.clear();
        self.scroll_to_latest = which == Which::Live;
    }

    /// Puts a loop from the evidence on the page.
    fn show_recorded(&mut self, replayed: LoopReplayed) {
        let LoopReplayed { detail, events, printed } = replayed;
        let mut state = LoopState::default();
        events.iter().for_each(|event| state.apply(event));
        if detail.summary.fate == LoopFate::Interrupted {
            state.interrupt();
        }
        self.recorded = Some(Box::new(RecordedLoop {
            state,
            class: detail.class.clone().and_then(|class| serde_json::from_value(class).ok()),
            printed,
            detail,
        }));
        self.leave_reading(Which::Recorded);
    }

    /// Replaces the page that waits for a loop from the evidence.
    fn leave_reading(&mut self, which: Which) {
        if self.which == Which::Reading {
            self.show(which);
        }
    }

    /// Applies what happened to the loop under way; gives its attempt.
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
        current.map(|(loop_id, number)| CurrentAttempt { loop_id, number, verifies })
    }

    /// Keeps the plan of an attempt. False when no loop is under way.
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

    /// Notes that the loop under way returned; gives its id, if it had begun.
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

    /// Forgets what was meant for the frame that was drawn.
    pub(super) fn drawn(&mut self) {
        self.scroll_to_latest = false;
        self.focus_goal = false;
    }

    /// The loop on the page.
    pub(super) fn shown_state(&self) -> Option<&LoopState> {
        match self.which {
            Which::Live => self.live.as_ref().map(|live| &live.state),
            Which::Recorded => self.recorded.as_ref().map(|recorded| &recorded.state),
            Which::Form | Which::Reading => None,
        }
    }

    pub(super) fn view<'a>(&'a self, shared: &'a Shared) -> LoopView<'a> {
        let shown = match (self.which, &self.live, &self.recorded) {
            (Which::Live, Some(live), _) => Shown::Loop(TimelineView {
                state: &live.state,
                recorded: false,
                plans: &live.plans,
                printed: &NOTHING_PRINTED,
                unfolded: &self.unfolded,
                verify: live.verify,
                class: live.class.as_ref(),
                class_revoked: live.class_revoked,
                stopping: live.stopping,
                ended_at_ms: live.ended_at_ms,
                scroll_to_latest: self.scroll_to_latest,
            }),
            (Which::Recorded, _, Some(recorded)) => Shown::Loop(TimelineView {
                state: &recorded.state,
                recorded: true,
                plans: &NO_PLANS,
                printed: &recorded.printed,
                unfolded: &self.unfolded,
                verify: &recorded.detail.summary.verify,
                class: recorded.class.as_ref(),
                class_revoked: recorded.detail.class_revoked,
                stopping: false,
                ended_at_ms: recorded.detail.summary.ended_at_ms,
                scroll_to_latest: false,
            }),
            (Which::Reading, ..) => Shown::Reading,
            _ => Shown::Form(FormView {
                form: &self.form,
                place: self.place(),
                focus_goal: self.focus_goal,
            }),
        };
        LoopView { loops: &self.loops, shown, now: &shared.now }
    }
}
