//! A recorded run played back step by step (SPEC §8): what is known of it at each moment. Pure; the window has the clock.
//!
//! While nothing happens for long, as during a question, the playback goes on after a moment; and what took a millisecond
//! stays long enough to be seen. So it has a time of its own.

use super::{Answer, RunEvent, StepResult, Waterfall};

/// The longest and the shortest time between two moments of the playback, in milliseconds.
const LONGEST: i64 = 1_500;
const SHORTEST: i64 = 250;

/// What is known of a step at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepPhase {
    /// It has not begun.
    NotBegun,
    /// It waits for the answer of a person.
    Asking,
    /// Its tool works, or its precondition is checked.
    Working,
    /// It has ended.
    Ended,
}

/// A moment at which something changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Moment {
    /// When it was, in milliseconds after the start of the run.
    run_ms: i64,
    /// When it comes in the playback, in milliseconds.
    play_ms: i64,
    /// The step, by its index in the waterfall.
    step: usize,
    /// What is known of the step from now on.
    phase: StepPhase,
}

/// A recorded run that can be played back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Playback {
    /// The run and the times of its steps.
    pub times: Waterfall,
    /// The result of each step of the waterfall; `None` if none is recorded.
    pub results: Vec<Option<Box<StepResult>>>,
    /// The answer of a person about each step of the waterfall; `None` if nobody was asked.
    pub answers: Vec<Option<Answer>>,
    moments: Vec<Moment>,
}

impl Playback {
    /// Plays back a run with these times and events.
    pub fn new(times: Waterfall, events: &[RunEvent]) -> Self {
        let of_step = |index: usize| times.steps.get(index).map(|step| &step.listed.row);
        let result = |index: usize| {
            let row = of_step(index)?;
            events.iter().find_map(|event| match event {
                RunEvent::StepCompleted { result }
                | RunEvent::StepFailed { result }
                | RunEvent::StepSkipped { result, .. } => {
                    (result.execution_id == row.execution_id).then(|| result.clone())
                }
                _ => None,
            })
        };
        let answer = |index: usize| {
            let row = of_step(index)?;
            events.iter().find_map(|event| match event {
                RunEvent::ConfirmationDecided { step_id, answer } => {
                    (*step_id == row.step_id).then(|| answer.clone())
                }
                _ => None,
            })
        };
        let results = (0..times.steps.len()).map(result).collect();
        let answers = (0..times.steps.len()).map(answer).collect();
        let moments = moments(&times);
        Self { times, results, answers, moments }
    }

    /// How long the playback takes, in milliseconds.
    pub fn length_ms(&self) -> i64 {
        self.moments.last().map_or(0, |last| last.play_ms + SHORTEST)
    }

    /// The moments up to this time of the playback.
    fn past(&self, play_ms: i64) -> &[Moment] {
        let count = self.moments.partition_point(|moment| moment.play_ms <= play_ms);
        self.moments.get(..count).unwrap_or_default()
    }

    /// What is known of a step at this time of the playback.
    pub fn phase(&self, step: usize, play_ms: i64) -> StepPhase {
        let moments = self.past(play_ms).iter().rev();
        moments.clone().find(|it| it.step == step).map_or(StepPhase::NotBegun, |it| it.phase)
    }

    /// The step that has changed last at this time of the playback; `None` before the first one.
    pub fn current(&self, play_ms: i64) -> Option<usize> {
        self.past(play_ms).last().map(|moment| moment.step)
    }

    /// The time after the start of the run at this time of the playback, in milliseconds.
    pub fn run_ms(&self, play_ms: i64) -> i64 {
        let past = self.past(play_ms);
        let (Some(last), next) = (past.last(), self.moments.get(past.len())) else { return 0 };
        let Some(next) = next else { return last.run_ms };
        let share = (play_ms - last.play_ms) as f64 / (next.play_ms - last.play_ms).max(1) as f64;
        last.run_ms + ((next.run_ms - last.run_ms) as f64 * share.clamp(0.0, 1.0)) as i64
    }

    /// The time of the playback at which a step begins, or the first one that begins later. The end if there is none.
    pub fn start_of(&self, step: usize) -> i64 {
        let begins = |moment: &&Moment| moment.step >= step;
        self.moments.iter().find(begins).map_or(self.length_ms(), |moment| moment.play_ms)
    }

