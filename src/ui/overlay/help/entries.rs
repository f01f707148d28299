//! The entries of the help about codes, tools, rules and words.

use egui::{CornerRadius, Frame, Id, Label, Margin, Rect, Ui, vec2};

use crate::help::Entry;
use crate::plan::drawable;
use crate::ui::{Text, Theme, Tone, theme, widgets};

/// Draws entries below each other. The one with the key `link` is marked; with `reveal`, it is scrolled to.
pub(super) fn entries_ui<'a>(
    ui: &mut Ui,
    entries: impl IntoIterator<Item = &'a Entry>,
    link: &str,
    reveal: bool,
) {
    ui.spacing_mut().item_spacing.y = 2.0;
    for entry in entries {
        let is_linked = entry.key.eq_ignore_ascii_case(link);
        // Hundreds of rules are not laid out while they are out of sight.
        let id = Id::unique(("height of an entry of the help", &*entry.key));
        let width = ui.available_width();
        let known = ui.data(|data| data.get_temp::<(f32, f32)>(id));
        if let Some((_, height)) = known.filter(|it| it.0 == width && !(is_linked && reveal)) {
            let rect = Rect::from_min_size(ui.cursor().min, vec2(width, height));
            if !ui.is_rect_visible(rect) {
                ui.allocate_space(rect.size());
                continue;
            }
        }
        let response = entry_ui(ui, entry, is_linked);
        ui.data_mut(|data| data.insert_temp(id, (width, response.rect.height())));
        if is_linked && reveal {
            response.scroll_to_me(Some(egui::Align::Min));
        }
    }
}

fn entry_ui(ui: &mut Ui, entry: &Entry, is_linked: bool) -> egui::Response {
    let theme = Theme::of(ui);
    let fill = if is_linked { theme.selection } else { theme.raised };
    let frame = Frame::NONE.fill(fill).corner_radius(CornerRadius::same(theme::RADIUS));
    let shown = frame.inner_margin(Margin::symmetric(8, 6)).show(ui, |ui| {
        ui.set_min_width(ui.available_width());
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing.x = 10.0;
            // The rules of the settings have names that anybody may have written.
            ui.add(Label::new(widgets::rich(drawable(&entry.key), Text::Mono, theme.text)).wrap());
            if !entry.title.is_empty() {
                ui.add(Label::new(widgets::rich(&*entry.title, Text::Body, theme.text)).wrap());
            }
        });
        widgets::paragraph(ui, &entry.text, Text::Body, Tone::Dim);
        if !entry.next.is_empty() {
            let text = format!("What to do: {}", entry.next);
            widgets::paragraph(ui, text, Text::Body, Tone::Plain);
        }
    });
    shown.response
}
