//! The bar with the page tabs, the workspace, and the buttons for the palette, the help, the theme and the settings.

use egui::{Align, CornerRadius, Layout, Sense, Stroke, StrokeKind, Ui, pos2, vec2};

use super::{
    Action, Command, Page, Text, Theme, WindowView, controls, format, icon, theme, widgets,
};
use crate::plan::drawable;

pub(super) fn top_bar_ui(ui: &mut Ui, view: &WindowView<'_>, actions: &mut Vec<Action>) {
    let theme = Theme::of(ui);
    let bar = ui.max_rect();
    let x = ui.clip_rect().x_range();
    ui.painter().hline(x, bar.bottom() - 0.5, Stroke::new(1.0, theme.line));
    ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
        ui.set_min_height(theme::TOP_BAR);
        // In the narrowest windows, the tabs need its room.
        if bar.width() > 500.0 {
            widgets::icon_ui(ui, vec2(20.0, 24.0), icon::SIGNATURE, 20.0, theme.accent);
        }
        if bar.width() > 800.0 {
            ui.label(widgets::rich("Countersign", Text::Strong, theme.text).size(15.0));
            ui.add_space(14.0);
        }
        let tabs = [
            (Page::Plan, Command::GoPlan),
            (Page::Evidence, Command::GoEvidence),
            (Page::Diagnostics, Command::GoDiagnostics),
            (Page::Loop, Command::GoLoop),
            (Page::Agent, Command::GoAgent),
        ];
        let waiting = view.situation.inbox_waiting;
        let badge = |page: Page| (page == Page::Plan && waiting > 0).then_some(waiting);
        let width_of = |(page, command): &(Page, Command)| {
            TAB_MARGINS + tab_width(ui, *command) + badge_width(ui, badge(*page))
        };
        let needed: f32 = tabs.iter().map(width_of).sum();
        // Where the words have no room, only the page that is shown has its word.
        let room = ui.available_width() - BUTTONS - ICON - 2.0 * GAP;
        let has_words = needed <= room;
        let without_word =
            |(page, _): &(Page, Command)| TAB_MARGINS + badge_width(ui, badge(*page));
        let of_shown = tabs.iter().find(|(page, _)| *page == view.situation.page);
        let word = of_shown.map_or(0.0, |(_, command)| tab_width(ui, *command));
        // In the narrowest windows, not even that one, which is underlined.
        let has_word = word + tabs.iter().map(without_word).sum::<f32>() <= room;
        for (page, command) in tabs {
            let is_shown = view.situation.page == page;
            let look = (is_shown, has_words || is_shown && has_word, badge(page));
            page_tab(ui, command, look, actions);
        }
        right_ui(ui, view, actions);
    });
}

/// The width of an icon button, in points.
const ICON: f32 = 24.0;
/// The width of the buttons at the right edge, in points.
const BUTTONS: f32 = 3.0 * (ICON + 2.0);
/// The width of a tab without its word, with the spaces after it, in points.
const TAB_MARGINS: f32 = 44.0;
/// The space between a tab and the ring around it, at each side, in points.
const TAB_RING: f32 = 4.0;
/// The width of the palette's field, in points.
const FIELD: f32 = 190.0;
/// The space between the parts at the right, in points.
const GAP: f32 = 8.0;
/// The least width for the workspace, in points. Below, the palette's field becomes an icon.
const WORKSPACE: f32 = 130.0;

/// The palette, the workspace, and the buttons, at the right edge. They are added from left to right, so that Tab reaches
/// them in this order.
fn right_ui(ui: &mut Ui, view: &WindowView<'_>, actions: &mut Vec<Action>) {
    let theme = Theme::of(ui);
    let buttons = [
        (Command::Help, icon::HELP),
        (Command::SwitchTheme, if theme.dark { icon::SUN } else { icon::MOON }),
        (Command::Settings, icon::SETTINGS),
    ];
    let available = ui.available_width();
    let free = available - BUTTONS - 2.0 * GAP;
    let needed = if view.workspace.is_some() { WORKSPACE } else { 0.0 };
    let palette = if free - FIELD >= needed { FIELD } else { ICON };
    let room = free - palette;
    let word = ("workspace", Text::Meta.width_of(ui, "workspace") + 6.0);
    let is_named = room > WORKSPACE + word.1;
    let word_width = if is_named { word.1 } else { 0.0 };
    let workspace = view.workspace.as_ref().filter(|_| room > 60.0).map(|(path, reason)| {
        let columns = ((room - word_width) / Text::Mono.digit_width(ui)) as usize;
        let short = drawable(&format::short_path(path, columns)).into_owned();
        let width = word_width + Text::Mono.width_of(ui, &short) + GAP;
        (short, width, format!("{}\n{}", drawable(path), drawable(reason)))
    });
    let used = workspace.as_ref().map_or(0.0, |it| it.1);
    ui.spacing_mut().item_spacing.x = 0.0;
    ui.add_space((free - palette - used).max(0.0));
    if palette > ICON {
        palette_field(ui, actions);
    } else if widgets::icon_button(ui, icon::SEARCH, Command::Palette.spec().text).clicked() {
        actions.push(Action::Do(Command::Palette));
    }
    ui.add_space(GAP);
    if let Some((short, _, hint)) = workspace {
        if is_named {
            ui.label(widgets::rich(word.0, Text::Meta, theme.dim));
            ui.add_space(6.0);
        }
        ui.label(widgets::rich(short, Text::Mono, theme.text)).on_hover_text(hint);
        ui.add_space(GAP);
    }
    for (command, icon) in buttons {
        let button = widgets::icon_button(ui, icon, command.spec().text);
        if command == Command::Settings && view.situation.page == Page::Settings {
            widgets::underline(ui, button.rect);
        }
        if button.clicked() {
            actions.push(Action::Do(command));
        }
        ui.add_space(2.0);
    }
}

