//! The field in which a person types the word that approves a dangerous step, directly above the buttons. It has the focus
//! from the start, but what is typed before a pause is dropped: it was meant for something else.

use egui::accesskit::Action;
use egui::{Align, Context, Event, Id, ImeEvent, Key, Label, Layout, Rect, ScrollArea, Ui};
use egui::{UiBuilder, vec2};

use super::arming::Allowed;
use crate::run::ConfirmationRequest;
use crate::ui::{Text, Theme, Tone, access, widgets};

/// The height with a short name, in points.
pub(super) const USUAL_HEIGHT: f32 = 66.0;
/// The height above which the text scrolls, so that a name of thousands of characters leaves room for the step, in points.
const MAX_TEXT: f32 = 120.0;
/// The space above the field, in points.
const TOP: f32 = 14.0;
/// The width of the field, in points; in a narrow dialog less.
const FIELD: f32 = 260.0;
/// The height of a low window, in points: for example 600 at 200 %.
const LOW: f32 = 400.0;
/// The space between the text and the field, in points.
const GAP: f32 = 16.0;

/// What the person did in the field.
pub(super) struct Typed {
    /// Whether Enter was pressed in the field.
    pub(super) is_entered: bool,
    /// The height of field and texts, in points.
    pub(super) height: f32,
}

/// The id of the field in the dialog with this id.
pub(super) fn field_id(dialog: Id) -> Id {
    dialog.with("word")
}

/// Whether an event types or pastes something, or presses a key.
pub(super) fn is_typing(event: &Event) -> bool {
    is_text(event) || matches!(event, Event::Key { pressed: true, .. })
}

fn is_text(event: &Event) -> bool {
    match event {
        Event::Text(_)
        | Event::Paste(_)
        | Event::MiddleClickPaste { .. }
        | Event::Ime(ImeEvent::Preedit { .. } | ImeEvent::Commit(_)) => true,
        Event::AccessKitActionRequest(request) => {
            matches!(request.action, Action::ReplaceSelectedText | Action::SetValue)
        }
        _ => false,
    }
}

/// Drops what was typed or pasted in this frame. Returns whether there was anything.
pub(super) fn drop_typed(ctx: &Context) -> bool {
    ctx.input_mut(|input| {
        let before = input.events.len();
        input.events.retain(|event| !is_text(event));
        input.events.len() < before
    })
}

/// Draws the field, with what it is for at its left and below it whether the word is right so far. `dropped` says whether
/// anything was typed too early.
pub(super) fn word_ui(
    ui: &mut Ui,
    rect: Rect,
    dialog: Id,
    request: &ConfirmationRequest,
    typed: &mut String,
    (allowed, dropped): (Allowed, bool),
) -> Typed {
    let theme = Theme::of(ui);
    let field_width = FIELD.min(rect.width() * 0.4);
    // In a small window, the question needs the room more than the explanation.
    let is_small = field_width < FIELD || is_low(ui.ctx());
    let top = rect.top() + TOP;
    let (left, right) = rect.with_min_y(top).split_left_right_at_x(rect.right() - field_width);
    let area = |ui: &mut Ui, salt: &str, rect: Rect| {
        let layout = Layout::top_down(Align::Min);
        let mut area = ui.new_child(UiBuilder::new().id_salt(salt).max_rect(rect).layout(layout));
        area.spacing_mut().item_spacing = vec2(8.0, 2.0);
        area
    };
    let (verb, doing) = if request.guided { ("run", "running") } else { ("approve", "approving") };
    let why = format!(
        "The step is {}, so {doing} it takes {}.",
        request.risk.level.as_str(),
        request.target_meaning()
    );
    let mut text = area(ui, "why a word", left.with_max_x(left.right() - GAP));
    // A long name wraps and is not truncated.
    let max_text = MAX_TEXT.min(ui.ctx().content_rect().height() * 0.25);
    let scroll = ScrollArea::vertical().id_salt("word").max_height(max_text);
    let scrolled = scroll.auto_shrink([false, true]).show(&mut text, |ui| {
        let name = widgets::styled_text(&[
            (&format!("To {verb}, type "), Text::Body, theme.text),
            (&format!("“{}”", request.target_word()), Text::Mono, theme.text),
        ]);
        let label = ui.add(Label::new(name).wrap());
        if !is_small {
            widgets::paragraph(ui, &why, Text::Meta, Tone::Dim);
        }
        label
    });
    let mut area = area(ui, "the word", right);
    let id = field_id(dialog);
    let mut field =
        area.add(widgets::code_field(typed, id, field_width)).labelled_by(scrolled.inner.id);
    if is_small {
        field = field.on_hover_text(why);
    }
    let (hint, tone) = match (typed.is_empty() && dropped, allowed.text) {
        (true, false) => ("Too early. Pause for a moment.".to_owned(), Tone::Caution),
        (true, true) => ("That was too early. Type it now.".to_owned(), Tone::Caution),
        (false, _) => hint(request, typed, allowed.approve.then_some(verb)),
    };
    let below = if is_small { &mut text } else { &mut area };
    if hint.is_empty() {
        // The same room, so that nothing moves.
        let height = ui.ctx().fonts_mut(|fonts| fonts.row_height(&Text::Meta.font()));
        below.allocate_space(vec2(0.0, height));
    } else {
        let shown = widgets::line(below, &*hint, Text::Meta, tone);
        // What was filled in and does not count has an answer, too.
        access::announce(&shown, true);
    }
    let is_entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
    // The person can move the focus, and Tab and Enter must not lose it.
    if ui.memory(|memory| memory.focused().is_none()) {
        field.request_focus();
    }
    let height = TOP + text.min_rect().height().max(area.min_rect().height());
    Typed { is_entered, height }
}

/// Whether the window is so low that a dialog needs all the room for what it asks about.
pub(super) fn is_low(ctx: &Context) -> bool {
    ctx.content_rect().height() < LOW
}

/// Says whether what is typed is the word, or may become it. `entering` is what Enter does with the word, once it counts.
fn hint(request: &ConfirmationRequest, typed: &str, entering: Option<&str>) -> (String, Tone) {
    let typed = typed.trim();
    let (typed_letters, word) = (typed.to_lowercase(), request.target_word().to_lowercase());
    if typed.is_empty() {
        (String::new(), Tone::Dim)
    } else if request.names_target(typed) {
        let entering = entering.map_or_else(String::new, |verb| format!(" Enter {verb}s."));
        (format!("It matches.{entering}"), Tone::Safe)
    } else if request.begins_target(typed) {
        ("Right so far.".to_owned(), Tone::Dim)
    } else if word.starts_with(&typed_letters) {
        ("Capital and small letters count.".to_owned(), Tone::Caution)
    } else {
        ("This is not the word.".to_owned(), Tone::Caution)
    }
}
