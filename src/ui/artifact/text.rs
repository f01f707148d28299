//! A text of any length with line numbers, wrapped lines and search. Only the visible rows are drawn; wrapping and
//! searching are divided over several frames.

use std::sync::{Arc, Weak};

use egui::text::{LayoutJob, TextFormat};
use egui::{Color32, Id, Rect, Stroke, Ui, pos2};

use super::find::{Finder, Hit};
use super::list::{Area, Cursor, list_ui, row_label, with_state};
use super::text_doc::{BYTES_PER_FRAME, TextDoc};
use crate::plan::drawable;
use crate::run::AnsiStyle;
use crate::ui::plan::{Gutter, columns, row_length};
use crate::ui::{Text, Theme, Tone, widgets};

/// A text wrapped at a number of columns, as far as it is done.
#[derive(Debug, Clone, Default)]
struct Wrapped {
    columns: usize,
    /// The byte offsets at which the rows start.
    rows: Vec<u32>,
    /// The line in which wrapping continues.
    line: usize,
    /// The byte offset at which wrapping continues.
    offset: usize,
}

impl Wrapped {
    fn new(columns: usize) -> Self {
        Self { columns: columns.max(8), ..Self::default() }
    }

    fn is_complete(&self, doc: &TextDoc) -> bool {
        self.line >= doc.line_count()
    }

    /// Wraps about this many more bytes.
    fn advance(&mut self, doc: &TextDoc, bytes: usize) {
        let limit = self.offset.saturating_add(bytes);
        while self.line < doc.line_count() && self.offset < limit {
            let end = doc.end(self.line);
            self.rows.push(self.offset as u32);
            let rest = doc.text().get(self.offset..end).unwrap_or_default();
            self.offset += row_length(rest, self.columns);
            if self.offset >= end {
                self.line += 1;
                self.offset = doc.start(self.line);
            }
        }
    }

    /// The row that contains a byte offset.
    fn row_at(&self, offset: usize) -> usize {
        self.rows.partition_point(|row| *row as usize <= offset).saturating_sub(1)
    }
}

/// State of the text viewer between frames.
#[derive(Debug, Clone, Default)]
struct TextState {
    viewer: Option<Id>,
    doc: Weak<TextDoc>,
    wrapped: Wrapped,
    /// The text wrapped at another width; replaces `wrapped` once it is complete.
    next: Option<Wrapped>,
    cursor: Cursor,
    finder: Finder,
}

impl TextState {
    /// Continues wrapping and searching. Returns whether more is left to do.
    fn advance(&mut self, viewer: Id, doc: &Arc<TextDoc>, columns: usize) -> bool {
        if !std::ptr::eq(self.doc.as_ptr(), Arc::as_ptr(doc)) {
            // The query survives when the complete text replaces a part in the same viewer.
            let same = self.viewer == Some(viewer);
            let query = if same { std::mem::take(&mut self.finder.query) } else { String::new() };
            let (doc, viewer) = (Arc::downgrade(doc), Some(viewer));
            *self = Self { viewer, doc, wrapped: Wrapped::new(columns), ..Self::default() };
            self.finder.start(query);
        }
        let latest = self.next.as_ref().unwrap_or(&self.wrapped);
        if latest.columns != columns.max(8) {
            self.next = Some(Wrapped::new(columns));
        }
        if let Some(next) = &mut self.next {
            next.advance(doc, BYTES_PER_FRAME);
            if next.is_complete(doc) {
                let offset = self.wrapped.rows.get(self.cursor.row).copied().unwrap_or(0);
                self.cursor.row = next.row_at(offset as usize);
                self.wrapped = std::mem::take(next);
                self.next = None;
            }
        } else {
            self.wrapped.advance(doc, BYTES_PER_FRAME);
        }
        self.finder.advance(doc, BYTES_PER_FRAME);
        self.next.is_some() || !self.wrapped.is_complete(doc) || !self.finder.is_complete(doc)
    }
}

/// Draws a text.
pub(super) fn text_ui(ui: &mut Ui, area: Area<'_>, doc: &Arc<TextDoc>) {
    with_state(ui, |ui, state: &mut TextState| shown_ui(ui, area, doc, state));
}

fn shown_ui(ui: &mut Ui, area: Area<'_>, doc: &Arc<TextDoc>, state: &mut TextState) {
    let gutter = Gutter::one(doc.line_count());
    let columns = columns(ui, ui.available_width(), gutter);
    let unfinished = state.advance(area.id, doc, columns);
    if unfinished {
        ui.ctx().request_repaint();
    }
    let TextState { wrapped, cursor, finder, .. } = state;
    egui::Frame::NONE.inner_margin(egui::Margin::symmetric(super::MARGIN, 0)).show(ui, |ui| {
        if let Some(offset) = finder.ui(ui, area.id, area.name, doc) {
            *cursor = Cursor::to(wrapped.row_at(offset));
        }
    });
    let rows = &wrapped.rows;
    // The line of a row, and the range of the row in the text.
    let range_of = |row: usize| {
        let start = rows.get(row).map_or(0, |start| *start as usize);
        let line = doc.line_at(start);
        let end = rows.get(row + 1).map_or(usize::MAX, |next| *next as usize).min(doc.end(line));
        (line, start, end.max(start))
    };
    let below = Area { height: (area.height - super::find::HEIGHT).max(60.0), ..area };
    let input = list_ui(ui, below, rows.len(), cursor, |ui, rect, row, _| {
        let (line, start, end) = range_of(row);
        let first = doc.start(line) == start;
        let hits = finder.hits_in(start, end);
        row_ui(ui, rect, gutter, first.then_some(line + 1), doc, (start, end), &hits);
    });
    if input.copy {
        let (line, ..) = range_of(cursor.row);
        let text = doc.text().get(doc.start(line)..doc.end(line)).unwrap_or_default();
        ui.ctx().copy_text(text.to_owned());
    }
    if input.find {
        Finder::focus(ui, area.id);
    }
}

