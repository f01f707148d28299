//! What the page of an agent shows.

use std::collections::VecDeque;

/// The maximum size of what an agent has said that is shown, in bytes. Of more, the latest is shown.
pub const SHOWN_BYTES: usize = 256 << 10;
/// The maximum number of entries that are shown.
const MAX_ENTRIES: usize = 2_000;

/// The fields of the form.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AgentForm {
    /// The command that starts the agent.
    pub command: String,
    /// What the agent is asked to do.
    pub prompt: String,
    /// The folder in which it works.
    pub workspace: String,
    /// Why the last session could not begin.
    pub refusal: Option<String>,
}

impl AgentForm {
    /// What has to be entered before a session can start; `None` when nothing is missing.
    pub fn missing(&self) -> Option<&'static str> {
        let fields = [
            (&self.prompt, "Say what the agent is to do."),
            (&self.command, "Name the command of an agent."),
            (&self.workspace, "Choose the folder in which it works."),
        ];
        fields.into_iter().find(|(text, _)| text.trim().is_empty()).map(|(_, missing)| missing)
    }
}

/// How far a session is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum AgentPhase {
    /// The program was started and has not answered yet.
    #[default]
    Starting,
    /// The agent works.
    Working,
    /// The person has stopped it, and it has not ended yet.
    Stopping,
    /// The agent has ended its turn.
    Done {
        /// What is said about it.
        how: String,
        /// Whether this is what the agent was asked for.
        is_success: bool,
    },
    /// The session has failed.
    Failed {
        /// What went wrong.
        message: String,
        /// What to do next; may be empty.
        next: String,
    },
}

/// An entry of an agent's plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanLine {
    /// What is to be done.
    pub content: String,
    /// The agent's word about it.
    pub status: String,
}

/// A part of what has happened in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentEntry {
    /// Words of the agent.
    Words(String),
    /// Thoughts of the agent.
    Thought(String),
    /// A call of a tool of the agent.
    Call {
        /// The agent's id of it.
        id: String,
        /// What the agent calls it.
        title: String,
        /// The agent's word about it.
        status: String,
    },
    /// What the program of the agent has printed besides its messages.
    Printed(String),
    /// A file was written here.
    Written(String),
    /// Something was not done, and why.
    Refused(String),
}

/// A session with an agent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AgentState {
    /// The command that started it.
    pub command: String,
    /// What it was asked to do.
    pub prompt: String,
    /// The folder in which it works.
    pub workspace: String,
    /// What the agent calls itself; empty before it has answered.
    pub name: String,
    /// What it may do by itself, and what enforces this.
    pub limits: String,
    /// Whether walls keep it from changing the workspace by itself.
    pub is_held: bool,
    /// How far it is.
    pub phase: AgentPhase,
    /// Its plan.
    pub plan: Vec<PlanLine>,
    /// What has happened, in its order.
    pub entries: VecDeque<AgentEntry>,
    /// The size of the entries, in bytes.
    pub bytes: usize,
    /// Whether the beginning is not shown any more.
    pub is_cut: bool,
}

impl AgentState {
    /// Whether the session is over.
    pub fn is_over(&self) -> bool {
        matches!(self.phase, AgentPhase::Done { .. } | AgentPhase::Failed { .. })
    }

    /// Adds an entry. A further part of a text is added to the one before it, and a call replaces what was said of it.
    pub fn add(&mut self, entry: AgentEntry) {
        self.bytes += entry.size();
        if let AgentEntry::Call { id, .. } = &entry {
            let is_same = |it: &&mut AgentEntry| matches!(it, AgentEntry::Call { id: other, .. } if other == id);
            if let Some(known) = self.entries.iter_mut().find(is_same) {
                self.bytes -= known.size();
                *known = entry;
                return;
            }
        }
        match (self.entries.back_mut(), &entry) {
            (Some(AgentEntry::Words(before)), AgentEntry::Words(text))
            | (Some(AgentEntry::Thought(before)), AgentEntry::Thought(text))
            | (Some(AgentEntry::Printed(before)), AgentEntry::Printed(text)) => {
                before.push_str(text);
            }
            _ => self.entries.push_back(entry),
        }
        while self.bytes > SHOWN_BYTES || self.entries.len() > MAX_ENTRIES {
            self.is_cut = true;
            self.cut();
        }
    }

    /// Drops the oldest entry, or the beginning of the only one.
    fn cut(&mut self) {
        if self.entries.len() > 1
            && let Some(oldest) = self.entries.pop_front()
        {
            self.bytes = self.bytes.saturating_sub(oldest.size());
            return;
        }
        let Some(only) = self.entries.front_mut() else {
            self.bytes = 0;
            return;
        };
        let text = only.text_mut();
        let start = text.ceil_char_boundary(text.len().saturating_sub(SHOWN_BYTES / 2));
        text.drain(..start);
        self.bytes = only.size();
    }
}

impl AgentEntry {
    fn text_mut(&mut self) -> &mut String {
        match self {
            Self::Words(text)
            | Self::Thought(text)
            | Self::Printed(text)
            | Self::Written(text)
            | Self::Refused(text)
            | Self::Call { title: text, .. } => text,
        }
    }

    fn size(&self) -> usize {
        match self {
            Self::Words(text)
            | Self::Thought(text)
            | Self::Printed(text)
            | Self::Written(text)
            | Self::Refused(text)
            | Self::Call { title: text, .. } => text.len(),
        }
    }
}
