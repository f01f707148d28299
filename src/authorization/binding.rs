//! What an approval covers besides the plan's bytes, and how it differs from the present state (SPEC §2).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{FileState, FleetBinding, Grants, RunChoices, StepWalls, Target, secret_inputs};
use crate::plan::{Digest, Mode};

/// Everything an approval covers besides the plan's bytes (SPEC §2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    /// The workspace folder, absolute.
    pub workspace: String,
    /// What tells this folder from another one in its place, as far as the system has that: its device and inode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<String>,
    /// Whether steps start automatically or one by one.
    pub mode: Mode,
    /// Digest of the policy under which the risks were shown.
    pub policy: Digest,
    /// The remote host of the plan's commands; `None` if they run on this computer.
    pub target: Option<Target>,
    /// What is covered besides the plan if its commands run on several hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<FleetBinding>,
    /// The state of every file that a step changes, or whose content decides what a step does, by canonical path.
    pub inputs: BTreeMap<String, FileState>,
    /// Access that the person grants in addition to the plan's `needs`. It is not compared, because its effect is part
    /// of `walls`.
    #[serde(default, skip_serializing_if = "Grants::is_empty")]
    pub grants: Grants,
    /// What the person has chosen for this run.
    #[serde(default, skip_serializing_if = "RunChoices::is_default")]
    pub choices: RunChoices,
    /// The walls of each step, in the order of the plan; an entry is `None` for a step that starts no process on this
    /// computer. The list is `None` if the walls were not determined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub walls: Option<Vec<Option<StepWalls>>>,
    /// The keyed digest of each secret input, by name ([`SecretInputs::digest`](super::SecretInputs::digest)).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub secret_inputs: BTreeMap<String, String>,
}

/// A difference between what was approved and the current state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The name of the covered item, for instance `plan bytes` or `file src/lib.rs`.
    pub what: String,
    /// The approved value.
    pub approved: String,
    /// The current value.
    pub now: String,
}

impl Change {
    /// The change as a clause without digests.
    pub fn brief(&self) -> String {
        let absent = FileState::Absent.to_string();
        let has_digest = [&self.approved, &self.now].iter().any(|it| it.starts_with("sha256:"));
        let what = self.what.strip_prefix("file ").unwrap_or(&self.what);
        match () {
            () if !has_digest => self.to_string(),
            () if self.approved == absent => format!("{what} was created since the authorization"),
            () if self.now == absent => format!("{what} was removed since the authorization"),
            () => format!("{what} has changed since the authorization"),
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} was {} when authorized and is {} now", self.what, self.approved, self.now)
    }
}

impl Binding {
    /// The differences between what was approved (`self`) and the current state (`now`). `grants` are not compared,
    /// because `walls` contain their effect. Walls that were not determined count as not covered.
    pub fn changes(&self, now: &Self) -> Vec<Change> {
        let mut changes = Vec::new();
        let mut compare = |what: &str, approved: String, now: String| {
            if approved != now {
                changes.push(Change { what: what.to_owned(), approved, now });
            }
        };
        let target = |target: &Option<Target>| match target {
            None => "local".to_owned(),
            Some(target) => target.to_string(),
        };
        compare("workspace", self.workspace.clone(), now.workspace.clone());
        // Approvals of earlier versions do not say which folder it was.
        if let (Some(approved), Some(now)) = (&self.workspace_id, &now.workspace_id) {
            compare("folder of the workspace", approved.clone(), now.clone());
        }
        compare("mode", self.mode.as_str().to_owned(), now.mode.as_str().to_owned());
        compare("policy", self.policy.to_string(), now.policy.to_string());
        compare("target", target(&self.target), target(&now.target));
        compare("choices", self.choices.to_string(), now.choices.to_string());
        fn covered(value: Option<&impl ToString>) -> String {
            value.map_or_else(|| "not covered".to_owned(), ToString::to_string)
        }
        let names: BTreeSet<_> = self.inputs.keys().chain(now.inputs.keys()).collect();
        for name in names {
            let state = |binding: &Self| covered(binding.inputs.get(name));
            compare(&format!("file {name}"), state(self), state(now));
        }
        let walls = |binding: &Self, index: usize| {
            let all = binding.walls.as_deref().unwrap_or_default();
            covered(all.get(index).and_then(Option::as_ref))
        };
        let count = |binding: &Self| binding.walls.as_ref().map_or(0, Vec::len);
        for index in 0..count(self).max(count(now)) {
            compare(&format!("walls of step {}", index + 1), walls(self, index), walls(now, index));
        }
        changes.extend(FleetBinding::changes(self.fleet.as_ref(), now.fleet.as_ref()));
        changes.extend(secret_inputs::changes(&self.secret_inputs, &now.secret_inputs));
        changes
    }
}
