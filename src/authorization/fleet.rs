//! What an approval of a plan for several hosts covers besides the plan (SPEC §14).

use serde::{Deserialize, Serialize};

use super::Change;
use crate::plan::Digest;

/// What an approval of a plan for several hosts covers besides the plan. Equal files on both sides mean equal hosts,
/// commands, batches and options of the SSH client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetBinding {
    /// The number of hosts.
    pub hosts: usize,
    /// The path of `ansible-playbook` and the version of ansible-core.
    pub ansible: String,
    /// The digest of the generated playbook, inventory and settings, and of the plugin that reports results.
    pub files: Digest,
    /// The digest of the names and contents of the client's files of known hosts.
    pub known_hosts: Digest,
    /// The digest of the names and contents of the client's settings files.
    pub ssh_settings: Digest,
}

impl FleetBinding {
    /// What differs between what was approved and what is covered now.
    pub(super) fn changes(approved: Option<&Self>, now: Option<&Self>) -> Vec<Change> {
        type Item = (&'static str, fn(&FleetBinding) -> String);
        let items: [Item; 5] = [
            ("number of hosts", |it| it.hosts.to_string()),
            ("ansible", |it| it.ansible.clone()),
            ("playbook, inventory and settings of ansible", |it| it.files.to_string()),
            ("known hosts of ssh", |it| it.known_hosts.to_string()),
            ("settings of ssh", |it| it.ssh_settings.to_string()),
        ];
        let value = |binding: Option<&Self>, of: fn(&Self) -> String| {
            binding.map_or_else(|| "not covered".to_owned(), of)
        };
        items
            .into_iter()
            .map(|(what, of)| Change {
                what: what.to_owned(),
                approved: value(approved, of),
                now: value(now, of),
            })
            .filter(|change| change.approved != change.now)
            .collect()
    }

    /// One digest of everything that is covered.
    pub fn digest(&self) -> Digest {
        Digest::of(format!("{} hosts; {}", self.hosts, self.line()).as_bytes())
    }

    /// What is covered, in one line for the record of an authorization.
    pub fn line(&self) -> String {
        let Self { ansible, files, known_hosts, ssh_settings, .. } = self;
        format!(
            "{ansible}; files {files}; known hosts {known_hosts}; settings of ssh {ssh_settings}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_is_compared() {
        let one = FleetBinding {
            hosts: 2,
            ansible: "/usr/bin/ansible-playbook 2.19.14".to_owned(),
            files: Digest::of(b"files"),
            known_hosts: Digest::of(b"known"),
            ssh_settings: Digest::of(b"settings"),
        };
        assert_eq!(FleetBinding::changes(Some(&one), Some(&one)), []);
        let others = [
            FleetBinding { hosts: 3, ..one.clone() },
            FleetBinding { ansible: "/opt/ansible-playbook 2.19.14".to_owned(), ..one.clone() },
            FleetBinding { files: Digest::of(b"other"), ..one.clone() },
            FleetBinding { known_hosts: Digest::of(b"other"), ..one.clone() },
            FleetBinding { ssh_settings: Digest::of(b"other"), ..one.clone() },
        ];
        for other in &others {
            assert_eq!(FleetBinding::changes(Some(&one), Some(other)).len(), 1, "{other:?}");
        }
        assert_eq!(FleetBinding::changes(Some(&one), None).len(), 5);
        assert_eq!(FleetBinding::changes(None, Some(&one)).len(), 5);
    }
}
