//! Writes action plans: the plan that continues a run (SPEC §3 *Continue from here*), and plans that the program itself
//! proposes: batches and reverts.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::text::{Continuation, continued_title, serialize};
use crate::plan::{ACTION_PLAN_VERSION, Digest, Edit, Plan, limits};

/// An action plan. Unchanged parts keep their text.
#[derive(Serialize, Deserialize)]
struct PlanText<'a> {
    #[serde(borrow)]
    version: &'a RawValue,
    goal: String,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a RawValue>,
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    inputs: Vec<&'a RawValue>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    signatures_required: Option<&'a RawValue>,
    #[serde(borrow)]
    actions: Vec<&'a RawValue>,
}

/// Writes the action plan that continues a run: the actions that are not in `succeeded`, with their text unchanged.
pub(super) fn continue_plan<C>(plan: &Plan<C>, succeeded: &BTreeSet<String>) -> Continuation {
    let Ok(mut text) = serde_json::from_slice::<PlanText<'_>>(&plan.source) else {
        return Continuation::NothingLeft;
    };
    let mut ids = plan.steps.iter().map(|step| &step.step_id);
    text.actions.retain(|_| ids.next().is_some_and(|id| !succeeded.contains(id)));
    if text.actions.is_empty() {
        return Continuation::NothingLeft;
    }
    let is_left = |index: &usize| {
        plan.steps.get(*index).is_some_and(|step| !succeeded.contains(&step.step_id))
    };
    let mut inputs = plan.inputs.iter();
    text.inputs.retain(|_| inputs.next().is_some_and(|input| input.used_by.iter().any(is_left)));
    text.goal = continued_title(&text.goal);
    Continuation::of(&text)
}

/// One batch of a plan that the program proposes.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Batch {
    /// The edits, in the order in which they are applied.
    pub edits: Vec<Edit>,
    /// The digests that files must have before the batch, by path.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub expected_hashes: BTreeMap<String, Digest>,
}

/// An action plan of these batches; `None` if it exceeds the size limit of a plan file. `why` is the rationale of the
/// first batch, and may be empty.
pub fn batch_plan(goal: &str, why: &str, batches: &[Batch]) -> Option<Vec<u8>> {
    let action = |(index, batch): (usize, &Batch)| {
        let mut action = json!({ "type": "mutate_batch", "request": batch });
        if let (Value::Object(fields), 0, false) = (&mut action, index, why.is_empty()) {
            fields.insert("rationale".to_owned(), why.into());
        }
        action
    };
    let actions: Vec<Value> = batches.iter().enumerate().map(action).collect();
    serialize(&json!({ "version": ACTION_PLAN_VERSION, "goal": goal, "actions": actions }))
}

/// The plan that undoes all changes of a checkpoint: `run:ID`, `execution:ID` or `loop:ID`. `subject` describes the
/// changes for a person, and is cut to [`limits::ID_BYTES`].
pub fn revert(checkpoint: &str, subject: &str) -> Vec<u8> {
    let subject = subject.get(..subject.floor_char_boundary(limits::ID_BYTES)).unwrap_or_default();
    let plan = json!({
        "version": ACTION_PLAN_VERSION,
        "goal": format!("Revert {subject}"),
        "actions": [{
            "type": "history",
            "request": { "operation": "undo", "checkpoint": checkpoint },
            "rationale": format!("Undoes what {subject} changed, as far as it is recorded."),
        }],
    });
    let mut bytes = format!("{plan:#}").into_bytes();
    bytes.push(b'\n');
    bytes
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::plan::{Continuation, HistoryOperation, MutateBatch, ToolCall, continuation, parse};

    #[test]
    fn a_plan_of_batches_reads_back_the_same() {
        let text = |text: &str| text.to_owned();
        let path = || text("a/ä.txt");
        let edits = vec![
            Edit::Write { path: path(), contents: text("\u{1}\n") },
            Edit::Create { path: path(), contents: text("") },
            Edit::Delete { path: path() },
            Edit::Rename { path: path(), to: text("b") },
            Edit::Replace { path: path(), old: text("a"), new: text("b") },
            Edit::Patch { path: path(), diff: text("--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b\n") },
            Edit::Splice { path: path(), symbol: text("f"), contents: text("x"), kind: None },
            Edit::Splice {
                path: path(),
                symbol: text("f"),
                contents: text("x"),
                kind: Some(text("fn")),
            },
        ];
        let expected_hashes = BTreeMap::from([(path(), Digest::of(b"x"))]);
        let batch = Batch { edits: edits.clone(), expected_hashes: expected_hashes.clone() };
        let plain = Batch { edits: edits.clone(), ..Batch::default() };
        let bytes = batch_plan("a goal", "a reason", &[batch, plain]).unwrap();
        let parsed = parse(&bytes);
        assert!(parsed.is_valid(), "{:?}", parsed.findings);
        let plan = parsed.plan.unwrap();
        assert_eq!(plan.title.as_deref(), Some("a goal"));
        assert_eq!(plan.steps[0].reason.as_deref(), Some("a reason"));
        let call = |step: usize| plan.steps[step].call.clone();
        let made = |expected_hashes| {
            ToolCall::MutateBatch(MutateBatch {
                edits: edits.clone(),
                expected_hashes,
                dry_run: false,
            })
        };
        assert_eq!(call(0), made(expected_hashes));
        assert_eq!(call(1), made(BTreeMap::new()));
    }

    #[test]
    fn continuation_keeps_its_actions_as_written() {
        let plan = r#"{ "version": "2026-02-19", "goal": "g", "actions": [
            { "type": "verify", "request": {} },
            { "type": "run", "request": { "args": [1.10] }, "rationale": "r" }
        ] }"#;
        let plan = parse(plan.as_bytes()).plan.unwrap();
        let continue_after = |succeeded: &[&str]| {
            let succeeded = succeeded.iter().map(|id| (*id).to_owned()).collect();
            continuation(&plan, Uuid::nil(), &succeeded)
        };
        let Continuation::Plan(bytes) = continue_after(&["action_0"]) else {
            panic!("nothing is left")
        };
        let continued = parse(&bytes);
        assert!(continued.is_valid(), "{:?}", continued.findings);
        let continued = continued.plan.unwrap();
        assert_eq!(continued.title.as_deref(), Some("g (continued)"));
        assert_eq!(continued.steps.len(), 1);
        assert_eq!(continued.steps[0].call, plan.steps[1].call);
        assert_eq!(continue_after(&["action_0", "action_1"]), Continuation::NothingLeft);
    }

    #[test]
    fn revert_plan_is_one_deterministic_undo() {
        let checkpoint = "run:00000000-0000-4000-8000-000000000001";
        for subject in ["Fix it", "", "ünï\"\u{202e}", &"é".repeat(1000)] {
            let bytes = revert(checkpoint, subject);
            assert_eq!(bytes, revert(checkpoint, subject));
            let parsed = parse(&bytes);
            assert!(parsed.is_valid(), "{:?}", parsed.findings);
            let plan = parsed.plan.unwrap();
            assert!(plan.is_revert());
            assert!(plan.title.unwrap().starts_with("Revert "));
            let undo = HistoryOperation::Undo { checkpoint: Some(checkpoint.to_owned()) };
            let [step] = plan.steps.as_slice() else { panic!("one step") };
            assert!(
                matches!(&step.call, ToolCall::History { operation, .. } if *operation == undo)
            );
        }
    }
}
