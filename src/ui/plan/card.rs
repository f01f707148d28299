//! The confirmation of the step that a guided run waits for, shown as a card in the list of steps.
//!
//! The dialog asks the same question, and the same rules apply ([`arming`]): each display has a new identity, no
//! control has the initial focus, the safe answer comes first, and no answer counts before the whole card was visible
//! for long enough. A step that requires the dialog gets a button that opens it.
//!
//! The waiting step has one confirmation (`worker/answer_slots.rs`). It is shown in the card and, if the step would
//! require a confirmation in an automatic run too, in the dialog (`ConfirmationRequest::required`). *Run* in
//! the card of such a step opens the dialog; `App` checks this again, so that no view can approve without the dialog.
//! The card is in a list that scrolls, so its delay counts only while the whole card is visible, and restarts after
//! each frame in which it is not. If the list has no room for the card, a button opens the dialog.

#[cfg(test)]
mod tests;

use egui::{
    Align, CornerRadius, Frame, Id, Key, Layout, Margin, Modifiers, Rect, Role, ScrollArea, Sense,
    Stroke, Ui, UiBuilder, Vec2, WidgetInfo, style::ScrollAnimation, vec2,
};

use super::PlanView;
use super::inspector::expected_ui;
use super::request::request_ui;
use crate::run::{ConfirmationRequest, Decision};
use crate::ui::action::{Action, DialogAction, PlanAction};
use crate::ui::artifact::keep_keyboard;
use crate::ui::controls::button_width;
use crate::ui::dialog::arming::{Allowed, Arming, DELAY_MS};
use crate::ui::dialog::{PromptId, SAFE_ANSWERS, after_click, read_input};
use crate::ui::icon;
use crate::ui::scroll;
use crate::ui::theme::{self, Theme};
use crate::ui::widgets::{self, Look};

/// A step that waits for the person's answer.
#[derive(Debug, Clone, Copy)]
pub struct CardView<'a> {
    /// The identity of this display.
    pub prompt: PromptId,
    /// The question.
    pub request: &'a ConfirmationRequest,
    /// Whether to scroll to the card and focus it now.
    pub reveal: bool,
    /// Whether something covers the card.
    pub covered: bool,
    /// Whether the dialog with the same question covers it.
    pub in_front: bool,
}

/// State of one display of a card between frames, stored by its identity.
#[derive(Debug, Clone, Copy)]
struct Memory {
    arming: Arming,
    /// The frame in which the card was last drawn.
    frame: u64,
    /// The height of its contents, in points.
    content: f32,
    /// Whether the card is being scrolled into view. `focus`: whether it gets the keyboard focus afterwards.
    revealing: bool,
    /// The frame of the latest request to scroll the list. `told`: the number of requests.
    scrolled: u64,
    told: u8,
    focus: bool,
}

/// The height of one line of buttons with its margins, in points.
const LINE: f32 = theme::BUTTON + 8.0;
/// The smallest visible part of the contents, in points, with which the step can be answered.
const LEAST: f32 = 56.0;
/// The maximum number of requests to scroll the list for one display of the card.
const MAX_SCROLLS: u8 = 4;
/// The left and right margin, in points.
const MARGIN: f32 = 18.0;

/// The layout of a card in the available room.
#[derive(Debug, Clone, Copy)]
pub(super) struct Card<'a> {
    view: CardView<'a>,
    memory: Memory,
    /// The visible height of the contents; `None` when there is too little room to answer.
    body: Option<f32>,
    /// The number of button lines.
    lines: f32,
}

impl<'a> Card<'a> {
    /// Lays out the card in a list of steps whose visible part has the size `seen`.
    pub(super) fn new(ui: &Ui, view: CardView<'a>, seen: egui::Vec2) -> Self {
        let memory = ui.data_mut(|data| data.get_temp::<Memory>(id(view.prompt)));
        let mut memory = memory.unwrap_or(Memory {
            arming: Arming::new(DELAY_MS),
            frame: 0,
            content: 120.0,
            revealing: false,
            scrolled: 0,
            told: 0,
            focus: false,
        });
        if view.reveal {
            (memory.revealing, memory.focus, memory.told) = (true, true, 0);
        }
        let width = seen.x - 2.0 * MARGIN;
        let gap = ui.spacing().item_spacing.x;
        let hold_back =
            SAFE_ANSWERS.iter().map(|(_, _, text, _)| button_width(ui, text, true) + gap);
        let whole = hold_back.sum::<f32>() + button_width(ui, run_text(view.request), true);
        let lines = if whole <= width { 1.0 } else { 2.0 };
        let room = seen.y - theme::ROW - lines * LINE - 6.0;
        let body = (room >= LEAST.min(memory.content)).then(|| memory.content.min(room));
        Self { view, memory, body, lines: if body.is_some() { lines } else { 1.0 } }
    }

