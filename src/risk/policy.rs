//! The settings that decide about risk and prompts; part of what an approval covers (SPEC §2).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::UserRules;
use crate::authorization::DEFAULT_TTL_MS;
use crate::plan::{Digest, TOOLS, Tool};

/// Who reads symbols and replaces definitions (SPEC §4, code engines).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EngineChoice {
    /// The external one where a fresh `codegraph.db` is there, else the embedded one.
    #[default]
    Auto,
    /// The grammars that are built in.
    Embedded,
    /// The programs `magellan` and `splice`; what of them is missing is an error.
    External,
}

impl EngineChoice {
    /// The choice as it is written in settings and on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Embedded => "embedded",
            Self::External => "external",
        }
    }
}

/// What the person has settled in advance. A plan cannot change any of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Tools for which a person is asked at every step.
    pub confirm_tools: BTreeSet<Tool>,
    /// Folders besides the workspace that tools may reach.
    pub extra_roots: Vec<PathBuf>,
    /// How long an approval waits for its run, in milliseconds.
    pub authorization_ttl_ms: i64,
    /// Who reads symbols and replaces definitions.
    pub engine: EngineChoice,
    /// The program `splice`; none for the one on `PATH`.
    pub splice_program: Option<PathBuf>,
    /// The settings file of the SSH client; none for the client's own (SPEC §7.3).
    pub ssh_config: Option<PathBuf>,
    /// The person's own rules for commands.
    pub command_rules: UserRules,
    /// The files of workspace commands that the person trusts, each in its workspace (SPEC §9): told by the
    /// evidence, not by the settings, and no part of the digest, because an approval covers the file itself.
    pub trusted_commands: BTreeSet<(PathBuf, Digest)>,
    /// Why nothing may run: the settings are there and cannot be used (SPEC §7.1).
    pub refusal: Option<String>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            confirm_tools: BTreeSet::new(),
            extra_roots: Vec::new(),
            authorization_ttl_ms: DEFAULT_TTL_MS,
            engine: EngineChoice::default(),
            splice_program: None,
            ssh_config: None,
            command_rules: UserRules::default(),
            trusted_commands: BTreeSet::new(),
            refusal: None,
        }
    }
}

impl Policy {
    /// The policy of settings that cannot be used: nothing runs under it, and it asks everywhere.
    pub fn refusing(why: String) -> Self {
        let confirm_tools = TOOLS.iter().map(|spec| spec.tool).collect();
        Self { confirm_tools, refusal: Some(why), ..Self::default() }
    }

    /// The files of commands that the person trusts in this workspace.
    pub fn trusted_in(&self, workspace: &Path) -> BTreeSet<Digest> {
        let here = self.trusted_commands.iter().filter(|(folder, _)| folder == workspace);
        here.map(|(_, digest)| *digest).collect()
    }

    /// The digest that an approval and every decision carry; changes with anything that could
    /// change a verdict, a prompt or a limit.
    pub fn digest(&self) -> Digest {
        let tools: Vec<_> = self.confirm_tools.iter().map(|tool| tool.name()).collect();
        let roots: Vec<_> = self.extra_roots.iter().map(|root| root.to_string_lossy()).collect();
        let splice = self.splice_program.as_ref().map(|path| path.to_string_lossy());
        let ssh_config = self.ssh_config.as_ref().map(|path| path.to_string_lossy());
        let canonical = serde_json::json!({
            "builtin_command_rules": Digest::of(super::shell::RULES.as_bytes()).to_string(),
            "command_rules": self.command_rules,
            "authorization_ttl_ms": self.authorization_ttl_ms,
            "confirm_tools": tools,
            "engine": self.engine,
            "extra_roots": roots,
            "refusal": self.refusal,
            "rules": super::tools::RULES_VERSION,
            "splice_program": splice,
            "ssh_config": ssh_config,
        });
        Digest::of(canonical.to_string().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::risk::{RiskLevel, UserRule};

    fn with_rule(level: RiskLevel) -> Policy {
        let rule = UserRule {
            id: "mine".to_owned(),
            prefix: vec!["make".to_owned()],
            level,
            reason: "because".to_owned(),
            must_match: vec!["make all".to_owned()],
            must_not_match: Vec::new(),
        };
        let command_rules = UserRules::new(vec![rule]).unwrap();
        Policy { command_rules, ..Policy::default() }
    }

    #[test]
    fn the_digest_changes_with_every_setting() {
        let policy = Policy::default();
        let changed = [
            Policy { confirm_tools: BTreeSet::from([Tool::FileRead]), ..policy.clone() },
            Policy { extra_roots: vec!["/data".into()], ..policy.clone() },
            Policy { authorization_ttl_ms: 1, ..policy.clone() },
            Policy { engine: EngineChoice::External, ..policy.clone() },
            Policy { splice_program: Some("/opt/splice".into()), ..policy.clone() },
            Policy { ssh_config: Some("/opt/ssh_config".into()), ..policy.clone() },
            Policy { refusal: Some("no".to_owned()), ..policy.clone() },
            with_rule(RiskLevel::Blocked),
            with_rule(RiskLevel::Caution),
        ];
        let mut digests: BTreeSet<_> =
            changed.iter().map(|other| other.digest().to_string()).collect();
        digests.insert(policy.digest().to_string());
        assert_eq!(digests.len(), changed.len() + 1);
        assert_eq!(policy.clone().digest(), policy.digest());
    }
}
