//! The settings that decide about risk and prompts; part of what an approval covers (SPEC §2).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::shell::UserRules;
use crate::authorization::{DEFAULT_TTL_MS, Grants};
use crate::plan::{Digest, TOOLS, Tool};

/// Part of the policy digest: changes whenever a rule of `tools.rs` or `sensitive` does.
const RULES_VERSION: u32 = 8;

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

/// Whether what a run starts on this computer runs behind walls (SPEC §7.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WallSetting {
    /// Nothing runs without the strongest walls.
    Required,
    /// Behind the strongest walls that this computer has; without any, more is asked.
    #[default]
    Preferred,
    /// Without walls, and more is asked.
    Off,
}

impl WallSetting {
    /// The setting as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Required => "required",
            Self::Preferred => "preferred",
            Self::Off => "off",
        }
    }
}

/// What a planner may do (SPEC §7.5): the table `[planners.NAME]` of the settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PlannerNeeds {
    /// Whether it has the network of this computer.
    pub network: bool,
    /// Where it writes: `.` is the workspace; other paths as in `needs` of a command.
    pub write: Vec<String>,
    /// Whether it sees the files of the workspace.
    pub read: bool,
}

impl Default for PlannerNeeds {
    /// It looks, and no more.
    fn default() -> Self {
        Self { network: false, write: Vec::new(), read: true }
    }
}

impl std::fmt::Display for PlannerNeeds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.read { "reads" } else { "does not see the workspace" })?;
        if !self.write.is_empty() {
            let places =
                self.write.iter().map(|path| if path == "." { "the workspace" } else { path });
            write!(f, ", writes {}", places.collect::<Vec<_>>().join(", "))?;
        }
        f.write_str(if self.network { ", network" } else { ", no network" })
    }
}

/// Settings of a planner that ships, which it is handed on its input: they may hold a key.
#[derive(Clone, PartialEq, Eq)]
pub struct PlannerSettings(pub String);

impl std::fmt::Debug for PlannerSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PlannerSettings(…)")
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
    /// Whether what a run starts on this computer runs behind walls.
    pub walls: WallSetting,
    /// What the person grants for a run besides what its plan asks for: told by their flags and clicks, not by
    /// the settings, and no part of the digest, because an approval covers the walls themselves.
    pub grants: Grants,
    /// What planners may do, by their names; it says nothing about plans, and is no part of the digest.
    pub planners: BTreeMap<String, PlannerNeeds>,
    /// What the planners that ship are told of the settings, which they cannot read behind walls.
    pub planner_settings: Option<PlannerSettings>,
    /// The files of workspace commands that the person trusts, each in its workspace (SPEC §9): told by the
    /// evidence, not by the settings, and no part of the digest, because an approval covers the file itself.
    pub trusted_commands: BTreeSet<(PathBuf, Digest)>,
    /// Those that were trusted, and whose trust does not count because nothing proves it: what older versions
    /// recorded, or what was recorded under another key.
    pub unproven_trust: BTreeSet<(PathBuf, Digest)>,
    /// The folders of this program itself, which no tool reaches and which make a command that names them
    /// dangerous (SPEC §4): absolute, filled in where a plan is looked at. No part of the digest: they are
    /// where the approvals themselves are kept.
    pub own_folders: Vec<PathBuf>,
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
            walls: WallSetting::default(),
            grants: Grants::default(),
            planners: BTreeMap::new(),
            planner_settings: None,
            trusted_commands: BTreeSet::new(),
            unproven_trust: BTreeSet::new(),
            own_folders: Vec::new(),
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
            "builtin_command_readers": Digest::of(super::shell::READERS.as_bytes()).to_string(),
            "builtin_needs": Digest::of(super::shell::NEEDS.as_bytes()).to_string(),
            "command_rules": self.command_rules,
            "authorization_ttl_ms": self.authorization_ttl_ms,
            "confirm_tools": tools,
            "engine": self.engine,
            "extra_roots": roots,
            "refusal": self.refusal,
            "rules": RULES_VERSION,
            "splice_program": splice,
            "ssh_config": ssh_config,
            "walls": self.walls,
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
            Policy { walls: WallSetting::Required, ..policy.clone() },
            Policy { walls: WallSetting::Off, ..policy.clone() },
            with_rule(RiskLevel::Blocked),
            with_rule(RiskLevel::Caution),
        ];
        let mut digests: BTreeSet<_> =
            changed.iter().map(|other| other.digest().to_string()).collect();
        digests.insert(policy.digest().to_string());
        assert_eq!(digests.len(), changed.len() + 1);
        assert_eq!(policy.clone().digest(), policy.digest());
        let granted = Grants { network: true, ..Grants::default() };
        let granted = Policy { grants: granted, ..policy.clone() };
        assert_eq!(granted.digest(), policy.digest(), "an approval covers the walls themselves");
    }
}
