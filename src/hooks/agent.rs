//! The agents whose hooks are known.

/// An agent with hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agent {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
}

impl Agent {
    /// All agents.
    pub const ALL: [Self; 3] = [Self::Claude, Self::Codex, Self::Gemini];

    /// The word for it on the command line and in the channel.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
        }
    }

    /// The agent with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|agent| agent.as_str() == word)
    }

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
        }
    }

    /// The event for which the hook answers.
    pub const fn event(self) -> &'static str {
        match self {
            Self::Claude | Self::Codex => "PreToolUse",
            Self::Gemini => "BeforeTool",
        }
    }

    /// How long the agent waits for a hook if its settings do not say so, in seconds.
    pub const fn patience_seconds(self) -> u64 {
        match self {
            Self::Claude | Self::Codex => 600,
            Self::Gemini => 60,
        }
    }

    /// How long a person is waited for by default, in seconds: the answer must be there before the agent's own limit, of
    /// which starting the hook takes a part.
    pub const fn default_timeout_seconds(self) -> u64 {
        self.patience_seconds() - self.patience_seconds() / 10
    }
}
