//! Comma-separated values by RFC 4180: lines end with CR LF, and every text is in quotes.
//!
//! A spreadsheet takes a cell that begins with `=`, `+`, `-`, `@`, a tab or a carriage return for a formula. Texts of
//! plans and programs must not become formulas, so such a text gets an apostrophe in front. Numbers, which this program
//! writes itself, do not.

use std::io::Write;

use super::Result;
use super::time::rfc3339;
use super::walk::{Item, Walk};
use crate::run::ExecutionDetail;

/// The names of the columns.
const HEADER: [&str; 22] = [
    "execution_id",
    "run_id",
    "plan_id",
    "plan_name",
    "step_id",
    "step_index",
    "tool_name",
    "about",
    "started_at",
    "timestamp_ms",
    "duration_ms",
    "outcome",
    "risk",
    "exit_code",
    "error_code",
    "error_message",
    "workspace",
    "target",
    "arguments",
    "decisions",
    "ledger_seq",
    "changed",
];

/// # Errors
/// As for [`export`](super::export).
pub(super) fn write(walk: &mut Walk<'_>, out: &mut dyn Write) -> Result<()> {
    out.write_all(record(&HEADER.map(Cell::from)).as_bytes())?;
    walk.each(|_, item| {
        if let Item::Step(step) = item {
            out.write_all(record(&cells(step)).as_bytes())?;
        }
        Ok(())
    })
}

enum Cell {
    Text(String),
    Number(Option<i64>),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}
impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}
impl From<i64> for Cell {
    fn from(number: i64) -> Self {
        Self::Number(Some(number))
    }
}
impl From<Option<i64>> for Cell {
    fn from(number: Option<i64>) -> Self {
        Self::Number(number)
    }
}

fn cells(step: &ExecutionDetail) -> [Cell; HEADER.len()] {
    let (row, run) = (&step.row, &step.run);
    let decisions: Vec<_> = step
        .decisions
        .iter()
        .map(|it| {
            let note = if it.note.is_empty() { String::new() } else { format!(": {}", it.note) };
            format!("{} {} by {}{note}", rfc3339(it.timestamp_ms), it.decision, it.by)
        })
        .collect();
    [
        row.execution_id.to_string().into(),
        row.run_id.to_string().into(),
        row.plan_id.as_str().into(),
        run.plan_name.as_str().into(),
        row.step_id.as_str().into(),
        i64::try_from(row.step_index).ok().into(),
        row.tool_name.as_str().into(),
        row.about.as_str().into(),
        rfc3339(row.timestamp_ms).into(),
        row.timestamp_ms.into(),
        row.duration_ms.into(),
        row.known.as_str().into(),
        row.risk.map_or("", |risk| risk.as_str()).into(),
        row.exit_code.map(i64::from).into(),
        row.error_code.map(|code| code.as_str()).unwrap_or_default().into(),
        row.error_message.as_deref().unwrap_or_default().into(),
        run.workspace.as_str().into(),
        run.target.as_deref().unwrap_or_default().into(),
        serde_json::to_string(&step.arguments).unwrap_or_default().into(),
        decisions.join("\n").into(),
        step.ledger_seq.into(),
        (if step.changed.is_empty() { "no" } else { "yes" }).into(),
    ]
}

fn record(cells: &[Cell]) -> String {
    let cells: Vec<_> = cells.iter().map(cell).collect();
    format!("{}\r\n", cells.join(","))
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Number(number) => number.map(|number| number.to_string()).unwrap_or_default(),
        Cell::Text(text) => {
            let guard = if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { "'" } else { "" };
            format!("\"{guard}{}\"", text.replace('"', "\"\""))
        }
    }
}
