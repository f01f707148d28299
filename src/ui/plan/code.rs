//! Lines of code and of output: wrapped, never truncated, drawn only where visible.

use std::borrow::Borrow;

use egui::text::{LayoutJob, TextFormat};
use egui::{Color32, Rect, Role, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};

use super::row_cache::kept_rows;
use super::marks::Marks;
use super::output::text_rows;
use crate::plan::visible;
use crate::run::{DiffLine, LineKind};
use crate::ui::theme::{self, Text, Theme};
use crate::ui::widgets::{self, text_format};

/// A row on screen. A long line of a file takes several rows.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(test, derive(serde::Serialize))]
pub struct CodeRow {
    /// The line numbers before and after the change, on the line's first row only.
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
        }
    }

    /// A row of a numbered text, with the number on the first row only.
    pub fn numbered(number: Option<usize>, text: String) -> Self {
        Self { numbers: (None, number), ..Self::plain(text) }
    }
}

/// Splits the text, with hidden characters made visible, into pieces of at most `columns` characters.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(8);
    let shown = visible(text);
    if shown.len() <= columns {
        return vec![shown.into_owned()];
    }
    let mut pieces = Vec::new();
    let (mut piece, mut used) = (String::new(), 0);
    for c in shown.chars() {
        let width = columns_of(c);
        if used + width > columns {
            // Break after a space near the end so that words stay whole. The space belongs to the first
            // piece.
            let near = piece.len() * 3 / 5;
            let cut =
                piece.rfind(' ').map(|at| at + 1).filter(|at| *at > near && *at < piece.len());
            let rest = cut.map(|at| piece.split_off(at)).unwrap_or_default();
            used = rest.chars().map(columns_of).sum();
            pieces.push(std::mem::replace(&mut piece, rest));
        }
        piece.push(c);
        used += width;
    }
    pieces.push(piece);
    pieces
}

/// The rows of a text with its marks, which are ranges of the line in which the text begins at byte `from`.
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

/// The number of columns of a character: from U+1100 on it may be drawn twice as wide.
fn columns_of(c: char) -> usize {
    if u32::from(c) < 0x1100 { 1 } else { 2 }
}

/// The line numbers beside code: none, one number, or the numbers before and after a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gutter {
    numbers: u8,
    digits: u8,
}

/// The largest width of a digit in a line number, in points.
const DIGIT: f32 = 7.0;

impl Gutter {
    /// No numbers.
    pub const NONE: Self = Self { numbers: 0, digits: 0 };

    /// One column, wide enough for this number.
    pub fn one(largest: usize) -> Self {
        Self { numbers: 1, digits: digits(largest) }
    }

    /// Two columns, wide enough for the numbers of these lines.
    pub fn of_diff(lines: &[DiffLine]) -> Self {
        Self { numbers: 2, digits: digits(Self::largest(lines)) }
    }

    /// The largest number of these lines.
    pub fn largest(lines: &[DiffLine]) -> usize {
        // Only the last lines are searched: searching a million lines for a number that is absent is too
        // slow.
        let near = || lines.iter().rev().take(1_000);
        let last = |number: fn(&DiffLine) -> Option<usize>| near().find_map(number);
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
            1 => self.ends().1 + 18.0,
            _ => self.ends().1 + 24.0,
        }
    }
}

/// The number of digits of a line number, at least four, so that the code of short texts lines up.
fn digits(largest: usize) -> u8 {
    largest.checked_ilog10().map_or(0, |log| log as u8 + 1).max(4)
}

/// The number of characters of code that fit into this width in points, next to the line numbers.
pub fn columns(ui: &Ui, width: f32, gutter: Gutter) -> usize {
    let font = Text::Mono.font();
    let advance = ui.ctx().fonts_mut(|fonts| fonts.glyph_width(&font, '0')).max(1.0);
    ((width - gutter.width() - 16.0) / advance).max(8.0) as usize
}

