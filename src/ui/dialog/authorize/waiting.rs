//! The agent that waits for an authorization.

use crate::plan::prose;
use crate::run::NO_DEADLINE_MS;
use crate::ui::Now;

/// An agent that waits for the authorization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingAgent {
    /// Its name.
    pub name: String,
    /// Whether it makes the call itself. Otherwise the plan is run here.
    pub acts: bool,
    /// Until when it waits, in Unix milliseconds; [`NO_DEADLINE_MS`] without an end.
    pub until_ms: i64,
}

impl WaitingAgent {
    /// What the authorization leads to, as sentences.
    pub(super) fn sentences(&self, now: &Now) -> String {
        let name = prose(&self.name);
        let until = match self.until_ms {
            NO_DEADLINE_MS => String::new(),
            until_ms => format!(" It waits until {}.", now.second(until_ms)),
        };
        match self.acts {
            true => format!(
                "{name} does it itself as soon as you authorize it, in its own way. The evidence keeps no old contents.{until}"
            ),
            false => {
                format!("It runs as soon as you authorize it, because {name} waits for it.{until}")
            }
        }
    }
}
