//! Selecting text in a diff with the mouse, and copying it. What is copied is the exact text of the lines, without line
//! numbers and signs, and with hidden characters as they are.

use std::ops::Range;
use std::sync::Arc;

use egui::text::CCursor;
use egui::{Event, Galley, Id, Key, Modifiers, Pos2, Rect, Response, Ui, vec2};

use super::code_row::{CodeRow, RowSource};
use super::marks::ranges_in;
use super::twin_lines::SpelledOut;
use crate::plan::{shown_offset, source_offset};
use crate::run::{DiffLine, LineKind};
use crate::ui::Theme;

/// A place in the text of a diff: a line, and a byte of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    line: usize,
    byte: usize,
}

/// What is selected. At most one diff has a selection.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Selection {
    /// The diff.
    area: Id,
    /// The side of a diff that is shown side by side: the lines before the change, or those after it.
    side: Option<LineKind>,
    anchor: Place,
    head: Place,
}

impl Selection {
    fn ends(&self) -> (Place, Place) {
        (self.anchor.min(self.head), self.anchor.max(self.head))
    }

    /// Whether a line belongs to the selected side.
    fn has(&self, line: &DiffLine) -> bool {
        let other = match self.side {
            Some(LineKind::Removed) => Some(LineKind::Added),
            Some(_) => Some(LineKind::Removed),
            None => None,
        };
        line.kind != LineKind::Gap && Some(line.kind) != other
    }

    /// The selected text.
    fn text(&self, lines: &[DiffLine]) -> String {
        let (from, to) = self.ends();
        let selected = lines.iter().enumerate().take(to.line + 1).skip(from.line);
        let selected = selected.filter(|(_, line)| self.has(line)).map(|(index, line)| {
            let start = if index == from.line { from.byte } else { 0 };
            let end = if index == to.line { to.byte } else { line.text.len() };
            line.text.get(start..end).unwrap_or_default()
        });
        selected.collect::<Vec<_>>().join("\n")
    }
}

fn selection_id() -> Id {
    Id::unique("selection in a difference")
}

/// A diff whose text can be selected.
pub(super) struct Selecting<'a> {
    pub(super) area: Id,
    pub(super) lines: &'a [DiffLine],
    pub(super) spelled: &'a SpelledOut,
    selection: Option<Selection>,
}

impl<'a> Selecting<'a> {
    pub(super) fn new(ui: &Ui, area: Id, lines: &'a [DiffLine], spelled: &'a SpelledOut) -> Self {
        let selection = ui.data(|data| data.get_temp::<Option<Selection>>(selection_id()));
        let selection = selection.flatten().filter(|selection| selection.area == area);
        Self { area, lines, spelled, selection }
    }

    /// The laid out part of a line, and what of it is written out.
    fn part(&self, source: &RowSource) -> (&'a str, Vec<Range<usize>>) {
        let line = self.lines.get(source.line).map_or("", |line| line.text.as_str());
        let spelled = self.spelled.get(&source.line).map_or(&[][..], Vec::as_slice);
        (line.get(source.part.clone()).unwrap_or_default(), ranges_in(&source.part, spelled))
    }

    /// The selected part of a row, in bytes of its text, and whether the selection goes on in the next line.
    pub(super) fn in_row(
        &self,
        row: &CodeRow,
        side: Option<LineKind>,
    ) -> Option<(Range<usize>, bool)> {
        let (selection, source) = (self.selection?, row.source.as_ref()?);
        let (from, to) = selection.ends();
        let line = self.lines.get(source.line)?;
        if !(from.line..=to.line).contains(&source.line)
            || side != selection.side
            || !selection.has(line)
        {
            return None;
        }
        let (part, spelled) = self.part(source);
        let shown = |byte: usize| {
            let byte = byte.saturating_sub(source.part.start);
            shown_offset(part, &spelled, byte).saturating_sub(source.shown).min(row.text.len())
        };
        let start = if from.line < source.line { 0 } else { shown(from.byte) };
        let end = if to.line > source.line { row.text.len() } else { shown(to.byte) };
        let goes_on = to.line > source.line;
        (start < end || goes_on && start == end).then_some((start..end, goes_on))
    }

    /// The place in the text of the diff that is drawn at `x` points from the start of a row.
    fn place(&self, row: &CodeRow, galley: &Galley, x: f32) -> Option<Place> {
        let source = row.source.as_ref()?;
        let column = galley.cursor_from_pos(vec2(x, galley.size().y / 2.0)).index;
        let column = row.text.char_indices().nth(column.into()).map_or(row.text.len(), |it| it.0);
        let (part, spelled) = self.part(source);
        let byte = source.part.start + source_offset(part, &spelled, source.shown + column);
        Some(Place { line: source.line, byte })
    }

