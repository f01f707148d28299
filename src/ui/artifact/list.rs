//! The list that all viewers share: any number of rows, of which only the visible ones are drawn. The mouse and the
//! keyboard choose the current row.

use egui::{
    Align, Event, EventFilter, Id, Key, Layout, Modifiers, Rect, Response, Role, ScrollArea, Sense,
    Ui, UiBuilder, WidgetInfo, pos2, vec2,
};

use crate::ui::{Command, Theme, theme};

/// Calls `show` with the state that it left in the last frame. Only one state per type is stored, that of the content
/// shown last, because states of long contents are large.
pub(super) fn with_state<T, R>(ui: &mut Ui, show: impl FnOnce(&mut Ui, &mut T) -> R) -> R
where
    T: Default + Clone + Send + Sync + 'static,
{
    let id = Id::unique("artifact viewer");
    // The state is removed while drawing because egui's data must not stay locked meanwhile.
    let mut state: T = ui.data_mut(|data| data.remove_temp(id)).unwrap_or_default();
    let result = show(ui, &mut state);
    ui.data_mut(|data| data.insert_temp(id, state));
    result
}

/// The id and the accessible name of a viewer, and its maximum height in points.
#[derive(Debug, Clone, Copy)]
pub(super) struct Area<'a> {
    pub(super) id: Id,
    pub(super) name: &'a str,
    pub(super) height: f32,
}

/// The current row.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cursor {
    pub(super) row: usize,
    /// Whether the current row must still be scrolled into view.
    reveal: bool,
}

impl Cursor {
    /// Makes a row the current one and scrolls it into view.
    pub(super) fn to(row: usize) -> Self {
        Self { row, reveal: true }
    }
}

/// The input of a person to a list in this frame.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Input {
    /// The clicked row, and the position of the click.
    pub(super) clicked: Option<(usize, egui::Pos2)>,
    pub(super) copy: bool,
    pub(super) find: bool,
    pub(super) enter: bool,
    pub(super) left: bool,
    pub(super) right: bool,
}

fn keyboard() -> Id {
    Id::unique("a viewer has the keyboard")
}

/// Marks a viewer as having keyboard focus, and reserves the arrow keys and Escape for its control `id`.
pub fn keep_keyboard(ui: &Ui, id: Id) {
    let filter =
        EventFilter { tab: false, horizontal_arrows: true, vertical_arrows: true, escape: true };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(id, filter));
    let pass = ui.ctx().cumulative_pass_nr();
    ui.data_mut(|data| data.insert_temp(keyboard(), pass));
}

/// Whether a viewer had keyboard focus in this pass or the previous one. If so, unmodified keys are for that viewer.
pub fn has_keyboard(ctx: &egui::Context) -> bool {
    let pass: Option<u64> = ctx.data(|data| data.get_temp(keyboard()));
    pass.is_some_and(|pass| pass + 1 >= ctx.cumulative_pass_nr())
}

/// Gives a row its accessible name, and returns the response to hovering over it.
pub(super) fn row_label(ui: &Ui, rect: Rect, row: usize, name: impl Fn() -> String) -> Response {
    let response = ui.interact(rect, ui.scope_id().with(("row", row)), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, name()));
    response
}

/// Draws buttons at the right end of a row, from right to left.
pub(super) fn row_buttons_ui<R>(
    ui: &mut Ui,
    rect: Rect,
    id: Id,
    add: impl FnOnce(&mut Ui) -> R,
) -> R {
    let builder = UiBuilder::new()
        .id_salt(id.with("row buttons"))
        .max_rect(rect.shrink2(vec2(6.0, 0.0)))
        .layout(Layout::right_to_left(Align::Center));
    ui.scope_builder(builder, add).inner
}

