//! Questions for secrets, beside other dialogs.

use super::*;
use crate::run::SecretQuestion;
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

#[test]
fn what_is_typed_in_the_dialog_in_front_stays() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.act(Action::Do(Command::Reject));
    let identity = |bench: &Bench| bench.app.view().dialog.unwrap().prompt;
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
