//! A row of tabs that never wraps: tabs without room move to a menu at its end.

use egui::{Align2, Sense, Ui, vec2};

use super::controls;
use super::icon;
use super::theme::{Text, Theme};
use super::widgets;

const HEIGHT: f32 = 34.0;
const GAP: f32 = 16.0;
/// The width of the menu button, in points.
const MORE: f32 = 24.0;

/// Draws the tabs and returns the one chosen in this frame. The selected tab is always in the row.
pub fn tabs_ui<T: Copy + PartialEq>(ui: &mut Ui, tabs: &[(T, &str)], selected: T) -> Option<T> {
    let widths: Vec<f32> = tabs.iter().map(|(_, text)| width(ui, text)).collect();
    let chosen_at = tabs.iter().position(|(tab, _)| *tab == selected).unwrap_or(0);
    let shown = shown(&widths, ui.available_width(), chosen_at);
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

fn width(ui: &Ui, text: &str) -> f32 {
    ui.painter().layout_no_wrap(text.to_owned(), Text::Body.font(), Theme::of(ui).text).size().x
}

/// Whether each tab is in the row. If not all fit, those from the left that fit next to the menu button are; the
/// selected tab always is.
fn shown(widths: &[f32], available: f32, selected: usize) -> Vec<bool> {
    let gaps = GAP * widths.len().saturating_sub(1) as f32;
    if widths.iter().sum::<f32>() + gaps <= available {
        return vec![true; widths.len()];
    }
    let mut left = available - MORE - widths.get(selected).copied().unwrap_or_default() - GAP;
    let mut full = false;
    let mut take = |at: usize, width: f32| {
        if at == selected {
            return true;
        }
        left -= width + GAP;
        full |= left < 0.0;
        !full
    };
    widths.iter().enumerate().map(|(at, width)| take(at, *width)).collect()
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
    controls::selectable(ui, &response, selected, || text.to_owned())
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
