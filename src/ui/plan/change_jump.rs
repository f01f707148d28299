//! Going to the next and to the previous change in a list of diffs, by key and by button.

use egui::{Align, Context, Id, Rect, Response, Role, Sense, Ui, Vec2, WidgetInfo, pos2, vec2};

use crate::run::{DiffLine, LineKind};
use crate::ui::{Icon, Theme, icon, theme, widgets};

/// Where a change is scrolled to, in points below the top of the visible part: below two rows of context.
const BELOW_TOP: f32 = 2.0 * theme::CODE_ROW;

/// egui scrolls to a place that is off by its spacing, in points. A change that is this near is the present one.
const NEAR: f32 = 0.5 * theme::CODE_ROW;

/// A request to go to another change.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Jump {
    /// The list of diffs; `None` for the one of the page.
    list: Option<Id>,
    /// The change after the place that is shown, or the one before it.
    to_next: bool,
    /// The number of frames before the request. It is dropped if the frame after it draws no such list.
    frame: u64,
}

fn jump_id() -> Id {
    Id::unique("jump to a change")
}

/// Goes to the next or the previous change of the page in the next frame.
pub fn go_to_change(ctx: &Context, to_next: bool) {
    request(ctx, None, to_next);
}

fn request(ctx: &Context, list: Option<Id>, to_next: bool) {
    let jump = Jump { list, to_next, frame: ctx.cumulative_frame_nr() };
    ctx.data_mut(|data| data.insert_temp(jump_id(), Some(jump)));
    ctx.request_repaint();
}

/// The buttons that go to another change of a list of diffs, from right to left.
pub(super) fn jump_buttons_ui(ui: &mut Ui, list: Id) {
    for (icon, name, to_next) in
        [(icon::DOWN, "Next change", true), (icon::UP, "Previous change", false)]
    {
        if small_icon_button(ui, icon, name).clicked() {
            request(ui.ctx(), Some(list), to_next);
        }
    }
}

/// An icon as a button in a line of small text.
fn small_icon_button(ui: &mut Ui, icon: Icon, name: &str) -> Response {
    let theme = Theme::of(ui);
    let (rect, response) = ui.allocate_exact_size(Vec2::splat(18.0), Sense::click());
    let color = if response.hovered() || response.has_focus() { theme.text } else { theme.dim };
    widgets::paint_icon(ui, rect.center(), icon, 14.0, color);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, name));
    widgets::focus_ring(ui, &response);
    response.on_hover_text(name)
}

/// The changes of a list of diffs, while the person goes to one of them.
pub(super) struct Jumping {
    jump: Option<Jump>,
    /// The tops of the changes, in points of the window.
    tops: Vec<f32>,
}

impl Jumping {
    pub(super) fn new(ui: &Ui, list: Id) -> Self {
        let jump = ui.data(|data| data.get_temp::<Option<Jump>>(jump_id())).flatten();
        let covered =
            ui.memory(|memory| memory.top_modal_layer()).is_some_and(|top| top != ui.layer_id());
        let frame = ui.ctx().cumulative_frame_nr();
        let is_here = |jump: &Jump| {
            !covered && jump.list.is_none_or(|it| it == list) && frame <= jump.frame + 1
        };
        let jump = jump.filter(is_here);
        if jump.is_some() {
            ui.data_mut(|data| data.insert_temp::<Option<Jump>>(jump_id(), None));
        }
        Self { jump, tops: Vec::new() }
    }

    /// Adds the changes of a diff that is drawn in `area`. `rows` has for each row the lines that it shows.
    pub(super) fn add<L: IntoIterator<Item = usize>>(
        &mut self,
        area: Rect,
        lines: &[DiffLine],
        rows: impl Iterator<Item = L>,
    ) {
        if self.jump.is_none() {
            return;
        }
        let is_changed = |index: usize| {
            let kind = lines.get(index).map(|line| line.kind);
            matches!(kind, Some(LineKind::Added | LineKind::Removed))
        };
        let begins = |index: usize| {
            is_changed(index) && index.checked_sub(1).is_none_or(|before| !is_changed(before))
        };
        let mut last = None;
        for (row, shown) in rows.enumerate() {
            let start = shown.into_iter().find(|line| begins(*line));
            if start.is_some() && start != last {
                last = start;
                self.tops.push(area.top() + row as f32 * theme::CODE_ROW);
            }
        }
    }

