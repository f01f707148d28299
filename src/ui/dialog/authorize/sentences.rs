//! What the authorization dialog says in sentences: about the steps that ask, would fail or cannot be taken back, the
//! choices of the person, and an earlier rejection.

use super::figures;
use crate::authorization::{Binding, Signing, WallSetting};
use crate::plan::{ShownPlan, visible_name};
use crate::run::{PlanRejection, PreviewedSteps, Review};
use crate::ui::Now;
use crate::ui::plan::{GroupedSteps, named_letters, not_previewed, step_ranges};

/// Who rejected the plan before, when, and why.
pub(super) fn rejected(rejection: &PlanRejection, now: &Now) -> String {
    let (what, when) = (rejection.sentence(), now.full(rejection.timestamp_ms));
    match rejection.reason.trim() {
        "" => format!("{what}, {when}."),
        reason => format!("{what}, {when}: {reason}"),
    }
}

/// With which key the authorization is signed.
pub(super) fn signing(signing: &Signing) -> String {
    let described = visible_name(&signing.described()).into_owned();
    format!("Your authorization is signed by {described}. Without the signature, nothing runs.")
}

/// With which key an answer to a request is signed.
pub(super) fn answering(signing: &Signing) -> String {
    let described = visible_name(&signing.described()).into_owned();
    format!("Your answer is signed by {described}. Nothing runs here.")
}

/// What holds for this run besides the plan and the settings: when it asks, and its walls with what is granted beyond
/// them.
pub(super) fn chosen(binding: &Binding) -> [(&'static str, String); 2] {
    let asks = if binding.choices.ask_every_step { "before every step" } else { "when needed" };
    let mut walls =
        binding.choices.walls.map_or("as in the settings", WallSetting::as_str).to_owned();
    if !binding.grants.is_empty() {
        walls.push_str(&format!("; beyond them: {}", binding.grants));
    }
    [("asks", asks.to_owned()), ("walls", walls)]
}

/// The steps that may change something that the evidence cannot restore; empty if there are none.
pub(super) fn lasting(plan: &ShownPlan, review: &Review) -> String {
    let steps = figures::not_restorable(plan, review);
    if steps.is_empty() { String::new() } else { step_ranges(&steps) }
}

/// The steps whose precondition does not hold now; empty if there are none.
pub(super) fn failing(plan: &ShownPlan, review: &Review) -> String {
    let steps = (0..plan.steps.len()).filter(|index| review.fails_precondition(*index));
    let steps: Vec<_> = steps.map(|index| index + 1).collect();
    if steps.is_empty() { String::new() } else { step_ranges(&steps) }
}

/// What the previews say about failures: the steps that would fail, and of how many steps nothing is known.
pub(super) fn remarks(previewed: &PreviewedSteps) -> Vec<(bool, String)> {
    let mut remarks = Vec::new();
    let failing: Vec<_> = previewed.failing().iter().map(|index| index + 1).collect();
    if let (Some(first), Some(ends)) = (failing.first(), previewed.ends_early()) {
        let mut text = format!("{} would fail now", step_ranges(&failing));
        match (failing.len(), previewed.failure(first - 1)) {
            (1, Some(why)) => text.push_str(&format!(": {}", visible_name(why))),
            _ => text.push('.'),
        }
        text.push_str(&format!(" {ends}"));
        remarks.push((true, text));
    }
    remarks.extend(not_previewed(previewed).map(|text| (false, text)));
    remarks
}

/// A sentence for each step whose call has letters that look like others.
pub(super) fn alike(plan: &ShownPlan) -> Vec<String> {
    let mut steps = GroupedSteps::default();
    for (index, step) in plan.steps.iter().enumerate() {
        let object = step.call.as_ref().map(|call| call.headline().1);
        let letters = object.and_then(|object| named_letters(&object));
        steps.add(index, letters.map(|letters| (0, letters)));
    }
    steps.lines()
}

/// The distinct reasons to ask for confirmation, each with its step numbers. `asks` has the reason of each step.
pub(super) fn by_reason(asks: &[Option<String>]) -> Vec<String> {
    let mut reasons = GroupedSteps::default();
    for (index, reason) in asks.iter().enumerate() {
        reasons.add(index, reason.iter().map(|reason| (0, reason.clone())));
    }
    reasons.lines()
}
