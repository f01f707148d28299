//! Output that arrives as a whole: that of one of several hosts, and what a terminal showed.

use super::{MAX_LINE_BYTES, Part, StepTerminal, StreamState, Styles, Transcript};
use crate::plan::quoted;
use crate::run::{HostResult, ScreenLine, ScreenLines, Stream};

impl Transcript {
    /// Adds what one of several hosts printed. With batches, hosts end an earlier step after a later one has begun.
    pub(super) fn add_host(&mut self, result: &HostResult) {
        let step = result.step_index;
        if self.lines.is_empty() || self.step() != step {
            self.push(step, Part::Heading, String::new());
        }
        self.has_output = true;
        let name = quoted(&result.host).into_owned();
        self.longest = self.longest.max(name.len());
        self.open = None;
        self.push(step, Part::Host(result.outcome), name);
        self.streams = <[StreamState; 2]>::default();
        self.write(step, Stream::Stdout, &result.output);
        self.finish_escape(step, Stream::Stdout);
        let more = result.output_bytes.saturating_sub(result.output.len() as u64);
        if more > 0 {
            self.remark(format!("{more} more bytes are in the evidence."));
        }
        if let Some(line) = result.error_message.as_ref().and_then(|it| it.lines().next()) {
            self.remark(quoted(line).into_owned());
        }
        self.open = None;
    }

    /// Adds what a terminal showed, as lines of output.
    pub(super) fn write_screen(&mut self, terminal: StepTerminal) {
        let ScreenLines { lines, is_incomplete } = terminal.screen.into_lines();
        if is_incomplete {
            self.remark("Earlier lines are not shown; the evidence gets all.".to_owned());
        }
        for ScreenLine { text, styles } in lines {
            for (text, styles) in split(text, styles) {
                self.push(terminal.step_index, Part::Output(Stream::Stdout), text);
                if let Some(line) = self.lines.back_mut() {
                    self.longest = self.longest.max(line.text.len());
                    line.styles = styles;
                }
            }
        }
    }
}

/// A line of a screen in pieces of at most [`MAX_LINE_BYTES`].
pub(super) fn split(mut text: String, mut styles: Styles) -> Vec<(String, Styles)> {
    let mut pieces = Vec::new();
    while text.len() > MAX_LINE_BYTES {
        let cut = text.floor_char_boundary(MAX_LINE_BYTES);
        let rest = text.split_off(cut);
        let mut later = Styles::new();
        styles.retain_mut(|(range, style)| {
            if range.end > cut {
                later.push((range.start.saturating_sub(cut)..range.end - cut, *style));
                range.end = cut;
            }
            range.start < range.end
        });
        pieces.push((std::mem::replace(&mut text, rest), std::mem::replace(&mut styles, later)));
    }
    pieces.push((text, styles));
    pieces
}
