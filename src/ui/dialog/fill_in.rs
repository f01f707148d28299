//! The dialog in which a person gives a plan its inputs (SPEC §13, *Revisions*). Values make a revision of the plan, which is
//! then reviewed; secrets are kept apart from it, in memory.

use std::cell::Cell;
use std::path::PathBuf;

use egui::{Id, Key, Margin, TextEdit, Ui, style::ScrollAnimation};

use super::{Answer, Answers, DialogShape, Entered, PromptId, Subject, question_ui};
use crate::plan::{PlanInput, drawable, drawable_lines, one_line, prose};
use crate::ui::action::{FilledIn, Typed};
use crate::ui::plan::indented;
use crate::ui::{Action, DialogAction, Look, Text, Tone, access, format, icon, widgets};

/// What the dialog shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FillInView {
    /// The plan file.
    pub file: PathBuf,
    /// The name of the plan.
    pub name: String,
    /// The inputs, each with whether a secret is given already.
    pub inputs: Vec<(PlanInput, bool)>,
}

/// What a person has entered for one input.
#[derive(Clone, Default)]
pub(super) struct EnteredInput {
    name: String,
    text: String,
    /// Whether a secret is shown while it is typed.
    shown: bool,
}

impl std::fmt::Debug for EnteredInput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

impl FillInView {
    /// The entries to begin with, unless the person has entered something already.
    fn begin(&self, entered: &mut Entered) {
        let names = self.inputs.iter().map(|(input, _)| &input.name);
        if entered.inputs.iter().map(|it| &it.name).eq(names) {
            return;
        }
        let entry = |(input, _): &(PlanInput, bool)| EnteredInput {
            name: input.name.clone(),
            text: input.value.clone().or_else(|| input.default.clone()).unwrap_or_default(),
            shown: false,
        };
        entered.inputs = self.inputs.iter().map(entry).collect();
    }

    /// Which is the first entry that cannot be used; `None` if all can. Its field says why.
    fn fault(&self, entered: &Entered) -> Option<String> {
        let mut entries = self.inputs.iter().zip(&entered.inputs);
        entries.find_map(|((input, given), entry)| {
            fault(input, *given, &entry.text)?;
            let what = if entry.text.is_empty() { "Missing" } else { "Not usable" };
            Some(format!("{what}: {}", one_line(input.label())))
        })
    }

    fn action(&self, entered: &Entered) -> DialogAction {
        let (mut values, mut secrets) = (Vec::new(), Vec::new());
        for ((input, _), entry) in self.inputs.iter().zip(&entered.inputs) {
            let name = input.name.clone();
            if !input.secret {
                values.push((name, entry.text.clone()));
            } else if !entry.text.is_empty() {
                secrets.push((name, Typed(entry.text.clone().into_bytes())));
            }
        }
        DialogAction::FillIn(FilledIn { file: self.file.clone(), values, secrets })
    }
}

/// Why this cannot be the value of an input; `None` if it can. A secret that was given before stays.
fn fault(input: &PlanInput, given: bool, text: &str) -> Option<String> {
    match (input.secret, given, text.is_empty()) {
        (true, true, true) => None,
        (true, false, true) => Some("type the secret".to_owned()),
        _ if !input.choices.is_empty() && text.is_empty() => Some("choose one".to_owned()),
        _ => input.refuses(text),
    }
}

pub(super) fn fill_in_ui(
    ui: &mut Ui,
    prompt: PromptId,
    view: &FillInView,
    actions: &mut Vec<Action>,
) {
    let shape = DialogShape {
        title: "Fill in the plan",
        risk: None,
        chip_prefix: "",
        width: 560.0,
        subject: Some(Subject::Inputs(view.file.clone())),
        word: None,
    };
    let answers = |entered: &Entered| {
        let fault = match entered.inputs.is_empty() {
            true => Some(String::new()),
            false => view.fault(entered),
        };
        let ready = fault.is_none();
        let apply = Answer::approve(icon::CHECK, "Apply and review", "", view.action(entered));
        let hint = fault.map(|fault| drawable(&fault).into_owned()).unwrap_or_default();
        Answers {
            safe: vec![Answer::leave("Not now")],
            approve: Some(Answer { ready, hint: hint.into(), ..apply }),
        }
    };
    let submitted = Cell::new(None);
    question_ui(ui, prompt, &shape, actions, answers, |ui, entered, dialog, allowed| {
        view.begin(entered);
        let mut is_entered = entered.applied;
        indented(ui, |ui| {
            widgets::paragraph(ui, prose(&view.name), Text::Body, Tone::Plain);
            let text = "Values become part of the plan, which then has a digest of its own. Secrets do not: they are kept in \
                        memory until the plan has run, and go to its commands alone.";
            widgets::paragraph(ui, text, Text::Meta, Tone::Dim);
            let mut first = None;
            for ((input, given), entry) in view.inputs.iter().zip(&mut entered.inputs) {
                ui.add_space(8.0);
                let field = dialog.with(("input", &input.name));
                let response = input_ui(ui, field, input, *given, entry);
                if let Some(response) = response {
                    is_entered |=
                        response.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
                    first.get_or_insert(response);
                }
            }
            if is_entered && allowed.approve && view.fault(entered).is_none() {
                submitted.set(Some(view.action(entered)));
            }
            // Once answers count, the first field has the keyboard, unless the person moves it.
            if allowed.approve
                && ui.memory(|memory| memory.focused().is_none())
                && let Some(first) = first
            {
                first.request_focus();
                // So that the person sees it without a movement of the pointer.
                ui.ctx().request_repaint();
            }
        });
    });
    actions.extend(submitted.take().map(Action::Dialog));
}

