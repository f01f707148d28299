//! The bounded loop under way, and the page about loops.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use uuid::Uuid;

use super::loop_folders::PlaceLook;
use super::session::PlanSession;
use super::{App, Prompt};
use crate::authorization::AuthorizationClass;
use crate::plan::Plan;
use crate::run::{
    Failure, LoopDetail, LoopFate, LoopPhase, LoopState, LoopSummary, PlaceReview, RunEvent,
};
use crate::ui::action::FolderFor;
use crate::ui::loop_page::{Form, FormView, LoopView, Shown, TimelineView};
use crate::ui::plan::Approval;
use crate::ui::theme::Tone;
use crate::worker::{LoopReplayed, PlanProposal};

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
    pub(super) place: PlaceLook,
    pub(super) loops: Vec<LoopSummary>,
    /// The loop that was started here last.
    pub(super) live: Option<LiveLoop>,
    recorded: Option<Box<RecordedLoop>>,
    pub(super) which: Which,
    pub(super) unfolded: BTreeMap<u32, bool>,
    pub(super) scroll_to_latest: bool,
    /// Whether the goal is to be typed with the next frame.
    pub(super) focus_goal: bool,
}

/// The loop that was started here last.
#[derive(Debug)]
pub(super) struct LiveLoop {
    pub(super) state: LoopState,
    pub(super) verify: &'static str,
    pub(super) class: Option<AuthorizationClass>,
    pub(super) class_revoked: bool,
    pub(super) plans: BTreeMap<u32, Arc<Plan>>,
    pub(super) stopping: bool,
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

/// Nothing is known of the plans of a loop from the evidence but what stands in its records.
static NO_PLANS: BTreeMap<u32, Arc<Plan>> = BTreeMap::new();
static NOTHING_PRINTED: BTreeMap<u32, String> = BTreeMap::new();

impl LoopPage {
    /// The loop under way.
    pub(super) fn under_way(&self) -> Option<&LiveLoop> {
        self.live.as_ref().filter(|live| live.ended_at_ms.is_none())
    }

    pub(super) fn under_way_mut(&mut self) -> Option<&mut LiveLoop> {
        self.live.as_mut().filter(|live| live.ended_at_ms.is_none())
    }

    /// Puts this on the page.
    pub(super) fn show(&mut self, which: Which) {
        self.which = which;
        self.unfolded.clear();
        self.scroll_to_latest = which == Which::Live;
    }

    /// Puts a loop from the evidence on the page.
    pub(super) fn show_recorded(&mut self, replayed: LoopReplayed) {
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
        if self.which == Which::Reading {
            self.show(Which::Recorded);
        }
    }

    /// Waits for no loop from the evidence any longer.
    pub(super) fn stop_reading(&mut self) {
        if self.which == Which::Reading {
            self.show(Which::Form);
        }
    }

    pub(super) fn class_was_revoked(&mut self) {
        if let Some(live) = &mut self.live {
            live.class_revoked = true;
        }
    }

    /// The loop on the page.
    pub(super) fn shown_state(&self) -> Option<&LoopState> {
        match self.which {
            Which::Live => self.live.as_ref().map(|live| &live.state),
            Which::Recorded => self.recorded.as_ref().map(|recorded| &recorded.state),
            Which::Form | Which::Reading => None,
        }
    }

    /// What one frame shows, with what was seen of the folders in the form.
    pub(super) fn view<'a>(
        &'a self,
        place: Option<&'a PlaceReview>,
        now: &'a crate::ui::format::Now,
    ) -> LoopView<'a> {
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
            _ => Shown::Form(FormView { form: &self.form, place, focus_goal: self.focus_goal }),
        };
        LoopView { loops: &self.loops, shown, now }
    }
}

impl App {
    /// Whether a run or a loop is under way.
    pub(super) fn is_busy(&self) -> bool {
        self.running().is_some() || self.looping.under_way().is_some()
    }

    /// The session with the plan that a loop waits for.
    pub(super) fn waiting_attempt(&self) -> Option<&PlanSession> {
        let mut sessions = [&self.shown, &self.live].into_iter().flatten();
        sessions.find(|session| session.attempt.is_some_and(|attempt| attempt.waits))
    }

    fn attempt_mut(&mut self, loop_id: Uuid, number: u32) -> Option<&mut PlanSession> {
        let mut sessions = [&mut self.shown, &mut self.live].into_iter().flatten();
        sessions.find(|session| session.is_attempt(loop_id, number))
    }

