//! A guided run: the card in the list of steps, and the dialog.

use super::*;

const PLAN: &str = r#"{"goal": "tidy", "mode": "guided", "steps": [
    {"command": "touch made"}, {"command": "rm -r old"}, {"command": "touch more"}
]}"#;

fn guided() -> Bench {
    let mut bench = Bench::new();
    let plan = bench.file("plan.json", PLAN);
    std::fs::create_dir(bench.workspace.path().join("old")).unwrap();
    bench.open(&plan);
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.asked(0);
    bench
}

/// The step asked about in the card, and whether a dialog is in front of it.
fn faces(bench: &Bench) -> (Option<usize>, bool) {
    let view = bench.app.view();
    let card = view.plan.unwrap().card;
    let dialog = view.dialog.is_some();
    assert!(card.is_none_or(|card| card.covered == dialog && card.dialog_open == dialog));
    (card.map(|card| card.request.step_index), dialog)
}

/// A guided step asks in its card; a dangerous one also in the dialog before it runs.
#[test]
fn guided_steps_ask_in_card_or_dialog() {
    let mut bench = guided();
    assert_eq!(faces(&bench), (Some(0), false));
    let first = bench.app.view().plan.unwrap().card.unwrap().prompt;
    bench.answer(0, Decision::Approve);
    assert_eq!(faces(&bench), (None, false), "it is answered");
    bench.asked(1);
    assert_eq!(faces(&bench), (Some(1), false));
    assert_eq!(bench.session().pane.selected, 1, "the selection follows the run");
    let card = bench.app.view().plan.unwrap().card.unwrap();
    assert!(card.request.required && card.prompt != first);
    // Without the dialog nothing dangerous runs, whatever actions a view reports.
    let run_id = bench.session().run.run_id.unwrap();
    let approve = || {
        Action::Dialog(DialogAction::Answer { run_id, step_index: 1, decision: Decision::Approve })
    };
    bench.act(approve());
    assert_eq!(bench.session().waiting.answered, None);
    assert_eq!(faces(&bench), (Some(1), true), "it brings the question");
    bench.act(Action::Dialog(DialogAction::LeaveUndecided));
    assert_eq!(faces(&bench), (Some(1), false), "back to the card");
    assert!(bench.workspace.path().join("old").exists());
    bench.act(Action::Plan(PlanAction::OpenConfirmation));
    assert_eq!(faces(&bench), (Some(1), true));
    bench.act(approve());
    bench.asked(2);
    assert!(!bench.workspace.path().join("old").exists());
    bench.answer(2, Decision::DoneByHand);
    bench.ended();
    let outcomes: Vec<_> = (0..3)
        .map(|step| bench.session().run.steps.get(step).unwrap().outcome().unwrap())
        .collect();
    assert_eq!(outcomes, [Outcome::Succeeded, Outcome::Succeeded, Outcome::DoneByHand]);
    assert!(!bench.workspace.path().join("more").exists());
}

#[test]
fn a_key_leads_to_the_card() {
    let mut bench = guided();
    bench.act(Action::Do(Command::GoEvidence));
    bench.act(Action::Plan(PlanAction::SelectStep(2)));
    bench.act(Action::Do(Command::AnswerStep));
    assert_eq!(bench.app.view().situation.page, Page::Plan);
    assert_eq!(bench.session().pane.selected, 0);
    assert!(bench.app.view().plan.unwrap().card.unwrap().reveal);
    assert_eq!(faces(&bench), (Some(0), false), "the card is enough for what is harmless");
    // Another plan on the page hides the card, and the key shows it again.
    let other = bench.file("other.json", super::PLAN);
    bench.open(&other);
    assert!(bench.app.view().plan.unwrap().card.is_none());
    bench.act(Action::Do(Command::AnswerStep));
    assert_eq!(faces(&bench), (Some(0), false));
    bench.answer(0, Decision::Cancel);
    bench.ended();
}