    /// Scrolls to the wanted change, if there is one.
    pub(super) fn finish(self, ui: &Ui) {
        let Some(jump) = self.jump else { return };
        let here = ui.clip_rect().top() + BELOW_TOP;
        let wanted = if jump.to_next {
            self.tops.iter().find(|top| **top > here + NEAR)
        } else {
            self.tops.iter().rfind(|top| **top < here - NEAR)
        };
        if let Some(top) = wanted {
            let left_top = pos2(ui.clip_rect().left(), top - BELOW_TOP);
            let rect = Rect::from_min_size(left_top, vec2(1.0, theme::CODE_ROW));
            ui.scroll_to_rect_animation(
                rect,
                Some(Align::Min),
                egui::style::ScrollAnimation::none(),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use egui::ScrollArea;
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable as _;

    use super::*;
    use crate::authorization::FileState;
    use crate::plan::Digest;
    use crate::run::{Diff, FileChange};
    use crate::ui::plan::changes_ui;

    fn line(number: usize) -> DiffLine {
        let (kind, text) = match number {
            100 => (LineKind::Added, "second".to_owned()),
            3 | 200 | 201 => (LineKind::Added, format!("change {number}")),
            _ => (LineKind::Context, format!("line {number}")),
        };
        let after = Some(number);
        DiffLine { kind, before: after, after, text, missing_newline: false }
    }

    #[test]
    fn a_jump_without_a_list_is_dropped() {
        let change = FileChange {
            path: "a.txt".to_owned(),
            before: FileState::Absent,
            after: FileState::Content(Digest::of(b"x")),
            diff: Diff::Text { lines: (4..400).map(line).collect(), added: 3, removed: 0 },
        };
        let build = |ui: &mut Ui, is_shown: &mut bool| {
            theme::install(ui.ctx());
            if *is_shown {
                ScrollArea::vertical()
                    .show(ui, |ui| changes_ui(ui, "test", std::slice::from_ref(&change)));
            }
        };
        let mut harness =
            Harness::builder().with_size(vec2(700.0, 400.0)).build_ui_state(build, false);
        go_to_change(&harness.ctx, true);
        harness.run_ok();
        harness.run_steps(2);
        *harness.state_mut() = true;
        harness.run_ok();
        let is_shown = |part| harness.query_all_by_label_contains(part).next().is_some();
        assert!(is_shown("line 4") && !is_shown("+second"), "the diff is shown from its start");
    }

    #[test]
    fn changes_are_reached_one_after_the_other() {
        let change = FileChange {
            path: "a.txt".to_owned(),
            before: FileState::Absent,
            after: FileState::Content(Digest::of(b"x")),
            diff: Diff::Text { lines: (1..400).map(line).collect(), added: 4, removed: 0 },
        };
        let build = |ui: &mut Ui| {
            theme::install(ui.ctx());
            ScrollArea::vertical()
                .show(ui, |ui| changes_ui(ui, "test", std::slice::from_ref(&change)));
        };
        let mut harness = Harness::builder().with_size(vec2(700.0, 400.0)).build_ui(build);
        let is_shown = |harness: &Harness<'_>, label: &str| harness.query_by_label(label).is_some();
        assert!(is_shown(&harness, "+change 3") && !is_shown(&harness, "+second"));
        harness.get_by_label("Next change").click();
        harness.run_ok();
        let mut shown = Vec::new();
        for to_next in [true, true, false, false] {
            go_to_change(&harness.ctx, to_next);
            harness.run_ok();
            shown.push([is_shown(&harness, "+second"), is_shown(&harness, "+change 201")]);
        }
        assert_eq!(shown, [[true, false], [false, true], [true, false], [false, false]]);
    }
}
