//! The requests of actions (SPEC §9): each kind has its own fields, and no others.

use std::collections::BTreeMap;

use super::arguments;
use super::fields::Fields;
use super::findings::Findings;
use super::json::Json;
use super::places::Places;
use super::steps;
use crate::plan::{
    Build, Code, Digest, Edit, Finding, HistoryOperation, InspectQuery, MutateBatch, OptLevel,
    Simulation, Tool, ToolCall, VerifyScope, limits,
};

/// The fields of a request as texts, as they are shown and recorded: what is no text, as JSON.
pub(super) fn arguments(request: &Json) -> BTreeMap<String, String> {
    let Json::Object(members) = request else { return BTreeMap::new() };
    let text = |json: &Json| match json {
        Json::String(text) => text.clone(),
        other => other.to_value().to_string(),
    };
    members.iter().map(|(name, json)| (name.clone(), text(json))).collect()
}

/// The typed call; none when something about the request is wrong, which the findings say.
pub(super) fn read(
    tool: Tool,
    mut fields: Fields,
    places: &Places<'_>,
    findings: &mut Findings,
) -> Option<ToolCall> {
    let request = &mut fields;
    let call = match tool {
        Tool::MutateBatch => Some(ToolCall::MutateBatch(MutateBatch {
            edits: edits(request, findings),
            expected_hashes: expected_hashes(request, findings),
            dry_run: request.flag("dry_run", findings).unwrap_or(false),
        })),
        Tool::Verify => Some(ToolCall::Verify {
            scope: request.word("scope", &SCOPES, findings).unwrap_or_default(),
        }),
        Tool::Compile => Some(ToolCall::Compile { build: build(request, findings) }),
        Tool::Run => Some(ToolCall::Run {
            build: build(request, findings),
            args: words(request, "args", places, findings),
        }),
        Tool::Simulate => simulation(request, places, findings).map(ToolCall::Simulate),
        Tool::Inspect => Some(ToolCall::Inspect {
            query: query(request, findings),
            max_results: count(request, "max_results", limits::RESULTS, findings),
        }),
        Tool::History => history(request, findings),
        _ => None,
    };
    fields.finish(findings);
    call
}

const SCOPES: [(&str, VerifyScope); 2] =
    [("local", VerifyScope::Local), ("full", VerifyScope::Full)];

/// How many results are given, where the request does not say.
const USUAL_RESULTS: usize = 50;

fn count(fields: &mut Fields, name: &'static str, most: usize, findings: &mut Findings) -> usize {
    let count = fields.whole_number(name, 1..=most as u64, findings);
    count.and_then(|count| usize::try_from(count).ok()).unwrap_or(USUAL_RESULTS)
}

fn edits(fields: &mut Fields, findings: &mut Findings) -> Vec<Edit> {
    let pointer = fields.pointer_to("edits");
    if !fields.has("edits") {
        fields.missing("edits", "a batch has at least one edit", findings);
    }
    let Some(items) = fields.array("edits", findings) else { return Vec::new() };
    check_count(items.len(), limits::EDITS, "edit", &pointer, findings);
    let edit = |(index, item)| edit(item, &format!("{pointer}/{index}"), findings);
    items.into_iter().take(limits::EDITS).enumerate().filter_map(edit).collect()
}

/// Says that a list is empty or too long.
fn check_count(count: usize, most: usize, what: &str, pointer: &str, findings: &mut Findings) {
    let (code, message) = match count {
        0 => (Code::Missing, format!("the list is empty; give at least one {what}")),
        count if count > most => {
            (Code::Limit, format!("there are {count} {what}s; the limit is {most}"))
        }
        _ => return,
    };
    findings.push(Finding::error(code, pointer, message));
}

