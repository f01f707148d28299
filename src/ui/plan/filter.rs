//! The steps in the list of a long plan: filtered by kind and by text, with the number of steps of each kind. Pure.

use std::collections::BTreeSet;

use crate::plan::{ShownPlan, ShownStep, ToolClass};
use crate::risk::RiskLevel;
use crate::run::{Outcome, PreviewedSteps, Review, RunState, StepState};
use crate::ui::{Icon, Tone, icon};

/// A kind of steps. A step may be of several kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StepKind {
    /// Changes files.
    Writes,
    /// Asks before it runs.
    Asks,
    /// Is dangerous or blocked.
    Dangerous,
    /// Would fail, also at its precondition, is faulty, or did not succeed in the run.
    Fails,
    /// Was not looked at to its end.
    NotLookedAt,
    /// Is new or changed since the person saw the plan.
    Changed,
}

impl StepKind {
    /// Every kind, in the order of the bar.
    pub const ALL: [Self; 6] =
        [Self::Writes, Self::Asks, Self::Dangerous, Self::Fails, Self::NotLookedAt, Self::Changed];

    /// Which steps are of the kind, as a sentence.
    pub(super) const fn meaning(self) -> &'static str {
        match self {
            Self::Writes => "Steps that change files.",
            Self::Asks => "Steps that ask before they run.",
            Self::Dangerous => "Steps that are dangerous or blocked.",
            Self::Fails => {
                "Steps that would fail, also at their precondition, that are faulty, or that did not succeed."
            }
            Self::NotLookedAt => "Steps that you have not looked at to their end.",
            Self::Changed => "Steps that are new or changed since you saw the plan.",
        }
    }

    /// The word, the icon and the tone of the kind.
    pub(super) fn look(self) -> (&'static str, Icon, Tone) {
        match self {
            Self::Writes => ("writes", icon::WRITE, Tone::Plain),
            Self::Asks => ("asks", icon::HAND, Tone::Accent),
            Self::Dangerous => ("dangerous", icon::STOP_SIGN, Tone::Danger),
            Self::Fails => ("fails", icon::FAILED, Tone::Danger),
            Self::NotLookedAt => ("unseen", icon::WAITING, Tone::Caution),
            Self::Changed => ("changed", icon::DIFF, Tone::Accent),
        }
    }
}

/// What the person wants to see of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StepFilter {
    /// Words, all of which must occur in a step.
    pub text: String,
    /// The steps of any of these kinds; empty for all steps.
    pub kinds: BTreeSet<StepKind>,
}

impl StepFilter {
    /// Whether all steps are listed.
    pub fn is_empty(&self) -> bool {
        self.text.trim().is_empty() && self.kinds.is_empty()
    }
}

/// The steps in the list.
#[derive(Debug, Clone, Default)]
pub struct StepList {
    /// The filter of the person.
    pub filter: StepFilter,
    /// The indices of the listed steps, ascending; `None` for all.
    pub listed: Option<Vec<usize>>,
    /// The number of steps of each kind, in the order of [`StepKind::ALL`].
    pub counts: [usize; 6],
    /// Whether the person opened the bar. It is always there for a long plan.
    pub is_open: bool,
    /// Whether to focus the text field now.
    pub focus: bool,
}

impl StepList {
    /// Computes which steps are listed, and the number of steps of each kind. `with_text` states for each step whether
    /// it has the text of the filter; `asking` is the step that waits for an answer, which is always listed.
    pub fn update(&mut self, sources: &KindSources<'_>, with_text: &[bool], asking: Option<usize>) {
        let steps = &sources.plan.steps;
        self.counts =
            StepKind::ALL.map(|kind| steps.iter().filter(|step| sources.is(step, kind)).count());
        let StepFilter { text, kinds } = &self.filter;
        let is_listed = |step: &&ShownStep| {
            let has_text = text.trim().is_empty() || with_text.get(step.step_index) == Some(&true);
            let is_any = kinds.is_empty() || kinds.iter().any(|kind| sources.is(step, *kind));
            has_text && is_any || asking == Some(step.step_index)
        };
        self.listed = (!self.filter.is_empty())
            .then(|| steps.iter().filter(is_listed).map(|step| step.step_index).collect());
    }

    /// The number of listed steps of a plan with `count` steps.
    pub fn len(&self, count: usize) -> usize {
        self.listed.as_ref().map_or(count, Vec::len)
    }

    /// The step in a row of the list.
    pub fn step(&self, row: usize) -> Option<usize> {
        self.listed.as_ref().map_or(Some(row), |listed| listed.get(row).copied())
    }

    /// The row of a step; for a step that is not listed, the row before which it would be.
    pub fn row(&self, step: usize) -> usize {
        self.listed.as_ref().map_or(step, |listed| listed.partition_point(|it| *it < step))
    }

    /// Whether a step is in the list.
    pub fn lists(&self, step: usize) -> bool {
        self.listed.as_ref().is_none_or(|listed| listed.binary_search(&step).is_ok())
    }

    /// The listed step that is `by` rows below a step. In a plan with `count` steps; stops at both ends, or goes on at
    /// the other end if `wraps`. `None` if no step is listed.
    pub fn moved(&self, step: usize, by: isize, count: usize, wraps: bool) -> Option<usize> {
        let last = self.len(count).checked_sub(1)?;
        let row = self.row(step);
        // From a step that is not listed, the row below is the one that would follow it.
        let from = if self.lists(step) || by <= 0 { row as isize } else { row as isize - 1 };
        let to = from + by;
        let to = match usize::try_from(to) {
            Err(_) if wraps => last,
            Err(_) => 0,
            Ok(to) if to > last => {
                if wraps {
                    0
                } else {
                    last
                }
            }
            Ok(to) => to,
        };
        self.step(to)
    }
}

