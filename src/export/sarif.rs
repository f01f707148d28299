//! SARIF 2.1.0: one SARIF run for each tool, with its executions as invocations and their diagnostics as results. Each
//! result names the invocation that it comes from.
//!
//! The two lists are written one after the other, so the steps of each tool are read twice; they are never in memory.

use std::io::Write;

use serde_json::{Map, Value, json};

use super::Result;
use super::excerpt::diagnostics;
use super::time::rfc3339;
use super::walk::{Item, Walk};
use crate::plan::write_visible_json;
use crate::run::{DiagnosticArtifact, ExecutionDetail, Known, Level, Outcome};

/// # Errors
/// As for [`export`](super::export).
pub(super) fn write(walk: &mut Walk<'_>, out: &mut dyn Write) -> Result<()> {
    out.write_all(b"{\"version\":\"2.1.0\",\"runs\":[")?;
    let mut exported = super::Exported::default();
    for (index, tool) in walk.tools()?.into_iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        let driver = json!({ "name": tool, "organization": "Countersign" });
        write!(out, "{comma}\n{{\"tool\":{{\"driver\":")?;
        write_visible_json(out, &driver)?;
        out.write_all(b"},\"invocations\":[")?;
        let mut list = List { out: &mut *out, is_begun: false };
        walk.each_of_tool(&tool, |_, item| match item {
            Item::Step(step) => list.push(&invocation(step)),
            Item::Run(..) | Item::End(_) => Ok(()),
        })?;
        exported.runs = walk.exported.runs;
        exported.executions += walk.exported.executions;
        exported.changed += walk.exported.changed;
        out.write_all(b"],\n\"results\":[")?;
        let mut list = List { out: &mut *out, is_begun: false };
        let mut number = 0;
        walk.each_of_tool(&tool, |reader, item| {
            if let Item::Step(step) = item {
                for diagnostic in diagnostics(reader, step)? {
                    list.push(&result(&diagnostic, step, number))?;
                }
                number += 1;
            }
            Ok(())
        })?;
        // Columns are counted in characters.
        out.write_all(b"],\n\"columnKind\":\"unicodeCodePoints\"}")?;
    }
    walk.exported = exported;
    out.write_all(b"]}\n")?;
    Ok(())
}

/// A JSON list that is written one element at a time.
struct List<'o> {
    out: &'o mut dyn Write,
    is_begun: bool,
}

impl List<'_> {
    fn push(&mut self, value: &Value) -> Result<()> {
        self.out.write_all(if self.is_begun { b",\n" } else { b"\n" })?;
        self.is_begun = true;
        write_visible_json(self.out, value)?;
        Ok(())
    }
}

fn invocation(step: &ExecutionDetail) -> Value {
    let row = &step.row;
    let ended = row.timestamp_ms.saturating_add(row.duration_ms.unwrap_or_default());
    let is_successful = row.known == Known::Outcome(Outcome::Succeeded);
    let mut invocation = json!({
        "executionSuccessful": is_successful,
        "startTimeUtc": rfc3339(row.timestamp_ms),
        "endTimeUtc": rfc3339(ended),
        "workingDirectory": { "uri": format!("file://{}/", encoded(step.run.workspace.trim_end_matches('/'))) },
        "properties": {
            "execution_id": row.execution_id,
            "run_id": row.run_id,
            "plan_id": row.plan_id,
            "plan_digest": step.run.plan_digest,
            "step_id": row.step_id,
            "about": row.about,
            "outcome": row.known,
            "ledger_seq": step.ledger_seq,
            "ledger_digest": step.ledger_digest,
            "changed": step.changed,
        },
    });
    let mut insert = |name: &str, value: Value| {
        if let Some(fields) = invocation.as_object_mut() {
            fields.insert(name.to_owned(), value);
        }
    };
    if let Some(command) = step.arguments.get("command") {
        insert("commandLine", command.as_str().into());
    }
    if let Some(code) = row.exit_code {
        insert("exitCode", code.into());
    }
    if let Some(message) = &row.error_message {
        let id = row.error_code.map_or(row.known.as_str(), |code| code.as_str());
        let notification = json!({
            "level": "error",
            "message": { "text": message },
            "descriptor": { "id": id },
        });
        insert("toolExecutionNotifications", json!([notification]));
    }
    invocation
}

fn result(diagnostic: &DiagnosticArtifact, step: &ExecutionDetail, invocation: u64) -> Value {
    let level = match diagnostic.level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Info => "note",
    };
    let mut result = Map::new();
    let mut insert = |name: &str, value: Value| result.insert(name.to_owned(), value);
    insert("level", level.into());
    insert("message", json!({ "text": diagnostic.message }));
    if let Some(code) = &diagnostic.code {
        insert("ruleId", code.as_str().into());
    }
    if !diagnostic.file_name.is_empty() {
        let mut place = json!({ "artifactLocation": { "uri": encoded(&diagnostic.file_name) } });
        if let (Some(region), Some(fields)) = (region(diagnostic), place.as_object_mut()) {
            fields.insert("region".to_owned(), region);
        }
        insert("locations", json!([{ "physicalLocation": place }]));
    }
    insert("provenance", json!({ "invocationIndex": invocation }));
    insert("properties", json!({ "execution_id": step.row.execution_id }));
    Value::Object(result)
}

/// The place in the file; `None` if the diagnostic has no line.
fn region(diagnostic: &DiagnosticArtifact) -> Option<Value> {
    if diagnostic.line_start < 1 {
        return None;
    }
    let numbers = [
        ("startLine", Some(diagnostic.line_start)),
        ("startColumn", diagnostic.column_start),
        ("endLine", diagnostic.line_end),
        ("endColumn", diagnostic.column_end),
    ];
    let numbers = numbers.into_iter().filter_map(|(name, number)| {
        Some((name.to_owned(), Value::from(number.filter(|number| *number >= 1)?)))
    });
    Some(Value::Object(numbers.collect()))
}

/// A path in a URI: everything but letters, digits and `-._~/` is encoded.
fn encoded(path: &str) -> String {
    let mut uri = String::new();
    for byte in path.replace('\\', "/").bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri
}
