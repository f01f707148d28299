//! When an execution was asked about, decided and started, and what it says about walls. Pure.

use super::{Decision, ExecutionDetail, Known, Outcome};
use crate::plan::{Tool, ToolClass};

/// An execution that was noticeably later than its question: at least this many milliseconds.
const NOTICEABLE_MS: i64 = 1_000;

impl Outcome {
    /// Whether the tool was certainly not called: a person or a precondition decided against it.
    pub fn never_started(self) -> bool {
        matches!(self, Self::Denied | Self::Skipped | Self::DoneByHand | Self::PreconditionFailed)
    }

    /// How long the tool took, in milliseconds; `None` if it was not called. A step that was cancelled without taking any
    /// time was stopped before its tool was called.
    pub fn took(self, duration_ms: i64) -> Option<i64> {
        let is_called = !self.never_started() && (self != Self::Cancelled || duration_ms > 0);
        is_called.then_some(duration_ms)
    }
}

impl Known {
    /// As [`Outcome::never_started`]; false without an outcome.
    pub fn never_started(self) -> bool {
        matches!(self, Self::Outcome(outcome) if outcome.never_started())
    }

    /// As [`Outcome::took`]; the duration itself without an outcome.
    pub fn took(self, duration_ms: i64) -> Option<i64> {
        match self {
            Self::Outcome(outcome) => outcome.took(duration_ms),
            _ => Some(duration_ms),
        }
    }
}

impl ExecutionDetail {
    /// As [`Outcome::never_started`]; false without an outcome.
    pub fn never_started(&self) -> bool {
        self.row.known.never_started()
    }

    /// The times of the execution, each with its name, in Unix milliseconds. A question is named if it was noticeably
    /// earlier than the start, and always if the tool was not called.
    pub fn times(&self) -> Vec<(&'static str, i64)> {
        let begun = self.row.timestamp_ms;
        let decided = |decision: Decision| {
            let decisions = self.decisions.iter().filter(|it| it.decision == decision.as_str());
            decisions.map(|it| it.timestamp_ms).max()
        };
        let asked = |word, decision| match decided(decision) {
            Some(at) => vec![("asked", begun), (word, at)],
            None => vec![(word, begun)],
        };
        match self.row.known {
            Known::Outcome(Outcome::Denied) => asked("denied", Decision::Cancel),
            Known::Outcome(Outcome::Skipped) => asked("skipped", Decision::Skip),
            Known::Outcome(Outcome::DoneByHand) => asked("done by hand", Decision::DoneByHand),
            Known::Outcome(Outcome::PreconditionFailed) => vec![("checked", begun)],
            _ => {
                let started = self.intent_at_ms.into_iter().chain(decided(Decision::Approve)).max();
                match started {
                    Some(at) if at >= begun + NOTICEABLE_MS => {
                        vec![("asked", begun), ("started", at)]
                    }
                    _ => vec![("started", begun)],
                }
            }
        }
    }

    /// The walls of the step; `None` if it started no process on this computer.
    pub fn walls_text(&self) -> Option<String> {
        if let Some(walls) = &self.row.walls {
            return Some(walls.to_string());
        }
        let may_start = self.run.target.is_none()
            && Tool::from_name(&self.row.tool_name).is_none_or(starts_process);
        (may_start && !self.never_started()).then(|| "not recorded".to_owned())
    }
}

/// Whether calls of the tool may start a process on this computer.
fn starts_process(tool: Tool) -> bool {
    match tool {
        Tool::SplicePatch | Tool::SplicePlan | Tool::Simulate => true,
        tool => matches!(tool.class(), ToolClass::Check | ToolClass::Command),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_was_not_called_took_no_time() {
        let took = |outcome: Outcome, ms| Known::Outcome(outcome).took(ms);
        assert_eq!(took(Outcome::Denied, 0), None);
        assert_eq!(took(Outcome::Cancelled, 0), None, "its question was ended");
        assert_eq!(took(Outcome::Cancelled, 7), Some(7));
        assert_eq!(took(Outcome::Succeeded, 0), Some(0));
        assert_eq!(Known::Interrupted.took(3), Some(3));
    }
}
