//! The plan that takes back what a run or a step changed (SPEC §11): one action, always the same bytes.

use serde_json::json;

use super::action::VERSION;
use super::{Plan, Tool, limits};

/// The plan that undoes everything at this checkpoint, `run:ID` or `execution:ID`; `of` says for a person
/// what that was.
pub fn revert(checkpoint: &str, of: &str) -> Vec<u8> {
    let of = of.get(..of.floor_char_boundary(limits::ID_BYTES)).unwrap_or_default();
    let plan = json!({
        "version": VERSION,
        "goal": format!("Revert {of}"),
        "actions": [{
            "type": "history",
            "request": { "operation": "undo", "checkpoint": checkpoint },
            "rationale": format!("Takes back what {checkpoint} changed, as far as it is recorded."),
        }],
    });
    let mut bytes = format!("{plan:#}").into_bytes();
    bytes.push(b'\n');
    bytes
}

impl<C> Plan<C> {
    /// Whether all that it does is to take back what has a name.
    pub fn is_revert(&self) -> bool {
        let [step] = self.steps.as_slice() else { return false };
        let undoes = step.arguments.get("operation").is_some_and(|it| it == "undo");
        step.tool_name == Tool::History.name()
            && undoes
            && step.arguments.contains_key("checkpoint")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{HistoryOperation, ToolCall, parse};

    #[test]
    fn a_revert_is_a_valid_plan_of_one_undo_and_always_the_same() {
        let checkpoint = "run:00000000-0000-4000-8000-000000000001";
        for of in ["Fix it", "", "ünï\"\u{202e}", &"é".repeat(1000)] {
            let bytes = revert(checkpoint, of);
            assert_eq!(bytes, revert(checkpoint, of));
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