/// Draws a row with its hits, and with the line number `number` if it is the first row of the line.
fn row_ui(
    ui: &mut Ui,
    rect: Rect,
    gutter: Gutter,
    number: Option<usize>,
    doc: &TextDoc,
    (start, end): (usize, usize),
    hits: &[Hit],
) {
    let theme = Theme::of(ui);
    let middle = rect.center().y;
    let left = rect.left() + gutter.width();
    if let Some(number) = number {
        let right = pos2(left - 14.0, middle);
        widgets::paint_right(ui, right, (&number.to_string(), Text::SmallMono, theme.dim));
    }
    let mut job = LayoutJob { break_on_newline: false, ..LayoutJob::default() };
    let mut append =
        |from: usize, to: usize, style: AnsiStyle, (background, line): (Color32, Stroke)| {
            let text = drawable(doc.text().get(from..to).unwrap_or_default());
            let (color, underline) = theme.ansi_style(style, theme.text);
            let underline = if line.is_empty() { underline } else { line };
            let plain = widgets::text_format(Text::Mono, color);
            job.append(&text, 0.0, TextFormat { underline, background, ..plain });
        };
    let mut append_styled = |from: usize, to: usize, background: (Color32, Stroke)| {
        let mut done = from;
        for (range, style) in doc.styles_in(from..to) {
            append(done, range.start, AnsiStyle::default(), background);
            append(range.start, range.end, style, background);
            done = range.end;
        }
        append(done, to, AnsiStyle::default(), background);
    };
    let plain = (Color32::TRANSPARENT, Stroke::NONE);
    let mut done = start;
    for &Hit { start, end, is_current } in hits {
        let tone = if is_current { Tone::Accent } else { Tone::Caution };
        let background = theme.background.lerp_to_gamma(theme.tone(tone), 0.35);
        let mut line = theme.mark_line();
        line.width *= if is_current { 2.0 } else { 1.0 };
        append_styled(done, start.max(done), plain);
        append_styled(start.max(done), end, (background, line));
        done = end.max(done);
    }
    append_styled(done, end, plain);
    widgets::paint_galley(ui, pos2(left, middle), ui.painter().layout_job(job));
    let name = || drawable(doc.text().get(start..end).unwrap_or_default()).into_owned();
    row_label(ui, rect, start, name);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_handles_a_limited_part() {
        for text in ["a line\n".repeat(1_500_000), "wide ".repeat(2 << 20)] {
            let doc = Arc::new(TextDoc::new(&text));
            let mut state = TextState::default();
            let viewer = Id::unique("viewer");
            let mut frames = 0;
            let mut before = 0;
            while state.advance(viewer, &doc, 60) {
                let offset = state.wrapped.offset;
                assert!(offset - before <= BYTES_PER_FRAME + 100, "{offset}");
                before = offset;
                frames += 1;
            }
            assert!((9..=11).contains(&frames), "{frames}");
            let rows = state.wrapped.rows.len();
            // For another width, the old rows stay in use until the new ones are complete.
            assert!(state.advance(viewer, &doc, 30) && state.wrapped.rows.len() == rows);
            while state.advance(viewer, &doc, 30) {}
            assert_eq!(state.wrapped.columns, 30);
            // A search takes several frames, also in one line.
            state.finder.start("not there".to_owned());
            assert!(state.advance(viewer, &doc, 30));
        }
    }

    // No row is wider than the columns.
    #[test]
    fn wrapped_rows_keep_every_character() {
        let text = format!(
            "short\n{}\nseven words that are wrapped after a space\n\nb\u{202e}\u{202e}\u{202e}\n日本語日本語日本語\n",
            "x".repeat(100)
        );
        let doc = TextDoc::new(&text);
        let mut wrapped = Wrapped::new(20);
        let mut steps = 0;
        while !wrapped.is_complete(&doc) {
            wrapped.advance(&doc, 16);
            steps += 1;
        }
        assert!(steps > 5, "in parts");
        let mut lines = vec![String::new(); doc.line_count()];
        for (row, start) in wrapped.rows.iter().enumerate() {
            let line = doc.line_at(*start as usize);
            let end = wrapped.rows.get(row + 1).map_or(usize::MAX, |next| *next as usize);
            let piece = &doc.text()[*start as usize..end.min(doc.end(line))];
            let width: usize =
                drawable(piece).chars().map(|c| if u32::from(c) < 0x2e80 { 1 } else { 2 }).sum();
            assert!(width <= 20, "{piece:?}");
            lines[line].push_str(piece);
        }
        assert_eq!(lines, text.lines().collect::<Vec<_>>());
        assert!(wrapped.rows.len() > 10);
    }
}
