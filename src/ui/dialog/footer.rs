//! The bottom of a dialog: its buttons, and above them the field for a word if the approval needs one.

use egui::{Align, CornerRadius, Id, Layout, Rect, Stroke, Ui, UiBuilder, vec2};

use super::answer::{Answer, Answers};
use super::arming::Allowed;
use super::{Entered, FOOTER, PADDING, wait, word};
use crate::run::ConfirmationRequest;
use crate::ui::{Action, Theme, theme};

/// The space between two buttons, in points.
const GAP: f32 = 8.0;

/// The bottom of a dialog.
pub(super) struct Footer<'a> {
    pub(super) rect: Rect,
    /// The id of the dialog.
    pub(super) id: Id,
    /// The question about a dangerous step, whose approval needs a word to be typed.
    pub(super) word: Option<&'a ConfirmationRequest>,
    pub(super) allowed: Allowed,
}

impl Footer<'_> {
    /// Draws the buttons for the answers to what the person has entered. The safe answers come first in the order of
    /// Tab; but with a word, the field and then the approval, because the person has begun to approve by then. Returns
    /// the height that the word with its texts needs, in points.
    pub(super) fn ui<'a>(
        self,
        ui: &mut Ui,
        entered: &mut Entered,
        actions: &mut Vec<Action>,
        answers: impl FnOnce(&Entered) -> Answers<'a>,
    ) -> f32 {
        let Self { rect, id, word, allowed } = self;
        let theme = Theme::of(ui);
        let radius = theme::DIALOG_RADIUS;
        let corners = CornerRadius { sw: radius, se: radius, ..CornerRadius::ZERO };
        ui.painter().rect_filled(rect, corners, theme.panel);
        ui.painter().hline(rect.x_range(), rect.top(), Stroke::new(1.0, theme.line));
        let inner = rect.shrink2(vec2(PADDING, 0.0));
        let (above, buttons) = inner.split_top_bottom_at_y(inner.bottom() - FOOTER);
        let typed =
            word.map(|request| word::word_ui(ui, above, id, request, &mut entered.typed, allowed));
        let Answers { safe, mut approve } = answers(entered);
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
        let mut left = area(ui, "safe", buttons, from_left);
        let mut right = area(ui, "approval", buttons, from_right);
        let mut approval_ui = |answer: Option<Answer<'_>>, actions: &mut Vec<Action>| {
            if let Some(answer) = answer {
                answer.ui(&mut right, allowed.approve, actions);
            }
        };
        approval_ui(approve.take_if(|_| word.is_some()), actions);
        for answer in safe {
            answer.ui(&mut left, allowed.safe, actions);
        }
        approval_ui(approve, actions);
        let between = Rect::from_x_y_ranges(
            left.min_rect().right() + GAP..=right.min_rect().left() - GAP,
            buttons.y_range(),
        );
        wait::wait_ui(&mut area(ui, "wait", between, from_right), allowed);
        typed.map_or(0.0, |typed| typed.height)
    }
}
