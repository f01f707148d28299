//! The dialogs: run a step, authorize or reject a plan, fill in its inputs, trust commands, purge old records, close the window during a run or a loop.
//!
//! All use one frame with the same rules: each display of a dialog gets a new id, no button has the initial focus, the
//! safe buttons come first (but after a word that is asked for, the approval), nothing is truncated, buttons do not move,
//! and no answer counts before [`arming::Arming`] allows it. Escape, a click outside the dialog, and closing it decide nothing.

pub(super) mod after_click;
mod answer;
pub mod arming;
mod authorize;
mod confirm;
pub(super) mod draft;
mod export;
mod fill_in;
mod focus;
mod footer;
mod memory;
mod purge;
mod question;
mod remember_walls;
mod secret;
mod session_rule;
mod short;
#[cfg(test)]
pub(crate) mod tests;
mod trust;
mod wait;
mod word;

use egui::{
    Align, CornerRadius, Event, FontSelection, Frame, Id, Key, Layout, Modal, Modifiers, Rect,
    Response, ScrollArea, Sense, Stroke, TextWrapMode, Ui, UiBuilder, WidgetText, vec2,
};

use super::access::Named;
use super::plan::risk_icon;
use super::{Action, Chip, DialogAction, Text, Theme, access, theme, widgets};
use crate::risk::RiskLevel;
use crate::run::ConfirmationRequest;
use crate::ui::scroll;
use answer::{Answer, Answers};
use arming::{Allowed, DANGEROUS_DELAY_MS, DELAY_MS, Input};
use draft::Entered;
use footer::Footer;
use memory::Memory;

pub use authorize::{AuthorizeView, WaitingAgent};
pub(super) use confirm::{SAFE_ANSWERS, reason_ui};
pub use draft::{Subject, keep_drafts};
pub use export::{ExportChoice, ExportOf, ExportView};
pub use fill_in::FillInView;
pub(super) use fill_in::lines as input_lines;
pub use purge::{PURGE_AGES, PURGE_SIZES, PurgeChoice, PurgeKind, PurgeView};
pub use question::{AfterRejection, Dialog, PromptId, Question};
pub use session_rule::SessionRuleView;

/// The parts of a dialog that do not change while it is shown.
struct DialogShape<'a> {
    title: &'a str,
    /// The highest risk of what an approval permits. A dangerous approval needs a longer delay.
    risk: Option<RiskLevel>,
    /// The text in front of the risk in the risk chip.
    chip_prefix: &'static str,
    width: f32,
    /// What the text fields are about; `None` without any.
    subject: Option<Subject>,
    /// The question about a dangerous step, whose approval needs a word to be typed.
    /// With it, whether it can be approved with the word.
    word: Option<(&'a ConfirmationRequest, bool)>,
}

impl DialogShape<'_> {
    fn is_dangerous(&self) -> bool {
        self.risk.is_some_and(|risk| risk >= RiskLevel::Dangerous)
    }
}

/// The tooltip of an approval while the delay is not over.
const READ_FIRST: &str = "Read the question first. The button is enabled after a moment.";
/// The height of the title, in points.
const HEADER: f32 = 56.0;
/// The height of the title in a low window, in points.
const LOW_HEADER: f32 = 44.0;
/// The height of the buttons, in points.
const FOOTER: f32 = 60.0;
/// The left and right margin, in points; the same as that of the inspector, because dialogs contain some of its parts.
const PADDING: f32 = 16.0;

/// Removes the state of the dialog that was open, and restores the focus from before it. Call this in every frame
/// without a dialog.
pub fn clean_up(ctx: &egui::Context) {
    Memory::forget(ctx);
    after_click::swallow_rest_of_click(ctx);
    focus::restore(ctx);
}

