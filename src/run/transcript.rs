//! The output of a run as lines in their order of arrival (SPEC §7.2).
//!
//! Pure, and computed from the same events as [`super::RunState`]. It is separate, because the order in which the two
//! outputs alternate is known only while they arrive. Bounded: the oldest lines are dropped and
//! counted.

mod parts;

use std::collections::VecDeque;
use std::ops::Range;

use super::ansi_style::Sequence;
use super::{AnsiStyle, Outcome, RunEvent, StepResult, Stream, TerminalScreen, TerminalSize};
use crate::plan::quoted;

/// The maximum number of lines that are kept.
pub const MAX_LINES: usize = 50_000;
/// The maximum size of the kept lines, in bytes.
pub const MAX_BYTES: usize = 8 << 20;
/// The maximum size of one line in bytes. A longer line is continued in the next one, so that no row is slow to lay
/// out.
const MAX_LINE_BYTES: usize = 4 << 10;

/// The size of the terminal in which the recorded output of a step is shown again. It is larger than most, so that
/// what fitted on the screen of the run fits on this one.
const REPLAYED: TerminalSize = TerminalSize::new(240, 100);

/// The kind of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The first line of a step.
    Heading,
    /// The name of one of several hosts, whose output follows, and how the step ended there.
    Host(Outcome),
    /// A line of this output.
    Output(Stream),
    /// A remark about the lines around it.
    Remark,
}

/// One line of a [`Transcript`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptLine {
    /// The step it belongs to, from 0.
    pub step_index: usize,
    /// The kind of the line.
    pub part: Part,
    /// The text as [`quoted`], without its line break. Empty in a heading, whose text the view takes from the plan.
    pub text: String,
    /// The byte ranges of the text that do not have the default style.
    pub styles: Styles,
}

/// Byte ranges of a text with their styles.
type Styles = Vec<(Range<usize>, AnsiStyle)>;

/// The output of a run.
#[derive(Debug, Default)]
pub struct Transcript {
    lines: VecDeque<TranscriptLine>,
    /// The number of dropped lines.
    left_out: u64,
    bytes: usize,
    longest: usize,
    /// The output whose last line can be continued.
    open: Option<Stream>,
    /// The number of lines that were printed, including dropped ones.
    printed: u64,
    /// How often the text of a line was replaced.
    replaced: u64,
    /// Whether the current step has printed anything.
    has_output: bool,
    streams: [StreamState; 2],
    /// The screen of the current step, while its program runs in a terminal. Its lines are added when the step ends.
    terminal: Option<StepTerminal>,
}

/// The terminal of the current step.
#[derive(Debug)]
pub struct StepTerminal {
    /// The step, from 0.
    pub step_index: usize,
    /// What the terminal shows.
    pub screen: TerminalScreen,
}

/// The state of one output stream between two chunks.
#[derive(Debug, Clone, Default)]
struct StreamState {
    style: AnsiStyle,
    /// The beginning of an escape sequence that is not complete.
    escape: String,
    /// Whether the last character was a carriage return. Text that follows replaces the line, as progress bars do; a line
    /// feed ends it.
    returned: bool,
}

impl Transcript {
    /// Applies one event.
    pub fn apply(&mut self, event: &RunEvent) {
        match event {
            RunEvent::RunStarted { .. } => *self = Self::default(),
            RunEvent::StepStarted { step_index, .. } => {
                (self.open, self.has_output, self.streams) =
                    (None, false, <[StreamState; 2]>::default());
                self.terminal = None;
                self.push(*step_index, Part::Heading, String::new());
            }
            RunEvent::TerminalOpened { size, .. } => {
                let screen = TerminalScreen::new(*size);
                self.terminal = Some(StepTerminal { step_index: self.step(), screen });
            }
            RunEvent::StepOutput { stream, chunk, .. } => {
                self.has_output = true;
                if let Some(terminal) = &mut self.terminal {
                    return terminal.screen.feed(chunk);
                }
                self.write(self.step(), *stream, chunk);
            }
            // It would stand above the lines of the terminal, which are added when the step ends.
            RunEvent::StepQuiet { .. } if self.terminal.is_some() => {}
            RunEvent::StepQuiet { quiet_ms, .. } => {
                let seconds = quiet_ms / 1000;
                self.remark(format!(
                    "No output for {seconds} s; the step may be waiting for input."
                ));
            }
            RunEvent::OutputLeftOut { bytes, .. } => {
                if let Some(terminal) = &mut self.terminal {
                    terminal.screen.resynchronize();
                }
                self.remark(format!("{bytes} bytes are left out here; the evidence gets all."));
            }
            RunEvent::HostEnded { result } => self.add_host(result),
            RunEvent::StepCompleted { result }
            | RunEvent::StepFailed { result }
            | RunEvent::StepSkipped { result, .. } => self.end(result),
            _ => {}
        }
    }

