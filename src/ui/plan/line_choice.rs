//! Chooses lines of what a step changes: a tick for each file, hunk and line.

use std::collections::BTreeMap;
use std::sync::Arc;

use egui::{
    Align, Checkbox, FocusDirection, Key, Layout, Margin, Modifiers, Panel, Role, ScrollArea, Ui,
    WidgetInfo, vec2,
};

use super::PlanView;
use super::revising::LineChoice;
use crate::plan::{ShownStep, Tool, drawable, visible_name};
use crate::run::{DeselectedLines, Diff, DiffLine, FileChange, LineKind, hunks};
use crate::ui::action::RevisionAction;
use crate::ui::{Action, Look, PlanAction, Text, Theme, Tone, format, widgets};

/// The height of a row, in points.
const ROW: f32 = 20.0;
/// The number of characters of a line that are drawn; the difference itself has all of them.
const MAX_CHARS: usize = 400;

fn act(actions: &mut Vec<Action>, action: RevisionAction) {
    actions.push(Action::Plan(PlanAction::Revise(action)));
}

/// Why no lines can be chosen of what a step changes; `None` if they can.
pub(crate) fn no_lines(step: &ShownStep, changes: &[FileChange]) -> Option<&'static str> {
    const TOOLS: [Tool; 3] = [Tool::FileWrite, Tool::FileCreate, Tool::MutateBatch];
    let is_of_lines = TOOLS.iter().any(|tool| tool.name() == step.tool_name);
    let has_lines = changes.iter().any(|it| matches!(it.diff, Diff::Text { .. }));
    match () {
        () if !is_of_lines => Some("What this step does is done as a whole."),
        () if !has_lines => Some("This step changes no lines of a file."),
        () => None,
    }
}

/// A row of the list: indexes of the file, the hunk and the line in it.
#[derive(Clone, Copy)]
enum Row {
    File(usize),
    Hunk(usize, usize),
    Line(usize, usize, usize),
}

/// Whether all, some or none of some lines are wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    All,
    Some,
    None,
}

fn wanted<'l>(
    lines: impl IntoIterator<Item = &'l DiffLine>,
    deselected: Option<&DeselectedLines>,
) -> Wanted {
    let Some(deselected) = deselected else { return Wanted::All };
    let (mut any, mut all) = (false, true);
    for line in lines.into_iter().filter(|it| is_changed(it)) {
        let keeps = deselected.keeps(line);
        any |= keeps;
        all &= keeps;
    }
    match (any, all) {
        (_, true) => Wanted::All,
        (true, false) => Wanted::Some,
        (false, false) => Wanted::None,
    }
}

fn is_changed(line: &DiffLine) -> bool {
    matches!(line.kind, LineKind::Added | LineKind::Removed)
}

/// Draws the choice in place of what the step would do.
pub(super) fn line_choice_ui(
    ui: &mut Ui,
    view: &PlanView<'_>,
    choice: &LineChoice,
    actions: &mut Vec<Action>,
) {
    let mut rows = Vec::new();
    for (file, change) in choice.changes.iter().enumerate() {
        rows.push(Row::File(file));
        for (hunk, lines) in hunks(&change.diff).enumerate() {
            rows.push(Row::Hunk(file, hunk));
            rows.extend((0..lines.len()).map(|line| Row::Line(file, hunk, line)));
        }
    }
    let of_files: Vec<Vec<&[DiffLine]>> =
        choice.changes.iter().map(|change| hunks(&change.diff).collect()).collect();
    // The keyboard goes to the first tick when the choice opens.
    let (id, frame) = (egui::Id::unique("choice of lines"), ui.ctx().cumulative_frame_nr());
    let last = ui.data(|data| data.get_temp::<u64>(id)).unwrap_or_default();
    ui.data_mut(|data| data.insert_temp(id, frame));
    let opens = last + 1 < frame;
    if chooses_lines(ui.ctx()) {
        // Before the ticks, each of which passes the keyboard on when it is drawn.
        let ways =
            [(Key::ArrowDown, FocusDirection::Next), (Key::ArrowUp, FocusDirection::Previous)];
        for (key, way) in ways {
            if ui.input_mut(|input| input.consume_key(Modifiers::NONE, key)) {
                ui.memory_mut(|memory| memory.move_focus(way));
            }
        }
    }
    let applies = chooses_lines(ui.ctx())
        && ui.input_mut(|it| it.consume_key(Modifiers::COMMAND, Key::Enter));
    widgets::margins(8, 6).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 8.0;
        let text = "Untick what the step must not change. A removed line that is not ticked stays.";
        widgets::paragraph(ui, text, Text::Meta, Tone::Dim);
        buttons_ui(ui, view, choice, applies, actions);
    });
    widgets::line_below(ui);
    whole_line_ui(ui);
    let area = ScrollArea::vertical().id_salt(("choose lines", view.selected));
    ui.spacing_mut().item_spacing.y = 0.0;
    ui.spacing_mut().interact_size.y = ROW - 2.0;
    area.auto_shrink([false, false]).show_rows(ui, ROW, rows.len(), |ui, range| {
        for (index, row) in range.clone().zip(rows.get(range).unwrap_or_default()) {
            let tick = row_ui(ui, *row, choice, &of_files, actions);
            if let Some(tick) = tick.filter(|_| opens && index == 0) {
                tick.request_focus();
            }
        }
    });
}

