//! Trust in the commands of a workspace, from the plan page.

use super::*;
use crate::run::CommandsReview;

const COMMANDS: &str = "[verify.local]\ncommand = \"touch done\"\n";
const PLAN: &str = r#"{"version": "2026-02-19", "goal": "see whether it is sound",
  "actions": [{"type": "verify", "request": {}}]}"#;

fn commands(app: &App) -> Option<&CommandsReview> {
    app.plan.shown.as_ref()?.opened.review.as_ref()?.workspace_commands.as_ref()
}

/// Opens the trust dialog, decides in it, and waits for the new review.
fn decide(bench: &mut Bench, trusted: bool) {
    bench.act(Action::Plan(PlanAction::ReviewCommands));
    let Some(Question::Trust { commands: shown, .. }) =
        bench.app.view().dialog.map(|dialog| dialog.question)
    else {
        panic!("no trust dialog");
    };
    let digest = shown.digest;
    bench.act(Action::Dialog(DialogAction::Trust { digest, trusted }));
    assert!(bench.app.view().dialog.is_none());
    bench.wait_until("the decision", |app| commands(app).is_some_and(|it| it.trusted == trusted));
}

#[test]
fn commands_run_only_while_they_are_trusted() {
    let mut bench = Bench::new();
    let file = bench.file("countersign.toml", COMMANDS);
    let plan = bench.file("plan.json", PLAN);
    bench.open(&plan);
    assert!(bench.app.situation().not_authorizable.is_some());
    // Opening and closing the dialog decides nothing, and neither does an answer without an open dialog.
    bench.act(Action::Plan(PlanAction::ReviewCommands));
    bench.act(Action::Dialog(DialogAction::LeaveUndecided));
    let digest = commands(&bench.app).unwrap().digest;
    bench.act(Action::Dialog(DialogAction::Trust { digest, trusted: true }));
    assert!(bench.app.situation().not_authorizable.is_some(), "no dialog was open");
    decide(&mut bench, true);
    assert_eq!(
        bench.app.situation().not_authorizable,
        None,
        "{:?}",
        bench.session().opened.findings
    );
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.wait_for_end();
    assert_eq!(bench.session().run.phase, Phase::Ended(RunStatus::Completed));
    let done = plan.with_file_name("done");
    assert!(done.exists());

    bench.open(&plan);
    bench.act(Action::Do(Command::Reload));
    bench.wait_until("a plan again", |app| app.situation().not_authorizable.is_none());
    decide(&mut bench, false);
    assert!(bench.app.situation().not_authorizable.is_some());

    // A change of the file closes the dialog about it.
    bench.act(Action::Plan(PlanAction::ReviewCommands));
    assert!(bench.app.view().dialog.is_some());
    std::fs::write(&file, COMMANDS.replace("done", "other")).unwrap();
    bench.act(Action::Do(Command::Reload));
    bench.wait_until("the other commands", |app| {
        commands(app).is_some_and(|it| it.commands[0].command == "touch other")
    });
    assert!(bench.app.view().dialog.is_none());
    assert!(bench.app.shared.notices.iter().any(|it| it.summary.contains("file countersign.toml")));
}

#[test]
fn untrusted_plan_can_be_rejected_but_not_authorized() {
    let mut bench = Bench::new();
    bench.file("countersign.toml", COMMANDS);
    let plan = bench.file("plan.json", PLAN);
    bench.open(&plan);
    let digest = bench.session().opened.digest;
    assert_eq!(bench.app.situation().not_rejectable, None);
    bench.act(Action::Do(Command::Reject));
    bench.act(Action::Dialog(DialogAction::Authorize(digest)));
    assert_eq!(bench.session().approval, Approval::None, "whatever dialog is open");
    bench.act(Action::Do(Command::Reject));
    let reason = "Not these commands.".to_owned();
    bench.act(Action::Dialog(DialogAction::Reject {
        digest,
        reason: reason.clone(),
        replan: false,
    }));
    bench.wait_until("rejected", |app| {
        app.plan.shown.as_ref().unwrap().approval == Approval::Rejected(reason.clone())
    });
    let bar = crate::ui::plan::bar(&bench.app.view().plan.unwrap(), &bench.app.situation());
    assert_eq!((bar.title.as_str(), bar.primary), ("Rejected", None));
}
