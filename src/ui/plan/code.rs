//! Rows of code and of output: long lines are wrapped and never truncated, and only visible rows are drawn.

use std::borrow::Borrow;

use egui::{AsIdSalt, Id, Pos2, Rect, Response, Sense, Stroke, Ui, pos2, vec2};

pub use super::code_row::{Beside, CodeRow, Gutter};
use super::marks::Marks;
pub(super) use super::row_paint::{Piece, paint};
use super::row_paint::{row_galley, row_ui};
use super::selection::Selecting;
use super::wrap::wrap;
use super::{cached_rows, text_rows};
use crate::run::LineKind;
use crate::ui::{Text, Theme, theme};

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
    incremental_rows_ui(ui, id, rows.len(), gutter, None, |index| rows.get(index));
}

/// Like [`code_rows_ui`], for `count` rows that `row` creates when they are drawn. It returns `None` for a row that is
/// not laid out yet. The text can be selected with `selecting`. Returns where the rows are.
pub(super) fn incremental_rows_ui<R: Borrow<CodeRow>>(
    ui: &mut Ui,
    id: impl AsIdSalt,
    count: usize,
    gutter: Gutter,
    selecting: Option<Selecting<'_>>,
    row: impl Fn(usize) -> Option<R>,
) -> Rect {
    let selectable = selecting.as_ref().map(|it| it.area);
    let (area, response) = visible_rows_ui(ui, id, count, selectable, |ui, index, rect, id| {
        if let Some(row) = row(index) {
            let selected = selecting.as_ref().and_then(|it| it.in_row(row.borrow(), None));
            row_ui(ui, rect, row.borrow(), gutter, id, selected);
        }
    });
    if let (Some(selecting), Some(response)) = (selecting, response) {
        selecting.input(ui, &response, |pointer| {
            let row = row(row_index(area, pointer, count)?)?.borrow().clone();
            let galley = row_galley(ui, &row);
            Some((row, galley, area.left() + gutter.width(), None))
        });
    }
    area
}

/// The index of the row at the height of a point; above or below all rows, of the first or last one.
fn row_index(area: Rect, point: Pos2, count: usize) -> Option<usize> {
    let row = f64::from(point.y - area.top()) / f64::from(theme::CODE_ROW);
    Some((row.max(0.0) as usize).min(count.checked_sub(1)?))
}

/// Draws `count` pairs of rows side by side, each with the line number of its side. `row` gets an even index for the
/// left side, and the next odd index for the right side.
pub(super) fn pairs_ui(
    ui: &mut Ui,
    id: impl AsIdSalt,
    count: usize,
    gutter: Gutter,
    selecting: Selecting<'_>,
    row: impl Fn(usize) -> Option<CodeRow>,
) -> Rect {
    const SIDES: [LineKind; 2] = [LineKind::Removed, LineKind::Added];
    let selectable = Some(selecting.area);
    let (area, response) = visible_rows_ui(ui, id, count, selectable, |ui, index, rect, id| {
        let (left, right) = rect.split_left_right_at_x(rect.center().x.round());
        for (side, (kind, side_rect)) in SIDES.into_iter().zip([left, right]).enumerate() {
            if let Some(mut row) = row(2 * index + side) {
                row.numbers = (None, if side == 0 { row.numbers.0 } else { row.numbers.1 });
                let selected = selecting.in_row(&row, Some(kind));
                row_ui(ui, side_rect, &row, gutter, id.with(side), selected);
            }
        }
        let stroke = Stroke::new(1.0, Theme::of(ui).line);
        ui.painter().vline(right.left(), rect.y_range(), stroke);
    });
    if let Some(response) = response {
        selecting.input(ui, &response, |pointer| {
            let middle = area.center().x.round();
            let (side, left) = if pointer.x < middle { (0, area.left()) } else { (1, middle) };
            let row = row(2 * row_index(area, pointer, count)? + side)?;
            let galley = row_galley(ui, &row);
            Some((row, galley, left + gutter.width(), SIDES.get(side).copied()))
        });
    }
    area
}

/// Calls `draw` for each visible one of `count` rows, with the index, the rectangle and the id of the row. Returns where
/// the rows are, and what the pointer does to the control `selectable` in their place.
fn visible_rows_ui(
    ui: &mut Ui,
    id: impl AsIdSalt,
    count: usize,
    selectable: Option<Id>,
    mut draw: impl FnMut(&Ui, usize, Rect, Id),
) -> (Rect, Option<Response>) {
    let height = f64::from(theme::CODE_ROW);
    let size = vec2(ui.available_width(), (height * count as f64) as f32);
    let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
    let visible = ui.clip_rect();
    // Not focusable, so that Tab does not stop at each difference.
    let pointer = |id| ui.interact(rect.intersect(visible), id, Sense::CLICK | Sense::DRAG);
    let response = selectable.map(pointer);
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
    (rect, response)
}
