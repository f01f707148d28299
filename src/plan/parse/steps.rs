//! The step dialect (SPEC §1.1).

use std::collections::HashMap;
use std::sync::Arc;

use super::arguments::arguments;
use super::fields::{Fields, suggest};
use super::findings::Findings;
use super::json::Json;
use super::places::Places;
use crate::plan::{
    Code, Dialect, Digest, Finding, Intent, Metadata, Mode, Outlook, PRECONDITION_WORDS,
    Precondition, Severity, ShownPlan, ShownStep, StatedRisk, StepPlace, TOOLS, Tool, ToolCall,
    ToolClass, limits,
};

/// The names of the evidence queries that a plan may refer to.
const QUERIES: [&str; 8] = ["Q1", "Q2", "Q3", "Q4", "Q5", "Q6", "Q7", "Q8"];

/// Reads a step plan; the caller fills in its source.
pub(super) fn read(
    mut fields: Fields,
    places: &Places<'_>,
    digest: Digest,
    findings: &mut Findings,
) -> ShownPlan {
    let plan_id = fields.id("plan_id", findings);
    let intent = intent(&mut fields, findings);
    let title = fields.text("title", findings);
    let created_by = fields.text("created_by", findings);
    let evidence_referenced = evidence_referenced(&mut fields, findings);
    let steps = steps(&mut fields, places, findings);
    if let Some(intent) = intent.filter(|intent| *intent != Intent::Mutate) {
        let mutating = steps
            .iter()
            .filter(|step| step.call.as_ref().is_some_and(|call| call.class() == ToolClass::Mutate))
            .count();
        if mutating > 0 {
            findings.push(Finding::new(
                Severity::Warning,
                Code::BadValue,
                fields.pointer_to("intent"),
                format!(
                    "the intent is {}, but {mutating} {} files",
                    intent.as_str(),
                    if mutating == 1 { "step changes" } else { "steps change" },
                ),
            ));
        }
    }
    fields.finish(findings);
    ShownPlan {
        plan_id: plan_id.unwrap_or_else(|| format!("plan-{}", digest.short(16))),
        dialect: Dialect::StepPlan,
        intent,
        title: title.filter(|title| !title.trim().is_empty()),
        created_by,
        evidence_referenced,
        mode: Mode::Automatic,
        target: None,
        outlook: Outlook::default(),
        metadata: Metadata::default(),
        failure: None,
        steps,
        source: Arc::from([]),
        digest,
    }
}

fn intent(fields: &mut Fields, findings: &mut Findings) -> Option<Intent> {
    if !fields.has("intent") {
        let advice = format!("write one of {}", Intent::WORDS.join(", "));
        fields.missing("intent", &advice, findings);
    }
    let text = fields.text("intent", findings)?;
    let intent = match text.to_ascii_uppercase().as_str() {
        "READ" => Some(Intent::Read),
        "MUTATE" => Some(Intent::Mutate),
        "QUERY" => Some(Intent::Query),
        "EXPLAIN" => Some(Intent::Explain),
        _ => None,
    };
    if intent.is_none() {
        findings.push(
            Finding::error(
                Code::BadValue,
                fields.pointer_to("intent"),
                format!("unknown intent {text:?}; write one of {}", Intent::WORDS.join(", ")),
            )
            .allowing(Intent::WORDS),
        );
    }
    intent
}

fn evidence_referenced(fields: &mut Fields, findings: &mut Findings) -> Vec<String> {
    let pointer = fields.pointer_to("evidence_referenced");
    let items = fields.array("evidence_referenced", findings).unwrap_or_default();
    let mut queries = Vec::with_capacity(items.len());
    for (index, item) in items.into_iter().enumerate() {
        match item {
            Json::String(text) if QUERIES.contains(&text.as_str()) => queries.push(text),
            other => {
                let got = match &other {
                    Json::String(text) => format!("{text:?}"),
                    other => other.kind().to_owned(),
                };
                findings.error(|| {
                    Finding::error(
                        Code::BadValue,
                        format!("{pointer}/{index}"),
                        format!("an evidence query is Q1 to Q8, not {got}"),
                    )
                    .allowing(QUERIES)
                });
            }
        }
    }
    queries
}

