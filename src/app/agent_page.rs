//! The page of an agent: the form of a session, and the session that was started last in this window.
//!
//! The session has threads of its own (`worker/calls/session.rs`). What the agent asks for arrives as calls of agents do: as
//! a plan in the inbox, which is opened, authorized and run like any other.

use std::path::Path;

use super::App;
use super::file_dialog::PickerRequest;
use super::shared::{Prompt, Shared};
use crate::run::Failure;
use crate::ui::action::{AgentAction, FolderFor};
use crate::ui::agent_page::{AgentEntry, AgentForm, AgentPhase, AgentState, AgentView, PlanLine};
use crate::ui::{Page, Tone};
use crate::worker::acp::{News, Order, SILENCE, SessionEnd, StopReason, Update};
use crate::worker::calls::{AgentSession, SessionNews};
use crate::worker::split_words;

/// The state of the page.
#[derive(Default)]
pub(super) struct AgentPage {
    form: AgentForm,
    /// The session under way.
    session: Option<AgentSession>,
    /// The session that was started last.
    state: Option<AgentState>,
    /// Whether the form is shown although there was a session.
    shows_form: bool,
    focus_prompt: bool,
}

impl AgentPage {
    pub(super) fn view(&self, waiting: usize) -> AgentView<'_> {
        let shown = self.state.as_ref().filter(|_| !self.shows_form());
        AgentView { form: &self.form, shown, waiting, focus_prompt: self.focus_prompt }
    }

    /// Whether the page has the form.
    pub(super) fn shows_form(&self) -> bool {
        self.state.is_none() || self.shows_form
    }

    /// Whether an agent works.
    pub(super) fn works(&self) -> bool {
        self.state.as_ref().is_some_and(|state| !state.is_over())
    }

    /// What has to be entered before a session can start.
    pub(super) fn lacks(&self) -> Option<&'static str> {
        self.form.missing()
    }

    /// The session that was started last.
    #[cfg(any(test, feature = "inspection"))]
    pub(super) fn state(&self) -> Option<&AgentState> {
        self.state.as_ref()
    }

    /// The folder in which the agent of the page works.
    pub(super) fn workspace(&self) -> Option<&str> {
        self.state.as_ref().filter(|_| !self.shows_form()).map(|state| &*state.workspace)
    }

    /// The folder in which the file picker for the form starts; may be empty.
    fn typed_folder(&self) -> &str {
        &self.form.workspace
    }

    /// Fills a picked folder into the form.
    pub(super) fn set_folder(&mut self, folder: &Path) {
        self.form.workspace = folder.display().to_string();
        self.form.refusal = None;
    }

    /// Prepares the page to be shown. If the form names no workspace, `workspace` is filled in.
    fn prepare(&mut self, workspace: Option<&Path>) {
        if let (true, Some(workspace)) = (self.form.workspace.is_empty(), workspace) {
            self.form.workspace = workspace.display().to_string();
        }
        self.focus_prompt |= self.shows_form() && self.form.prompt.is_empty();
    }

    /// Resets the flags that apply to one frame only.
    pub(super) fn reset_frame_flags(&mut self) {
        self.focus_prompt = false;
    }

    fn new_session(&mut self) {
        self.shows_form = true;
        self.focus_prompt = true;
    }

    /// Starts the session of the form.
    fn start(&mut self, shared: &Shared) {
        let refuse = |form: &mut AgentForm, why: String| form.refusal = Some(why);
        let command = match split_words(&self.form.command) {
            Ok(command) => command,
            Err(why) => return refuse(&mut self.form, why),
        };
        let Some(calls) = &shared.calls else {
            let why =
                "No agent can ask in this window, because the system could not start a thread.";
            return refuse(&mut self.form, why.to_owned());
        };
        let workspace = self.form.workspace.trim();
        let order = Order {
            command,
            prompt: self.form.prompt.clone(),
            workspace: workspace.into(),
            policy: shared.setup.policy.clone(),
            location: shared.setup.location.clone(),
            silence: SILENCE,
        };
        match calls.start_session(order, shared.wake.clone()) {
            Ok(session) => {
                let mut state = AgentState::default();
                self.form.command.trim().clone_into(&mut state.command);
                state.prompt.clone_from(&self.form.prompt);
                workspace.clone_into(&mut state.workspace);
                self.state = Some(state);
                self.session = Some(session);
                self.form.refusal = None;
                self.shows_form = false;
            }
            Err(error) => refuse(&mut self.form, error.to_string()),
        }
    }

    /// Cancels the turn of the agent, and ends it.
    pub(super) fn stop(&mut self) {
        if let (Some(session), Some(state)) = (&self.session, &mut self.state) {
            session.stop();
            state.phase = AgentPhase::Stopping;
        }
    }

    /// Applies what has happened in the session. Returns what is to be said if it has ended.
    fn take_news(&mut self) -> Option<(Tone, String, String)> {
        let (session, state) = (self.session.as_ref()?, self.state.as_mut()?);
        let mut ended = None;
        for news in session.take_news() {
            match news {
                SessionNews::Told(news) => tell(state, news),
                SessionNews::LeftOut(bytes) => {
                    state.add(AgentEntry::Refused(format!(
                        "{bytes} bytes of its words are left out"
                    )));
                }
                SessionNews::Ended(result) => {
                    ended = Some(end(state, result));
                }
            }
        }
        if ended.is_some() {
            // Its thread is at its end, so that nobody waits here.
            self.session = None;
        }
        ended
    }
}

