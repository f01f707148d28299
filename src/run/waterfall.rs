//! When each step of a run waited for a person and when its tool worked (SPEC §8). Pure.

use serde::Serialize;

use super::text::took;
use super::{Control, Known, ListedExecution, RunSummary, took_ms};

/// A span of time, in milliseconds after the start of its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct TimeSpan {
    /// The start.
    pub from_ms: i64,
    /// The end, not before the start.
    pub to_ms: i64,
}

impl TimeSpan {
    /// How long it is, in milliseconds.
    pub const fn length_ms(self) -> i64 {
        self.to_ms - self.from_ms
    }

    /// How much of it is before `ms`, in milliseconds.
    fn before(self, ms: i64) -> i64 {
        (ms.min(self.to_ms) - self.from_ms).max(0)
    }
}

/// One step of a run with its times.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StepTimes {
    /// The execution.
    #[serde(flatten)]
    pub listed: ListedExecution,
    /// When the step began, in milliseconds after the start of the run.
    pub begun_ms: i64,
    /// How long it waited for the answer of a person, in milliseconds; 0 if nobody was asked.
    pub waited_ms: i64,
    /// How long its tool took, in milliseconds; `None` if the tool was not called, or the outcome is not recorded.
    pub worked_ms: Option<i64>,
}

impl StepTimes {
    /// When it waited for a person; `None` if nobody was asked, or the answer came at once.
    pub fn waiting(&self) -> Option<TimeSpan> {
        let to_ms = self.begun_ms + self.waited_ms;
        (self.waited_ms > 0).then_some(TimeSpan { from_ms: self.begun_ms, to_ms })
    }

    /// When its tool worked; `None` as for `worked_ms`.
    pub fn working(&self) -> Option<TimeSpan> {
        let from_ms = self.begun_ms + self.waited_ms;
        self.worked_ms.map(|worked| TimeSpan { from_ms, to_ms: from_ms + worked })
    }

    /// The end of the last known span.
    fn last_ms(&self) -> i64 {
        self.begun_ms + self.waited_ms + self.worked_ms.unwrap_or_default()
    }

    /// Whether it has begun and its outcome is not recorded.
    pub fn is_open(&self) -> bool {
        matches!(self.listed.row.known, Known::Interrupted | Known::Running)
    }
}

/// The times of the steps of one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Waterfall {
    /// The run.
    pub run: RunSummary,
    /// From the start of the run to its end or, without a recorded end, to the last recorded time, in milliseconds.
    pub total_ms: i64,
    /// How long steps waited for a person and the run was paused, together, in milliseconds.
    pub waited_ms: i64,
    /// How long tools worked, in milliseconds.
    pub worked_ms: i64,
    /// When the run was paused between two steps.
    pub pauses: Vec<TimeSpan>,
    /// The steps in the order of the plan.
    pub steps: Vec<StepTimes>,
}

impl Waterfall {
    /// The times of a run. Each step comes with the time of a person's decision about it, in Unix milliseconds, and
    /// `controls` are the requests of persons during the run, in order.
    pub fn new(
        run: RunSummary,
        steps: Vec<(ListedExecution, Option<i64>)>,
        controls: &[(Control, i64)],
    ) -> Self {
        let start = run.started_at_ms;
        let steps: Vec<_> =
            steps.into_iter().map(|(listed, decided)| step_times(listed, decided, start)).collect();
        let last = steps.iter().map(StepTimes::last_ms).max().unwrap_or_default();
        let total_ms = run.ended_at_ms.map_or(0, |end| end - start).max(last).max(0);
        let pauses = pauses(&steps, controls, start, total_ms);
        let waited: i64 = steps.iter().map(|step| step.waited_ms).sum();
        Self {
            run,
            total_ms,
            waited_ms: waited + pauses.iter().map(|it| it.length_ms()).sum::<i64>(),
            worked_ms: steps.iter().filter_map(|step| step.worked_ms).sum(),
            pauses,
            steps,
        }
    }

