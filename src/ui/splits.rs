//! The sizes of the panels that the person chose by dragging their edges. A small window makes a panel smaller for as
//! long as it is small; the chosen size is kept, also from one start to the next.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use egui::containers::panel::PanelState;
use egui::{
    Context, EventFilter, Frame, Id, Key, Margin, Modifiers, Panel, Rect, Role, Stroke, Ui,
};

use super::{Theme, access, icon, narrow, theme, widgets};

/// Chosen sizes in points, by the name of the panel.
pub type Splits = BTreeMap<String, f32>;

fn splits_id() -> Id {
    Id::unique("sizes of panels")
}

/// Sets the chosen sizes. Sizes that no window can have are ignored.
pub fn set_splits(ctx: &Context, mut splits: Splits) {
    splits.retain(|_, size| (40.0..=10_000.0).contains(size));
    ctx.data_mut(|data| data.insert_temp(splits_id(), splits));
}

/// The chosen sizes.
pub fn splits(ctx: &Context) -> Splits {
    ctx.data(|data| data.get_temp(splits_id())).unwrap_or_default()
}

/// The side of the window at which a panel is, and its size along the other axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// At the left, with a width.
    Left,
    /// At the right, with a width.
    Right,
    /// At the bottom, with a height.
    Bottom,
}