/// One input: its name, its field or choices, and what is wrong with it. Returns the field, if it has one.
fn input_ui(
    ui: &mut Ui,
    field: Id,
    input: &PlanInput,
    given: bool,
    entry: &mut EnteredInput,
) -> Option<egui::Response> {
    let top = ui.cursor().top();
    widgets::paragraph(ui, prose(input.label()), Text::Strong, Tone::Plain);
    let response = if input.choices.is_empty() {
        Some(field_ui(ui, field, input, given, entry))
    } else {
        ui.horizontal_wrapped(|ui| {
            for choice in &input.choices {
                let is_chosen = *choice == entry.text;
                let response = widgets::choice(ui, &drawable(choice), is_chosen);
                let name = format!("{}: {}", one_line(input.label()), drawable(choice));
                response.widget_info(|| {
                    egui::WidgetInfo::selected(egui::Role::RadioButton, true, is_chosen, &name)
                });
                widgets::reveal_focused(ui, &response);
                if response.clicked() {
                    entry.text.clone_from(choice);
                }
            }
        });
        None
    };
    let steps = match input.used_by.as_slice() {
        [] => "No step uses it.".to_owned(),
        [step] => format!("Step {} uses it.", step + 1),
        [first @ .., last] if first.len() < 6 => {
            let first: Vec<_> = first.iter().map(|step| (step + 1).to_string()).collect();
            format!("Steps {} and {} use it.", first.join(", "), last + 1)
        }
        all => format!("{} use it.", format::counted(all.len(), "step")),
    };
    let about = match (&input.title, input.secret) {
        (Some(_), _) => format!("{{{{{}}}}}. {steps}", input.name),
        (None, _) => steps,
    };
    widgets::paragraph(ui, about, Text::Meta, Tone::Dim);
    // What was not entered yet is no fault.
    if !entry.text.is_empty()
        && let Some(why) = fault(input, given, &entry.text)
    {
        widgets::remark(ui, icon::WARNING, Tone::Caution, drawable_lines(&format::sentence(&why)));
    }
    // Its name and what is wrong with it are seen with the field.
    if response.as_ref().is_some_and(|it| it.gained_focus() || it.has_focus() && it.changed()) {
        let whole = ui.min_rect().with_min_y(top);
        ui.scroll_to_rect_animation(whole, None, ScrollAnimation::none());
    }
    response
}

fn field_ui(
    ui: &mut Ui,
    field: Id,
    input: &PlanInput,
    given: bool,
    entry: &mut EnteredInput,
) -> egui::Response {
    let name = one_line(input.label()).into_owned();
    let is_hidden = input.secret && !entry.shown;
    let hint = match (input.secret, given) {
        (true, true) => "given; type another one to replace it",
        _ => "",
    };
    ui.horizontal(|ui| {
        let room = if input.secret { 74.0 } else { 0.0 };
        let width = (ui.available_width() - room).max(80.0);
        let is_long = !input.secret && entry.text.contains('\n');
        let edit = match is_long {
            true => TextEdit::multiline(&mut entry.text).desired_rows(4),
            false => TextEdit::singleline(&mut entry.text),
        };
        let font = if input.secret { Text::Body } else { Text::Mono };
        let edit = edit
            .id(field)
            .password(is_hidden)
            .hint_text(hint)
            .font(font.font())
            .desired_width(width - 20.0)
            .margin(Margin::symmetric(10, 8));
        let response = ui.add(edit);
        widgets::reveal_focused(ui, &response);
        // A secret is in no text for a screen reader, either.
        let shown = match input.secret {
            true => "•".repeat(entry.text.chars().count()),
            false => entry.text.clone(),
        };
        response.widget_info(|| egui::WidgetInfo {
            label: Some(name.clone()),
            ..egui::WidgetInfo::text_edit(true, &shown, &shown, "")
        });
        if is_hidden {
            access::role(&response, egui::Role::PasswordInput);
        }
        if input.secret {
            let (text, hint) = match entry.shown {
                true => ("Hide", format!("Hide {name}")),
                false => ("Show", format!("Show {name}")),
            };
            let button = widgets::button(ui, Look::Plain, None, text, true);
            button.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &hint));
            widgets::reveal_focused(ui, &button);
            if button.clicked() {
                entry.shown = !entry.shown;
            }
        }
        response
    })
    .inner
}

