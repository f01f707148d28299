//! Parses the bytes of a plan file into a plan and all findings (SPEC §1.4).
//!
//! Pure: the same bytes always give the same result. The file is parsed a second time only if positions of findings or
//! the spelling of numbers are needed.

mod actions;
mod arguments;
mod commands;
mod context;
mod fields;
mod fleet;
mod ignored;
mod inputs;
mod json;
mod needs;
mod pattern;
mod positions;
mod requests;
mod steps;

#[cfg(test)]
mod tests;

use super::{Code, Dialect, Digest, Finding, Parsed, ShownPlan, is_valid, limits};
use context::ParseContext;
use fields::Fields;
use inputs::Inputs;
use json::{Json, Read};
use positions::Positions;

/// Parses a plan file.
///
/// If the plan is not valid, the result contains as much of it as can be shown.
pub fn parse(bytes: &[u8]) -> Parsed {
    let digest = Digest::of(bytes);
    let refused = |finding| Parsed { plan: Err(None), findings: vec![finding], digest };
    if bytes.len() > limits::PLAN_BYTES {
        return refused(Finding::error(
            Code::Limit,
            "",
            // Callers stop reading just above the limit, so the length of the file is unknown here.
            format!("the file has more than {} bytes, which is the limit", limits::PLAN_BYTES),
        ));
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(err) => return refused(not_utf8(bytes, err.valid_up_to())),
    };
    let mut finding = match json::read(text) {
        Read::Tree { json, duplicates } => return from_tree(json, duplicates, text, digest),
        Read::TooDeep { line, column } => Finding {
            line,
            column,
            ..Finding::error(
                Code::Limit,
                "",
                format!("objects and arrays are nested deeper than {} levels", limits::NESTING),
            )
        },
        Read::Syntax { line, column, message } => Finding {
            line,
            column,
            ..Finding::error(Code::NotJson, "", format!("not JSON: {message}"))
        },
    };
    if text.trim().is_empty() {
        "the file is empty; a plan is a JSON object".clone_into(&mut finding.message);
    } else if text.starts_with('\u{feff}') {
        "not JSON: a byte order mark stands before it; save the file as UTF-8 without one"
            .clone_into(&mut finding.message);
    }
    refused(finding)
}

/// Whether an object in this JSON text has two fields with the same name. Of such fields, most readers keep only one.
pub fn has_duplicate_keys(text: &str) -> bool {
    matches!(json::read(text), Read::Tree { duplicates: true, .. })
}

/// Sets line and column of findings that were created without the text of the plan, from their pointers. If a pointer
/// leads to no value, the position is that of the nearest enclosing value. If the source is not JSON, nothing changes.
pub fn locate(source: &[u8], findings: &mut [Finding]) {
    let Ok(text) = std::str::from_utf8(source) else { return };
    let positions = Positions::new(text);
    for finding in findings {
        positions.fill(finding);
    }
}

fn not_utf8(bytes: &[u8], valid_up_to: usize) -> Finding {
    let valid = bytes.get(..valid_up_to).and_then(|head| std::str::from_utf8(head).ok());
    let valid = valid.unwrap_or_default();
    let last_line = valid.rsplit('\n').next().unwrap_or_default();
    Finding {
        line: valid.matches('\n').count() + 1,
        column: last_line.chars().count() + 1,
        ..Finding::error(
            Code::NotJson,
            "",
            format!("not UTF-8: the byte at offset {valid_up_to} starts no character"),
        )
    }
}

fn from_tree(json: Json, duplicates: bool, text: &str, digest: Digest) -> Parsed {
    let positions = Positions::new(text);
    let number = |pointer: &str| positions.number(pointer);
    let context = ParseContext::new(&number);
    let plan = Fields::of(json, "", "a plan", &context).and_then(|mut fields| {
        let dialect = dialect(&fields)?;
        let plan = ShownPlan::new(dialect, text, digest);
        let inputs = Inputs::read(&mut fields);
        inputs.fill(&mut fields, dialect);
        let required = 1..=limits::SIGNATURES as u64;
        let required = fields.whole_number("signatures_required", required);
        let mut plan = match dialect {
            Dialect::StepPlan => steps::read(fields, plan),
            Dialect::CommandPlan => commands::read(fields, plan, &inputs),
            Dialect::ActionPlan => actions::read(fields, plan),
        };
        inputs.finish(&mut plan);
        plan.signatures_required = required.and_then(|it| it.try_into().ok()).unwrap_or_default();
        Some(plan)
    });
    let mut findings = context.into_findings(&positions, duplicates);
    if plan.as_ref().is_some_and(|plan| plan.dialect == Dialect::ActionPlan) {
        findings.iter_mut().for_each(actions::set_error_name);
    }
    let plan = match plan {
        Some(plan) if is_valid(&findings) && plan.is_complete() => Ok(plan.into_valid_steps()),
        faulty => Err(faulty),
    };
    Parsed { plan, findings, digest }
}

/// The dialect, judged by the fields of the top level. If it is unclear, an error is added.
fn dialect(fields: &Fields<'_>) -> Option<Dialect> {
    let has = |name: &str| fields.has(name);
    let step = has("plan_id") || has("intent");
    let command = has("goal") && has("steps");
    // A plan with `version` and `goal` counts as an action plan, so that its missing actions are reported.
    let action = has("version") && (has("actions") || has("failure") || (has("goal") && !command));
    let message = match (step, action, command) {
        (true, false, false) => return Some(Dialect::StepPlan),
        // A step plan with a stray `goal` is still a step plan; the field is reported as unknown.
        (true, false, true) if !has("version") => return Some(Dialect::StepPlan),
        (false, false, true) => return Some(Dialect::CommandPlan),
        (false, true, false) => return Some(Dialect::ActionPlan),
        (false, false, false) => {
            "the dialect is unclear; a step plan has \"plan_id\", \"intent\" and \"steps\" at its top \
             level, a command plan \"goal\" and \"steps\", an action plan \"version\", \"goal\" and \"actions\""
        }
        _ => "the dialect is unclear; the top level has fields of more than one dialect",
    };
    fields.context.error(Code::DialectUnclear, "", message);
    None
}
