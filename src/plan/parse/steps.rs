//! The step dialect (SPEC §1.1).

use std::collections::HashMap;

use super::arguments::arguments;
use super::fields::{Fields, did_you_mean};
use super::json::Json;
use super::reading::Reading;
use crate::plan::{
    Code, Dialect, Finding, Intent, PRECONDITION_WORDS, Precondition, Severity, ShownPlan,
    ShownStep, StatedRisk, StepPlace, TOOLS, Tool, ToolCall, ToolClass, limits,
};

/// The names of the evidence queries that a plan may refer to.
const QUERIES: [&str; 8] = ["Q1", "Q2", "Q3", "Q4", "Q5", "Q6", "Q7", "Q8"];

/// Reads a step plan. `plan` has default values, which are replaced.
pub(super) fn read(mut fields: Fields<'_>, plan: ShownPlan) -> ShownPlan {
    let plan_id = fields.id("plan_id");
    let intent = intent(&mut fields);
    let title = fields.text_unless_blank("title");
    let created_by = fields.text("created_by");
    let evidence_referenced = evidence_referenced(&mut fields);
    let steps = steps(&mut fields);
    if let Some(intent) = intent.filter(|intent| *intent != Intent::Mutate) {
        let calls = steps.iter().filter_map(|step| step.call.as_ref());
        let mutating = calls.filter(|call| call.class() == ToolClass::Mutate).count();
        if mutating > 0 {
            let change = if mutating == 1 { "step changes" } else { "steps change" };
            let message =
                format!("the intent is {}, but {mutating} {change} files", intent.as_str());
            let pointer = fields.pointer_to("intent");
            let finding = Finding::new(Severity::Warning, Code::BadValue, pointer, message);
            fields.reading.push(finding);
        }
    }
    fields.finish();
    ShownPlan {
        plan_id: plan_id.unwrap_or(plan.plan_id),
        intent,
        title,
        created_by,
        evidence_referenced,
        steps,
        ..plan
    }
}

fn intent(fields: &mut Fields<'_>) -> Option<Intent> {
    let words = || Intent::WORDS.iter().map(|(word, _)| *word);
    let advice = format!("write one of {}", words().collect::<Vec<_>>().join(", "));
    fields.require("intent", &advice);
    let text = fields.text("intent")?;
    let known = Intent::WORDS.iter().find(|(word, _)| text.eq_ignore_ascii_case(word));
    if known.is_none() {
        let message = format!("unknown intent {text:?}; {advice}");
        let finding = Finding::error(Code::BadValue, fields.pointer_to("intent"), message);
        fields.reading.push(finding.allowing(words()));
    }
    known.map(|(_, intent)| *intent)
}

fn evidence_referenced(fields: &mut Fields<'_>) -> Vec<String> {
    let pointer = fields.pointer_to("evidence_referenced");
    let items = fields.array("evidence_referenced").unwrap_or_default();
    let mut queries = Vec::with_capacity(items.len());
    for (index, item) in items.into_iter().enumerate() {
        let got = match item {
            Json::String(text) if QUERIES.contains(&text.as_str()) => {
                queries.push(text);
                continue;
            }
            Json::String(text) => format!("{text:?}"),
            other => other.kind().to_owned(),
        };
        fields.reading.error_with(|| {
            let message = format!("an evidence query is Q1 to Q8, not {got}");
            Finding::error(Code::BadValue, format!("{pointer}/{index}"), message).allowing(QUERIES)
        });
    }
    queries
}

fn steps(fields: &mut Fields<'_>) -> Vec<ShownStep> {
    let reading = fields.reading;
    let pointer = fields.pointer_to("steps");
    fields.require("steps", "a plan has at least one step");
    let Some(items) = fields.array("steps") else { return Vec::new() };
    if items.is_empty() {
        let message = "the plan is empty; a plan has at least one step";
        fields.error(Code::Missing, "steps", message);
    }
    if items.len() > limits::STEPS {
        let message = format!("the plan has {} steps; the limit is {}", items.len(), limits::STEPS);
        fields.error(Code::Limit, "steps", message);
    }
    let mut steps: Vec<ShownStep> = Vec::with_capacity(items.len().min(limits::STEPS));
    let mut first_with: HashMap<String, usize> = HashMap::new();
    for (index, item) in items.into_iter().take(limits::STEPS).enumerate() {
        let pointer = format!("{pointer}/{index}");
        let Some((step, id_at)) = step(item, index, &pointer, reading) else { continue };
        if let Precondition::StepSucceeded(id) = &step.precondition
            && !first_with.contains_key(id)
        {
            reading.error(
                Code::UnknownPrecondition,
                format!("{pointer}/precondition"),
                format!("no earlier step has the id {id:?}"),
            );
        }
        if let Some(earlier) = first_with.get(&step.step_id) {
            let message = format!("step {} has the id {:?} already", earlier + 1, step.step_id);
            reading.error(Code::DuplicateId, id_at, message);
        } else {
            first_with.insert(step.step_id.clone(), index);
        }
        steps.push(step);
    }
    steps
}

