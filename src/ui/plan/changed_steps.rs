//! What changed in the steps of a plan file since the person saw them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use egui::Ui;

use super::PlanView;
use super::changes::difference_ui;
use crate::authorization::FileState;
use crate::plan::{Digest, ShownPlan, ShownStep, StepPlace};
use crate::run::{Diff, FileChange, line_diff};
use crate::ui::{Text, Tone, icon, widgets};

/// A step as the person saw it: the version of the plan, and the index of the step in it.
#[derive(Debug, Clone)]
pub struct SeenStep {
    /// The version of the plan.
    pub plan: Arc<ShownPlan>,
    /// The index of the step, from 0.
    pub index: usize,
}

impl SeenStep {
    fn step(&self) -> Option<&ShownStep> {
        self.plan.steps.get(self.index)
    }
}

/// How a step differs from what the person saw.
#[derive(Debug, Clone)]
pub enum StepChange {
    /// There was no such step.
    New,
    /// The step was like this.
    Changed(SeenStep),
}

/// The steps that differ from what the person saw, by index.
#[derive(Debug, Clone, Default)]
pub struct ChangedSteps(BTreeMap<usize, StepChange>);

impl ChangedSteps {
    /// Compares a version of a plan with the steps that the person saw, by id. A step that is only elsewhere is not
    /// changed.
    pub fn new(plan: &ShownPlan, seen: &HashMap<String, SeenStep>) -> Self {
        if seen.is_empty() {
            return Self::default();
        }
        let known: HashSet<Digest> =
            seen.values().filter_map(SeenStep::step).map(fingerprint).collect();
        let present: HashSet<Digest> = plan.steps.iter().map(fingerprint).collect();
        // A step whose content is elsewhere now is not the one that changed.
        let moved =
            |step: &SeenStep| step.step().is_some_and(|step| present.contains(&fingerprint(step)));
        let changed = plan.steps.iter().filter(|step| !known.contains(&fingerprint(step)));
        let changed = changed.map(|step| {
            let before = seen.get(&step.step_id).filter(|before| !moved(before));
            let change = before.cloned().map_or(StepChange::New, StepChange::Changed);
            (step.step_index, change)
        });
        Self(changed.collect())
    }

    /// How a step differs; `None` if it does not.
    pub fn get(&self, index: usize) -> Option<&StepChange> {
        self.0.get(&index)
    }
}

/// The fields of a step that its author gives, with their values as text.
fn fields(step: &ShownStep) -> Vec<(String, String)> {
    let named = |name: &str, value: String| (!value.is_empty()).then(|| (name.to_owned(), value));
    let optional = |value: &Option<String>| value.clone().unwrap_or_default();
    let asks = if step.requires_confirmation { "required" } else { "" };
    let needs = step.needs.as_ref().map(ToString::to_string).unwrap_or_default();
    // The reason of a verification names the step before it, by an id that may only count the steps.
    let reason = match step.place {
        StepPlace::Verification(_) => String::new(),
        StepPlace::Step(_) | StepPlace::Command(_) | StepPlace::Action(_) => optional(&step.reason),
    };
    let fields = [
        named("tool", step.tool_name.clone()),
        named("title", optional(&step.title)),
        named("reason", reason),
        named("precondition", step.precondition_text.clone()),
        named("confirmation", asks.to_owned()),
        named("expected output", optional(&step.expected_output)),
        named("needs", needs),
    ];
    // The person may have chosen another host meanwhile.
    let arguments = step.arguments.iter().filter(|(name, _)| *name != "target");
    let arguments = arguments.map(|(name, value)| (name.clone(), value.clone()));
    fields.into_iter().flatten().chain(arguments).collect()
}

fn fingerprint(step: &ShownStep) -> Digest {
    Digest::of(format!("{:?}", fields(step)).as_bytes())
}

/// The difference of each field that differs, with the name of the field in place of a path.
fn differences(before: &ShownStep, after: &ShownStep) -> Vec<FileChange> {
    let (before, after) = (fields(before), fields(after));
    let value = |fields: &[(String, String)], name: &str| {
        fields.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    };
    let removed = before.iter().filter(|(name, _)| value(&after, name).is_none());
    let names = after.iter().chain(removed).map(|(name, _)| name);
    let change = |name: &String| {
        let (old, new) = (value(&before, name), value(&after, name));
        // A value is no file, so that a missing line break at its end means nothing.
        let text = |value: &Option<String>| value.as_ref().map(|value| format!("{value}\n"));
        let state = |value: &Option<String>| {
            let digest = value.as_ref().map(|value| Digest::of(value.as_bytes()));
            digest.map_or(FileState::Absent, FileState::Content)
        };
        let (old_text, new_text) = (text(&old), text(&new));
        let bytes = |text: &Option<String>| text.as_ref().map(|text| text.as_bytes().to_vec());
        let diff = line_diff::diff(bytes(&old_text).as_deref(), bytes(&new_text).as_deref());
        FileChange { path: name.clone(), before: state(&old), after: state(&new), diff }
    };
    let changes = names.map(change).filter(|change| !matches!(change.diff, Diff::Unchanged));
    changes.collect()
}