/// What decides of which kinds a step is.
#[derive(Debug, Clone, Copy)]
pub struct KindSources<'a> {
    /// The plan.
    pub plan: &'a ShownPlan,
    /// Its review, if there is one.
    pub review: Option<&'a Review>,
    /// Its run.
    pub run: &'a RunState,
    /// The steps that the person has looked at.
    pub looked_at: &'a super::LookedAt,
    /// The steps that differ from what the person saw.
    pub changed: &'a super::ChangedSteps,
    /// What the previews of the steps say.
    pub previewed: &'a PreviewedSteps,
}

impl KindSources<'_> {
    /// Whether a step is of this kind.
    pub fn is(&self, step: &ShownStep, kind: StepKind) -> bool {
        let index = step.step_index;
        match kind {
            StepKind::Writes => {
                step.call.as_ref().is_some_and(|call| call.class() == ToolClass::Mutate)
            }
            StepKind::Asks => self
                .review
                .is_some_and(|review| review.asks.get(index).is_some_and(Option::is_some)),
            StepKind::Dangerous => self.review.is_some_and(|review| {
                let risk = review.risks.get(index);
                risk.is_some_and(|risk| risk.level >= RiskLevel::Dangerous)
            }),
            StepKind::Fails => {
                let outcome = self.run.steps.get(index).and_then(StepState::outcome);
                let done = [Outcome::Succeeded, Outcome::DoneByHand, Outcome::Skipped];
                outcome.is_some_and(|outcome| !done.contains(&outcome))
                    || outcome.is_none() && step.call.is_none()
                    || !self.run.has_begun()
                        && (self.previewed.failure(index).is_some()
                            || self.review.is_some_and(|it| it.fails_precondition(index)))
            }
            // After a run, nothing has to be looked at: its steps have done what they would do.
            StepKind::NotLookedAt => !self.run.is_over() && self.looked_at.lacks(index),
            StepKind::Changed => self.changed.get(index).is_some(),
        }
    }
}

/// Whether each step has all words of this text in its number, id, title, reason, tool or arguments, in any case.
pub fn steps_with_text(plan: &ShownPlan, text: &str) -> Vec<bool> {
    let words: Vec<String> = text.to_lowercase().split_whitespace().map(str::to_owned).collect();
    let has = |step: &ShownStep| {
        let number = (step.step_index + 1).to_string();
        let optional = [&step.title, &step.reason, &step.expected_output];
        let texts = [&step.step_id, &step.tool_name, &step.precondition_text].into_iter();
        let texts = texts.chain(optional.into_iter().flatten()).chain(step.arguments.values());
        let mut missing: Vec<&String> = words.iter().filter(|word| **word != number).collect();
        for text in texts {
            if missing.is_empty() {
                break;
            }
            let text = text.to_lowercase();
            missing.retain(|word| !text.contains(word.as_str()));
        }
        missing.is_empty()
    };
    plan.steps.iter().map(has).collect()
}

/// Every kind for the help: its word, and which steps are of it.
pub(crate) fn kinds_help() -> impl Iterator<Item = (&'static str, &'static str)> {
    StepKind::ALL.into_iter().map(|kind| (kind.look().0, kind.meaning()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Phase;
    use crate::ui::tests::fixture;
    use crate::ui::tests::scene::Scene;

    #[test]
    fn words_are_found_in_any_part_of_a_step() {
        let plan = fixture::plan();
        let found = |text: &str| -> Vec<usize> {
            let has = steps_with_text(&plan, text).into_iter().enumerate();
            has.filter(|(_, has)| *has).map(|(index, _)| index + 1).collect()
        };
        assert_eq!(found(""), [1, 2, 3, 4, 5]);
        assert_eq!(found("FILE_WRITE lib.rs"), [3]);
        assert_eq!(found("changelog"), [5]);
        assert_eq!(found("4"), found("4"));
        assert!(found("4").contains(&4));
        assert_eq!(found("heron egret"), Vec::<usize>::new());
    }

    #[test]
    fn the_selection_moves_among_the_listed_steps() {
        let list = StepList { listed: Some(vec![2, 5, 9]), ..StepList::default() };
        let moved = |from, by, wraps| list.moved(from, by, 20, wraps).unwrap();
        assert_eq!([moved(2, 1, false), moved(5, -1, false), moved(9, 1, false)], [5, 2, 9]);
        assert_eq!([moved(9, 1, true), moved(2, -1, true)], [2, 9]);
        assert_eq!([moved(3, 1, false), moved(3, -1, false), moved(0, 1, false)], [5, 2, 2]);
        assert_eq!(StepList::default().moved(7, 1, 20, false), Some(8));
        let none = StepList { listed: Some(Vec::new()), ..StepList::default() };
        assert_eq!(none.moved(0, 1, 20, true), None);
    }

    #[test]
    fn after_a_run_no_step_is_unseen() {
        let scene = Scene::new("unseen");
        let unseen = |phase: Phase| {
            let run = RunState { phase, ..RunState::default() };
            let view = scene.view().plan.unwrap();
            let sources = KindSources {
                plan: view.plan.unwrap(),
                review: view.review,
                run: &run,
                looked_at: view.looked_at,
                changed: view.changed,
                previewed: view.previewed,
            };
            let steps = sources.plan.steps.iter();
            steps.filter(|step| sources.is(step, StepKind::NotLookedAt)).count()
        };
        assert!(unseen(Phase::default()) > 0);
        assert_eq!(unseen(Phase::Interrupted), 0);
    }
}