/// A text of any length, untruncated. `short` draws a text of usual length; a text too long for one layout is
/// drawn in rows. `place` distinguishes several uses in the same part of the window.
pub fn whole_ui(
    ui: &mut Ui,
    place: impl egui::AsIdSalt + Copy,
    text: &str,
    short: impl FnOnce(&mut Ui, &str),
) {
    const USUAL: usize = 8 << 10;
    if text.len() <= USUAL {
        return short(ui, text);
    }
    let columns = columns(ui, ui.available_width(), Gutter::NONE);
    let rows = kept_rows(ui, place, &[text], columns, || text_rows(text, columns));
    code_rows_ui(ui, place, &rows, Gutter::NONE);
}

/// All rows of a code block. Only rows inside the clip rectangle are drawn, so an enclosing scroll area may
/// hold any number.
pub fn code_rows_ui(ui: &mut Ui, id: impl egui::AsIdSalt, rows: &[CodeRow], gutter: Gutter) {
    growing_rows_ui(ui, id, rows.len(), gutter, |index| rows.get(index));
}

/// As [`code_rows_ui`], for `count` rows. `row` creates a row when it is drawn; it returns `None` for a row that is
/// not laid out yet.
pub(super) fn growing_rows_ui<R: Borrow<CodeRow>>(
    ui: &mut Ui,
    id: impl egui::AsIdSalt,
    count: usize,
    gutter: Gutter,
    row: impl Fn(usize) -> Option<R>,
) {
    seen_ui(ui, id, count, |ui, index, place, id| {
        if let Some(row) = row(index) {
            row_ui(ui, place, row.borrow(), gutter, id);
        }
    });
}

/// Pairs of rows next to each other: even indices are the left side, odd indices the right side, each with
/// the line number of its side.
pub(super) fn pairs_ui(
    ui: &mut Ui,
    id: impl egui::AsIdSalt,
    count: usize,
    gutter: Gutter,
    row: impl Fn(usize) -> Option<CodeRow>,
) {
    seen_ui(ui, id, count, |ui, index, place, id| {
        let (left, right) = place.split_left_right_at_x(place.center().x.round());
        for (side, place) in [left, right].into_iter().enumerate() {
            if let Some(mut row) = row(2 * index + side) {
                row.numbers = (None, if side == 0 { row.numbers.0 } else { row.numbers.1 });
                row_ui(ui, place, &row, gutter, id.with(side));
            }
        }
        let stroke = Stroke::new(1.0, Theme::of(ui).line);
        ui.painter().vline(right.left(), place.y_range(), stroke);
    });
}

/// Calls back for each visible row of `count` rows with its position.
fn seen_ui(
    ui: &mut Ui,
    id: impl egui::AsIdSalt,
    count: usize,
    mut draw: impl FnMut(&Ui, usize, Rect, egui::Id),
) {
    let height = f64::from(theme::CODE_ROW);
    let size = vec2(ui.available_width(), (height * count as f64) as f32);
    let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
    let seen = ui.clip_rect();
    // A million rows are twenty million points high, where an `f32` cannot represent single points. Positions
    // relative to the visible part stay exact.
    let top = f64::from(rect.top());
    let row_at = |y: f32| ((f64::from(y) - top) / height).max(0.0);
    let first = row_at(seen.top()).floor() as usize;
    let last = (row_at(seen.bottom()).ceil() as usize).min(count);
    let id = ui.scope_id().with(id);
    for index in first..last {
        let y = (top + index as f64 * height) as f32;
        let place = Rect::from_min_size(pos2(rect.left(), y), vec2(rect.width(), theme::CODE_ROW));
        draw(ui, index, place, id.with(index));
    }
}