/// The id under which the window keeps the row with the keyboard if it is too long to be seen.
fn long_id() -> egui::Id {
    egui::Id::unique("the long line with the keyboard")
}

/// Draws the row with the keyboard below the list, whole, if its end is cut off there.
fn whole_line_ui(ui: &mut Ui) {
    if !chooses_lines(ui.ctx()) {
        return;
    }
    let Some(text) = ui.data(|data| data.get_temp::<Option<Arc<str>>>(long_id())).flatten() else {
        return;
    };
    let frame = widgets::panel_frame(Theme::of(ui).panel, Margin::symmetric(12, 8));
    Panel::bottom("whole line").frame(frame).resizable(false).show(ui, |ui| {
        ScrollArea::vertical().max_height(6.0 * ROW).show(ui, |ui| {
            widgets::paragraph(ui, &*text, Text::Mono, Tone::Plain);
        });
    });
}

/// The id under which the window keeps which tick has the keyboard.
fn focused_id() -> egui::Id {
    egui::Id::unique("the tick with the keyboard")
}

/// Whether a tick has the keyboard, so that the arrow keys go from line to line.
pub(crate) fn chooses_lines(ctx: &egui::Context) -> bool {
    let tick = ctx.data(|data| data.get_temp::<egui::Id>(focused_id()));
    tick.is_some_and(|tick| ctx.memory(|memory| memory.has_focus(tick)))
}

fn buttons_ui(
    ui: &mut Ui,
    view: &PlanView<'_>,
    choice: &LineChoice,
    applies: bool,
    actions: &mut Vec<Action>,
) {
    ui.horizontal_wrapped(|ui| {
        let why_not = match () {
            () if view.revision.why_not.is_some() => view.revision.why_not,
            () if !choice.is_changed() => Some("Every line is ticked: nothing would differ."),
            () => None,
        };
        let apply = widgets::button(ui, Look::Primary, None, "Apply selection", why_not.is_none());
        let hint = format!(
            "Make a revision of the plan in which the step changes only the ticked lines ({}).",
            ui.ctx().format_shortcut(&egui::KeyboardShortcut::new(Modifiers::COMMAND, Key::Enter))
        );
        let apply = apply.on_hover_text(hint).on_disabled_hover_text(why_not.unwrap_or_default());
        if apply.clicked() || applies && why_not.is_none() {
            act(actions, RevisionAction::ApplyLines);
        }
        let text = if choice.is_changed() { "Drop selection" } else { "Back" };
        if widgets::button(ui, Look::Plain, None, text, true).clicked() {
            act(actions, RevisionAction::DropLines);
        }
        let left: usize =
            choice.deselected.values().map(|it| it.removed.len() + it.added.len()).sum();
        if left > 0 {
            let text = format!("{} not ticked", format::counted(left, "line"));
            let text = widgets::rich(text, Text::Meta, Theme::of(ui).dim);
            ui.add(egui::Label::new(text).extend());
        }
    });
}

