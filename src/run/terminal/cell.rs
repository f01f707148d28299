//! The cells of a screen, with the colours that a program can ask for.

use alacritty_terminal::term::cell::{Cell as TermCell, Flags};
use alacritty_terminal::vte::ansi::{Color, NamedColor};

use crate::run::Hue;

/// The colour of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellColor {
    /// The colour of plain text.
    Text,
    /// The colour behind plain text.
    Background,
    /// One of the colours that every terminal has.
    Hue(Hue),
    /// Red, green and blue.
    Rgb(u8, u8, u8),
}

/// One cell of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell<'a> {
    /// The character; a space for an empty cell.
    pub character: char,
    /// The combining marks on it.
    pub marks: &'a [char],
    /// The colour of the text.
    pub text: CellColor,
    /// The colour behind it.
    pub background: CellColor,
    /// Whether the text is dimmed.
    pub faint: bool,
    /// Whether the text is bold.
    pub bold: bool,
    /// Whether the text is underlined.
    pub underlined: bool,
    /// Whether the text is struck through.
    pub struck: bool,
    /// Whether the character also takes the next cell, which is then left out.
    pub is_wide: bool,
}

/// A cell as the library stores it, with its colours as they are drawn.
pub(super) fn cell_of(cell: &TermCell) -> Cell<'_> {
    let (mut text, mut background) = (color(cell.fg), color(cell.bg));
    if cell.flags.contains(Flags::INVERSE) {
        std::mem::swap(&mut text, &mut background);
    }
    let is_concealed = cell.flags.contains(Flags::HIDDEN) || cell.c.is_control();
    let is_dim = matches!(
        cell.fg,
        Color::Named(
            NamedColor::DimBlack
                | NamedColor::DimRed
                | NamedColor::DimGreen
                | NamedColor::DimYellow
                | NamedColor::DimBlue
                | NamedColor::DimMagenta
                | NamedColor::DimCyan
                | NamedColor::DimWhite
                | NamedColor::DimForeground
        )
    );
    Cell {
        character: if is_concealed { ' ' } else { cell.c },
        marks: cell.zerowidth().filter(|_| !is_concealed).unwrap_or_default(),
        text,
        background,
        faint: is_dim || cell.flags.contains(Flags::DIM),
        bold: cell.flags.contains(Flags::BOLD),
        underlined: cell.flags.intersects(Flags::ALL_UNDERLINES),
        struck: cell.flags.contains(Flags::STRIKEOUT),
        is_wide: cell.flags.contains(Flags::WIDE_CHAR),
    }
}

fn color(color: Color) -> CellColor {
    match color {
        Color::Spec(rgb) => CellColor::Rgb(rgb.r, rgb.g, rgb.b),
        Color::Indexed(index) => indexed(index),
        Color::Named(NamedColor::Background) => CellColor::Background,
        Color::Named(name) => {
            let index = match name as usize {
                bright @ 8..=15 => bright - 8,
                index if index < 8 => index,
                dim => dim.wrapping_sub(NamedColor::DimBlack as usize),
            };
            let hue = u16::try_from(index).ok().and_then(Hue::from_index);
            hue.map_or(CellColor::Text, CellColor::Hue)
        }
    }
}

/// One of the 256 numbered colours.
fn indexed(index: u8) -> CellColor {
    let component = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
    match index {
        0..=15 => Hue::from_index(u16::from(index % 8)).map_or(CellColor::Text, CellColor::Hue),
        16..=231 => {
            let index = index - 16;
            CellColor::Rgb(component(index / 36), component(index / 6 % 6), component(index % 6))
        }
        grey => {
            let grey = 8 + 10 * (grey - 232);
            CellColor::Rgb(grey, grey, grey)
        }
    }
}
