//! Rows of code and of output: long lines are wrapped and never truncated, and only visible rows are drawn.

use std::borrow::Borrow;

use egui::text::{LayoutJob, TextFormat};
use egui::{AsIdSalt, Color32, Id, Pos2, Rect, Role, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};

use super::marks::{Marks, sections};
use super::wrap::wrap;
use super::{cached_rows, text_rows};
use crate::run::{DiffLine, LineKind};
use crate::ui::widgets::text_format;
use crate::ui::{Icon, Text, Theme, Tone, theme, widgets};

/// A row on screen. A long line of a file takes several rows.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(test, derive(serde::Serialize))]
pub struct CodeRow {
    /// The line numbers before and after the change; only on the first row of a line.
    pub numbers: (Option<usize>, Option<usize>),
    /// The kind of the line.
    pub kind: LineKind,
    /// `+`, `-` or space; empty on the continuation rows of a wrapped line.
    pub sign: &'static str,
    /// The text, with hidden characters made visible.
    pub text: String,
    /// Whether the text comes from standard error.
    pub stderr: bool,
    /// Syntax colours and changed words.
    #[cfg_attr(test, serde(skip))]
    pub marks: Marks,
    /// What is shown beside the text of a list's entry; only on its first row.
    #[cfg_attr(test, serde(skip))]
    pub beside: Option<Box<Beside>>,
}

/// An icon before the text of a row, and a note at its right edge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beside {
    /// The icon.
    pub icon: Icon,
    /// The tone of icon and note.
    pub tone: Tone,
    /// The note; empty for none.
    pub note: String,
}

impl CodeRow {
    /// A row with text only.
    pub(super) fn plain(text: String) -> Self {
        Self {
            numbers: (None, None),
            kind: LineKind::Context,
            sign: "",
            text,
            stderr: false,
            marks: Marks::default(),
            beside: None,
        }
    }

    /// A row of a text with line numbers. `number` is `None` for the continuation rows of a wrapped line.
    pub fn numbered(number: Option<usize>, text: String) -> Self {
        Self { numbers: (None, number), ..Self::plain(text) }
    }
}

/// The rows of a part of a line with its marks. The part begins at byte `from` of the line, and `marks` are ranges of
/// the line.
pub(super) fn marked_rows(
    text: &str,
    marks: &Marks,
    from: usize,
    columns: usize,
) -> impl Iterator<Item = CodeRow> {
    let mut end = from;
    wrap(text, columns).into_iter().map(move |piece| {
        let start = end;
        end += piece.len();
        CodeRow { marks: marks.part(start..end), ..CodeRow::plain(piece) }
    })
}

/// The line numbers beside code: none, one number, or the numbers before and after a change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gutter {
    numbers: u8,
    digits: u8,
    /// Space for icons, in points.
    icons: f32,
}

/// The space at the right edge of a row with a note, in points.
const PADDING: f32 = 16.0;
/// The maximum width of a digit in a line number, in points.
const DIGIT: f32 = 7.0;

impl Gutter {
    /// No numbers.
    pub const NONE: Self = Self { numbers: 0, digits: 0, icons: 0.0 };

    /// One column, wide enough for this number.
    pub fn one(largest: usize) -> Self {
        Self { numbers: 1, digits: digits(largest), icons: 0.0 }
    }

    /// As [`Gutter::one`], with space for the icons of a list.
    pub fn of_list(largest: usize) -> Self {
        Self { icons: 10.0, ..Self::one(largest) }
    }

    /// Two columns, wide enough for the numbers of these lines.
    pub fn of_diff(lines: &[DiffLine]) -> Self {
        Self { numbers: 2, digits: digits(Self::largest(lines)), icons: 0.0 }
    }

    /// The largest line number of a diff, as far as its last thousand lines tell.
    pub fn largest(lines: &[DiffLine]) -> usize {
        // If all lines were added, searching a million lines for a number before the change would be too slow.
        let last_lines = || lines.iter().rev().take(1_000);
        let last = |number: fn(&DiffLine) -> Option<usize>| last_lines().find_map(number);
        last(|line| line.before).max(last(|line| line.after)).unwrap_or(0)
    }

    /// The right edges of the columns of line numbers before and after, in points.
    fn ends(self) -> (f32, f32) {
        let width = DIGIT * f32::from(self.digits);
        match self.numbers {
            0 | 1 => (0.0, 12.0 + width),
            _ => (8.0 + width, 10.0 + 2.0 * width),
        }
    }

    /// The width of the numbers and the space beside them, in points.
    pub fn width(self) -> f32 {
        match self.numbers {
            0 => 18.0,
            1 => self.ends().1 + 18.0 + self.icons,
            _ => self.ends().1 + 24.0,
        }
    }
}