fn row_ui(ui: &Ui, rect: Rect, row: &CodeRow, gutter: Gutter, id: egui::Id) {
    let theme = Theme::of(ui);
    let (ground, text) = match row.kind {
        LineKind::Added => (Some(theme.added), theme.added_text),
        LineKind::Removed => (Some(theme.removed), theme.removed_text),
        LineKind::Context if row.stderr => (None, theme.danger),
        LineKind::Context => (None, theme.text),
        LineKind::Gap => (Some(theme.panel), theme.dim),
    };
    if let Some(ground) = ground {
        ui.painter().rect_filled(rect, 0.0, ground);
    }
    let middle = rect.center().y;
    let number = |x: f32, number: Option<usize>| {
        if let Some(number) = number {
            let at = pos2(rect.left() + x, middle);
            widgets::paint_right(ui, at, &number.to_string(), Text::SmallMono, theme.dim);
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
    let response = ui.interact(rect, id, Sense::hover());
    response.widget_info(|| {
        let stream = if row.stderr { "stderr: " } else { "" };
        let text = format!("{stream}{}{}", row.sign, row.text);
        WidgetInfo::labeled(Role::Label, true, text)
    });
}

/// A part of a row with one style.
#[derive(Clone, Copy)]
pub(super) struct Piece<'a> {
    pub(super) text: &'a str,
    pub(super) colour: Color32,
    /// The background of a changed word.
    pub(super) ground: Option<Color32>,
    /// The underline of text that needs attention.
    pub(super) underline: Stroke,
}

impl<'a> Piece<'a> {
    pub(super) fn plain(text: &'a str, colour: Color32) -> Self {
        Self { text, colour, ground: None, underline: Stroke::NONE }
    }
}

/// Splits the text of a row where its style changes.
fn pieces<'a>(row: &'a CodeRow, plain: Color32, theme: &Theme) -> Vec<Piece<'a>> {
    let Marks { colours, changed, pointed, styles } = &row.marks;
    let ends = colours.iter().flat_map(|(it, _)| [it.start, it.end]);
    let marked = changed.iter().chain(pointed.iter().map(|(it, _)| it));
    let marked = marked.chain(styles.iter().map(|(it, _)| it));
    let mut cuts: Vec<usize> = ends.chain(marked.flat_map(|it| [it.start, it.end])).collect();
    cuts.extend([0, row.text.len()]);
    cuts.sort_unstable();
    cuts.dedup();
    let spans = cuts.windows(2).filter_map(|cut| match cut {
        [start, end] => Some((*start, row.text.get(*start..*end)?)),
        _ => None,
    });
    spans
        .map(|(at, text)| {
            let colour = colours.iter().find(|(it, _)| it.contains(&at));
            let colour = colour.map_or(plain, |(_, class)| theme.syntax(*class));
            let mut piece = Piece::plain(text, colour);
            // A changed word has its own background, designed for the plain text colour.
            if changed.iter().any(|it| it.contains(&at)) {
                piece = Piece {
                    ground: Some(theme.changed_word(row.kind)),
                    ..Piece::plain(text, plain)
                };
            }
            if let Some((_, ink)) = styles.iter().find(|(it, _)| it.contains(&at)) {
                (piece.colour, piece.underline) = theme.ink(*ink, plain);
            }
            if let Some((_, tone)) = pointed.iter().find(|(it, _)| it.contains(&at)) {
                piece.underline = Stroke::new(2.0, theme.tone(*tone));
            }
            piece
        })
        .collect()
}

pub(super) fn paint<'a>(
    ui: &Ui,
    left_center: egui::Pos2,
    pieces: impl IntoIterator<Item = Piece<'a>>,
) {
    let mut job = LayoutJob { break_on_newline: false, ..LayoutJob::default() };
    for Piece { text, colour, ground, underline } in pieces {
        let format = TextFormat {
            background: ground.unwrap_or(Color32::TRANSPARENT),
            underline,
            ..text_format(Text::Mono, colour)
        };
        job.append(text, 0.0, format);
    }
    let galley = ui.painter().layout_job(job);
    let min = pos2(left_center.x, left_center.y - galley.size().y / 2.0);
    ui.painter().galley(min, galley, Color32::TRANSPARENT);
}
