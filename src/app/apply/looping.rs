//! The page of the bounded loop: starting one, stopping it, answering for its plans.

use std::path::PathBuf;
use std::time::Duration;

use crate::authorization::Method;
use crate::plan::{Digest, VerifyScope};
use crate::run::{LoopPhase, LoopState};
use crate::ui::action::{FolderFor, LoopAction, Page, PlanAction};
use crate::ui::loop_page::{Form, PlannerChoice, Wanted};
use crate::ui::plan::Approval;
use crate::ui::theme::Tone;
use crate::worker::{
    Command as Order, LoopOrder, PlanAnswer, ReplayLoop, RevokeClass, VerifyChoice,
};

use super::super::loop_folders::TYPING_MS;
use super::super::looping::{LiveLoop, Which};
use super::super::{App, Prompt};

impl App {
    pub(super) fn apply_loop(&mut self, action: LoopAction) {
        match action {
            LoopAction::Edit(form) => {
                self.looping.form = *form;
                // Also where the folders stay the same: what is in them may not.
                self.look_at_place(TYPING_MS);
            }
            LoopAction::LookAtCommands => self.show_prompt(Some(Prompt::TrustPlace)),
            LoopAction::PickFolder(what) => self.pick_folder(what),
            LoopAction::Show(loop_id) => {
                let live = self.looping.live.as_ref();
                if live.is_some_and(|live| live.state.loop_id == Some(loop_id)) {
                    self.looping.show(Which::Live);
                } else {
                    self.looping.show(Which::Reading);
                    self.ask_latest(ReplayLoop(loop_id), |app, replayed| match replayed {
                        Ok(replayed) => app.looping.show_recorded(replayed),
                        Err(unanswered) => {
                            app.looping.stop_reading();
                            app.report(unanswered);
                        }
                    });
                }
            }
            LoopAction::Unfold(attempt, unfolded) => {
                self.looping.unfolded.insert(attempt, unfolded);
            }
            LoopAction::OpenAttempt(attempt) => self.open_attempt(attempt),
            LoopAction::RevokeClass(class_id) => {
                self.ask(RevokeClass(class_id), |app, _| app.looping.class_was_revoked());
            }
        }
    }

    fn pick_folder(&mut self, what: FolderFor) {
        let form = &self.looping.form;
        let typed = match what {
            FolderFor::Plans if !form.folder.is_empty() => &form.folder,
            _ => &form.workspace,
        };
        let from = (!typed.is_empty()).then(|| PathBuf::from(typed));
        if let Err(error) = self.picked.folder(what, from) {
            let summary = "The folder picker cannot be opened.";
            self.notify(Tone::Danger, summary, error.to_string(), "Type the path.");
        }
    }

    /// Goes to the page; the form begins with the workspace of the plan that is open.
    pub(super) fn go_to_loop(&mut self) {
        self.go(Page::Loop);
        if self.looping.form.workspace.is_empty() {
            let review = self.shown.as_ref().and_then(|session| session.review.as_ref());
            if let Some(review) = review {
                self.looping.form.workspace = review.workspace.display().to_string();
            }
        }
        self.look_at_place(0);
    }

    pub(super) fn new_loop(&mut self) {
        self.go_to_loop();
        self.looping.show(Which::Form);
        self.looping.focus_goal = true;
    }

    /// Fills the form with what the loop on the page was about.
    pub(super) fn loop_again(&mut self) {
        let Some(state) = self.looping.shown_state() else { return };
        let (planner, folder, command) = match state.planner.as_str() {
            "cargo-fix" => (PlannerChoice::CargoFix, String::new(), String::new()),
            "openai-compatible" => (PlannerChoice::Model, String::new(), String::new()),
            other => match other.strip_prefix("replay:") {
                Some(folder) => (PlannerChoice::Replay, folder.to_owned(), String::new()),
                None => (PlannerChoice::Command, String::new(), other.to_owned()),
            },
        };
        self.looping.form = Form {
            goal: state.goal.clone(),
            planner,
            folder,
            command,
            workspace: state.workspace.clone(),
            max_attempts: state.max_attempts.to_string(),
            // What was authorized in advance is given anew each time.
            ..Form::default()
        };
        self.looping.show(Which::Form);
        self.look_at_place(0);
    }