    /// The starts of all steps as shares of the whole playback, from 0 to 1.
    pub fn marks(&self) -> impl Iterator<Item = f32> {
        let length = self.length_ms().max(1) as f64;
        let mut last = None;
        self.moments.iter().filter_map(move |moment| {
            let is_new = last.is_none_or(|last| moment.step > last);
            last = last.max(Some(moment.step));
            is_new.then_some((moment.play_ms as f64 / length) as f32)
        })
    }
}

/// The moments of a run in order.
fn moments(times: &Waterfall) -> Vec<Moment> {
    let mut moments = Vec::new();
    for (step, of_step) in times.steps.iter().enumerate() {
        let mut add = |run_ms, phase| moments.push(Moment { run_ms, play_ms: 0, step, phase });
        if let Some(waiting) = of_step.waiting() {
            add(waiting.from_ms, StepPhase::Asking);
        }
        let begun = of_step.begun_ms + of_step.waited_ms;
        match of_step.working() {
            Some(working) => {
                add(working.from_ms, StepPhase::Working);
                add(working.to_ms, StepPhase::Ended);
            }
            None if of_step.is_open() => add(begun, StepPhase::Working),
            None => add(begun, StepPhase::Ended),
        }
    }
    // Steps run one after the other; their recorded times may overlap by a clock that was set back.
    let (mut run_ms, mut play_ms) = (0, 0);
    for moment in &mut moments {
        moment.run_ms = moment.run_ms.max(run_ms);
        play_ms += (moment.run_ms - run_ms).clamp(SHORTEST, LONGEST);
        moment.play_ms = play_ms;
        run_ms = moment.run_ms;
    }
    moments
}

#[cfg(test)]
mod tests {
    use super::super::waterfall::tests::{run, step};
    use super::*;
    use crate::run::{Known, Outcome};

    fn playback() -> Playback {
        let ended = Known::Outcome(Outcome::Succeeded);
        let steps = vec![
            (step(0, 100, ended, 20), None),
            (step(1, 130, ended, 400), Some(10_000 + 60_130)),
            (step(2, 60_600, Known::Interrupted, 0), None),
        ];
        Playback::new(Waterfall::new(run(None), steps, &[]), &[])
    }

    #[test]
    fn long_waits_are_short_and_short_steps_can_be_seen() {
        let playback = playback();
        let times: Vec<_> =
            playback.moments.iter().map(|it| (it.run_ms, it.play_ms, it.step)).collect();
        assert_eq!(
            times,
            [
                (100, 250, 0),
                (120, 500, 0),
                (130, 750, 1),
                (60_130, 2_250, 1),
                (60_530, 2_650, 1),
                (60_600, 2_900, 2)
            ]
        );
        assert_eq!(playback.length_ms(), 3_150);
    }

    #[test]
    fn each_moment_has_its_state() {
        use StepPhase::{Asking, Ended, NotBegun, Working};
        let playback = playback();
        let phases = |at| [0, 1, 2].map(|step| playback.phase(step, at));
        assert_eq!(phases(0), [NotBegun; 3]);
        assert_eq!(phases(300), [Working, NotBegun, NotBegun]);
        assert_eq!(phases(800), [Ended, Asking, NotBegun]);
        assert_eq!(phases(2_300), [Ended, Working, NotBegun]);
        assert_eq!(phases(9_000), [Ended, Ended, Working]);
        assert_eq!([playback.current(0), playback.current(800)], [None, Some(1)]);
        assert_eq!([0, 1_500, 9_000].map(|at| playback.run_ms(at)), [0, 30_130, 60_600]);
        assert_eq!([0, 1, 2, 3].map(|step| playback.start_of(step)), [250, 750, 2_900, 3_150]);
        assert_eq!(playback.marks().count(), 3);
    }

    #[test]
    fn a_run_without_steps_has_no_length() {
        let playback = Playback::new(Waterfall::new(run(None), Vec::new(), &[]), &[]);
        assert_eq!((playback.length_ms(), playback.current(5), playback.run_ms(5)), (0, None, 0));
    }
}
