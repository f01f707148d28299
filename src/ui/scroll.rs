//! Scrolling by keys, the same on every page.

use egui::scroll_area::ScrollAreaOutput;
use egui::style::ScrollAnimation;
use egui::{
    AsIdSalt, Context, Frame, Id, Key, Margin, Modifiers, Response, ScrollArea, Ui, Vec2, vec2,
};

use super::artifact::{has_keyboard, keep_keyboard};
use super::theme;
use super::widgets::row_ring;

/// Scrolls the enclosing scroll area with Page Up, Page Down, Home and End, unless a text field or a viewer has the
/// focus or a modal dialog is open. Call this below the content: egui would pass the movement on to a scroll area inside
/// the content that is added later, and what the person reads would stay.
pub fn by_key(ui: &Ui) {
    let covered = ui.memory(|memory| memory.top_modal_layer().is_some());
    if covered || ui.ctx().text_edit_focused() || has_keyboard(ui.ctx()) {
        return;
    }
    if let Some(delta) = pressed(ui.ctx(), ui.clip_rect().height(), &PAGE_KEYS) {
        ui.scroll_with_delta_animation(delta, ScrollAnimation::none());
    }
}

/// Draws content with a margin in a scroll area that also handles the keys of [`by_key`].
pub fn area(ui: &mut Ui, salt: impl AsIdSalt, margin: Margin, add: impl FnOnce(&mut Ui)) {
    shown_area(ui, salt, margin, None, add);
}

/// With `offset`, scrolls to this place, in points below the top of the content.
fn shown_area(
    ui: &mut Ui,
    salt: impl AsIdSalt,
    margin: Margin,
    offset: Option<f32>,
    add: impl FnOnce(&mut Ui),
) -> ScrollAreaOutput<()> {
    let mut area = ScrollArea::vertical().id_salt(salt).auto_shrink([false, false]);
    if let Some(offset) = offset {
        area = area.vertical_scroll_offset(offset);
    }
    area.show(ui, |ui| {
        Frame::NONE.inner_margin(margin).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 6.0;
            add(ui);
        });
        by_key(ui);
    })
}

/// The height of a content of which every part must be on screen, in points: about 500 rows. A person signs a higher one
/// knowing its beginning and its end; nobody turns thousands of pages.
const PART_BY_PART: f32 = 10_000.0;

/// How much of a content has been on screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum OnScreen {
    /// Not all that must have been.
    #[default]
    Part,
    /// The beginning and the end of a content above `PART_BY_PART`.
    Ends,
    /// Every part. What is jumped over does not count.
    Whole,
}

/// The number of frames before a request to go on to what was not seen.
fn go_on_id() -> Id {
    Id::unique("go on to what was not seen")
}

/// Scrolls the area of `area_seen` to the first part that was not on screen, in the next frame.
pub fn go_on(ctx: &Context) {
    let frame = ctx.cumulative_frame_nr();
    ctx.data_mut(|data| data.insert_temp(go_on_id(), frame));
    ctx.request_repaint();
}

/// Takes the request of [`go_on`], if there is one for this frame.
pub fn goes_on(ctx: &Context) -> bool {
    let frame = ctx.data_mut(|data| data.remove_temp::<u64>(go_on_id()));
    frame.is_some_and(|frame| ctx.cumulative_frame_nr() <= frame + 1)
}

/// As [`area`], and returns how much of the content has been on screen.
/// `key` identifies the content; with another one, everything must be seen again.
pub fn area_seen<K: PartialEq + Clone + Send + Sync + 'static>(
    ui: &mut Ui,
    salt: impl AsIdSalt + Copy,
    key: K,
    margin: Margin,
    add: impl FnOnce(&mut Ui),
) -> OnScreen {
    let next = ui.scope_id().with(("go on to", salt));
    let offset = ui.data_mut(|data| data.remove_temp::<f32>(next));
    let output = shown_area(ui, salt, margin, offset, add);
    let shown = output.inner_rect.intersect(ui.clip_rect());
    let top = output.state.clamped_offset().y + (shown.top() - output.inner_rect.top());
    let (width, height) = (output.content_size.x, output.content_size.y);
    let id = output.id.with("seen");
    let known = ui.data_mut(|data| data.remove_temp::<Option<(K, f32, Seen)>>(id)).flatten();
    // At another width, everything is elsewhere.
    let known = known.filter(|(known, at_width, _)| *known == key && *at_width == width);
    let mut seen = known.map(|(.., seen)| seen).unwrap_or_default();
    seen.add(top, top + shown.height());
    if goes_on(ui.ctx()) {
        let farthest = (height - output.inner_rect.height()).max(0.0);
        let gap = seen.first_gap();
        // A row that was at the end of what was on screen leads on to what follows it. If all was on screen, the button
        // for more is at the end.
        let wanted = (gap - theme::CODE_ROW).clamp(0.0, farthest);
        if wanted <= top + Seen::GAP && top <= gap && top + Seen::GAP >= farthest {
            // The area is at its end: there is nothing that scrolling could still show.
            seen.add(gap, height);
        } else {
            ui.data_mut(|data| data.insert_temp(next, wanted));
            ui.ctx().request_repaint();
        }
    }
    let shown = seen.of(height);
    ui.data_mut(|data| data.insert_temp(id, Some((key, width, seen))));
    shown
}

