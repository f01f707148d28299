//! A text of any length with the starts of its lines, and with the styles in which a program printed it.

use std::ops::Range;
use std::sync::Arc;

use crate::plan::quoted;
use crate::run::{AnsiStyle, coloured};

/// About this many bytes of text are wrapped, and as many searched, in one frame.
pub(super) const BYTES_PER_FRAME: usize = 1 << 20;

/// A text and the starts of its lines.
#[derive(Debug)]
pub struct TextDoc {
    text: Arc<str>,
    starts: Vec<u32>,
    /// The ranges with a style, in order.
    styles: Vec<(Range<u32>, AnsiStyle)>,
    /// The output as it was printed, if the text differs.
    printed: Option<Arc<str>>,
}

impl TextDoc {
    /// Creates a text. Offsets are 32 bits, so everything beyond 4 GiB is dropped.
    pub fn new(text: &str) -> Self {
        let text = text.get(..text.floor_char_boundary(u32::MAX as usize)).unwrap_or_default();
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let mut starts: Vec<u32> =
            std::iter::once(0).chain(breaks.map(|(index, _)| index as u32 + 1)).collect();
        // A line break at the end of the text does not begin another line.
        if starts.last().is_some_and(|last| *last as usize == text.len()) {
            starts.pop();
        }
        Self { text: text.into(), starts, styles: Vec::new(), printed: None }
    }

    /// Creates a text from program output. Terminal colours are removed from the text and become styles. Brackets are
    /// written out with which the mark of a hidden character begins, as in the output pane.
    pub fn printed(printed: &str) -> Self {
        if !printed.contains(['\x1b', '⟨']) {
            return Self::new(printed);
        }
        let (text, styles) = coloured(&printed.replace('⟨', &quoted("⟨")));
        let offset = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        let styles = styles
            .into_iter()
            .map(|(range, style)| (offset(range.start)..offset(range.end), style));
        Self { styles: styles.collect(), printed: Some(printed.into()), ..Self::new(&text) }
    }

    /// The text without line numbers and styles.
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// The text as it was given, with its escape sequences and brackets.
    pub fn original(&self) -> &Arc<str> {
        self.printed.as_ref().unwrap_or(&self.text)
    }

    /// The styles in a part of the text, in order, cut at its ends.
    pub(super) fn styles_in(
        &self,
        part: Range<usize>,
    ) -> impl Iterator<Item = (Range<usize>, AnsiStyle)> {
        let first = self.styles.partition_point(|(it, _)| it.end as usize <= part.start);
        let styles = self.styles.iter().skip(first);
        styles.take_while(move |(it, _)| (it.start as usize) < part.end).map(move |(it, style)| {
            let range = (it.start as usize).max(part.start)..(it.end as usize).min(part.end);
            (range, *style)
        })
    }

    /// The number of lines.
    pub fn line_count(&self) -> usize {
        self.starts.len()
    }

    /// The start of a line; for an index after the last line, the end of the text.
    pub(super) fn start(&self, line: usize) -> usize {
        self.starts.get(line).map_or(self.text.len(), |start| *start as usize)
    }

    /// The end of a line, without its line break.
    pub(super) fn end(&self, line: usize) -> usize {
        let (start, end) = (self.start(line), self.start(line + 1));
        let line = self.text.get(start..end).unwrap_or_default();
        let line = line.strip_suffix('\n').unwrap_or(line);
        start + line.strip_suffix('\r').unwrap_or(line).len()
    }

    /// The line that contains a byte offset.
    pub(super) fn line_at(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start as usize <= offset).saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn final_line_break_starts_no_line() {
        for (text, lines) in
            [("", 0), ("a", 1), ("a\n", 1), ("a\nb", 2), ("a\r\n\r\nb\n", 3), ("\n", 1)]
        {
            assert_eq!(TextDoc::new(text).line_count(), lines, "{text:?}");
        }
        let doc = TextDoc::new("one\r\n\ntwo");
        let lines: Vec<_> = (0..3).map(|line| &doc.text[doc.start(line)..doc.end(line)]).collect();
        assert_eq!(lines, ["one", "", "two"]);
        assert_eq!([0, 4, 5, 6].map(|offset| doc.line_at(offset)), [0, 0, 1, 2]);
    }

    #[test]
    fn colour_sequences_become_styles() {
        let printed = "one \x1b[31mred\nstill\x1b[0m end \x1b[2J\n";
        let doc = TextDoc::printed(printed);
        assert_eq!(&**doc.text(), "one red\nstill end \x1b[2J\n");
        assert_eq!(&**doc.original(), printed);
        assert_eq!(doc.line_count(), 2);
        let styles = |line| {
            let styles = doc.styles_in(doc.start(line)..doc.end(line));
            styles.map(|(it, _)| &doc.text[it]).collect::<Vec<_>>()
        };
        assert_eq!([styles(0), styles(1)], [["red"], ["still"]]);
        assert_eq!(
            doc.styles_in(5..6).map(|(it, _)| it).collect::<Vec<_>>(),
            std::slice::from_ref(&(5..6))
        );
        assert_eq!(TextDoc::printed("plain").original(), TextDoc::new("plain").text());
        let marks = TextDoc::printed("rm⟨U+200B⟩\u{200b}");
        assert_eq!(&**marks.text(), "rm⟨U+27E8⟩U+200B⟩\u{200b}");
        assert_eq!(&**marks.original(), "rm⟨U+200B⟩\u{200b}");
    }
}
