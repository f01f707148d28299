//! Swallows the second click of a double click whose first click closed a dialog, so that it does not press a control
//! that the dialog covered.

use egui::{Area, Context, Id, Order, Pos2, Sense, Vec2};

/// The time after a click in which a click near it counts as its continuation, in milliseconds.
const DOUBLE_CLICK_MS: f64 = 500.0;
/// The maximum distance between the two clicks on each axis, in points.
const REACH: f32 = 8.0;

/// A click that closed a dialog.
#[derive(Debug, Clone, Copy)]
struct Click {
    position: Pos2,
    seconds: f64,
}

fn id() -> Id {
    Id::unique("the rest of a click")
}

/// Records the click of this frame, if there is one, as one that closed a dialog.
pub(in crate::ui) fn remember(ctx: &Context) {
    let click = ctx.input(|input| {
        let position = input.pointer.interact_pos().filter(|_| input.pointer.any_released())?;
        Some(Click { position, seconds: input.time })
    });
    if let Some(click) = click {
        ctx.data_mut(|data| data.insert_temp(id(), click));
    }
}

/// Swallows clicks that continue the click that closed a dialog.
pub(super) fn swallow_rest_of_click(ctx: &Context) {
    let Some(mut click) = ctx.data(|data| data.get_temp::<Click>(id())) else { return };
    let now = ctx.input(|input| input.time);
    let remaining_ms = DOUBLE_CLICK_MS - (now - click.seconds) * 1_000.0;
    if remaining_ms <= 0.0 {
        ctx.data_mut(|data| data.remove::<Click>(id()));
        return;
    }
    let size = Vec2::splat(2.0 * REACH);
    let area = Area::new(id()).order(Order::Foreground).constrain(false);
    let response = area
        .fixed_pos(click.position - size / 2.0)
        .default_size(size)
        .show(ctx, |ui| ui.allocate_response(size, Sense::click()))
        .inner;
    if response.is_pointer_button_down_on() || response.clicked() {
        // A third click may continue the second.
        click.seconds = now;
        ctx.data_mut(|data| data.insert_temp(id(), click));
    }
    ctx.request_repaint_after(std::time::Duration::from_millis(remaining_ms.ceil() as u64));
}