fn edit(item: Json, pointer: &str, findings: &mut Findings) -> Option<Edit> {
    let mut fields = Fields::of(item, pointer, "an edit", findings)?;
    let op = fields.filled("op", findings)?;
    let path = path(&mut fields, "path", findings);
    let edit = match op.as_str() {
        "write" => Edit::Write { path, contents: content(&mut fields, "contents", findings) },
        "create" => Edit::Create { path, contents: content(&mut fields, "contents", findings) },
        "delete" => Edit::Delete { path },
        "rename" => Edit::Rename { path, to: self::path(&mut fields, "to", findings) },
        "replace" => Edit::Replace {
            path,
            old: fields.filled_exactly("old", findings),
            new: content(&mut fields, "new", findings),
        },
        "patch" => Edit::Patch { path, diff: fields.filled("diff", findings).unwrap_or_default() },
        "splice" => Edit::Splice {
            path,
            symbol: fields.filled("symbol", findings).unwrap_or_default(),
            contents: content(&mut fields, "contents", findings),
            kind: fields.text("kind", findings),
        },
        other => {
            let message = format!("there is no edit {other:?}");
            let pointer = fields.pointer_to("op");
            findings.push(Finding::error(Code::BadValue, pointer, message).allowing(Edit::OPS));
            return None;
        }
    };
    fields.finish(findings);
    Some(edit)
}

fn path(fields: &mut Fields, name: &'static str, findings: &mut Findings) -> String {
    let path = fields.filled(name, findings).unwrap_or_default();
    if path.contains('\0') {
        let message = format!("{name:?} contains a NUL character");
        findings.push(Finding::error(Code::BadValue, fields.pointer_to(name), message));
    }
    path
}

/// A required text that may be empty.
fn content(fields: &mut Fields, name: &'static str, findings: &mut Findings) -> String {
    if !fields.has(name) {
        fields.missing(name, "write it as a text, which may be empty", findings);
    }
    fields.text(name, findings).unwrap_or_default()
}

fn expected_hashes(fields: &mut Fields, findings: &mut Findings) -> BTreeMap<String, Digest> {
    let pointer = fields.pointer_to("expected_hashes");
    let mut hashes = BTreeMap::new();
    match fields.take("expected_hashes") {
        None => {}
        Some(Json::Object(members)) => {
            for (path, json) in members {
                let digest = match &json {
                    Json::String(text) => text.parse::<Digest>().ok(),
                    _ => None,
                };
                if let Some(digest) = digest {
                    hashes.insert(path, digest);
                } else {
                    let message = format!(
                        "the hash of {path:?} must be 64 hex digits, with or without \"sha256:\""
                    );
                    let at = format!("{pointer}/{}", super::places::escape(&path));
                    findings.error(|| Finding::error(Code::BadValue, at, message));
                }
            }
        }
        Some(other) => {
            let message = format!("\"expected_hashes\" must be an object, not {}", other.kind());
            findings.push(Finding::error(Code::BadValue, pointer, message));
        }
    }
    hashes
}

fn build(fields: &mut Fields, findings: &mut Findings) -> Build {
    const LEVELS: [(&str, OptLevel); 4] =
        [("O0", OptLevel::O0), ("O1", OptLevel::O1), ("O2", OptLevel::O2), ("O3", OptLevel::O3)];
    Build {
        opt_level: fields.word("opt_level", &LEVELS, findings).unwrap_or_default(),
        entry_function: name(fields, "entry_function", findings),
        target_triple: name(fields, "target_triple", findings),
        debug_symbols: fields.flag("debug_symbols", findings).unwrap_or(false),
    }
}

/// An optional name that another program takes as an argument: never blank, and never read as an option.
fn name(fields: &mut Fields, name: &'static str, findings: &mut Findings) -> Option<String> {
    let text = fields.text(name, findings)?;
    check_name(&text, &fields.pointer_to(name), name, findings);
    Some(text)
}

fn check_name(text: &str, pointer: &str, name: &str, findings: &mut Findings) {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_-.:".contains(c);
    if text.is_empty() || text.starts_with('-') || !text.chars().all(fits) {
        let message = format!(
            "{name:?} is a name: letters, digits, \"_\", \"-\", \".\" and \":\", no \"-\" first"
        );
        findings.push(Finding::error(Code::BadValue, pointer, message));
    }
}

