//! Measures how long the current step has run, and how long it has printed nothing (SPEC §7.2).

use super::RunEvent;

/// The minimum time without output, in milliseconds, that is reported.
const MIN_IDLE_MS: i64 = 5_000;

/// Times of the current step. They are measured when events arrive, because output events carry no time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StepTimer {
    started_ms: i64,
    /// The time of the latest output, or of the start.
    last_output_ms: i64,
}

impl StepTimer {
    /// Applies one event that arrived at this moment, in Unix milliseconds.
    pub fn apply(&mut self, event: &RunEvent, now_ms: i64) {
        match event {
            // The time until a person answers does not count.
            RunEvent::StepStarted { .. } | RunEvent::ConfirmationDecided { .. } => {
                (self.started_ms, self.last_output_ms) = (now_ms, now_ms);
            }
            RunEvent::StepOutput { .. }
            | RunEvent::OutputLeftOut { .. }
            | RunEvent::HostEnded { .. } => {
                self.last_output_ms = now_ms;
            }
            _ => {}
        }
    }

    /// How long the step has run, in milliseconds.
    pub fn elapsed_ms(&self, now_ms: i64) -> i64 {
        (now_ms - self.started_ms).max(0)
    }

    /// How long the step has printed nothing, in milliseconds; `None` below the minimum.
    pub fn idle_ms(&self, now_ms: i64) -> Option<i64> {
        Some(now_ms - self.last_output_ms).filter(|idle| *idle >= MIN_IDLE_MS)
    }
}

#[cfg(test)]
mod tests {
    use super::super::confirm::{Answer, AnsweredBy, Decision};
    use super::super::event::Stream;
    use super::*;

    // The idle time counts from the last output; waiting for a person is excluded.
    #[test]
    fn silence_counts_from_the_last_output() {
        let step_id = String::new;
        let started = RunEvent::StepStarted {
            step_id: step_id(),
            step_index: 0,
            tool_name: String::new(),
            about: String::new(),
            timestamp_ms: 0,
        };
        let answer =
            Answer { decision: Decision::Approve, by: AnsweredBy::Window, note: String::new() };
        let answered = RunEvent::ConfirmationDecided { step_id: step_id(), answer };
        let chunk = "x".to_owned();
        let output = RunEvent::StepOutput { step_id: step_id(), stream: Stream::Stdout, chunk };
        let mut timer = StepTimer::default();
        timer.apply(&started, 1_000);
        timer.apply(&answered, 60_000);
        assert_eq!((timer.elapsed_ms(64_999), timer.idle_ms(64_999)), (4_999, None));
        assert_eq!((timer.elapsed_ms(65_000), timer.idle_ms(65_000)), (5_000, Some(5_000)));
        timer.apply(&output, 66_000);
        assert_eq!((timer.elapsed_ms(70_000), timer.idle_ms(70_000)), (10_000, None));
        assert_eq!(timer.idle_ms(83_000), Some(17_000));
        assert_eq!(timer.elapsed_ms(59_000), 0, "a clock that was set back");
    }
}