    /// How long the run took, and on what, in words.
    pub fn sentence(&self) -> String {
        let rest = self.total_ms - self.waited_ms - self.worked_ms;
        let parts = [
            (self.waited_ms, "waiting for a person"),
            (self.worked_ms, "of work"),
            (rest, "between"),
        ];
        let parts = parts.iter().filter(|(ms, _)| *ms > 0);
        let parts: Vec<_> = parts.map(|(ms, what)| format!("{} {what}", took(*ms))).collect();
        let whole = took(self.total_ms);
        if parts.is_empty() { whole } else { format!("{whole}: {}", parts.join(", ")) }
    }

    /// As if every answer had come at once: when each step began, and how long the run took, in milliseconds.
    pub fn without_waiting(&self) -> (Vec<i64>, i64) {
        let mut waited = 0;
        let mut starts = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            let paused: i64 = self.pauses.iter().map(|pause| pause.before(step.begun_ms)).sum();
            starts.push((step.begun_ms - waited - paused).max(0));
            waited += step.waited_ms;
        }
        (starts, (self.total_ms - self.waited_ms).max(0))
    }
}

fn step_times(listed: ListedExecution, decided_at_ms: Option<i64>, start_ms: i64) -> StepTimes {
    let row = &listed.row;
    let worked_ms = took_ms(&listed);
    StepTimes {
        // The clock may have been set back.
        begun_ms: (row.timestamp_ms - start_ms).max(0),
        waited_ms: decided_at_ms.map_or(0, |decided| (decided - row.timestamp_ms).max(0)),
        worked_ms: worked_ms.map(|worked| worked.max(0)),
        listed,
    }
}

/// The pauses of a run: each from its request, or the end of the step that was under way then, until it was resumed, the
/// next step began, or the run ended.
fn pauses(
    steps: &[StepTimes],
    controls: &[(Control, i64)],
    start_ms: i64,
    total_ms: i64,
) -> Vec<TimeSpan> {
    let mut pauses: Vec<TimeSpan> = Vec::new();
    for (index, (control, at_ms)) in controls.iter().enumerate() {
        if *control != Control::Pause {
            continue;
        }
        let asked = at_ms - start_ms;
        let under_way = steps.iter().rev().find(|step| step.begun_ms <= asked);
        let from_ms = under_way.map_or(asked, |step| asked.max(step.last_ms()));
        let ends = |control| !matches!(control, Control::Pause | Control::GoOnGuided);
        let later = controls.iter().skip(index + 1);
        let resumed = later.filter(|(control, _)| ends(*control)).map(|(_, at)| at - start_ms);
        let next_step = steps.iter().map(|step| step.begun_ms).find(|begun| *begun > asked);
        let to_ms = resumed.take(1).chain(next_step).min().unwrap_or(total_ms);
        let is_new = pauses.last().is_none_or(|last| last.to_ms <= from_ms);
        pauses.extend(Some(TimeSpan { from_ms, to_ms }).filter(|it| is_new && it.length_ms() > 0));
    }
    pauses
}