    /// Starts the loop of the form, or says what is wrong with it.
    pub(super) fn start_loop(&mut self) {
        let Some(wanted) = self.looping.form.wanted(self.now.ms) else {
            self.looping.form.tried = true;
            return;
        };
        self.evidence_trouble = None;
        let live = LiveLoop {
            state: LoopState {
                goal: wanted.goal.clone(),
                planner: wanted.planner.clone(),
                workspace: wanted.workspace.display().to_string(),
                max_attempts: wanted.max_attempts,
                phase: LoopPhase::Idle,
                ..LoopState::default()
            },
            verify: wanted.verify.map_or("none", VerifyScope::as_str),
            class: wanted.class.clone(),
            class_revoked: false,
            plans: std::collections::BTreeMap::new(),
            stopping: false,
            ended_at_ms: None,
        };
        if self.worker.send(Order::Loop(Box::new(order(wanted)))).is_err() {
            let next = "Wait for its end, then start the loop again.";
            self.notify(Tone::Caution, "The worker is still busy with another run.", "", next);
            return;
        }
        self.looping.form.refusal = None;
        self.looping.form.tried = false;
        self.looping.live = Some(live);
        self.looping.show(Which::Live);
    }

    /// Shows the plan of the attempt that waits.
    pub(super) fn open_waiting_attempt(&mut self) {
        let waiting = self.waiting_attempt().and_then(|session| session.attempt);
        if let Some(attempt) = waiting {
            self.open_attempt(attempt.attempt);
        }
    }

    /// Shows the plan of an attempt of the loop on the page, live or from the records.
    fn open_attempt(&mut self, number: u32) {
        let under_way = self.looping.under_way().map(|live| &live.state);
        let Some(state) = self.looping.shown_state().or(under_way) else { return };
        let Some(loop_id) = state.loop_id else { return };
        let attempt = state.attempts.iter().find(|attempt| attempt.attempt == number);
        let run_id = attempt.and_then(|attempt| attempt.run.as_ref()?.run_id);
        if self.shown.as_ref().is_some_and(|shown| shown.is_attempt(loop_id, number)) {
            self.go(Page::Plan);
        } else if self.live.as_ref().is_some_and(|live| live.is_attempt(loop_id, number))
            && let Some(live) = self.live.take()
        {
            self.show_session(live);
        } else if let Some(run_id) = run_id {
            self.apply_plan(PlanAction::OpenRun(run_id));
        }
    }

    /// Whether the plan on the page is one that a loop waits for.
    pub(super) fn shows_waiting_attempt(&self) -> bool {
        let attempt = self.shown.as_ref().and_then(|session| session.attempt);
        attempt.is_some_and(|attempt| attempt.waits)
    }

    /// Gives the person's answer to the plan of an attempt, which the dialog has asked for.
    pub(super) fn answer_attempt(&mut self, digest: Digest, answer: PlanAnswer) {
        if !matches!(self.prompt.take(), Some(Prompt::Authorize | Prompt::Reject)) {
            return;
        }
        let Some(session) = &mut self.shown else { return };
        let Some(attempt) = session.attempt.filter(|_| session.digest == digest) else { return };
        if session.not_authorizable().is_some() {
            return;
        }
        if self.worker.answer_plan(attempt.loop_id, attempt.attempt, answer) {
            session.approval = Approval::Recording;
        } else {
            self.notify(Tone::Caution, "The loop no longer waits for that answer.", "", "");
        }
    }

    /// The answer that authorizes the plan of an attempt.
    pub(super) fn approval_of_attempt() -> PlanAnswer {
        PlanAnswer::Approve { method: Method::Window, note: "in the window".to_owned() }
    }

    /// The answer that refuses it.
    pub(super) fn refusal_of_attempt(reason: String) -> PlanAnswer {
        PlanAnswer::Reject { method: Method::Window, reason }
    }
}

fn order(wanted: Wanted) -> LoopOrder {
    LoopOrder {
        goal: wanted.goal,
        planner: wanted.planner,
        planner_timeout: Duration::from_secs(wanted.timeout_s.into()),
        max_attempts: wanted.max_attempts,
        verify: wanted.verify.map_or(VerifyChoice::None, VerifyChoice::Scope),
        workspace: wanted.workspace,
        class: wanted.class,
    }
}
