//! The terminal of the current step, below the steps: its screen, and its keyboard (SPEC §7.2).
//!
//! While the terminal has the keyboard, it gets every key, so that no key of the window takes effect, except for the one
//! that leaves the terminal and that of *Stop now*.

mod grid;
mod input;

use egui::{
    Align, CornerRadius, Event, EventFilter, Id, ImeEvent, Key, Layout, Rect, Role, Sense, Stroke,
    StrokeKind, Ui, ViewportCommand, WidgetInfo, pos2, vec2,
};

use self::grid::{CellSize, composed_ui, grid_ui};
use self::input::bytes_of;
use super::action::{TerminalAction, Typed};
use super::plan::PlanView;
use super::{Action, Command, PlanAction, Text, Theme, icon, widgets};
use crate::run::{StepTerminal, TerminalScreen};

/// The height of the pane's header, in points.
const HEADER: f32 = 32.0;
/// Below this width, in points, the header has a short hint.
const NARROW: f32 = 460.0;
/// The space around the screen, in points.
const MARGIN: f32 = 8.0;

/// The name of the text that an input method composes.
const COMPOSED: &str = "composed";

/// The control that has the keyboard of the terminal.
pub fn id() -> Id {
    Id::unique("terminal of the step")
}

/// Whether the terminal has the keyboard.
pub fn has_keyboard(ctx: &egui::Context) -> bool {
    ctx.memory(|memory| memory.has_focus(id()))
}

/// The terminal of the current step of a run, if it has one.
pub fn of<'a>(view: &PlanView<'a>) -> Option<&'a StepTerminal> {
    view.output.transcript.terminal().filter(|_| view.run.is_active())
}

/// Passes the keys to the terminal if it has the keyboard, and removes them from the input of the window. Must be called
/// before anything else handles keys.
pub fn take_keys(ui: &Ui, view: &PlanView<'_>, actions: &mut Vec<Action>) {
    let Some(terminal) = of(view).filter(|_| has_keyboard(ui.ctx())) else { return };
    let leave = Command::TypeInTerminal.spec().keys(ui.ctx());
    let leaves = leave.is_some_and(|key| ui.input_mut(|input| input.consume_shortcut(&key)));
    if leaves {
        actions.push(Action::Do(Command::TypeInTerminal));
    }
    let mut typed = Vec::new();
    let mut pages = 0;
    let mut has_paste_key = false;
    let mut composed = None;
    ui.input_mut(|input| {
        let (modifiers, modes) = (input.modifiers, terminal.screen.modes());
        input.events.retain(|event| {
            match event {
                Event::Ime(ImeEvent::Preedit { text, .. }) => composed = Some(text.clone()),
                Event::Key { key, pressed: true, modifiers, .. } if modifiers.shift => match key {
                    Key::PageUp => pages += 1,
                    Key::PageDown => pages -= 1,
                    Key::V if modifiers.command => has_paste_key = true,
                    _ => typed.extend(bytes_of(event, *modifiers, modes).unwrap_or_default()),
                },
                event => typed.extend(bytes_of(event, modifiers, modes).unwrap_or_default()),
            }
            !is_of_keyboard(event)
        });
    });
    if let Some(text) = composed {
        ui.data_mut(|data| data.insert_temp(id().with(COMPOSED), text));
    }
    if has_paste_key {
        ui.ctx().send_viewport_cmd(ViewportCommand::RequestPaste);
    }
    if !typed.is_empty() {
        push(actions, TerminalAction::Type(Typed(typed)));
    }
    if pages != 0 {
        let rows = i32::from(terminal.screen.size().rows()) - 1;
        push(actions, TerminalAction::Scroll(pages * rows.max(1)));
    }
}

fn push(actions: &mut Vec<Action>, action: TerminalAction) {
    actions.push(Action::Plan(PlanAction::Terminal(action)));
}

fn is_of_keyboard(event: &Event) -> bool {
    matches!(
        event,
        Event::Key { .. }
            | Event::Text(_)
            | Event::Paste(_)
            | Event::Copy
            | Event::Cut
            | Event::Ime(_)
    )
}

/// Draws the pane.
pub fn terminal_ui(ui: &mut Ui, terminal: &StepTerminal, about: &str, actions: &mut Vec<Action>) {
    // The pane keeps the height that the person chose, whatever its content.
    ui.set_min_height(ui.available_height());
    let theme = Theme::of(ui);
    let has_keyboard = has_keyboard(ui.ctx());
    header_ui(ui, terminal, about, has_keyboard);
    let (rect, _) = ui.allocate_exact_size(ui.available_size(), Sense::hover());
    let response = ui.interact(rect, id(), Sense::click());
    let screen = &terminal.screen;
    response.widget_info(|| WidgetInfo {
        current_text_value: Some(screen.visible_text()),
        ..WidgetInfo::labeled(Role::Terminal, true, "Terminal")
    });
    if response.clicked() {
        response.request_focus();
    }
    let cell = CellSize::of(ui);
    let inner = rect.shrink(MARGIN);
    let size = cell.terminal_in(inner);
    if size != screen.size() {
        push(actions, TerminalAction::Resize(size));
    }
    scroll_by_wheel(ui, &response, screen, cell, actions);
    let mut grid = ui.new_child(egui::UiBuilder::new().max_rect(inner));
    grid.set_clip_rect(rect.intersect(ui.clip_rect()));
    let cursor = grid_ui(&grid, screen, inner.min, cell, has_keyboard);
    if has_keyboard {
        let composed: String =
            ui.data(|data| data.get_temp(id().with(COMPOSED))).unwrap_or_default();
        let cursor = cursor.unwrap_or(Rect::from_min_size(inner.min, vec2(1.0, 1.0)));
        composed_ui(&grid, inner, cursor, composed);
        keep_keyboard(ui, rect, cursor);
        let stroke = Stroke::new(1.5, theme.accent);
        ui.painter().rect_stroke(rect.shrink(1.0), CornerRadius::ZERO, stroke, StrokeKind::Inside);
    } else {
        ui.data_mut(|data| data.remove::<String>(id().with(COMPOSED)));
    }
}

