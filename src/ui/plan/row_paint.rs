//! Draws one row of code: its background, line numbers, selection, and text with its colours.

use std::ops::Range;
use std::sync::Arc;

use egui::text::{LayoutJob, TextFormat};
use egui::{Color32, Galley, Id, Pos2, Rect, Role, Sense, Stroke, Ui, WidgetInfo, pos2};

use super::code_row::{Beside, CodeRow, Gutter};
use super::marks::{Marks, sections};
use super::selection::paint_selected;
use crate::run::LineKind;
use crate::ui::widgets::text_format;
use crate::ui::{Text, Theme, access, widgets};

/// The space at the right edge of a row with a note, in points.
const PADDING: f32 = 16.0;

/// Draws a row. `selected` is the selected part of its text, and whether the selection goes on in the next line.
pub(super) fn row_ui(
    ui: &Ui,
    rect: Rect,
    row: &CodeRow,
    gutter: Gutter,
    id: Id,
    selected: Option<(Range<usize>, bool)>,
) {
    let theme = Theme::of(ui);
    let background = match row.kind {
        LineKind::Added => Some(theme.added),
        LineKind::Removed => Some(theme.removed),
        LineKind::Context => None,
        LineKind::Gap => Some(theme.panel),
    };
    let text = text_color(row, theme);
    if let Some(background) = background {
        ui.painter().rect_filled(rect, 0.0, background);
    }
    let middle = rect.center().y;
    let number = |x: f32, number: Option<usize>| {
        if let Some(number) = number {
            let right = pos2(rect.left() + x, middle);
            widgets::paint_right(ui, right, (&number.to_string(), Text::SmallMono, theme.dim));
        }
    };
    if gutter.numbers > 0 {
        let (before, after) = gutter.ends();
        number(before, row.numbers.0.filter(|_| gutter.numbers > 1));
        number(after, row.numbers.1);
    }
    let left = rect.left() + gutter.width();
    if !row.sign.is_empty() || row.stderr {
        let sign = if row.stderr { "!" } else { row.sign };
        paint(ui, pos2(left - 15.0, middle), [Piece::plain(sign, text)]);
    }
    let galley = row_galley(ui, row);
    if let Some(selected) = &selected {
        paint_selected(ui, row, &galley, rect, left, selected);
    }
    paint_galley(ui, pos2(left, middle), galley);
    if let Some(Beside { icon, tone, note }) = row.beside.as_deref() {
        if let Some(icon) = icon {
            widgets::paint_icon(ui, pos2(left - 12.0, middle), *icon, 14.0, theme.tone(*tone));
        }
        let right = pos2(rect.right() - PADDING, middle);
        widgets::paint_right(ui, right, (note, Text::Small, theme.tone(*tone)));
    }
    let response = ui.interact(rect, id, Sense::hover());
    response.widget_info(|| {
        let stream = if row.stderr { "stderr: " } else { "" };
        let note = row.beside.as_ref().map_or("", |beside| &*beside.note);
        let space = if note.is_empty() { "" } else { ", " };
        let text = format!("{stream}{}{}{space}{note}", row.sign, row.text);
        WidgetInfo::labeled(Role::Label, true, text)
    });
    // Many screen readers skip a sign, and numbers are painted.
    let what = match row.kind {
        LineKind::Added => "added",
        LineKind::Removed => "removed",
        LineKind::Context => "",
        LineKind::Gap => "lines left out",
    };
    let place = row.numbers.1.or(row.numbers.0).map(|number| format!("line {number}"));
    let parts: Vec<_> =
        [Some(what.to_owned()).filter(|it| !it.is_empty()), place].into_iter().flatten().collect();
    if !parts.is_empty() {
        access::describe(&response, &parts.join(", "));
    }
}

fn text_color(row: &CodeRow, theme: &Theme) -> Color32 {
    match row.kind {
        LineKind::Added => theme.added_text,
        LineKind::Removed => theme.removed_text,
        LineKind::Context if row.stderr => theme.danger,
        LineKind::Context => theme.text,
        LineKind::Gap => theme.dim,
    }
}

/// The laid out text of a row.
pub(super) fn row_galley(ui: &Ui, row: &CodeRow) -> Arc<Galley> {
    let theme = Theme::of(ui);
    layout(ui, pieces(row, text_color(row, theme), theme))
}

/// A part of a row with one style.
#[derive(Clone, Copy)]
pub(super) struct Piece<'a> {
    pub(super) text: &'a str,
    pub(super) colour: Color32,
    /// The background, for a changed word.
    pub(super) background: Option<Color32>,
    /// The underline of text that needs attention.
    pub(super) underline: Stroke,
}

impl<'a> Piece<'a> {
    pub(super) fn plain(text: &'a str, colour: Color32) -> Self {
        Self { text, colour, background: None, underline: Stroke::NONE }
    }
}

/// Splits the text of a row where its style changes.
fn pieces<'a>(row: &'a CodeRow, plain: Color32, theme: &Theme) -> Vec<Piece<'a>> {
    let Marks { colours, changed, emphasized, styles } = &row.marks;
    let marked = changed.iter().chain(colours.iter().map(|(it, _)| it));
    let marked = marked.chain(emphasized.iter().map(|(it, _)| it));
    sections(&row.text, marked.chain(styles.iter().map(|(it, _)| it)))
        .into_iter()
        .map(|(start, text)| {
            let colour = colours.iter().find(|(it, _)| it.contains(&start));
            let colour = colour.map_or(plain, |(_, class)| theme.syntax(*class));
            let mut piece = Piece::plain(text, colour);
            // A changed word has its own background, designed for the plain text colour.
            if changed.iter().any(|it| it.contains(&start)) {
                piece = Piece {
                    background: Some(theme.changed_word(row.kind)),
                    underline: theme.mark_line(),
                    ..Piece::plain(text, plain)
                };
            }
            if let Some((_, style)) = styles.iter().find(|(it, _)| it.contains(&start)) {
                (piece.colour, piece.underline) = theme.ansi_style(*style, plain);
            }
            if let Some((_, tone)) = emphasized.iter().find(|(it, _)| it.contains(&start)) {
                piece.underline = Stroke::new(2.0, theme.tone(*tone));
            }
            piece
        })
        .collect()
}

pub(super) fn paint<'a>(ui: &Ui, left_center: Pos2, pieces: impl IntoIterator<Item = Piece<'a>>) {
    paint_galley(ui, left_center, layout(ui, pieces));
}

fn layout<'a>(ui: &Ui, pieces: impl IntoIterator<Item = Piece<'a>>) -> Arc<Galley> {
    let mut job = LayoutJob { break_on_newline: false, ..LayoutJob::default() };
    for Piece { text, colour, background, underline } in pieces {
        let format = TextFormat {
            background: background.unwrap_or(Color32::TRANSPARENT),
            underline,
            ..text_format(Text::Mono, colour)
        };
        job.append(text, 0.0, format);
    }
    ui.painter().layout_job(job)
}

fn paint_galley(ui: &Ui, left_center: Pos2, galley: Arc<Galley>) {
    let min = pos2(left_center.x, left_center.y - galley.size().y / 2.0);
    ui.painter().galley(min, galley, Color32::TRANSPARENT);
}
