//! Where calls stand in what the interfaces send.

use serde_json::Value;

use super::super::json::At;
use crate::plan::{Code, Finding, has_duplicate_keys};

/// One call.
pub(super) struct Call<'v> {
    /// Where it stands in the file.
    pub(super) at: At<'v>,
    pub(super) name: &'v str,
    /// Its arguments.
    pub(super) input: At<'v>,
}

/// Whether a text has a call.
pub(in crate::openers) fn are_in(text: &str) -> bool {
    let Ok(value) = serde_json::from_str::<Value>(text) else { return false };
    let mut found = Vec::new();
    collect(&At::root(&value), &mut found).is_err() || !found.is_empty()
}

/// The calls of a text, in their order. Arguments that are JSON in a text are put into `parsed`, which must be empty.
///
/// # Errors
/// A call without a name, or with arguments that are no object.
pub(super) fn calls<'v>(
    root: &At<'v>,
    parsed: &'v mut Vec<(String, Value)>,
) -> Result<Vec<Call<'v>>, Finding> {
    let mut found = Vec::new();
    collect(root, &mut found)?;
    for it in &found {
        if let Arguments::Text(at) = &it.arguments {
            let text = at.value.as_str().unwrap_or_default();
            let value = serde_json::from_str::<Value>(text)
                .map_err(|error| at.error(format!("the arguments are not JSON: {error}")))?;
            if has_duplicate_keys(text) {
                let message = "the arguments have two fields of the same name";
                return Err(Finding::error(Code::DuplicateKey, at.pointer.clone(), message));
            }
            parsed.push((at.pointer.clone(), value));
        }
    }
    let parsed: &'v [(String, Value)] = parsed;
    let mut texts = parsed.iter();
    found
        .into_iter()
        .map(|it| {
            let input = match it.arguments {
                Arguments::Value(at) => at,
                Arguments::Text(at) => match texts.next() {
                    Some((pointer, value)) => At { value, pointer: pointer.clone() },
                    None => return Err(at.error("the arguments cannot be read")),
                },
            };
            Ok(Call { at: it.at, name: it.name, input })
        })
        .collect()
}

enum Arguments<'v> {
    Value(At<'v>),
    /// JSON in a text.
    Text(At<'v>),
}

struct Raw<'v> {
    at: At<'v>,
    name: &'v str,
    arguments: Arguments<'v>,
}

fn collect<'v>(at: &At<'v>, found: &mut Vec<Raw<'v>>) -> Result<(), Finding> {
    if at.value.is_array() {
        return at.elements()?.iter().try_for_each(|it| collect(it, found));
    }
    if !at.value.is_object() {
        return Ok(());
    }
    let kind = at.value.get("type").and_then(Value::as_str);
    match kind {
        // Anthropic.
        Some("tool_use") => return add(at, "name", "input", found),
        // OpenAI, chat completions: the call is in a field of its own, which is read below.
        // OpenAI, responses.
        Some("function_call") => return add(at, "name", "arguments", found),
        Some("custom_tool_call") => return add(at, "name", "input", found),
        Some("local_shell_call") => {
            let action = at.get("action").ok_or_else(|| at.error("the call has no action"))?;
            let arguments = Arguments::Value(action);
            found.push(Raw { at: at.clone(), name: "local_shell_call", arguments });
            return Ok(());
        }
        Some(
            "server_tool_use" | "mcp_tool_use" | "mcp_call" | "apply_patch_call" | "shell_call"
            | "computer_call",
        ) => {
            return Err(at.error("a call of this kind cannot be a step of a plan"));
        }
        _ => {}
    }
    if let Some(function) = at.get("function") {
        return add(&function, "name", "arguments", found);
    }
    if let Some(call) = at.get("functionCall") {
        return add(&call, "name", "args", found);
    }
    // What hooks of agents get.
    if at.get("tool_name").is_some() {
        return add(at, "tool_name", "tool_input", found);
    }
    for name in
        ["candidates", "choices", "message", "output", "content", "parts", "tool_calls", "tool_use"]
    {
        if let Some(inner) = at.get(name) {
            collect(&inner, found)?;
        }
    }
    Ok(())
}

fn add<'v>(
    at: &At<'v>,
    name: &str,
    arguments: &str,
    found: &mut Vec<Raw<'v>>,
) -> Result<(), Finding> {
    let name = at.must(name)?;
    let input = at.get(arguments).ok_or_else(|| at.error("the call has no arguments"))?;
    // A tool whose input is free text gets it as it is.
    let is_free = at.value.get("type").and_then(Value::as_str) == Some("custom_tool_call");
    let arguments = match input.value {
        Value::String(_) if !is_free => Arguments::Text(input),
        _ => Arguments::Value(input),
    };
    found.push(Raw { at: at.clone(), name, arguments });
    Ok(())
}
