//! Filtering and finding steps of a long plan.

use super::*;
use crate::ui::plan::{StepFilter, StepKind};

/// Ten thousand steps: each tenth one writes a file, and each hundredth one of those asks.
fn long_plan() -> String {
    let steps: Vec<_> = (0..10_000)
        .map(|index| {
            let path = format!("f{index}.txt");
            match index % 10 {
                3 => serde_json::json!({
                    "step_id": format!("s{index}"), "tool": "file_create",
                    "arguments": {"path": path, "contents": "heron"},
                    "requires_confirmation": index % 1_000 == 3,
                }),
                _ => serde_json::json!({
                    "step_id": format!("s{index}"), "tool": "file_read", "arguments": {"path": path},
                }),
            }
        })
        .collect();
    serde_json::json!({"plan_id": "long", "intent": "MUTATE", "steps": steps}).to_string()
}

fn filter(bench: &mut Bench, text: &str, kinds: &[StepKind]) {
    let filter = StepFilter { text: text.to_owned(), kinds: kinds.iter().copied().collect() };
    bench.act(Action::Plan(PlanAction::FilterSteps(filter)));
}

#[test]
fn ten_thousand_steps_are_filtered_and_counted() {
    let mut bench = Bench::new();
    let plan = bench.file("long.json", &long_plan());
    bench.open(&plan);
    bench.app.update_lists();
    assert_eq!(bench.session().steps.list.counts, [1_000, 10, 0, 0, 10_000, 0]);
    let listed = |bench: &Bench| bench.session().steps.list.len(10_000);
    assert_eq!(listed(&bench), 10_000);
    filter(&mut bench, "", &[StepKind::Asks]);
    assert_eq!(listed(&bench), 10);
    assert_eq!(bench.session().pane.selected, 3, "the first hit");
    bench.act(Action::Do(Command::NextStep));
    assert_eq!(bench.session().pane.selected, 1_003, "only listed steps are selected");
    bench.act(Action::Plan(PlanAction::SelectListed(-1)));
    bench.act(Action::Plan(PlanAction::SelectListed(-1)));
    assert_eq!(bench.session().pane.selected, 9_003, "goes round");
    filter(&mut bench, "HERON f13.txt", &[StepKind::Writes]);
    assert_eq!((listed(&bench), bench.session().pane.selected), (1, 13));
    bench.act(Action::Plan(PlanAction::LookedAt(13, OnScreen::Whole)));
    filter(&mut bench, "", &[StepKind::NotLookedAt]);
    assert_eq!(listed(&bench), 9_999);
    filter(&mut bench, "", &[]);
    assert_eq!(listed(&bench), 10_000);
}

#[test]
fn the_step_that_asks_is_always_listed() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.authorize();
    filter(&mut bench, "nothing has this text", &[]);
    assert_eq!(bench.session().steps.list.listed, Some(Vec::new()));
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(1);
    bench.app.update_lists();
    assert_eq!(bench.session().steps.list.listed, Some(vec![1]));
    bench.answer(1, Decision::Cancel);
    bench.wait_for_end();
    filter(&mut bench, "", &[StepKind::Fails]);
    assert_eq!(bench.session().steps.list.listed, Some(vec![1]));
}

#[test]
fn find_goes_to_what_the_page_shows() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.act(Action::Do(Command::Find));
    let list = &bench.session().steps.list;
    assert!(list.is_open && list.focus);
    // A first space, and Backspace until nothing is left.
    for text in [" ", "heron", ""] {
        filter(&mut bench, text, &[]);
        assert!(bench.session().steps.list.is_open, "{text:?}: the person is still typing");
    }
    filter(&mut bench, "heron", &[]);
    bench.act(Action::Plan(PlanAction::CloseFilter));
    let list = &bench.session().steps.list;
    assert!(!list.is_open && list.filter.is_empty());
    bench.act(Action::Do(Command::GoEvidence));
    bench.act(Action::Do(Command::Find));
    assert!(bench.app.evidence.focus_search);
}
