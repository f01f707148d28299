//! Writes command plans (SPEC §1.2): the plan that continues a run, and the plan of rollback commands.

use std::collections::BTreeSet;

use serde::Serialize;
use uuid::Uuid;

use super::text::{
    Continuation, InputText, continued_id, continued_title, derived_id, is_zero, serialize, short,
};
use crate::plan::inputs::of_command;
use crate::plan::{Mode, Plan, PlanInput, RiskLevel, Step, limits};

/// The text in the id of a rollback plan before the shortened id of the run.
const ID_MARK: &str = ".rolls-back-";

/// Writes a plan of the rollback commands that a plan names. `run_id` becomes part of its id, and `hosts` are those of its
/// hosts on which it may be needed, if the plan runs on several. `None` if there are no rollback commands, no such hosts,
/// or if the result exceeds the size limit of a plan file.
pub fn rollback<C>(plan: &Plan<C>, run_id: Uuid, hosts: &[&str]) -> Option<Vec<u8>> {
    let is_on_fleet = plan.fleet.is_some();
    if plan.notes.rollback.is_empty() || is_on_fleet && hosts.is_empty() {
        return None;
    }
    let goal = format!("Roll back: {}", plan.name());
    let rollback = plan.notes.rollback.iter();
    let text = PlanText {
        id: derived_id(&plan.plan_id, ID_MARK, &short(run_id)),
        goal: if goal.len() <= limits::ARGUMENT_BYTES { goal } else { "Roll back".to_owned() },
        target: plan.target.as_deref().filter(|_| !is_on_fleet),
        targets: if is_on_fleet { hosts } else { &[] },
        inputs: inputs_of(plan.notes.rollback.iter().map(String::as_str), &plan.inputs),
        signatures_required: plan.signatures_required,
        steps: rollback.map(|command| StepText { command, ..StepText::default() }).collect(),
        ..PlanText::default()
    };
    serialize(&text)
}

/// A command that the program itself proposes as a step.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProposedCommand {
    /// The command, for bash.
    pub command: String,
    /// What it does, in a line.
    pub description: Option<String>,
    /// Why, in any number of lines.
    pub explanation: Option<String>,
    /// The folder in which it runs; `None` for the workspace.
    pub cwd: Option<String>,
    /// Its expected output.
    pub expected_output: Option<String>,
    /// Its time limit; `None` for the default.
    pub timeout_seconds: Option<u32>,
    /// Whether it uses the network.
    pub network: bool,
    /// The warning of the question before it. A command with a warning is dangerous.
    pub warning: Option<String>,
}

/// The inputs that commands name.
fn inputs_of<'a>(
    commands: impl Iterator<Item = &'a str>,
    inputs: &'a [PlanInput],
) -> Vec<InputText<'a>> {
    if inputs.is_empty() {
        return Vec::new();
    }
    let named = commands.flat_map(|command| of_command(command, inputs));
    let used: BTreeSet<String> = named.map(|input| input.name).collect();
    inputs.iter().filter(|input| used.contains(&input.name)).map(InputText::of).collect()
}

/// A command plan of these commands and their inputs; `None` if it exceeds the size limit of a plan file.
pub fn command_plan(
    goal: &str,
    mode: Mode,
    inputs: &[PlanInput],
    commands: &[ProposedCommand],
) -> Option<Vec<u8>> {
    serialize(&PlanText {
        inputs: inputs.iter().map(InputText::of).collect(),
        goal: goal.to_owned(),
        mode: Some(mode.as_str()).filter(|_| mode != Mode::default()),
        steps: commands.iter().map(StepText::proposed).collect(),
        ..PlanText::default()
    })
}

