//! The settings that decide about risk and prompts; part of what an approval covers (SPEC §2).

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::authorization::DEFAULT_TTL_MS;
use crate::plan::{Digest, Tool};

/// What the person has settled in advance. A plan cannot change any of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Tools for which a person is asked at every step.
    pub confirm_tools: BTreeSet<Tool>,
    /// Folders besides the workspace that tools may reach.
    pub extra_roots: Vec<PathBuf>,
    /// How long an approval waits for its run, in milliseconds.
    pub authorization_ttl_ms: i64,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            confirm_tools: BTreeSet::new(),
            extra_roots: Vec::new(),
            authorization_ttl_ms: DEFAULT_TTL_MS,
        }
    }
}

impl Policy {
    /// The digest that an approval and every decision carry; changes with anything that could
    /// change a verdict, a prompt or a limit.
    pub fn digest(&self) -> Digest {
        let tools: Vec<_> = self.confirm_tools.iter().map(|tool| tool.name()).collect();
        let roots: Vec<_> = self.extra_roots.iter().map(|root| root.to_string_lossy()).collect();
        let canonical = serde_json::json!({
            "authorization_ttl_ms": self.authorization_ttl_ms,
            "confirm_tools": tools,
            "extra_roots": roots,
            "rules": super::tools::RULES_VERSION,
        });
        Digest::of(canonical.to_string().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_changes_with_every_setting() {
        let policy = Policy::default();
        let changed = [
            Policy { confirm_tools: BTreeSet::from([Tool::FileRead]), ..policy.clone() },
            Policy { extra_roots: vec!["/data".into()], ..policy.clone() },
            Policy { authorization_ttl_ms: 1, ..policy.clone() },
        ];
        for other in changed {
            assert_ne!(other.digest(), policy.digest());
        }
        assert_eq!(policy.clone().digest(), policy.digest());
    }
}
