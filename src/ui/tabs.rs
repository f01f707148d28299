//! A row of tabs that never wraps: tabs that do not fit are in a menu at its end.

use egui::{Align2, Sense, Ui, vec2};

use super::{Text, Theme, controls, icon, widgets};

const HEIGHT: f32 = 34.0;
const GAP: f32 = 16.0;
/// The width of the menu button, in points.
const MORE: f32 = 24.0;

/// Draws the tabs and returns the one chosen in this frame. The selected tab is always in the row.
pub fn tabs_ui<T: Copy + PartialEq>(ui: &mut Ui, tabs: &[(T, &str)], selected: T) -> Option<T> {
    let widths: Vec<f32> = tabs.iter().map(|(_, text)| Text::Body.width_of(ui, text)).collect();
    let selected_index = tabs.iter().position(|(tab, _)| *tab == selected).unwrap_or(0);
    let shown = shown(&widths, ui.available_width(), selected_index);
    let mut chosen = None;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing = vec2(GAP, 0.0);
        let (row, menu): (Vec<_>, Vec<_>) = tabs.iter().zip(shown).partition(|(_, shown)| *shown);
        for ((tab, text), _) in row {
            if tab_ui(ui, text, *tab == selected) {
                chosen = Some(*tab);
            }
        }
        if !menu.is_empty() {
            let text = icon::MORE.text(18.0).color(Theme::of(ui).dim);
            let button = egui::Button::new(text).frame(false).min_size(vec2(MORE, HEIGHT));
            controls::menu_of(ui, button, "More tabs", |ui| {
                for ((tab, text), _) in menu {
                    if controls::menu_item(ui, text) {
                        chosen = Some(*tab);
                    }
                }
            });
        }
    });
    chosen
}

/// Whether each tab is in the row. If not all fit, the row has the selected tab and the leftmost others that fit beside
/// the menu button.
fn shown(widths: &[f32], available: f32, selected: usize) -> Vec<bool> {
    let gaps = GAP * widths.len().saturating_sub(1) as f32;
    if widths.iter().sum::<f32>() + gaps <= available {
        return vec![true; widths.len()];
    }
    let mut remaining = available - MORE - widths.get(selected).copied().unwrap_or_default() - GAP;
    let mut full = false;
    let mut fits = |index: usize, width: f32| {
        if index == selected {
            return true;
        }
        remaining -= width + GAP;
        full |= remaining < 0.0;
        !full
    };
    widths.iter().enumerate().map(|(index, width)| fits(index, *width)).collect()
}

fn tab_ui(ui: &mut Ui, text: &str, selected: bool) -> bool {
    let theme = Theme::of(ui);
    let color = if selected { theme.text } else { theme.dim };
    let galley = ui.painter().layout_no_wrap(text.to_owned(), Text::Body.font(), color);
    let (rect, response) = ui.allocate_exact_size(vec2(galley.size().x, HEIGHT), Sense::click());
    let color = if response.hovered() { theme.text } else { color };
    ui.painter().galley_with_override_text_color(
        Align2::LEFT_CENTER.anchor_size(rect.left_center(), galley.size()).min,
        galley,
        color,
    );
    if selected {
        widgets::underline(ui, rect);
    }
    controls::tab(ui, &response, selected, || text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_selected_tab_always_has_a_place() {
        let widths = [40.0, 60.0, 40.0, 50.0, 50.0];
        assert_eq!(shown(&widths, 400.0, 4), [true; 5]);
        assert_eq!(shown(&widths, 240.0, 0), [true, true, true, false, false]);
        assert_eq!(shown(&widths, 240.0, 4), [true, true, false, false, true]);
        assert_eq!(shown(&widths, 10.0, 3), [false, false, false, true, false]);
        assert!(shown(&[], 10.0, 0).is_empty());
    }
}
