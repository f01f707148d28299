//! Compares two plans of a bounded loop (SPEC §10): which steps are new, gone or changed.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::argument_difference::argument_difference;
use crate::plan::{Plan, ShownPlan, Step, ToolCall};

/// The maximum number of differing steps in `steps`. The counts cover all of them.
const MAX_LISTED: usize = 200;

/// How a step differs between two plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepChange {
    /// Only the new plan has the step.
    New,
    /// Only the earlier plan has the step.
    Gone,
    /// Both plans have a step with this id and tool, with other arguments or another precondition.
    Changed,
}

/// The arguments of a step by name.
type Arguments = BTreeMap<String, String>;

/// A step that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepDifference {
    /// How the step differs.
    pub change: StepChange,
    /// The index in the earlier plan, from 0.
    pub before: Option<usize>,
    /// The index in the new plan, from 0.
    pub after: Option<usize>,
    /// The tool, or the type of the action.
    pub tool: String,
    /// A summary of the arguments in one line, for instance the path.
    pub about: String,
    /// For a changed step, the differing lines of its arguments, each with `-`, `+` or a space in front. Earlier versions
    /// did not record them.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub lines: String,
}

/// The difference between a plan and an earlier one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PlanDifference {
    /// The number of new steps.
    pub new: usize,
    /// The number of steps that only the earlier plan has.
    pub gone: usize,
    /// The number of changed steps.
    pub changed: usize,
    /// The number of steps that both plans have.
    pub same: usize,
    /// At most 200 steps that differ, in the order of the new plan; gone steps come last.
    pub steps: Vec<StepDifference>,
}

impl PlanDifference {
    /// The difference between two plans. The earlier one may be faulty. `hide` hides the secrets of a step's arguments,
    /// which it gets whole: in the differing lines alone no rule would recognize a part of a key.
    pub fn between(
        before: &ShownPlan,
        after: &Plan,
        hide: &dyn Fn(&Arguments) -> Arguments,
    ) -> Self {
        let mut unpaired = Unpaired::of(before);
        // Equal steps are paired first, so that a step that only moved does not count as changed.
        let same: Vec<bool> = after.steps.iter().map(|step| unpaired.take_equal(step)).collect();
        let mut difference = Self::default();
        for (step, same) in after.steps.iter().zip(same) {
            if same {
                difference.same += 1;
                continue;
            }
            let old_index = unpaired.take_same_id(step);
            let change = if old_index.is_some() { StepChange::Changed } else { StepChange::New };
            let new_index = Some(step.step_index);
            let call = Some(&step.call);
            let mut changed = step_difference(change, old_index, new_index, step, call);
            if let Some(old) = old_index.and_then(|index| before.steps.get(index))
                && difference.steps.len() < MAX_LISTED
            {
                changed.lines = argument_difference(&hide(&old.arguments), &hide(&step.arguments));
            }
            difference.steps.push(changed);
        }
        for step in before.steps.iter().filter(|step| unpaired.has(step)) {
            let (old_index, call) = (Some(step.step_index), step.call.as_ref());
            difference.steps.push(step_difference(StepChange::Gone, old_index, None, step, call));
        }
        let count = |change| difference.steps.iter().filter(|step| step.change == change).count();
        difference.new = count(StepChange::New);
        difference.changed = count(StepChange::Changed);
        difference.gone = count(StepChange::Gone);
        difference.steps.truncate(MAX_LISTED);
        difference
    }

    /// Whether every step is one of the earlier plan, and none of those is missing.
    pub fn is_same(&self) -> bool {
        self.new + self.changed + self.gone == 0
    }

    /// What became of the earlier plan, as a sentence, for instance `The plan was revised: 1 new, 2 unchanged.`
    pub fn sentence(&self) -> String {
        match self.is_same() {
            true => "It is the same plan again.".to_owned(),
            false => format!("The plan was revised: {}.", self.counts()),
        }
    }

    /// The counts in a few words, for instance `1 new, 2 unchanged`.
    fn counts(&self) -> String {
        let counts = [(self.new, "new"), (self.changed, "changed"), (self.gone, "removed")];
        let all = counts.into_iter().chain([(self.same, "unchanged")]);
        let some = all.filter(|(count, _)| *count > 0);
        let parts: Vec<String> = some.map(|(count, word)| format!("{count} {word}")).collect();
        if parts.is_empty() { "no steps".to_owned() } else { parts.join(", ") }
    }
}

fn step_difference<C>(
    change: StepChange,
    before: Option<usize>,
    after: Option<usize>,
    step: &Step<C>,
    call: Option<&ToolCall>,
) -> StepDifference {
    let about = call.map(|call| call.headline().1).unwrap_or_default();
    let tool = step.tool_name.clone();
    StepDifference { change, before, after, tool, about, lines: String::new() }
}

/// The steps of the earlier plan that are not paired with a step of the new plan yet, by index.
struct Unpaired<'a> {
    /// The steps by their content. Each list is reversed, so that the first step is popped first.
    by_content: HashMap<StepContent<'a>, Vec<usize>>,
    /// The steps by id and tool.
    by_id: HashMap<(&'a str, &'a str), usize>,
    /// For each step, whether it is unpaired.
    is_unpaired: Vec<bool>,
}

/// Tool, arguments and precondition, in which equal steps agree.
type StepContent<'a> = (&'a str, Vec<(&'a str, &'a str)>, &'a str);

fn content<C>(step: &Step<C>) -> StepContent<'_> {
    let arguments = step.arguments.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    (&step.tool_name, arguments.collect(), step.precondition_text.trim())
}