fn tell(state: &mut AgentState, news: News) {
    match news {
        News::Starting { limits, is_held } => {
            (state.limits, state.is_held) = (limits, is_held);
        }
        News::Connected(info) => {
            state.name = format!("{} {}", info.name, info.version).trim().to_owned();
        }
        News::Begun(_) => {
            if state.phase == AgentPhase::Starting {
                state.phase = AgentPhase::Working;
            }
        }
        News::Update(update) => match update {
            Update::Words(text) => state.add(AgentEntry::Words(text)),
            Update::Thought(text) => state.add(AgentEntry::Thought(text)),
            Update::Call(call) => {
                let (id, title, status) = (call.id, call.title, call.status);
                state.add(AgentEntry::Call { id, title, status });
            }
            Update::Plan(entries) => {
                let line = |it: crate::worker::acp::PlanEntry| PlanLine {
                    content: it.content,
                    status: it.status,
                };
                state.plan = entries.into_iter().map(line).collect();
            }
        },
        News::NotApprovable { title, why } => {
            state.add(AgentEntry::Refused(format!(
                "Rejected, because it cannot be approved: {title} ({why})"
            )));
        }
        News::Refused { path, why, .. } => {
            state.add(AgentEntry::Refused(format!("Not written: {path} ({why})")));
        }
        News::Written { path } => state.add(AgentEntry::Written(path)),
        News::Printed(text) => state.add(AgentEntry::Printed(text)),
    }
}

/// Notes the end of a session. Returns what is said about it.
fn end(state: &mut AgentState, result: Result<SessionEnd, Failure>) -> (Tone, String, String) {
    let end = match result {
        Ok(SessionEnd { fault: None, reason, stopped, unused }) => {
            for path in unused {
                let text = format!(
                    "{path} was approved, and the agent has not sent it: nothing was written"
                );
                state.add(AgentEntry::Refused(text));
            }
            (reason, stopped)
        }
        Ok(SessionEnd { fault: Some(failure), .. }) | Err(failure) => {
            let Failure { message, next, .. } = failure;
            let said = (
                Tone::Danger,
                "The session with the agent has failed.".to_owned(),
                message.clone(),
            );
            state.phase = AgentPhase::Failed { message, next };
            return said;
        }
    };
    let (how, is_success) = match end {
        (_, true) => ("You have stopped the agent.".to_owned(), false),
        (Some(StopReason::EndTurn), _) => ("The agent has ended its turn.".to_owned(), true),
        (Some(StopReason::Cancelled), _) => ("The turn was cancelled.".to_owned(), false),
        (Some(StopReason::Other(word)), _) => {
            (format!("The agent has ended its turn early: {word}."), false)
        }
        (None, _) => ("The agent has not ended its turn.".to_owned(), false),
    };
    let tone = if is_success { Tone::Safe } else { Tone::Dim };
    state.phase = AgentPhase::Done { how: how.clone(), is_success };
    (tone, how, String::new())
}

impl App {
    /// Shows the page. If its form names no workspace, that of the shown plan is filled in.
    pub(super) fn show_agent_page(&mut self) {
        self.show_page(Page::Agent);
        let workspace = self.plan.review().map(|review| &*review.workspace);
        self.agent.prepare(workspace);
    }

    /// Shows the form of a session.
    pub(super) fn new_agent_session(&mut self) {
        self.agent.new_session();
        self.show_agent_page();
    }

    /// Starts the session of the form.
    pub(super) fn start_agent(&mut self) {
        self.agent.start(&self.shared);
    }

    /// Stops the session under way.
    pub(super) fn stop_agent(&mut self) {
        self.agent.stop();
    }

    pub(super) fn apply_agent(&mut self, action: AgentAction) {
        match action {
            AgentAction::Edit(form) => self.agent.form = *form,
            AgentAction::PickFolder => {
                let folder = self.agent.typed_folder().trim();
                let start = (!folder.is_empty()).then(|| folder.into());
                let opened = self.file_picker.start(PickerRequest::Folder(FolderFor::Agent, start));
                let next = "Type the path of the folder.";
                self.shared.report_io(opened, "The folder picker cannot be opened.", next);
            }
        }
    }

    /// Applies what has happened in the session since the last frame.
    pub(super) fn take_agent_news(&mut self) {
        let Some((tone, summary, details)) = self.agent.take_news() else { return };
        if !self.is_busy() && self.plan.queue_place().1 == 0 {
            self.shared.close_prompt(&[Prompt::Close]);
        }
        // On its page, the end is told there.
        if self.shared.page != Page::Agent {
            self.shared.notify(tone, summary, crate::plan::drawable(&details), "");
        }
    }
}