/// Shows what changed in the selected step, argument by argument.
pub(super) fn step_change_ui(ui: &mut Ui, view: &PlanView<'_>, step: &ShownStep) {
    match view.changed.get(step.step_index) {
        None => {}
        Some(StepChange::New) => super::indented(ui, |ui| {
            widgets::remark(ui, icon::DIFF, Tone::Accent, "New since you saw the plan.");
        }),
        Some(StepChange::Changed(before)) => {
            super::indented(ui, |ui| {
                widgets::remark(ui, icon::DIFF, Tone::Accent, "Changed since you saw it:");
            });
            let changes = cached_differences(ui, view, before, step);
            for (index, change) in changes.iter().enumerate() {
                difference_ui(ui, ("since seen", index), change);
            }
            super::indented(ui, |ui| {
                widgets::line(ui, "What it would do now", Text::Meta, Tone::Dim);
            });
        }
    }
}

/// The differences, computed once for each pair of versions.
fn cached_differences(
    ui: &Ui,
    view: &PlanView<'_>,
    before: &SeenStep,
    step: &ShownStep,
) -> Arc<Vec<FileChange>> {
    type Cached = Option<((Digest, Digest, usize), Arc<Vec<FileChange>>)>;
    let id = egui::Id::unique("changes of a step since it was seen");
    let key = (before.plan.digest, view.digest, step.step_index);
    let cached = ui.data(|data| data.get_temp::<Cached>(id)).flatten();
    if let Some((_, changes)) = cached.filter(|(known, _)| *known == key) {
        return changes;
    }
    let changes = before.step().map(|before| differences(before, step)).unwrap_or_default();
    let changes = Arc::new(changes);
    ui.data_mut(|data| data.insert_temp::<Cached>(id, Some((key, Arc::clone(&changes)))));
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::tests::fixture;

    fn seen(plan: &ShownPlan) -> HashMap<String, SeenStep> {
        let plan = Arc::new(plan.clone());
        let step = |(index, step): (usize, &ShownStep)| {
            (step.step_id.clone(), SeenStep { plan: Arc::clone(&plan), index })
        };
        plan.steps.iter().enumerate().map(step).collect()
    }

    #[test]
    fn changed_and_new_steps_are_told_from_moved_ones() {
        let before = fixture::plan();
        let mut after = before.clone();
        after.steps[0].arguments.insert("path".to_owned(), "other.rs".to_owned());
        after.steps.swap(2, 3);
        let mut new = after.steps[1].clone();
        new.step_id = "new".to_owned();
        new.title = Some("something else".to_owned());
        after.steps.push(new);
        (0..).zip(&mut after.steps).for_each(|(index, step)| step.step_index = index);
        let changed = ChangedSteps::new(&after, &seen(&before));
        let indices: Vec<_> = changed.0.keys().copied().collect();
        assert_eq!(indices, [0, 5]);
        assert!(matches!(changed.get(5), Some(StepChange::New)));
        let Some(StepChange::Changed(old)) = changed.get(0) else { panic!() };
        let differences = differences(old.step().unwrap(), &after.steps[0]);
        let names: Vec<_> = differences.iter().map(|change| change.path.as_str()).collect();
        assert_eq!(names, ["path"]);
        assert!(differences[0].unified().contains("+other.rs\n"), "{}", differences[0].unified());
        assert!(ChangedSteps::new(&before, &seen(&before)).0.is_empty());
    }

    /// A step without an id is named by its number, which the step's verification repeats.
    #[test]
    fn a_verification_behind_an_inserted_step_is_not_new() {
        let read = |steps: &str| {
            let text = format!(r#"{{"goal": "tidy", "steps": [{steps}]}}"#);
            ShownPlan::from(crate::plan::parse(text.as_bytes()).plan.unwrap())
        };
        let step = r#"{"command": "make", "verificationCommand": "test -e out"}"#;
        let before = read(step);
        let after = read(&format!(r#"{{"command": "mkdir build"}}, {step}"#));
        let changed = ChangedSteps::new(&after, &seen(&before));
        assert_eq!(changed.0.keys().copied().collect::<Vec<_>>(), [0]);
        let other = read(&step.replace("-e", "-s"));
        let changed = ChangedSteps::new(&other, &seen(&before));
        assert_eq!(changed.0.keys().copied().collect::<Vec<_>>(), [1]);
    }
}
