//! Writes the step plan that continues a run (SPEC §3 *Continue from here*).

use std::collections::BTreeSet;

use serde::{Serialize, Serializer};

use super::text::{Continuation, continued_id, continued_title, is_zero};
use crate::plan::{Intent, Plan, Precondition, Step, Tool, limits};

/// Writes the step plan that continues a run: the steps that did not succeed. Their arguments have the values of the plan's
/// inputs, so that the new plan needs none.
pub(super) fn continue_plan<C>(
    plan: &Plan<C>,
    run: &str,
    succeeded: &BTreeSet<String>,
) -> Continuation {
    let steps: Vec<_> = plan
        .steps
        .iter()
        .filter(|step| !succeeded.contains(&step.step_id))
        .map(|step| StepText::of(step, succeeded, run))
        .collect();
    if steps.is_empty() {
        return Continuation::NothingLeft;
    }
    let text = PlanText {
        plan_id: continued_id(&plan.plan_id, run),
        intent: plan.intent.map(Intent::as_str),
        title: plan.title.as_deref().map(continued_title),
        created_by: plan.created_by.as_deref(),
        evidence_referenced: &plan.evidence_referenced,
        signatures_required: plan.signatures_required,
        steps,
    };
    Continuation::of(&text)
}

/// A step plan with its fields in the usual order. Fields with default values are left out.
#[derive(Serialize)]
struct PlanText<'a> {
    plan_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    intent: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    created_by: Option<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    evidence_referenced: &'a [String],
    #[serde(skip_serializing_if = "is_zero")]
    signatures_required: usize,
    steps: Vec<StepText<'a>>,
}

#[derive(Serialize)]
struct StepText<'a> {
    step_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    tool: &'a str,
    #[serde(serialize_with = "map")]
    arguments: Vec<(&'a String, &'a String)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    precondition: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    requires_confirmation: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl<'a> StepText<'a> {
    fn of<C>(step: &'a Step<C>, succeeded: &BTreeSet<String>, run: &str) -> Self {
        // The id in a precondition that an earlier step succeeded, if it succeeded in the earlier run.
        let fulfilled = match &step.precondition {
            Precondition::StepSucceeded(id) if succeeded.contains(id) => Some(id),
            _ => None,
        };
        let written = Some(step.precondition_text.as_str()).filter(|text| *text != "none");
        let reason = match (fulfilled, step.reason.as_deref()) {
            (None, reason) => reason.map(str::to_owned),
            (Some(id), reason) => {
                let success = format!("Step {id} succeeded in run {run}.");
                let both = reason.map_or(success.clone(), |reason| format!("{reason} {success}"));
                // If both do not fit, the author's reason is kept.
                let fits = both.len() <= limits::ARGUMENT_BYTES;
                if fits { Some(both) } else { reason.map(str::to_owned) }
            }
        };
        Self {
            step_id: &step.step_id,
            title: step.title.as_deref(),
            tool: &step.tool_name,
            arguments: arguments(step),
            precondition: written.filter(|_| fulfilled.is_none()),
            requires_confirmation: step.requires_confirmation,
            reason,
        }
    }
}

/// The arguments in the order in which the tool lists them.
fn arguments<C>(step: &Step<C>) -> Vec<(&String, &String)> {
    let specs = Tool::from_name(&step.tool_name).map_or(&[][..], |tool| tool.spec().arguments);
    let position =
        |name: &str| specs.iter().position(|spec| spec.name == name || spec.alias == Some(name));
    let mut arguments: Vec<_> = step.arguments.iter().collect();
    arguments.sort_by_key(|(name, _)| position(name));
    arguments
}

