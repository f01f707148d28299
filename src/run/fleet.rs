//! A plan for several hosts as it is reviewed, and the results of its hosts (SPEC §14).

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Outcome, StreamExcerpt};
use crate::authorization::FleetBinding;
use crate::plan::{Code, Destination, Digest};

/// The maximum size of the output in a [`HostResult`]: the evidence has all of it.
const OUTPUT_BYTES: usize = 1 << 10;

/// The files that are generated for ansible.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetFiles {
    /// The playbook, with a task for each step.
    pub playbook: String,
    /// The inventory, with the host `target_1` for the first destination.
    pub inventory: String,
    /// The settings, `ansible.cfg`.
    pub config: String,
}

/// What `ssh` reads in a run: the person's files as they were reviewed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SshFiles {
    /// The files with settings. The first one includes the others.
    pub settings: Vec<Vec<SshPart>>,
    /// The known hosts of all files.
    pub known_hosts: Vec<u8>,
}

/// A part of a file with settings of `ssh`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SshPart {
    /// Whole lines.
    Text(Vec<u8>),
    /// An `Include` of these files, by their indices.
    Include(Vec<usize>),
}

/// A plan for several hosts as an approval would cover it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetReview {
    /// The hosts.
    pub hosts: Vec<Destination>,
    /// The batches, in a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batches: Option<String>,
    /// The `ansible-playbook` that would run.
    pub program: PathBuf,
    /// The version of ansible-core.
    pub ansible_version: String,
    /// The generated files.
    #[serde(flatten)]
    pub files: FleetFiles,
    /// What `ssh` gets in the run. The approval covers it by digests.
    #[serde(skip)]
    pub ssh: Arc<SshFiles>,
    /// What an approval covers.
    pub binding: FleetBinding,
    /// The digest of all that, by which a command line authorizes it.
    pub digest: Digest,
}

impl FleetReview {
    /// Hosts and files as text for a person.
    pub fn text(&self) -> String {
        let hosts: Vec<&str> = self.hosts.iter().map(Destination::as_str).collect();
        let FleetFiles { playbook, inventory, config } = &self.files;
        format!(
            "Hosts\n{}\n\nplaybook.yml\n{playbook}\ninventory.yml\n{inventory}\nansible.cfg\n{config}",
            hosts.join("\n")
        )
    }
}

/// How one step ended on one host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HostResult {
    /// The destination.
    pub host: String,
    /// The id of the step.
    pub step_id: String,
    /// The index of the step, from 0.
    pub step_index: usize,
    /// The id of the execution in the evidence.
    pub execution_id: Uuid,
    /// How the step ended; cancelled if it did not run on this host.
    pub outcome: Outcome,
    /// Whether the command may have run on this host.
    pub may_have_run: bool,
    /// The exit code of the command; null if it is not known.
    pub exit_code: Option<i32>,
    /// The stable code of the error.
    pub error_code: Option<Code>,
    /// Why the step did not succeed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    /// The beginning of what was printed, stderr after stdout: at most 1 KiB.
    pub output: String,
    /// Size of everything that was printed, in bytes.
    pub output_bytes: u64,
    /// Equal for hosts that ended in the same way and printed the same.
    pub group: String,
    /// Start of the step on this host, in Unix milliseconds.
    pub timestamp_ms: i64,
    /// How long the step took on this host, in milliseconds.
    pub duration_ms: i64,
}

impl HostResult {
    /// Sets output and group from what was printed.
    #[must_use]
    pub fn printing(self, stdout: &StreamExcerpt, stderr: &StreamExcerpt) -> Self {
        let kind = (self.outcome, self.exit_code, self.error_code, self.message_of_group());
        let kind = format!("{kind:?}\0{}\0", stdout.text.len());
        // Of a host that was not reached, only `ssh` has printed something.
        let printed = if self.may_have_run { [&*stdout.text, &stderr.text] } else { ["", ""] };
        let group = Digest::of([&*kind, printed[0], printed[1]].concat().as_bytes()).short(16);
        let mut output = String::new();
        for text in [&stdout.text, &stderr.text] {
            let left = OUTPUT_BYTES - output.len();
            output.push_str(text.get(..text.floor_char_boundary(left)).unwrap_or(text));
        }
        Self { output, output_bytes: stdout.bytes + stderr.bytes, group, ..self }
    }

    /// The message without what differs from host to host. Messages of `ssh` name address, port and files.
    fn message_of_group(&self) -> String {
        let message = self.error_message.as_deref().unwrap_or_default();
        if self.error_code != Some(Code::HostUnreachable) {
            return message.to_owned();
        }
        let first = message.lines().next().unwrap_or_default();
        // Such as `Connection refused`.
        let reason = message.lines().last().and_then(|line| Some(line.rsplit_once(": ")?.1));
        let reason = reason.filter(|reason| !reason.chars().any(|it| it.is_ascii_digit()));
        format!("{first}\0{}", reason.unwrap_or_default())
    }
}

/// The hosts on which a step ended in the same way and printed the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HostGroup<'a> {
    /// The result of the first of them.
    pub first: &'a HostResult,
    /// The destinations.
    pub hosts: Vec<&'a str>,
}

