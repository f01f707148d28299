//! The arguments of a step, which a person may change before deciding about the plan.

use egui::style::ScrollAnimation;
use egui::{
    Align, Id, Key, Layout, Margin, Modifiers, Response, Role, ScrollArea, TextEdit, Ui,
    WidgetInfo, vec2,
};

use super::output::short_first;
use super::revising::{ArgumentEdit, RevisionView};
use super::{PlanView, argument_with_ui};
use crate::plan::{ShownStep, Tool, drawable};
use crate::ui::access::Reason as _;
use crate::ui::action::RevisionAction;
use crate::ui::{Action, Look, PlanAction, Text, Theme, Tone, format, scroll, widgets};

/// The largest value that is edited in the window, in bytes. Laying out more with every key would be slow.
const MAX_EDITED: usize = 256 << 10;

/// The height of what stands around the text in the editor, in points.
const BUTTONS: f32 = 130.0;

/// The margin of the tab, in points.
const MARGIN: Margin = Margin::symmetric(16, 12);

fn act(actions: &mut Vec<Action>, action: RevisionAction) {
    actions.push(Action::Plan(PlanAction::Revise(action)));
}

/// Draws the tab.
pub(super) fn arguments_ui(
    ui: &mut Ui,
    view: &PlanView<'_>,
    step: &ShownStep,
    actions: &mut Vec<Action>,
) {
    let theme = Theme::of(ui);
    scroll::area(ui, "arguments", MARGIN, |ui| {
        widgets::fact(ui, "step id", &step.step_id, Text::Mono);
        widgets::fact(ui, "precondition", &step.precondition_text, Text::Body);
        let asks = if step.requires_confirmation {
            "required by the plan"
        } else {
            "not required by the plan"
        };
        widgets::fact(ui, "confirmation", asks, Text::Body);
        let edit = view.revision.revising.and_then(|it| it.edit.as_ref());
        let edit = edit.filter(|edit| edit.step == Some(view.selected));
        for (name, value) in short_first(&step.arguments) {
            match edit.filter(|edit| edit.name == *name) {
                Some(edit) => editor_ui(ui, edit, actions),
                None => argument_with_ui(ui, name, value, |ui| {
                    buttons_ui(ui, view, step, (name, value), actions);
                }),
            }
        }
        if let Some(edit) = edit.filter(|edit| !step.arguments.contains_key(&edit.name)) {
            editor_ui(ui, edit, actions);
        }
        if step.arguments.is_empty() {
            ui.label(widgets::rich("No arguments.", Text::Body, theme.dim));
        }
        missing_ui(ui, view, step, actions);
    });
}

/// Whether the person may edit an argument of this name: the target is chosen for the run, and a verification has the
/// folder and the time limit of its command.
fn can_edit(step: &ShownStep, name: &str) -> bool {
    step.tool_name != Tool::Shell.name()
        || name != "target" && (!step.is_verification() || name == "command")
}

fn buttons_ui(
    ui: &mut Ui,
    view: &PlanView<'_>,
    step: &ShownStep,
    (name, value): (&str, &str),
    actions: &mut Vec<Action>,
) {
    let RevisionView { is_offered, why_not, .. } = view.revision;
    if !is_offered || !can_edit(step, name) {
        return;
    }
    let too_large = "It is too large for the window: use `countersign revise --set-file`.";
    let why_not = why_not.or((value.len() > MAX_EDITED).then_some(too_large));
    let button = widgets::button(ui, Look::Bare, None, "Edit", why_not.is_none());
    let label = format!("Edit argument {}", drawable(name));
    button.widget_info(|| WidgetInfo::labeled(Role::Button, why_not.is_none(), label.clone()));
    widgets::reveal_focused(ui, &button);
    let clicked = button.clicked();
    let button = button
        .on_hover_text("Change this value before you decide about the plan.")
        .or_why(why_not.unwrap_or_default());
    if clicked {
        act(actions, RevisionAction::Edit(view.selected, name.to_owned()));
    }
    return_focus(ui, &button, name, why_not.is_none());
}

