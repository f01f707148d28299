//! The arguments of a step: texts, checked against the tool's row of the whitelist (SPEC §1.1, §4).

use std::collections::{BTreeMap, HashSet};

use super::fields::{Fields, suggest};
use super::findings::Findings;
use super::json::Json;
use super::pattern;
use super::places::{Places, escape};
use crate::plan::{ArgumentSpec, Code, Finding, Tool, limits};

/// The arguments of a step, exactly as the plan gives them, checked against the tool's table.
pub(super) fn arguments(
    fields: &mut Fields,
    tool: Option<Tool>,
    places: &Places<'_>,
    findings: &mut Findings,
) -> BTreeMap<String, String> {
    let pointer = fields.pointer_to("arguments");
    let Some(json) = fields.take("arguments") else {
        fields.missing("arguments", "an object of the tool's arguments", findings);
        return BTreeMap::new();
    };
    let members = match json {
        Json::Object(members) => members,
        other => {
            findings.push(Finding::error(
                Code::BadArgument,
                pointer,
                format!("\"arguments\" must be an object, not {}", other.kind()),
            ));
            return BTreeMap::new();
        }
    };
    let mut arguments = BTreeMap::new();
    // An argument of the wrong type is there all the same: it must not be reported as missing too.
    let mut written = HashSet::new();
    for (name, value) in members {
        let pointer = format!("{pointer}/{}", escape(&name));
        written.insert(name.clone());
        if let Some(text) = argument_text(&name, value, &pointer, places, findings) {
            arguments.insert(name, text);
        }
    }
    if let Some(tool) = tool {
        check_arguments(tool, &written, &arguments, &pointer, findings);
    }
    arguments
}

/// An argument as text: numbers as the file writes them.
pub(super) fn argument_text(
    name: &str,
    value: Json,
    pointer: &str,
    places: &Places<'_>,
    findings: &mut Findings,
) -> Option<String> {
    let text = match value {
        Json::String(text) => text,
        Json::Number(number) if number.is_f64() => {
            places.number(pointer).unwrap_or_else(|| number.to_string())
        }
        Json::Number(number) => number.to_string(),
        other => {
            findings.push(Finding::error(
                Code::BadArgument,
                pointer,
                format!("the argument {name:?} must be a text or a number, not {}", other.kind()),
            ));
            return None;
        }
    };
    if text.len() > limits::ARGUMENT_BYTES {
        findings.push(Finding::error(
            Code::Limit,
            pointer,
            format!(
                "the argument {name:?} is {} bytes long; the limit is {}",
                text.len(),
                limits::ARGUMENT_BYTES
            ),
        ));
    }
    Some(text)
}

fn check_arguments(
    tool: Tool,
    written: &HashSet<String>,
    arguments: &BTreeMap<String, String>,
    pointer: &str,
    findings: &mut Findings,
) {
    let spec = tool.spec();
    for argument in spec.arguments {
        let aliased = argument.alias.filter(|alias| written.contains(*alias));
        match (written.contains(argument.name), aliased) {
            (true, Some(alias)) => findings.push(Finding::error(
                Code::BadArgument,
                format!("{pointer}/{alias}"),
                format!("{alias:?} is another name of {:?}; keep one of them", argument.name),
            )),
            (false, None) if argument.required => findings.push(Finding::error(
                Code::MissingArgument,
                pointer,
                format!("{} needs the argument {:?}", spec.name, argument.name),
            )),
            _ => {}
        }
        for name in [Some(argument.name), argument.alias].into_iter().flatten() {
            if let Some(value) = arguments.get(name) {
                check_value(argument, name, value, &format!("{pointer}/{name}"), tool, findings);
            }
        }
    }
    let mut unknown: Vec<&String> = written
        .iter()
        .filter(|name| {
            !spec.arguments.iter().any(|a| a.name == name.as_str() || a.alias == Some(name))
        })
        .collect();
    unknown.sort();
    for name in unknown {
        findings.error(|| {
            let known = spec.arguments.iter().map(|argument| argument.name);
            let advice = suggest(name, known.clone())
                .map_or_else(String::new, |near| format!("; did you mean {near:?}?"));
            Finding::error(
                Code::BadArgument,
                format!("{pointer}/{}", escape(name)),
                format!("unknown argument {name:?} for {}{advice}", spec.name),
            )
            .allowing(known)
        });
    }
}

/// What can be said about one value without looking at any file.
fn check_value(
    argument: &ArgumentSpec,
    name: &str,
    value: &str,
    pointer: &str,
    tool: Tool,
    findings: &mut Findings,
) {
    let mut bad = |message: String| {
        findings.push(Finding::error(Code::BadArgument, pointer, message));
    };
    if value.is_empty() && !argument.may_be_empty {
        bad(format!("the argument {name:?} is empty"));
        return;
    }
    if argument.name != "contents" && value.contains('\0') {
        bad(format!("the argument {name:?} contains a NUL character"));
    }
    if argument.name != "pattern" || value.len() > limits::ARGUMENT_BYTES {
        return;
    }
    match tool {
        Tool::FileSearch => {
            if let Some(fault) = pattern::fault(value) {
                bad(format!("not a regular expression: {fault}"));
            }
        }
        Tool::FileGlob => {
            if let Err(err) = globset::Glob::new(value) {
                bad(format!("not a glob pattern: {}", err.kind()));
            }
        }
        _ => {}
    }
}
