//! Filling in a plan in the window: a revision with values, and secrets that are kept apart from it.

use super::*;
use crate::plan::PlanInput;
use crate::ui::action::{FilledIn, Typed};
use crate::ui::dialog::{FillInView, Subject};

const ASKING: &str = r#"{"goal": "Greet", "id": "greet",
  "inputs": [{"name": "who", "title": "Whom", "default": "ada"}, {"name": "token", "secret": true}],
  "steps": [{"id": "a", "command": "echo {{who}}; [ \"$input_token\" = kingfisher ] && echo \"$input_token\""}]}"#;

fn dialog(bench: &mut Bench) -> FillInView {
    bench.act(Action::Do(Command::FillIn));
    match bench.app.view().dialog.expect("a dialog").question {
        Question::FillIn(view) => view,
        question => panic!("{question:?}"),
    }
}

/// Gives these values, and waits until the plan with them was reviewed.
fn fill_in(bench: &mut Bench, view: &FillInView, who: Option<&str>, token: Option<&str>) {
    let before = bench.session().review_id;
    let pairs = |name: &str, value: Option<&str>| value.map(|it| (name.to_owned(), it.to_owned()));
    bench.act(Action::Dialog(DialogAction::FillIn(FilledIn {
        file: view.file.clone(),
        values: pairs("who", who).into_iter().collect(),
        secrets: pairs("token", token)
            .map(|(name, it)| (name, Typed(it.into_bytes())))
            .into_iter()
            .collect(),
    })));
    bench.wait_until("another review", |app| app.plan.shown.as_ref().unwrap().review_id != before);
}

#[test]
fn a_plan_is_filled_in_then_authorized_and_run() {
    let mut bench = Bench::new();
    let plan = bench.file("plan.json", ASKING);
    bench.open(&plan);
    let digest = bench.session().opened.digest;
    let situation = bench.app.situation();
    assert_eq!(situation.not_authorizable, Some("Fill in its inputs first."));
    assert!(situation.lacks_inputs);
    bench.act(Action::Do(Command::Authorize));
    assert!(bench.app.view().dialog.is_none());
    let view = dialog(&mut bench);
    let given: Vec<_> =
        view.inputs.iter().map(|(input, given)| (PlanInput::label(input), *given)).collect();
    assert_eq!(given, [("Whom", false), ("token", false)]);
    assert!(bench.app.is_open(&Subject::Inputs(view.file.clone())));

    // The value makes a revision of the file, which stays as it is.
    fill_in(&mut bench, &view, Some("bob \"$x\""), None);
    assert!(
        !bench.app.is_open(&Subject::Inputs(view.file.clone())),
        "what was typed goes with the dialog"
    );
    let opened = &bench.session().opened;
    assert_ne!(opened.digest, digest);
    assert_eq!(opened.base(), plan);
    assert_eq!(opened.revised.as_ref().unwrap().parts.len(), 1);
    assert_eq!(std::fs::read_to_string(&plan).unwrap(), ASKING);
    assert!(bench.app.situation().lacks_inputs, "the secret is missing");

    let view = dialog(&mut bench);
    fill_in(&mut bench, &view, Some("bob \"$x\""), Some("kingfisher"));
    assert_eq!(bench.app.situation().not_authorizable, None);
    let binding = &bench.session().opened.review.as_ref().unwrap().binding;
    assert!(binding.secret_inputs["token"].starts_with("hmac-sha256:"));
    bench.authorize();

    // Another secret is another plan to sign.
    let view = dialog(&mut bench);
    assert!(view.inputs[1].1, "given");
    fill_in(&mut bench, &view, None, Some("kingfishers"));
    assert!(matches!(bench.session().approval, Approval::Void(_)));
    let view = dialog(&mut bench);
    fill_in(&mut bench, &view, None, Some("kingfisher"));
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    // A machine without walls asks before the command.
    let asks = |app: &App| app.plan.running().is_some_and(|session| session.request().is_some());
    bench.wait_until("the end or a question", |app| {
        asks(app) || app.plan.shown.as_ref().unwrap().run.is_over()
    });
    if asks(&bench.app) {
        bench.answer(0, Decision::Approve);
    }
    bench.wait_for_end();
    let run = &bench.session().run;
    assert_eq!(run.phase, Phase::Ended(RunStatus::Completed), "{run:?}");
    let shown = format!("{:?}", bench.session().output.transcript);
    assert!(shown.contains("bob") && shown.contains("[secret:input:"), "{shown}");
    assert!(!shown.contains("kingfisher"), "{shown}");
    assert!(bench.session().choices.secret_inputs.is_empty(), "forgotten with the run");
}

#[test]
fn values_for_another_plan_are_not_used() {
    let mut bench = Bench::new();
    let plan = bench.file("plan.json", ASKING);
    bench.open(&plan);
    let view = dialog(&mut bench);
    let other = bench.file("other.json", &ASKING.replace("greet", "other"));
    bench.open(&other);
    let values = vec![("who".to_owned(), "x".to_owned())];
    bench.act(Action::Dialog(DialogAction::FillIn(FilledIn {
        file: view.file,
        values,
        secrets: Vec::new(),
    })));
    assert!(bench.app.shared.notices.iter().any(|it| it.summary.contains("no longer shown")));
    assert_eq!(bench.session().opened.revised.as_ref().map(|it| it.parts.len()), None);
}