/// Draws a row. Returns its tick, if it has one.
fn row_ui(
    ui: &mut Ui,
    row: Row,
    choice: &LineChoice,
    files: &[Vec<&[DiffLine]>],
    actions: &mut Vec<Action>,
) -> Option<egui::Response> {
    let theme = Theme::of(ui);
    let (Row::File(file) | Row::Hunk(file, _) | Row::Line(file, ..)) = row;
    let (Some(change), Some(hunks)) = (choice.changes.get(file), files.get(file)) else {
        return None;
    };
    let deselected = choice.deselected.get(&change.path);
    let of_hunk = |hunk: usize| hunks.get(hunk).copied().unwrap_or_default();
    let (lines, label): (Vec<&DiffLine>, String) = match row {
        Row::File(_) => {
            (hunks.iter().copied().flatten().collect(), visible_name(&change.path).into_owned())
        }
        Row::Hunk(_, hunk) => {
            let lines = of_hunk(hunk);
            let first = lines.iter().find_map(|line| line.before.or(line.after)).unwrap_or(0);
            (lines.iter().collect(), format!("Hunk {} at line {first}", hunk + 1))
        }
        Row::Line(_, hunk, line) => {
            let line = of_hunk(hunk).get(line)?;
            (vec![line], line_label(line))
        }
    };
    let line = match row {
        Row::Line(..) => lines.first().copied(),
        _ => None,
    };
    let is_tickable = lines.iter().any(|line| is_changed(line));
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), egui::Sense::hover());
    let (background, color) = match line.map(|line| line.kind) {
        Some(LineKind::Added) => (Some(theme.added), theme.added_text),
        Some(LineKind::Removed) => (Some(theme.removed), theme.removed_text),
        Some(_) => (None, theme.dim),
        None => (Some(theme.panel), theme.text),
    };
    let state = wanted(lines.iter().copied(), deselected);
    if let Some(background) = background.filter(|_| line.is_none() || state == Wanted::All) {
        ui.painter().rect_filled(rect, 0.0, background);
    }
    let indent = match row {
        Row::File(_) => 12.0,
        Row::Hunk(..) => 24.0,
        Row::Line(..) => 36.0,
    };
    let builder = egui::UiBuilder::new()
        .max_rect(rect.with_min_x(rect.left() + indent))
        .layout(Layout::left_to_right(Align::Center))
        // Whatever else is drawn, a tick keeps its id, and with it the keyboard.
        .scope_id(ui.scope_id().with(match row {
            Row::File(file) => (file, usize::MAX, usize::MAX),
            Row::Hunk(file, hunk) => (file, hunk, usize::MAX),
            Row::Line(file, hunk, line) => (file, hunk, line),
        }));
    // The row has its height, whatever is in it.
    let ui = &mut ui.new_child(builder);
    let mut tick_drawn = None;
    ui.spacing_mut().item_spacing.x = 6.0;
    if is_tickable {
        let mut ticked = state == Wanted::All;
        let tick = Checkbox::without_text(&mut ticked).indeterminate(state == Wanted::Some);
        let response = ui.add(tick);
        response.widget_info(|| {
            WidgetInfo::selected(Role::CheckBox, true, state == Wanted::All, label.clone())
        });
        widgets::focus_ring(ui, &response);
        if response.has_focus() {
            ui.data_mut(|data| data.insert_temp(focused_id(), response.id));
        }
        if response.gained_focus() {
            // The rows around come into being, so that the focus can go on to them.
            let around = response.rect.expand2(vec2(0.0, 3.0 * ROW));
            ui.scroll_to_rect_animation(around, None, egui::style::ScrollAnimation::none());
        }
        if response.clicked() {
            let lines = lines.iter().copied().filter(|it| is_changed(it)).cloned().collect();
            let wanted = state != Wanted::All;
            let path = change.path.clone();
            act(actions, RevisionAction::WantLines { path, lines, wanted });
        }
        tick_drawn = Some(response);
    } else {
        ui.add_space(ui.spacing().icon_width + 6.0);
    }
    let (kind, color) = match row {
        Row::File(_) => (Text::Strong, theme.text),
        Row::Hunk(..) => (Text::Meta, theme.dim),
        Row::Line(..) if state == Wanted::None => (Text::Mono, theme.dim),
        Row::Line(..) => (Text::Mono, color),
    };
    let text = match line {
        Some(line) => line_text(line),
        None => label,
    };
    let mut text = widgets::rich(text, kind, color);
    // A removed line that is not wanted stays in the file, and is not struck through.
    if line.is_some_and(|line| line.kind == LineKind::Added) && state == Wanted::None {
        text = text.strikethrough();
    }
    if tick_drawn.as_ref().is_some_and(egui::Response::has_focus) {
        remember_long(ui, &text);
    }
    ui.add(egui::Label::new(text).truncate().selectable(false));
    tick_drawn
}

