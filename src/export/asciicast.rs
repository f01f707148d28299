//! asciicast v3: the output of the steps of one run, for a terminal player.
//!
//! The evidence has no times within an output, so each step is one mark when it begins, and its output when it ends. The
//! bytes are those of the program, so they move the cursor and set colours as they did. A program that had no terminal
//! ended its lines with LF alone; they get the CR that a terminal would have added.
//!
//! Each program began on a screen of its own, of the size that is recorded. So the player gets that size, a program with a
//! terminal begins on an empty screen, and any other one in a new line with no style left of the one before.

use std::io::Write;

use serde_json::{Value, json};

use super::Result;
use super::excerpt::{context, terminal_size};
use super::walk::{Item, Walk};
use crate::evidence::{EvidenceError, EvidenceReader};
use crate::plan::{quoted, write_visible_json};
use crate::run::{Decoder, ExecutionDetail, RunFate, RunStatus, RunSummary, TerminalSize};

/// The size of the player where no size is recorded.
const PLAYER: TerminalSize = TerminalSize::new(100, 30);
/// The longest wait of the player, in seconds.
const IDLE_LIMIT: f64 = 2.0;
/// Undoes what a program may have set: colours, margins, a hidden cursor.
const RESET: &str = "\u{1b}[!p";
/// Leaves the alternate screen, undoes what was set, and clears the screen.
const CLEAR: &str = "\u{1b}[?1049l\u{1b}[!p\u{1b}[2J\u{1b}[H";

/// # Errors
/// As for [`export`](super::export).
pub(super) fn write(walk: &mut Walk<'_>, out: &mut dyn Write) -> Result<()> {
    let size = walk.find(terminal_size)?.unwrap_or(PLAYER);
    let mut cast = Cast { out, now_ms: 0, size, screen: Screen::Empty, next: None };
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
    /// The size of the player.
    size: TerminalSize,
    screen: Screen,
    /// The step of which nothing was shown yet.
    next: Option<Next>,
}

/// What the player shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Screen {
    Empty,
    /// The output of programs without a terminal.
    Lines {
        /// Whether the last line has no end.
        is_open: bool,
        /// Whether the output has escape sequences.
        is_styled: bool,
    },
    /// The output of a program with a terminal.
    Terminal,
}

/// How the output of a step begins.
#[derive(Clone, Copy)]
struct Next {
    had_terminal: bool,
    size: Option<TerminalSize>,
}

impl Cast<'_> {
    fn begin(&mut self, run: &RunSummary) -> Result<()> {
        self.now_ms = run.started_at_ms;
        self.line(&json!({
            "version": 3,
            "term": { "cols": self.size.columns(), "rows": self.size.rows() },
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
        self.next = Some(Next { had_terminal, size: terminal_size(reader, step)? });
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
                    (None, Ok(true)) => self.output(end, decoder.end(), had_terminal)?,
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
        if let Some(next) = self.next.take() {
            self.make_room(at_ms, next)?;
        }
        let was_styled = matches!(self.screen, Screen::Lines { is_styled: true, .. });
        self.screen = if had_terminal {
            Screen::Terminal
        } else {
            let is_styled = was_styled || text.contains('\u{1b}');
            Screen::Lines { is_open: !text.ends_with('\n'), is_styled }
        };
        if had_terminal {
            return self.event(at_ms, "o", text);
        }
        let text = text.replace("\r\n", "\n").replace('\n', "\r\n");
        self.event(at_ms, "o", &text)
    }

    /// Prepares the screen for the output of a program, which did not see what the player shows.
    fn make_room(&mut self, at_ms: i64, next: Next) -> Result<()> {
        if let Some(size) = next.size.filter(|size| *size != self.size) {
            self.size = size;
            self.event(at_ms, "r", &format!("{}x{}", size.columns(), size.rows()))?;
        }
        let text = match self.screen {
            Screen::Empty => return Ok(()),
            Screen::Lines { is_open, is_styled } if !next.had_terminal => {
                format!(
                    "{}{}",
                    if is_styled { RESET } else { "" },
                    if is_open { "\r\n" } else { "" }
                )
            }
            Screen::Lines { .. } | Screen::Terminal => CLEAR.to_owned(),
        };
        self.screen = Screen::Empty;
        if text.is_empty() { Ok(()) } else { self.event(at_ms, "o", &text) }
    }

    /// Writes an event, with the time since the last one. A clock that went back gives no negative time.
    fn event(&mut self, at_ms: i64, kind: &str, text: &str) -> Result<()> {
        let ms = at_ms.saturating_sub(self.now_ms).max(0);
        self.now_ms = self.now_ms.max(at_ms);
        self.line(&json!([ms as f64 / 1_000.0, kind, text]))
    }

    fn line(&mut self, value: &Value) -> Result<()> {
        write_visible_json(self.out, value)?;
        self.out.write_all(b"\n")?;
        Ok(())
    }
}