/// Writes the command plan that continues a run: the steps that did not succeed.
pub(super) fn continue_plan<C>(
    plan: &Plan<C>,
    run: &str,
    succeeded: &BTreeSet<String>,
) -> Continuation {
    let is_left = |step: &Step<C>| !succeeded.contains(&step.step_id);
    let mut steps: Vec<StepText<'_>> = Vec::new();
    let mut previous: Option<&Step<C>> = None;
    for step in &plan.steps {
        let command = step.arguments.get("command").map_or("", String::as_str);
        match (steps.last_mut(), previous.filter(|previous| is_left(previous))) {
            // A verification directly after its command is written into the same entry.
            (Some(last), Some(_)) if is_left(step) && step.is_verification() => {
                last.verification_command = Some(command);
            }
            _ if is_left(step) => steps.push(StepText::of(step, command)),
            _ => {}
        }
        previous = Some(step);
    }
    if steps.is_empty() {
        return Continuation::NothingLeft;
    }
    let notes = &plan.notes;
    let left = plan.steps.iter().filter(|step| is_left(step));
    let commands = left.filter_map(|step| step.arguments.get("command").map(String::as_str));
    let rollback = notes.rollback.iter().map(String::as_str);
    let text = PlanText {
        id: continued_id(&plan.plan_id, run),
        goal: continued_title(plan.name()),
        mode: Some(plan.mode.as_str()).filter(|_| plan.mode != Mode::default()),
        target: plan.target.as_deref(),
        targets: &[],
        success_criteria: &notes.success_criteria,
        rollback_plan: &notes.rollback,
        estimated_time: notes.estimated_time.as_deref(),
        inputs: inputs_of(commands.chain(rollback), &plan.inputs),
        signatures_required: plan.signatures_required,
        steps,
    };
    Continuation::of(&text)
}

/// A command plan with its fields in the usual order. Fields with default values are left out.
#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
struct PlanText<'a> {
    #[serde(skip_serializing_if = "String::is_empty")]
    id: String,
    goal: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<&'a str>,
    #[serde(skip_serializing_if = "<[&str]>::is_empty")]
    targets: &'a [&'a str],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    success_criteria: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    rollback_plan: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    estimated_time: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    inputs: Vec<InputText<'a>>,
    // As in the other dialects.
    #[serde(rename = "signatures_required", skip_serializing_if = "is_zero")]
    signatures_required: usize,
    steps: Vec<StepText<'a>>,
}

#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
struct StepText<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    command: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    risk_level: Option<RiskLevel>,
    #[serde(skip_serializing_if = "Option::is_none")]
    risk_assessment: Option<RiskText<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected_output: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verification_command: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout_seconds: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    needs: Option<NeedsText<'a>>,
}

/// The `needs` of a step. Fields that are false or empty are left out.
#[derive(Serialize, Default, PartialEq)]
struct NeedsText<'a> {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    network: bool,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    write: &'a [String],
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    terminal: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    open: bool,
}

#[derive(Serialize, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
struct RiskText<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    requires_approval: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    warning_message: Option<&'a str>,
}

impl<'a> StepText<'a> {
    fn proposed(it: &'a ProposedCommand) -> Self {
        let needs = NeedsText { network: it.network, ..NeedsText::default() };
        let risk = RiskText {
            requires_approval: it.warning.is_some(),
            warning_message: it.warning.as_deref(),
            ..RiskText::default()
        };
        Self {
            command: &it.command,
            description: it.description.as_deref(),
            explanation: it.explanation.as_deref(),
            cwd: it.cwd.as_deref(),
            risk_level: it.warning.as_ref().map(|_| RiskLevel::Dangerous),
            risk_assessment: Some(risk).filter(|risk| *risk != RiskText::default()),
            expected_output: it.expected_output.as_deref(),
            timeout_seconds: it.timeout_seconds,
            needs: Some(needs).filter(|needs| *needs != NeedsText::default()),
            ..Self::default()
        }
    }

