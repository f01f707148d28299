//! The sizes of the panels that the person chose by dragging their edges. A small window makes a panel smaller for as
//! long as it is small; the chosen size is kept, also from one start to the next.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use egui::containers::panel::PanelState;
use egui::{Context, Frame, Id, Margin, Panel, Ui};

use super::{Theme, icon, narrow, theme, widgets};

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

/// Draws a panel with a size that the person chose, else `default`, as far as it is in `range`.
pub fn split_panel_ui(
    ui: &mut Ui,
    side: Side,
    name: &'static str,
    default: f32,
    range: RangeInclusive<f32>,
    frame: Frame,
    add: impl FnOnce(&mut Ui),
) {
    let chosen = splits(ui.ctx()).get(name).copied();
    let size = chosen.unwrap_or(default).clamp(*range.start(), *range.end());
    let id = ui.scope_id().with(name);
    let handle = ui.ctx().read_response(id.with("__resize"));
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
    let rect = panel.show(ui, add).response.rect;
    let shown = if side == Side::Bottom { rect.height() } else { rect.width() };
    if is_dragged {
        let mut all = splits(ui.ctx());
        all.insert(name.to_owned(), shown.round());
        ui.data_mut(|data| data.insert_temp(splits_id(), all));
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
    split_panel_ui(ui, Side::Left, id, default, range, frame, add);
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
            split_panel_ui(ui, Side::Right, "test", 300.0, range, Frame::NONE, |ui| {
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
        harness.set_size(vec2(500.0, 400.0));
        harness.run();
        assert!(shown(&harness) < 250.0, "{}", shown(&harness));
        assert!((splits(&harness.ctx)["test"] - chosen).abs() < 1.0, "still chosen");
        harness.set_size(vec2(1_000.0, 400.0));
        harness.run();
        assert!((shown(&harness) - chosen).abs() < 2.0);
    }
}
