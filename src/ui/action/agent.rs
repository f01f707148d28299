//! The actions on the page of an agent.

use crate::ui::agent_page::AgentForm;

/// An action on the page of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentAction {
    /// The form changed to this.
    Edit(Box<AgentForm>),
    /// Choose a folder for the form.
    PickFolder,
}