    fn of<C>(step: &'a Step<C>, command: &'a str) -> Self {
        let stated = &step.stated;
        let risk = RiskText {
            category: stated.category.as_deref(),
            reason: stated.reason.as_deref(),
            requires_approval: step.requires_confirmation,
            warning_message: stated.warning.as_deref(),
        };
        Self {
            id: Some(&step.step_id),
            command,
            description: step.title.as_deref(),
            explanation: step.reason.as_deref(),
            cwd: step.arguments.get("cwd").map(String::as_str),
            risk_level: stated.level,
            risk_assessment: Some(risk).filter(|risk| *risk != RiskText::default()),
            expected_output: step.expected_output.as_deref(),
            verification_command: None,
            timeout_seconds: step.arguments.get("timeout_seconds").and_then(|it| it.parse().ok()),
            needs: step.needs.as_ref().map(|needs| NeedsText {
                network: needs.network,
                write: &needs.write,
                terminal: needs.terminal,
                open: needs.open,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;
    use serde_json::{Value, json};

    use super::super::testing::{plan, run_id};
    use super::*;
    use crate::plan::{Continuation, continuation, parse};

    fn full_plan() -> Value {
        json!({
            "id": "p", "goal": "Start it", "mode": "teacher", "target": "web-1",
            "successCriteria": ["It answers."], "rollbackPlan": ["stop it", "rm started"],
            "estimatedTime": 90, "status": "running",
            "steps": [
                {"id": "a", "command": "build", "verificationCommand": "test -e out"},
                {"command": "start", "description": "Start", "explanation": "It is down.",
                 "cwd": "srv", "riskLevel": "caution", "expectedOutput": "ok",
                 "riskAssessment": {"level": "dangerous", "category": "service",
                    "reason": "People use it.", "requiresApproval": true,
                    "warningMessage": "Tell them."},
                 "verificationCommand": "curl it", "timeoutSeconds": 9, "output": "?",
                 "needs": {"network": true, "write": ["~/x"], "terminal": false}},
            ],
        })
    }

    /// The record of a run has the label of its hosts as the target, which is no destination.
    #[test]
    fn rollback_keeps_its_hosts_with_the_target_of_the_run() {
        let text = json!({
            "goal": "x", "targets": ["h1", "h2", "h3"], "rollbackPlan": ["undo"],
            "steps": [{ "command": "do" }],
        });
        let of_run = plan(&text);
        let label = of_run.target.clone().unwrap();
        let bytes = rollback(&of_run, run_id(), &["h2"]).unwrap();
        let opened = parse(&bytes).plan.unwrap().on_target(Some(&label));
        assert_eq!(opened.target.as_deref(), Some("1 host"));
        assert_eq!(opened.fleet.unwrap().label(), "1 host");
    }

    #[test]
    fn continuation_reads_like_a_written_plan() {
        let succeeded = BTreeSet::from(["a".to_owned()]);
        let continued = match continuation(&plan(&full_plan()), run_id(), &succeeded) {
            Continuation::Plan(bytes) => String::from_utf8(bytes).unwrap(),
            other => panic!("{other:?}"),
        };
        insta::assert_snapshot!(continued, @r#"
        {
          "id": "p.continues-1a2b3c4d",
          "goal": "Start it (continued)",
          "mode": "guided",
          "target": "web-1",
          "successCriteria": [
            "It answers."
          ],
          "rollbackPlan": [
            "stop it",
            "rm started"
          ],
          "estimatedTime": "90",
          "steps": [
            {
              "id": "a.verify",
              "command": "test -e out",
              "explanation": "Verifies step a."
            },
            {
              "id": "step_2",
              "command": "start",
              "description": "Start",
              "explanation": "It is down.",
              "cwd": "srv",
              "riskLevel": "dangerous",
              "riskAssessment": {
                "category": "service",
                "reason": "People use it.",
                "requiresApproval": true,
                "warningMessage": "Tell them."
              },
              "expectedOutput": "ok",
              "verificationCommand": "curl it",
              "timeoutSeconds": 9,
              "needs": {
                "network": true,
                "write": [
                  "~/x"
                ]
              }
            }
          ]
        }
        "#);
    }

    #[test]
    fn a_rollback_is_a_plan_of_its_own() {
        let plan = plan(&full_plan());
        let text = String::from_utf8(rollback(&plan, run_id(), &[]).unwrap()).unwrap();
        insta::assert_snapshot!(text, @r#"
        {
          "id": "p.rolls-back-1a2b3c4d",
          "goal": "Roll back: Start it",
          "target": "web-1",
          "steps": [
            {
              "command": "stop it"
            },
            {
              "command": "rm started"
            }
          ]
        }
        "#);
        assert!(parse(text.as_bytes()).is_valid());
        let mut without = full_plan();
        without["rollbackPlan"] = json!([]);
        assert_eq!(rollback(&self::plan(&without), run_id(), &[]), None);
    }

    fn any_text() -> impl Strategy<Value = String> {
        select(vec!["x", "a b", "ünï", "\u{202e}\"\\\n\t\u{1}", "local", " lead"])
            .prop_map(str::to_owned)
    }

    fn any_plan() -> impl Strategy<Value = Value> {
        let maybe = || prop::option::of(any_text());
        let step = (any_text(), maybe(), maybe(), maybe(), any::<u8>(), 0..9_u32);
        (prop::collection::vec(step, 1..9), maybe(), any::<bool>()).prop_map(
            |(steps, estimated, remote)| {
                let mut all = Vec::new();
                for (index, (command, verify, text, cwd, bits, timeout)) in
                    steps.into_iter().enumerate()
                {
                    let mut step = json!({ "command": command });
                    let mut set = |name: &str, value: Option<Value>| {
                        if let Some(value) = value {
                            step[name] = value;
                        }
                    };
                    let named = bits & 1 == 1;
                    set("id", named.then(|| json!(format!("step_{}", index + 1))));
                    set("verificationCommand", verify.map(Value::from));
                    set("description", text.clone().map(Value::from));
                    set("expectedOutput", text.clone().map(Value::from));
                    set("cwd", cwd.map(Value::from));
                    set("timeoutSeconds", (timeout > 0).then(|| json!(timeout)));
                    set("riskLevel", (bits & 2 == 2).then(|| json!("dangerous")));
                    let asks = bits & 4 == 4;
                    let risk = json!({ "requiresApproval": asks, "warningMessage": "w" });
                    set("riskAssessment", (bits & 12 > 0).then_some(risk));
                    let needs = json!({ "network": bits & 32 > 0, "write": ["~/a", "b"],
                        "open": bits & 64 > 0 });
                    set("needs", (bits & 16 > 0).then_some(needs));
                    set("needs", (bits & 48 == 32).then(|| json!({})));
                    all.push(step);
                }
                let mut plan = json!({ "goal": "g", "steps": all, "rollbackPlan": ["undo"] });
                if let Some(estimated) = estimated {
                    plan["estimatedTime"] = json!(estimated);
                }
                if remote {
                    plan["target"] = json!("ada@host");
                }
                plan
            },
        )
    }

    proptest! {
        #[test]
        fn continuation_is_valid_and_complete(
            value in any_plan(),
            chosen in any::<u32>(),
        ) {
            let plan = plan(&value);
            let succeeded: BTreeSet<String> = plan
                .steps
                .iter()
                .filter(|step| chosen >> step.step_index & 1 == 1)
                .map(|step| step.step_id.clone())
                .collect();
            let left: Vec<&Step> =
                plan.steps.iter().filter(|step| !succeeded.contains(&step.step_id)).collect();
            let bytes = match continuation(&plan, run_id(), &succeeded) {
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
                let (step_index, place) = (now.step_index, now.place);
                prop_assert_eq!(now, &Step { step_index, place, ..before.clone() });
            }
            prop_assert_eq!(&continued.notes, &plan.notes);
            prop_assert_eq!((&continued.target, continued.mode), (&plan.target, plan.mode));
        }
    }
}
