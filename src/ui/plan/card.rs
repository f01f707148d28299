//! The confirmation of the step that a guided run waits for, shown as a card in the list of steps.
//!
//! The same rules apply as for the dialog ([`arming`]): each display has a new id, no control has the initial focus,
//! the safe answers come first, and no answer counts before the complete card was visible for long enough. The card is
//! in a list that scrolls, so its delay restarts after each frame in which a part of it is not visible.
//!
//! If the step would require a confirmation in an automatic run too (`ConfirmationRequest::required`), *Run* in the
//! card opens the dialog. `App` checks this again, so that no view can approve such a step without the dialog. If the
//! list has no room for the card, a button opens the dialog.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use egui::{
    Align, CornerRadius, Frame, Id, Layout, Margin, Rect, Role, ScrollArea, Sense, Stroke, Ui,
    UiBuilder, Vec2, WidgetInfo, pos2, style::ScrollAnimation, vec2,
};

use super::inspector::expected_ui;
use super::{OUTDATED, PlanView, outdated_ui, request_ui};
use crate::run::{ConfirmationRequest, Decision};
use crate::ui::access::Reason as _;
use crate::ui::controls::{Lines, button_width};
use crate::ui::dialog::arming::{Allowed, Arming, DELAY_MS};
use crate::ui::dialog::draft::{self, Entered};
use crate::ui::dialog::{PromptId, SAFE_ANSWERS, Subject, after_click, read_input, reason_ui};
use crate::ui::{Action, DialogAction, Look, PlanAction, Theme, icon, scroll, theme, widgets};

/// A step that waits for the person's answer.
#[derive(Debug, Clone, Copy)]
pub struct CardView<'a> {
    /// The id of this display.
    pub prompt: PromptId,
    /// The request for the confirmation.
    pub request: &'a ConfirmationRequest,
    /// The files that are no longer as the request shows them.
    pub changed: &'a [String],
    /// Whether to scroll to the card and focus it now.
    pub reveal: bool,
    /// Whether a dialog or an overlay covers the card.
    pub covered: bool,
    /// Whether the dialog with the same request is open.
    pub dialog_open: bool,
}

/// State of the card between frames.
#[derive(Debug, Clone, Copy)]
struct Memory {
    /// The display that the state belongs to.
    prompt: PromptId,
    arming: Arming,
    /// The frame in which the card was last drawn.
    frame: u64,
    /// The height of the contents, in points.
    content_height: f32,
    /// Whether the card is being scrolled into view.
    revealing: bool,
    /// The frame of the latest request to scroll the list.
    scroll_frame: u64,
    /// The number of requests to scroll the list.
    scroll_requests: u8,
    /// Whether the card gets the keyboard focus once it is visible.
    focus: bool,
}

/// The height of one line of buttons with its margins, in points.
const LINE: f32 = theme::BUTTON + 8.0;
/// The height of the field for words with its margins, in points.
const WORDS: f32 = 34.0;
/// The minimum visible height of the contents, in points. With less, the card has no answer buttons.
const MIN_BODY: f32 = 56.0;
/// The maximum number of requests to scroll the list for one display of the card.
const MAX_SCROLLS: u8 = 4;
/// The left and right margin, in points.
const MARGIN: f32 = 18.0;

/// The layout of a card in the visible part of the list.
#[derive(Debug, Clone, Copy)]
pub(super) struct Card<'a> {
    view: CardView<'a>,
    memory: Memory,
    /// The visible height of the contents; `None` if the list has no room for them.
    body: Option<f32>,
    /// Whether the list has room for the field for words.
    has_words: bool,
    /// The line of each answer button, from 0: of the safe answers, then of *Run*.
    button_lines: [u8; 4],
}

