//! The requests of actions (SPEC §9). Each kind of action has its own fields.

use std::collections::BTreeMap;

use super::arguments::argument_text;
use super::context::ParseContext;
use super::fields::Fields;
use super::json::Json;
use super::positions::escape;
use super::steps;
use crate::plan::{
    Build, Code, Digest, Edit, Finding, HistoryOperation, InspectQuery, MutateBatch, OptLevel,
    Simulation, Tool, ToolCall, VerifyScope, limits,
};

/// The fields of a request as texts, for display and evidence. Values other than texts are written as JSON.
pub(super) fn arguments(request: &Json) -> BTreeMap<String, String> {
    let Json::Object(members) = request else { return BTreeMap::new() };
    let text = |json: &Json| match json {
        Json::String(text) => text.clone(),
        other => other.to_value().to_string(),
    };
    members.iter().map(|(name, json)| (name.clone(), text(json))).collect()
}

/// The typed call. For a faulty request it may be `None` or a call with default values, so the caller must drop it if
/// an error was added.
pub(super) fn read(tool: Tool, mut fields: Fields<'_>) -> Option<ToolCall> {
    let request = &mut fields;
    let call = match tool {
        Tool::MutateBatch => Some(ToolCall::MutateBatch(MutateBatch {
            edits: edits(request),
            expected_hashes: expected_hashes(request),
            dry_run: request.flag("dry_run"),
        })),
        Tool::Verify => {
            let scope = request.word("scope", VerifyScope::WORDS).unwrap_or_default();
            Some(ToolCall::Verify { scope })
        }
        Tool::Compile => Some(ToolCall::Compile { build: build(request) }),
        Tool::Run => Some(ToolCall::Run { build: build(request), args: texts(request, "args") }),
        Tool::Simulate => simulation(request).map(ToolCall::Simulate),
        Tool::Inspect => Some(ToolCall::Inspect {
            query: query(request),
            max_results: result_limit(request, "max_results"),
        }),
        Tool::History => history(request),
        _ => None,
    };
    fields.finish();
    call
}

/// The default for the maximum number of results.
const DEFAULT_RESULTS: usize = 50;

fn result_limit(fields: &mut Fields<'_>, name: &'static str) -> usize {
    let count = fields.whole_number(name, 1..=limits::RESULTS as u64);
    count.and_then(|count| usize::try_from(count).ok()).unwrap_or(DEFAULT_RESULTS)
}

fn edits(fields: &mut Fields<'_>) -> Vec<Edit> {
    fields.require("edits", "a batch has at least one edit");
    items(fields, "edits", "edit", edit).unwrap_or_default()
}