    /// Handles the pointer and the keys. `row_at` returns the row at a point, its layout, where its text begins, and
    /// its side.
    pub(super) fn input(
        mut self,
        ui: &Ui,
        response: &Response,
        row_at: impl Fn(Pos2) -> Option<(CodeRow, Arc<Galley>, f32, Option<LineKind>)>,
    ) {
        let before = self.selection;
        let at_pointer = |this: &Self| {
            let pointer = response.interact_pointer_pos()?;
            let (row, galley, left, side) = row_at(pointer)?;
            Some((this.place(&row, &galley, pointer.x - left)?, side))
        };
        let pressed = ui.input(|input| input.pointer.primary_pressed());
        if pressed && !response.is_pointer_button_down_on() {
            self.selection = None;
        } else if pressed && let Some((place, side)) = at_pointer(&self) {
            let extends = ui.input(|input| input.modifiers.shift);
            let anchor = self.selection.filter(|it| extends && it.side == side);
            let anchor = anchor.map_or(place, |it| it.anchor);
            self.selection = Some(Selection { area: self.area, side, anchor, head: place });
        } else if response.double_clicked()
            && let Some((place, side)) = at_pointer(&self)
        {
            self.selection = Some(self.word(place, side));
        } else if response.triple_clicked()
            && let Some((place, side)) = at_pointer(&self)
        {
            self.selection = Some(self.line(place, side));
        } else if response.dragged()
            && let Some(mut selection) = self.selection
        {
            if let Some((place, side)) = at_pointer(&self)
                && side == selection.side
            {
                selection.head = place;
            }
            self.selection = Some(selection);
            scroll_to_pointer(ui, response);
        }
        if let Some(selection) = self.selection
            && !ui.ctx().text_edit_focused()
        {
            self.keys(ui, selection);
        }
        if self.selection != before {
            ui.data_mut(|data| data.insert_temp(selection_id(), self.selection));
            ui.ctx().request_repaint();
        }
        response.clone().on_hover_cursor(egui::CursorIcon::Text);
    }

    /// Handles the keys that copy the selection, extend it to everything, and end it.
    fn keys(&mut self, ui: &Ui, selection: Selection) {
        let pressed = |modifiers, key| ui.input_mut(|input| input.consume_key(modifiers, key));
        if pressed(Modifiers::COMMAND, Key::A) {
            let last = self.lines.len().saturating_sub(1);
            let end = self.lines.last().map_or(0, |line| line.text.len());
            let (anchor, head) = (Place { line: 0, byte: 0 }, Place { line: last, byte: end });
            self.selection = Some(Selection { anchor, head, ..selection });
        }
        if selection.anchor != selection.head
            && ui.input(|input| input.events.contains(&Event::Copy))
        {
            ui.ctx().copy_text(selection.text(self.lines));
        }
        if selection.anchor != selection.head && pressed(Modifiers::NONE, Key::Escape) {
            self.selection = None;
        }
    }

    /// The word at a place.
    fn word(&self, place: Place, side: Option<LineKind>) -> Selection {
        let line = self.lines.get(place.line).map_or("", |line| line.text.as_str());
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let (before, after) = line.split_at_checked(place.byte).unwrap_or((line, ""));
        let start = before.trim_end_matches(is_word).len();
        let end = line.len() - after.trim_start_matches(is_word).len();
        let at = |byte| Place { byte, ..place };
        Selection { area: self.area, side, anchor: at(start), head: at(end) }
    }

    /// The line at a place.
    fn line(&self, place: Place, side: Option<LineKind>) -> Selection {
        let end = self.lines.get(place.line).map_or(0, |line| line.text.len());
        let at = |byte| Place { byte, ..place };
        Selection { area: self.area, side, anchor: at(0), head: at(end) }
    }
}

/// Scrolls while the pointer drags a selection beyond what is visible.
fn scroll_to_pointer(ui: &Ui, response: &Response) {
    let Some(pointer) = response.interact_pointer_pos() else { return };
    let visible = ui.clip_rect();
    let beyond = (visible.top() - pointer.y).max(0.0) - (pointer.y - visible.bottom()).max(0.0);
    if beyond != 0.0 {
        ui.scroll_with_delta(vec2(0.0, beyond.clamp(-40.0, 40.0)));
        ui.ctx().request_repaint();
    }
}

/// Paints the background of the selected part of a row. `text` is where its text is drawn.
pub(super) fn paint_selected(
    ui: &Ui,
    row: &CodeRow,
    galley: &Galley,
    rect: Rect,
    left: f32,
    (selected, goes_on): &(Range<usize>, bool),
) {
    let x = |byte: usize| {
        let chars = row.text.get(..byte).map_or(0, |text| text.chars().count());
        left + galley.pos_from_cursor(CCursor::new(chars)).left()
    };
    // The line break is selected, too.
    let end = x(selected.end) + if *goes_on { 6.0 } else { 0.0 };
    let area = Rect::from_x_y_ranges(x(selected.start)..=end, rect.y_range());
    ui.painter().rect_filled(area, 0.0, Theme::of(ui).selection);
}