impl<'a> Card<'a> {
    /// Lays out the card in a list of steps whose visible part has the size `visible`.
    pub(super) fn new(ui: &Ui, view: CardView<'a>, visible: egui::Vec2) -> Self {
        let mut memory = stored_memory(ui, view.prompt).unwrap_or(Memory {
            prompt: view.prompt,
            arming: Arming::new(DELAY_MS),
            frame: 0,
            content_height: 120.0,
            revealing: false,
            scroll_frame: 0,
            scroll_requests: 0,
            focus: false,
        });
        if view.reveal {
            (memory.revealing, memory.focus, memory.scroll_requests) = (true, true, 0);
        }
        let width = visible.x - 2.0 * MARGIN;
        let gap = ui.spacing().item_spacing.x;
        let [deny, skip, by_hand] =
            SAFE_ANSWERS.map(|(_, _, text, _)| button_width(ui, text, true));
        let run = button_width(ui, run_text(view.request), true);
        let mut lines = Lines::new(gap, width);
        let button_lines = [deny, skip, by_hand, run].map(|button| lines.place(button));
        let card = Self { view, memory, body: None, has_words: false, button_lines };
        let max_body = visible.y - theme::ROW - card.lines() * LINE - 6.0;
        let content = memory.content_height;
        let has_words = max_body - WORDS >= MIN_BODY.min(content) && !view.dialog_open;
        let max_body = if has_words { max_body - WORDS } else { max_body };
        let body = (max_body >= MIN_BODY.min(content)).then(|| content.min(max_body));
        let button_lines = if body.is_some() { button_lines } else { [0; 4] };
        Self { body, has_words, button_lines, ..card }
    }

    /// The number of button lines.
    fn lines(&self) -> f32 {
        f32::from(self.button_lines.iter().copied().max().unwrap_or(0)) + 1.0
    }

    /// The index of the step, from 0.
    pub(super) fn index(&self) -> usize {
        self.view.request.step_index
    }

    /// The height of the card below the row of its step, in points.
    pub(super) fn height(&self) -> f32 {
        let words = if self.has_words { WORDS } else { 0.0 };
        self.body.unwrap_or(0.0) + words + self.lines() * LINE + 6.0
    }

    /// Requests that the card is scrolled into view.
    pub(super) fn request_reveal(&mut self) {
        (self.memory.revealing, self.memory.scroll_requests) = (true, 0);
    }

    /// Scrolls the list to the card if requested. Call this after drawing the card, whose own scroll area would consume
    /// the scroll request.
    pub(super) fn scroll_into_view(&self, ui: &Ui, rect: Rect) {
        if !self.memory.revealing {
            return;
        }
        let frame = ui.ctx().cumulative_frame_nr();
        // The list reaches its new position only two frames later. Another request before that would scroll twice as
        // far.
        let scrolls = frame > self.memory.scroll_frame + 2;
        if scrolls {
            ui.scroll_to_rect_animation(rect, None, ScrollAnimation::none());
        }
        // A drawn card has stored its own memory in this frame; a card out of view has not.
        let mut memory = stored_memory(ui, self.view.prompt).unwrap_or(self.memory);
        memory.revealing |= memory.frame != frame;
        memory.focus |= self.memory.focus && memory.frame != frame;
        if scrolls {
            memory.scroll_frame = frame;
            memory.scroll_requests = self.memory.scroll_requests + 1;
        }
        // Without enough room the card never becomes visible, so the number of requests is limited.
        memory.revealing &= memory.scroll_requests < MAX_SCROLLS;
        ui.data_mut(|data| data.insert_temp(memory_id(), memory));
        ui.ctx().request_repaint();
    }

