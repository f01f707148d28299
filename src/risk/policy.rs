//! The settings that affect risk and prompts. An approval covers them (SPEC §2).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Repositories, UserRules, sensitive, shell};
use crate::authorization::{
    DEFAULT_TTL_MS, Grants, ReviewSignature, RunChoices, SecretInputs, Signing, WallSetting,
};
use crate::plan::words::words;
use crate::plan::{Digest, TOOLS, Tool};

/// Part of the policy digest. Raise it with every change of a rule in `tools.rs` or `sensitive.rs`.
const RULES_VERSION: u32 = 9;

/// The files of `assets/risk`. The policy digest covers all of them.
const TABLES: [&[&str]; 2] = [
    &[shell::RULES, shell::READERS, shell::NEEDS, shell::GIT_SETTINGS, sensitive::TEXT],
    &shell::WORDS,
];

words! {
    /// Which engine finds symbols and replaces definitions (SPEC §4, code engines).
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum EngineChoice {
        /// The external engine if there is an up-to-date `codegraph.db`, else the embedded one.
        #[default]
        Auto = "auto",
        /// The built-in grammars.
        Embedded = "embedded",
        /// The programs `magellan` and `splice`. It is an error if one of them is missing.
        External = "external",
    }
}

/// What a planner may do (SPEC §7.5): the table `[planners.NAME]` of the settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PlannerNeeds {
    /// Whether the planner may use the network.
    pub network: bool,
    /// Paths that the planner may write: `.` is the workspace; other paths as in `needs` of a command.
    pub write: Vec<String>,
    /// Whether the planner may read the workspace.
    pub read: bool,
    /// The folder of the agent, if a bundled planner is one. No setting names it.
    #[serde(skip)]
    pub agent_folder: Option<AgentFolder>,
}

/// The folder in which an agent keeps its login, its sessions and its settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentFolder {
    /// The folder, absolute. The agent may write in it.
    pub folder: PathBuf,
    /// What the agent may not write in it, relative to the folder: its settings, and what it would run.
    pub read_only: Vec<&'static str>,
}

impl Default for PlannerNeeds {
    /// Read-only access to the workspace.
    fn default() -> Self {
        Self { network: false, write: Vec::new(), read: true, agent_folder: None }
    }
}

impl PlannerNeeds {
    /// The most that a planner of this name may do as long as the settings name it nowhere: agents and `openai-compatible`
    /// use the network, `cargo-fix` writes in the workspace.
    #[must_use]
    pub fn at_most_unnamed(name: &str) -> Self {
        let builds = name.split(':').next() == Some("cargo-fix");
        let write = if builds { vec![".".to_owned()] } else { Vec::new() };
        Self { network: true, write, ..Self::default() }
    }
}

impl std::fmt::Display for PlannerNeeds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.read { "reads" } else { "does not see the workspace" })?;
        if !self.write.is_empty() {
            let paths =
                self.write.iter().map(|path| if path == "." { "the workspace" } else { path });
            write!(f, ", writes {}", paths.collect::<Vec<_>>().join(", "))?;
        }
        if let Some(agent) = &self.agent_folder {
            write!(f, ", writes {} without its settings", agent.folder.display())?;
        }
        f.write_str(if self.network { ", network" } else { ", no network" })
    }
}

/// Settings that the bundled planner of a model receives on its standard input. They may contain a key.
#[derive(Clone, PartialEq, Eq)]
pub struct PlannerSettings(pub String);

impl std::fmt::Debug for PlannerSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PlannerSettings(…)")
    }
}

/// Decisions that the user makes in advance. A plan cannot change any of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Tools that ask for confirmation at every step.
    pub confirm_tools: BTreeSet<Tool>,
    /// Folders besides the workspace that tools may reach.
    pub extra_roots: Vec<PathBuf>,
    /// How long an approval is valid before its run begins, in milliseconds.
    pub authorization_ttl_ms: i64,
    /// Which engine finds symbols and replaces definitions.
    pub engine: EngineChoice,
    /// The program `splice`; `None` for the one on `PATH`.
    pub splice_program: Option<PathBuf>,
    /// The settings file of the SSH client; `None` for the client's default (SPEC §7.3).
    pub ssh_config: Option<PathBuf>,
    /// The user's own rules for commands.
    pub command_rules: UserRules,
    /// Whether local processes of a run are sandboxed behind walls, unless `choices` say otherwise; see
    /// [`Policy::wall_setting`].
    pub walls: WallSetting,
    /// What the user has chosen for one run. Not part of the digest, because an approval covers the choices themselves.
    pub choices: RunChoices,
    /// Access that the user grants to a run in addition to the plan's `needs`. Grants come from flags and clicks, not
    /// from the settings. They are not part of the digest, because an approval covers the walls themselves.
    pub grants: Grants,
    /// The secret inputs that a person has given for this run. Not part of the digest, because an approval covers digests
    /// of their own.
    pub secret_inputs: SecretInputs,
    /// What planners may do, by planner name. This does not affect plans and is not part of the digest.
    pub planners: BTreeMap<String, PlannerNeeds>,
    /// Settings for the bundled planner of a model, which cannot read their file behind walls. Not part of the digest.
    pub planner_settings: Option<PlannerSettings>,
    /// Digests of the files with workspace commands that the user trusts, each with its workspace (SPEC §9). They come
    /// from the evidence, not from the settings, and are not part of the digest of the policy, because an approval
    /// covers the file itself.
    pub trusted_commands: BTreeSet<(PathBuf, Digest)>,
    /// Digests of the files whose recorded trust has no valid proof, because an older version or another key recorded
    /// it, each with its workspace. Not part of the digest of the policy.
    pub unproven_trust: BTreeSet<(PathBuf, Digest)>,
    /// The folders of this program, which no tool may access and which make a command that names them dangerous
    /// (SPEC §4). Absolute paths, filled in when a plan is reviewed. Not part of the digest, because the approvals
    /// are stored there.
    pub own_folders: Vec<PathBuf>,
    /// What the settings of repositories make git run, which decides whether a reading call of git is safe. Filled in when
    /// a plan is reviewed, and again when a step begins. Not part of the digest.
    pub repositories: Repositories,
    /// The key of the person that signs, and what it signs; `None` if nothing is signed. Not part of the digest: it does not
    /// affect what a plan does, and the executor compares it with the signature itself.
    pub signing: Option<Signing>,
    /// The signatures of other persons that were given for this run. Not part of the digest.
    pub review_signatures: Vec<ReviewSignature>,
    /// Why nothing may run: the settings exist but are unusable (SPEC §7.1).
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
            choices: RunChoices::default(),
            grants: Grants::default(),
            secret_inputs: SecretInputs::default(),
            planners: BTreeMap::new(),
            planner_settings: None,
            trusted_commands: BTreeSet::new(),
            unproven_trust: BTreeSet::new(),
            own_folders: Vec::new(),
            repositories: Repositories::default(),
            signing: None,
            review_signatures: Vec::new(),
            refusal: None,
        }
    }
}

