//! What became of a plan that somebody proposed (SPEC §13). Pure.

use super::{DecidedBy, RunFate, RunStatus, RunSummary};
use crate::plan::Digest;

/// What the evidence knows about a proposed plan.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PlanState {
    /// The last decision about it.
    pub decision: Option<LastDecision>,
    /// Its last run.
    pub run: Option<RunSummary>,
    /// The digest of the plan that a person made of it and that the decision and the run are about; `None` if they are
    /// about the plan as it was proposed.
    pub revised: Option<Digest>,
}

/// An authorization of a plan, or its refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastDecision {
    /// Whether the plan was authorized.
    pub is_approved: bool,
    /// The person's reason; may be empty.
    pub reason: String,
    /// Who decided, and how.
    pub by: DecidedBy,
    /// When, in Unix milliseconds.
    pub timestamp_ms: i64,
    /// Until when a run may begin, in Unix milliseconds.
    pub expires_at_ms: i64,
}

impl PlanState {
    /// The state in a word. `waits` is whether the plan is still in the inbox.
    pub fn word(&self, waits: bool, now_ms: i64) -> &'static str {
        let decided_at = self.decision.as_ref().map(|decision| decision.timestamp_ms);
        // A decision after the last run is about another one.
        let run =
            self.run.as_ref().filter(|run| decided_at.is_none_or(|at| at <= run.started_at_ms));
        if let Some(run) = run {
            return match run.fate {
                RunFate::Active => "running",
                RunFate::Interrupted => "interrupted",
                RunFate::Ended(RunStatus::Failed) if run.tally.denied > 0 => "denied",
                RunFate::Ended(status) => status.as_str(),
            };
        }
        match &self.decision {
            Some(decision) if !decision.is_approved => "refused",
            Some(decision) if decision.expires_at_ms > now_ms => "authorized",
            // Without a run in time, it needs another authorization.
            _ if waits => "waiting",
            _ => "removed",
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::plan::Mode;
    use crate::run::RunTally;

    fn run(started_at_ms: i64, fate: RunFate, denied: usize) -> RunSummary {
        RunSummary {
            run_id: Uuid::nil(),
            plan_id: "p".to_owned(),
            plan_name: "p".to_owned(),
            plan_digest: Digest::of(b""),
            workspace: "/w".to_owned(),
            target: None,
            mode: Mode::Automatic,
            parent_run: None,
            step_count: 1,
            steps_recorded: 1,
            started_at_ms,
            ended_at_ms: None,
            fate,
            tally: RunTally { denied, ..RunTally::default() },
            purged: None,
        }
    }

    #[test]
    fn later_of_decision_and_run_counts() {
        let decision = |is_approved, timestamp_ms| LastDecision {
            is_approved,
            reason: String::new(),
            by: DecidedBy { place: "window".to_owned(), user: None },
            timestamp_ms,
            expires_at_ms: 100,
        };
        let (approved, refused) = (Some(decision(true, 20)), Some(decision(false, 20)));
        let ended = |status| RunFate::Ended(status);
        for (decision, run, waits, expected) in [
            (None, None, true, "waiting"),
            (None, None, false, "removed"),
            (approved.clone(), None, true, "authorized"),
            (refused.clone(), None, true, "refused"),
            (approved.clone(), Some(run(20, RunFate::Active, 0)), true, "running"),
            (approved.clone(), Some(run(30, ended(RunStatus::Completed), 0)), true, "completed"),
            (approved.clone(), Some(run(30, ended(RunStatus::Failed), 0)), false, "failed"),
            (approved.clone(), Some(run(30, ended(RunStatus::Failed), 1)), false, "denied"),
            (approved.clone(), Some(run(30, RunFate::Interrupted, 0)), false, "interrupted"),
            (refused, Some(run(10, ended(RunStatus::Failed), 0)), true, "refused"),
            (approved, Some(run(10, ended(RunStatus::Failed), 0)), true, "authorized"),
        ] {
            let state = PlanState { decision, run, revised: None };
            assert_eq!(state.word(waits, 50), expected, "{state:?}");
        }
        let expired = PlanState { decision: Some(decision(true, 20)), run: None, revised: None };
        assert_eq!((expired.word(true, 100), expired.word(false, 100)), ("waiting", "removed"));
    }
}