/// Keeps the text of the row with the keyboard for the next frame if there is no room for it in the row.
fn remember_long(ui: &Ui, text: &egui::RichText) {
    let whole = egui::WidgetText::from(text.clone());
    let width = ui.available_width();
    let drawn =
        whole.into_galley(ui, Some(egui::TextWrapMode::Extend), width, egui::TextStyle::Body);
    let long: Option<Arc<str>> = (drawn.size().x > width).then(|| text.text().into());
    let before = ui
        .data_mut(|data| std::mem::replace(data.get_temp_mut_or_default(long_id()), long.clone()));
    if before != long {
        ui.request_repaint();
    }
}

/// A line as it is drawn, with its sign.
fn line_text(line: &DiffLine) -> String {
    let sign = match line.kind {
        LineKind::Added => '+',
        LineKind::Removed => '-',
        LineKind::Context | LineKind::Gap => ' ',
    };
    let end = line.text.char_indices().nth(MAX_CHARS).map_or(line.text.len(), |(at, _)| at);
    let more = if end < line.text.len() { "…" } else { "" };
    format!("{sign} {}{more}", drawable(line.text.get(..end).unwrap_or_default()))
}

/// The accessible name of the tick of a line.
fn line_label(line: &DiffLine) -> String {
    let (number, what) = match line.kind {
        LineKind::Added => (line.after, "added"),
        LineKind::Removed => (line.before, "removed"),
        LineKind::Context | LineKind::Gap => (line.after, "unchanged"),
    };
    format!("Line {} {what}: {}", number.unwrap_or_default(), line_text(line))
}

/// The choice that begins with every line.
pub(crate) fn whole_choice(step: usize, changes: &[FileChange]) -> LineChoice {
    let changes: Vec<_> =
        changes.iter().filter(|it| matches!(it.diff, Diff::Text { .. })).cloned().collect();
    LineChoice { step, changes, deselected: BTreeMap::new() }
}

#[cfg(test)]
mod tests {
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable as _;

    use super::*;
    use crate::authorization::FileState;

    /// A choice in a new file with these lines.
    fn choice(lines: &[&str]) -> LineChoice {
        let line = |(index, text): (usize, &&str)| DiffLine {
            kind: LineKind::Added,
            before: None,
            after: Some(index + 1),
            text: (*text).to_owned(),
            missing_newline: false,
        };
        let diff = Diff::Text {
            lines: lines.iter().enumerate().map(line).collect(),
            added: lines.len(),
            removed: 0,
        };
        let (before, after) = (FileState::Absent, FileState::Absent);
        whole_choice(0, &[FileChange { path: "a".to_owned(), before, after, diff }])
    }

    #[test]
    fn a_line_with_the_keyboard_can_be_read_to_its_end() {
        let long = "heron ".repeat(60);
        let choice = choice(&["short", &long]);
        let mut harness = Harness::builder().with_size([400.0, 300.0]).build_ui(move |ui| {
            whole_line_ui(ui);
            let of_files: Vec<Vec<&[DiffLine]>> =
                choice.changes.iter().map(|change| hunks(&change.diff).collect()).collect();
            for line in 0..2 {
                row_ui(ui, Row::Line(0, 0, line), &choice, &of_files, &mut Vec::new());
            }
        });
        let long = format!("+ {long}");
        let times = |harness: &Harness<'_>| harness.query_all_by_label(&long).count();
        for (tick, shown) in [("+ short", 1), (&*long, 2), ("+ short", 1)] {
            harness
                .get_by(|it| {
                    it.role() == Role::CheckBox
                        && it.label().is_some_and(|name| name.ends_with(tick))
                })
                .focus();
            harness.run_ok();
            assert_eq!(times(&harness), shown, "{tick}");
        }
    }
}