fn tab_width(ui: &Ui, command: Command) -> f32 {
    Text::Strong.width_of(ui, command.spec().text)
}

/// The width of the number of plans that wait in the inbox, in points.
fn badge_width(ui: &Ui, badge: Option<usize>) -> f32 {
    badge.map_or(0.0, |count| Text::Meta.width_of(ui, &format::count(count as u64)) + 6.0)
}

/// A tab: whether it is selected and has its word, and how many plans wait on its page.
fn page_tab(
    ui: &mut Ui,
    command: Command,
    (selected, has_word, badge): (bool, bool, Option<usize>),
    actions: &mut Vec<Action>,
) {
    let theme = Theme::of(ui);
    let spec = command.spec();
    let width = if has_word { tab_width(ui, command) } else { 0.0 };
    // The margins keep the ring of the focus off the icon.
    let size = vec2(width + 26.0 + 2.0 * TAB_RING + badge_width(ui, badge), theme::TOP_BAR);
    let (outer, response) = ui.allocate_exact_size(size, Sense::click());
    let rect = outer.shrink2(vec2(TAB_RING, 0.0));
    let color = if selected || response.hovered() { theme.text } else { theme.dim };
    let middle = rect.center().y;
    if let Some(icon) = spec.icon {
        widgets::paint_icon(ui, pos2(rect.left() + 8.0, middle), icon, 16.0, color);
    }
    if has_word {
        let parts = [(spec.text, Text::Strong, color)];
        widgets::paint_parts(ui, pos2(rect.left() + 22.0, middle), width + 4.0, &parts);
    }
    if let Some(count) = badge {
        let count = format::count(count as u64);
        widgets::paint_right(ui, pos2(rect.right(), middle), (&count, Text::Meta, theme.accent));
    }
    if selected {
        widgets::underline(ui, rect);
    }
    let name = || match badge {
        None => spec.text.to_owned(),
        Some(1) => format!("{}, 1 plan waits in the inbox", spec.text),
        Some(count) => {
            format!("{}, {} plans wait in the inbox", spec.text, format::count(count as u64))
        }
    };
    if controls::tab(ui, &response, selected, name) {
        actions.push(Action::Do(command));
    }
    ui.add_space(10.0 - 2.0 * TAB_RING);
    response.on_hover_text(spec.tooltip_text(ui));
}

fn palette_field(ui: &mut Ui, actions: &mut Vec<Action>) {
    let theme = Theme::of(ui);
    let spec = Command::Palette.spec();
    let size = vec2(FIELD, 28.0);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    let border = if response.hovered() { theme.dim } else { theme.line };
    let radius = CornerRadius::same(theme::RADIUS);
    let stroke = Stroke::new(1.0, border);
    ui.painter().rect(rect, radius, theme.background, stroke, StrokeKind::Inside);
    let middle = rect.center().y;
    widgets::paint_icon(ui, pos2(rect.left() + 16.0, middle), icon::SEARCH, 15.0, theme.dim);
    let parts = [(spec.text, Text::Body, theme.dim)];
    widgets::paint_parts(ui, pos2(rect.left() + 30.0, middle), 90.0, &parts);
    let key = spec.shortcut_text(ui).unwrap_or_default();
    let right = pos2(rect.right() - 10.0, middle);
    widgets::paint_right(ui, right, (&key, Text::Meta, theme.dim));
    if controls::painted_button(ui, &response, || spec.text.to_owned()) {
        actions.push(Action::Do(Command::Palette));
    }
    response.on_hover_text(spec.tooltip);
}
