//! The action dialect (SPEC §1.3): actions, or a planner's report that it has no plan.

use std::collections::BTreeMap;

use serde_json::Value;

use super::fields::Fields;
use super::json::Json;
use super::reading::Reading;
use super::requests;
use super::steps::tool;
use crate::plan::{
    ACTION_PLAN_VERSION, Code, Dialect, Finding, Metadata, PlannerFailure, Precondition, Severity,
    ShownPlan, ShownStep, StatedRisk, StepPlace, ToolCall, limits,
};

/// Reads an action plan. `plan` has default values, which are replaced.
pub(super) fn read(mut fields: Fields<'_>, plan: ShownPlan) -> ShownPlan {
    version(&mut fields);
    let goal = fields.filled("goal");
    let metadata = metadata(&mut fields);
    let failure = failure(&mut fields);
    let steps = actions(&mut fields, failure.is_some());
    fields.finish();
    let by = [metadata.planner.as_deref(), metadata.model.as_deref()];
    let by: Vec<&str> = by.into_iter().flatten().filter(|word| !word.trim().is_empty()).collect();
    let created_by = (!by.is_empty()).then(|| by.join(", "));
    ShownPlan { title: goal, created_by, metadata, failure, steps, ..plan }
}

fn version(fields: &mut Fields<'_>) {
    let Some(version) = fields.text("version") else { return };
    if version != ACTION_PLAN_VERSION {
        let message = format!("the version {version:?} of action plans is not known");
        let finding = Finding::error(Code::BadValue, fields.pointer_to("version"), message);
        fields.reading.push(finding.allowing([ACTION_PLAN_VERSION]));
    }
}

fn metadata(fields: &mut Fields<'_>) -> Metadata {
    let Some(mut fields) = fields.object("metadata") else { return Metadata::default() };
    let metadata = Metadata {
        planner: fields.text("planner"),
        model: fields.text("model"),
        notes: fields.text("notes"),
        confidence: confidence(&mut fields),
    };
    fields.finish();
    metadata
}

fn confidence(fields: &mut Fields<'_>) -> Option<String> {
    let got = match fields.take("confidence")? {
        Json::Number(number) if number.as_f64().is_some_and(|it| (0.0..=1.0).contains(&it)) => {
            return Some(fields.reading.number(&number, &fields.pointer_to("confidence")));
        }
        Json::Number(number) => number.to_string(),
        other => other.kind().to_owned(),
    };
    let message = format!("\"confidence\" must be a number from 0 to 1, not {got}");
    fields.error(Code::BadValue, "confidence", message);
    None
}

fn failure(fields: &mut Fields<'_>) -> Option<PlannerFailure> {
    let mut fields = fields.object("failure")?;
    let code = fields.filled("code");
    let message = fields.filled("message");
    let detail = fields.take("detail").and_then(|json| match json {
        Json::Null => None,
        Json::String(text) => Some(text),
        other => Some(other.to_value().to_string()),
    });
    let retryable = fields.flag("retryable");
    fields.finish();
    Some(PlannerFailure {
        code: code.unwrap_or_default(),
        message: message.unwrap_or_default(),
        detail,
        retryable,
    })
}

fn actions(fields: &mut Fields<'_>, failed: bool) -> Vec<ShownStep> {
    if !failed {
        fields.require("actions", "a plan has at least one action");
    }
    let Some(items) = fields.array("actions") else { return Vec::new() };
    let fault = match items.len() {
        0 if !failed => Some((
            Code::Missing,
            "the plan is empty; a plan has at least one action, or a \"failure\"".to_owned(),
        )),
        1.. if failed => Some((
            Code::BadValue,
            "a plan has actions or a \"failure\", not both; take one of them out".to_owned(),
        )),
        count if count > limits::ACTIONS => Some((
            Code::Limit,
            format!("the plan has {count} actions; the limit is {}", limits::ACTIONS),
        )),
        _ => None,
    };
    if let Some((code, message)) = fault {
        fields.error(code, "actions", message);
    }
    let pointer = fields.pointer_to("actions");
    let action = |(index, item)| action(item, index, &format!("{pointer}/{index}"), fields.reading);
    items.into_iter().take(limits::ACTIONS).enumerate().filter_map(action).collect()
}

fn action(item: Json, index: usize, pointer: &str, reading: &Reading<'_>) -> Option<ShownStep> {
    let before = reading.errors();
    let mut fields = Fields::of(item, pointer, "an action", reading)?;
    fields.require("type", "name the type of the action");
    let unknown = |name: &str| format!("there is no action {name:?}");
    let (tool_name, tool) = tool(&mut fields, "type", Dialect::ActionPlan, unknown);
    let reason = fields.text_unless_blank("rationale");
    fields.require("request", "give an object with the arguments of the action");
    let mut arguments = BTreeMap::new();
    let mut call = None;
    if let Some(request) = fields.take("request").and_then(|json| {
        arguments = requests::arguments(&json);
        Fields::of(json, &fields.pointer_to("request"), "\"request\"", reading)
    }) {
        // The request of an unknown action cannot be checked.
        call = tool.and_then(|tool| requests::read(tool, request));
        if let Some((name, words)) = call.as_ref().and_then(ToolCall::words) {
            // The recorded arguments are taken from the call, in which numbers keep the spelling of the file.
            let texts = words.iter().map(|word| Value::from(word.as_str())).collect::<Value>();
            arguments.insert(name.to_owned(), texts.to_string());
        }
    }
    fields.finish();
    Some(ShownStep {
        step_id: format!("action_{index}"),
        step_index: index,
        tool_name,
        arguments,
        call: call.filter(|_| reading.errors() == before),
        precondition: Precondition::None,
        precondition_text: "none".to_owned(),
        requires_confirmation: false,
        title: None,
        reason,
        stated: StatedRisk::default(),
        expected_output: None,
        needs: None,
        place: StepPlace::Action(index),
    })
}

/// Sets the name of an error in the action dialect (SPEC §6). An error inside a request also gets the code for a
/// missing or bad argument in place of the general one.
pub(super) fn name(finding: &mut Finding) {
    if finding.severity != Severity::Error {
        return;
    }
    let of_request = finding
        .pointer
        .strip_prefix("/actions/")
        .and_then(|rest| rest.split_once('/'))
        .is_some_and(|(_, rest)| rest == "request" || rest.starts_with("request/"));
    if of_request {
        finding.code = match finding.code {
            Code::Missing => Code::MissingArgument,
            Code::BadValue => Code::BadArgument,
            code => code,
        };
    }
    let pointer = finding.pointer.as_str();
    finding.name = Some(match (finding.code, pointer) {
        (Code::UnknownTool, _) => "unsupported_action",
        _ if of_request => "invalid_action_payload",
        (_, "/version") => "unsupported_version",
        (Code::Missing, "/goal") => "empty_goal",
        (Code::Missing, "/actions") => "missing_actions",
        (Code::Limit, "/actions") => "too_many_actions",
        _ if pointer == "/failure" || pointer.starts_with("/failure/") => "invalid_failure_shape",
        (Code::BadValue, "/actions") if finding.message.contains("not both") => {
            "invalid_failure_shape"
        }
        (Code::Missing, _) if finding.message.starts_with("\"actions\" is missing") => {
            "missing_actions"
        }
        (Code::Missing, _) => "missing_required_field",
        _ => "invalid_field_value",
    });
}
