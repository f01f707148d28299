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

    bench.act(Action::Do(Command::Purge));
    let is_counted = |app: &App| app.purge.as_ref().is_some_and(|view| view.preview.is_some());
    bench.wait_until("the preview", is_counted);
    let view = bench.app.purge.clone().unwrap();
    let days = view.rule.before_ms.map(|ms| (bench.app.shared.now.ms - ms) / 86_400_000);
    assert_eq!(days, Some(90));
    assert_eq!(view.preview.unwrap().unwrap().runs, 0, "the run is of today");
    let before_ms = Some(bench.app.shared.now.ms + 100_000);
    let rule = PurgeRule { before_ms, ..PurgeRule::default() };
    bench.act(Action::Window(WindowAction::ChoosePurge(rule)));
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

#[test]
fn a_run_its_plan_and_old_copies_are_purged() {
    let mut bench = Bench::new();
    bench.file("a.txt", "a heron in the reeds\n");
    let plan = r#"{"plan_id": "read", "intent": "QUERY", "title": "Read", "steps": [
        {"step_id": "text", "tool": "file_read", "arguments": {"path": "a.txt"}}]}"#;
    let plan = bench.file("read.json", plan);
    let mut ids = Vec::new();
    for _ in 0..2 {
        bench.open(&plan);
        bench.authorize();
        bench.act(Action::Do(Command::Run));
        bench.wait_for_end();
        let session = bench.session();
        let execution = session.selected_execution().unwrap();
        ids.push((session.run.run_id.unwrap(), execution));
    }
    let location = bench.app.shared.setup.location.clone();
    let copy = location.evidence.join("execution_log.v4.bak");
    std::fs::write(&copy, "older records").unwrap();
    let (run_id, execution) = ids[0];
    bench.act(Action::Do(Command::GoEvidence));
    bench.act(Action::Evidence(EvidenceAction::Open(execution)));
    bench.wait_until("the record", |app| app.evidence.detail.is_some());

    bench.act(Action::Window(WindowAction::AskToPurge(run_id)));
    let is_counted = |app: &App| app.purge.as_ref().is_some_and(|view| view.preview.is_some());
    bench.wait_until("the preview", is_counted);
    let view = bench.app.purge.clone().unwrap();
    assert_eq!(view.rule.run, Some(run_id), "the run is chosen");
    assert!(view.choices[0].name.starts_with("the run Read, "), "{:?}", view.choices[0]);
    assert_eq!(view.choices[1].rule.plan.as_deref(), Some("read"));
    let preview = view.preview.unwrap().unwrap();
    assert_eq!((preview.runs, preview.steps, preview.old_backups.len()), (1, 1, 1));
    // Another choice about old copies counts nothing anew.
    let rule = PurgeRule { with_old_backups: true, ..view.rule };
    bench.act(Action::Window(WindowAction::ChoosePurge(rule.clone())));
    let view = bench.app.purge.clone().unwrap();
    assert!(view.rule.with_old_backups && view.preview.is_some());
    bench.act(Action::Dialog(DialogAction::Purge { rule, reason: "a name in it".to_owned() }));
    let said = |words: &'static str| {
        move |app: &App| {
            let has = |it: &crate::ui::notice::Notice| {
                it.summary.contains(words) || it.details.contains(words)
            };
            app.shared.notices.iter().any(has)
        }
    };
    bench.wait_until("the purge", said("Deleted execution_log.v4.bak"));
    assert!(!copy.exists());

    bench.wait_until("the search", |app| !app.evidence.listed().contains(&execution));
    // Whoever opens the record is told what became of it.
    bench.act(Action::Evidence(EvidenceAction::Open(execution)));
    bench.wait_until("the note", |app| app.evidence.why_unreadable().is_some());
    let why = bench.app.evidence.why_unreadable().unwrap();
    assert!(why.contains("a name in it") && why.contains(&run_id.to_string()), "{why}");
    assert!(bench.app.evidence.detail.is_none());
    // The other run of the plan is there.
    bench.act(Action::Evidence(EvidenceAction::Open(ids[1].1)));
    bench.wait_until("the record", |app| app.evidence.detail.is_some());
    assert_eq!(bench.app.evidence.why_unreadable(), None);
}
