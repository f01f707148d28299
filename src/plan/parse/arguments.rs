//! The arguments of a step: texts, checked against the tool's row of the whitelist (SPEC §1.1, §4).

use std::collections::{BTreeMap, HashSet};

use super::fields::{Fields, did_you_mean};
use super::json::Json;
use super::pattern;
use super::places::escape;
use super::reading::Reading;
use crate::plan::{ArgumentSpec, Code, Finding, Tool, limits};

/// The arguments of a step as texts, checked against the tool's row of the whitelist.
pub(super) fn arguments(fields: &mut Fields<'_>, tool: Option<Tool>) -> BTreeMap<String, String> {
    fields.require("arguments", "give an object with the arguments of the tool");
    let pointer = fields.pointer_to("arguments");
    let mut arguments = BTreeMap::new();
    let Some(members) = fields.members("arguments", Code::BadArgument) else { return arguments };
    // Includes arguments of a wrong type, which must not be reported as missing, too.
    let mut written = HashSet::new();
    for (name, value) in members {
        let pointer = format!("{pointer}/{}", escape(&name));
        written.insert(name.clone());
        if let Some(text) = argument_text(&name, value, &pointer, fields.reading) {
            arguments.insert(name, text);
        }
    }
    if let Some(tool) = tool {
        check_arguments(tool, &written, &arguments, &pointer, fields.reading);
    }
    arguments
}

/// An argument as text. Numbers keep the spelling of the file.
pub(super) fn argument_text(
    name: &str,
    value: Json,
    pointer: &str,
    reading: &Reading<'_>,
) -> Option<String> {
    let text = match value {
        Json::String(text) => text,
        Json::Number(number) if number.is_f64() => reading.number(&number, pointer),
        Json::Number(number) => number.to_string(),
        other => {
            let got = other.kind();
            let message = format!("the argument {name:?} must be a string or a number, not {got}");
            reading.error(Code::BadArgument, pointer, message);
            return None;
        }
    };
    if text.len() > limits::ARGUMENT_BYTES {
        let (length, most) = (text.len(), limits::ARGUMENT_BYTES);
        let message = format!("the argument {name:?} is {length} bytes long; the limit is {most}");
        reading.error(Code::Limit, pointer, message);
    }
    Some(text)
}

fn check_arguments(
    tool: Tool,
    written: &HashSet<String>,
    arguments: &BTreeMap<String, String>,
    pointer: &str,
    reading: &Reading<'_>,
) {
    let spec = tool.spec();
    for argument in spec.arguments {
        let name = argument.name;
        let aliased = argument.alias.filter(|alias| written.contains(*alias));
        match (written.contains(name), aliased) {
            (true, Some(alias)) => reading.error(
                Code::BadArgument,
                format!("{pointer}/{alias}"),
                format!("{alias:?} is another name of {name:?}; keep one of them"),
            ),
            (false, None) if argument.required => {
                let message = format!("{} needs the argument {name:?}", spec.name);
                reading.error(Code::MissingArgument, pointer, message);
            }
            _ => {}
        }
        for name in [Some(name), argument.alias].into_iter().flatten() {
            let value = arguments.get(name);
            for fault in value.into_iter().flat_map(|it| faults(argument, name, it, tool)).flatten()
            {
                reading.error(Code::BadArgument, format!("{pointer}/{name}"), fault);
            }
        }
    }
    let is_known =
        |name: &&String| spec.arguments.iter().any(|a| a.name == *name || a.alias == Some(name));
    let mut unknown: Vec<&String> = written.iter().filter(|name| !is_known(name)).collect();
    unknown.sort();
    for name in unknown {
        reading.error_with(|| {
            let known = spec.arguments.iter().map(|argument| argument.name);
            let advice = did_you_mean(name, known.clone());
            let message = format!("unknown argument {name:?} for {}{advice}", spec.name);
            let pointer = format!("{pointer}/{}", escape(name));
            Finding::error(Code::BadArgument, pointer, message).allowing(known)
        });
    }
}

/// The faults of a value that can be found without reading files.
fn faults(argument: &ArgumentSpec, name: &str, value: &str, tool: Tool) -> [Option<String>; 2] {
    if value.is_empty() && !argument.may_be_empty {
        return [Some(format!("the argument {name:?} is empty")), None];
    }
    let has_nul = argument.name != "contents" && value.contains('\0');
    let nul = has_nul.then(|| format!("the argument {name:?} contains a NUL character"));
    let is_pattern = argument.name == "pattern" && value.len() <= limits::ARGUMENT_BYTES;
    let pattern = match tool {
        Tool::FileSearch if is_pattern => {
            pattern::fault(value).map(|fault| format!("not a regular expression: {fault}"))
        }
        Tool::FileGlob if is_pattern => {
            let error = globset::Glob::new(value).err();
            error.map(|error| format!("not a glob pattern: {}", error.kind()))
        }
        _ => None,
    };
    [nul, pattern]
}
