//! The end of a run on several hosts: hosts on which steps did not run, and the summary of each step.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use uuid::Uuid;

use super::super::super::run::Run;
use super::receiver::{Received, record_host};
use crate::evidence::EvidenceError;
use crate::plan::{Code, Fleet, Step};
use crate::risk::Verdict;
use crate::run::{FleetReview, HostResult, Outcome, StreamExcerpt, groups_of_hosts};

/// Why a step did not run on a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HostError {
    /// A person stopped the run.
    Stopped,
    /// A person ended the run before a step.
    Ended,
    /// Too many hosts of a batch had failed.
    Limit,
    /// ansible did not work.
    Broken,
}

/// Records, for each step that has begun on any host, the hosts that have no result of it.
///
/// # Errors
/// When the evidence cannot be written.
pub(super) fn record_hosts_without_result(
    run: &mut Run<'_>,
    fleet: &FleetReview,
    received: &mut Received,
    steps: &[(&Step, Verdict)],
    why: HostError,
) -> Result<(), EvidenceError> {
    for ((step, verdict), of_step) in steps.iter().zip(&received.steps) {
        if !of_step.has_begun() {
            continue;
        }
        for (index, host) in fleet.hosts.iter().enumerate() {
            if of_step.done.contains(&index) {
                continue;
            }
            let was_under_way = of_step.under_way.contains(&index);
            let (code, message) = match why {
                _ if was_under_way => (
                    Some(Code::HostUnreachable),
                    "stopped while the command ran; it may go on there until its time limit",
                ),
                _ if received.failed.contains(&index) => {
                    (None, "not run: an earlier step failed on this host")
                }
                HostError::Stopped | HostError::Ended => {
                    (Some(Code::Cancelled), "not run: the run was stopped before")
                }
                HostError::Limit if run.runnable.plan.fleet.as_ref().is_some_and(has_limit) => {
                    (None, "not run: too many hosts had failed")
                }
                HostError::Limit => (None, "not run: every host of a batch had failed"),
                HostError::Broken => (None, "not run: ansible ended before"),
            };
            let result = HostResult {
                host: host.to_string(),
                step_id: step.step_id.clone(),
                step_index: step.step_index,
                execution_id: Uuid::new_v4(),
                outcome: Outcome::Cancelled,
                may_have_run: was_under_way,
                exit_code: None,
                error_code: code,
                error_message: Some(message.to_owned()),
                output: String::new(),
                output_bytes: 0,
                group: String::new(),
                timestamp_ms: run.clock.now_ms(),
                duration_ms: 0,
            };
            let nothing = StreamExcerpt::of(&step.tool_name, b"");
            let result = result.printing(&nothing, &nothing);
            record_host(run, (step, verdict), &result, None)?;
            received.results.push(result);
        }
    }
    Ok(())
}

const fn has_limit(fleet: &Fleet) -> bool {
    fleet.max_fail_percentage.is_some()
}

/// A step on all its hosts.
pub(super) struct Summary {
    /// The hosts in groups, for a person.
    pub(super) text: String,
    /// The numbers of hosts, and what ran, for the record.
    pub(super) result: Value,
    /// The code and message if the step did not succeed on every host.
    pub(super) failure: Option<(Code, String)>,
    /// Whether there are hosts on which the step did not end.
    pub(super) is_incomplete: bool,
}

/// The summary of these results of one step.
pub(super) fn summary<'a>(
    results: impl Iterator<Item = &'a HostResult>,
    fleet: &FleetReview,
) -> Summary {
    let results: Vec<&HostResult> = results.collect();
    let count = |outcome| results.iter().filter(|it| it.outcome == outcome).count();
    let [succeeded, failed, not_run] =
        [Outcome::Succeeded, Outcome::Failed, Outcome::Cancelled].map(count);
    let groups = groups_of_hosts(results.iter().copied());
    let text: Vec<String> = groups.iter().flat_map(|group| group.lines()).collect();
    let mut codes: BTreeMap<Code, usize> = BTreeMap::new();
    let failures = results.iter().filter(|it| it.outcome == Outcome::Failed);
    for code in failures.filter_map(|result| result.error_code) {
        *codes.entry(code).or_default() += 1;
    }
    let total = fleet.hosts.len();
    let failure = (succeeded < total).then(|| {
        let words: Vec<String> = groups
            .iter()
            .filter(|group| group.first.outcome != Outcome::Succeeded)
            .map(|group| match group.hosts.len() {
                1 => format!("1 host: {}", group.words()),
                count => format!("{count} hosts: {}", group.words()),
            })
            .collect();
        // Of different failures, that of the command counts.
        let code = match codes.len() {
            1 => codes.keys().next().copied(),
            _ => None,
        };
        let message = format!("succeeded on {succeeded} of {total} hosts. {}", words.join("; "));
        (code.unwrap_or(Code::CommandFailed), message)
    });
    let result = json!({
        "hosts": total, "succeeded": succeeded, "failed": failed, "not_run": not_run,
        "ansible": fleet.binding.ansible, "files": fleet.binding.files,
    });
    Summary {
        text: text.join("\n") + "\n",
        result,
        failure,
        is_incomplete: not_run > 0 || results.len() < total,
    }
}