/// The step, and the pointer to its id, or to the step if it has no id.
fn step(
    item: Json,
    index: usize,
    pointer: &str,
    reading: &Reading<'_>,
) -> Option<(ShownStep, String)> {
    let before = reading.errors();
    let mut fields = Fields::of(item, pointer, "a step", reading)?;
    let id_at = fields.nearest("step_id");
    let step_id = fields.id("step_id").unwrap_or_else(|| format!("step_{}", index + 1));
    let (tool_name, tool) = step_tool(&mut fields);
    let arguments = arguments(&mut fields, tool);
    let (precondition_text, precondition) = precondition(&mut fields, tool);
    let requires_confirmation = fields.flag("requires_confirmation");
    let title = fields.text_unless_blank("title");
    let reason = fields.text("reason");
    fields.finish();
    let tool = tool.filter(|_| reading.errors() == before);
    let call = tool.and_then(|tool| ToolCall::from_arguments(tool, &arguments));
    let step = ShownStep {
        step_id,
        step_index: index,
        tool_name,
        arguments,
        call,
        precondition,
        precondition_text,
        requires_confirmation,
        title,
        reason,
        stated: StatedRisk::default(),
        expected_output: None,
        needs: None,
        place: StepPlace::Step(index),
    };
    Some((step, id_at))
}

/// The call of a simulated step, which has a tool and arguments and no other fields (SPEC §9, `simulate`).
pub(super) fn call(item: Json, pointer: &str, reading: &Reading<'_>) -> Option<ToolCall> {
    let before = reading.errors();
    let mut fields = Fields::of(item, pointer, "a step", reading)?;
    let (_, tool) = step_tool(&mut fields);
    let arguments = arguments(&mut fields, tool);
    fields.finish();
    let tool = tool.filter(|_| reading.errors() == before)?;
    ToolCall::from_arguments(tool, &arguments)
}

fn step_tool(fields: &mut Fields<'_>) -> (String, Option<Tool>) {
    fields.require("tool", "name the tool that the step calls");
    tool(fields, "tool", Dialect::StepPlan, |name| {
        format!("the tool {name:?} is not in the whitelist")
    })
}

/// The name in `field`, and the tool of the dialect with this name. If there is none, an error is added, whose message
/// begins with `unknown`.
pub(super) fn tool(
    fields: &mut Fields<'_>,
    field: &'static str,
    dialect: Dialect,
    unknown: impl Fn(&str) -> String,
) -> (String, Option<Tool>) {
    let may_stand = |tool: &Tool| tool.stands_in(dialect);
    let Some(name) = fields.text(field) else { return (String::new(), None) };
    let tool = Tool::from_name(&name).filter(may_stand);
    if tool.is_none() {
        let names = TOOLS.iter().filter(|spec| may_stand(&spec.tool)).map(|spec| spec.name);
        let message = format!("{}{}", unknown(&name), did_you_mean(&name, names.clone()));
        let finding = Finding::error(Code::UnknownTool, fields.pointer_to(field), message);
        fields.reading.push(finding.allowing(names));
    }
    (name, tool)
}

fn precondition(fields: &mut Fields<'_>, tool: Option<Tool>) -> (String, Precondition) {
    let Some(text) = fields.text("precondition") else {
        return ("none".to_owned(), Precondition::None);
    };
    let Some(precondition) = Precondition::parse(&text) else {
        let words = PRECONDITION_WORDS.iter().copied();
        let message =
            format!("unknown precondition {text:?}{}", did_you_mean(&text, words.clone()));
        let pointer = fields.pointer_to("precondition");
        let finding = Finding::error(Code::UnknownPrecondition, pointer, message);
        fields.reading.push(finding.allowing(words));
        return (text, Precondition::None);
    };
    if let Some(tool) = tool.filter(|tool| !precondition.fits(*tool)) {
        let message = format!("{} has no argument that {text:?} could check", tool.name());
        fields.error(Code::UnknownPrecondition, "precondition", message);
    }
    (text, precondition)
}
