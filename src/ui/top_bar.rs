//! The bar with the page tabs, the workspace, and the buttons for the palette, the help, the theme and the settings.

use egui::{Align, CornerRadius, Layout, Sense, Stroke, StrokeKind, Ui, pos2, vec2};

use super::{
    Action, Command, Page, Text, Theme, WindowView, controls, format, icon, theme, widgets,
};
use crate::plan::visible;

pub(super) fn top_bar_ui(ui: &mut Ui, view: &WindowView<'_>, actions: &mut Vec<Action>) {
    let theme = Theme::of(ui);
    let bar = ui.max_rect();
    let x = ui.clip_rect().x_range();
    ui.painter().hline(x, bar.bottom() - 0.5, Stroke::new(1.0, theme.line));
    ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
        ui.set_min_height(theme::TOP_BAR);
        widgets::icon_ui(ui, vec2(20.0, 24.0), icon::SIGNATURE, 20.0, theme.accent);
        if bar.width() > 800.0 {
            ui.label(widgets::rich("Countersign", Text::Strong, theme.text).size(15.0));
            ui.add_space(14.0);
        }
        for (page, command) in [
            (Page::Plan, Command::GoPlan),
            (Page::Evidence, Command::GoEvidence),
            (Page::Diagnostics, Command::GoDiagnostics),
            (Page::Loop, Command::GoLoop),
        ] {
            page_tab(ui, command, view.situation.page == page, actions);
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            for (command, icon) in [
                (Command::Settings, icon::SETTINGS),
                (Command::SwitchTheme, if theme.dark { icon::SUN } else { icon::MOON }),
                (Command::Help, icon::HELP),
            ] {
                ui.spacing_mut().item_spacing.x = 2.0;
                if widgets::icon_button(ui, icon, command.spec().text).clicked() {
                    actions.push(Action::Do(command));
                }
            }
            ui.spacing_mut().item_spacing.x = 8.0;
            // Keeps space for the palette button, however long the workspace path is.
            let width = ui.available_width() - 290.0;
            if let Some((workspace, reason)) = &view.workspace
                && width > 100.0
            {
                let text = short_path(workspace, (width / Text::Mono.digit_width(ui)) as usize);
                ui.label(widgets::rich(visible(&text), Text::Mono, theme.text))
                    .on_hover_text(format!("{}\n{}", visible(workspace), visible(reason)));
                // The layout goes from right to left: the word stands before the path.
                ui.label(widgets::rich("workspace", Text::Meta, theme.dim));
                ui.add_space(6.0);
            }
            if ui.available_width() > 200.0 {
                palette_field(ui, actions);
            } else if widgets::icon_button(ui, icon::SEARCH, Command::Palette.spec().text).clicked()
            {
                actions.push(Action::Do(Command::Palette));
            }
        });
    });
}

/// Shortens a path to its last one or two components, which usually distinguish workspaces, and to at most `max_chars`
/// characters, but not below 8.
fn short_path(path: &str, max_chars: usize) -> String {
    let longest = max_chars.clamp(8, 32);
    let parts: Vec<_> = path.rsplit('/').take(2).collect();
    let short = match parts.as_slice() {
        [last, before] if before.chars().count() + last.chars().count() + 2 > longest => {
            format!("…/{last}")
        }
        [last, before] if !before.is_empty() && path.matches('/').count() > 2 => {
            format!("…/{before}/{last}")
        }
        _ => path.to_owned(),
    };
    format::end_of(&short, longest).into_owned()
}

fn page_tab(ui: &mut Ui, command: Command, selected: bool, actions: &mut Vec<Action>) {
    let theme = Theme::of(ui);
    let spec = command.spec();
    let width = Text::Strong.width_of(ui, spec.text);
    let size = vec2(width + 26.0, theme::TOP_BAR);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    let color = if selected || response.hovered() { theme.text } else { theme.dim };
    let middle = rect.center().y;
    if let Some(icon) = spec.icon {
        widgets::paint_icon(ui, pos2(rect.left() + 8.0, middle), icon, 16.0, color);
    }
    let parts = [(spec.text, Text::Strong, color)];
    widgets::paint_parts(ui, pos2(rect.left() + 22.0, middle), width + 4.0, &parts);
    if selected {
        widgets::underline(ui, rect);
    }
    if controls::selectable(ui, &response, selected, || spec.text.to_owned()) {
        actions.push(Action::Do(command));
    }
    ui.add_space(10.0);
    response.on_hover_text(spec.tooltip_text(ui));
}

fn palette_field(ui: &mut Ui, actions: &mut Vec<Action>) {
    let theme = Theme::of(ui);
    let spec = Command::Palette.spec();
    let size = vec2(ui.available_width().min(190.0), 28.0);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_shortened_to_its_end() {
        for (path, max_chars, short) in [
            ("/work", 40, "/work"),
            ("/home/ada/src/parser", 40, "…/src/parser"),
            ("/tmp/countersign-tour-1a0e6573", 40, "/tmp/countersign-tour-1a0e6573"),
            ("/tmp/countersign-tour-1a0e6573", 28, "…/countersign-tour-1a0e6573"),
            ("/tmp/countersign-tour-1a0e6573", 12, "…ur-1a0e6573"),
            ("C:\\Users\\ada", 40, "C:\\Users\\ada"),
        ] {
            let text = short_path(path, max_chars);
            assert_eq!(text, short, "{max_chars}");
            assert!(text.chars().count() <= max_chars, "{text}");
        }
    }
}
