//! The states of the hosts of a run on several hosts, computed from its events.

use std::collections::{BTreeMap, HashMap};

use super::{HostResult, Outcome};

/// The state of one step on one host.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum HostState {
    /// The step has not begun there.
    #[default]
    Waiting,
    /// The step is running there.
    Running,
    /// The step ended there, or was not run.
    Done(Box<HostResult>),
}

/// A kind of state, for counts and filters. Those that need attention come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HostKind {
    /// The step failed.
    Failed,
    /// The step was not run, or was stopped.
    NotRun,
    /// The step is running.
    Running,
    /// The step has not begun.
    Waiting,
    /// The step succeeded.
    Succeeded,
}

impl HostKind {
    /// Every kind, in order.
    pub const ALL: [Self; 5] =
        [Self::Failed, Self::NotRun, Self::Running, Self::Waiting, Self::Succeeded];
}

impl HostState {
    /// The kind of the state.
    pub const fn kind(&self) -> HostKind {
        match self {
            Self::Waiting => HostKind::Waiting,
            Self::Running => HostKind::Running,
            Self::Done(result) => match result.outcome {
                Outcome::Succeeded => HostKind::Succeeded,
                Outcome::Failed => HostKind::Failed,
                _ => HostKind::NotRun,
            },
        }
    }
}

/// The states of all hosts of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HostTable {
    hosts: Vec<String>,
    indices: HashMap<String, usize>,
    /// For each step that has begun anywhere, the state on each host.
    steps: BTreeMap<usize, Vec<HostState>>,
}

impl HostTable {
    /// A table of these hosts, on which nothing has begun.
    pub fn new(hosts: &[String]) -> Self {
        Self {
            hosts: hosts.to_vec(),
            indices: hosts.iter().cloned().zip(0..).collect(),
            steps: BTreeMap::new(),
        }
    }

    /// Whether the run is not one on several hosts.
    pub fn is_empty(&self) -> bool {
        self.hosts.is_empty()
    }

    /// The number of hosts.
    pub fn len(&self) -> usize {
        self.hosts.len()
    }

    /// A step begins on a host.
    pub(super) fn start(&mut self, host: &str, step_index: usize) {
        self.set(host, step_index, HostState::Running);
    }

    /// A step ended on a host.
    pub(crate) fn end(&mut self, result: &HostResult) {
        let state = HostState::Done(Box::new(result.clone()));
        self.set(&result.host, result.step_index, state);
    }

    fn set(&mut self, host: &str, step_index: usize, state: HostState) {
        let Some(index) = self.indices.get(host) else { return };
        let count = self.hosts.len();
        let states =
            self.steps.entry(step_index).or_insert_with(|| vec![HostState::default(); count]);
        if let Some(entry) = states.get_mut(*index) {
            *entry = state;
        }
    }

    /// The hosts with the state of a step; nothing if the step has not begun on any of them.
    pub fn of_step(&self, step_index: usize) -> impl Iterator<Item = (&str, &HostState)> {
        let states = self.steps.get(&step_index).map(Vec::as_slice).unwrap_or_default();
        self.hosts.iter().map(String::as_str).zip(states)
    }

    /// Whether a step failed or may not have ended on a host on which any command may have run.
    pub fn has_hosts_to_roll_back(&self) -> bool {
        (0..self.hosts.len()).any(|host| {
            let results = || {
                self.steps.values().filter_map(move |states| match states.get(host)? {
                    HostState::Done(result) => Some(result),
                    HostState::Waiting | HostState::Running => None,
                })
            };
            results().any(|result| result.may_have_run)
                && results().any(|result| match result.outcome {
                    Outcome::Failed => true,
                    Outcome::Cancelled => result.may_have_run,
                    _ => false,
                })
        })
    }

    /// The number of hosts of each kind, in the order of [`HostKind::ALL`].
    pub fn counts(&self, step_index: usize) -> [usize; 5] {
        let mut counts = [0; 5];
        for (_, state) in self.of_step(step_index) {
            if let Some(count) = counts.get_mut(state.kind() as usize) {
                *count += 1;
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn events_of_hosts_become_states() {
        let mut table = HostTable::new(&["a".to_owned(), "b".to_owned(), "c".to_owned()]);
        assert_eq!(table.of_step(0).count(), 0, "nothing has begun");
        table.start("a", 0);
        table.start("b", 0);
        table.start("stranger", 0);
        table.end(&HostResult {
            host: "b".to_owned(),
            step_id: "s".to_owned(),
            step_index: 0,
            execution_id: Uuid::nil(),
            outcome: Outcome::Failed,
            may_have_run: true,
            exit_code: Some(1),
            error_code: None,
            error_message: None,
            output: String::new(),
            output_bytes: 0,
            group: String::new(),
            timestamp_ms: 0,
            duration_ms: 0,
        });
        let kinds: Vec<HostKind> = table.of_step(0).map(|(_, state)| state.kind()).collect();
        assert_eq!(kinds, [HostKind::Running, HostKind::Failed, HostKind::Waiting]);
        assert_eq!(table.counts(0), [1, 0, 1, 1, 0]);
        assert_eq!(table.counts(1), [0; 5]);
        assert!(table.has_hosts_to_roll_back());
    }
}
