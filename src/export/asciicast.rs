//! asciicast v3: the output of the steps of one run, for a terminal player.
//!
//! The evidence has no times within an output, so each step is one mark when it begins, and its output when it ends. The
//! bytes are those of the program, so they move the cursor and set colours as they did. A program that had no terminal
//! ended its lines with LF alone; they get the CR that a terminal would have added.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::Result;
use super::excerpt::context;
use super::walk::{Item, Walk};
use crate::evidence::{EvidenceError, EvidenceReader};
use crate::plan::quoted;
use crate::run::{Decoder, ExecutionDetail, RunFate, RunStatus, RunSummary};

/// The size of the terminal of the player, in characters. It is not recorded.
const COLUMNS: u16 = 100;
const ROWS: u16 = 30;
/// The longest wait of the player, in seconds.
const IDLE_LIMIT: f64 = 2.0;

/// # Errors
/// As for [`export`](super::export).
pub(super) fn write(walk: &mut Walk<'_>, out: &mut dyn Write) -> Result<()> {
    let mut cast = Cast { out, now_ms: 0 };
    walk.each(|reader, item| match item {
        Item::Run(run, _) => cast.begin(run),
        Item::Step(step) => cast.step(reader, step),
        Item::End(run) => {
            let end = run.ended_at_ms.unwrap_or(cast.now_ms);
            let is_complete = run.fate == RunFate::Ended(RunStatus::Completed);
            cast.event(end, "x", if is_complete { "0" } else { "1" })
        }
    })
}

struct Cast<'o> {
    out: &'o mut dyn Write,
    /// The time of the last event, in Unix milliseconds.
    now_ms: i64,
}

impl Cast<'_> {
    fn begin(&mut self, run: &RunSummary) -> Result<()> {
        self.now_ms = run.started_at_ms;
        self.line(&json!({
            "version": 3,
            "term": { "cols": COLUMNS, "rows": ROWS },
            "timestamp": run.started_at_ms.div_euclid(1_000),
            "idle_time_limit": IDLE_LIMIT,
            "title": quoted(&run.plan_name),
        }))
    }

    fn step(&mut self, reader: &mut EvidenceReader, step: &ExecutionDetail) -> Result<()> {
        let row = &step.row;
        let name = format!("{} {}: {}", row.step_index + 1, row.tool_name, row.about);
        self.event(row.timestamp_ms, "m", &quoted(&name))?;
        let end = row.timestamp_ms.saturating_add(row.duration_ms.unwrap_or_default());
        let had_terminal = context(reader, step)?.get("terminal") == Some(&true.into());
        for output in &step.artifacts {
            if matches!(output.artifact_type.as_str(), "stdout" | "stderr") {
                let mut decoder = Decoder::default();
                let mut shown = |cast: &mut Self, part: &[u8]| {
                    let text = decoder.push(part);
                    cast.output(end, &text, had_terminal)
                };
                let Some(blob) = &output.blob else {
                    shown(self, output.content.as_str().unwrap_or_default().as_bytes())?;
                    continue;
                };
                let mut failure = None;
                let read = reader.blob_parts(blob, |part| {
                    if failure.is_none() {
                        failure = shown(self, part).err();
                    }
                    Ok(())
                });
                match (failure, read) {
                    (Some(error), _) => return Err(error),
                    (None, Ok(true)) => {}
                    (None, Ok(false)) => self.output(end, "[purged]\n", false)?,
                    (None, Err(EvidenceError::NotAvailable { .. })) => {
                        self.output(end, "[contains a secret and is encrypted]\n", false)?;
                    }
                    (None, Err(error)) => return Err(error.into()),
                }
            }
        }
        Ok(())
    }

    fn output(&mut self, at_ms: i64, text: &str, had_terminal: bool) -> Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        if had_terminal {
            return self.event(at_ms, "o", text);
        }
        let text = text.replace("\r\n", "\n").replace('\n', "\r\n");
        self.event(at_ms, "o", &text)
    }

    /// Writes an event, with the time since the last one. A clock that went back gives no negative time.
    fn event(&mut self, at_ms: i64, kind: &str, text: &str) -> Result<()> {
        let ms = at_ms.saturating_sub(self.now_ms).max(0);
        self.now_ms = self.now_ms.max(at_ms);
        self.line(&json!([ms as f64 / 1_000.0, kind, text]))
    }

    fn line(&mut self, value: &Value) -> Result<()> {
        serde_json::to_writer(&mut *self.out, value).map_err(io::Error::from)?;
        self.out.write_all(b"\n")?;
        Ok(())
    }
}