/// Draws a dialog.
pub fn dialog_ui(ui: &mut Ui, dialog: &Dialog<'_>, actions: &mut Vec<Action>) {
    match &dialog.question {
        Question::Confirm { request, plan, in_loop, changed } => {
            let content = (*request, *plan, *in_loop, *changed);
            confirm::confirm_ui(ui, dialog.prompt, content, actions);
        }
        Question::Authorize(view) => authorize::authorize_ui(ui, dialog.prompt, view, actions),
        Question::Reject { digest, name, file, then } => {
            let subject = match file {
                Some(file) => Subject::RejectedFile(file.into()),
                None => Subject::RejectedPlan(*digest),
            };
            let content = (*digest, *name, *then);
            short::reject_ui(ui, dialog.prompt, subject, content, actions);
        }
        Question::Trust { workspace, commands, of_plan } => {
            let content = (*workspace, *commands, *of_plan);
            trust::trust_ui(ui, dialog.prompt, content, actions);
        }
        Question::RememberWalls { workspace, grants } => {
            remember_walls::remember_walls_ui(ui, dialog.prompt, workspace, grants, actions);
        }
        Question::FillIn(view) => fill_in::fill_in_ui(ui, dialog.prompt, view, actions),
        Question::SessionRule(view) => {
            session_rule::session_rule_ui(ui, dialog.prompt, view, actions);
        }
        Question::Secret { id, question, plan } => {
            secret::secret_ui(ui, dialog.prompt, *id, (question, *plan), actions);
        }
        Question::Export(view) => export::export_ui(ui, dialog.prompt, view, actions),
        Question::Purge(view) => purge::purge_ui(ui, dialog.prompt, view, actions),
        Question::Close { under_way, queued } => {
            short::close_ui(ui, dialog.prompt, (*under_way, *queued), actions);
        }
    }
}