/// The items of an optional array: texts, or numbers as the file writes them.
fn words(
    fields: &mut Fields,
    name: &'static str,
    places: &Places<'_>,
    findings: &mut Findings,
) -> Vec<String> {
    let pointer = fields.pointer_to(name);
    let items = fields.array(name, findings).unwrap_or_default();
    let mut words = Vec::with_capacity(items.len());
    for (index, item) in items.into_iter().enumerate() {
        let pointer = format!("{pointer}/{index}");
        if let Some(text) = arguments::argument_text(name, item, &pointer, places, findings) {
            if text.contains('\0') {
                let message = format!("an item of {name:?} contains a NUL character");
                findings.push(Finding::error(Code::BadValue, pointer, message));
            }
            words.push(text);
        }
    }
    words
}

fn simulation(
    fields: &mut Fields,
    places: &Places<'_>,
    findings: &mut Findings,
) -> Option<Simulation> {
    let forms = ["edits", "steps", "function"];
    let given: Vec<&str> = forms.into_iter().filter(|name| fields.has(name)).collect();
    let form = match given.as_slice() {
        [form] => *form,
        given => {
            let (code, message) = match given {
                [] => (Code::Missing, "give \"edits\", \"steps\" or a \"function\"".to_owned()),
                given => (Code::BadValue, format!("give one of {}, not several", given.join(", "))),
            };
            findings.push(Finding::error(code, fields.pointer(), message).allowing(forms));
            fields.take_all(&["edits", "steps", "verify", "function", "inputs", "trace_enabled"]);
            return None;
        }
    };
    if form == "function" {
        return function(fields, places, findings);
    }
    let verify = verify(fields, findings);
    if form == "edits" {
        return Some(Simulation::Edits { edits: edits(fields, findings), verify });
    }
    let pointer = fields.pointer_to("steps");
    let items = fields.array("steps", findings)?;
    check_count(items.len(), limits::EDITS, "step", &pointer, findings);
    let step = |(index, item)| steps::call(item, &format!("{pointer}/{index}"), places, findings);
    let steps = items.into_iter().take(limits::EDITS).enumerate().filter_map(step).collect();
    Some(Simulation::Steps { steps, verify })
}

/// Whether the outcome is verified: `true`, `false`, or how much.
fn verify(fields: &mut Fields, findings: &mut Findings) -> Option<VerifyScope> {
    if !fields.is_text("verify") {
        return fields
            .flag("verify", findings)
            .filter(|verify| *verify)
            .map(|_| VerifyScope::Local);
    }
    fields.word("verify", &SCOPES, findings)
}

fn function(
    fields: &mut Fields,
    places: &Places<'_>,
    findings: &mut Findings,
) -> Option<Simulation> {
    let pointer = fields.pointer_to("inputs");
    if fields.is_number("function") {
        let message = "a function is named; the number of a node in a graph means nothing here";
        findings.push(Finding::error(Code::UnknownTool, fields.pointer_to("function"), message));
        fields.take_all(&["function", "inputs", "trace_enabled"]);
        return None;
    }
    let function = name(fields, "function", findings);
    if !fields.has("inputs") {
        fields.missing("inputs", "a function is run with 1 to 32 inputs", findings);
    }
    let has_inputs = fields.is_array("inputs");
    let inputs = words(fields, "inputs", places, findings);
    if has_inputs {
        check_count(inputs.len(), limits::INPUTS, "input", &pointer, findings);
    }
    let trace_enabled = fields.flag("trace_enabled", findings).unwrap_or(false);
    Some(Simulation::Function { function: function?, inputs, trace_enabled })
}