    /// Takes in what happened in a loop, before the run in it hears of it.
    pub(super) fn take_loop_event(&mut self, event: &RunEvent) {
        let now = self.now.ms;
        let Some(live) = self.looping.under_way_mut() else { return };
        live.state.apply(event);
        let verifies = live.state.phase == LoopPhase::Verifying;
        let current = live.state.loop_id.zip(live.state.attempts.last().map(|it| it.attempt));
        let Some((loop_id, number)) = current else {
            if matches!(event, RunEvent::LoopStarted { .. }) {
                self.list_loops();
            }
            return;
        };
        match event {
            RunEvent::AttemptStarted { .. } => {
                self.looping.scroll_to_latest = true;
            }
            RunEvent::AuthorizationNeeded { .. } => {
                if let Some(session) = self.attempt_mut(loop_id, number)
                    && let Some(attempt) = &mut session.attempt
                {
                    attempt.waits = true;
                }
            }
            RunEvent::AuthorizationDecided { approved, how } => {
                let Some(session) = self.attempt_mut(loop_id, number) else { return };
                session.end_attempt(now);
                if *approved {
                    session.begin_attempt(now);
                } else {
                    session.approval = Approval::Rejected(how.clone());
                }
            }
            RunEvent::RunStarted { .. } if verifies => {
                let before = self.live.replace(PlanSession::verification(now));
                drop(before);
            }
            RunEvent::AttemptEnded { .. } => self.end_attempts(loop_id),
            _ => {}
        }
    }

    /// No plan of this loop is waited for any longer.
    fn end_attempts(&mut self, loop_id: Uuid) {
        let now = self.now.ms;
        let mut was_asked = false;
        for session in [&mut self.shown, &mut self.live].into_iter().flatten() {
            let of_loop = session.attempt.is_some_and(|attempt| attempt.loop_id == loop_id);
            if of_loop || session.plan.is_none() {
                was_asked |= session.attempt.is_some_and(|attempt| attempt.waits);
                session.end_attempt(now);
            }
        }
        if was_asked && matches!(self.prompt, Some(Prompt::Authorize | Prompt::Reject)) {
            self.prompt = None;
            let summary = "The loop no longer waits for an answer to this plan.";
            self.notify(Tone::Caution, summary, "", "");
        }
        if self.live.as_ref().is_some_and(|session| session.plan.is_none()) {
            self.live = None;
        }
        self.list_runs();
    }

    /// Notes when the run of an attempt is over; nothing else tells it.
    pub(super) fn note_end_in_loop(&mut self) {
        let now = self.now.ms;
        for session in [&mut self.shown, &mut self.live].into_iter().flatten() {
            let over = session.attempt.is_some() && session.run.is_over();
            if over && session.elapsed_ms.is_none() {
                session.elapsed_ms = Some(now - session.run.started_at_ms);
            }
        }
    }

    /// Takes in the plan of an attempt. It waits beside the page, unless the page shows its loop's plans.
    pub(super) fn take_proposed(&mut self, proposed: PlanProposal) {
        let Some(live) = self.looping.under_way_mut() else { return };
        live.plans.insert(proposed.attempt, Arc::clone(&proposed.plan));
        let loop_id = proposed.loop_id;
        let session = PlanSession::proposed(proposed);
        let follows = self.prompt.is_none()
            && self.shown.as_ref().is_some_and(|shown| {
                let of_loop = shown.attempt.is_some_and(|attempt| attempt.loop_id == loop_id);
                of_loop && shown.follow && !shown.is_kept()
            });
        if follows {
            self.shown = Some(session);
            self.watch_files();
        } else {
            self.live = Some(session);
        }
    }

    /// Takes in that the loop returned, or that it never began.
    pub(super) fn take_loop_end(&mut self, outcome: Result<(), Failure>) {
        let now = self.now.ms;
        let Some(live) = self.looping.under_way_mut() else { return };
        live.ended_at_ms = Some(now);
        live.state.interrupt();
        let loop_id = live.state.loop_id;
        if let Some(loop_id) = loop_id {
            self.end_attempts(loop_id);
        }
        if let Err(failure) = outcome {
            if loop_id.is_none() {
                self.looping.live = None;
                self.looping.form.refusal =
                    Some(format!("{} {} {}", failure.code, failure.message, failure.next));
                if self.looping.which == Which::Live {
                    self.looping.show(Which::Form);
                }
            }
            self.failed("The loop ended.", &failure);
        }
        self.after_run();
        self.list_loops();
    }

    /// Takes in a folder that was chosen for the form.
    pub(super) fn take_folder(&mut self, folder: &Path, what: FolderFor) {
        let text = folder.display().to_string();
        let form = &mut self.looping.form;
        match what {
            FolderFor::Plans => form.folder = text,
            FolderFor::Workspace => form.workspace = text,
        }
        self.look_at_place(0);
    }
}
