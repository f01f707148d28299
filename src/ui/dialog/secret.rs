//! The dialog in which a person types a password, a passphrase or a code for a program (SPEC §7.3). It names who asks, in
//! Countersign's words, and shows the question in the program's own words, which may come from the other host.

use std::cell::Cell;
use std::time::Duration;

use egui::{Key, Margin, TextEdit, Ui};
use uuid::Uuid;

use super::arming::DELAY_MS;
use super::confirm::plan_ui;
use super::{Answer, Answers, DialogShape, Entered, PromptId, Subject, question_ui};
use crate::plan::{drawable, drawable_lines};
use crate::run::SecretQuestion;
use crate::ui::action::Typed;
use crate::ui::plan::indented;
use crate::ui::{Action, DialogAction, Text, Tone, access, icon, widgets};

pub(super) fn secret_ui(
    ui: &mut Ui,
    prompt: PromptId,
    id: Uuid,
    (question, plan): (&SecretQuestion, Option<&str>),
    actions: &mut Vec<Action>,
) {
    let shape = DialogShape {
        title: "A secret is asked for",
        risk: None,
        chip_prefix: "",
        width: 520.0,
        subject: Some(Subject::Secret(id)),
        word: None,
    };
    let answer =
        |entered: &Entered| DialogAction::AnswerSecret { id, answer: Some(typed(entered)) };
    let answers = |entered: &Entered| {
        let ready = !entered.typed.is_empty();
        let send = Answer::approve(icon::CHECK, "Send", "Type the answer first.", answer(entered));
        let decline = DialogAction::AnswerSecret { id, answer: None };
        let hint = "The program gets no answer, and what it asks for fails.";
        let decline = Answer::safe(None, "Do not answer", hint, decline);
        Answers { safe: vec![decline], approve: Some(Answer { ready, ..send }) }
    };
    let submitted = Cell::new(None);
    question_ui(ui, prompt, &shape, actions, answers, |ui, entered, dialog, allowed| {
        indented(ui, |ui| {
            if let Some(plan) = plan {
                plan_ui(ui, plan);
            }
            let asked_by = drawable(&question.asked_by);
            widgets::paragraph(ui, format!("{asked_by}, asks:"), Text::Body, Tone::Plain);
            widgets::paragraph(ui, drawable_lines(&question.prompt), Text::Mono, Tone::Plain);
            ui.add_space(4.0);
            let field = dialog.with("secret");
            let edit = TextEdit::singleline(&mut entered.typed)
                .id(field)
                .password(true)
                .desired_width(f32::INFINITY)
                .margin(Margin::symmetric(10, 8));
            let response = ui.add(edit);
            response.widget_info(|| {
                let dots = "•".repeat(entered.typed.chars().count());
                egui::WidgetInfo {
                    label: Some("Answer".to_owned()),
                    ..egui::WidgetInfo::text_edit(true, &dots, &dots, "")
                }
            });
            access::role(&response, egui::Role::PasswordInput);
            // What is still typed for something else, such as a terminal, must not be sent.
            let counts = allowed.approve && allowed.text;
            let is_entered =
                counts && response.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
            if is_entered && !entered.typed.is_empty() {
                submitted.set(Some(answer(entered)));
            }
            // The only field, and what is typed in it is not shown: once answers count, it has the keyboard unless the
            // person moves it.
            if !counts {
                ui.ctx().request_repaint_after(Duration::from_millis(DELAY_MS / 5));
            } else if ui.memory(|memory| memory.focused().is_none()) {
                response.request_focus();
                // So that the person sees it without a movement of the pointer.
                ui.ctx().request_repaint();
            }
            ui.add_space(4.0);
            let text =
                "Your answer goes to this program alone. It is not shown, stored or recorded.";
            widgets::paragraph(ui, text, Text::Meta, Tone::Dim);
        });
    });
    actions.extend(submitted.take().map(Action::Dialog));
}

fn typed(entered: &Entered) -> Typed {
    Typed(entered.typed.clone().into_bytes())
}

#[cfg(test)]
mod tests {
    use egui::Key;
    use egui_kittest::kittest::Queryable as _;

    use crate::ui::action::Typed;
    use crate::ui::dialog::tests::at_speed;
    use crate::ui::tests::window;
    use crate::ui::{Action, DialogAction};

    #[test]
    fn a_secret_is_never_in_the_tree() {
        let mut harness = window("secret", [900.0, 600.0]);
        assert!(harness.query_by_label_contains("ssh, to log in to build, asks:").is_some());
        assert!(harness.query_by_label_contains("ada@build's password:").is_some());
        assert!(harness.query_by_label("of the plan Restart the build host").is_some());
        harness.get_by_label("Answer").focus();
        harness.run_ok();
        harness.get_by_label("Answer").type_text("kingfisher");
        harness.run_ok();
        assert_eq!(harness.get_by_label("Answer").value().as_deref(), Some("••••••••••"));
        let tree = format!("{:?}", harness.root());
        assert!(!tree.contains("kingfisher"), "{tree}");
        harness.key_press(Key::Enter);
        harness.run_ok();
        let id = uuid::Uuid::nil();
        let answer = Some(Typed(b"kingfisher".to_vec()));
        let sent = Action::Dialog(DialogAction::AnswerSecret { id, answer });
        assert!(harness.state().actions.contains(&sent));
    }

    /// Nor when the typing goes on for longer than the delay.
    #[test]
    fn what_is_typed_for_something_else_is_not_sent() {
        let mut harness = at_speed("secret", [900.0, 600.0]);
        for _ in 0..40 {
            harness.input_mut().events.push(egui::Event::Text("x".to_owned()));
            harness.step();
        }
        harness.key_press(Key::Enter);
        harness.run_steps(2);
        assert!(!harness.get_by_label("Answer").is_focused());
        harness.run_steps(40);
        let field = harness.get_by_label("Answer");
        assert!(field.is_focused());
        assert_eq!(field.value().as_deref(), Some(""));
        assert_eq!(harness.state().actions, []);
    }

    /// What was typed for something else must not be sent as the answer.
    #[test]
    fn nothing_is_sent_before_an_answer_counts() {
        let mut harness = at_speed("secret", [900.0, 600.0]);
        harness.run_steps(4);
        assert!(!harness.get_by_label("Answer").is_focused());
        harness.get_by_label("Answer").focus();
        harness.step();
        harness.get_by_label("Answer").type_text("git push");
        harness.step();
        harness.key_press(Key::Enter);
        harness.run_steps(3);
        assert_eq!(harness.state().actions, []);
        harness.run_steps(40);
        assert!(harness.get_by_label("Answer").is_focused(), "the field waits for the answer");
        harness.key_press(Key::Enter);
        harness.run_steps(3);
        assert_eq!(harness.state().actions.len(), 1);
    }
}