/// The argument whose editor was closed and whose button gets the focus.
fn closed_id() -> Id {
    Id::unique("the argument that was edited")
}

/// Gives the focus to the button that opened the editor, once the editor is closed and no key is held that would press the
/// button. A revision takes a moment, in which nothing can be edited.
fn return_focus(ui: &Ui, button: &Response, name: &str, is_ready: bool) {
    /// The time that a revision takes at most, in seconds.
    const REVISED: f64 = 5.0;
    let closed: Option<(String, f64)> = ui.data(|data| data.get_temp(closed_id()));
    let Some((_, at)) = closed.filter(|(closed, _)| closed == name) else { return };
    let is_old = ui.input(|input| input.time) - at > REVISED;
    let has_focus = ui.memory(|memory| memory.focused().is_some());
    let is_held = ui.input(|input| !input.keys_down.is_empty());
    if is_old || has_focus || is_ready && !is_held {
        ui.data_mut(|data| data.remove::<(String, f64)>(closed_id()));
    }
    if !is_old && !has_focus && is_ready && !is_held {
        button.request_focus();
        button.scroll_to_me(None);
    }
}

/// Offers the arguments of the tool that the step does not have.
fn missing_ui(ui: &mut Ui, view: &PlanView<'_>, step: &ShownStep, actions: &mut Vec<Action>) {
    let RevisionView { is_offered, why_not, revising, .. } = view.revision;
    let Some(tool) = Tool::from_name(&step.tool_name).filter(|_| is_offered) else { return };
    let is_edited = |name: &str| {
        let edit = revising.and_then(|it| it.edit.as_ref());
        edit.is_some_and(|edit| edit.step == Some(view.selected) && edit.name == name)
    };
    let has = |name: &str| step.arguments.contains_key(name);
    let specs = tool.spec().arguments.iter().filter(|spec| {
        !has(spec.name)
            && spec.alias.is_none_or(|alias| !has(alias))
            && can_edit(step, spec.name)
            && !is_edited(spec.name)
    });
    let names: Vec<&str> = specs.map(|spec| spec.name).collect();
    if names.is_empty() {
        return;
    }
    ui.add_space(4.0);
    ui.horizontal_wrapped(|ui| {
        ui.label(widgets::rich("not given:", Text::Meta, Theme::of(ui).dim));
        for name in names {
            let text = format!("Add {name}");
            let button = widgets::button(ui, Look::Bare, None, &text, why_not.is_none());
            widgets::reveal_focused(ui, &button);
            if button.or_why(why_not.unwrap_or_default()).clicked() {
                act(actions, RevisionAction::Edit(view.selected, name.to_owned()));
            }
        }
    });
}

/// The id of the text field.
fn field_id() -> Id {
    Id::unique("the edited argument")
}

/// Whether the editor of an argument has the keyboard.
pub(crate) fn edits_argument(ctx: &egui::Context) -> bool {
    ctx.memory(|memory| memory.has_focus(field_id()))
}

/// Notes which argument had the editor, for [`return_focus`].
fn note_closed(ui: &Ui, edit: &ArgumentEdit) {
    ui.memory_mut(|memory| memory.surrender_focus(field_id()));
    let now = ui.input(|input| input.time);
    ui.data_mut(|data| data.insert_temp(closed_id(), (edit.name.clone(), now)));
}

