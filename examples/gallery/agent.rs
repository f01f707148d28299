//! Example sessions with an agent.

use countersign::ui::action::AgentAction;
use countersign::ui::agent_page::{
    AgentEntry, AgentForm, AgentPhase, AgentState, AgentView, PlanLine,
};

/// The page of an agent.
pub struct AgentScene {
    pub form: AgentForm,
    pub state: Option<AgentState>,
    is_waiting: bool,
}

impl AgentScene {
    pub fn new(name: &str) -> Self {
        let filled = AgentForm {
            command: "gemini --acp".to_owned(),
            prompt: "Mend the parser, and add a test for empty input.".to_owned(),
            workspace: "/home/ada/parser".to_owned(),
            refusal: None,
        };
        let (form, state) = match name {
            "agent-filled" => (filled, None),
            "agent-refused" => {
                let refusal = Some("A quotation mark is never closed.".to_owned());
                (AgentForm { refusal, ..filled }, None)
            }
            "agent-working" | "agent-waiting" => (filled, Some(session(AgentPhase::Working))),
            "agent-starting" => {
                let state = AgentState { name: String::new(), ..session(AgentPhase::Starting) };
                (filled, Some(AgentState { plan: Vec::new(), entries: [].into(), ..state }))
            }
            "agent-done" => {
                let how = "The agent has ended its turn.".to_owned();
                (filled, Some(session(AgentPhase::Done { how, is_success: true })))
            }
            "agent-failed" => {
                let failed = AgentPhase::Failed {
                    message: "nobody is logged in to the agent (Authentication required)".to_owned(),
                    next: "Start the agent by itself and log in, or set its variable with the key. It offers: \
                           Log in with Google, Gemini API key."
                        .to_owned(),
                };
                (filled, Some(session(failed)))
            }
            _ => (AgentForm::default(), None),
        };
        Self { form, state, is_waiting: name == "agent-waiting" }
    }

    pub fn waiting(&self) -> usize {
        usize::from(self.is_waiting)
    }

    pub fn works(&self) -> bool {
        self.state.as_ref().is_some_and(|state| !state.is_over())
    }

    pub fn play(&mut self, action: &AgentAction) {
        if let AgentAction::Edit(form) = action {
            self.form = (**form).clone();
        }
    }

    pub fn view(&self) -> AgentView<'_> {
        let waiting = self.waiting();
        AgentView { form: &self.form, shown: self.state.as_ref(), waiting, focus_prompt: false }
    }
}

fn session(phase: AgentPhase) -> AgentState {
    let line = |content: &str, status: &str| PlanLine {
        content: content.to_owned(),
        status: status.to_owned(),
    };
    let call = |id: &str, title: &str, status: &str| AgentEntry::Call {
        id: id.to_owned(),
        title: title.to_owned(),
        status: status.to_owned(),
    };
    let mut state = AgentState {
        command: "gemini --acp".to_owned(),
        prompt: "Mend the parser, and add a test for empty input.".to_owned(),
        workspace: "/home/ada/parser".to_owned(),
        name: "Gemini CLI 0.61.0".to_owned(),
        limits: "reads, writes /home/ada/.gemini without its settings, network; walls: full"
            .to_owned(),
        is_held: true,
        phase,
        plan: vec![
            line("Find where the parser fails", "completed"),
            line("Mend it", "in_progress"),
            line("Add a test", "pending"),
        ],
        ..AgentState::default()
    };
    for entry in [
        AgentEntry::Printed("Loaded cached credentials.\n".to_owned()),
        AgentEntry::Thought("The tokenizer indexes the first byte without a check.".to_owned()),
        call("1", "src/parser.rs", "completed"),
        AgentEntry::Words(
            "The parser fails on empty input, because it reads the first byte before it looks whether there is one.\n\
             I will change `parse` so that it returns an error instead.\u{202e}"
                .to_owned(),
        ),
        call("2", "Writing to src/parser.rs", "completed"),
        AgentEntry::Written("src/parser.rs".to_owned()),
        AgentEntry::Refused(
            "Rejected, because it cannot be approved: cargo test (the agent does not show what it would do)"
                .to_owned(),
        ),
        call("4", "Writing to tests/empty.rs", "pending"),
    ] {
        state.add(entry);
    }
    state
}
