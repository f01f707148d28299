//! Lists of rows of equal height, and the backgrounds of rows and items.

use egui::{Color32, CornerRadius, Rect, Response, ScrollArea, Sense, Stroke, Ui, pos2, vec2};

use super::{Theme, theme};

/// A scrolling list of rows of equal height with a line below each, of which only the visible ones are drawn.
/// Scrolls the row `reveal` into view.
pub fn rows_ui(
    ui: &mut Ui,
    id: &str,
    height: f32,
    count: usize,
    reveal: Option<usize>,
    mut draw: impl FnMut(&mut Ui, Rect, usize),
) {
    ui.spacing_mut().item_spacing.y = 0.0;
    let area = ScrollArea::vertical().id_salt(id).auto_shrink([false, false]);
    area.show_rows(ui, height, count, |ui, range| {
        let size = vec2(ui.available_width(), height);
        if let Some(row) = reveal {
            let y = ui.min_rect().top() + (row as f32 - range.start as f32) * height;
            ui.scroll_to_rect(Rect::from_min_size(pos2(ui.min_rect().left(), y), size), None);
        }
        for index in range {
            let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
            draw(ui, rect, index);
            let stroke = Stroke::new(1.0, Theme::of(ui).line);
            ui.painter().hline(rect.x_range(), rect.bottom() - 0.5, stroke);
        }
    });
}

/// Paints the background of a row that can be selected. Returns its colour.
pub fn row_background(ui: &Ui, row: &Response, selected: bool) -> Color32 {
    let theme = Theme::of(ui);
    let fill = match (selected, row.hovered()) {
        (true, _) => theme.selection,
        (false, true) => theme.hover,
        (false, false) => theme.background,
    };
    ui.painter().rect_filled(row.rect, CornerRadius::ZERO, fill);
    fill
}

/// Highlights an item of a list while it is selected or hovered.
pub fn item_background(ui: &Ui, item: &Response, selected: bool) {
    let theme = Theme::of(ui);
    if selected || item.hovered() {
        let fill = if selected { theme.selection } else { theme.hover };
        ui.painter().rect_filled(item.rect, CornerRadius::same(theme::RADIUS), fill);
    }
}