fn steps(fields: &mut Fields, places: &Places<'_>, findings: &mut Findings) -> Vec<ShownStep> {
    let pointer = fields.pointer_to("steps");
    if !fields.has("steps") {
        fields.missing("steps", "a plan has at least one step", findings);
    }
    let Some(items) = fields.array("steps", findings) else { return Vec::new() };
    if items.is_empty() {
        findings.push(Finding::error(
            Code::Missing,
            &pointer,
            "the plan is empty; a plan has at least one step",
        ));
    }
    if items.len() > limits::STEPS {
        findings.push(Finding::error(
            Code::Limit,
            &pointer,
            format!("the plan has {} steps; the limit is {}", items.len(), limits::STEPS),
        ));
    }
    let mut steps: Vec<ShownStep> = Vec::with_capacity(items.len().min(limits::STEPS));
    let mut first_with: HashMap<String, usize> = HashMap::new();
    for (index, item) in items.into_iter().take(limits::STEPS).enumerate() {
        let pointer = format!("{pointer}/{index}");
        let Some((step, id_at)) = step(item, index, &pointer, places, findings) else { continue };
        if let Precondition::StepSucceeded(id) = &step.precondition
            && !first_with.contains_key(id)
        {
            findings.push(Finding::error(
                Code::UnknownPrecondition,
                format!("{pointer}/precondition"),
                format!("no earlier step has the id {id:?}"),
            ));
        }
        if let Some(earlier) = first_with.get(&step.step_id) {
            findings.push(Finding::error(
                Code::DuplicateId,
                id_at,
                format!("step {} has the id {:?} already", earlier + 1, step.step_id),
            ));
        } else {
            first_with.insert(step.step_id.clone(), index);
        }
        steps.push(step);
    }
    steps
}

/// The step, and where its id stands, or would stand.
fn step(
    item: Json,
    index: usize,
    pointer: &str,
    places: &Places<'_>,
    findings: &mut Findings,
) -> Option<(ShownStep, String)> {
    let before = findings.errors();
    let mut fields = Fields::of(item, pointer, "a step", findings)?;
    let id_at =
        if fields.has("step_id") { fields.pointer_to("step_id") } else { pointer.to_owned() };
    let step_id = fields.id("step_id", findings).unwrap_or_else(|| format!("step_{}", index + 1));
    let (tool_name, tool) = tool(&mut fields, findings);
    let arguments = arguments(&mut fields, tool, places, findings);
    let (precondition_text, precondition) = precondition(&mut fields, tool, findings);
    let requires_confirmation = fields.flag("requires_confirmation", findings).unwrap_or(false);
    let title = fields.text("title", findings);
    let reason = fields.text("reason", findings);
    fields.finish(findings);
    let faulty = findings.errors() > before;
    let call = tool.filter(|_| !faulty).and_then(|tool| ToolCall::from_arguments(tool, &arguments));
    let step = ShownStep {
        step_id,
        step_index: index,
        tool_name,
        arguments,
        call,
        precondition,
        precondition_text,
        requires_confirmation,
        title: title.filter(|title| !title.trim().is_empty()),
        reason,
        stated: StatedRisk::default(),
        expected_output: None,
        needs: None,
        place: StepPlace::Step(index),
    };
    Some((step, id_at))
}

/// A call that stands alone, without what else a step says (SPEC §9, `simulate`).
pub(super) fn call(
    item: Json,
    pointer: &str,
    places: &Places<'_>,
    findings: &mut Findings,
) -> Option<ToolCall> {
    let before = findings.errors();
    let mut fields = Fields::of(item, pointer, "a step", findings)?;
    let (_, tool) = tool(&mut fields, findings);
    let arguments = arguments(&mut fields, tool, places, findings);
    fields.finish(findings);
    let tool = tool.filter(|_| findings.errors() == before)?;
    ToolCall::from_arguments(tool, &arguments)
}

fn tool(fields: &mut Fields, findings: &mut Findings) -> (String, Option<Tool>) {
    let may_stand = |tool: &Tool| tool.stands_in(Dialect::StepPlan);
    let names = || TOOLS.iter().filter(|spec| may_stand(&spec.tool)).map(|spec| spec.name);
    if !fields.has("tool") {
        fields.missing("tool", "name the tool that the step calls", findings);
    }
    let Some(name) = fields.text("tool", findings) else { return (String::new(), None) };
    let tool = Tool::from_name(&name).filter(may_stand);
    if tool.is_none() {
        let advice = suggest(&name, names())
            .map_or_else(String::new, |near| format!("; did you mean {near:?}?"));
        findings.push(
            Finding::error(
                Code::UnknownTool,
                fields.pointer_to("tool"),
                format!("the tool {name:?} is not in the whitelist{advice}"),
            )
            .allowing(names()),
        );
    }
    (name, tool)
}

fn precondition(
    fields: &mut Fields,
    tool: Option<Tool>,
    findings: &mut Findings,
) -> (String, Precondition) {
    let Some(text) = fields.text("precondition", findings) else {
        return ("none".to_owned(), Precondition::None);
    };
    let pointer = fields.pointer_to("precondition");
    let Some(precondition) = Precondition::parse(&text) else {
        let advice = suggest(&text, PRECONDITION_WORDS.iter().copied())
            .map_or_else(String::new, |near| format!("; did you mean {near:?}?"));
        findings.push(
            Finding::error(
                Code::UnknownPrecondition,
                pointer,
                format!("unknown precondition {text:?}{advice}"),
            )
            .allowing(PRECONDITION_WORDS.iter().copied()),
        );
        return (text, Precondition::None);
    };
    if let Some(tool) = tool.filter(|tool| !precondition.fits(*tool)) {
        findings.push(Finding::error(
            Code::UnknownPrecondition,
            pointer,
            format!("{} has no argument that {text:?} could look at", tool.name()),
        ));
    }
    (text, precondition)
}
