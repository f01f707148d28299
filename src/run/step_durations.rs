//! How long one step took in each run (SPEC §8). Pure.

use serde::Serialize;

use super::{Known, ListedExecution};

/// The executions of one step over all runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StepDurations {
    /// The tool.
    pub tool_name: String,
    /// The arguments in one short line.
    pub about: String,
    /// The median of the durations, in milliseconds; `None` if the tool was never called.
    pub median_ms: Option<i64>,
    /// The shortest duration, in milliseconds.
    pub shortest_ms: Option<i64>,
    /// The longest duration, in milliseconds.
    pub longest_ms: Option<i64>,
    /// The number of older executions that are left out.
    pub left_out: usize,
    /// The executions, the oldest first.
    pub executions: Vec<ListedExecution>,
}

impl StepDurations {
    /// The durations of these executions, the oldest first, of which the last one names the step.
    pub fn new(executions: Vec<ListedExecution>, left_out: usize) -> Option<Self> {
        let last = &executions.last()?.row;
        let mut took: Vec<i64> = executions.iter().filter_map(took_ms).collect();
        took.sort_unstable();
        let middle = took.len() / 2;
        let median_ms = match (took.get(middle), took.len() % 2) {
            (Some(upper), 0) => took.get(middle - 1).map(|lower| i64::midpoint(*lower, *upper)),
            (found, _) => found.copied(),
        };
        Some(Self {
            tool_name: last.tool_name.clone(),
            about: last.about.clone(),
            median_ms,
            shortest_ms: took.first().copied(),
            longest_ms: took.last().copied(),
            left_out,
            executions,
        })
    }
}

/// How long the tool of an execution took, in milliseconds; `None` if it was not called, or its outcome is not recorded.
pub fn took_ms(execution: &ListedExecution) -> Option<i64> {
    let row = &execution.row;
    match row.known {
        Known::Outcome(outcome) => row.duration_ms.and_then(|ms| outcome.took(ms)),
        Known::Interrupted | Known::Running => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::waterfall::tests::step;
    use super::*;
    use crate::run::Outcome;

    #[test]
    fn the_median_is_that_of_called_tools() {
        let of = |steps: &[(Outcome, i64)]| {
            let steps = steps.iter().enumerate();
            let steps = steps.map(|(n, (outcome, ms))| step(n, 0, Known::Outcome(*outcome), *ms));
            StepDurations::new(steps.collect(), 0)
        };
        use Outcome::{Denied, Failed, Succeeded};
        let found = of(&[(Succeeded, 30), (Denied, 0), (Failed, 10), (Succeeded, 20)]).unwrap();
        assert_eq!(
            (found.median_ms, found.shortest_ms, found.longest_ms),
            (Some(20), Some(10), Some(30))
        );
        assert_eq!(of(&[(Succeeded, 10), (Succeeded, 20)]).unwrap().median_ms, Some(15));
        assert_eq!(of(&[(Denied, 0)]).unwrap().median_ms, None);
        assert_eq!(of(&[]), None);
    }
}
