//! Chooses lines of what a step changes: a tick for each file, hunk and line.

use std::collections::BTreeMap;

use egui::{
    Align, Checkbox, Key, Layout, Margin, Modifiers, Panel, Role, ScrollArea, TextStyle,
    TextWrapMode, Ui, WidgetInfo, WidgetText, vec2,
};

use super::PlanView;
use super::line_cursor::{Cursor, chooses_lines};
use super::revising::LineChoice;
use crate::plan::{ShownStep, Tool, drawable, visible_name};
use crate::run::{DeselectedLines, Diff, DiffLine, FileChange, LineKind, hunks};
use crate::ui::access::Reason as _;
use crate::ui::action::RevisionAction;
use crate::ui::{Action, Look, PlanAction, Text, Theme, Tone, format, widgets};

/// The height of a row, in points.
pub(super) const ROW: f32 = 20.0;
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
    for line in lines.into_iter().filter(is_changed) {
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

fn is_changed(line: &&DiffLine) -> bool {
    matches!(line.kind, LineKind::Added | LineKind::Removed)
}

/// Draws the choice in place of what the step would do.
pub(super) fn line_choice_ui(
    ui: &mut Ui,
    view: &PlanView<'_>,
    choice: &LineChoice,
    actions: &mut Vec<Action>,
) {
    let applies = chooses_lines(ui.ctx())
        && ui.input_mut(|it| it.consume_key(Modifiers::COMMAND, Key::Enter));
    widgets::margins(8, 6).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 8.0;
        let text = "Untick what the step must not change. A removed line that is not ticked stays.";
        widgets::paragraph(ui, text, Text::Meta, Tone::Dim);
        buttons_ui(ui, view, choice, applies, actions);
    });
    widgets::line_below(ui);
    list_ui(ui, view.selected, choice, actions);
}

/// The files, hunks and lines, each with its tick.
fn list_ui(ui: &mut Ui, step: usize, choice: &LineChoice, actions: &mut Vec<Action>) {
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
    let is_tickable = |row: Row| lines_of(&of_files, row).iter().any(is_changed);
    let ticks: Vec<bool> = rows.iter().map(|row| is_tickable(*row)).collect();
    let mut cursor = Cursor::load(ui.ctx());
    cursor.take_keys(ui, &ticks);
    whole_line_ui(ui, &cursor);
    let mut area = ScrollArea::vertical().id_salt(("choose lines", step));
    if let Some(offset) = cursor.offset_to_wanted(ROW, ui.available_height()) {
        area = area.vertical_scroll_offset(offset);
    }
    ui.spacing_mut().item_spacing.y = 0.0;
    ui.spacing_mut().interact_size.y = ROW - 2.0;
    let area = area.auto_shrink([false, false]);
    let shown = area.show_rows(ui, ROW, rows.len(), |ui, range| {
        for (index, row) in range.clone().zip(rows.get(range).unwrap_or_default()) {
            row_ui(ui, (index, *row), choice, &of_files, &mut cursor, actions);
        }
    });
    cursor.save(ui, shown.state.clamped_offset().y, shown.inner_rect.height());
}

/// The lines of a file, of a hunk, or the line.
fn lines_of<'l>(files: &[Vec<&'l [DiffLine]>], row: Row) -> Vec<&'l DiffLine> {
    let (Row::File(file) | Row::Hunk(file, _) | Row::Line(file, ..)) = row;
    let hunks = files.get(file).map(Vec::as_slice).unwrap_or_default();
    match row {
        Row::File(_) => hunks.iter().copied().flatten().collect(),
        Row::Hunk(_, hunk) => hunks.get(hunk).copied().unwrap_or_default().iter().collect(),
        Row::Line(_, hunk, line) => {
            hunks.get(hunk).and_then(|lines| lines.get(line)).into_iter().collect()
        }
    }
}

/// Draws the row with the keyboard below the list, whole, if its end is cut off there.
fn whole_line_ui(ui: &mut Ui, cursor: &Cursor) {
    let Some(text) = cursor.long.as_ref().filter(|_| chooses_lines(ui.ctx())) else { return };
    let frame = widgets::panel_frame(Theme::of(ui).panel, Margin::symmetric(12, 8));
    let lines = WidgetText::from(widgets::rich(drawable(text), Text::Mono, Theme::of(ui).text));
    let width = ui.available_width() - 24.0;
    let lines = lines.into_galley(ui, Some(TextWrapMode::Wrap), width, TextStyle::Body);
    // Known before it is drawn, so that the list has its height from the first frame on.
    let height = lines.size().y.min(4.0 * ROW) + 16.0;
    let panel = Panel::bottom("whole line").exact_size(height);
    panel.frame(frame).resizable(false).show(ui, |ui| {
        ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
            widgets::paragraph(ui, &**text, Text::Mono, Tone::Plain);
        });
    });
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
        let apply = apply.on_hover_text(hint).or_why(why_not.unwrap_or_default());
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