fn query(fields: &mut Fields, findings: &mut Findings) -> InspectQuery {
    let Some(text) = fields.text("query", findings) else { return InspectQuery::Overview };
    let found = match text.split_once(':') {
        None if text == "overview" => Some(InspectQuery::Overview),
        None if text == "semantic" => Some(InspectQuery::Semantic),
        Some(("search", text)) if !text.is_empty() => Some(InspectQuery::Search(text.to_owned())),
        Some(("symbol", name)) if !name.trim().is_empty() => {
            Some(InspectQuery::Symbol(name.trim().to_owned()))
        }
        _ => None,
    };
    found.unwrap_or_else(|| {
        let message = format!("unknown query {text:?}");
        findings.push(
            Finding::error(Code::BadValue, fields.pointer_to("query"), message).allowing([
                "overview",
                "search:TEXT",
                "symbol:NAME",
                "semantic",
            ]),
        );
        InspectQuery::Overview
    })
}

fn history(fields: &mut Fields, findings: &mut Findings) -> Option<ToolCall> {
    /// What an operation is, before its checkpoints are known.
    #[derive(Clone, Copy)]
    enum Kind {
        ListEntries,
        ListCheckpoints,
        Undo,
        Redo,
        Restore,
        Diff,
    }
    const WORDS: [(&str, Kind); 6] = [
        ("list_entries", Kind::ListEntries),
        ("list_checkpoints", Kind::ListCheckpoints),
        ("undo", Kind::Undo),
        ("redo", Kind::Redo),
        ("restore_checkpoint", Kind::Restore),
        ("diff", Kind::Diff),
    ];
    if !fields.has("operation") {
        fields.missing("operation", "name what is to be done", findings);
    }
    let kind = fields.word("operation", &WORDS, findings);
    let operation = match kind {
        None => None,
        Some(Kind::ListEntries) => Some(HistoryOperation::ListEntries),
        Some(Kind::ListCheckpoints) => Some(HistoryOperation::ListCheckpoints),
        Some(Kind::Redo) => Some(HistoryOperation::Redo),
        Some(Kind::Undo) => {
            Some(HistoryOperation::Undo { checkpoint: checkpoint(fields, "checkpoint", findings) })
        }
        Some(Kind::Restore) => required_checkpoint(fields, "checkpoint", findings)
            .map(|checkpoint| HistoryOperation::RestoreCheckpoint { checkpoint }),
        Some(Kind::Diff) => {
            let from = required_checkpoint(fields, "from_checkpoint", findings);
            let to = checkpoint(fields, "to_checkpoint", findings);
            from.map(|from| HistoryOperation::Diff { from, to })
        }
    };
    let limit = count(fields, "limit", limits::RESULTS, findings);
    operation.map(|operation| ToolCall::History { operation, limit })
}

fn required_checkpoint(
    fields: &mut Fields,
    name: &'static str,
    findings: &mut Findings,
) -> Option<String> {
    if !fields.has(name) {
        fields.missing(name, "name a checkpoint", findings);
    }
    checkpoint(fields, name, findings)
}

fn checkpoint(fields: &mut Fields, name: &'static str, findings: &mut Findings) -> Option<String> {
    let text = fields.text(name, findings)?;
    if !is_checkpoint(&text) {
        let message = format!(
            "{text:?} is no checkpoint; one is \"run:ID\", \"execution:ID\" or \"loop:ID:N\""
        );
        findings.push(Finding::error(Code::BadValue, fields.pointer_to(name), message));
    }
    Some(text)
}

fn is_checkpoint(text: &str) -> bool {
    // The form with hyphens alone, which is how evidence writes ids.
    let is_id = |id: &str| id.len() == 36 && uuid::Uuid::try_parse(id).is_ok();
    let is_attempt = |text: &str| {
        (1..=9).contains(&text.len())
            && !text.starts_with('0')
            && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    match text.split_once(':') {
        Some(("run" | "execution", id)) => is_id(id),
        Some(("loop", rest)) => {
            rest.split_once(':').is_some_and(|(id, attempt)| is_id(id) && is_attempt(attempt))
        }
        _ => false,
    }
}