/// Reserves the keys that would move the focus, and has the system compose characters at the cursor.
fn keep_keyboard(ui: &Ui, rect: Rect, cursor_rect: Rect) {
    let filter =
        EventFilter { tab: true, horizontal_arrows: true, vertical_arrows: true, escape: true };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(id(), filter));
    ui.output_mut(|output| {
        output.ime = Some(egui::output::IMEOutput {
            purpose: egui::IMEPurpose::Terminal,
            rect,
            cursor_rect,
            should_interrupt_composition: false,
        });
    });
}

/// Scrolls to earlier lines. A program in the alternate screen has none, and gets cursor keys.
fn scroll_by_wheel(
    ui: &Ui,
    response: &egui::Response,
    screen: &TerminalScreen,
    cell: CellSize,
    actions: &mut Vec<Action>,
) {
    if !response.hovered() {
        return;
    }
    let rest_id = id().with("rest of the wheel");
    let rest: f32 = ui.data(|data| data.get_temp(rest_id)).unwrap_or_default();
    let rows = rest + cell.rows(ui.input(|input| input.smooth_scroll_delta().y));
    let lines = rows.trunc();
    ui.data_mut(|data| data.insert_temp(rest_id, rows - lines));
    let lines = lines as i32;
    if lines == 0 {
        return;
    }
    if screen.modes().alternate_screen {
        let key = match (lines > 0, screen.modes().application_cursor) {
            (true, true) => "\x1bOA",
            (true, false) => "\x1b[A",
            (false, true) => "\x1bOB",
            (false, false) => "\x1b[B",
        };
        let keys = key.repeat(lines.unsigned_abs().min(100) as usize);
        push(actions, TerminalAction::Type(Typed(keys.into_bytes())));
    } else {
        push(actions, TerminalAction::Scroll(lines));
    }
}

/// Draws the header: which step it is, and how to take and leave the keyboard.
fn header_ui(ui: &mut Ui, terminal: &StepTerminal, about: &str, has_keyboard: bool) {
    let theme = Theme::of(ui);
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), HEADER), Sense::hover());
    ui.painter().rect_filled(rect, CornerRadius::ZERO, theme.panel);
    ui.painter().hline(rect.x_range(), rect.bottom() - 0.5, Stroke::new(1.0, theme.line));
    let middle = rect.center().y;
    widgets::paint_icon(ui, pos2(rect.left() + 24.0, middle), icon::TERMINAL, 14.0, theme.accent);
    let key = Command::TypeInTerminal.spec().shortcut_text(ui).unwrap_or_default();
    let is_narrow = rect.width() < NARROW;
    let hint = match (has_keyboard, terminal.screen.lines_below()) {
        (_, 1..) => "Shift+Page Down shows later lines".to_owned(),
        (true, _) if is_narrow => format!("{key} leaves it"),
        (true, _) => format!("It has the keyboard. {key} leaves it"),
        (false, _) if is_narrow => format!("{key} to type"),
        (false, _) => format!("Click it, or press {key}, to type"),
    };
    let color = if has_keyboard { theme.accent } else { theme.dim };
    let buttons = egui::UiBuilder::new()
        .max_rect(rect.shrink2(vec2(12.0, 0.0)))
        .layout(Layout::right_to_left(Align::Center));
    let hint_left = ui
        .scope_builder(buttons, |ui| {
            if widgets::icon_button(ui, icon::COPY, "Copy what the terminal shows").clicked() {
                ui.ctx().copy_text(terminal.screen.visible_text());
            }
            let right = pos2(ui.available_rect_before_wrap().right() - 6.0, middle);
            right.x - widgets::paint_right(ui, right, (&hint, Text::Meta, color))
        })
        .inner;
    let title = format!("Terminal of step {}", terminal.step_index + 1);
    let header = ui.interact(rect, id().with("header"), Sense::hover());
    header.widget_info(|| WidgetInfo::labeled(Role::Label, true, format!("{title}. {hint}")));
    let left = rect.left() + 40.0;
    let parts = [(title.as_str(), Text::Strong, theme.text), (about, Text::Mono, theme.dim)];
    widgets::paint_parts(ui, pos2(left, middle), (hint_left - 16.0 - left).max(0.0), &parts);
}