/// Draws a row of the list, with its place in it.
fn row_ui(
    ui: &mut Ui,
    (index, row): (usize, Row),
    choice: &LineChoice,
    files: &[Vec<&[DiffLine]>],
    cursor: &mut Cursor,
    actions: &mut Vec<Action>,
) {
    let theme = Theme::of(ui);
    let (Row::File(file) | Row::Hunk(file, _) | Row::Line(file, ..)) = row;
    let Some(change) = choice.changes.get(file) else { return };
    let deselected = choice.deselected.get(&change.path);
    let lines = lines_of(files, row);
    let line = match row {
        Row::Line(..) => lines.first().copied(),
        _ => None,
    };
    let label = match (row, line) {
        (Row::Hunk(_, hunk), _) => {
            let first = lines.iter().find_map(|line| line.before.or(line.after)).unwrap_or(0);
            format!("Hunk {} at line {first}", hunk + 1)
        }
        (_, Some(line)) => line_label(line),
        _ => visible_name(&change.path).into_owned(),
    };
    let is_tickable = lines.iter().any(is_changed);
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
        .scope_id(egui::Id::unique("choice of lines").with(index));
    // The row has its height, whatever is in it.
    let ui = &mut ui.new_child(builder);
    let mut has_keyboard = false;
    ui.spacing_mut().item_spacing.x = 6.0;
    if is_tickable {
        let mut ticked = state == Wanted::All;
        let tick = Checkbox::without_text(&mut ticked).indeterminate(state == Wanted::Some);
        let response = ui.add(tick);
        response.widget_info(|| {
            WidgetInfo::selected(Role::CheckBox, true, state == Wanted::All, label.clone())
        });
        widgets::focus_ring(ui, &response);
        has_keyboard = cursor.draw(index, &response);
        if response.clicked() {
            let lines = lines.iter().copied().filter(is_changed).cloned().collect();
            let wanted = state != Wanted::All;
            let path = change.path.clone();
            act(actions, RevisionAction::WantLines { path, lines, wanted });
        }
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
    if has_keyboard {
        cursor.keep_if_long(ui, &text);
    }
    ui.add(egui::Label::new(text).truncate().selectable(false));
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
    use egui_kittest::kittest::{NodeT as _, Queryable as _};

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

    fn harness(size: [f32; 2], choice: LineChoice) -> Harness<'static> {
        let mut harness = Harness::builder()
            .with_size(size)
            .build_ui(move |ui| list_ui(ui, 0, &choice, &mut Vec::new()));
        harness.run_ok();
        harness
    }

    /// The name of the tick that has the keyboard.
    fn focused(harness: &Harness<'_>) -> Option<String> {
        harness.get_all_by_role(Role::CheckBox).find(|it| it.is_focused())?.accesskit_node().label()
    }

    #[test]
    fn keys_go_through_a_long_list_and_stay_in_it() {
        let lines: Vec<String> = (1..=200).map(|number| format!("n{number}")).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let mut harness = harness([400.0, 200.0], choice(&lines));
        let ends = |harness: &Harness<'_>, end: &str| {
            let focused = focused(harness);
            assert!(
                focused.as_deref().is_some_and(|it| it.ends_with(end)),
                "{focused:?}, not {end}"
            );
        };
        ends(&harness, "a");
        let press = |harness: &mut Harness<'_>, key: Key, times: usize| {
            for _ in 0..times {
                harness.key_press(key);
                harness.run_ok();
            }
        };
        // The file and the hunk are rows, too.
        for (key, times, end) in [
            (Key::ArrowDown, 20, "+ n19"),
            (Key::ArrowUp, 15, "+ n4"),
            (Key::End, 1, "+ n200"),
            (Key::ArrowDown, 2, "+ n200"),
            (Key::PageDown, 1, "+ n200"),
            (Key::ArrowUp, 1, "+ n199"),
            (Key::Home, 1, "a"),
            (Key::PageUp, 1, "a"),
            (Key::ArrowUp, 1, "a"),
        ] {
            press(&mut harness, key, times);
            ends(&harness, end);
        }
        press(&mut harness, Key::PageDown, 3);
        let before = focused(&harness).unwrap();
        assert!(!before.ends_with(" a"), "{before}");
        press(&mut harness, Key::PageDown, 1);
        press(&mut harness, Key::PageUp, 1);
        assert_eq!(focused(&harness).unwrap(), before);
    }

    #[test]
    fn a_line_with_the_keyboard_can_be_read_to_its_end() {
        let long = "heron ".repeat(60);
        let mut harness = harness([400.0, 300.0], choice(&["short", &long]));
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
