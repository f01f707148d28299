//! Queries of the window: each is sent with a function that handles its answer, and the answer to an older query is
//! never mistaken for the answer to the latest one.

use std::any::TypeId;
use std::collections::BTreeMap;

use super::App;
use super::shared::Shared;
use crate::plan::Code;
use crate::run::Failure;
use crate::ui::Tone;
use crate::ui::notice::Scope;
use crate::worker::{Query, QueryError};

/// The queries that have not been answered yet.
#[derive(Debug, Default)]
pub(super) struct Pending {
    last_number: u64,
    /// The topics of the queries, by number.
    topics: BTreeMap<u64, TypeId>,
    /// The number of changes of each list of the settings file.
    pub(super) lists: BTreeMap<&'static str, usize>,
}

impl Pending {
    fn insert(&mut self, topic: TypeId) -> u64 {
        self.last_number += 1;
        self.topics.insert(self.last_number, topic);
        self.last_number
    }

    /// Removes a query. Returns whether no later query of its topic is pending.
    fn remove(&mut self, number: u64) -> bool {
        let topic = self.topics.remove(&number);
        !self.topics.range(number..).any(|(_, other)| Some(*other) == topic)
    }

    /// Removes a change of this list. Returns whether a later one is pending.
    pub(super) fn remove_list(&mut self, key: &str) -> bool {
        let count = self.lists.get_mut(key);
        count.is_some_and(|count| {
            *count = count.saturating_sub(1);
            *count > 0
        })
    }

    /// Whether no query is pending.
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.topics.is_empty()
    }

    /// Whether a query of this topic is pending.
    #[cfg(test)]
    pub(super) fn has<Q: Query>(&self) -> bool {
        self.topics.values().any(|topic| *topic == Q::topic())
    }
}

/// A query that failed.
#[derive(Debug)]
pub(super) struct FailedQuery {
    /// What could not be done, as a sentence.
    pub(super) summary: String,
    pub(super) error: QueryError,
}

impl FailedQuery {
    /// The failure of the query, or `self` if the query panicked.
    pub(super) fn into_failure(self) -> Result<Failure, Self> {
        match self.error {
            QueryError::Failed(failure) => Ok(failure),
            error => Err(Self { error, ..self }),
        }
    }

    /// Whether the query was stopped.
    pub(super) fn is_cancelled(&self) -> bool {
        matches!(&self.error, QueryError::Failed(failure) if failure.code == Code::Cancelled)
    }
}

impl Shared {
    /// Sends a query. `then` gets its answer; a failure becomes a notice. Both are dropped if a later query of the
    /// topic is pending.
    pub(super) fn query<Q: Query>(
        &mut self,
        query: Q,
        then: impl FnOnce(&mut App, Q::Answer) + Send + 'static,
    ) {
        self.query_latest(query, |app, answer| match answer {
            Ok(answer) => then(app, answer),
            Err(failed) => app.shared.report(failed),
        });
    }

    /// Sends a query. `then` gets the answer or failure, unless a later query of the topic is pending. If the query
    /// cannot be sent, shows a notice and returns false.
    pub(super) fn query_latest<Q: Query>(
        &mut self,
        query: Q,
        then: impl FnOnce(&mut App, Result<Q::Answer, FailedQuery>) + Send + 'static,
    ) -> bool {
        self.query_each(query, |app, answer, latest| {
            if latest {
                then(app, answer);
            }
        })
    }

    /// Sends a query. `then` gets the answer or failure in any case, and whether no later query of the topic is
    /// pending. If the query cannot be sent, shows a notice and returns false.
    pub(super) fn query_each<Q: Query>(
        &mut self,
        query: Q,
        then: impl FnOnce(&mut App, Result<Q::Answer, FailedQuery>, bool) + Send + 'static,
    ) -> bool {
        let (summary, number) = (query.failure(), self.pending.insert(Q::topic()));
        let not_sent = summary.clone();
        let sent = self.queries.send(query, move |app: &mut App, answer| {
            let latest = app.shared.pending.remove(number);
            then(app, answer.map_err(|error| FailedQuery { summary, error }), latest);
        });
        if let Err(error) = &sent {
            self.pending.remove(number);
            self.notify_here(Tone::Danger, not_sent, error.to_string(), "Try again in a moment.");
        }
        sent.is_ok()
    }

    /// Shows a notice about a failed query.
    pub(super) fn report(&mut self, failed: FailedQuery) {
        let FailedQuery { summary, error } = failed;
        match error {
            QueryError::Failed(failure) => {
                self.report_failure(Scope::Page(self.page), &summary, &failure);
            }
            QueryError::Panicked(message) => {
                let summary = format!("{summary} The query thread crashed.");
                let next = "Try again; if it happens again, copy this and report it.";
                self.notify(Tone::Danger, summary, message, next);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::{ListRuns, OpenFollowUp, OpenPlan, ReplayRun, Search};

    #[test]
    fn only_the_latest_of_a_topic_counts() {
        let mut pending = Pending::default();
        let numbers = [Search::topic(), ListRuns::topic(), Search::topic()]
            .map(|topic| pending.insert(topic));
        assert_eq!(numbers.map(|number| pending.remove(number)), [false, true, true]);
        assert!(!pending.has::<Search>());
    }

    #[test]
    fn replay_supersedes_a_pending_open() {
        let mut pending = Pending::default();
        let opening = pending.insert(OpenPlan::topic());
        pending.insert(ReplayRun::topic());
        assert!(!pending.remove(opening));
        assert_eq!(OpenFollowUp::topic(), OpenPlan::topic());
    }

    #[test]
    fn the_latest_change_of_a_list_counts() {
        let mut pending = Pending { lists: [("a", 2), ("b", 1)].into(), ..Pending::default() };
        assert_eq!(["a", "b", "a"].map(|key| pending.remove_list(key)), [true, false, false]);
    }
}