/// Draws a panel with a size that the person chose, else `default`, as far as it is in `range`. It has a name for the
/// chosen size, and one for people.
pub fn split_panel_ui(
    ui: &mut Ui,
    side: Side,
    (name, part): (&'static str, &str),
    default: f32,
    range: RangeInclusive<f32>,
    frame: Frame,
    add: impl FnOnce(&mut Ui),
) {
    let chosen = splits(ui.ctx()).get(name).copied();
    let size = chosen.unwrap_or(default).clamp(*range.start(), *range.end());
    let id = ui.scope_id().with(name);
    let handle_id = id.with("__resize");
    let handle = ui.ctx().read_response(handle_id);
    let is_dragged = handle.is_some_and(|handle| handle.dragged() || handle.drag_stopped());
    // egui would go on with the size that a small window has left.
    if let Some(mut state) = PanelState::load(ui.ctx(), id) {
        match side {
            Side::Left | Side::Right => state.outer_rect.set_width(size),
            Side::Bottom => state.outer_rect.set_height(size),
        }
        ui.data_mut(|data| data.insert_persisted(id, state));
    }
    let panel = match side {
        Side::Left => Panel::left(name),
        Side::Right => Panel::right(name),
        Side::Bottom => Panel::bottom(name),
    };
    let panel = panel.default_size(size).size_range(range).resizable(true).frame(frame);
    let panel = panel.show(ui, |ui| {
        access::landmark(ui, Role::Complementary, part);
        add(ui);
    });
    access::rename(ui, handle_id, &format!("Resize the panel {part}"));
    let rect = panel.response.rect;
    let shown = if side == Side::Bottom { rect.height() } else { rect.width() };
    let by_key = if ui.memory(|memory| memory.has_focus(handle_id)) {
        focused_edge_ui(ui, side, rect, handle_id)
    } else {
        0.0
    };
    if is_dragged || by_key != 0.0 {
        let mut all = splits(ui.ctx());
        all.insert(name.to_owned(), (shown + by_key).round());
        ui.data_mut(|data| data.insert_temp(splits_id(), all));
    }
}

/// Shows that the edge of a panel has the keyboard. Returns by how much the arrow keys have made the panel larger, in
/// points.
fn focused_edge_ui(ui: &Ui, side: Side, rect: Rect, handle: Id) -> f32 {
    const STEP: f32 = 16.0;
    let stroke = Stroke::new(2.0, Theme::of(ui).accent);
    let painter = ui.ctx().layer_painter(ui.layer_id());
    match side {
        Side::Left => painter.vline(rect.right(), rect.y_range(), stroke),
        Side::Right => painter.vline(rect.left(), rect.y_range(), stroke),
        Side::Bottom => painter.hline(rect.x_range(), rect.top(), stroke),
    };
    let wider = match side {
        Side::Left => Key::ArrowRight,
        Side::Right => Key::ArrowLeft,
        // Up and Down go from step to step everywhere on the page.
        Side::Bottom => Key::ArrowRight,
    };
    let filter = EventFilter { horizontal_arrows: true, ..EventFilter::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(handle, filter));
    let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    let (left, right) = (pressed(Key::ArrowLeft), pressed(Key::ArrowRight));
    match (left || right, left == (wider == Key::ArrowLeft)) {
        (false, _) => 0.0,
        (true, true) => STEP,
        (true, false) => -STEP,
    }
}

/// The panel at the left side of a page. A wide window gives it more room, as long as the person chose no width; a narrow
/// one folds it into a strip with a button.
pub fn side_panel_ui(ui: &mut Ui, id: &'static str, add: impl FnOnce(&mut Ui)) {
    let is_folded = ui.ctx().content_rect().width() < narrow::NO_SIDE_LIST;
    folding_panel_ui(ui, id, is_folded, add);
}

/// The panel at the left side of a page; with `is_folded`, a strip with a button that shows it.
pub fn folding_panel_ui(ui: &mut Ui, id: &'static str, is_folded: bool, add: impl FnOnce(&mut Ui)) {
    let fill = Theme::of(ui).panel;
    let window = ui.ctx().content_rect().width();
    let mut frame = widgets::panel_frame(fill, Margin::symmetric(12, 12));
    if is_folded {
        let open = narrow::is_open(ui.ctx(), id);
        let strip = Panel::left("folded list").exact_size(36.0).resizable(false);
        strip.frame(widgets::panel_frame(fill, Margin::symmetric(6, 10))).show(ui, |ui| {
            let name = if open { "Hide the list" } else { "Show the list" };
            if widgets::icon_button(ui, icon::LIST, name).clicked() {
                narrow::set_open(ui.ctx(), id, !open);
            }
        });
        if !open {
            return;
        }
        frame.inner_margin.left = 4;
    }
    let default = (window * 0.16).round().clamp(theme::SIDEBAR, theme::WIDE_SIDEBAR);
    let range = 160.0..=(window * 0.4).clamp(theme::SIDEBAR, 480.0);
    split_panel_ui(ui, Side::Left, (id, "List"), default, range, frame, add);
}

#[cfg(test)]
mod tests {
    use egui::{Event, Modifiers, PointerButton, pos2, vec2};
    use egui_kittest::Harness;

    use super::*;

    #[test]
    fn the_chosen_size_outlasts_a_small_window() {
        let mut harness = Harness::builder().with_size(vec2(1_000.0, 400.0)).build_ui(|ui| {
            let width = ui.available_width();
            let range = 100.0..=(width - 300.0).max(100.0);
            split_panel_ui(ui, Side::Right, ("test", "Details"), 300.0, range, Frame::NONE, |ui| {
                let width = ui.available_width();
                ui.set_min_width(width);
                ui.data_mut(|data| data.insert_temp(Id::unique("shown"), width));
            });
        });
        let shown = |harness: &Harness<'_>| -> f32 {
            harness.ctx.data(|data| data.get_temp(Id::unique("shown"))).unwrap()
        };
        harness.run();
        assert!((shown(&harness) - 300.0).abs() < 2.0, "{}", shown(&harness));
        let edge = 1_000.0 - 8.0 - 300.0;
        for (x, pressed) in [(edge, Some(true)), (edge - 100.0, None), (edge - 100.0, Some(false))]
        {
            let pos = pos2(x, 200.0);
            harness.event(Event::PointerMoved(pos));
            harness.step();
            if let Some(pressed) = pressed {
                let (button, modifiers) = (PointerButton::Primary, Modifiers::NONE);
                harness.event(Event::PointerButton { pos, button, pressed, modifiers });
            }
            harness.step();
        }
        harness.run();
        let chosen = splits(&harness.ctx)["test"];
        assert!((chosen - 400.0).abs() < 12.0, "{chosen}");
        // By keyboard: the edge is the only thing here that can have it.
        harness.key_press(Key::Tab);
        harness.run();
        harness.key_press(Key::ArrowRight);
        harness.run();
        harness.key_press(Key::ArrowLeft);
        harness.run();
        harness.key_press(Key::ArrowLeft);
        harness.run();
        assert!((splits(&harness.ctx)["test"] - chosen - 16.0).abs() < 2.0);
        let chosen = splits(&harness.ctx)["test"];
        harness.set_size(vec2(500.0, 400.0));
        harness.run();
        assert!(shown(&harness) < 250.0, "{}", shown(&harness));
        assert!((splits(&harness.ctx)["test"] - chosen).abs() < 1.0, "still chosen");
        harness.set_size(vec2(1_000.0, 400.0));
        harness.run();
        assert!((shown(&harness) - chosen).abs() < 2.0);
    }
}