/// Draws the frame of a dialog with its buttons and `body`. The buttons are added before the body, so that Tab reaches
/// them first, after the field for a word. `answers` gets what the person has entered. `body` also gets it, for its text
/// fields, the id of the dialog, and which answers count in this frame.
fn question_ui<'a>(
    ui: &mut Ui,
    prompt: PromptId,
    shape: &DialogShape<'_>,
    actions: &mut Vec<Action>,
    answers: impl FnOnce(&Entered) -> Answers<'a>,
    body: impl FnOnce(&mut Ui, &mut Entered, Id, Allowed),
) {
    let theme = Theme::of(ui);
    let ctx = ui.ctx().clone();
    let earlier = actions.len();
    let id = Id::unique(prompt);
    let previous = Memory::of_last_frame(&ctx);
    let is_first = previous.is_none();
    let is_new = previous.as_ref().is_none_or(|memory| memory.prompt != prompt);
    let delay = if shape.is_dangerous() { DANGEROUS_DELAY_MS } else { DELAY_MS };
    let word_height = shape.word.map_or(0.0, |_| word::USUAL_HEIGHT);
    let mut memory = previous
        .filter(|memory| memory.prompt == prompt)
        .unwrap_or_else(|| Memory::new(prompt, delay, word_height));
    let mut entered = draft::take(&ctx, shape.subject.as_ref());
    if !memory.arming.was_drawn() {
        // Text typed before the dialog was visible was meant for something else.
        ctx.input_mut(|input| {
            input.events.retain(|event| !word::is_typing(event));
        });
        // The word proves a look at the step as it is shown now.
        if shape.word.is_some() {
            entered.typed.clear();
        }
        if ctx.text_edit_focused() && !is_new {
            memory.field = ctx.memory(egui::Memory::focused);
        }
        // Later, and in a dialog that follows another one, the focused control is one of a dialog.
        focus::clear(&ctx, is_first);
    }
    let allowed = memory.arming.frame(read_input(&ctx));
    // Before the controls, of which it would press the one with the keyboard.
    entered.applied = shape.subject.as_ref().is_some_and(Subject::has_key_to_apply)
        && ctx.input_mut(|input| input.consume_key(Modifiers::COMMAND, Key::Enter));
    // Whatever has the keyboard by then was chosen since.
    if allowed.approve
        && allowed.text
        && let Some(field) = memory.field.take()
        && ctx.memory(|it| it.focused().is_none())
    {
        ctx.memory_mut(|it| it.request_focus(field));
    }
    if let Some(wait) = allowed.wait_ms {
        // Safe answers are enabled earlier than a dangerous approval.
        let wait = if allowed.safe { wait } else { wait.min(DELAY_MS / 5) };
        ctx.request_repaint_after(std::time::Duration::from_millis(wait.max(16)));
    }
    if shape.word.is_some() && !allowed.text {
        memory.dropped |= word::drop_typed(&ctx);
        // Without another frame, the pause would be noticed only with the next letter, which would be dropped.
        ctx.request_repaint_after(std::time::Duration::from_millis(DELAY_MS / 5));
    }
    let screen = ctx.content_rect();
    let width = shape.width.min(screen.width() - 32.0);
    let footer_height = FOOTER + memory.word_height;
    let (header, margins) = if word::is_low(&ctx) { (LOW_HEADER, 16.0) } else { (HEADER, 32.0) };
    // In the lowest windows, the answers are more important than the margin and than a second line of the body.
    let max_height = (screen.height() - margins - header - footer_height).max(36.0);
    let body_height = memory.body_height.min(max_height);
    let scroll_to = scroll_by_key(&ctx, &memory, &entered, body_height);
    let frame = Frame::NONE
        .fill(theme.raised)
        .stroke(Stroke::new(1.0, theme.line))
        .corner_radius(CornerRadius::same(theme::DIALOG_RADIUS))
        .shadow(ui.visuals().window_shadow);
    let modal = Modal::new(id).frame(frame).backdrop_color(theme.backdrop).show(&ctx, |ui| {
        let size = vec2(width, header + body_height + footer_height);
        let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
        let (top, rest) = rect.split_top_bottom_at_y(rect.top() + header);
        let (middle, bottom) = rest.split_top_bottom_at_y(rest.bottom() - footer_height);
        let (word, dropped) = (shape.word, memory.dropped);
        let footer = Footer { rect: bottom, id, word, dropped, allowed };
        let word_height = footer.ui(ui, &mut entered, actions, answers);
        let title = title_ui(ui, top.shrink2(vec2(PADDING, 0.0)), shape);
        access::modal(ui, Named::By(&title));
        let mut area = ui.new_child(UiBuilder::new().id_salt("body").max_rect(middle));
        let mut scroll = ScrollArea::vertical()
            .id_salt("body")
            .max_height(body_height)
            .auto_shrink([false, false]);
        if let Some(offset) = scroll_to {
            scroll = scroll.vertical_scroll_offset(offset);
        }
        let scrolled = scroll.show(&mut area, |ui| {
            ui.spacing_mut().item_spacing.y = 4.0;
            body(ui, &mut entered, id, allowed);
            ui.add_space(8.0);
        });
        (scrolled, word_height)
    });
    let (scrolled, word_height) = &modal.inner;
    memory.offset = scrolled.state.clamped_offset().y;
    for (known, new) in [
        (&mut memory.body_height, scrolled.content_size.y),
        (&mut memory.word_height, *word_height),
    ] {
        if (new - *known).abs() > 0.5 {
            *known = new;
            ctx.request_repaint();
        }
    }
    memory.keep(&ctx);
    // The second click of the double click that opened the dialog must not close it.
    let too_early = modal.backdrop_response.clicked() && !allowed.safe;
    if modal.should_close() && !too_early {
        actions.push(Action::Dialog(DialogAction::LeaveUndecided));
    }
    for action in actions.iter() {
        let Action::Dialog(action) = action else { continue };
        after_click::remember(&ctx);
        if starts_or_stops(action) {
            focus::forget(&ctx);
        }
    }
    let is_answer = |action: &Action| matches!(action, Action::Dialog(it) if *it != DialogAction::LeaveUndecided);
    if !actions.iter().skip(earlier).any(is_answer) {
        draft::keep(&ctx, shape.subject.clone(), entered);
    }
}