/// The parts of a content that have been on screen, as ranges of its height in points, sorted and apart.
#[derive(Debug, Clone, Default, PartialEq)]
struct Seen(Vec<(f32, f32)>);

impl Seen {
    /// Parts that are this near have no row between them.
    const GAP: f32 = 1.0;

    fn add(&mut self, top: f32, bottom: f32) {
        let (mut top, mut bottom) = (top, bottom);
        self.0.retain(|(from, to)| {
            let touches = *from <= bottom + Self::GAP && top <= *to + Self::GAP;
            if touches {
                (top, bottom) = (top.min(*from), bottom.max(*to));
            }
            !touches
        });
        let place = self.0.partition_point(|(from, _)| *from < top);
        self.0.insert(place, (top, bottom));
    }

    /// How much of a content of this height they are.
    fn of(&self, height: f32) -> OnScreen {
        if self.covers(height) {
            OnScreen::Whole
        } else if height > PART_BY_PART && self.has_ends(height) {
            OnScreen::Ends
        } else {
            OnScreen::Part
        }
    }

    /// The top of the first part that has not been on screen.
    fn first_gap(&self) -> f32 {
        self.0.first().filter(|first| first.0 <= Self::GAP).map_or(0.0, |first| first.1)
    }

    /// Whether the beginning and the end have been on screen.
    fn has_ends(&self, height: f32) -> bool {
        let ends = self.0.first().zip(self.0.last());
        ends.is_some_and(|(first, last)| first.0 <= Self::GAP && last.1 + Self::GAP >= height)
    }

    fn covers(&self, height: f32) -> bool {
        let first = self.0.first();
        first.is_some_and(|(top, bottom)| *top <= Self::GAP && *bottom + Self::GAP >= height)
    }
}

/// While the control of an area has the focus, reserves the keyboard for it, and returns how far one of `keys` scrolls
/// the area. Escape releases the focus.
pub fn by_key_of(ui: &Ui, control: &Response, keys: &[Key]) -> Option<Vec2> {
    if !control.has_focus() {
        return None;
    }
    keep_keyboard(ui, control.id);
    row_ring(ui, control);
    if ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape)) {
        control.surrender_focus();
    }
    pressed(ui.ctx(), control.rect.height(), keys)
}

/// The keys that scroll by a page or to an end.
pub const PAGE_KEYS: [Key; 4] = [Key::PageDown, Key::PageUp, Key::End, Key::Home];
/// [`PAGE_KEYS`] and the arrow keys up and down.
pub const VERTICAL_KEYS: [Key; 6] =
    [Key::PageDown, Key::PageUp, Key::End, Key::Home, Key::ArrowDown, Key::ArrowUp];

/// Consumes one pressed key of `keys`. Returns how far it scrolls an area of this height, as the argument of
/// [`Ui::scroll_with_delta`].
pub fn pressed(ctx: &Context, height: f32, keys: &[Key]) -> Option<Vec2> {
    // Larger than any content; the scroll area clamps it.
    const FAR: f32 = 1e9;
    let (row, page) = (theme::CODE_ROW, (height - theme::CODE_ROW).max(theme::CODE_ROW));
    let all = [
        (Key::PageDown, vec2(0.0, -page)),
        (Key::PageUp, vec2(0.0, page)),
        (Key::End, vec2(0.0, -FAR)),
        (Key::Home, vec2(0.0, FAR)),
        (Key::ArrowDown, vec2(0.0, -row)),
        (Key::ArrowUp, vec2(0.0, row)),
        (Key::ArrowRight, vec2(-4.0 * row, 0.0)),
        (Key::ArrowLeft, vec2(4.0 * row, 0.0)),
    ];
    let consume = |key| ctx.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    all.into_iter().find(|(key, _)| keys.contains(key) && consume(*key)).map(|(_, delta)| delta)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_jumped_over_is_not_seen() {
        let mut seen = Seen::default();
        seen.add(0.0, 100.0);
        seen.add(900.0, 1_000.0);
        assert!(!seen.covers(1_000.0));
        seen.add(80.0, 500.0);
        seen.add(600.0, 950.0);
        assert!(!seen.covers(1_000.0));
        seen.add(500.5, 599.5);
        assert!(seen.covers(1_000.0) && !seen.covers(1_100.0));
        assert_eq!(seen.0.len(), 1);
        assert!(!Seen(vec![(50.0, 1_000.0)]).covers(1_000.0));
        assert_eq!(Seen(vec![(50.0, 1_000.0)]).first_gap(), 0.0);
        assert_eq!(Seen(vec![(0.0, 100.0), (900.0, 1_000.0)]).first_gap(), 100.0);
        let ends = Seen(vec![(0.0, 100.0), (900.0, 1_000.0)]);
        assert!(ends.has_ends(1_000.0) && !ends.covers(1_000.0) && !ends.has_ends(1_100.0));
        assert!(!Seen(vec![(50.0, 1_000.0)]).has_ends(1_000.0));
        assert_eq!(ends.of(1_000.0), OnScreen::Part);
        let mut long = Seen(vec![(0.0, 100.0), (20_000.0, 20_100.0)]);
        assert_eq!(long.of(20_100.0), OnScreen::Ends);
        long.add(90.0, 20_000.0);
        assert_eq!(long.of(20_100.0), OnScreen::Whole);
    }
}
