//! Searches with more hits than are read at a time, with an unknown tool, and in damaged evidence.

use super::*;
use crate::run::Question as EvidenceQuestion;

#[test]
fn further_hits_are_read_on_request() {
    let mut bench = Bench::new();
    bench.file("a.txt", "bittern\n");
    let read = |index: usize| {
        serde_json::json!({ "step_id": format!("s{index}"), "tool": "file_read",
                            "arguments": { "path": "a.txt" } })
    };
    let steps: Vec<_> = (0..230).map(read).collect();
    let plan = serde_json::json!({ "plan_id": "p", "intent": "READ", "steps": steps });
    let plan = bench.file("plan.json", &plan.to_string());
    bench.open(&plan);
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    // Each step wakes the window several times, and one wait is for a limited number of these.
    for done in (20..=230).step_by(30) {
        bench.wait_until("the steps", |app| {
            app.plan.shown.as_ref().unwrap().run.steps.done() >= done
        });
    }
    bench.wait_for_end();
    bench.act(Action::Evidence(EvidenceAction::Search("tool:file_read".into())));
    bench.wait_until("the first hits", |app| {
        app.evidence
            .page
            .as_ref()
            .is_some_and(|page| (page.hits.len(), page.counts.total) == (100, 230))
    });
    bench.act(Action::Evidence(EvidenceAction::More));
    bench.wait_until("more hits", |app| app.evidence.listed().len() == 200);
    bench.act(Action::Evidence(EvidenceAction::More));
    bench.wait_until("all hits", |app| app.evidence.listed().len() == 230);
    let mut listed = bench.app.evidence.listed();
    listed.sort_unstable();
    listed.dedup();
    assert_eq!(listed.len(), 230, "each once");
    // Another search begins with its first hits.
    bench.act(Action::Evidence(EvidenceAction::Search(String::new())));
    bench.wait_until("the first hits", |app| app.evidence.listed().len() == 100);
}

#[test]
fn an_unknown_tool_is_a_problem_of_the_search() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.authorize();
    bench.act(Action::Evidence(EvidenceAction::Search("tool:bogus".into())));
    bench.wait_until("the problem", |app| {
        let view = app.view().evidence;
        view.problems.iter().any(|it| {
            it.starts_with("tool: takes one of file_read, ") && it.ends_with(", not “bogus”.")
        })
    });
    bench.act(Action::Evidence(EvidenceAction::Search("tool:file_glob".into())));
    bench.wait_until("no problem", |app| app.view().evidence.problems.is_empty());
}

/// One page, one answer: what was open beside the search comes back with the search.
#[test]
fn a_question_takes_the_place_of_the_search_until_it_is_left() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(1);
    bench.act(Action::Do(Command::StopNow));
    bench.wait_for_end();
    bench.act(Action::Evidence(EvidenceAction::Search("tool:file_read".into())));
    bench.wait_until("a hit", |app| app.evidence.listed().len() == 1);
    let id = bench.app.evidence.listed()[0];
    bench.act(Action::Evidence(EvidenceAction::Open(id)));
    bench.wait_until("the record", |app| app.evidence.detail.is_some());
    for question in [EvidenceQuestion::Recurring, EvidenceQuestion::InterruptedRuns] {
        bench.act(Action::Evidence(EvidenceAction::RunQuery(question)));
        bench.wait_until("an answer", |app| app.evidence.answer.is_some());
        let view = bench.app.view().evidence;
        assert!(view.selected.is_none() && view.detail.is_none());
        assert_eq!(bench.app.evidence.text(), "", "the search field");
    }
    // Going back leads to the record beside its search, and forward to the question.
    bench.act(Action::Do(Command::GoBack));
    bench.act(Action::Do(Command::GoBack));
    bench.wait_until("the record", |app| app.evidence.detail.is_some());
    assert_eq!(bench.app.view().evidence.question, None);
    bench.act(Action::Do(Command::GoForward));
    assert_eq!(bench.app.view().evidence.question, Some(&EvidenceQuestion::Recurring));
    assert_eq!(bench.app.evidence.selected, None);
    bench.act(Action::Evidence(EvidenceAction::CloseAnswer));
    bench.wait_until("the record", |app| app.evidence.detail.is_some());
    assert_eq!(bench.app.evidence.selected, Some(id));
    assert_eq!(bench.app.evidence.text(), "tool:file_read");
    // A new search leaves the question for good.
    bench.act(Action::Evidence(EvidenceAction::RunQuery(EvidenceQuestion::Recurring)));
    bench.act(Action::Evidence(EvidenceAction::Search("tool:file_write".into())));
    bench.wait_until("other hits", |app| !app.evidence.listed().is_empty());
    assert_eq!((bench.app.evidence.selected, bench.app.evidence.text()), (None, "tool:file_write"));
}

