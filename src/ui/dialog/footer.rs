//! The bottom of a dialog: its buttons, and above them the field for a word if the approval needs one.

use egui::{Align, CornerRadius, Id, Layout, Rect, Stroke, Ui, UiBuilder, pos2, vec2};

use super::answer::{Answer, Answers};
use super::arming::Allowed;
use super::{Entered, FOOTER, PADDING, wait, word};
use crate::run::ConfirmationRequest;
use crate::ui::controls::Lines;
use crate::ui::{Action, Text, Theme, Tone, theme, widgets};

/// The space between two buttons, in points.
const GAP: f32 = 8.0;
/// The distance from one line of buttons to the next, in points.
const LINE: f32 = theme::BUTTON + 8.0;

/// The least width for words that say why the approval cannot be given, in points.
const LACKS: f32 = 80.0;

/// The bottom of a dialog.
pub(super) struct Footer<'a> {
    pub(super) rect: Rect,
    /// The id of the dialog.
    pub(super) id: Id,
    /// The question about a dangerous step, whose approval needs a word to be typed, and whether it can be approved with
    /// the word.
    pub(super) word: Option<(&'a ConfirmationRequest, bool)>,
    /// Whether anything was typed too early for the word.
    pub(super) dropped: bool,
    pub(super) allowed: Allowed,
}

impl Footer<'_> {
    /// Draws the buttons for the answers to what the person has entered. The safe answers come first in the order of
    /// Tab; but with a word, the field and then the approval, because the person has begun to approve by then. Returns
    /// the height that the word with its texts and further lines of buttons need, in points.
    pub(super) fn ui<'a>(
        self,
        ui: &mut Ui,
        entered: &mut Entered,
        actions: &mut Vec<Action>,
        answers: impl FnOnce(&Entered) -> Answers<'a>,
    ) -> f32 {
        let Self { rect, id, word, dropped, allowed } = self;
        let theme = Theme::of(ui);
        let radius = theme::DIALOG_RADIUS;
        let corners = CornerRadius { sw: radius, se: radius, ..CornerRadius::ZERO };
        ui.painter().rect_filled(rect, corners, theme.panel);
        ui.painter().hline(rect.x_range(), rect.top(), Stroke::new(1.0, theme.line));
        let inner = rect.shrink2(vec2(PADDING, 0.0));
        let typed = word.map(|(request, can_approve)| {
            let allowed = Allowed { approve: allowed.approve && can_approve, ..allowed };
            word::word_ui(ui, inner, id, request, &mut entered.typed, (allowed, dropped))
        });
        let Answers { mut safe, mut approve } = answers(entered);
        let all = || safe.iter().chain(&approve);
        let width: f32 = all().map(|it| it.width(ui) + GAP).sum();
        if width - GAP > inner.width() {
            // Without icons they may fit into one line.
            safe.iter_mut().chain(&mut approve).for_each(|it| it.icon = None);
        }
        // In a narrow dialog the buttons take more than one line; the last has the approval, alone at the right.
        let mut lines = Lines::new(GAP, inner.width());
        let line_of_safe: Vec<_> = safe.iter().map(|it| lines.place(it.width(ui))).collect();
        let last = approve.as_ref().map(|it| lines.place(it.width(ui)));
        let last = last.or(line_of_safe.last().copied()).unwrap_or(0);
        let more_lines = f32::from(last) * LINE;
        let first = inner.with_min_y(inner.bottom() - FOOTER - more_lines);
        let line = |number: u8| {
            let top = first.top() + f32::from(number) * LINE;
            Rect::from_min_size(pos2(first.left(), top), vec2(first.width(), FOOTER))
        };
        if let Some(approve) = approve.as_ref().filter(|it| it.ready && allowed.approve)
            && typed.as_ref().is_some_and(|typed| typed.is_entered)
        {
            actions.push(Action::Dialog(approve.action.clone()));
        }
        let area = |ui: &mut Ui, salt: &str, rect: Rect, layout: Layout| {
            ui.new_child(UiBuilder::new().id_salt(salt).max_rect(rect).layout(layout))
        };
        let (from_left, from_right) =
            (Layout::left_to_right(Align::Center), Layout::right_to_left(Align::Center));
        // The order of the areas is that of a screen reader: the safe answers come first.
        let mut left = area(ui, "safe", line(0), from_left);
        let mut right = area(ui, "approval", line(last), from_right);
        let mut approval_ui = |answer: Option<Answer<'_>>, actions: &mut Vec<Action>| {
            if let Some(answer) = answer {
                answer.ui(&mut right, allowed.approve, actions);
            }
        };
        let lacks = approve.as_ref().filter(|it| !it.ready && allowed.approve && word.is_none());
        let lacks = lacks.map(|it| it.hint.clone().into_owned()).unwrap_or_default();
        approval_ui(approve.take_if(|_| word.is_some()), actions);
        let mut in_line = 0;
        for (answer, number) in safe.into_iter().zip(line_of_safe) {
            if number != in_line {
                (left, in_line) =
                    (area(ui, &format!("safe {number}"), line(number), from_left), number);
            }
            answer.ui(&mut left, allowed.safe, actions);
        }
        approval_ui(approve, actions);
        let end_of_left = if in_line == last { left.min_rect().right() } else { inner.left() };
        let between = Rect::from_x_y_ranges(
            end_of_left + GAP..=right.min_rect().left() - GAP,
            line(last).y_range(),
        );
        let mut between = area(ui, "wait", between, from_right);
        if !lacks.is_empty() && between.available_width() > LACKS {
            widgets::line(&mut between, lacks, Text::Meta, Tone::Dim);
        }
        wait::wait_ui(&mut between, allowed);
        typed.map_or(0.0, |typed| typed.height) + more_lines
    }
}
