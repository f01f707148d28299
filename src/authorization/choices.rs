//! What a person chooses before signing (SPEC §2, §7): where and how a plan runs. A plan cannot make these choices. Only
//! the person can run a guided plan automatically; no choice takes away a question that a step or the settings ask for.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Grants, SecretInputs};
use crate::plan::words::words;
use crate::plan::{Destination, Dialect, Digest, Mode, Parsed, ShownPlan};

words! {
    /// Whether local processes of a run are sandboxed behind walls (SPEC §7.5).
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum WallSetting {
        /// A plan that starts a local process cannot run unless this computer has the strongest walls.
        Required = "required",
        /// The strongest walls that this computer has. Without any, more steps ask for confirmation.
        #[default]
        Preferred = "preferred",
        /// No walls. More steps ask for confirmation.
        Off = "off",
    }
}

/// Where the commands of a command plan run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum HostChoice {
    /// Where the plan says.
    #[default]
    OfPlan,
    /// On this computer.
    Local,
    /// On another host.
    Host(Destination),
}

/// The choices that hold for one run and that an approval covers in addition to workspace, host, mode and grants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RunChoices {
    /// Whether every step asks before it runs.
    pub ask_every_step: bool,
    /// The walls of this run; `None` for those of the settings.
    pub walls: Option<WallSetting>,
}

impl RunChoices {
    /// Whether nothing was chosen.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for RunChoices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let asks = self.ask_every_step.then(|| "asks before every step".to_owned());
        let walls = self.walls.map(|walls| format!("walls {}", walls.as_str()));
        let parts: Vec<_> = asks.into_iter().chain(walls).collect();
        f.write_str(if parts.is_empty() { "none" } else { "" })?;
        f.write_str(&parts.join(", "))
    }
}

/// Everything that a person chooses for a plan besides its workspace.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlanChoices {
    /// Where the commands of a command plan run.
    pub host: HostChoice,
    /// How a command plan runs; `None` for the mode of the plan.
    pub mode: Option<Mode>,
    /// What else holds for the run.
    pub run: RunChoices,
    /// What the steps get beyond their walls.
    pub grants: Grants,
    /// The secret inputs that were given.
    pub secret_inputs: SecretInputs,
}

impl PlanChoices {
    /// Ends what holds only for the version of the plan that was reviewed with the choices: the grant of what its steps
    /// propose. Another version may propose more. `chosen_for` and `version` are digests of the plan's bytes.
    pub fn end_with_version(&mut self, chosen_for: Option<Digest>, version: Digest) {
        if chosen_for != Some(version) {
            self.grants.proposed = false;
            self.grants.proposed_for.clear();
        }
    }

    /// The plan with the chosen host and mode. Plans that are no command plans stay unchanged.
    #[must_use]
    pub fn apply(&self, parsed: Parsed) -> Parsed {
        let parsed = match &self.host {
            HostChoice::OfPlan => parsed,
            HostChoice::Local => parsed.on_target(None),
            HostChoice::Host(host) => parsed.on_target(Some(host.as_str())),
        };
        match self.mode {
            Some(mode) => parsed.in_mode(mode),
            None => parsed,
        }
    }

    /// Whether host and mode can be chosen for a plan.
    pub fn has_host_and_mode(plan: &ShownPlan) -> bool {
        plan.dialect == Dialect::CommandPlan
    }
}
