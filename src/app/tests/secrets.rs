//! Dialogs that arrive while another one is open, above all questions for secrets.

use super::*;
use crate::run::{Answer, AnsweredBy, SecretQuestion};
use crate::ui::dialog::{PromptId, Subject};
use crate::worker::Event;

fn question() -> SecretQuestion {
    SecretQuestion { asked_by: "ssh".to_owned(), prompt: "password:".to_owned() }
}

fn ask(bench: &mut Bench, id: u128) {
    let id = Uuid::from_u128(id);
    bench.app.apply_event(Event::SecretNeeded { id, question: question() });
}

fn settle(bench: &mut Bench, id: u128) {
    bench.app.apply_event(Event::SecretSettled { id: Uuid::from_u128(id) });
}

fn identity(bench: &Bench) -> PromptId {
    bench.app.view().dialog.unwrap().prompt
}

/// A bench whose plan runs and asks about step 1, which is not answered.
fn asking_bench() -> (Bench, Uuid) {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(1);
    let run_id = bench.session().run.run_id.unwrap();
    (bench, run_id)
}

/// Approves a step whose dialog is not in front.
fn approve(bench: &mut Bench, run_id: Uuid, step_index: usize) {
    let decision = Decision::Approve;
    let answer = Answer { decision, by: AnsweredBy::Window, note: String::new() };
    assert!(bench.app.shared.worker.answer(run_id, step_index, answer));
}

#[test]
fn a_step_asks_behind_the_dialog_in_front() {
    let (mut bench, run_id) = asking_bench();
    bench.act(Action::Dialog(DialogAction::LeaveUndecided));
    let other = bench.file("other.json", &PLAN.replace("two-writes", "other"));
    bench.open(&other);
    bench.act(Action::Do(Command::Reject));
    let rejection = identity(&bench);
    approve(&mut bench, run_id, 1);
    bench.wait_for_confirmation(2);
    assert_eq!(identity(&bench), rejection, "the reason that is typed is kept");
    bench.act(Action::Dialog(DialogAction::LeaveUndecided));
    let question = bench.app.view().dialog.unwrap();
    assert!(matches!(question.question, Question::Confirm { .. }));
    assert_ne!(question.prompt, rejection, "and is not in the field of the step");
}

#[test]
fn a_step_asks_behind_a_question_for_a_secret() {
    let (mut bench, run_id) = asking_bench();
    bench.act(Action::Dialog(DialogAction::LeaveUndecided));
    ask(&mut bench, 1);
    let secret = identity(&bench);
    approve(&mut bench, run_id, 1);
    bench.wait_for_confirmation(2);
    assert_eq!(identity(&bench), secret, "the password that is typed is kept");
    assert!(bench.app.is_open(&Subject::Secret(Uuid::from_u128(1))));
    settle(&mut bench, 1);
    assert!(!bench.app.is_open(&Subject::Secret(Uuid::from_u128(1))));
    assert!(matches!(bench.app.view().dialog.unwrap().question, Question::Confirm { .. }));
    assert_ne!(identity(&bench), secret);
}

#[test]
fn a_secret_is_asked_for_behind_the_step_in_front() {
    let (mut bench, run_id) = asking_bench();
    let step = identity(&bench);
    ask(&mut bench, 1);
    assert_eq!(identity(&bench), step, "the reason that is typed is kept");
    let of_step = |step_index| Subject::Step { run_id, step_index };
    assert!(bench.app.is_open(&of_step(1)) && !bench.app.is_open(&of_step(2)));
    settle(&mut bench, 1);
    assert_eq!(identity(&bench), step);
    ask(&mut bench, 2);
    bench.answer(1, Decision::Approve);
    assert!(!bench.app.is_open(&of_step(1)), "it is answered");
    let secret = identity(&bench);
    assert_eq!(secret.about, Some(Uuid::from_u128(2)));
    bench.wait_for_confirmation(2);
    assert_eq!(identity(&bench), secret, "the next step waits until the secret is answered");
}

/// The plan of *Run again* is opened by a query, and its dialog would follow.
#[test]
fn no_authorization_opens_over_what_is_typed() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(1);
    bench.answer(1, Decision::Cancel);
    bench.wait_for_end();
    let run_id = bench.session().run.run_id.unwrap();
    bench.app.plan.shown = None;
    bench.act(Action::Plan(PlanAction::OpenRun(run_id)));
    bench.wait_until("the replay", |app| app.plan.shown.is_some());
    bench.act(Action::Do(Command::RunAgain));
    ask(&mut bench, 1);
    let secret = identity(&bench);
    bench.wait_until("the plan", |app| {
        app.plan.shown_run().is_none() && app.situation().not_authorizable.is_none()
    });
    assert_eq!(identity(&bench), secret);
    settle(&mut bench, 1);
    assert!(bench.app.view().dialog.is_none());
}

#[test]
fn what_is_typed_in_the_dialog_in_front_stays() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.act(Action::Do(Command::Reject));
    let rejection = identity(&bench);
    ask(&mut bench, 1);
    ask(&mut bench, 2);
    ask(&mut bench, 3);
    settle(&mut bench, 1);
    assert_eq!(identity(&bench), rejection, "the reason that is typed is kept");
    bench.act(Action::Dialog(DialogAction::LeaveUndecided));
    let second = identity(&bench);
    assert_ne!(second, rejection, "and is not in the field for the secret");
    settle(&mut bench, 3);
    ask(&mut bench, 4);
    assert_eq!(identity(&bench), second, "the password that is typed is kept");
    settle(&mut bench, 2);
    assert_ne!(identity(&bench), second, "the next question has an empty field");
}

#[test]
fn a_crash_of_the_run_leaves_the_question_of_a_host_check() {
    let (mut bench, _) = bench();
    let asker = bench.app.shared.worker.check_secrets();
    let check = std::thread::Builder::new()
        .spawn(move || asker.ask(&question(), &|| false).is_some())
        .unwrap();
    bench.wait_until("the question", |app| app.waiting().len() == 1);
    let of_check = bench.app.shared.secrets[0].0;
    ask(&mut bench, 1);
    assert_eq!(bench.app.waiting().len(), 2, "each question draws attention");
    bench.app.apply_event(Event::Panicked { message: "out of steps".to_owned() });
    let ids: Vec<_> = bench.app.shared.secrets.iter().map(|(id, _)| *id).collect();
    assert_eq!(ids, [of_check]);
    let answer = Some(crate::ui::action::Typed(b"kingfisher".to_vec()));
    bench.act(Action::Dialog(DialogAction::AnswerSecret { id: of_check, answer }));
    assert!(check.join().unwrap(), "the check gets its answer");
}
