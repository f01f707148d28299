//! Keeps the list of steps up to date with the filter, the review and the run, without searching a plan twice.

use uuid::Uuid;

use super::{PlanPage, PlanSession};
use crate::plan::Digest;
use crate::run::Phase;
use crate::ui::plan::{KindSources, StepFilter, StepList, steps_with_text};

/// The list of steps with what it was computed from.
#[derive(Debug, Clone, Default)]
pub struct FilteredSteps {
    pub list: StepList,
    /// The steps that have the text of the filter, in the plan with this digest.
    with_text: Option<(String, Digest, Vec<bool>)>,
    computed_from: Option<State>,
}

/// What decides about the list. A list is up to date as long as this is the same.
#[derive(Debug, Clone, PartialEq)]
struct State {
    filter: StepFilter,
    digest: Digest,
    review_id: Uuid,
    ended_steps: usize,
    /// The step that waits for an answer. It is always listed.
    asking: Option<usize>,
    unseen: usize,
    /// The number of steps that would fail, by their previews.
    failing: usize,
    has_begun: bool,
    is_over: bool,
}

impl PlanSession {
    /// Computes the list of steps again, if what decides about it has changed.
    pub fn update_step_list(&mut self) {
        let Some(plan) = &self.opened.plan else { return };
        let review = self.opened.review.as_deref();
        let looked_at = &self.seen.looked_at;
        let steps = &mut self.steps;
        let asking = matches!(self.run.phase, Phase::AwaitingConfirmation(_));
        let state = State {
            filter: steps.list.filter.clone(),
            digest: self.opened.digest,
            review_id: self.review_id,
            ended_steps: self.run.steps.done(),
            asking: asking.then_some(self.run.current_step),
            unseen: looked_at.missing + looked_at.others,
            failing: self.previewed.steps.failing().len(),
            has_begun: self.run.has_begun(),
            is_over: self.run.is_over(),
        };
        if steps.computed_from.as_ref() == Some(&state) {
            return;
        }
        let text = state.filter.text.trim();
        let is_known =
            |(known, digest, _): &(String, Digest, _)| known == text && *digest == state.digest;
        if !steps.with_text.as_ref().is_some_and(is_known) {
            let found = if text.is_empty() { Vec::new() } else { steps_with_text(plan, text) };
            steps.with_text = Some((text.to_owned(), state.digest, found));
        }
        let sources = KindSources {
            plan,
            review,
            run: &self.run,
            looked_at,
            changed: &self.seen.changed,
            previewed: &self.previewed.steps,
        };
        let found = steps.with_text.as_ref().map(|(_, _, found)| found.as_slice());
        steps.list.update(&sources, found.unwrap_or_default(), state.asking);
        steps.computed_from = Some(state);
    }

    /// Lists the steps that this filter lets through, and selects one of them.
    pub(super) fn filter_steps(&mut self, filter: StepFilter) {
        self.steps.list.filter = filter;
        self.update_step_list();
        let (list, selected) = (&self.steps.list, self.pane.selected);
        if list.lists(selected) {
            self.pane.select(selected);
        } else if let Some(next) = list.step(list.row(selected)).or_else(|| list.step(0)) {
            self.pane.select(next);
        }
        self.pane.is_pinned = true;
    }

    /// Selects the listed step `by` rows below the selected one.
    pub(super) fn select_listed(&mut self, by: isize, wraps: bool) {
        self.update_step_list();
        let count = self.opened.plan.as_ref().map_or(0, |plan| plan.steps.len());
        if let Some(index) = self.steps.list.moved(self.pane.selected, by, count, wraps) {
            self.pane.select(index);
            self.pane.is_pinned = true;
        }
    }
}

impl PlanPage {
    /// Shows the bar above the steps, and focuses its text field.
    pub fn find_step(&mut self) {
        self.with_shown(|session| {
            session.hide_simulation();
            session.steps.list.is_open = true;
            session.steps.list.focus = true;
        });
    }
}