impl<'a> Unpaired<'a> {
    fn of<C>(plan: &'a Plan<C>) -> Self {
        let mut by_content: HashMap<_, Vec<usize>> = HashMap::new();
        for step in plan.steps.iter().rev() {
            by_content.entry(content(step)).or_default().push(step.step_index);
        }
        let by_id = plan
            .steps
            .iter()
            .map(|step| ((step.step_id.as_str(), step.tool_name.as_str()), step.step_index));
        let is_unpaired = vec![true; plan.steps.len()];
        Self { by_content, by_id: by_id.collect(), is_unpaired }
    }

    /// Pairs a new step with the first unpaired step that is equal; returns whether there was one.
    fn take_equal<C>(&mut self, step: &'a Step<C>) -> bool {
        let index = self.by_content.get_mut(&content(step)).and_then(Vec::pop);
        index.is_some_and(|index| self.take(index))
    }

    /// Pairs a new step with the step that has the same id and tool; returns its index, if it was unpaired.
    fn take_same_id<C>(&mut self, step: &Step<C>) -> Option<usize> {
        let index = *self.by_id.get(&(step.step_id.as_str(), step.tool_name.as_str()))?;
        self.take(index).then_some(index)
    }

    fn take(&mut self, index: usize) -> bool {
        self.is_unpaired.get_mut(index).is_some_and(std::mem::take)
    }

    fn has<C>(&self, step: &Step<C>) -> bool {
        self.is_unpaired.get(step.step_index).copied().unwrap_or_default()
    }
}

/// Whether two plans have the same calls in the same order, with the same preconditions, on the same target. Titles,
/// reasons and ids are ignored.
pub fn has_same_effect(one: &ShownPlan, other: &Plan) -> bool {
    one.target == other.target
        && one.steps.len() == other.steps.len()
        && one.steps.iter().zip(&other.steps).all(|(one, other)| {
            one.call.as_ref() == Some(&other.call) && one.precondition == other.precondition
        })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::plan::parse;

    fn between(before: &Plan, after: &Plan) -> PlanDifference {
        PlanDifference::between(&before.clone().into(), after, &Clone::clone)
    }

    fn same(one: &Plan, other: &Plan) -> bool {
        has_same_effect(&one.clone().into(), other)
    }

    fn plan(steps: &Value) -> Plan {
        let text = json!({"plan_id": "p", "intent": "MUTATE", "steps": steps}).to_string();
        parse(text.as_bytes()).plan.unwrap()
    }

    fn write(id: &str, path: &str, contents: &str) -> Value {
        json!({"step_id": id, "tool": "file_write", "title": format!("step {id}"),
               "arguments": {"path": path, "contents": contents}})
    }

    #[test]
    fn steps_are_the_same_changed_new_or_gone() {
        let before = plan(&json!([
            write("a", "a.txt", "1"),
            write("b", "b.txt", "1"),
            write("c", "c.txt", "1"),
        ]));
        // The new plan has b first, another content for a, no c, and the new step d.
        let after = plan(&json!([
            write("x", "b.txt", "1"),
            write("a", "a.txt", "2"),
            write("d", "d.txt", "1"),
        ]));
        let difference = between(&before, &after);
        let found: Vec<_> = difference
            .steps
            .iter()
            .map(|step| (step.change, step.before, step.after, step.about.as_str()))
            .collect();
        assert_eq!(
            found,
            [
                (StepChange::Changed, Some(0), Some(1), "a.txt"),
                (StepChange::New, None, Some(2), "d.txt"),
                (StepChange::Gone, Some(2), None, "c.txt"),
            ]
        );
        let counts = "1 new, 1 changed, 1 removed, 1 unchanged";
        assert_eq!(difference.sentence(), format!("The plan was revised: {counts}."));
        let again = between(&before, &before);
        assert_eq!(
            (again.sentence().as_str(), again.steps),
            ("It is the same plan again.", vec![])
        );
    }

    #[test]
    fn repeated_step_is_counted_each_time() {
        let twice = plan(&json!([write("a", "a.txt", "1"), write("b", "a.txt", "1")]));
        let once = plan(&json!([write("z", "a.txt", "1")]));
        let difference = between(&twice, &once);
        assert_eq!((difference.same, difference.gone, difference.new), (1, 1, 0));
        let difference = between(&once, &twice);
        assert_eq!((difference.same, difference.gone, difference.new), (1, 0, 1));
    }

    #[test]
    fn equal_plans_are_recognised() {
        let one = plan(&json!([write("a", "a.txt", "1"), write("b", "b.txt", "1")]));
        let renamed = plan(&json!([write("x", "a.txt", "1"), write("y", "b.txt", "1")]));
        assert!(same(&one, &renamed));
        for steps in [
            json!([write("a", "a.txt", "1")]),
            json!([write("b", "b.txt", "1"), write("a", "a.txt", "1")]),
            json!([write("a", "a.txt", "1"), write("b", "b.txt", "2")]),
        ] {
            assert!(!same(&one, &plan(&steps)));
        }
        let mut asking = write("a", "a.txt", "1");
        asking["precondition"] = json!("file exists");
        assert!(!same(&one, &plan(&json!([asking, write("b", "b.txt", "1")]))));
        let command = |target: Option<&str>| {
            let mut text = json!({"goal": "g", "steps": [{"command": "true"}]});
            if let Some(target) = target {
                text["target"] = json!(target);
            }
            parse(text.to_string().as_bytes()).plan.unwrap()
        };
        assert!(same(&command(Some("local")), &command(None)));
        assert!(!same(&command(Some("build")), &command(None)));
    }
}