/// Draws `count` rows. `draw` gets the rectangle of a row, its index, and whether it is the current row.
pub(super) fn list_ui(
    ui: &mut Ui,
    Area { id, name, height }: Area<'_>,
    count: usize,
    cursor: &mut Cursor,
    mut draw: impl FnMut(&mut Ui, Rect, usize, bool),
) -> Input {
    let theme = Theme::of(ui);
    let mut input = Input::default();
    let row_height = f64::from(theme::CODE_ROW);
    let mut page = 1;
    cursor.row = cursor.row.min(count.saturating_sub(1));
    ui.spacing_mut().item_spacing.y = 0.0;
    let total_height = (row_height * count as f64) as f32;
    let area = ScrollArea::vertical()
        .id_salt(id)
        .max_height(height.min(total_height))
        .min_scrolled_height(height.min(total_height))
        .auto_shrink([false, true]);
    area.show_viewport(ui, |ui, viewport| {
        let size = vec2(ui.available_width(), total_height);
        let (all, _) = ui.allocate_exact_size(size, Sense::hover());
        // A million rows are about twenty million points high, where an `f32` cannot represent every point.
        // Therefore the positions of rows are computed in `f64`.
        let first = (f64::from(viewport.top()) / row_height).floor().max(0.0) as usize;
        let last = (f64::from(viewport.bottom()) / row_height).ceil().max(0.0) as usize;
        page = last.saturating_sub(first).saturating_sub(2).max(1);
        let visible_top = f64::from(all.top()) + f64::from(viewport.top());
        let y_of = |row: usize| {
            (visible_top + (row as f64 * row_height - f64::from(viewport.top()))) as f32
        };
        let visible = all.intersect(ui.clip_rect());
        let response = ui.interact(visible, id, Sense::click());
        response.widget_info(|| WidgetInfo::labeled(Role::List, true, name));
        if response.clicked()
            && let Some(pos) = response.interact_pointer_pos()
        {
            let row = ((f64::from(pos.y) - f64::from(y_of(first))) / row_height).max(0.0) as usize;
            cursor.row = (first + row).min(count.saturating_sub(1));
            input.clicked = Some((cursor.row, pos));
            response.request_focus();
        }
        let focused = response.has_focus();
        for row in first..last.min(count) {
            let size = vec2(all.width(), theme::CODE_ROW);
            let rect = Rect::from_min_size(pos2(all.left(), y_of(row)), size);
            let current = row == cursor.row;
            if current && focused {
                ui.painter().rect_filled(rect, 0.0, theme.selection);
            }
            draw(ui, rect, row, current);
        }
        if focused {
            keep_keyboard(ui, id);
            take_keys(ui, count, page, cursor, &mut input);
            let stroke = egui::Stroke::new(2.0, theme.accent);
            ui.painter().rect_stroke(visible, 0.0, stroke, egui::StrokeKind::Inside);
            if ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape)) {
                response.surrender_focus();
            }
        }
        if std::mem::take(&mut cursor.reveal) {
            let size = vec2(1.0, theme::CODE_ROW);
            let rect = Rect::from_min_size(pos2(all.left(), y_of(cursor.row)), size);
            let is_visible = cursor.row > first && cursor.row + 2 <= last;
            if !is_visible {
                let far = cursor.row < first.saturating_sub(page) || cursor.row > last + page;
                ui.scroll_to_rect(rect, far.then_some(Align::Center));
            }
        }
    });
    input
}

fn take_keys(ui: &Ui, count: usize, page: usize, cursor: &mut Cursor, input: &mut Input) {
    let last = count.saturating_sub(1);
    let consume = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    let row = cursor.row;
    let moves = [
        (Key::ArrowDown, row + 1),
        (Key::ArrowUp, row.saturating_sub(1)),
        (Key::PageDown, row + page),
        (Key::PageUp, row.saturating_sub(page)),
        (Key::Home, 0),
        (Key::End, last),
    ];
    for (key, target) in moves {
        if consume(key) {
            *cursor = Cursor::to(target.min(last));
            ui.ctx().request_repaint();
        }
    }
    input.left = consume(Key::ArrowLeft);
    input.right = consume(Key::ArrowRight);
    input.enter = consume(Key::Enter) || consume(Key::Space);
    let find = Command::Find.spec().keys(ui.ctx());
    input.find = find.is_some_and(|keys| ui.input_mut(|input| input.consume_shortcut(&keys)));
    input.copy = ui.input(|input| input.events.contains(&Event::Copy));
}
