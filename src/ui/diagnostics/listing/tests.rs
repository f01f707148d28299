//! Which checks are compared, and which diagnostics must never be reported as gone.

use super::*;
use crate::plan::ToolCall;
use crate::run::{Outcome, RunEvent};
use crate::ui::tests::{fixture, found};

/// A step: its call, its outcome, and its diagnostics (level, file, message and line).
type Ran = (ToolCall, Outcome, Option<Code>, Vec<(Level, &'static str, &'static str, i64)>);

fn check(path: &str) -> ToolCall {
    ToolCall::LspCheck { path: path.to_owned() }
}

fn patch() -> ToolCall {
    ToolCall::SplicePatch {
        file: "a.rs".to_owned(),
        symbol: "f".to_owned(),
        with: "f.txt".to_owned(),
        kind: None,
    }
}

fn run_of(steps: Vec<Ran>) -> (RunState, ShownPlan) {
    let mut plan = fixture::plan();
    let model = plan.steps.remove(0);
    plan.steps.clear();
    for (index, (call, ..)) in steps.iter().enumerate() {
        let mut step = model.clone();
        step.step_index = index;
        step.tool_name = call.tool().name().to_owned();
        step.call = Some(call.clone());
        plan.steps.push(step);
    }
    let mut run = RunState::default();
    run.apply(&RunEvent::RunStarted {
        run_id: fixture::run_id(),
        plan_id: plan.plan_id.clone(),
        step_count: steps.len(),
        timestamp_ms: 0,
    });
    for (index, (_, outcome, code, said)) in steps.into_iter().enumerate() {
        let mut result = fixture::result(&plan, index, outcome, 1);
        result.error_code = code;
        let model = found::many(1).remove(0);
        let said = said.into_iter().map(|(level, file, message, line_start)| DiagnosticArtifact {
            level,
            file_name: file.to_owned(),
            message: message.to_owned(),
            line_start,
            ..model.clone()
        });
        result.diagnostic_artifacts = said.collect();
        run.apply(&RunEvent::StepCompleted { result });
    }
    (run, plan)
}

fn failed(path: &str, said: Vec<(Level, &'static str, &'static str, i64)>) -> Ran {
    (check(path), Outcome::Failed, Some(Code::CargoCheck), said)
}

fn passed(path: &str, said: Vec<(Level, &'static str, &'static str, i64)>) -> Ran {
    (check(path), Outcome::Succeeded, None, said)
}

fn listing(steps: Vec<Ran>) -> Listing {
    let (run, plan) = run_of(steps);
    Listing::of(&run, Some(&plan), &Sight::default())
}

fn standings(listing: &Listing) -> [usize; 3] {
    [listing.counts.new, listing.counts.unchanged, listing.counts.gone]
}

const OLD: (Level, &str, &str, i64) = (Level::Warning, "a.rs", "old", 3);
const MOVED: (Level, &str, &str, i64) = (Level::Warning, "a.rs", "old", 9);
const OTHER: (Level, &str, &str, i64) = (Level::Error, "a.rs", "other", 3);

#[test]
fn the_latest_check_is_compared_with_the_first() {
    let found = listing(vec![
        passed(".", vec![OLD, (Level::Warning, "b.rs", "away", 1)]),
        passed(".", vec![OLD]),
        failed(".", vec![MOVED, OTHER]),
    ]);
    assert_eq!((found.step, found.base), (Some(2), Some(0)));
    assert_eq!(standings(&found), [1, 1, 1]);
    assert_eq!(found.caution, None);
    // A diagnostic that is gone does not count as a warning.
    assert_eq!((found.counts.errors, found.counts.warnings), (1, 1));
}

#[test]
fn a_base_of_the_same_path_comes_first() {
    let found = listing(vec![
        passed("one", vec![OLD]),
        passed("two", vec![OLD]),
        passed("two", vec![MOVED]),
    ]);
    assert_eq!((found.base, standings(&found), found.caution), (Some(1), [0, 1, 0], None));
    let found = listing(vec![passed("one", vec![OLD]), passed("two", vec![OTHER])]);
    assert_eq!(found.base, Some(0));
    assert_eq!(found.caution.as_deref(), Some("The first check covered one, this one covers two."));
}

#[test]
fn an_unfinished_check_clears_nothing() {
    let stopped = (check("."), Outcome::Failed, Some(Code::TimedOut), vec![MOVED]);
    let found = listing(vec![passed(".", vec![OLD, OTHER]), stopped.clone()]);
    assert_eq!(standings(&found), [0, 1, 0]);
    assert!(found.caution.unwrap().contains("did not finish"));
    // Nothing is compared with an incomplete check.
    let found = listing(vec![stopped, passed(".", vec![OLD])]);
    assert_eq!((found.base, standings(&found)), (None, [0, 0, 0]));
    // cargo itself failed: there is no error in the code, and no verdict.
    let broken = failed(".", vec![]);
    let found = listing(vec![passed(".", vec![OLD]), broken]);
    assert_eq!((standings(&found), found.checks[1].verdict), ([0, 0, 0], false));
}

#[test]
fn a_gate_never_shows_gone_diagnostics() {
    let gate = (patch(), Outcome::Failed, Some(Code::CargoCheck), vec![OTHER, MOVED]);
    let steps = || vec![passed(".", vec![OLD, (Level::Warning, "b.rs", "still", 1)]), gate.clone()];
    let (run, plan) = run_of(steps());
    let sight = Sight { step: Some(1), ..Sight::default() };
    let found = Listing::of(&run, Some(&plan), &sight);
    assert_eq!((found.base, standings(&found)), (Some(0), [1, 1, 0]));
    assert!(found.caution.unwrap().contains("Others may still exist"));
    assert_eq!(found.checks[1].about, "f in a.rs by f.txt");
    // A check is preferred to an error gate as the step shown first.
    assert_eq!(listing(steps()).step, Some(0));
    assert_eq!(listing(vec![gate.clone()]).step, Some(0));
}

#[test]
fn a_skipped_step_is_no_check() {
    let skipped = (check("."), Outcome::Skipped, None, vec![]);
    let denied = (check("."), Outcome::Denied, Some(Code::ConfirmationDenied), vec![]);
    let read = (ToolCall::FileRead { path: "a".to_owned() }, Outcome::Succeeded, None, vec![]);
    let found = listing(vec![skipped, read, denied]);
    assert_eq!(found, Listing::default());
    let found = listing(vec![passed(".", vec![])]);
    assert_eq!((found.step, found.total, found.selected), (Some(0), 0, None));
}

#[test]
fn the_selection_follows_its_diagnostic() {
    let (run, plan) = run_of(vec![failed(".", vec![OLD, OTHER, (Level::Info, "c.rs", "note", 1)])]);
    let mut sight = Sight { picked: Some(Place { step: 0, at: 0 }), ..Sight::default() };
    let selected = |sight: &Sight| Listing::of(&run, Some(&plan), sight).selected;
    assert_eq!(selected(&sight), Some(1), "behind the error");
    sight.sort_by(Column::Message);
    assert_eq!(selected(&sight), Some(1));
    sight.sort_by(Column::Severity);
    sight.sort_by(Column::Severity);
    assert_eq!(selected(&sight), Some(1));
    sight.toggle(Facet::Level(Level::Warning));
    assert_eq!(selected(&sight), Some(0), "hidden, it makes room for the first");
    sight.toggle(Facet::Level(Level::Warning));
    sight.filter = "nothing has this".to_owned();
    assert_eq!(selected(&sight), None);
}
