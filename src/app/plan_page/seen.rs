//! Remembers which steps a person has looked at to their end, also when the plan file or its workspace changes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Chosen, PlanPage, PlanSession};
use crate::authorization::WallLevel;
use crate::plan::{Digest, ShownPlan, ShownStep, StepPlace, ToolClass};
use crate::risk::RiskLevel;
use crate::run::Review;
use crate::ui::OnScreen;
use crate::ui::plan::{ChangedSteps, LookedAt, MustSee, Revising, SeenStep};
use crate::worker::OpenedPlan;

/// What a person has looked at of a plan.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// For each step, the digest of what is shown of it.
    keys: Vec<Digest>,
    /// The digests of all that was looked at, and how much of it was shown.
    known: HashMap<Digest, OnScreen>,
    pub looked_at: LookedAt,
    /// The version of the plan on the page.
    current: Option<Arc<ShownPlan>>,
    /// Each step as the person saw it last, by its id: in the first version of the plan, or where it was looked at since.
    /// Only known once the plan file has changed.
    versions: HashMap<String, SeenStep>,
    pub changed: ChangedSteps,
}

/// What stays of a plan file that is not on the page, for when it is shown again in this window.
#[derive(Debug)]
pub struct LeftPlan {
    seen: Seen,
    pub(super) chosen: Chosen,
    /// The version of the plan that was shown.
    digest: Digest,
    /// The selected step of that version.
    selected: usize,
    /// What was being changed.
    pub(super) revising: Revising,
}

impl PlanPage {
    /// Asks for these steps to be looked at from the next review on.
    pub(in crate::app) fn set_must_see(&mut self, must_see: MustSee) {
        self.must_see = must_see;
    }
}

impl PlanSession {
    /// Takes out what stays of the plan; `None` for a plan without a file, which is never shown again.
    pub(super) fn leave(&mut self) -> Option<(PathBuf, LeftPlan)> {
        let path = self.path()?.to_owned();
        let chosen = self.chosen();
        let seen = std::mem::take(&mut self.seen);
        let (digest, selected) = (self.opened.digest, self.pane.selected);
        let revising = std::mem::take(&mut self.revising);
        Some((path, LeftPlan { seen, chosen, digest, selected, revising }))
    }

    /// Takes over what stayed of the plan when it was left. The list is scrolled to the selected step, because it still
    /// is where it was.
    pub(super) fn return_to(&mut self, left: impl FnOnce(&Path) -> Option<LeftPlan>) {
        self.pane.scroll_to_selected = true;
        // A session that was not left, but kept, has its own.
        let is_new = self.seen.current.is_none();
        let Some(left) = self.path().filter(|_| is_new).and_then(left) else { return };
        self.revising = left.revising;
        if left.digest == self.opened.digest {
            self.pane.selected = left.selected;
        } else {
            self.revising.follow(self.opened.plan.as_deref());
        }
        self.seen = left.seen;
    }
}

impl Seen {
    /// Takes over the steps of a plan as reviewed now. A step counts as looked at if it was, as it is.
    pub fn update(&mut self, opened: &OpenedPlan, must_see: MustSee) {
        let (Some(plan), Some(review)) = (&opened.plan, &opened.review) else {
            (self.keys, self.looked_at) = Default::default();
            return;
        };
        self.compare_versions(plan);
        // Computed once, because a plan may have ten thousand inputs and as many steps.
        let inputs = Digest::of(format!("{:?}", review.binding.inputs).as_bytes());
        // What a step would do to files depends on what earlier steps do to them.
        let mut earlier = Digest::of(b"");
        self.keys.clear();
        for step in &plan.steps {
            self.keys.push(key(step, review, inputs, earlier));
            let class = step.call.as_ref().map(|call| call.class());
            if class == Some(ToolClass::Mutate) {
                earlier = Digest::of(format!("{earlier}{:?}", step.call).as_bytes());
            }
        }
        let required = plan.steps.iter().map(|step| match must_see {
            MustSee::Nothing => false,
            MustSee::Careful => needs_care(step, review),
            MustSee::Everything => true,
        });
        let shown = self.keys.iter().map(|key| self.known.get(key).copied().unwrap_or_default());
        self.looked_at = LookedAt::new(required.collect(), shown.collect());
    }

    /// Compares a new version of the plan with what the person saw of the versions before.
    fn compare_versions(&mut self, plan: &Arc<ShownPlan>) {
        let before = self.current.replace(Arc::clone(plan));
        let Some(before) = before.filter(|before| before.digest != plan.digest) else { return };
        let is_first = self.versions.is_empty();
        for (index, step) in before.steps.iter().enumerate() {
            if is_first || !self.looked_at.lacks(index) {
                let seen = SeenStep { plan: Arc::clone(&before), index };
                self.versions.insert(step.step_id.clone(), seen);
            }
        }
        self.changed = ChangedSteps::new(plan, &self.versions);
    }

    /// Records how much of a step was shown.
    pub fn mark(&mut self, index: usize, shown: OnScreen) {
        if let Some(key) = self.keys.get(index) {
            let known = self.known.entry(*key).or_default();
            *known = shown.max(*known);
            self.looked_at.mark(index, shown);
        }
    }
}

/// The digest of what is shown of a step: all but its place in the plan, and the content of the files that it names. For
/// every step but a command, also `earlier`, the digest of the earlier steps that change files; and `all`, the digest of
/// all input files, if its own are not known.
fn key(step: &ShownStep, review: &Review, all: Digest, earlier: Digest) -> Digest {
    let inputs = &review.binding.inputs;
    let paths = step.call.as_ref().map(|call| call.paths()).unwrap_or_default();
    let states: Vec<_> = paths.iter().filter_map(|named| inputs.get(named.path)).collect();
    // A path may be spelled otherwise than in the review, and some calls work on files that they do not name.
    let all = (states.is_empty() || states.len() < paths.len()).then_some(all);
    let is_command = step.call.as_ref().is_some_and(|call| call.class() == ToolClass::Command);
    let earlier = (!is_command).then_some(earlier);
    let walls = review.walls_of(step.step_index).map(|step| &step.walls);
    // That of a verification names the step before it, by an id that may only count the steps.
    let is_verification = matches!(step.place, StepPlace::Verification(_));
    let reason = step.reason.as_ref().filter(|_| !is_verification);
    let shown = (
        (&review.workspace, &step.tool_name, &step.arguments, &step.call),
        (&step.precondition_text, step.requires_confirmation, &step.title, reason),
        (&step.stated, &step.expected_output, &step.needs),
        (states, all.filter(|_| !is_command), earlier),
        (walls, review.risks.get(step.step_index), review.asks.get(step.step_index)),
    );
    Digest::of(format!("{shown:?}").as_bytes())
}

/// Whether a step asks, is dangerous, or starts a process without walls.
fn needs_care(step: &ShownStep, review: &Review) -> bool {
    let index = step.step_index;
    let asks = review.asks.get(index).is_some_and(Option::is_some);
    let dangerous = review.risks.get(index).is_some_and(|it| it.level >= RiskLevel::Dangerous);
    let starts_process = step.call.as_ref().is_some_and(|call| match call.class() {
        ToolClass::Check => call.may_change_anything(),
        ToolClass::Command => {
            review.risks.get(index).is_none_or(|risk| risk.level > RiskLevel::Safe)
        }
        ToolClass::Read | ToolClass::Mutate => false,
    });
    let no_walls = || {
        review.walls_of(index).is_none_or(|it| it.walls.open || it.walls.level == WallLevel::None)
    };
    asks || dangerous || starts_process && no_walls()
}