/// From an execution, the run is shown at the row of its step.
#[test]
fn a_record_leads_to_its_step_of_the_run() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(1);
    bench.answer(1, Decision::Skip);
    bench.wait_for_confirmation(2);
    bench.answer(2, Decision::Cancel);
    bench.wait_for_end();
    let run_id = bench.session().run.run_id.unwrap();
    for step in [1, 0] {
        bench.act(Action::Plan(PlanAction::OpenStepOfRun(run_id, step)));
        assert_eq!(bench.session().pane.selected, step, "of the run on the page");
    }
    bench.app.plan.shown = None;
    bench.act(Action::Plan(PlanAction::OpenStepOfRun(run_id, 1)));
    bench.wait_until("the replay", |app| app.plan.shown.is_some());
    assert_eq!(bench.session().pane.selected, 1);
}

/// Another program has damaged the database.
#[test]
fn a_failed_search_shows_why_and_no_earlier_results() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(1);
    bench.act(Action::Do(Command::StopNow));
    bench.wait_for_end();
    bench.act(Action::Evidence(EvidenceAction::Search(String::new())));
    bench.wait_until("hits", |app| !app.view().evidence.lines.is_empty());
    crate::evidence::tests::drop_index(&bench.app.shared.setup.location);
    bench.act(Action::Evidence(EvidenceAction::Search("heron".into())));
    bench.wait_until("the failure", |app| app.view().evidence.failure.is_some());
    let view = bench.app.view().evidence;
    assert!(view.failure.is_some_and(|it| it.contains("executions_by_tool")), "{:?}", view.failure);
    let mut notices: Vec<_> = bench.app.shared.notices.iter().map(|it| &it.summary).collect();
    let number = notices.len();
    notices.sort_unstable();
    notices.dedup();
    assert_eq!(notices.len(), number, "each failure is reported once");
    assert!(view.page.is_none() && view.lines.is_empty() && bench.app.evidence.listed().is_empty());
}

/// The timeline shows what the times of a search leave out, and another span on request.
#[test]
fn the_timeline_has_a_span_of_its_own() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(1);
    bench.answer(1, Decision::Skip);
    bench.wait_for_confirmation(2);
    bench.answer(2, Decision::Cancel);
    bench.wait_for_end();
    bench.act(Action::Evidence(EvidenceAction::Search(String::new())));
    bench.wait_until("hits", |app| app.evidence.listed().len() == 3);
    let total = |app: &App| -> u64 {
        app.view().evidence.timeline.buckets.iter().map(|it| it.fine + it.bad).sum()
    };
    assert_eq!(total(&bench.app), 3);
    bench.act(Action::Evidence(EvidenceAction::Search("before:2020-01-01".into())));
    bench.wait_until("no hits", |app| app.evidence.listed().is_empty());
    bench.wait_until("what is left out", |app| total(app) == 3);
    // Another search has its own span.
    bench.act(Action::Evidence(EvidenceAction::Search("outcome:denied".into())));
    bench.wait_until("the denied step", |app| app.evidence.listed().len() == 1);
    assert_eq!(total(&bench.app), 1);
    bench.act(Action::Evidence(EvidenceAction::ShowTimes(Some((0, i64::MAX - 1)))));
    bench.wait_until("the span", |app| {
        let timeline = app.view().evidence.timeline;
        timeline.span.is_some_and(|span| span.0 > 0 && span.1 < i64::MAX - 1)
    });
    bench.act(Action::Evidence(EvidenceAction::Search("outcome:skipped".into())));
    bench.wait_until("the skipped step", |app| app.view().evidence.timeline.span.is_none());
}

/// Judging goes on in the background until it is complete, and does not begin again by itself.
#[test]
fn past_commands_are_judged_in_the_background() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.authorize();
    bench.act(Action::Evidence(EvidenceAction::RunQuery(EvidenceQuestion::JudgedAgain)));
    let judged = |app: &App| match &app.evidence.answer {
        Some(crate::run::EvidenceAnswer::Judged(judgement)) => Some(judgement.clone()),
        _ => None,
    };
    bench.wait_until("all commands", |app| judged(app).is_some_and(|it| it.is_complete()));
    assert_eq!(judged(&bench.app).unwrap().all, Some(0));
    bench.act(Action::Evidence(EvidenceAction::StopJudging));
    assert!(!judged(&bench.app).unwrap().stopped, "it is over");
    bench.act(Action::Evidence(EvidenceAction::CloseAnswer));
    assert!(bench.app.evidence.answer.is_none());
}