    /// The terminal of the current step, if it has one.
    pub fn terminal(&self) -> Option<&StepTerminal> {
        self.terminal.as_ref()
    }

    /// The terminal of the current step, to resize or scroll it, or to take its answers.
    pub fn terminal_mut(&mut self) -> Option<&mut StepTerminal> {
        self.terminal.as_mut()
    }

    /// The kept lines, the oldest first.
    pub fn lines(&self) -> &VecDeque<TranscriptLine> {
        &self.lines
    }

    /// The number of dropped lines.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// The number of lines that the steps have printed.
    pub fn printed(&self) -> u64 {
        self.printed
    }

    /// The lines of a step after its heading, the latest first.
    pub fn latest_of(&self, step: usize) -> impl Iterator<Item = &TranscriptLine> {
        let lines = self.lines.iter().rev();
        lines.take_while(move |line| line.step_index == step && line.part != Part::Heading)
    }

    /// The lines of a step after its heading, the latest first, also if other steps came later.
    pub fn all_of(&self, step: usize) -> impl Iterator<Item = &TranscriptLine> {
        let lines = self.lines.iter().rev();
        lines.filter(move |line| line.step_index == step && line.part != Part::Heading)
    }

    /// The number of all lines, dropped ones included, how often the text of one was replaced, and the length of the
    /// last one. If all are unchanged, so is the transcript.
    pub fn extent(&self) -> (u64, u64, usize) {
        let last = self.lines.back().map_or(0, |line| line.text.len());
        (self.left_out + self.lines.len() as u64, self.replaced, last)
    }

    /// The length of the longest line, in bytes.
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// The kept lines as text, without headings.
    pub fn text(&self) -> String {
        let lines = self.lines.iter().filter(|line| line.part != Part::Heading);
        lines.flat_map(|line| [line.text.as_str(), "\n"]).collect()
    }

    fn step(&self) -> usize {
        self.lines.back().map_or(0, |line| line.step_index)
    }

    /// Ends a step. The output of a replayed step, and of a tool that returns it only at its end, is in the result.
    fn end(&mut self, result: &StepResult) {
        for stream in [Stream::Stdout, Stream::Stderr] {
            self.finish_escape(result.step_index, stream);
        }
        let ran = result.exit_code.is_some() || result.stderr.is_some() || result.terminal;
        if !self.has_output && ran {
            let [stdout, stderr] =
                [&result.stdout, &result.stderr].map(|it| it.as_deref().unwrap_or_default());
            match result.terminal {
                true => {
                    let mut screen = TerminalScreen::new(REPLAYED);
                    screen.feed(stdout);
                    self.terminal = Some(StepTerminal { step_index: result.step_index, screen });
                }
                false => self.write(result.step_index, Stream::Stdout, stdout),
            }
            if !stdout.is_empty() && !stderr.is_empty() {
                let remark = "The record keeps the two outputs apart: the error output follows.";
                self.push(result.step_index, Part::Remark, remark.to_owned());
            }
            self.write(result.step_index, Stream::Stderr, stderr);
        }
        if let Some(terminal) = self.terminal.take() {
            self.write_screen(terminal);
        }
        self.open = None;
    }

