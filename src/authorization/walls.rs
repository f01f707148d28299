//! The walls of a step (SPEC §7.5), which authorizations cover and the evidence records. Pure data: `process` detects
//! the available level and starts programs behind walls; the review decides the walls of each step.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::plan::words::words;

words! {
    /// The strength of walls. A stronger level is greater.
    #[derive(
        Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
    )]
    #[serde(rename_all = "snake_case")]
    pub enum WallLevel {
        /// No walls.
        #[default]
        None = "none",
        /// Landlock with seccomp. Protects file contents, file names and the network, but not the metadata of files
        /// outside the workspace.
        Files = "files",
        /// bubblewrap with Landlock and seccomp. Protects everything that SPEC §7.5 lists.
        Full = "full",
    }
}

impl fmt::Display for WallLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for StepWalls {
    /// The level, then everything that the step may do beyond it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.level.as_str())?;
        for (granted, what) in [
            (self.open, "open"),
            (self.network, "network"),
            (self.writes_repository, "writes the repository"),
            (self.terminal, "terminal"),
        ] {
            if granted {
                write!(f, ", {what}")?;
            }
        }
        for path in &self.write {
            write!(f, ", writes {path}")?;
        }
        Ok(())
    }
}

/// The walls of one step on this computer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StepWalls {
    /// The strength of the walls; [`WallLevel::None`] if the step runs without walls.
    pub level: WallLevel,
    /// Whether the step may use the network of this computer.
    pub network: bool,
    /// Absolute paths outside the workspace that the step may write, sorted.
    pub write: Vec<String>,
    /// Whether the step may write below `.git`, except configuration and hooks.
    pub writes_repository: bool,
    /// Whether the step gets a terminal.
    pub terminal: bool,
    /// Whether the step runs without walls because its `needs`, or a granted proposal, include `open`.
    pub open: bool,
}

impl StepWalls {
    /// No walls and no grants.
    pub const NONE: &'static Self = &Self {
        level: WallLevel::None,
        network: false,
        write: Vec::new(),
        writes_repository: false,
        terminal: false,
        open: false,
    };

    /// Whether needs or grants widen the step's access: the network, paths outside the workspace, or no walls at all
    /// (`open`). Walls that this computer lacks do not count.
    pub fn is_widened(&self) -> bool {
        self.open || self.network || !self.write.is_empty()
    }
}

/// Access that a person grants for a run in addition to the plan's `needs` (SPEC §7.5). The effect on each step is
/// part of the binding's walls, so that an authorization covers it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Grants {
    /// Whether every proposal of the review is granted.
    pub proposed: bool,
    /// The ids of the steps whose proposal of the review is granted.
    pub proposed_for: BTreeSet<String>,
    /// Whether every step behind walls may use the network.
    pub network: bool,
    /// Absolute paths that every step behind walls may write.
    pub write: BTreeSet<String>,
}

impl fmt::Display for Grants {
    /// The grants for all steps. Proposals that are granted for single steps are left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            self.proposed.then(|| "what is proposed".to_owned()),
            self.network.then(|| "network".to_owned()),
            (!self.write.is_empty()).then(|| {
                format!("writes {}", self.write.iter().cloned().collect::<Vec<_>>().join(", "))
            }),
        ];
        let parts: Vec<_> = parts.into_iter().flatten().collect();
        f.write_str(if parts.is_empty() { "nothing" } else { "" })?;
        f.write_str(&parts.join(", "))
    }
}

impl Grants {
    /// Whether nothing is granted.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What of them can be granted to every plan; `None` if nothing. A grant for a single step cannot, because a step id
    /// is unique only within its plan.
    pub fn for_every_plan(&self) -> Option<Self> {
        let grants = Self { proposed_for: BTreeSet::new(), ..self.clone() };
        (!grants.is_empty()).then_some(grants)
    }

    /// The union of both grants.
    #[must_use]
    pub fn with(&self, more: &Self) -> Self {
        Self {
            proposed: self.proposed || more.proposed,
            proposed_for: self.proposed_for.union(&more.proposed_for).cloned().collect(),
            network: self.network || more.network,
            write: self.write.union(&more.write).cloned().collect(),
        }
    }

    /// Whether the review's proposal for this step is granted.
    pub fn includes_proposal(&self, step_id: &str) -> bool {
        self.proposed || self.proposed_for.contains(step_id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walls_text_names_every_grant() {
        let walls = StepWalls {
            level: WallLevel::Full,
            network: true,
            write: vec!["/srv/a".to_owned()],
            ..StepWalls::default()
        };
        assert_eq!(walls.to_string(), "full, network, writes /srv/a");
        assert!(walls.is_widened() && !StepWalls::default().is_widened());
        assert!(WallLevel::Full > WallLevel::Files && WallLevel::Files > WallLevel::None);
    }

    #[test]
    fn older_records_have_no_grants() {
        let grants: Grants = serde_json::from_str("{}").unwrap();
        assert!(grants.is_empty() && !grants.includes_proposal("a"));
        let one = Grants { proposed_for: BTreeSet::from(["a".to_owned()]), ..grants };
        assert!(one.includes_proposal("a") && !one.includes_proposal("b"));
    }
}
