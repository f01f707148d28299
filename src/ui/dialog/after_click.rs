//! Swallows the second half of a double click whose first half closed a question, so that it does not press a
//! control behind the question.

use egui::{Area, Context, Id, Order, Pos2, Sense, Vec2};

/// The time after a click in which another one at the same place counts as its continuation, in milliseconds.
const REST_MS: f64 = 500.0;
/// The largest distance between the two clicks, in points.
const REACH: f32 = 8.0;

/// A click that closed a question.
#[derive(Debug, Clone, Copy)]
struct Click {
    at: Pos2,
    seconds: f64,
}

fn id() -> Id {
    Id::unique("the rest of a click")
}

/// Records that a click of this frame, if there is one, closed a question.
pub(in crate::ui) fn remember(ctx: &Context) {
    let click = ctx.input(|input| {
        let at = input.pointer.interact_pos().filter(|_| input.pointer.any_released())?;
        Some(Click { at, seconds: input.time })
    });
    if let Some(click) = click {
        ctx.data_mut(|data| data.insert_temp(id(), click));
    }
}

/// Swallows clicks that continue the click that closed a question. Call this in every frame without a
/// question.
pub fn swallow_rest_of_click(ctx: &Context) {
    let Some(mut click) = ctx.data(|data| data.get_temp::<Click>(id())) else { return };
    let now = ctx.input(|input| input.time);
    let left_ms = REST_MS - (now - click.seconds) * 1_000.0;
    if left_ms <= 0.0 {
        ctx.data_mut(|data| data.remove::<Click>(id()));
        return;
    }
    let size = Vec2::splat(2.0 * REACH);
    let area = Area::new(id()).order(Order::Foreground).constrain(false);
    let response = area
        .fixed_pos(click.at - size / 2.0)
        .default_size(size)
        .show(ctx, |ui| ui.allocate_response(size, Sense::click()))
        .inner;
    if response.is_pointer_button_down_on() || response.clicked() {
        // A third click may continue the second.
        click.seconds = now;
        ctx.data_mut(|data| data.insert_temp(id(), click));
    }
    ctx.request_repaint_after(std::time::Duration::from_millis(left_ms.ceil() as u64));
}