/// The number of digits for which there is space: at least four, so that the code of short texts is aligned.
fn digits(largest: usize) -> u8 {
    largest.checked_ilog10().map_or(0, |log| log as u8 + 1).max(4)
}

/// The number of characters of code that fit into this width in points, next to the line numbers.
pub fn columns(ui: &Ui, width: f32, gutter: Gutter) -> usize {
    let font = Text::Mono.font();
    let advance = ui.ctx().fonts_mut(|fonts| fonts.glyph_width(&font, '0')).max(1.0);
    ((width - gutter.width() - 16.0) / advance).max(8.0) as usize
}

/// A text of any length, untruncated. `draw_short` draws a text that is not too long for one layout; any other is drawn
/// in rows. `id_salt` distinguishes several uses in the same part of the window.
pub fn full_text_ui(
    ui: &mut Ui,
    id_salt: impl AsIdSalt + Copy,
    text: &str,
    draw_short: impl FnOnce(&mut Ui, &str),
) {
    const MAX_SHORT_BYTES: usize = 8 << 10;
    if text.len() <= MAX_SHORT_BYTES {
        return draw_short(ui, text);
    }
    let columns = columns(ui, ui.available_width(), Gutter::NONE);
    let rows = cached_rows(ui, id_salt, &[text], columns, || text_rows(text, columns));
    code_rows_ui(ui, id_salt, &rows, Gutter::NONE);
}

/// Draws the rows of a code block. Only rows inside the clip rectangle are drawn, so there may be any number of them in
/// a scroll area.
pub fn code_rows_ui(ui: &mut Ui, id: impl AsIdSalt, rows: &[CodeRow], gutter: Gutter) {
    incremental_rows_ui(ui, id, rows.len(), gutter, |index| rows.get(index));
}

/// Like [`code_rows_ui`], for `count` rows that `row` creates when they are drawn. It returns `None` for a row that is
/// not laid out yet.
pub(super) fn incremental_rows_ui<R: Borrow<CodeRow>>(
    ui: &mut Ui,
    id: impl AsIdSalt,
    count: usize,
    gutter: Gutter,
    row: impl Fn(usize) -> Option<R>,
) {
    visible_rows_ui(ui, id, count, |ui, index, rect, id| {
        if let Some(row) = row(index) {
            row_ui(ui, rect, row.borrow(), gutter, id);
        }
    });
}

/// Draws `count` pairs of rows side by side, each with the line number of its side. `row` gets an even index for the
/// left side, and the next odd index for the right side.
pub(super) fn pairs_ui(
    ui: &mut Ui,
    id: impl AsIdSalt,
    count: usize,
    gutter: Gutter,
    row: impl Fn(usize) -> Option<CodeRow>,
) {
    visible_rows_ui(ui, id, count, |ui, index, rect, id| {
        let (left, right) = rect.split_left_right_at_x(rect.center().x.round());
        for (side, side_rect) in [left, right].into_iter().enumerate() {
            if let Some(mut row) = row(2 * index + side) {
                row.numbers = (None, if side == 0 { row.numbers.0 } else { row.numbers.1 });
                row_ui(ui, side_rect, &row, gutter, id.with(side));
            }
        }
        let stroke = Stroke::new(1.0, Theme::of(ui).line);
        ui.painter().vline(right.left(), rect.y_range(), stroke);
    });
}

/// Calls `draw` for each visible one of `count` rows, with the index, the rectangle and the id of the row.
fn visible_rows_ui(
    ui: &mut Ui,
    id: impl AsIdSalt,
    count: usize,
    mut draw: impl FnMut(&Ui, usize, Rect, Id),
) {
    let height = f64::from(theme::CODE_ROW);
    let size = vec2(ui.available_width(), (height * count as f64) as f32);
    let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
    let visible = ui.clip_rect();
    // A million rows are twenty million points high, where an `f32` cannot represent single points. Positions
    // relative to the visible part stay exact.
    let top = f64::from(rect.top());
    let row_at = |y: f32| ((f64::from(y) - top) / height).max(0.0);
    let first = row_at(visible.top()).floor() as usize;
    let last = (row_at(visible.bottom()).ceil() as usize).min(count);
    let id = ui.scope_id().with(id);
    for index in first..last {
        let y = (top + index as f64 * height) as f32;
        let row = Rect::from_min_size(pos2(rect.left(), y), vec2(rect.width(), theme::CODE_ROW));
        draw(ui, index, row, id.with(index));
    }
}