#[cfg(test)]
mod tests {
    use egui::{Event, Modifiers, OutputCommand, PointerButton, pos2};
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable as _;

    use crate::authorization::FileState;
    use crate::plan::Digest;
    use crate::run::{Diff, DiffLine, FileChange, LineKind};
    use crate::ui::plan::changes_ui;
    use crate::ui::tests::window;

    fn button<S>(harness: &Harness<'_, S>, pos: egui::Pos2, pressed: bool) {
        let (button, modifiers) = (PointerButton::Primary, Modifiers::NONE);
        harness.event(Event::PointerButton { pos, button, pressed, modifiers });
    }

    /// Drags from the start of the text of one row to the end of that of another, and copies.
    fn copied<S>(harness: &mut Harness<'_, S>, from: &str, to: &str, gutter: f32) -> Vec<String> {
        let rect = |harness: &Harness<'_, S>, label: &str| {
            harness.query_all_by_label_contains(label).last().unwrap().rect()
        };
        let start = rect(harness, from).left_center() + egui::vec2(gutter, 0.0);
        let end = pos2(rect(harness, to).right() - 2.0, rect(harness, to).center().y);
        harness.event(Event::PointerMoved(start));
        button(harness, start, true);
        harness.step();
        for part in [0.3, 0.7, 1.0] {
            harness.event(Event::PointerMoved(start.lerp(end, part)));
            harness.step();
        }
        button(harness, end, false);
        harness.step();
        harness.event(Event::Copy);
        harness.step();
        let commands = &harness.output().platform_output.commands;
        let texts = commands.iter().filter_map(|command| match command {
            OutputCommand::CopyText(text) => Some(text.clone()),
            _ => None,
        });
        texts.collect()
    }

    #[test]
    fn selected_lines_are_copied_without_gutter() {
        let mut harness = window("plan", [1280.0, 800.0]);
        let (from, to) = ("-pub fn old_function(n: u32)", "+    n.saturating_add(2)");
        let expected = "pub fn old_function(n: u32) -> u32 { n + 1 }\n\
                        pub fn old_function(n: u32) -> u32 {\n    n.saturating_add(2)";
        assert_eq!(copied(&mut harness, from, to, 90.0), [expected]);
        // A click elsewhere ends the selection.
        let elsewhere = pos2(400.0, 600.0);
        harness.event(Event::PointerMoved(elsewhere));
        button(&harness, elsewhere, true);
        harness.step();
        button(&harness, elsewhere, false);
        harness.step();
        harness.event(Event::Copy);
        harness.step();
        assert!(harness.output().platform_output.commands.is_empty());
    }

    #[test]
    fn a_selection_ends_when_another_diff_is_in_its_place() {
        let change = |state: &[u8], second: &str| {
            let line = |number: usize, text: &str| DiffLine {
                kind: LineKind::Added,
                before: None,
                after: Some(number),
                text: text.to_owned(),
                missing_newline: false,
            };
            let lines = vec![line(1, "a first line"), line(2, second)];
            FileChange {
                path: "a.txt".to_owned(),
                before: FileState::Absent,
                after: FileState::Content(Digest::of(state)),
                diff: Diff::Text { lines, added: 2, removed: 0 },
            }
        };
        let build = |ui: &mut egui::Ui, change: &mut FileChange| {
            crate::ui::theme::install(ui.ctx());
            changes_ui(ui, "test", std::slice::from_ref(change));
        };
        let mut harness = Harness::builder()
            .with_size([700.0, 400.0])
            .build_ui_state(build, change(b"one", "heron"));
        harness.run_ok();
        assert_eq!(copied(&mut harness, "+a first line", "+heron", 90.0).len(), 1);
        *harness.state_mut() = change(b"two", "egret");
        harness.run_ok();
        harness.event(Event::Copy);
        harness.step();
        assert!(harness.output().platform_output.commands.is_empty());
    }

    #[test]
    fn hidden_characters_are_copied_as_they_are() {
        let mut harness = window("plan", [1280.0, 800.0]);
        let text = "one\u{202e}two\tthree\n⟨U+200B⟩ is written\n";
        harness.state_mut().scene.show_contents(text, crate::ui::action::Tab::WillDo);
        harness.run_ok();
        let copied = copied(&mut harness, "+one⟨U+202E⟩two", "+⟨U+27E8⟩U+200B⟩", 90.0);
        assert_eq!(copied, ["one\u{202e}two\tthree\n⟨U+200B⟩ is written"]);
    }
}