fn map<S: Serializer>(pairs: &[(&String, &String)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().copied())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;
    use serde_json::{Value, json};

    use super::super::testing::{plan, run_id};
    use super::*;
    use crate::plan::{Continuation, continuation, parse};

    fn continued(plan: &Plan, succeeded: &[&str]) -> String {
        let succeeded = succeeded.iter().map(|id| (*id).to_owned()).collect();
        match continuation(plan, run_id(), &succeeded) {
            Continuation::Plan(bytes) => String::from_utf8(bytes).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn continuation_reads_like_a_written_plan() {
        let plan = plan(&json!({
            "plan_id": "p", "intent": "mutate", "title": "Two", "created_by": "m",
            "evidence_referenced": ["Q2"],
            "steps": [
                {"step_id": "a", "tool": "file_read", "arguments": {"path": "x"}},
                {"step_id": "b", "tool": "file_write", "precondition": "a succeeded",
                 "arguments": {"path": "x", "contents": 7}, "requires_confirmation": true,
                 "reason": "Because."},
                {"tool": "file_read", "arguments": {"path": "y"}, "precondition": "b Succeeded"},
            ],
        }));
        insta::assert_snapshot!(continued(&plan, &["a"]), @r#"
        {
          "plan_id": "p.continues-1a2b3c4d",
          "intent": "MUTATE",
          "title": "Two (continued)",
          "created_by": "m",
          "evidence_referenced": [
            "Q2"
          ],
          "steps": [
            {
              "step_id": "b",
              "tool": "file_write",
              "arguments": {
                "path": "x",
                "contents": "7"
              },
              "requires_confirmation": true,
              "reason": "Because. Step a succeeded in run 1a2b3c4d."
            },
            {
              "step_id": "step_3",
              "tool": "file_read",
              "arguments": {
                "path": "y"
              },
              "precondition": "b Succeeded"
            }
          ]
        }
        "#);
    }

    #[test]
    fn a_continuation_is_continued_without_growing() {
        let steps = json!([{"step_id": "a", "tool": "file_read", "arguments": {"path": "x"}}]);
        let long = "é".repeat(128);
        for (id, expected) in [
            ("p.continues-99999999", "p.continues-1a2b3c4d".to_owned()),
            (".continues-99999999", ".continues-99999999.continues-1a2b3c4d".to_owned()),
            (&long, format!("{}.continues-1a2b3c4d", "é".repeat(118))),
        ] {
            let title = "T (continued)";
            let text = json!({"plan_id": id, "intent": "READ", "title": title, "steps": steps});
            let text = continued(&plan(&text), &[]);
            let again = parse(text.as_bytes());
            assert!(again.is_valid(), "{:?}", again.findings);
            let again = again.plan.unwrap();
            assert_eq!(again.plan_id, expected);
            assert_eq!(again.title.as_deref(), Some(title));
        }
    }

    #[test]
    fn finished_and_oversized_plans_have_no_continuation() {
        let step = |id: usize| {
            let contents = "x".repeat(limits::ARGUMENT_BYTES - 100);
            json!({"step_id": format!("s{id}"), "tool": "file_write",
                   "arguments": {"path": "a", "contents": contents}})
        };
        let small = plan(&json!({"plan_id": "p", "intent": "MUTATE", "steps": [step(0)]}));
        let all = BTreeSet::from(["s0".to_owned()]);
        assert_eq!(continuation(&small, run_id(), &all), Continuation::NothingLeft);
        let mut large = small.clone();
        large.steps = (0..18)
            .map(|index| {
                plan(&json!({"plan_id": "p", "intent": "MUTATE",
            "steps": [step(index)]}))
                .steps
                .remove(0)
            })
            .collect();
        let too_large = continuation(&large, run_id(), &all) == Continuation::TooLarge;
        assert!(too_large, "17 MiB are left");
    }

    fn any_text() -> impl Strategy<Value = String> {
        select(vec!["x", "a b", "ünï", "\u{202e}\"\\\n\t\u{1}", "none", " lead"])
            .prop_map(str::to_owned)
    }

    fn any_plan() -> impl Strategy<Value = Value> {
        let call = prop_oneof![
            any_text().prop_map(|path| ("file_read", json!({ "path": path }))),
            (any_text(), any::<f64>()).prop_map(|(path, contents)| (
                "file_write",
                json!({ "path": path, "contents": contents })
            )),
            any_text().prop_map(|file| ("splice_plan", json!({ "file": file }))),
            any_text().prop_map(|root| ("file_glob", json!({ "root": root, "pattern": "*" }))),
            (any_text(), prop::option::of(any_text())).prop_map(|(name, kind)| {
                let mut arguments = json!({"file": "f", "name": name, "with": "w"});
                if let Some(kind) = kind {
                    arguments["kind"] = json!(kind);
                }
                ("splice_patch", arguments)
            }),
        ];
        let step = (call, any::<bool>(), any::<u8>(), prop::option::of(any_text()), 0..4_u8);
        let steps = prop::collection::vec(step, 1..9);
        (steps, any::<bool>(), prop::option::of(any_text())).prop_map(|(steps, id, title)| {
            let mut all = Vec::new();
            for (index, ((tool, arguments), asks, before, reason, kind)) in
                steps.into_iter().enumerate()
            {
                let mut step = json!({"tool": tool, "arguments": arguments});
                // An omitted id is derived from the step's position, which differs in the continued plan.
                if before % 2 == 0 {
                    step["step_id"] = json!(format!("step_{}", index + 1));
                }
                if asks {
                    step["requires_confirmation"] = json!(true);
                }
                if let Some(reason) = reason {
                    step["reason"] = json!(reason);
                }
                step["precondition"] = match kind {
                    0 => json!(" NONE "),
                    1 => json!("git repository exists"),
                    2 if index > 0 => {
                        json!(format!("step_{} Succeeded ", usize::from(before) % index + 1))
                    }
                    _ => json!("none"),
                };
                all.push(step);
            }
            let mut plan = json!({"intent": "QUERY", "steps": all});
            if id {
                plan["plan_id"] = json!("p");
            }
            if let Some(title) = title {
                plan["title"] = json!(title);
            }
            plan
        })
    }

    proptest! {
        #[test]
        fn continuation_is_valid_and_complete(value in any_plan(), chosen in any::<u16>()) {
            let plan = plan(&value);
            let succeeded: BTreeSet<String> = plan
                .steps
                .iter()
                .filter(|step| chosen >> step.step_index & 1 == 1)
                .map(|step| step.step_id.clone())
                .collect();
            let left: Vec<&Step> =
                plan.steps.iter().filter(|step| !succeeded.contains(&step.step_id)).collect();
            let answer = continuation(&plan, run_id(), &succeeded);
            prop_assert_eq!(&continuation(&plan, run_id(), &succeeded), &answer);
            let bytes = match answer {
                Continuation::Plan(bytes) => bytes,
                other => {
                    prop_assert_eq!(other, Continuation::NothingLeft);
                    prop_assert!(left.is_empty());
                    return Ok(());
                }
            };
            let parsed = parse(&bytes);
            prop_assert!(parsed.is_valid(), "{:?}", parsed.findings);
            let continued = parsed.plan.unwrap();
            prop_assert_eq!(continued.steps.len(), left.len());
            for (now, before) in continued.steps.iter().zip(left) {
                prop_assert_eq!(&now.step_id, &before.step_id);
                prop_assert_eq!(&now.call, &before.call);
                prop_assert_eq!(&now.arguments, &before.arguments);
                prop_assert_eq!(now.requires_confirmation, before.requires_confirmation);
                prop_assert_eq!(&now.title, &before.title);
                match &before.precondition {
                    Precondition::StepSucceeded(id) if succeeded.contains(id) => {
                        prop_assert_eq!(&now.precondition, &Precondition::None);
                        let success = format!("Step {id} succeeded in run 1a2b3c4d.");
                        prop_assert!(now.reason.as_deref().unwrap().ends_with(&success));
                        if let Some(reason) = &before.reason {
                            prop_assert!(now.reason.as_deref().unwrap().starts_with(reason));
                        }
                    }
                    other => {
                        prop_assert_eq!(&now.precondition, other);
                        prop_assert_eq!(&now.precondition_text, &before.precondition_text);
                        prop_assert_eq!(&now.reason, &before.reason);
                    }
                }
            }
        }
    }
}
