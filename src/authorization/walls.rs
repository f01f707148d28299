//! The walls of a step (SPEC §7.5): what an approval covers and the evidence records. Pure data; finding
//! the level and putting a process behind walls is done in `tools`.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::plan::words::words;

words! {
    /// How strong the walls of this computer are; ordered, the strongest is the greatest.
    #[derive(
        Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
    )]
    #[serde(rename_all = "snake_case")]
    pub enum WallLevel {
        /// No walls.
        #[default]
        None = "none",
        /// Landlock with seccomp: contents, names and network, not metadata outside the workspace.
        Files = "files",
        /// bubblewrap with Landlock and seccomp: everything that SPEC §7.5 lists.
        Full = "full",
    }
}

impl fmt::Display for WallLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for StepWalls {
    /// The level, and everything that is granted beyond it.
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

/// The walls that one step gets on this computer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StepWalls {
    /// How strong they are; none for an open step, without walls, and on another host.
    pub level: WallLevel,
    /// Whether the network of this computer is granted.
    pub network: bool,
    /// Absolute paths outside the workspace in which writing is granted, sorted.
    pub write: Vec<String>,
    /// Whether the step may write `.git` except its configuration and hooks.
    pub writes_repository: bool,
    /// Whether a terminal is granted.
    pub terminal: bool,
    /// Whether the step was signed to run without walls.
    pub open: bool,
}

impl StepWalls {
    /// No walls at all.
    pub const NONE: &'static Self = &Self {
        level: WallLevel::None,
        network: false,
        write: Vec::new(),
        writes_repository: false,
        terminal: false,
        open: false,
    };

    /// Whether the step may do something outside the workspace that only a grant allows.
    pub fn is_widened(&self) -> bool {
        self.open || self.network || !self.write.is_empty()
    }
}

/// What a person grants for a run besides what its plan asks for (SPEC §7.5). What comes of it for each step
/// stands in the binding, so that an approval covers it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Grants {
    /// What the review proposes, for every step.
    pub proposed: bool,
    /// What the review proposes, for these steps, by their ids.
    pub proposed_for: BTreeSet<String>,
    /// The network, for every step that has walls.
    pub network: bool,
    /// Absolute paths in which every step that has walls may write.
    pub write: BTreeSet<String>,
}

impl fmt::Display for Grants {
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

    /// What is granted by either.
    #[must_use]
    pub fn with(&self, more: &Self) -> Self {
        Self {
            proposed: self.proposed || more.proposed,
            proposed_for: self.proposed_for.union(&more.proposed_for).cloned().collect(),
            network: self.network || more.network,
            write: self.write.union(&more.write).cloned().collect(),
        }
    }

    /// Whether what is proposed for this step is granted.
    pub fn takes_proposal(&self, step_id: &str) -> bool {
        self.proposed || self.proposed_for.contains(step_id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walls_are_told_with_every_grant() {
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
    fn grants_of_an_older_record_are_none() {
        let grants: Grants = serde_json::from_str("{}").unwrap();
        assert!(grants.is_empty() && !grants.takes_proposal("a"));
        let one = Grants { proposed_for: BTreeSet::from(["a".to_owned()]), ..grants };
        assert!(one.takes_proposal("a") && !one.takes_proposal("b"));
    }
}
