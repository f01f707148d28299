//! Lists of rows of equal height, and the backgrounds and tooltips of rows and items.

use egui::{
    Color32, Context, CornerRadius, Event, Id, Label, Rect, RectAlign, Response, Role, ScrollArea,
    Sense, Stroke, Tooltip, Ui, WidgetText, pos2, vec2,
};

use super::{Theme, access, theme, widgets};

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
        access::list(ui, Role::ListBox, id, count);
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
    if selected {
        let bar = Rect::from_min_size(row.rect.min, vec2(3.0, row.rect.height()));
        ui.painter().rect_filled(bar, CornerRadius::ZERO, theme.accent);
    }
    fill
}

/// Highlights an item of a list while it is selected or hovered.
pub fn item_background(ui: &Ui, item: &Response, selected: bool) {
    let theme = Theme::of(ui);
    if selected || item.hovered() {
        let fill = if selected { theme.selection } else { theme.hover };
        ui.painter().rect_filled(item.rect, CornerRadius::same(theme::RADIUS), fill);
    }
    if selected {
        widgets::selected_line(ui, item.rect);
    }
}

/// The least width of a tooltip beside a list, in points.
const MIN_TOOLTIP: f32 = 150.0;
/// The width of a tooltip in a window that is wide enough, in points.
const USUAL_TOOLTIP: f32 = 500.0;

fn keys_id() -> Id {
    Id::unique("a key was pressed after the pointer moved")
}

/// Notes in each frame whether the person works with keys or with the pointer. Call this before any row is drawn.
pub fn note_keys(ctx: &Context) {
    let (moved, typed) = ctx.input(|input| {
        let moved = input.events.iter().any(|event| matches!(event, Event::PointerMoved(_)));
        let is_key = |event: &Event| {
            matches!(
                event,
                Event::Key { pressed: true, .. } | Event::Text(_) | Event::Paste(_) | Event::Ime(_)
            )
        };
        (moved, input.events.iter().any(is_key))
    });
    if typed || moved {
        ctx.data_mut(|data| data.insert_temp(keys_id(), typed));
    }
}

/// Keeps tooltips narrower than the window. Call this before anything is drawn.
pub fn fit_tooltips(ctx: &Context) {
    let fitting = (ctx.content_rect().width() - 32.0).clamp(MIN_TOOLTIP, USUAL_TOOLTIP);
    if ctx.global_style().spacing.tooltip_width != fitting {
        ctx.all_styles_mut(|style| style.spacing.tooltip_width = fitting);
    }
}

/// Shows a tooltip of a row beside its list, so that it covers no other row: at the right of a list that is itself
/// `at_left` of the page, else at the left; without room there, beyond the next row. Any key hides it until the pointer
/// moves.
pub fn row_tooltip(row: &Response, at_left: bool, text: impl Into<WidgetText>) {
    let ctx = &row.ctx;
    if ctx.data(|data| data.get_temp(keys_id()).unwrap_or(false)) {
        return;
    }
    let (window, margin) = (ctx.content_rect(), 16.0);
    let (room, align) = match at_left {
        true => (window.right() - row.rect.right() - margin, RectAlign::RIGHT_START),
        false => (row.rect.left() - window.left() - margin, RectAlign::LEFT_START),
    };
    let usual = ctx.global_style().spacing.tooltip_width;
    let mut tooltip = Tooltip::for_enabled(row);
    let width = if room >= MIN_TOOLTIP { room.min(usual) } else { usual };
    if room >= MIN_TOOLTIP {
        tooltip = tooltip.gap(8.0).width(width);
        tooltip.popup = tooltip.popup.align(align).align_alternatives(&[]);
    } else {
        // Without room beside the list, the row and its neighbours stay readable.
        tooltip = tooltip.gap(row.rect.height() + 4.0).width(width);
        tooltip.popup = tooltip.popup.align(RectAlign::BOTTOM_START);
        tooltip.popup = tooltip.popup.align_alternatives(&[RectAlign::TOP_START]);
    }
    tooltip.show(|ui| {
        ui.set_max_width(width);
        ui.add(Label::new(text));
    });
}

#[cfg(test)]
mod tests {
    use egui_kittest::kittest::Queryable as _;

    use crate::ui::tests::window;

    #[test]
    fn tooltips_of_rows_cover_no_rows_and_go_with_any_key() {
        for size in [[900.0, 600.0], [1280.0, 800.0]] {
            let mut harness = window("plan", size);
            let row = harness.get_by_label_contains("Step 2: ").rect();
            harness.hover_at(row.left_center() + egui::vec2(150.0, 0.0));
            harness.run_ok();
            let tooltip = harness.get_by_label_contains("Step 2, not run yet").rect();
            assert!(tooltip.right() <= row.left(), "{tooltip:?} beside {row:?}");
            harness.key_press(egui::Key::ArrowDown);
            harness.run_ok();
            assert!(harness.query_by_label_contains("Step 2, not run yet").is_none(), "{size:?}");
            harness.hover_at(row.left_center() + egui::vec2(152.0, 0.0));
            harness.run_ok();
            assert!(harness.query_by_label_contains("Step 2, not run yet").is_some(), "{size:?}");
        }
    }

    #[test]
    fn a_tooltip_without_room_beside_its_row_is_beyond_the_next_one() {
        let mut harness = window("plan", [450.0, 420.0]);
        let row = |number: u8, harness: &egui_kittest::Harness<'_, _>| {
            harness.get_by_label_contains(&format!("Step {number}: ")).rect()
        };
        let [first, second, third] = [1, 2, 3].map(|number| row(number, &harness));
        harness.hover_at(second.center());
        harness.run_ok();
        let tooltip = harness.get_by_label_contains("Step 2, not run yet").rect();
        for row in [first, second, third] {
            assert!(!tooltip.intersects(row.shrink(1.0)), "{tooltip:?} over {row:?}");
        }
    }

    #[test]
    fn tooltips_of_the_list_at_the_left_are_beside_it() {
        let mut harness = window("plan", [1280.0, 800.0]);
        let row = harness.get_by_label_contains("Plan Rename Config to Settings").rect();
        harness.hover_at(row.center());
        harness.run_ok();
        let tooltips = harness.query_all_by_label_contains("Rename Config to Settings\n");
        let tooltip = tooltips.map(|it| it.rect()).next().unwrap();
        assert!(tooltip.left() >= row.right(), "{tooltip:?} beside {row:?}");
    }
}
