//! Guided runs: the card in the list of steps, and the dialog.

use super::*;
use crate::ui::action::PlanChoice;

const PLAN: &str = r#"{"goal": "tidy", "mode": "guided", "steps": [
    {"command": "touch made"}, {"command": "rm -r old"}, {"command": "touch more"}
]}"#;

/// Starts a guided run, and waits for the confirmation of its first step.
fn guided() -> Bench {
    let mut bench = Bench::new();
    let plan = bench.file("plan.json", PLAN);
    std::fs::create_dir(bench.workspace.path().join("old")).unwrap();
    bench.open(&plan);
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(0);
    bench
}

/// The step whose confirmation is shown in a card, and whether a dialog is open.
fn shown_confirmation(bench: &Bench) -> (Option<usize>, bool) {
    let view = bench.app.view();
    let card = view.plan.unwrap().card;
    let dialog = view.dialog.is_some();
    assert!(card.is_none_or(|card| card.covered == dialog && card.dialog_open == dialog));
    (card.map(|card| card.request.step_index), dialog)
}

/// Each step is confirmed in its card. A dangerous one can only be approved in the dialog.
#[test]
fn guided_steps_ask_in_card_or_dialog() {
    let mut bench = guided();
    assert_eq!(shown_confirmation(&bench), (Some(0), false));
    let first = bench.app.view().plan.unwrap().card.unwrap().prompt;
    bench.answer(0, Decision::Approve);
    assert_eq!(shown_confirmation(&bench), (None, false), "the step is answered");
    bench.wait_for_confirmation(1);
    assert_eq!(shown_confirmation(&bench), (Some(1), false));
    assert_eq!(bench.session().pane.selected, 1, "the selection follows the run");
    let card = bench.app.view().plan.unwrap().card.unwrap();
    assert!(card.request.required && card.prompt != first);
    // Without an open dialog, an approval by a view only opens the dialog.
    let run_id = bench.session().run.run_id.unwrap();
    let approve = || {
        Action::Dialog(DialogAction::Answer {
            run_id,
            step_index: 1,
            decision: Decision::Approve,
            reason: String::new(),
        })
    };
    bench.act(approve());
    assert_eq!(bench.session().confirmation.answered, None);
    assert_eq!(shown_confirmation(&bench), (Some(1), true), "the dialog is open");
    bench.act(Action::Dialog(DialogAction::LeaveUndecided));
    assert_eq!(shown_confirmation(&bench), (Some(1), false), "only the card is shown");
    assert!(bench.workspace.path().join("old").exists());
    bench.act(Action::Plan(PlanAction::OpenConfirmation));
    assert_eq!(shown_confirmation(&bench), (Some(1), true));
    bench.act(approve());
    bench.wait_for_confirmation(2);
    assert!(!bench.workspace.path().join("old").exists());
    bench.answer(2, Decision::DoneByHand);
    bench.wait_for_end();
    let outcomes: Vec<_> = (0..3)
        .map(|step| bench.session().run.steps.get(step).unwrap().outcome().unwrap())
        .collect();
    assert_eq!(outcomes, [Outcome::Succeeded, Outcome::Succeeded, Outcome::DoneByHand]);
    assert!(!bench.workspace.path().join("more").exists());
}

/// The card is the question that the person chose to be asked before every step. A dangerous step needs the dialog still.
#[test]
fn a_card_answers_the_choice_to_be_asked() {
    let mut bench = Bench::new();
    let plan = bench.file("plan.json", PLAN);
    std::fs::create_dir(bench.workspace.path().join("old")).unwrap();
    bench.open(&plan);
    bench.act(Action::Plan(PlanAction::Choose(PlanChoice::AskEveryStep(true))));
    bench.wait_until("asking", |app| {
        app.plan.review().is_some_and(|review| review.binding.choices.ask_every_step)
    });
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    let required = |bench: &Bench| bench.app.view().plan.unwrap().card.unwrap().request.required;
    bench.wait_for_confirmation(0);
    assert_eq!(shown_confirmation(&bench), (Some(0), false));
    assert!(!required(&bench));
    bench.answer(0, Decision::Approve);
    bench.wait_for_confirmation(1);
    assert!(bench.workspace.path().join("made").exists(), "one answer was enough");
    assert!(required(&bench));
    bench.answer(1, Decision::Skip);
    bench.wait_for_confirmation(2);
    assert!(!required(&bench));
    bench.answer(2, Decision::Cancel);
    bench.wait_for_end();
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
    assert_eq!(shown_confirmation(&bench), (Some(0), false), "a harmless step needs no dialog");
    // Another plan on the page hides the card. The command shows it again.
    let other = bench.file("other.json", super::PLAN);
    bench.open(&other);
    assert!(bench.app.view().plan.unwrap().card.is_none());
    bench.act(Action::Do(Command::AnswerStep));
    assert_eq!(shown_confirmation(&bench), (Some(0), false));
    bench.answer(0, Decision::Cancel);
    bench.wait_for_end();
}
