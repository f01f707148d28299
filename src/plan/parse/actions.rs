//! The action dialect (SPEC §1.3): what is asked of the program, or a planner's word that it has no plan.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::fields::{Fields, suggest};
use super::findings::Findings;
use super::json::Json;
use super::places::Places;
use super::requests;
use crate::plan::{
    ACTION_PLAN_VERSION, Code, Dialect, Digest, Finding, Metadata, Mode, Outlook, PlannerFailure,
    Precondition, Severity, ShownPlan, ShownStep, StatedRisk, StepPlace, TOOLS, Tool, ToolCall,
    limits,
};

/// Reads an action plan; the caller fills in its source.
pub(super) fn read(
    mut fields: Fields,
    places: &Places<'_>,
    digest: Digest,
    findings: &mut Findings,
) -> ShownPlan {
    version(&mut fields, findings);
    let goal = fields.filled("goal", findings);
    let metadata = metadata(&mut fields, places, findings);
    let failure = failure(&mut fields, findings);
    let steps = actions(&mut fields, failure.is_some(), places, findings);
    fields.finish(findings);
    let by = [metadata.planner.as_deref(), metadata.model.as_deref()];
    let by: Vec<&str> = by.into_iter().flatten().filter(|word| !word.trim().is_empty()).collect();
    ShownPlan {
        plan_id: format!("plan-{}", digest.short(16)),
        dialect: Dialect::ActionPlan,
        intent: None,
        title: goal,
        created_by: (!by.is_empty()).then(|| by.join(", ")),
        evidence_referenced: Vec::new(),
        mode: Mode::Automatic,
        target: None,
        outlook: Outlook::default(),
        metadata,
        failure,
        steps,
        source: Arc::from([]),
        digest,
    }
}

fn version(fields: &mut Fields, findings: &mut Findings) {
    let Some(version) = fields.text("version", findings) else { return };
    if version != ACTION_PLAN_VERSION {
        findings.push(
            Finding::error(
                Code::BadValue,
                fields.pointer_to("version"),
                format!("the version {version:?} of action plans is not known"),
            )
            .allowing([ACTION_PLAN_VERSION]),
        );
    }
}

fn metadata(fields: &mut Fields, places: &Places<'_>, findings: &mut Findings) -> Metadata {
    let pointer = fields.pointer_to("metadata");
    let read = fields
        .take("metadata")
        .and_then(|json| Fields::of(json, &pointer, "\"metadata\"", findings));
    let Some(mut fields) = read else { return Metadata::default() };
    let metadata = Metadata {
        planner: fields.text("planner", findings),
        model: fields.text("model", findings),
        notes: fields.text("notes", findings),
        confidence: confidence(&mut fields, places, findings),
    };
    fields.finish(findings);
    metadata
}

fn confidence(fields: &mut Fields, places: &Places<'_>, findings: &mut Findings) -> Option<String> {
    let pointer = fields.pointer_to("confidence");
    let got = match fields.take("confidence")? {
        Json::Number(number) if number.as_f64().is_some_and(|it| (0.0..=1.0).contains(&it)) => {
            return Some(places.number(&pointer).unwrap_or_else(|| number.to_string()));
        }
        Json::Number(number) => number.to_string(),
        other => other.kind().to_owned(),
    };
    let message = format!("\"confidence\" must be a number from 0 to 1, not {got}");
    findings.push(Finding::error(Code::BadValue, pointer, message));
    None
}

fn failure(fields: &mut Fields, findings: &mut Findings) -> Option<PlannerFailure> {
    let pointer = fields.pointer_to("failure");
    let json = fields.take("failure")?;
    let mut fields = Fields::of(json, &pointer, "\"failure\"", findings)?;
    let code = fields.filled("code", findings);
    let message = fields.filled("message", findings);
    let detail = fields.take("detail").and_then(|json| match json {
        Json::Null => None,
        Json::String(text) => Some(text),
        other => Some(other.to_value().to_string()),
    });
    let retryable = fields.flag("retryable", findings).unwrap_or(false);
    fields.finish(findings);
    Some(PlannerFailure {
        code: code.unwrap_or_default(),
        message: message.unwrap_or_default(),
        detail,
        retryable,
    })
}

fn actions(
    fields: &mut Fields,
    failed: bool,
    places: &Places<'_>,
    findings: &mut Findings,
) -> Vec<ShownStep> {
    let pointer = fields.pointer_to("actions");
    if !fields.has("actions") && !failed {
        fields.missing("actions", "a plan has at least one action", findings);
    }
    let Some(items) = fields.array("actions", findings) else { return Vec::new() };
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
        findings.push(Finding::error(code, &pointer, message));
    }
    let action =
        |(index, item)| action(item, index, &format!("{pointer}/{index}"), places, findings);
    items.into_iter().take(limits::ACTIONS).enumerate().filter_map(action).collect()
}

fn action(
    item: Json,
    index: usize,
    pointer: &str,
    places: &Places<'_>,
    findings: &mut Findings,
) -> Option<ShownStep> {
    let before = findings.errors();
    let mut fields = Fields::of(item, pointer, "an action", findings)?;
    let (tool_name, tool) = kind(&mut fields, findings);
    let reason = fields.text("rationale", findings).filter(|text| !text.trim().is_empty());
    let request_at = fields.pointer_to("request");
    let request = fields.take("request");
    if request.is_none() {
        fields.missing("request", "an object that says what is asked for", findings);
    }
    let mut arguments = BTreeMap::new();
    let mut call = None;
    if let Some(request) = request.and_then(|json| {
        arguments = requests::arguments(&json);
        Fields::of(json, &request_at, "\"request\"", findings)
    }) {
        // Of an action that nobody knows, nobody knows what its request may say.
        call = tool.and_then(|tool| requests::read(tool, request, places, findings));
        if let Some((name, words)) = call.as_ref().and_then(ToolCall::words) {
            // Numbers among them count as the file writes them, which only the call knows.
            let texts = words.iter().map(|word| Value::from(word.as_str())).collect::<Value>();
            arguments.insert(name.to_owned(), texts.to_string());
        }
    }
    fields.finish(findings);
    Some(ShownStep {
        step_id: format!("action_{index}"),
        step_index: index,
        tool_name,
        arguments,
        call: call.filter(|_| findings.errors() == before),
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

fn kind(fields: &mut Fields, findings: &mut Findings) -> (String, Option<Tool>) {
    let may_stand = |tool: &Tool| tool.stands_in(Dialect::ActionPlan);
    let names = || TOOLS.iter().filter(|spec| may_stand(&spec.tool)).map(|spec| spec.name);
    if !fields.has("type") {
        fields.missing("type", "name what kind of action it is", findings);
    }
    let Some(name) = fields.text("type", findings) else { return (String::new(), None) };
    let tool = Tool::from_name(&name).filter(may_stand);
    if tool.is_none() {
        let advice = suggest(&name, names())
            .map_or_else(String::new, |near| format!("; did you mean {near:?}?"));
        findings.push(
            Finding::error(
                Code::UnknownTool,
                fields.pointer_to("type"),
                format!("there is no action {name:?}{advice}"),
            )
            .allowing(names()),
        );
    }
    (name, tool)
}

/// Gives a finding about an action plan the name that the action dialect has for it (SPEC §6), and the code
/// that stands for a bad request.
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