    /// Draws the card below the row of the step. `rect` includes the row, whose id is `row`.
    pub(super) fn ui(
        mut self,
        ui: &mut Ui,
        rect: Rect,
        row: Id,
        plan: &PlanView<'_>,
        actions: &mut Vec<Action>,
    ) {
        let theme = Theme::of(ui);
        let below = rect.with_min_y(rect.top() + theme::ROW);
        ui.painter().rect_filled(below, CornerRadius::ZERO, theme.panel);
        let bar = Rect::from_min_size(rect.min, vec2(3.0, rect.height()));
        ui.painter().rect_filled(bar, CornerRadius::ZERO, theme.caution);
        let visible = ui.clip_rect().expand(2.0).contains_rect(rect);
        if self.memory.focus && (visible || self.body.is_none()) {
            ui.memory_mut(|memory| memory.request_focus(row));
            self.memory.focus = false;
        }
        let Some(height) = self.body else {
            self.no_room_ui(ui, below, actions);
            self.store_memory(ui, visible, self.memory.content_height);
            return;
        };
        let allowed = self.allowed(ui, visible);
        let (body, footer) = below.split_top_bottom_at_y(below.top() + height);
        let words = if self.has_words { WORDS } else { 0.0 };
        let (words, footer) = footer.split_top_bottom_at_y(footer.top() + words);
        // The dialog about the same step has the same draft. Behind it, the card leaves the draft alone.
        let subject = Some(self.subject()).filter(|_| !self.view.dialog_open);
        let mut entered = draft::take(ui.ctx(), subject.as_ref());
        let earlier = actions.len();
        let content_height = self.body_ui(ui, body, plan);
        self.footer_ui(ui, footer, allowed, &entered, actions);
        // Last, so that Tab reaches the answers before the words, which nobody has to give.
        if self.has_words {
            let inner = words.shrink2(vec2(MARGIN, 2.0));
            let mut area = line(ui, ("words", 0), inner, Layout::top_down(Align::Min));
            let id = Id::unique(("reason", self.view.prompt));
            reason_ui(&mut area, id, &mut entered.reason, plan.attempt.is_some());
        }
        let is_answer = |it: &Action| matches!(it, Action::Dialog(DialogAction::Answer { .. }));
        if !actions.iter().skip(earlier).any(is_answer) {
            draft::keep(ui.ctx(), subject, entered);
        }
        self.store_memory(ui, visible, content_height);
    }

    fn subject(&self) -> Subject {
        let ConfirmationRequest { run_id, step_index, .. } = *self.view.request;
        Subject::Step { run_id, step_index }
    }

    fn store_memory(mut self, ui: &Ui, visible: bool, content_height: f32) {
        let resized = (content_height - self.memory.content_height).abs() > 0.5;
        if resized {
            ui.ctx().request_repaint();
        }
        self.memory.content_height = content_height;
        self.memory.revealing &= resized || !visible;
        self.memory.frame = ui.ctx().cumulative_frame_nr();
        ui.data_mut(|data| data.insert_temp(memory_id(), self.memory));
    }

    /// The answers allowed in this frame: none unless the complete card is visible and nothing covers it.
    fn allowed(&mut self, ui: &Ui, visible: bool) -> Allowed {
        let was_drawn = self.memory.frame + 1 >= ui.ctx().cumulative_frame_nr();
        if !visible || self.view.covered || !was_drawn {
            self.memory.arming = Arming::new(DELAY_MS);
        }
        if !visible || self.view.covered {
            return Allowed::default();
        }
        let allowed = self.memory.arming.frame(read_input(ui.ctx()));
        if let Some(wait) = allowed.wait_ms {
            ui.ctx().request_repaint_after(std::time::Duration::from_millis(wait.max(16)));
        }
        allowed
    }

    /// Draws the contents and returns their height.
    fn body_ui(&self, ui: &mut Ui, rect: Rect, plan: &PlanView<'_>) -> f32 {
        let request = self.view.request;
        let mut area = ui.new_child(UiBuilder::new().id_salt("card").max_rect(rect));
        let delta = self.scroll_delta(&mut area, rect);
        let scroll = ScrollArea::vertical().id_salt(self.view.prompt).max_height(rect.height());
        let shown = scroll.auto_shrink([false, false]).show(&mut area, |ui| {
            if let Some(delta) = delta {
                ui.scroll_with_delta_animation(delta, ScrollAnimation::none());
            }
            let margin = Margin { left: MARGIN as i8, right: MARGIN as i8, top: 6, bottom: 4 };
            Frame::NONE.inner_margin(margin).show(ui, |ui| {
                ui.set_min_width(ui.available_width());
                ui.spacing_mut().item_spacing.y = 4.0;
                outdated_ui(ui, self.view.changed);
                request_ui(ui, request);
                let step = plan.plan.and_then(|plan| plan.steps.get(request.step_index));
                if let Some(step) = step {
                    expected_ui(ui, step);
                }
            });
        });
        shown.content_size.y
    }

    /// Makes contents that do not fit focusable, and returns how far a key scrolls them while they have the focus.
    fn scroll_delta(&self, ui: &mut Ui, rect: Rect) -> Option<Vec2> {
        if self.memory.content_height <= rect.height() + 0.5 {
            return None;
        }
        let id = Id::unique(("card", self.view.prompt));
        let response = ui.interact(rect, id, Sense::click());
        response.widget_info(|| WidgetInfo::labeled(Role::Document, true, "The step in full"));
        scroll::by_key_of(ui, &response, &scroll::VERTICAL_KEYS)
    }

