//! Action plans as text: what is left of one after a run (SPEC §3 *Continue from here*).

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::Plan;
use super::continuation::{continued_title, written};

/// An action plan whose parts stay as they are written.
#[derive(Serialize, Deserialize)]
struct PlanText<'a> {
    #[serde(borrow)]
    version: &'a RawValue,
    goal: String,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a RawValue>,
    #[serde(borrow)]
    actions: Vec<&'a RawValue>,
}

/// The plan of the actions that are not among `succeeded`, each as it is written; none when there is no such
/// action, and then none inside when it is over the limit of a plan file.
pub(super) fn rest(plan: &Plan, succeeded: &BTreeSet<String>) -> Option<Option<Vec<u8>>> {
    let mut text: PlanText<'_> = serde_json::from_slice(&plan.source).ok()?;
    let mut ids = plan.steps.iter().map(|step| &step.step_id);
    text.actions.retain(|_| ids.next().is_some_and(|id| !succeeded.contains(id)));
    if text.actions.is_empty() {
        return None;
    }
    text.goal = continued_title(&text.goal);
    Some(written(&text))
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use crate::plan::{Continuation, continuation, parse};

    #[test]
    fn what_is_left_is_the_other_actions_as_they_are_written() {
        let plan = r#"{ "version": "2026-02-19", "goal": "g", "actions": [
            { "type": "verify", "request": {} },
            { "type": "run", "request": { "args": [1.10] }, "rationale": "r" }
        ] }"#;
        let plan = parse(plan.as_bytes()).plan.unwrap();
        let left = |succeeded: &[&str]| {
            let succeeded = succeeded.iter().map(|id| (*id).to_owned()).collect();
            continuation(&plan, Uuid::nil(), &succeeded)
        };
        let Continuation::Rest(bytes) = left(&["action_0"]) else { panic!("nothing is left") };
        let rest = parse(&bytes);
        assert!(rest.is_valid(), "{:?}", rest.findings);
        let rest = rest.plan.unwrap();
        assert_eq!(rest.title.as_deref(), Some("g (continued)"));
        assert_eq!(rest.steps.len(), 1);
        assert_eq!(rest.steps[0].call, plan.steps[1].call);
        assert_eq!(left(&["action_0", "action_1"]), Continuation::NothingLeft);
    }
}