/// The inputs of a plan in the header, in a line each: its name, its value, and whether it is missing.
pub(crate) fn lines<'a>(
    inputs: &'a [PlanInput],
    is_given: impl Fn(&str) -> bool + 'a,
) -> impl Iterator<Item = (String, bool)> + 'a {
    inputs.iter().map(move |input| {
        let label = prose(input.label());
        match (&input.value, input.secret) {
            (_, true) if is_given(&input.name) => (format!("{label}: secret given"), false),
            (_, true) => (format!("{label}: secret missing"), true),
            (Some(value), _) => (format!("{label}: {}", one_line(value)), false),
            (None, _) => (format!("{label}: not filled in"), true),
        }
    })
}

#[cfg(test)]
mod tests {
    use egui::Key;
    use egui_kittest::kittest::Queryable as _;
    use egui_kittest::{Harness, Node};

    use crate::ui::action::{FilledIn, Typed};
    use crate::ui::tests::{Window, window};
    use crate::ui::{Action, DialogAction};

    /// The field of an input. Its name stands above it, too.
    fn field<'h>(harness: &'h Harness<'_, Window>, name: &'h str) -> Node<'h> {
        harness.get_all_by_label(name).last().unwrap()
    }

    fn filled_in(actions: &[Action]) -> Option<FilledIn> {
        actions.iter().find_map(|action| match action {
            Action::Dialog(DialogAction::FillIn(given)) => Some(given.clone()),
            _ => None,
        })
    }

    #[test]
    fn values_are_given_by_keyboard() {
        let mut harness = window("fill-in", [900.0, 600.0]);
        harness.run_steps(30);
        let folder = "Folder of the release";
        assert_eq!(field(&harness, folder).value().as_deref(), Some("dist"), "the default");
        assert!(field(&harness, folder).is_focused(), "the first field has the keyboard");
        assert!(harness.query_by_label_contains("{{folder}}. Steps 1 and 3 use it.").is_some());
        harness.get_by_label("Environment: staging").focus();
        harness.run_ok();
        harness.key_press(Key::Space);
        harness.run_ok();
        field(&harness, "Token").focus();
        harness.run_ok();
        field(&harness, "Token").type_text("kingfisher-7");
        harness.run_ok();
        let tree = format!("{:?}", harness.root());
        assert!(!tree.contains("kingfisher"), "{tree}");
        harness.key_press(Key::Enter);
        harness.run_ok();
        let FilledIn { values, secrets, .. } = filled_in(&harness.state().actions).unwrap();
        let value = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(values, [value("folder", "dist"), value("environment", "staging")]);
        assert_eq!(secrets, [("token".to_owned(), Typed(b"kingfisher-7".to_vec()))]);
    }

    #[test]
    fn the_key_that_applies_presses_no_other_button() {
        let mut harness = window("fill-in", [900.0, 600.0]);
        harness.run_steps(30);
        harness.get_by_label("Show Token").focus();
        harness.run_ok();
        let apply = |harness: &mut Harness<'_, Window>| {
            harness.key_press_modifiers(egui::Modifiers::COMMAND, Key::Enter);
            harness.run_ok();
            filled_in(&harness.state().actions)
        };
        assert!(apply(&mut harness).is_none(), "values are missing");
        assert!(harness.query_by_label("Hide Token").is_none(), "the secret stays hidden");
        harness.get_by_label("Environment: staging").click();
        field(&harness, "Token").focus();
        harness.run_ok();
        field(&harness, "Token").type_text("kingfisher-7");
        harness.get_by_label("Not now").focus();
        harness.run_ok();
        assert!(apply(&mut harness).is_some());
        let left = Action::Dialog(DialogAction::LeaveUndecided);
        assert!(!harness.state().actions.contains(&left), "nor one of the answers");
    }

    /// What is pasted after a look at a password manager goes where it was meant to go.
    #[test]
    fn the_field_gets_the_keyboard_back_with_the_window() {
        let mut harness = window("fill-in", [900.0, 600.0]);
        harness.run_steps(30);
        field(&harness, "Token").focus();
        harness.run_ok();
        for focused in [false, true] {
            harness.input_mut().focused = focused;
            harness.event(egui::Event::WindowFocused(focused));
            harness.run_steps(2);
            assert!(!field(&harness, "Token").is_focused());
        }
        harness.run_steps(30);
        assert!(field(&harness, "Token").is_focused());
    }

    #[test]
    fn nothing_is_applied_while_a_value_is_missing() {
        let mut harness = window("fill-in", [900.0, 600.0]);
        harness.run_steps(30);
        field(&harness, "Token").focus();
        harness.run_ok();
        field(&harness, "Token").type_text("abc");
        harness.run_ok();
        assert!(harness.query_by_label_contains("A secret has at least 4 bytes").is_some());
        harness.key_press(Key::Enter);
        harness.run_ok();
        harness.get_by_label("Apply and review").click();
        harness.run_ok();
        assert_eq!(filled_in(&harness.state().actions), None);
    }

    #[test]
    fn a_secret_is_shown_only_on_request() {
        let mut harness = window("fill-in", [900.0, 600.0]);
        harness.run_steps(30);
        harness.get_by_label("Show Token").click();
        harness.run_ok();
        assert!(harness.query_by_label("Hide Token").is_some());
    }
}