    fn footer_ui(
        &self,
        ui: &mut Ui,
        rect: Rect,
        allowed: Allowed,
        entered: &Entered,
        actions: &mut Vec<Action>,
    ) {
        let theme = Theme::of(ui);
        let x_range = rect.with_min_x(rect.left() + 3.0).x_range();
        ui.painter().hline(x_range, rect.top() + 0.5, Stroke::new(1.0, theme.line));
        let request = self.view.request;
        if self.view.dialog_open {
            // The dialog has the answer buttons meanwhile.
            return;
        }
        let inner = rect.shrink2(vec2(MARGIN, 3.0));
        let rect_of = |line: u8| {
            let top = inner.top() + f32::from(line) * LINE;
            Rect::from_min_size(pos2(inner.left(), top), vec2(inner.width(), LINE))
        };
        let [safe_lines @ .., run_line] = self.button_lines;
        let mut areas: BTreeMap<u8, Ui> = BTreeMap::new();
        for ((decision, icon, text, tooltip), number) in SAFE_ANSWERS.into_iter().zip(safe_lines) {
            let area = areas.entry(number).or_insert_with(|| {
                let layout = Layout::left_to_right(Align::Center);
                line(ui, ("hold back", number), rect_of(number), layout)
            });
            let clicked = widgets::button(area, Look::Plain, Some(icon), text, allowed.safe)
                .on_hover_text(tooltip)
                .or_why(WAIT)
                .clicked();
            if clicked {
                self.answer(ui, decision, entered, actions);
            }
        }
        let layout = Layout::right_to_left(Align::Center);
        let mut area = line(ui, ("run", 0), rect_of(run_line), layout);
        let text = run_text(request);
        let is_outdated = !self.view.changed.is_empty();
        let enabled = allowed.approve && !is_outdated;
        let run = widgets::button(&mut area, Look::Primary, Some(icon::PLAY), text, enabled);
        let wait = if is_outdated { OUTDATED } else { WAIT };
        if run.or_why(wait).clicked() {
            if request.required {
                actions.push(Action::Plan(PlanAction::OpenConfirmation));
                after_click::remember(ui.ctx());
            } else {
                self.answer(ui, Decision::Approve, entered, actions);
            }
        }
    }

    /// Draws the button that opens the dialog, for a list without room for the card.
    fn no_room_ui(&self, ui: &mut Ui, rect: Rect, actions: &mut Vec<Action>) {
        let inner = rect.shrink2(vec2(MARGIN, 3.0));
        let mut area = line(ui, ("answer", 0), inner, Layout::left_to_right(Align::Center));
        let enabled = !self.view.covered;
        let look = Look::Primary;
        if widgets::button(&mut area, look, Some(icon::HAND), "Answer this step…", enabled)
            .clicked()
        {
            actions.push(Action::Plan(PlanAction::OpenConfirmation));
        }
    }

    fn answer(&self, ui: &Ui, decision: Decision, entered: &Entered, actions: &mut Vec<Action>) {
        let ConfirmationRequest { run_id, step_index, .. } = *self.view.request;
        actions.push(Action::Dialog(DialogAction::Answer {
            run_id,
            step_index,
            decision,
            reason: entered.reason.trim().to_owned(),
        }));
        after_click::remember(ui.ctx());
    }
}

/// The tooltip of an answer that does not count yet.
const WAIT: &str = "Read the card first. The buttons are enabled once the whole card has been visible for a moment.";

/// The state that this display has stored last.
fn stored_memory(ui: &Ui, prompt: PromptId) -> Option<Memory> {
    let memory = ui.data(|data| data.get_temp::<Memory>(memory_id()));
    memory.filter(|memory| memory.prompt == prompt)
}

fn memory_id() -> Id {
    Id::unique("the card")
}

/// The text of the run button. The ellipsis means that a dialog follows.
fn run_text(request: &ConfirmationRequest) -> &'static str {
    if request.required { "Run this step…" } else { "Run this step" }
}

fn line(ui: &mut Ui, salt: (&str, u8), rect: Rect, layout: Layout) -> Ui {
    ui.new_child(UiBuilder::new().id_salt(salt).max_rect(rect).layout(layout))
}