impl Policy {
    /// The policy for unusable settings: nothing runs under it, and every tool asks for confirmation.
    pub fn refusing(reason: String) -> Self {
        let confirm_tools = TOOLS.iter().map(|spec| spec.tool).collect();
        Self { confirm_tools, refusal: Some(reason), ..Self::default() }
    }

    /// The walls of a run. Required walls cannot be given up for one run.
    pub fn wall_setting(&self) -> WallSetting {
        match (self.walls, self.choices.walls) {
            (WallSetting::Required, _) => WallSetting::Required,
            (setting, chosen) => chosen.unwrap_or(setting),
        }
    }

    /// Takes over what the settings say in another policy, which was read from them. What a run was given, and what was
    /// found in the evidence, stays.
    pub fn take_settings(&mut self, read: &Self) {
        let Self {
            confirm_tools,
            extra_roots,
            authorization_ttl_ms,
            engine,
            splice_program,
            ssh_config,
            command_rules,
            walls,
            planners,
            planner_settings,
            signing,
            // Not from the settings, or only at the start.
            choices: _,
            grants: _,
            secret_inputs: _,
            trusted_commands: _,
            unproven_trust: _,
            own_folders: _,
            repositories: _,
            review_signatures: _,
            refusal: _,
        } = read;
        self.confirm_tools.clone_from(confirm_tools);
        self.extra_roots.clone_from(extra_roots);
        self.authorization_ttl_ms = *authorization_ttl_ms;
        self.engine = *engine;
        self.splice_program.clone_from(splice_program);
        self.ssh_config.clone_from(ssh_config);
        self.command_rules.clone_from(command_rules);
        self.walls = *walls;
        self.planners.clone_from(planners);
        self.planner_settings.clone_from(planner_settings);
        self.signing.clone_from(signing);
    }

    /// The digests of the workspace command files that the user trusts in this workspace.
    pub fn trusted_in(&self, workspace: &Path) -> BTreeSet<Digest> {
        let trusted = self.trusted_commands.iter().filter(|(folder, _)| folder == workspace);
        trusted.map(|(_, digest)| *digest).collect()
    }

    /// The digest that is stored with an approval and with every decision. It changes with all settings that could
    /// change a verdict, a prompt or a limit; the comments of the fields name the exceptions.
    pub fn digest(&self) -> Digest {
        let tools: Vec<_> = self.confirm_tools.iter().map(|tool| tool.name()).collect();
        let roots: Vec<_> = self.extra_roots.iter().map(|root| root.to_string_lossy()).collect();
        let splice = self.splice_program.as_ref().map(|path| path.to_string_lossy());
        let ssh_config = self.ssh_config.as_ref().map(|path| path.to_string_lossy());
        let tables = TABLES.concat();
        let tables: Vec<_> =
            tables.iter().map(|text| Digest::of(text.as_bytes()).to_string()).collect();
        let canonical = serde_json::json!({
            "command_rules": self.command_rules,
            "authorization_ttl_ms": self.authorization_ttl_ms,
            "confirm_tools": tools,
            "engine": self.engine,
            "extra_roots": roots,
            "refusal": self.refusal,
            "rules": RULES_VERSION,
            "splice_program": splice,
            "ssh_config": ssh_config,
            "tables": tables,
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
    fn the_digest_covers_every_table() {
        let covered = TABLES.concat();
        let mut folders = vec![PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/risk"))];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let text = std::fs::read_to_string(&path).unwrap();
                    assert!(covered.contains(&text.as_str()), "{}", path.display());
                }
            }
        }
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