/// Whether the controls behind the dialog may mean something else after this answer.
const fn starts_or_stops(answer: &DialogAction) -> bool {
    match answer {
        DialogAction::Answer { .. }
        | DialogAction::Authorize(_)
        | DialogAction::Reject { .. }
        | DialogAction::Purge { .. }
        | DialogAction::StopAndClose => true,
        DialogAction::Trust { .. }
        | DialogAction::RememberWalls { .. }
        | DialogAction::FillIn(_)
        | DialogAction::MakeRule { .. }
        | DialogAction::AnswerSecret { .. }
        | DialogAction::Export(_)
        | DialogAction::LeaveUndecided => false,
    }
}

/// The scroll offset requested by a key, for a body of which `visible_height` points are visible. A focused text field
/// keeps the keys that it needs itself.
fn scroll_by_key(
    ctx: &egui::Context,
    memory: &Memory,
    entered: &Entered,
    visible_height: f32,
) -> Option<f32> {
    let focused = ctx.memory(|memory| memory.focused());
    // The field for the word has one line, and the focus from the start.
    let in_word = focused == Some(word::field_id(Id::unique(memory.prompt)));
    let typing = ctx.text_edit_focused() && !(in_word && entered.typed.is_empty());
    let focused = focused.is_some() && !in_word;
    let is_free = |key: &Key| match key {
        Key::End | Key::Home => !typing,
        // When a button has the focus, the arrow keys move between buttons instead.
        Key::ArrowDown | Key::ArrowUp => !focused,
        _ => true,
    };
    let keys: Vec<_> = scroll::VERTICAL_KEYS.into_iter().filter(is_free).collect();
    let delta = scroll::pressed(ctx, visible_height, &keys)?.y;
    Some((memory.offset - delta).clamp(0.0, (memory.body_height - visible_height).max(0.0)))
}

fn title_ui(ui: &mut Ui, rect: Rect, shape: &DialogShape<'_>) -> Response {
    let layout = Layout::right_to_left(Align::Center);
    let mut area = ui.new_child(UiBuilder::new().id_salt("title").max_rect(rect).layout(layout));
    if let Some(risk) = shape.risk {
        let text = format!("{}{}", shape.chip_prefix, risk.as_str());
        Chip::new(risk_icon(risk), text, risk.into()).ui(&mut area);
    }
    area.with_layout(Layout::left_to_right(Align::Center), |ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        let color = Theme::of(ui).text;
        let text = |size| widgets::rich(shape.title, Text::Title, color).size(size);
        let (extend, font) = (Some(TextWrapMode::Extend), FontSelection::Default);
        let line = WidgetText::from(text(17.0)).into_galley(ui, extend, f32::INFINITY, font);
        // In a narrow window it takes two lines, so that it does not cover the risk.
        let size = if line.size().x <= ui.available_width() { 17.0 } else { 13.0 };
        let title = ui.add(egui::Label::new(text(size)).wrap());
        access::heading(&title, 1);
        // Nothing in a dialog has the focus at first, so nothing else would say that it is there.
        access::announce(&title, true);
        title
    })
    .inner
}

/// The input of this frame for [`arming::Arming`]. Removes the repeats of Enter and Space, so that no button receives them.
pub(super) fn read_input(ctx: &egui::Context) -> Input {
    let answers = |key: &Key| matches!(key, Key::Enter | Key::Space);
    let refused_press = access::refused_press(ctx);
    ctx.input_mut(|input| {
        input
            .events
            .retain(|event| !matches!(event, Event::Key { key, repeat: true, .. } if answers(key)));
        Input {
            now_ms: (input.time * 1_000.0) as u64,
            // Losing and regaining the focus between two frames counts as not focused.
            focused: input.focused
                && !input.events.iter().any(|event| matches!(event, Event::WindowFocused(_))),
            pointer_down: input.pointer.any_down()
                || input.pointer.any_pressed()
                || input.events.iter().any(access::is_press),
            key_down: input.keys_down.iter().any(answers)
                || input.events.iter().any(
                    |event| matches!(event, Event::Key { key, pressed: true, .. } if answers(key)),
                ),
            typing: !input.keys_down.is_empty() || input.events.iter().any(word::is_typing),
            refused_press,
        }
    })
}
