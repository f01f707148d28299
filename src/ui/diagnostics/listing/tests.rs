//! Which checks are compared, and which diagnostics are reported as gone.

use super::*;
use crate::plan::ToolCall;
use crate::run::{Outcome, RunEvent};
use crate::ui::tests::{fixture, found};

/// A diagnostic: its level, file, message and line.
type Reported = (Level, &'static str, &'static str, i64);

/// A step: its call, its outcome, its error code, and its diagnostics.
type Ran = (ToolCall, Outcome, Option<Code>, Vec<Reported>);

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
    let template = plan.steps.remove(0);
    plan.steps.clear();
    for (index, (call, ..)) in steps.iter().enumerate() {
        let mut step = template.clone();
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
    for (index, (_, outcome, code, reported)) in steps.into_iter().enumerate() {
        let mut result = fixture::result(&plan, index, outcome, 1);
        result.error_code = code;
        let template = found::many(1).remove(0);
        let artifact = |(level, file, message, line_start): Reported| DiagnosticArtifact {
            level,
            file_name: file.to_owned(),
            message: message.to_owned(),
            line_start,
            ..template.clone()
        };
        result.diagnostic_artifacts = reported.into_iter().map(artifact).collect();
        run.apply(&RunEvent::StepCompleted { result });
    }
    (run, plan)
}

fn failed(path: &str, reported: Vec<Reported>) -> Ran {
    (check(path), Outcome::Failed, Some(Code::CargoCheck), reported)
}

fn passed(path: &str, reported: Vec<Reported>) -> Ran {
    (check(path), Outcome::Succeeded, None, reported)
}

fn listing(steps: Vec<Ran>) -> Listing {
    let (run, plan) = run_of(steps);
    Listing::of(&run, Some(&plan), &ListOptions::default())
}

/// The numbers of new, unchanged and gone diagnostics.
fn baseline_counts(listing: &Listing) -> [usize; 3] {
    [listing.counts.new, listing.counts.unchanged, listing.counts.gone]
}

const OLD: Reported = (Level::Warning, "a.rs", "old", 3);
const MOVED: Reported = (Level::Warning, "a.rs", "old", 9);
const OTHER: Reported = (Level::Error, "a.rs", "other", 3);

#[test]
fn the_latest_check_is_compared_with_the_first() {
    let found = listing(vec![
        passed(".", vec![OLD, (Level::Warning, "b.rs", "away", 1)]),
        passed(".", vec![OLD]),
        failed(".", vec![MOVED, OTHER]),
    ]);
    assert_eq!((found.step, found.base), (Some(2), Some(0)));
    assert_eq!(baseline_counts(&found), [1, 1, 1]);
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
    assert_eq!((found.base, baseline_counts(&found), found.caution), (Some(1), [0, 1, 0], None));
    let found = listing(vec![passed("one", vec![OLD]), passed("two", vec![OTHER])]);
    assert_eq!(found.base, Some(0));
    let caution = "The comparison is with a check of one; this one checks two.";
    assert_eq!(found.caution.as_deref(), Some(caution));
}

#[test]
fn an_unfinished_check_clears_nothing() {
    let stopped = (check("."), Outcome::Failed, Some(Code::TimedOut), vec![MOVED]);
    let found = listing(vec![passed(".", vec![OLD, OTHER]), stopped.clone()]);
    assert_eq!(baseline_counts(&found), [0, 1, 0]);
    assert!(found.caution.unwrap().contains("did not finish"));
    // Nothing is compared with an incomplete check.
    let found = listing(vec![stopped, passed(".", vec![OLD])]);
    assert_eq!((found.base, baseline_counts(&found)), (None, [0, 0, 0]));
    // cargo failed without an error in the code, so there is no verdict.
    let unfinished = failed(".", vec![]);
    let found = listing(vec![passed(".", vec![OLD]), unfinished]);
    assert_eq!((baseline_counts(&found), found.checks[1].has_verdict), ([0, 0, 0], false));
}

#[test]
fn a_gate_never_shows_gone_diagnostics() {
    let gate = (patch(), Outcome::Failed, Some(Code::CargoCheck), vec![OTHER, MOVED]);
    let steps = || vec![passed(".", vec![OLD, (Level::Warning, "b.rs", "still", 1)]), gate.clone()];
    let (run, plan) = run_of(steps());
    let options = ListOptions { step: Some(1), ..ListOptions::default() };
    let found = Listing::of(&run, Some(&plan), &options);
    assert_eq!((found.base, baseline_counts(&found)), (Some(0), [1, 1, 0]));
    assert!(found.caution.unwrap().contains("Others may still exist"));
    assert_eq!(found.checks[1].subject, "f in a.rs by f.txt");
    // A check is preferred to the error gate of a patch as the step shown first.
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
    let mut options = ListOptions {
        selected: Some(DiagnosticPosition { step: 0, index: 0 }),
        ..ListOptions::default()
    };
    let selected = |options: &ListOptions| Listing::of(&run, Some(&plan), options).selected;
    assert_eq!(selected(&options), Some(1), "after the error");
    options.sort_by(Column::Message);
    assert_eq!(selected(&options), Some(1));
    options.sort_by(Column::Severity);
    options.sort_by(Column::Severity);
    assert_eq!(selected(&options), Some(1));
    options.toggle(Facet::Level(Level::Warning));
    assert_eq!(selected(&options), Some(0), "the first one, because the selected one is hidden");
    options.toggle(Facet::Level(Level::Warning));
    options.filter = "nothing has this".to_owned();
    assert_eq!(selected(&options), None);
}
