//! Lists of matches, symbols, references and diagnostics as a table that can be sorted by any column.

use std::borrow::Cow;
use std::sync::{Arc, Weak};

use egui::{Id, Rect, Sense, Ui, pos2, vec2};
use serde_json::Value;

use super::list::{Area, Cursor, list_ui, row_buttons_ui, row_label, with_state};
use crate::plan::drawable;
use crate::ui::{Text, Theme, controls, format, icon, theme, widgets};

struct Column {
    /// The JSON field of an item; empty for the item itself.
    field: &'static str,
    heading: &'static str,
    kind: ColumnKind,
    /// The share of the width that the columns of numbers leave.
    share: f32,
    /// Whether the column is hidden in a table narrower than [`NARROW`].
    wide_only: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ColumnKind {
    Text,
    /// Paths; a path that is too long is shortened at its start.
    Path,
    Number,
}

const fn text(field: &'static str, heading: &'static str, share: f32) -> Column {
    Column { field, heading, kind: ColumnKind::Text, share, wide_only: false }
}

const fn path(field: &'static str, heading: &'static str, share: f32) -> Column {
    Column { field, heading, kind: ColumnKind::Path, share, wide_only: false }
}

const fn number(field: &'static str, heading: &'static str) -> Column {
    Column { field, heading, kind: ColumnKind::Number, share: 0.0, wide_only: false }
}

const fn wide_only(column: Column) -> Column {
    Column { wide_only: true, ..column }
}

/// Below this width, in points, a table hides its less important columns; copied rows have all.
const NARROW: f32 = 420.0;

/// The columns of diagnostics, matches, references and symbols, after the fields that identify these items. An array
/// has the columns of the first entry whose fields all occur in the first item of the array.
static LAYOUTS: [(&[&str], &[Column]); 4] = [
    (
        &["level", "message"],
        &[
            text("level", "Level", 0.8),
            wide_only(text("code", "Code", 0.7)),
            path("file_name", "File", 1.6),
            number("line_start", "Line"),
            text("message", "Message", 3.0),
        ],
    ),
    (
        &["path", "line", "text"],
        &[
            path("path", "File", 1.0),
            number("line", "Line"),
            wide_only(number("column", "Column")),
            text("text", "Text", 1.6),
        ],
    ),
    (
        &["symbol", "file_path", "line"],
        &[
            path("file_path", "File", 1.5),
            number("line", "Line"),
            wide_only(number("column", "Column")),
            text("symbol", "Symbol", 1.0),
            wide_only(text("from_symbol", "In", 1.0)),
        ],
    ),
    (
        &["name", "kind", "start_line"],
        &[
            text("name", "Name", 1.2),
            text("kind", "Kind", 0.7),
            number("start_line", "From"),
            wide_only(number("end_line", "To")),
            wide_only(text("fqn", "Whole name", 1.6)),
        ],
    ),
];

static PATHS: [Column; 1] = [path("", "File", 1.0)];

/// A list in the form of a table.
pub struct Table {
    columns: &'static [Column],
    rows: Vec<Box<[Box<str>]>>,
    /// For each column, the row indices in the order of its cells.
    orders: Vec<Vec<u32>>,
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Table of {} rows", self.rows.len())
    }
}

impl Table {
    /// The table of an array; `None` if the value is not an array, it is empty, or its first item has no known columns.
    pub fn of(value: &Value) -> Option<Self> {
        let items = value.as_array()?;
        let columns: &[Column] = match items.first()? {
            Value::String(_) => &PATHS,
            Value::Object(fields) => {
                let has = |names: &[&str]| names.iter().all(|name| fields.contains_key(*name));
                LAYOUTS.iter().find(|(names, _)| has(names)).map(|(_, columns)| *columns)?
            }
            _ => return None,
        };
        let rows: Vec<Box<[Box<str>]>> = items
            .iter()
            .map(|item| columns.iter().map(|column| cell(item, column.field)).collect())
            .collect();
        let orders =
            columns.iter().enumerate().map(|(index, column)| order(&rows, index, column)).collect();
        Some(Self { columns, rows, orders })
    }

