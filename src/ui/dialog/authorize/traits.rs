//! What a person must know about a step before they authorize it, and which steps may be folded.

use crate::authorization::WallLevel;
use crate::plan::{ShownPlan, ToolCall, ToolClass};
use crate::risk::RiskLevel;
use crate::run::{PreviewedSteps, Review, cannot_be_restored};
use crate::ui::plan::{RIGHT_TO_LEFT, named_letters, step_has_right_to_left};

/// The longest plan in which no step is folded: about two screens.
const SHORT_PLAN: usize = 40;

/// What is remarkable about a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StepTraits {
    asks: bool,
    /// Whether the evidence may not be able to restore what the step changes.
    is_lasting: bool,
    fails_precondition: bool,
    /// Whether it would fail by its preview.
    would_fail: bool,
    /// Whether it starts a program without walls, on this computer or on another host.
    has_no_walls: bool,
    has_right_to_left: bool,
}

impl StepTraits {
    pub(super) fn of(
        plan: &ShownPlan,
        review: &Review,
        previewed: &PreviewedSteps,
        index: usize,
    ) -> Self {
        let call = plan.steps.get(index).and_then(|step| step.call.as_ref());
        let is_remote =
            plan.target.is_some() && call.is_some_and(|call| call.class() == ToolClass::Command);
        Self {
            asks: review.asks.get(index).is_some_and(Option::is_some),
            is_lasting: call
                .zip(review.risks.get(index))
                .is_some_and(|(call, risk)| cannot_be_restored(call, risk)),
            fails_precondition: review.fails_precondition(index),
            would_fail: previewed.failure(index).is_some(),
            has_right_to_left: plan.steps.get(index).is_some_and(step_has_right_to_left),
            has_no_walls: is_remote
                || review.walls_of(index).is_some_and(|step| step.walls.level == WallLevel::None),
        }
    }

    /// Whether it would fail as things are now.
    pub(super) fn fails(self) -> bool {
        self.fails_precondition || self.would_fail
    }

    /// The traits in words.
    pub(super) fn notes(self) -> impl Iterator<Item = &'static str> {
        [
            (self.asks, "asks"),
            (self.is_lasting, "not restorable"),
            (self.fails_precondition, "precondition fails"),
            (self.would_fail, "would fail"),
            (self.has_no_walls, "no walls"),
            (self.has_right_to_left, RIGHT_TO_LEFT),
        ]
        .into_iter()
        .filter_map(|(applies, word)| applies.then_some(word))
    }
}

/// The steps of a long plan that only read and have nothing remarkable, ascending; empty for a short plan. Every step that
/// asks, is risky, starts a program, or has letters that look like others is left out.
pub(super) fn foldable(
    plan: &ShownPlan,
    review: &Review,
    previewed: &PreviewedSteps,
) -> Vec<usize> {
    if plan.steps.len() <= SHORT_PLAN {
        return Vec::new();
    }
    let only_reads = |call: &ToolCall| {
        call.class() == ToolClass::Read && named_letters(&call.headline().1).is_none()
    };
    let may_fold = |index: &usize| {
        let call = plan.steps.get(*index).and_then(|step| step.call.as_ref());
        call.is_some_and(only_reads)
            && review.risks.get(*index).is_some_and(|risk| risk.level == RiskLevel::Safe)
            && review.walls_of(*index).is_none()
            && StepTraits::of(plan, review, previewed, *index).notes().next().is_none()
    };
    (0..plan.steps.len()).filter(may_fold).collect()
}
