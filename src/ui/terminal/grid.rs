//! Draws the cells of a terminal.

use egui::{Color32, CornerRadius, Pos2, Rect, Stroke, StrokeKind, Ui, pos2, vec2};

use crate::run::{Cell, CellColor, TerminalScreen, TerminalSize};
use crate::ui::{Text, Theme};

/// The measures of a cell, in points.
#[derive(Debug, Clone, Copy)]
pub(super) struct CellSize {
    width: f32,
    height: f32,
}

impl CellSize {
    pub(super) fn of(ui: &Ui) -> Self {
        let font = Text::Mono.font();
        let height = ui.fonts_mut(|fonts| fonts.row_height(&font)).ceil().max(1.0);
        Self { width: Text::Mono.digit_width(ui), height }
    }

    /// The size of the terminal that fills this rectangle.
    pub(super) fn terminal_in(self, rect: Rect) -> TerminalSize {
        let cells = |length: f32, cell: f32| (length / cell).clamp(1.0, 1000.0) as u16;
        TerminalSize::new(cells(rect.width(), self.width), cells(rect.height(), self.height))
    }

    /// The number of rows for this distance.
    pub(super) fn rows(self, distance: f32) -> f32 {
        distance / self.height
    }
}

/// Cells next to each other that are drawn as one text.
struct Run {
    column: usize,
    columns: usize,
    text: String,
    style: Style,
}

#[derive(Clone, Copy, PartialEq)]
struct Style {
    text: Color32,
    background: Option<Color32>,
    bold: bool,
    underlined: bool,
    struck: bool,
}

impl Style {
    fn of(cell: &Cell<'_>, theme: &Theme) -> Self {
        let background = match cell.background {
            CellColor::Background => None,
            color => Some(theme.cell_background(color)),
        };
        let below = background.unwrap_or(theme.background);
        Self {
            text: theme.cell_text(cell.text, cell.faint, below),
            background,
            bold: cell.bold,
            underlined: cell.underlined,
            struck: cell.struck,
        }
    }
}

/// Draws the screen with its top left corner at `origin`. The cursor is filled while the terminal has the keyboard. Returns
/// where the cursor is, if the screen shows it.
pub(super) fn grid_ui(
    ui: &Ui,
    screen: &TerminalScreen,
    origin: Pos2,
    size: CellSize,
    has_keyboard: bool,
) -> Option<Rect> {
    let theme = Theme::of(ui);
    let cursor = screen.cursor();
    let mut place = None;
    for row in 0..usize::from(screen.size().rows()) {
        let top = origin.y + size.height * row as f32;
        let left = |column: usize| origin.x + size.width * column as f32;
        for run in runs(screen, row, theme) {
            let rect = Rect::from_min_size(
                pos2(left(run.column), top),
                vec2(size.width * run.columns as f32, size.height),
            );
            if let Some(background) = run.style.background {
                ui.painter().rect_filled(rect, CornerRadius::ZERO, background);
            }
            text_ui(ui, rect, &run.text, run.style);
        }
        let Some(cursor) = cursor.filter(|cursor| cursor.row == row) else { continue };
        let is_wide = |(column, cell): &(usize, Cell<'_>)| *column == cursor.column && cell.is_wide;
        let columns = if screen.row(row).any(|it| is_wide(&it)) { 2.0 } else { 1.0 };
        let corner = pos2(left(cursor.column), top);
        let rect = Rect::from_min_size(corner, vec2(size.width * columns, size.height));
        place = Some(rect);
        if !has_keyboard {
            let stroke = Stroke::new(1.0, theme.dim);
            ui.painter().rect_stroke(rect, CornerRadius::ZERO, stroke, StrokeKind::Inside);
        } else if cursor.is_beam {
            let beam = Rect::from_min_size(corner, vec2(2.0, size.height));
            ui.painter().rect_filled(beam, CornerRadius::ZERO, theme.accent);
        } else {
            ui.painter().rect_filled(rect, CornerRadius::ZERO, theme.accent);
            let below = screen.row(row).find(|(column, _)| *column == cursor.column);
            if let Some((_, cell)) = below {
                let text: String =
                    std::iter::once(cell.character).chain(cell.marks.iter().copied()).collect();
                let style =
                    Style { text: theme.on_accent, background: None, ..Style::of(&cell, theme) };
                text_ui(ui, rect, &text, style);
            }
        }
    }
    place
}

/// Draws the text that an input method composes at the cursor. The program gets it only once it is complete.
pub(super) fn composed_ui(ui: &Ui, screen: Rect, cursor: Rect, text: String) {
    if text.is_empty() {
        return;
    }
    let theme = Theme::of(ui);
    let galley = ui.painter().layout_no_wrap(text, Text::Mono.font(), theme.text);
    // A text that would reach beyond the right edge begins further left, so that all of it can be seen.
    let left = cursor.left().min(screen.right() - galley.size().x).max(screen.left());
    let size = vec2(galley.size().x, cursor.height());
    let rect = Rect::from_min_size(pos2(left, cursor.top()), size);
    ui.painter().rect_filled(rect, CornerRadius::ZERO, theme.raised);
    ui.painter().galley(rect.min, galley, theme.text);
    let stroke = Stroke::new(1.0, theme.accent);
    ui.painter().hline(rect.x_range(), rect.bottom() - 1.0, stroke);
}

/// The cells of a row as runs. A character that is not ASCII is a run of its own, because its glyph may have another
/// width than its cells.
fn runs(screen: &TerminalScreen, row: usize, theme: &Theme) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (column, cell) in screen.row(row) {
        let style = Style::of(&cell, theme);
        let columns = if cell.is_wide { 2 } else { 1 };
        match runs.last_mut() {
            Some(run)
                if run.style == style
                    && cell.character.is_ascii()
                    && cell.marks.is_empty()
                    && run.text.is_ascii() =>
            {
                run.text.push(cell.character);
                run.columns += columns;
            }
            _ => {
                let text = std::iter::once(cell.character).chain(cell.marks.iter().copied());
                runs.push(Run { column, columns, text: text.collect(), style });
            }
        }
    }
    runs
}

fn text_ui(ui: &Ui, rect: Rect, text: &str, style: Style) {
    if !text.trim().is_empty() {
        let galley = ui.painter().layout_no_wrap(text.to_owned(), Text::Mono.font(), style.text);
        // There is no bold font of this family: the text is drawn twice, a bit apart.
        if style.bold {
            let corner = rect.min + vec2(0.6, 0.0);
            ui.painter().galley(corner, std::sync::Arc::clone(&galley), style.text);
        }
        ui.painter().galley(rect.min, galley, style.text);
    }
    let stroke = Stroke::new(1.0, style.text);
    if style.underlined {
        ui.painter().hline(rect.x_range(), rect.bottom() - 1.5, stroke);
    }
    if style.struck {
        ui.painter().hline(rect.x_range(), rect.center().y, stroke);
    }
}
