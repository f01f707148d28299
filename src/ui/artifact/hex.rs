//! Binary content: offset, bytes, and their printable characters.

use std::sync::Arc;

use egui::{Id, Rect, Ui, pos2};

use super::list::{Area, Cursor, list_ui, row_label, with_state};
use crate::ui::plan::{Gutter, columns};
use crate::ui::{Text, Theme, widgets};

/// The offset, the hex bytes and the characters of one row with `width` bytes.
fn hex_row(bytes: &[u8], row: usize, width: usize) -> (String, String, String) {
    let start = row.saturating_mul(width);
    let part = bytes.get(start..bytes.len().min(start + width)).unwrap_or_default();
    let mut hex = String::with_capacity(width * 3 + 1);
    for index in 0..width {
        if index == width / 2 {
            hex.push(' ');
        }
        match part.get(index) {
            Some(byte) => hex.push_str(&format!("{byte:02x} ")),
            None => hex.push_str("   "),
        }
    }
    let letter =
        |byte: &u8| if byte.is_ascii_graphic() || *byte == b' ' { char::from(*byte) } else { '.' };
    (format!("{start:08x}"), hex.trim_end().to_owned(), part.iter().map(letter).collect())
}

/// A hex dump of the bytes, for the clipboard.
pub fn hex_text(bytes: &[u8]) -> String {
    let rows = 0..bytes.len().div_ceil(16);
    rows.map(|row| {
        let (offset, hex, letters) = hex_row(bytes, row, 16);
        format!("{offset}  {hex:<48}  {letters}\n")
    })
    .collect()
}

/// State of the hex viewer between frames.
#[derive(Debug, Clone, Default)]
struct HexState {
    /// The viewer and the number of bytes shown last.
    shown: Option<(Id, usize)>,
    cursor: Cursor,
}

/// Draws bytes.
pub(super) fn hex_ui(ui: &mut Ui, area: Area<'_>, bytes: &Arc<[u8]>) {
    // A row has as many bytes as fit: 16, 8 or 4. The offset takes ten columns, each hex byte three, the gaps two.
    let columns = columns(ui, ui.available_width(), Gutter::NONE);
    let fits = |width: &usize| 10 + 3 * width + 2 + width <= columns;
    let width = [16, 8].into_iter().find(fits).unwrap_or(4);
    let rows = bytes.len().div_ceil(width);
    with_state(ui, |ui, HexState { shown, cursor }: &mut HexState| {
        let current = Some((area.id, bytes.len()));
        if *shown != current {
            (*shown, *cursor) = (current, Cursor::default());
        }
        let input = list_ui(ui, area, rows, cursor, |ui, rect, row, _| {
            row_ui(ui, rect, row, bytes, width);
        });
        if input.copy {
            ui.ctx().copy_text(hex_row(bytes, cursor.row, width).1);
        }
    });
}

fn row_ui(ui: &Ui, rect: Rect, row: usize, bytes: &[u8], width: usize) {
    let theme = Theme::of(ui);
    let advance = Text::Mono.digit_width(ui);
    let (offset, hex, letters) = hex_row(bytes, row, width);
    let middle = rect.center().y;
    let left = rect.left() + f32::from(super::MARGIN);
    let paint = |column: usize, text: &str, color| {
        let position = pos2(left + advance * column as f32, middle);
        widgets::paint_parts(ui, position, f32::INFINITY, &[(text, Text::Mono, color)]);
    };
    paint(0, &offset, theme.dim);
    paint(10, &hex, theme.text);
    paint(10 + 3 * width + 2, &letters, theme.safe);
    row_label(ui, rect, row, || format!("{offset}  {hex}  {letters}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_offset_bytes_and_letters() {
        let bytes: Vec<u8> = b"PK\x03\x04 name\xff\x00\x7f.rs~\n!".to_vec();
        let (offset, hex, letters) = hex_row(&bytes, 0, 16);
        assert_eq!(offset, "00000000");
        assert_eq!(hex, "50 4b 03 04 20 6e 61 6d  65 ff 00 7f 2e 72 73 7e");
        assert_eq!(letters, "PK.. name....rs~");
        let last = hex_row(&bytes, 1, 16);
        assert_eq!(last, ("00000010".to_owned(), "0a 21".to_owned(), ".!".to_owned()));
        assert_eq!(hex_row(&bytes, 9, 16).2, "", "no bytes after the end");
    }
}