/// The editor in place of the value.
fn editor_ui(ui: &mut Ui, edit: &ArgumentEdit, actions: &mut Vec<Action>) {
    let theme = Theme::of(ui);
    ui.add_space(4.0);
    let top = ui.cursor().top();
    let label = ui.horizontal(|ui| {
        let name = format!("New value of {}", drawable(&edit.name));
        let label = ui.label(widgets::rich(name, Text::Meta, theme.dim));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let size = format::size(edit.text.len() as u64);
            ui.label(widgets::rich(size, Text::SmallMono, theme.dim));
        });
        label.id
    });
    let mut text = edit.text.clone();
    let focused = edits_argument(ui.ctx());
    // Before the field, which would take the keys itself.
    let apply = focused && ui.input_mut(|it| it.consume_key(Modifiers::COMMAND, Key::Enter));
    let lines = text.lines().count().clamp(1, 18);
    // So that the buttons below stay in sight.
    let height = (ui.clip_rect().height() - BUTTONS).clamp(60.0, 360.0);
    let area = ScrollArea::vertical().id_salt("edited argument").max_height(height);
    let lost_focus = area.show(ui, |ui| {
        let field = TextEdit::multiline(&mut text)
            .id(field_id())
            .font(Text::Mono.font())
            .margin(Margin::symmetric(10, 6))
            .desired_rows(lines)
            .desired_width(f32::INFINITY);
        let response = ui.add(field).labelled_by(label.inner);
        if edit.wants_focus && !edit.asks {
            response.request_focus();
        }
        response.lost_focus()
    });
    // The key takes the focus from any field.
    let escape = ui.input(|input| input.key_pressed(Key::Escape));
    let leave = lost_focus.inner && escape;
    if text != edit.text || edit.wants_focus {
        act(actions, RevisionAction::Type(text));
    }
    hidden_ui(ui, &edit.text);
    if edit.asks {
        widgets::remark(
            ui,
            crate::ui::icon::WARNING,
            Tone::Caution,
            "What you typed is not applied. Drop it?",
        );
    }
    ui.horizontal_wrapped(|ui| {
        let is_changed = edit.is_changed();
        let button = widgets::button(ui, Look::Primary, None, "Apply", is_changed);
        let hint = format!(
            "Make a revision of the plan with this value ({}).",
            ui.ctx().format_shortcut(&egui::KeyboardShortcut::new(Modifiers::COMMAND, Key::Enter))
        );
        let button = button.on_hover_text(hint).or_why("Nothing differs.");
        widgets::reveal_focused(ui, &button);
        if button.clicked() || apply && is_changed {
            note_closed(ui, edit);
            act(actions, RevisionAction::ApplyEdit);
        }
        if edit.asks {
            let drop = widgets::button(ui, Look::Danger, None, "Drop it", true);
            widgets::reveal_focused(ui, &drop);
            if drop.clicked() {
                note_closed(ui, edit);
                act(actions, RevisionAction::DropEdit);
            }
            let go_on = widgets::button(ui, Look::Plain, None, "Go on editing", true);
            if edit.wants_focus {
                go_on.request_focus();
                go_on.scroll_to_me(None);
            }
            widgets::reveal_focused(ui, &go_on);
            if go_on.clicked() || go_on.lost_focus() && escape {
                act(actions, RevisionAction::GoOnEditing);
            }
        } else {
            let keep = widgets::button(ui, Look::Plain, None, "Keep as it was", true);
            widgets::reveal_focused(ui, &keep);
            if keep.clicked() || leave {
                note_closed(ui, edit);
                act(actions, RevisionAction::LeaveEdit);
            }
        }
        if edit.original.is_some() && !edit.asks {
            let button = widgets::button(ui, Look::Bare, None, "Take away", true);
            widgets::reveal_focused(ui, &button);
            if button.on_hover_text("Take this argument out of the step.").clicked()
                && let Some(step) = edit.step
            {
                act(actions, RevisionAction::TakeAway(step, edit.name.clone()));
            }
        }
    });
    if edit.wants_focus {
        // With its buttons, so that they are seen before they are needed.
        let whole = ui.min_rect().with_min_y(top).expand2(vec2(0.0, 4.0));
        ui.scroll_to_rect_animation(whole, None, ScrollAnimation::none());
    }
}

/// Names hidden characters in the text, which the field does not show.
fn hidden_ui(ui: &mut Ui, text: &str) {
    // By line, because line breaks are no hidden characters.
    let is_hidden = |line: &str| drawable(line) != line;
    if text.split('\n').any(is_hidden) {
        let hidden = "The text has characters that cannot be seen here; they are marked in the value once it is applied.";
        widgets::remark(ui, crate::ui::icon::WARNING, Tone::Caution, hidden);
    }
}
