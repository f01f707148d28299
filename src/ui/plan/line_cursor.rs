//! The keyboard in the choice of lines: which row has it, and which one gets it next.

use std::sync::Arc;

use egui::{
    Context, Id, Key, Modifiers, Response, RichText, TextStyle, TextWrapMode, Ui, WidgetText,
};

/// What the window keeps of the choice from one frame to the next.
#[derive(Debug, Clone, Default)]
pub(super) struct Cursor {
    /// The row that had the keyboard last, and the id of its tick.
    row: Option<(usize, Id)>,
    /// The row that gets the keyboard when it is drawn.
    wanted: Option<usize>,
    /// The text of the row if it is too long for it.
    pub(super) long: Option<Arc<str>>,
    /// How far the list is scrolled, in points.
    offset: f32,
    /// The height of the part of the list that is seen, in points.
    height: f32,
    /// The frame in which the choice was drawn last.
    frame: u64,
}

fn cursor_id() -> Id {
    Id::unique("the keyboard in the choice of lines")
}

/// Whether a tick has the keyboard, so that the arrow keys go from line to line.
pub(crate) fn chooses_lines(ctx: &Context) -> bool {
    let cursor = ctx.data(|data| data.get_temp::<Cursor>(cursor_id()));
    cursor.and_then(|it| it.row).is_some_and(|(_, tick)| ctx.memory(|it| it.has_focus(tick)))
}

impl Cursor {
    /// What was kept. The first row gets the keyboard when the choice opens.
    pub(super) fn load(ctx: &Context) -> Self {
        let frame = ctx.cumulative_frame_nr();
        let kept = ctx.data(|data| data.get_temp::<Self>(cursor_id()));
        match kept.filter(|kept| kept.frame + 1 >= frame) {
            Some(kept) => Self { frame, ..kept },
            None => Self { wanted: Some(0), frame, ..Self::default() },
        }
    }

    /// Takes the keys that go from row to row. `ticks` says which rows have one.
    pub(super) fn take_keys(&mut self, ui: &Ui, ticks: &[bool]) {
        let Some((at, _)) = self.row.filter(|_| chooses_lines(ui.ctx())) else { return };
        let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
        let is_tick = |row: &usize| ticks.get(*row) == Some(&true);
        let page = ticks.len().min((self.height / super::line_choice::ROW) as usize).max(2) - 1;
        let from = |row: usize| (row..ticks.len()).find(is_tick);
        let back = |row: usize| (0..=row.min(ticks.len().saturating_sub(1))).rev().find(is_tick);
        for (key, to) in [
            (Key::ArrowDown, from(at + 1)),
            (Key::ArrowUp, at.checked_sub(1).and_then(back)),
            (Key::PageDown, back(at + page).filter(|row| *row > at).or_else(|| from(at + 1))),
            (Key::PageUp, from(at.saturating_sub(page)).filter(|row| *row < at)),
            (Key::Home, from(0)),
            (Key::End, back(usize::MAX)),
        ] {
            // At the ends the keys do nothing, and nothing else gets them.
            if pressed(key) {
                self.wanted = to.or(self.wanted);
            }
        }
    }

    /// How far the list must be scrolled so that the wanted row is seen, with its neighbours; `None` if it is. `height` is
    /// the height of the list now.
    pub(super) fn offset_to_wanted(&self, row: f32, height: f32) -> Option<f32> {
        let top = self.wanted? as f32 * row;
        let (first, last) = (top - row, top + 2.0 * row);
        if first.max(0.0) < self.offset {
            return Some(first.max(0.0));
        }
        (last > self.offset + height).then_some((last - height).max(0.0))
    }

    /// Gives the tick of a row the keyboard if it is wanted there. Returns whether it has it.
    pub(super) fn draw(&mut self, index: usize, tick: &Response) -> bool {
        if self.wanted == Some(index) {
            self.wanted = None;
            tick.request_focus();
        }
        let has_keyboard = tick.has_focus();
        if tick.gained_focus() {
            // By Tab it may be at the edge, and then the next row is seen, too.
            self.wanted = Some(index);
        }
        if has_keyboard {
            self.row = Some((index, tick.id));
        }
        has_keyboard
    }

    /// Keeps the text of the row with the keyboard if there is no room for it. The line below the list that then shows it
    /// makes the list smaller, so that it may have to be scrolled.
    pub(super) fn keep_if_long(&mut self, ui: &Ui, text: &RichText) {
        let width = ui.available_width();
        let whole = WidgetText::from(text.clone());
        let drawn = whole.into_galley(ui, Some(TextWrapMode::Extend), width, TextStyle::Body);
        let long: Option<Arc<str>> = (drawn.size().x > width).then(|| text.text().into());
        if self.long != long {
            self.long = long;
            self.wanted = self.row.map(|(row, _)| row);
        }
    }

    /// Keeps this for the next frame.
    pub(super) fn save(self, ui: &Ui, offset: f32, height: f32) {
        if self.wanted.is_some() {
            ui.request_repaint();
        }
        let kept = Self { offset, height, ..self };
        ui.data_mut(|data| data.insert_temp(cursor_id(), kept));
    }
}