fn row_ui(ui: &Ui, rect: Rect, row: &CodeRow, gutter: Gutter, id: Id) {
    let theme = Theme::of(ui);
    let (background, text) = match row.kind {
        LineKind::Added => (Some(theme.added), theme.added_text),
        LineKind::Removed => (Some(theme.removed), theme.removed_text),
        LineKind::Context if row.stderr => (None, theme.danger),
        LineKind::Context => (None, theme.text),
        LineKind::Gap => (Some(theme.panel), theme.dim),
    };
    if let Some(background) = background {
        ui.painter().rect_filled(rect, 0.0, background);
    }
    let middle = rect.center().y;
    let number = |x: f32, number: Option<usize>| {
        if let Some(number) = number {
            let right = pos2(rect.left() + x, middle);
            widgets::paint_right(ui, right, (&number.to_string(), Text::SmallMono, theme.dim));
        }
    };
    if gutter.numbers > 0 {
        let (before, after) = gutter.ends();
        number(before, row.numbers.0.filter(|_| gutter.numbers > 1));
        number(after, row.numbers.1);
    }
    let left = rect.left() + gutter.width();
    if !row.sign.is_empty() || row.stderr {
        let sign = if row.stderr { "!" } else { row.sign };
        paint(ui, pos2(left - 15.0, middle), [Piece::plain(sign, text)]);
    }
    paint(ui, pos2(left, middle), pieces(row, text, theme));
    if let Some(Beside { icon, tone, note }) = row.beside.as_deref() {
        widgets::paint_icon(ui, pos2(left - 12.0, middle), *icon, 14.0, theme.tone(*tone));
        let right = pos2(rect.right() - PADDING, middle);
        widgets::paint_right(ui, right, (note, Text::Small, theme.tone(*tone)));
    }
    let response = ui.interact(rect, id, Sense::hover());
    response.widget_info(|| {
        let stream = if row.stderr { "stderr: " } else { "" };
        let note = row.beside.as_ref().map_or("", |beside| &*beside.note);
        let space = if note.is_empty() { "" } else { ", " };
        let text = format!("{stream}{}{}{space}{note}", row.sign, row.text);
        WidgetInfo::labeled(Role::Label, true, text)
    });
}

/// A part of a row with one style.
#[derive(Clone, Copy)]
pub(super) struct Piece<'a> {
    pub(super) text: &'a str,
    pub(super) colour: Color32,
    /// The background, for a changed word.
    pub(super) background: Option<Color32>,
    /// The underline of text that needs attention.
    pub(super) underline: Stroke,
}

impl<'a> Piece<'a> {
    pub(super) fn plain(text: &'a str, colour: Color32) -> Self {
        Self { text, colour, background: None, underline: Stroke::NONE }
    }
}

/// Splits the text of a row where its style changes.
fn pieces<'a>(row: &'a CodeRow, plain: Color32, theme: &Theme) -> Vec<Piece<'a>> {
    let Marks { colours, changed, emphasized, styles } = &row.marks;
    let marked = changed.iter().chain(colours.iter().map(|(it, _)| it));
    let marked = marked.chain(emphasized.iter().map(|(it, _)| it));
    sections(&row.text, marked.chain(styles.iter().map(|(it, _)| it)))
        .into_iter()
        .map(|(start, text)| {
            let colour = colours.iter().find(|(it, _)| it.contains(&start));
            let colour = colour.map_or(plain, |(_, class)| theme.syntax(*class));
            let mut piece = Piece::plain(text, colour);
            // A changed word has its own background, designed for the plain text colour.
            if changed.iter().any(|it| it.contains(&start)) {
                piece = Piece {
                    background: Some(theme.changed_word(row.kind)),
                    ..Piece::plain(text, plain)
                };
            }
            if let Some((_, style)) = styles.iter().find(|(it, _)| it.contains(&start)) {
                (piece.colour, piece.underline) = theme.ansi_style(*style, plain);
            }
            if let Some((_, tone)) = emphasized.iter().find(|(it, _)| it.contains(&start)) {
                piece.underline = Stroke::new(2.0, theme.tone(*tone));
            }
            piece
        })
        .collect()
}

pub(super) fn paint<'a>(ui: &Ui, left_center: Pos2, pieces: impl IntoIterator<Item = Piece<'a>>) {
    let mut job = LayoutJob { break_on_newline: false, ..LayoutJob::default() };
    for Piece { text, colour, background, underline } in pieces {
        let format = TextFormat {
            background: background.unwrap_or(Color32::TRANSPARENT),
            underline,
            ..text_format(Text::Mono, colour)
        };
        job.append(text, 0.0, format);
    }
    let galley = ui.painter().layout_job(job);
    let min = pos2(left_center.x, left_center.y - galley.size().y / 2.0);
    ui.painter().galley(min, galley, Color32::TRANSPARENT);
}