#[cfg(test)]
pub(super) mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::plan::{Digest, Mode};
    use crate::run::{Execution, Outcome, RunFate, RunStatus, RunTally};

    /// A run that began at 10 s and ended after this time.
    pub fn run(ended_after_ms: Option<i64>) -> RunSummary {
        RunSummary {
            run_id: Uuid::from_u128(1),
            plan_id: "p".into(),
            plan_name: "A plan".into(),
            plan_digest: Digest::of(b"plan"),
            workspace: "/home/ada".into(),
            target: None,
            mode: Mode::Automatic,
            parent_run: None,
            step_count: 4,
            steps_recorded: 3,
            started_at_ms: 10_000,
            ended_at_ms: ended_after_ms.map(|ms| 10_000 + ms),
            fate: RunFate::Ended(RunStatus::Completed),
            tally: RunTally::default(),
            purged: None,
        }
    }

    /// A step that began at this time after the start of the run.
    pub fn step(index: usize, begun_ms: i64, known: Known, took_ms: i64) -> ListedExecution {
        let row = Execution {
            execution_id: Uuid::from_u128(index as u128),
            run_id: Uuid::from_u128(1),
            plan_id: "p".into(),
            step_id: format!("s{index}"),
            step_index: index,
            tool_name: "file_read".into(),
            about: "a.txt".into(),
            timestamp_ms: 10_000 + begun_ms,
            duration_ms: Some(took_ms),
            known,
            risk: None,
            exit_code: None,
            error_code: None,
            error_message: None,
            walls: None,
        };
        ListedExecution { row, changed: false }
    }

    const SUCCEEDED: Known = Known::Outcome(Outcome::Succeeded);

    fn spans(waterfall: &Waterfall) -> Vec<(i64, i64, Option<i64>)> {
        waterfall.steps.iter().map(|it| (it.begun_ms, it.waited_ms, it.worked_ms)).collect()
    }

    #[test]
    fn waiting_is_apart_from_working() {
        let steps = vec![
            (step(0, 5, SUCCEEDED, 20), None),
            (step(1, 30, SUCCEEDED, 40), Some(10_000 + 1_030)),
            (step(2, 1_080, Known::Outcome(Outcome::Denied), 0), Some(10_000 + 3_080)),
        ];
        let waterfall = Waterfall::new(run(Some(3_100)), steps, &[]);
        assert_eq!(
            spans(&waterfall),
            [(5, 0, Some(20)), (30, 1_000, Some(40)), (1_080, 2_000, None)]
        );
        assert_eq!(
            (waterfall.total_ms, waterfall.waited_ms, waterfall.worked_ms),
            (3_100, 3_000, 60)
        );
        assert_eq!(waterfall.steps[1].working(), Some(TimeSpan { from_ms: 1_030, to_ms: 1_070 }));
        assert_eq!(waterfall.without_waiting(), (vec![5, 30, 80], 100));
    }

    #[test]
    fn a_pause_begins_after_the_step_under_way() {
        let steps =
            vec![(step(0, 0, SUCCEEDED, 500), None), (step(1, 2_000, SUCCEEDED, 100), None)];
        let controls = [(Control::Pause, 10_200), (Control::Resume, 11_990)];
        let waterfall = Waterfall::new(run(Some(2_100)), steps.clone(), &controls);
        assert_eq!(waterfall.pauses, [TimeSpan { from_ms: 500, to_ms: 1_990 }]);
        assert_eq!((waterfall.waited_ms, waterfall.worked_ms), (1_490, 600));
        assert_eq!(waterfall.without_waiting().0, [0, 510]);
        // A pause that a stop ended.
        let controls = [(Control::Pause, 12_050), (Control::StopNow, 14_000)];
        let waterfall = Waterfall::new(run(Some(4_000)), steps, &controls);
        assert_eq!(waterfall.pauses, [TimeSpan { from_ms: 2_100, to_ms: 4_000 }]);
    }

    #[test]
    fn a_run_without_end_ends_with_its_last_time() {
        let steps = vec![
            (step(0, 0, SUCCEEDED, 70), None),
            (step(1, 90, Known::Interrupted, 0), Some(10_000 + 190)),
        ];
        let waterfall = Waterfall::new(run(None), steps, &[]);
        assert_eq!((waterfall.total_ms, waterfall.waited_ms), (190, 100));
        assert!(waterfall.steps[1].is_open() && waterfall.steps[1].working().is_none());
        assert_eq!(Waterfall::new(run(None), Vec::new(), &[]).total_ms, 0);
    }

    // The clock was set back during the run, and an answer is older than its question.
    #[test]
    fn no_time_is_negative() {
        let steps = vec![(step(0, -50, SUCCEEDED, 7), Some(10_000 - 90))];
        let waterfall = Waterfall::new(run(Some(-20)), steps, &[]);
        assert_eq!(spans(&waterfall), [(0, 0, Some(7))]);
        assert_eq!(waterfall.total_ms, 7);
    }
}