    /// The number of rows.
    pub fn row_count(&self) -> usize {
        self.rows.len()
    }

    /// The cells of the row at this index of the shown order, which is the input order without `sort`; `None` after the
    /// last row.
    fn row(&self, index: usize, sort: Option<Sort>) -> Option<&[Box<str>]> {
        let index = match sort {
            None => index,
            Some(Sort { column, descending }) => {
                let order = self.orders.get(column)?;
                let position = if descending { order.len().checked_sub(index + 1)? } else { index };
                *order.get(position)? as usize
            }
        };
        self.rows.get(index).map(AsRef::as_ref)
    }
}

fn cell(item: &Value, field: &str) -> Box<str> {
    let value = if field.is_empty() { Some(item) } else { item.get(field) };
    match value {
        None | Some(Value::Null) => "".into(),
        Some(Value::String(text)) => text.as_str().into(),
        Some(other) => other.to_string().into(),
    }
}

/// The row indices sorted by the column at an index; the sort is stable.
fn order(rows: &[Box<[Box<str>]>], index: usize, column: &Column) -> Vec<u32> {
    let text =
        |row: &u32| rows.get(*row as usize).and_then(|row| row.get(index)).map_or("", |it| it);
    let mut order: Vec<u32> = (0..rows.len() as u32).collect();
    if column.kind == ColumnKind::Number {
        order.sort_by_cached_key(|row| text(row).parse::<u64>().unwrap_or(u64::MAX));
    } else {
        order.sort_by(|one, other| text(one).cmp(text(other)));
    }
    order
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sort {
    column: usize,
    descending: bool,
}

#[derive(Debug, Clone, Default)]
struct TableState {
    table: Weak<Table>,
    sort: Option<Sort>,
    cursor: Cursor,
}

/// Draws a table.
pub(super) fn table_ui(ui: &mut Ui, area: Area<'_>, table: &Arc<Table>) {
    with_state(ui, |ui, state: &mut TableState| shown_ui(ui, area, table, state));
}

fn shown_ui(ui: &mut Ui, area: Area<'_>, table: &Arc<Table>, state: &mut TableState) {
    if !std::ptr::eq(state.table.as_ptr(), Arc::as_ptr(table)) {
        *state = TableState { table: Arc::downgrade(table), ..TableState::default() };
    }
    let edges = edges(ui.available_width(), table.columns);
    header_ui(ui, area.id, table, &edges, &mut state.sort);
    let sort = state.sort;
    let below = Area { height: (area.height - theme::CODE_ROW - 6.0).max(60.0), ..area };
    let mut copied = None;
    let cursor = &mut state.cursor;
    let input = list_ui(ui, below, table.row_count(), cursor, |ui, rect, index, current| {
        let Some(cells) = table.row(index, sort) else { return };
        let reserved = if current { COPY_BUTTON } else { 0.0 };
        row_ui(ui, rect, index, cells, table.columns, &edges, reserved);
        let copy = |ui: &mut Ui| widgets::icon_button(ui, icon::COPY, "Copy row").clicked();
        if current && row_buttons_ui(ui, rect, area.id, copy) {
            copied = Some(tab_separated(cells));
        }
    });
    if input.copy {
        copied = table.row(state.cursor.row, sort).map(tab_separated);
    }
    if let Some(text) = copied {
        ui.ctx().copy_text(text);
    }
}

/// A row in the form that spreadsheets accept.
fn tab_separated(cells: &[Box<str>]) -> String {
    cells.join("\t")
}

/// The horizontal range of each column, in points; `None` for a hidden column.
fn edges(width: f32, columns: &[Column]) -> Vec<Option<(f32, f32)>> {
    const NUMBER: f32 = 50.0;
    const GAP: f32 = 12.0;
    let margin = f32::from(super::MARGIN);
    let shown = |column: &&Column| !column.wide_only || width >= NARROW;
    let count = columns.iter().filter(shown).count();
    let numbers = columns.iter().filter(shown).filter(|it| it.kind == ColumnKind::Number).count();
    let gaps = GAP * count.saturating_sub(1) as f32;
    let shares: f32 = columns.iter().filter(shown).map(|column| column.share).sum();
    let remaining = (width - 2.0 * margin - NUMBER * numbers as f32 - gaps).max(60.0);
    let mut left = margin;
    let range = |column: &Column| {
        shown(&column).then(|| {
            let is_number = column.kind == ColumnKind::Number;
            let width = if is_number { NUMBER } else { remaining * column.share / shares.max(0.1) };
            let edge = (left, left + width);
            left += width + GAP;
            edge
        })
    };
    columns.iter().map(range).collect()
}

fn header_ui(
    ui: &mut Ui,
    id: Id,
    table: &Table,
    edges: &[Option<(f32, f32)>],
    sort: &mut Option<Sort>,
) {
    let theme = Theme::of(ui);
    let size = vec2(ui.available_width(), theme::CODE_ROW + 4.0);
    let (all, _) = ui.allocate_exact_size(size, Sense::hover());
    for (index, (column, edge)) in table.columns.iter().zip(edges).enumerate() {
        let Some(edge) = edge else { continue };
        let rect = Rect::from_x_y_ranges(all.left() + edge.0..=all.left() + edge.1, all.y_range());
        let response = ui.interact(rect, id.with(("column", index)), Sense::click());
        let current = sort.filter(|sort| sort.column == index);
        let color = if current.is_some() || response.hovered() { theme.text } else { theme.dim };
        let part = (column.heading, Text::Meta, color);
        let middle = rect.center().y;
        let mut icon_x = if column.kind == ColumnKind::Number {
            rect.right() - widgets::paint_right(ui, rect.right_center(), part) - 8.0
        } else {
            let heading_width = (rect.width() - 12.0).max(0.0);
            widgets::paint_parts(ui, rect.left_center(), heading_width, &[part]).0.right() + 9.0
        };
        icon_x = icon_x.max(rect.left() - 6.0);
        // Clicks cycle through ascending, descending and original order.
        let sorted = |descending| Some(Sort { column: index, descending });
        let (icon, state, next) = match current.map(|sort| sort.descending) {
            None => (None, "", sorted(false)),
            Some(false) => (Some(icon::UP), ", sorted upwards", sorted(true)),
            Some(true) => (Some(icon::DOWN), ", sorted downwards", None),
        };
        if let Some(icon) = icon {
            widgets::paint_icon(ui, pos2(icon_x, middle), icon, 11.0, theme.accent);
        }
        let name = || format!("Sort by {}{state}", column.heading.to_lowercase());
        if controls::painted_button(ui, &response, name) {
            *sort = next;
        }
    }
    let stroke = egui::Stroke::new(1.0, theme.line);
    ui.painter().hline(all.x_range(), all.bottom() - 0.5, stroke);
}

/// The width that the copy button of the current row takes, in points.
const COPY_BUTTON: f32 = 28.0;

/// Draws a row that leaves `reserved` points free at its right end.
fn row_ui(
    ui: &Ui,
    rect: Rect,
    index: usize,
    cells: &[Box<str>],
    columns: &[Column],
    edges: &[Option<(f32, f32)>],
    reserved: f32,
) {
    let theme = Theme::of(ui);
    let middle = rect.center().y;
    let advance = Text::Mono.digit_width(ui);
    let mut any_hidden = false;
    for ((cell, column), edge) in cells.iter().zip(columns).zip(edges) {
        let Some(edge) = edge else {
            any_hidden = true;
            continue;
        };
        let left = rect.left() + edge.0;
        let right = (rect.left() + edge.1).min(rect.right() - reserved);
        if column.kind == ColumnKind::Number {
            widgets::paint_right(ui, pos2(right, middle), (cell, Text::SmallMono, theme.dim));
        } else {
            let width = (right - left).max(0.0);
            let mut text = Cow::Borrowed(cell.trim_start());
            if column.kind == ColumnKind::Path {
                text = format::end_of(cell.trim_start(), (width / advance) as usize);
            }
            any_hidden |= matches!(text, Cow::Owned(_));
            let parts = [(&*text, Text::Mono, theme.text)];
            any_hidden |= widgets::paint_parts(ui, pos2(left, middle), width, &parts).1;
        }
    }
    let response = row_label(ui, rect, index, || drawable(&cells.join("  ")).into_owned());
    if any_hidden {
        response.on_hover_ui(|ui| {
            for (cell, column) in cells.iter().zip(columns).filter(|(cell, _)| !cell.is_empty()) {
                let text = cell.get(..cell.floor_char_boundary(2_000)).unwrap_or_default();
                widgets::fact(ui, column.heading, text, Text::Mono);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_kind_of_list_has_its_columns() {
        let headings = |value: Value| {
            Table::of(&value)
                .map(|table| table.columns.iter().map(|column| column.heading).collect::<Vec<_>>())
        };
        let found = headings(json!([{"path": "a", "line": 1, "column": 2, "text": "x"}]));
        assert_eq!(found.unwrap(), ["File", "Line", "Column", "Text"]);
        assert_eq!(headings(json!(["a.rs"])).unwrap(), ["File"]);
        let symbol = json!([{"name": "f", "kind": "fn", "fqn": "m::f", "start_line": 1}]);
        assert_eq!(headings(symbol).unwrap()[0], "Name");
        let reference = json!([{"file_path": "a", "line": 1, "column": 1, "symbol": "f"}]);
        assert_eq!(headings(reference).unwrap()[3], "Symbol");
        assert_eq!(headings(json!([{"level": "error", "message": "m"}])).unwrap().len(), 5);
        for other in [json!([]), json!([1]), json!([{"x": 1}]), json!({"path": "a"})] {
            assert_eq!(headings(other), None);
        }
    }

    #[test]
    fn a_narrow_table_hides_minor_columns() {
        let columns = LAYOUTS[1].1;
        let shown = |width| edges(width, columns).iter().map(Option::is_some).collect::<Vec<_>>();
        assert_eq!(shown(300.0), [true, true, false, true]);
        assert_eq!(shown(470.0), [true; 4]);
        for width in [260.0, 419.0, 420.0, 1_000.0] {
            let last = edges(width, columns).into_iter().flatten().last().unwrap();
            assert!((last.1 - (width - f32::from(crate::ui::artifact::MARGIN))).abs() < 0.1);
        }
    }

    // Equal rows keep their order.
    #[test]
    fn rows_are_sorted_by_number_or_word() {
        let table = Table::of(&json!([
            {"path": "b", "line": 10, "column": 1, "text": "same"},
            {"path": "a", "line": 9, "column": 1, "text": "same"},
            {"path": "c", "line": 100, "column": 1, "text": "other"},
        ]))
        .unwrap();
        let paths = |sort| {
            (0..3).map(|row| &*table.row(row, sort).unwrap()[0]).collect::<Vec<_>>().concat()
        };
        let by = |column, descending| Some(Sort { column, descending });
        assert_eq!(paths(None), "bac");
        assert_eq!(paths(by(0, false)), "abc");
        assert_eq!(paths(by(1, false)), "abc");
        assert_eq!(paths(by(1, true)), "cba");
        assert_eq!(paths(by(3, false)), "cba");
        assert_eq!(tab_separated(table.row(0, None).unwrap()), "b\t10\t1\tsame");
        assert!(table.row(3, by(1, true)).is_none());
    }
}
