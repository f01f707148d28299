//! Queries of the window: each is sent with a function that handles its answer, and the answer to an older query is
//! never mistaken for the answer to the latest one.

use std::any::TypeId;
use std::collections::BTreeMap;

use super::App;
use super::shared::Shared;
use crate::plan::Code;
use crate::run::Failure;
use crate::ui::theme::Tone;
use crate::worker::{Query, QueryError};

/// The queries without an answer so far, by number, with their topics.
#[derive(Debug, Default)]
pub(super) struct Pending {
    next: u64,
    open: BTreeMap<u64, TypeId>,
}

impl Pending {
    fn insert(&mut self, topic: TypeId) -> u64 {
        self.next += 1;
        self.open.insert(self.next, topic);
        self.next
    }

    /// Removes a query. Returns whether it was the latest of its topic: no later one is open.
    fn remove(&mut self, number: u64) -> bool {
        let topic = self.open.remove(&number);
        !self.open.range(number..).any(|(_, other)| Some(*other) == topic)
    }

    /// Whether a query of this topic is open.
    #[cfg(test)]
    pub(super) fn has<Q: Query>(&self) -> bool {
        self.open.values().any(|topic| *topic == Q::topic())
    }
}

/// Why a query has no answer.
#[derive(Debug)]
pub(super) struct Unanswered {
    /// A sentence for the person about what could not be done.
    pub(super) summary: String,
    pub(super) error: QueryError,
}

impl Unanswered {
    /// The failure with which the query ended, or `self` if it ended by a panic.
    pub(super) fn into_failure(self) -> Result<Failure, Self> {
        match self.error {
            QueryError::Failed(failure) => Ok(failure),
            error => Err(Self { error, ..self }),
        }
    }

    /// Whether the query was stopped before it had an answer.
    pub(super) fn is_cancelled(&self) -> bool {
        matches!(&self.error, QueryError::Failed(failure) if failure.code == Code::Cancelled)
    }
}

impl Shared {
    /// Sends a query. Its answer or failure is dropped if a later query of the topic is open. Otherwise `then` gets
    /// the answer, and a failure becomes a notice.
    pub(super) fn ask<Q: Query>(
        &mut self,
        query: Q,
        then: impl FnOnce(&mut App, Q::Answer) + Send + 'static,
    ) {
        self.ask_latest(query, |app, answer| match answer {
            Ok(answer) => then(app, answer),
            Err(unanswered) => app.shared.report(unanswered),
        });
    }

    /// Sends a query. `then` gets the answer or failure, unless a later query of the topic is open. Returns false if
    /// the query could not be sent, which becomes a notice.
    pub(super) fn ask_latest<Q: Query>(
        &mut self,
        query: Q,
        then: impl FnOnce(&mut App, Result<Q::Answer, Unanswered>) + Send + 'static,
    ) -> bool {
        self.ask_each(query, |app, answer, latest| {
            if latest {
                then(app, answer);
            }
        })
    }

    /// Sends a query. `then` gets every answer or failure, and whether no later query of the topic is open. Returns
    /// false if the query could not be sent, which becomes a notice.
    pub(super) fn ask_each<Q: Query>(
        &mut self,
        query: Q,
        then: impl FnOnce(&mut App, Result<Q::Answer, Unanswered>, bool) + Send + 'static,
    ) -> bool {
        let (summary, number) = (query.failure(), self.pending.insert(Q::topic()));
        let name = summary.clone();
        let asked = self.queries.ask(query, move |app: &mut App, answer| {
            let latest = app.shared.pending.remove(number);
            then(app, answer.map_err(|error| Unanswered { summary, error }), latest);
        });
        if let Err(error) = &asked {
            self.pending.remove(number);
            self.notify(Tone::Danger, name, error.to_string(), "Try again in a moment.");
        }
        asked.is_ok()
    }

    /// Shows a notice about a query without an answer.
    pub(super) fn report(&mut self, unanswered: Unanswered) {
        let Unanswered { summary, error } = unanswered;
        match error {
            QueryError::Failed(failure) => self.failed(&summary, &failure),
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
}
