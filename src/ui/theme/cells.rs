//! The colours of a terminal's cells: those that the program asks for, as far as they can be read.

use egui::Color32;

use super::Theme;
use super::tokens::rgb;
use crate::run::{CellColor, Hue};

/// The smallest contrast ratio between the text of a cell and its background, as WCAG requires it for text.
const MIN_CONTRAST: f32 = 4.5;
/// In how many steps a colour that is too faint is moved to black or white.
const STEPS: u8 = 8;

impl Theme {
    /// The background of a cell.
    pub fn cell_background(&self, color: CellColor) -> Color32 {
        match color {
            CellColor::Background => self.background,
            CellColor::Text => self.text,
            CellColor::Hue(Hue::Black) => self.raised,
            CellColor::Hue(hue) => self.hue(hue),
            CellColor::Rgb(red, green, blue) => color_of(red, green, blue),
        }
    }

    /// The text of a cell with the background `below`, changed as far as needed to be legible.
    pub fn cell_text(&self, color: CellColor, is_faint: bool, below: Color32) -> Color32 {
        let wanted = match color {
            CellColor::Text if is_faint => self.dim,
            CellColor::Text => self.text,
            CellColor::Background => self.background,
            CellColor::Hue(hue) => self.hue(hue),
            CellColor::Rgb(red, green, blue) => color_of(red, green, blue),
        };
        let target = if luminance(below) > 0.18 { Color32::BLACK } else { Color32::WHITE };
        (0..=STEPS)
            .map(|step| wanted.lerp_to_gamma(target, f32::from(step) / f32::from(STEPS)))
            .find(|color| contrast(*color, below) >= MIN_CONTRAST)
            .unwrap_or(target)
    }
}

fn color_of(red: u8, green: u8, blue: u8) -> Color32 {
    rgb(u32::from_be_bytes([0, red, green, blue]))
}

/// The relative luminance of WCAG.
fn luminance(color: Color32) -> f32 {
    let channel = |value: u8| {
        let value = f32::from(value) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * channel(color.r()) + 0.7152 * channel(color.g()) + 0.0722 * channel(color.b())
}

fn contrast(a: Color32, b: Color32) -> f32 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[cfg(test)]
mod tests {
    use super::super::THEMES;
    use super::*;

    /// Any text of a program can be read on any background that it asks for.
    #[test]
    fn every_cell_is_legible() {
        use Hue::{Black, Blue, Cyan, Green, Magenta, Red, White, Yellow};
        let hues = [Black, Red, Green, Yellow, Blue, Magenta, Cyan, White].map(CellColor::Hue);
        let steps = [0, 64, 128, 192, 255];
        let grid = (0..steps.len().pow(3)).map(|index| {
            let [red, green, blue] = [index / 25, index / 5 % 5, index % 5].map(|it| steps[it]);
            CellColor::Rgb(red, green, blue)
        });
        let mut colors = vec![CellColor::Text, CellColor::Background];
        colors.extend(hues);
        colors.extend(grid);
        for theme in THEMES {
            for background in &colors {
                let below = theme.cell_background(*background);
                for text in &colors {
                    let shown = theme.cell_text(*text, true, below);
                    assert!(contrast(shown, below) >= MIN_CONTRAST, "{text:?} on {background:?}");
                }
            }
            let plain = theme.cell_text(CellColor::Text, false, theme.background);
            assert_eq!(plain, theme.text, "a legible colour is not changed");
        }
    }
}