/// The hosts on which a step failed or may not have ended, and any command may have run: those for which a rollback is
/// offered. In the order of their first result.
pub fn hosts_to_roll_back(results: &[HostResult]) -> Vec<&str> {
    let ran: HashSet<&str> =
        results.iter().filter(|it| it.may_have_run).map(|it| it.host.as_str()).collect();
    let failed = results.iter().filter(|result| match result.outcome {
        Outcome::Failed => true,
        Outcome::Cancelled => result.may_have_run,
        _ => false,
    });
    let mut hosts: Vec<&str> = Vec::new();
    let mut seen = HashSet::new();
    for result in failed {
        if ran.contains(&*result.host) && seen.insert(&*result.host) {
            hosts.push(&result.host);
        }
    }
    hosts
}

/// The hosts of one step in groups: the largest group first, of equal ones that of the earlier host.
pub fn groups_of_hosts<'a>(
    results: impl IntoIterator<Item = &'a HostResult>,
) -> Vec<HostGroup<'a>> {
    let mut groups: Vec<HostGroup<'a>> = Vec::new();
    let mut indices: HashMap<&str, usize> = HashMap::new();
    for result in results {
        let index = *indices.entry(&result.group).or_insert(groups.len());
        match groups.get_mut(index) {
            Some(group) => group.hosts.push(&result.host),
            None => groups.push(HostGroup { first: result, hosts: vec![&result.host] }),
        }
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.hosts.len()));
    groups
}

impl HostGroup<'_> {
    /// How the hosts ended, in a few words.
    pub fn words(&self) -> String {
        match (&self.first.error_message, self.first.outcome) {
            (Some(message), _) => message.lines().next().unwrap_or_default().to_owned(),
            (None, Outcome::Succeeded) => "succeeded".to_owned(),
            (None, outcome) => outcome.as_str().replace('_', " "),
        }
    }

    /// The group as lines for a person: how many hosts, how they ended, their names, and the beginning of the output.
    pub fn lines(&self) -> Vec<String> {
        /// More names would hide the next group.
        const NAMES: usize = 20;
        let count = self.hosts.len();
        let hosts = if count == 1 { "host" } else { "hosts" };
        let mut names = self.hosts.iter().take(NAMES).copied().collect::<Vec<_>>().join(" ");
        if count > NAMES {
            names += &format!(" and {} more", count - NAMES);
        }
        let mut lines = vec![format!("{count} {hosts}: {}", self.words()), format!("  {names}")];
        lines.extend(self.first.output.lines().map(|line| format!("    {line}")));
        if self.first.output_bytes > self.first.output.len() as u64 {
            lines.push("    … (the evidence has all of it)".to_owned());
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(host: &str, message: Option<&str>, stdout: &str) -> HostResult {
        let outcome = if message.is_some() { Outcome::Failed } else { Outcome::Succeeded };
        let result = HostResult {
            host: host.to_owned(),
            step_id: "a".to_owned(),
            step_index: 0,
            execution_id: Uuid::nil(),
            outcome,
            may_have_run: true,
            exit_code: None,
            error_code: message.map(|_| Code::HostUnreachable),
            error_message: message.map(str::to_owned),
            output: String::new(),
            output_bytes: 0,
            group: String::new(),
            timestamp_ms: 0,
            duration_ms: 0,
        };
        let excerpt = |text: &str| StreamExcerpt::of("shell", text.as_bytes());
        result.printing(&excerpt(stdout), &excerpt(""))
    }

    #[test]
    fn equal_failures_of_different_hosts_are_one_group() {
        let refused = |host: &str, address: &str| {
            let message = format!(
                "the host cannot be reached\nssh: connect to host {address} port 22: Connection refused"
            );
            result(host, Some(&message), "")
        };
        let results = [
            result("a", None, "one\n"),
            refused("ssh://ada@10.0.0.1:22", "10.0.0.1"),
            refused("ssh://ada@10.0.0.2:22", "10.0.0.2"),
            result("b", None, "two\n"),
            refused("web", "10.0.0.3"),
        ];
        let groups = groups_of_hosts(&results);
        let sizes: Vec<usize> = groups.iter().map(|group| group.hosts.len()).collect();
        assert_eq!(sizes, [3, 1, 1]);
        assert_eq!(groups[1].lines(), ["1 host: succeeded", "  a", "    one"]);
    }

    #[test]
    fn hosts_on_which_nothing_ran_need_no_rollback() {
        let unreachable = HostResult { may_have_run: false, ..result("b", Some("no"), "") };
        let later = HostResult { may_have_run: false, ..result("c", Some("lost"), "") };
        let results = [
            result("a", None, ""),
            unreachable,
            result("c", None, ""),
            later,
            result("d", Some("no"), ""),
        ];
        assert_eq!(hosts_to_roll_back(&results), ["c", "d"]);
    }

    #[test]
    fn output_is_kept_up_to_its_limit() {
        let long = "é".repeat(OUTPUT_BYTES);
        let result = result("a", None, &long);
        assert!(result.output.len() <= OUTPUT_BYTES);
        assert_eq!(result.output_bytes, 2 * OUTPUT_BYTES as u64);
        assert_ne!(result.group, self::result("a", None, &(long + "x")).group);
    }
}