    fn write(&mut self, step: usize, stream: Stream, text: &str) {
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            // Most output contains neither colours nor line breaks and is appended as one piece.
            let plain = rest.find(['\n', '\r', '\x1b']).unwrap_or(rest.len());
            let (head, tail) = rest.split_at(plain);
            if self.state(stream).escape.is_empty() && !head.is_empty() {
                self.write_plain(step, stream, head);
                rest = tail;
                continue;
            }
            self.write_char(step, stream, c);
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
        }
    }

    fn write_char(&mut self, step: usize, stream: Stream, c: char) {
        let state = self.state(stream);
        if !state.escape.is_empty() {
            state.escape.push(c);
            match Sequence::of(&state.escape) {
                Sequence::Unfinished => {}
                Sequence::Colours => {
                    let escape = std::mem::take(&mut state.escape);
                    let parameters = escape.trim_start_matches("\x1b[").trim_end_matches('m');
                    state.style = state.style.after(parameters);
                }
                Sequence::Other => {
                    state.escape.pop();
                    self.finish_escape(step, stream);
                    self.write_char(step, stream, c);
                }
            }
            return;
        }
        match c {
            '\x1b' => state.escape.push(c),
            '\n' => {
                state.returned = false;
                self.break_line(step, stream);
            }
            '\r' => state.returned = true,
            c => self.write_plain(step, stream, c.encode_utf8(&mut [0; 4])),
        }
    }

    /// Writes an escape sequence that is incomplete, or no colour sequence, as ordinary text.
    fn finish_escape(&mut self, step: usize, stream: Stream) {
        let escape = std::mem::take(&mut self.state(stream).escape);
        if !escape.is_empty() {
            self.write_plain(step, stream, &escape);
        }
    }

    fn write_plain(&mut self, step: usize, stream: Stream, text: &str) {
        let state = self.state(stream);
        let style = state.style;
        if std::mem::take(&mut state.returned) {
            self.clear_line(stream);
        }
        let shown = quoted(text);
        let mut rest: &str = &shown;
        while !rest.is_empty() {
            if self.open != Some(stream) {
                self.push(step, Part::Output(stream), String::new());
                self.open = Some(stream);
            }
            let Some(line) = self.lines.back_mut() else { return };
            let room = MAX_LINE_BYTES.saturating_sub(line.text.len());
            let cut = rest.floor_char_boundary(room);
            let (piece, later) = rest.split_at(cut);
            let start = line.text.len();
            line.text.push_str(piece);
            if style != AnsiStyle::default() && !piece.is_empty() {
                line.styles.push((start..line.text.len(), style));
            }
            self.longest = self.longest.max(line.text.len());
            self.bytes += piece.len();
            if !later.is_empty() {
                self.open = None;
            }
            rest = later;
        }
        self.drop_oldest();
    }

    /// Removes the text of the last line if it can still be continued.
    fn clear_line(&mut self, stream: Stream) {
        if self.open == Some(stream)
            && let Some(line) = self.lines.back_mut()
        {
            self.bytes -= line.text.len();
            self.replaced += 1;
            line.text.clear();
            line.styles.clear();
        }
    }

    fn break_line(&mut self, step: usize, stream: Stream) {
        // An empty line counts as a line.
        if self.open != Some(stream) {
            self.push(step, Part::Output(stream), String::new());
        }
        self.open = None;
    }

    fn remark(&mut self, text: String) {
        self.open = None;
        self.push(self.step(), Part::Remark, text);
    }

    fn push(&mut self, step_index: usize, part: Part, text: String) {
        self.printed += u64::from(matches!(part, Part::Output(_)));
        self.bytes += text.len();
        self.lines.push_back(TranscriptLine { step_index, part, text, styles: Vec::new() });
        self.drop_oldest();
    }

    fn drop_oldest(&mut self) {
        while self.lines.len() > MAX_LINES || self.bytes > MAX_BYTES {
            let Some(line) = self.lines.pop_front() else { return };
            self.bytes -= line.text.len();
            self.left_out += 1;
        }
    }

    fn state(&mut self, stream: Stream) -> &mut StreamState {
        let [stdout, stderr] = &mut self.streams;
        match stream {
            Stream::Stdout => stdout,
            Stream::Stderr => stderr,
        }
    }
}

#[cfg(test)]
mod tests;