    /// The index of the step, from 0.
    pub(super) fn index(&self) -> usize {
        self.view.request.step_index
    }

    /// The height of the card below the row of its step, in points.
    pub(super) fn extra(&self) -> f32 {
        self.body.unwrap_or(0.0) + self.lines * LINE + 6.0
    }

    /// Requests that the card is scrolled into view.
    pub(super) fn want(&mut self) {
        (self.memory.revealing, self.memory.told) = (true, 0);
    }

    /// Scrolls to the card if requested. Call this after drawing everything: a scroll area inside the card
    /// would consume the request.
    pub(super) fn reveal(&self, ui: &Ui, place: Rect) {
        if !self.memory.revealing {
            return;
        }
        let (id, frame) = (id(self.view.prompt), ui.ctx().cumulative_frame_nr());
        // The list reaches its new position only two frames later. Asking again before that would scroll
        // twice as far.
        let tell = frame > self.memory.scrolled + 2;
        if tell {
            ui.scroll_to_rect_animation(place, None, ScrollAnimation::none());
        }
        ui.data_mut(|data| {
            // A drawn card has stored its own memory in this frame; a card out of view has not.
            let memory = data.get_temp_mut_or_insert_with(id, || self.memory);
            memory.revealing |= memory.frame != frame;
            memory.focus |= self.memory.focus && memory.frame != frame;
            if tell {
                (memory.scrolled, memory.told) = (frame, self.memory.told + 1);
            }
            // Without enough room the card never becomes visible, so the number of attempts is limited.
            memory.revealing &= memory.told < MAX_SCROLLS;
        });
        ui.ctx().request_repaint();
    }

    /// Draws the card below the row of the step, whose id is `row`.
    pub(super) fn ui(
        mut self,
        ui: &mut Ui,
        whole: Rect,
        row: Id,
        plan: &PlanView<'_>,
        actions: &mut Vec<Action>,
    ) {
        let theme = Theme::of(ui);
        let below = whole.with_min_y(whole.top() + theme::ROW);
        ui.painter().rect_filled(below, CornerRadius::ZERO, theme.panel);
        let bar = Rect::from_min_size(whole.min, vec2(3.0, whole.height()));
        ui.painter().rect_filled(bar, CornerRadius::ZERO, theme.caution);
        let seen = ui.clip_rect().expand(2.0).contains_rect(whole);
        if self.memory.focus && (seen || self.body.is_none()) {
            ui.memory_mut(|memory| memory.request_focus(row));
            self.memory.focus = false;
        }
        let Some(height) = self.body else {
            self.no_room_ui(ui, below, actions);
            self.remember(ui, seen, self.memory.content);
            return;
        };
        let allowed = self.allowed(ui, seen);
        let (body, footer) = below.split_top_bottom_at_y(below.top() + height);
        let content = self.body_ui(ui, body, plan);
        self.footer_ui(ui, footer, allowed, actions);
        self.remember(ui, seen, content);
    }

    fn remember(mut self, ui: &Ui, seen: bool, content: f32) {
        let grows = (content - self.memory.content).abs() > 0.5;
        if grows {
            ui.ctx().request_repaint();
        }
        self.memory.content = content;
        self.memory.revealing &= grows || !seen;
        self.memory.frame = ui.ctx().cumulative_frame_nr();
        ui.data_mut(|data| data.insert_temp(id(self.view.prompt), self.memory));
    }

    /// The answers allowed in this frame: none unless the whole card is visible and nothing covers it.
    fn allowed(&mut self, ui: &Ui, seen: bool) -> Allowed {
        let goes_on = self.memory.frame + 1 >= ui.ctx().cumulative_frame_nr();
        if !seen || self.view.covered || !goes_on {
            self.memory.arming = Arming::new(DELAY_MS);
        }
        if !seen || self.view.covered {
            return Allowed::default();
        }
        let allowed = self.memory.arming.frame(read_input(ui.ctx()));
        if let Some(wait) = allowed.wait_ms {
            ui.ctx().request_repaint_after(std::time::Duration::from_millis(wait.max(16)));
        }
        allowed
    }