/// The items of a list of edits or steps, each converted by `read`.
fn items<T>(
    fields: &mut Fields<'_>,
    name: &'static str,
    what: &str,
    read: impl Fn(Json, &str, &ParseContext<'_>) -> Option<T>,
) -> Option<Vec<T>> {
    let items = fields.array(name)?;
    check_count(fields, items.len(), limits::EDITS, name, what);
    let pointer = fields.pointer_to(name);
    let item = |(index, item)| read(item, &format!("{pointer}/{index}"), fields.context);
    Some(items.into_iter().take(limits::EDITS).enumerate().filter_map(item).collect())
}

/// Reports a list that is empty or too long.
fn check_count(fields: &Fields<'_>, count: usize, limit: usize, name: &str, what: &str) {
    if count == 0 {
        let message = format!("the list is empty; give at least one {what}");
        fields.error(Code::Missing, name, message);
    } else if count > limit {
        let message = format!("there are {count} {what}s; the limit is {limit}");
        fields.error(Code::Limit, name, message);
    }
}

fn edit(item: Json, pointer: &str, context: &ParseContext<'_>) -> Option<Edit> {
    let mut fields = Fields::of(item, pointer, "an edit", context)?;
    let op = fields.non_blank("op")?;
    let path = path(&mut fields, "path");
    let edit = match op.as_str() {
        "write" => Edit::Write { path, contents: content(&mut fields, "contents") },
        "create" => Edit::Create { path, contents: content(&mut fields, "contents") },
        "delete" => Edit::Delete { path },
        "rename" => Edit::Rename { path, to: self::path(&mut fields, "to") },
        "replace" => {
            Edit::Replace { path, old: fields.non_empty("old"), new: content(&mut fields, "new") }
        }
        "patch" => Edit::Patch { path, diff: fields.non_blank("diff").unwrap_or_default() },
        "splice" => Edit::Splice {
            path,
            symbol: fields.non_blank("symbol").unwrap_or_default(),
            contents: content(&mut fields, "contents"),
            kind: fields.text("kind"),
        },
        other => {
            let message = format!("there is no edit {other:?}");
            let finding = Finding::error(Code::BadValue, fields.pointer_to("op"), message);
            context.push(finding.allowing(Edit::OPS));
            return None;
        }
    };
    fields.finish();
    Some(edit)
}

fn path(fields: &mut Fields<'_>, name: &'static str) -> String {
    let path = fields.non_blank(name).unwrap_or_default();
    if path.contains('\0') {
        fields.error(Code::BadValue, name, format!("{name:?} contains a NUL character"));
    }
    path
}

/// A required text that may be empty.
fn content(fields: &mut Fields<'_>, name: &'static str) -> String {
    fields.require(name, "write it as a string, which may be empty");
    fields.text(name).unwrap_or_default()
}

fn expected_hashes(fields: &mut Fields<'_>) -> BTreeMap<String, Digest> {
    let mut hashes = BTreeMap::new();
    let Some(members) = fields.members("expected_hashes", Code::BadValue) else { return hashes };
    let pointer = fields.pointer_to("expected_hashes");
    for (path, json) in members {
        let digest = match &json {
            Json::String(text) => text.parse::<Digest>().ok(),
            _ => None,
        };
        if let Some(digest) = digest {
            hashes.insert(path, digest);
        } else {
            let message =
                format!("the hash of {path:?} must be 64 hex digits, with or without \"sha256:\"");
            let pointer = format!("{pointer}/{}", escape(&path));
            fields.context.error_with(|| Finding::error(Code::BadValue, pointer, message));
        }
    }
    hashes
}

fn build(fields: &mut Fields<'_>) -> Build {
    Build {
        opt_level: fields.word("opt_level", OptLevel::WORDS).unwrap_or_default(),
        entry_function: name(fields, "entry_function"),
        target_triple: name(fields, "target_triple"),
        debug_symbols: fields.flag("debug_symbols"),
    }
}

/// An optional name that becomes an argument of another program. An empty name, one that could be an option, and other
/// characters than those of such names are reported.
fn name(fields: &mut Fields<'_>, name: &'static str) -> Option<String> {
    let text = fields.text(name)?;
    let fits = |c: char| c.is_ascii_alphanumeric() || "_-.:".contains(c);
    if text.is_empty() || text.starts_with('-') || !text.chars().all(fits) {
        let message = format!(
            "{name:?} is a name: letters, digits, \"_\", \"-\", \".\" and \":\", no \"-\" first"
        );
        fields.error(Code::BadValue, name, message);
    }
    Some(text)
}

/// The items of an optional array: texts, or numbers with the spelling of the file.
fn texts(fields: &mut Fields<'_>, name: &'static str) -> Vec<String> {
    let pointer = fields.pointer_to(name);
    let items = fields.array(name).unwrap_or_default();
    let mut texts = Vec::with_capacity(items.len());
    for (index, item) in items.into_iter().enumerate() {
        let pointer = format!("{pointer}/{index}");
        if let Some(text) = argument_text(name, item, &pointer, fields.context) {
            if text.contains('\0') {
                let message = format!("an item of {name:?} contains a NUL character");
                fields.context.error(Code::BadValue, pointer, message);
            }
            texts.push(text);
        }
    }
    texts
}

fn simulation(fields: &mut Fields<'_>) -> Option<Simulation> {
    let forms = ["edits", "steps", "function"];
    let given: Vec<&str> = forms.into_iter().filter(|name| fields.has(name)).collect();
    let (code, message) = match given.as_slice() {
        ["function"] => return function(fields),
        ["edits"] => {
            let verify = verify(fields);
            return Some(Simulation::Edits { edits: edits(fields), verify });
        }
        ["steps"] => {
            let verify = verify(fields);
            let steps = items(fields, "steps", "step", steps::call)?;
            return Some(Simulation::Steps { steps, verify });
        }
        [] => (Code::Missing, "give \"edits\", \"steps\" or a \"function\"".to_owned()),
        given => (Code::BadValue, format!("give one of {}, not several", given.join(", "))),
    };
    fields.context.push(Finding::error(code, fields.pointer(), message).allowing(forms));
    fields.take_all(&["edits", "steps", "verify", "function", "inputs", "trace_enabled"]);
    None
}

/// The verification of a simulation: a scope, or `true` for the local one.
fn verify(fields: &mut Fields<'_>) -> Option<VerifyScope> {
    if fields.has_value("verify", |json| matches!(json, Json::String(_))) {
        return fields.word("verify", VerifyScope::WORDS);
    }
    fields.flag("verify").then_some(VerifyScope::Local)
}

fn function(fields: &mut Fields<'_>) -> Option<Simulation> {
    if fields.has_value("function", |json| matches!(json, Json::Number(_))) {
        let message = "name the function; node ids of a code graph are not accepted";
        fields.error(Code::UnknownTool, "function", message);
        fields.take_all(&["function", "inputs", "trace_enabled"]);
        return None;
    }
    let function = name(fields, "function");
    fields.require("inputs", "a function is run with 1 to 32 inputs");
    let has_inputs = fields.has_value("inputs", |json| matches!(json, Json::Array(_)));
    let inputs = texts(fields, "inputs");
    if has_inputs {
        check_count(fields, inputs.len(), limits::INPUTS, "inputs", "input");
    }
    let trace_enabled = fields.flag("trace_enabled");
    Some(Simulation::Function { function: function?, inputs, trace_enabled })
}

fn query(fields: &mut Fields<'_>) -> InspectQuery {
    let Some(text) = fields.text("query") else { return InspectQuery::Overview };
    InspectQuery::parse(&text).unwrap_or_else(|| {
        let message = format!("unknown query {text:?}");
        let finding = Finding::error(Code::BadValue, fields.pointer_to("query"), message);
        fields.context.push(finding.allowing(InspectQuery::FORMS));
        InspectQuery::Overview
    })
}

fn history(fields: &mut Fields<'_>) -> Option<ToolCall> {
    type Read = fn(&mut Fields<'_>) -> Option<HistoryOperation>;
    const WORDS: [(&str, Read); 6] = [
        ("list_entries", |_| Some(HistoryOperation::ListEntries)),
        ("list_checkpoints", |_| Some(HistoryOperation::ListCheckpoints)),
        ("undo", |fields| {
            Some(HistoryOperation::Undo { checkpoint: checkpoint(fields, "checkpoint") })
        }),
        ("redo", |_| Some(HistoryOperation::Redo)),
        ("restore_checkpoint", |fields| {
            let checkpoint = required_checkpoint(fields, "checkpoint")?;
            Some(HistoryOperation::RestoreCheckpoint { checkpoint })
        }),
        ("diff", |fields| {
            let from = required_checkpoint(fields, "from_checkpoint");
            let to = checkpoint(fields, "to_checkpoint");
            Some(HistoryOperation::Diff { from: from?, to })
        }),
    ];
    fields.require("operation", "name the operation");
    let operation = fields.word("operation", &WORDS).and_then(|read| read(fields));
    let limit = result_limit(fields, "limit");
    operation.map(|operation| ToolCall::History { operation, limit })
}

fn required_checkpoint(fields: &mut Fields<'_>, name: &'static str) -> Option<String> {
    fields.require(name, "name a checkpoint");
    checkpoint(fields, name)
}

fn checkpoint(fields: &mut Fields<'_>, name: &'static str) -> Option<String> {
    let text = fields.text(name)?;
    if !is_checkpoint(&text) {
        let message = format!(
            "{text:?} is no checkpoint; one is \"run:ID\", \"execution:ID\", \"loop:ID\" or \"loop:ID:N\""
        );
        fields.error(Code::BadValue, name, message);
    }
    Some(text)
}

fn is_checkpoint(text: &str) -> bool {
    // Only the form with hyphens, which the evidence uses for ids.
    let is_id = |id: &str| id.len() == 36 && uuid::Uuid::try_parse(id).is_ok();
    let is_attempt = |text: &str| {
        (1..=9).contains(&text.len())
            && !text.starts_with('0')
            && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    match text.split_once(':') {
        Some(("run" | "execution", id)) => is_id(id),
        Some(("loop", rest)) => match rest.split_once(':') {
            Some((id, attempt)) => is_id(id) && is_attempt(attempt),
            None => is_id(rest),
        },
        _ => false,
    }
}
