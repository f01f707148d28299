//! A loop of another window is followed to its end.

use super::*;
use crate::app::tests::two_windows::other_window;

#[test]
fn a_loop_of_another_window_is_followed() {
    let mut bench = Bench::new();
    bench.fill(&["exit 3", "exit 4"]);
    bench.act(Action::Do(Command::StartLoop));
    bench.wait_for_attempt(1);
    let (mut other, woken) = other_window(&bench, None);
    wait_until(&mut other, &woken, "the loop", |app| !app.loop_page.summaries.is_empty());
    let loop_id = other.loop_page.summaries[0].loop_id;
    other.apply(Action::Do(Command::GoLoop), &bench.ctx);
    other.apply(Action::Loop(LoopAction::Show(loop_id)), &bench.ctx);
    wait_until(&mut other, &woken, "attempt 1", |app| {
        app.loop_page.shown_state().is_some_and(|state| state.attempts.len() == 1)
    });
    // The evidence does not tell whether the planner is at work or its plan waits for a decision.
    let phase = |app: &App| app.loop_page.shown_state().map(|state| state.phase.clone());
    assert_eq!(phase(&other), Some(LoopPhase::Elsewhere));
    other.apply(Action::Loop(LoopAction::SetExpanded(1, true)), &bench.ctx);
    bench.authorize_attempt(1);
    bench.wait_for_attempt(2);
    wait_until(&mut other, &woken, "attempt 2", |app| {
        app.loop_page.shown_state().is_some_and(|state| state.attempts.len() == 2)
    });
    bench.act(Action::Do(Command::StopNow));
    assert_eq!(bench.wait_for_loop_end(), StopCode::OperatorStopped);
    wait_until(&mut other, &woken, "its end", |app| {
        let state = app.loop_page.shown_state();
        state.is_some_and(|state| matches!(state.phase, LoopPhase::Ended(_)))
    });
    let view = other.view();
    let Shown::Loop(timeline) = &view.looping.shown else { panic!("no loop is shown") };
    assert_eq!(timeline.expanded.get(&1), Some(&true), "what the person expanded stays");
    assert!(!other.loop_page.knows_loop_elsewhere());
}