    /// Draws the contents and returns their height.
    fn body_ui(&self, ui: &mut Ui, place: Rect, plan: &PlanView<'_>) -> f32 {
        let request = self.view.request;
        let mut area = ui.new_child(UiBuilder::new().id_salt("card").max_rect(place));
        let scroll = self.scroll(&mut area, place);
        let area_of = ScrollArea::vertical().id_salt(self.view.prompt).max_height(place.height());
        let shown = area_of.auto_shrink([false, false]).show(&mut area, |ui| {
            if let Some(by) = scroll {
                ui.scroll_with_delta_animation(by, ScrollAnimation::none());
            }
            let margin = Margin { left: MARGIN as i8, right: MARGIN as i8, top: 8, bottom: 4 };
            Frame::NONE.inner_margin(margin).show(ui, |ui| {
                ui.set_min_width(ui.available_width());
                ui.spacing_mut().item_spacing.y = 6.0;
                request_ui(ui, request);
                let step = plan.plan.and_then(|plan| plan.steps.get(request.step_index));
                if let Some(step) = step {
                    expected_ui(ui, step);
                }
            });
        });
        shown.content_size.y
    }

    /// Contents that do not fit can be focused with Tab and scrolled with keys.
    fn scroll(&self, ui: &mut Ui, place: Rect) -> Option<Vec2> {
        if self.memory.content <= place.height() + 0.5 {
            return None;
        }
        let id = id(self.view.prompt).with("body");
        let response = ui.interact(place, id, Sense::click());
        response.widget_info(|| WidgetInfo::labeled(Role::Document, true, "The step in full"));
        if !response.has_focus() {
            return None;
        }
        keep_keyboard(ui, id);
        if ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape)) {
            response.surrender_focus();
        }
        widgets::focus_ring(ui, &response);
        scroll::pressed(ui.ctx(), place.height(), &scroll::VERTICAL_KEYS)
    }

    fn footer_ui(&self, ui: &mut Ui, place: Rect, allowed: Allowed, actions: &mut Vec<Action>) {
        let theme = Theme::of(ui);
        let line_at = place.with_min_x(place.left() + 3.0).x_range();
        ui.painter().hline(line_at, place.top() + 0.5, Stroke::new(1.0, theme.line));
        let request = self.view.request;
        if self.view.in_front {
            // The dialog in front has the answer buttons; the card shows none meanwhile.
            return;
        }
        let inner = place.shrink2(vec2(MARGIN, 3.0));
        let (first, last) =
            if self.lines > 1.0 { inner.split_top_bottom_at_fraction(0.5) } else { (inner, inner) };
        let mut area = line(ui, "hold back", first, Layout::left_to_right(Align::Center));
        for (decision, icon, text, tooltip) in SAFE_ANSWERS {
            let clicked =
                widgets::button(&mut area, Look::Plain, Some(icon), text, allowed.hold_back)
                    .on_hover_text(tooltip)
                    .on_disabled_hover_text(WAIT)
                    .clicked();
            if clicked {
                self.answer(ui, decision, actions);
            }
        }
        let mut area = line(ui, "run", last, Layout::right_to_left(Align::Center));
        let text = run_text(request);
        let run =
            widgets::button(&mut area, Look::Primary, Some(icon::PLAY), text, allowed.approve);
        if run.on_disabled_hover_text(WAIT).clicked() {
            if request.required {
                actions.push(Action::Plan(PlanAction::AskInFront));
                after_click::remember(ui.ctx());
            } else {
                self.answer(ui, Decision::Approve, actions);
            }
        }
    }

    /// In a window this small, a button opens the dialog instead.
    fn no_room_ui(&self, ui: &mut Ui, place: Rect, actions: &mut Vec<Action>) {
        let inner = place.shrink2(vec2(MARGIN, 3.0));
        let mut area = line(ui, "answer", inner, Layout::left_to_right(Align::Center));
        let enabled = !self.view.covered;
        let look = Look::Primary;
        if widgets::button(&mut area, look, Some(icon::HAND), "Answer this step…", enabled)
            .clicked()
        {
            actions.push(Action::Plan(PlanAction::AskInFront));
        }
    }

    fn answer(&self, ui: &Ui, decision: Decision, actions: &mut Vec<Action>) {
        let ConfirmationRequest { run_id, step_index, .. } = *self.view.request;
        actions.push(Action::Dialog(DialogAction::Answer { run_id, step_index, decision }));
        after_click::remember(ui.ctx());
    }
}

const WAIT: &str = "Read the card first. The buttons are enabled once the whole card has been visible for a moment.";

fn id(prompt: PromptId) -> Id {
    Id::unique(("card", prompt))
}

/// The text of the run button. The ellipsis means that a dialog follows.
fn run_text(request: &ConfirmationRequest) -> &'static str {
    if request.required { "Run this step…" } else { "Run this step" }
}

fn line(ui: &mut Ui, salt: &str, place: Rect, layout: Layout) -> Ui {
    ui.new_child(UiBuilder::new().id_salt(salt).max_rect(place).layout(layout))
}
