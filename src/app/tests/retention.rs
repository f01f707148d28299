//! Old records are purged from the window, after a preview.

use super::*;
use crate::run::PurgeRule;
use crate::ui::action::WindowAction;

#[test]
fn old_records_are_purged_after_a_preview() {
    let mut bench = Bench::new();
    bench.file("a.txt", "a heron in the reeds\n");
    let plan = r#"{"plan_id": "read", "intent": "QUERY", "title": "Read", "steps": [
        {"step_id": "text", "tool": "file_read", "arguments": {"path": "a.txt"}}]}"#;
    let plan = bench.file("read.json", plan);
    bench.open(&plan);
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.wait_for_end();
    let run_id = bench.session().run.run_id.unwrap();

    bench.act(Action::Window(WindowAction::AskToPurge));
    let is_counted = |app: &App| app.purge.as_ref().is_some_and(|view| view.preview.is_some());
    bench.wait_until("the preview", is_counted);
    let view = bench.app.purge.clone().unwrap();
    assert_eq!(view.days, 90);
    assert_eq!(view.preview.unwrap().unwrap().runs, 0, "the run is of today");
    bench.app.shared.now.ms += 1_000;
    bench.act(Action::Window(WindowAction::ChoosePurgeAge(0)));
    bench.wait_until("the preview", is_counted);
    let view = bench.app.purge.clone().unwrap();
    assert_eq!((view.preview.unwrap().unwrap().runs, view.dates.is_some()), (1, true));
    let Question::Purge(_) = bench.app.view().dialog.unwrap().question else { panic!("no dialog") };

    let reason = "tidied".to_owned();
    bench.act(Action::Dialog(DialogAction::Purge { rule: view.rule, reason }));
    let said = |words: &'static str| {
        move |app: &App| app.shared.notices.iter().any(|it| it.summary.contains(words))
    };
    bench.wait_until("the purge", said("The records of 1 run were purged"));
    assert!(bench.app.shared.prompt.is_none() && bench.app.purge.is_none());
    let location = bench.app.shared.setup.location.clone();
    let run = location.open().unwrap().run(run_id).unwrap().unwrap();
    assert_eq!(run.purged.unwrap().reason, "tidied");

    // Whoever opens the run is told.
    let other = bench.file("other.json", r#"{"plan_id": "o", "intent": "QUERY", "steps": []}"#);
    bench.open(&other);
    bench.act(Action::Plan(PlanAction::OpenRun(run_id)));
    bench.wait_until("the note", said("records of this run were purged"));
    let rule = PurgeRule { run: Some(run_id), ..PurgeRule::default() };
    assert_eq!(location.store().unwrap().purge(&rule, "", 1).unwrap().purge_id, None);
}
