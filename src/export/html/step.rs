//! One step of the report.

use std::io::Write;

use super::super::Result;
use super::super::excerpt::{Excerpt, context, diagnostics};
use super::super::xml::{escaped, escaped_line};
use super::changes;
use super::parts::{class_of, code, spoken, time, write_facts};
use crate::evidence::EvidenceReader;
use crate::run::{ExecutionDetail, Level};

/// The maximum number of steps of a run in which steps that changed files are open.
const SHORT_RUN: usize = 20;
/// The maximum number of characters of an argument that are shown.
const ARGUMENT: usize = 8 << 10;
/// The maximum number of diagnostics that are shown.
const DIAGNOSTICS: usize = 500;

pub(super) fn write(
    reader: &mut EvidenceReader,
    step: &ExecutionDetail,
    out: &mut dyn Write,
) -> Result<()> {
    let row = &step.row;
    let outcome = row.known.as_str();
    let class = class_of(outcome);
    let is_open = class == "bad"
        || !step.changed.is_empty()
        || (step.has_changes && step.run.step_count <= SHORT_RUN);
    let open = if is_open { " open" } else { "" };
    let took = row.duration_ms.and_then(|ms| row.known.took(ms));
    writeln!(
        out,
        "<details class=\"step {class}\" id=\"step-{}\"{open}>\n<summary><span class=\"number\">{}</span>\
         <span class=\"badge {class}\">{}</span><span class=\"what\"><b>{}</b> {}</span>\
         <span class=\"took\">{}</span></summary>\n<div class=\"body\">",
        row.execution_id,
        row.step_index + 1,
        spoken(outcome),
        escaped_line(&row.tool_name),
        code(&row.about),
        took.map(|ms| format!("{ms} ms")).unwrap_or_default()
    )?;
    for changed in &step.changed {
        let what = escaped(changed);
        writeln!(
            out,
            "<p class=\"warning\">This record was changed after it was written: {what}.</p>"
        )?;
    }
    if let Some(message) = &row.error_message {
        let code = row.error_code.map(|code| format!("{code} ")).unwrap_or_default();
        writeln!(out, "<p class=\"error\">{code}{}</p>", escaped(message))?;
    }
    let context = context(reader, step)?;
    for name in ["step_title", "reason"] {
        if let Some(text) = context.get(name).and_then(serde_json::Value::as_str) {
            writeln!(out, "<p>{}</p>", escaped(text))?;
        }
    }
    arguments(step, out)?;
    outputs(reader, step, out)?;
    changes::write(reader, step, out)?;
    findings(reader, step, out)?;
    facts(step, out)?;
    writeln!(out, "</div>\n</details>")?;
    Ok(())
}

fn facts(step: &ExecutionDetail, out: &mut dyn Write) -> Result<()> {
    let row = &step.row;
    let risk = row.risk.map(|risk| {
        let reason = step.risk_reason.as_deref().unwrap_or_default();
        let colon = if reason.is_empty() { "" } else { ": " };
        escaped_line(&format!("{}{colon}{reason}", risk.as_str()))
    });
    let link = step.ledger_seq.zip(step.ledger_digest);
    let times = step.times().into_iter().map(|(name, at)| format!("{name} {}", time(at)));
    let times: Vec<_> = times.collect();
    let facts = [
        ("Time", Some(times.join(", "))),
        ("Risk", risk),
        ("Walls", step.walls_text().map(|walls| escaped_line(&walls))),
        ("Exit code", row.exit_code.map(|code| code.to_string())),
        ("Step", Some(code(&row.step_id))),
        ("Execution", Some(code(&row.execution_id.to_string()))),
        ("Ledger", link.map(|(seq, digest)| format!("row {seq} {}", code(&digest.to_string())))),
    ];
    write_facts(&facts, out)
}

fn arguments(step: &ExecutionDetail, out: &mut dyn Write) -> Result<()> {
    for (name, value) in &step.arguments {
        let end = value.char_indices().nth(ARGUMENT).map_or(value.len(), |(index, _)| index);
        let (shown, rest) = value.split_at(end);
        if value.contains('\n') || value.len() > 80 || name == "command" {
            writeln!(out, "<h3>{}</h3>\n<pre>{}</pre>", escaped_line(name), escaped(shown))?;
        } else {
            let name = escaped_line(name);
            writeln!(out, "<p class=\"argument\"><span>{name}</span> {}</p>", code(shown))?;
        }
        if !rest.is_empty() {
            writeln!(out, "<p class=\"note\">{} more bytes are left out here.</p>", rest.len())?;
        }
    }
    Ok(())
}

fn outputs(reader: &mut EvidenceReader, step: &ExecutionDetail, out: &mut dyn Write) -> Result<()> {
    for (artifact_type, name) in [("stdout", "Output"), ("stderr", "Errors")] {
        for output in step.artifacts.iter().filter(|it| it.artifact_type == artifact_type) {
            let excerpt = Excerpt::of(reader, output)?;
            if output.bytes == 0 {
                continue;
            }
            writeln!(
                out,
                "<h3>{name} <span>{} bytes</span></h3>\n<pre>{}</pre>",
                output.bytes,
                escaped(excerpt.beginning.trim_end_matches('\n'))
            )?;
            if let Some(note) = &excerpt.note {
                writeln!(out, "<p class=\"note\">{}</p>", escaped(note))?;
            }
            if !excerpt.end.is_empty() {
                writeln!(out, "<pre>{}</pre>", escaped(excerpt.end.trim_end_matches('\n')))?;
            }
        }
    }
    Ok(())
}

fn findings(
    reader: &mut EvidenceReader,
    step: &ExecutionDetail,
    out: &mut dyn Write,
) -> Result<()> {
    let found = diagnostics(reader, step)?;
    if found.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "<h3>Diagnostics <span>{}</span></h3>\n<div class=\"wide\"><table>\n<tbody>",
        found.len()
    )?;
    for diagnostic in found.iter().take(DIAGNOSTICS) {
        let class = match diagnostic.level {
            Level::Error => "bad",
            Level::Warning => "warn",
            Level::Info => "calm",
        };
        let place = match (diagnostic.file_name.as_str(), diagnostic.line_start) {
            ("", _) => String::new(),
            (file, line) if line < 1 => code(file),
            (file, line) => code(&format!("{file}:{line}")),
        };
        writeln!(
            out,
            "<tr><td><span class=\"badge {class}\">{}</span></td><td>{}</td><td>{place}</td><td>{}</td></tr>",
            escaped_line(&diagnostic.tool_level),
            code(diagnostic.code.as_deref().unwrap_or_default()),
            escaped(&diagnostic.message)
        )?;
    }
    writeln!(out, "</tbody></table></div>")?;
    if found.len() > DIAGNOSTICS {
        let more = found.len() - DIAGNOSTICS;
        writeln!(out, "<p class=\"note\">{more} more diagnostics are left out here.</p>")?;
    }
    Ok(())
}
