//! What a planner prints and asks, and what a person tells it.

use super::*;

/// If the planner's standard error is very long, the page shows its end.
#[test]
fn a_recorded_loop_shows_planner_stderr_end() {
    let mut bench = Bench::new();
    bench.fill(&["true"]);
    let command = bench.app.loop_page.form.command.clone();
    let prints = "seq 1 200000 | sed 's/^/heron /' >&2";
    bench.app.loop_page.form.command = command.replace("echo thinking >&2", prints);
    bench.act(Action::Do(Command::StartLoop));
    bench.wait_for_attempt(1);
    bench.act(Action::Do(Command::StopNow));
    assert_eq!(bench.wait_for_loop_end(), StopCode::OperatorStopped);
    let loop_id = bench.app.loop_page.live.take().unwrap().state.loop_id.unwrap();
    bench.act(Action::Loop(LoopAction::Show(loop_id)));
    bench.wait_until("the loop", |app| app.loop_page.shown_state().is_some());
    let view = bench.app.view();
    let Shown::Loop(timeline) = &view.looping.shown else { panic!("no loop is shown") };
    let printed = &timeline.shown.planner_output[&1];
    assert!(printed.ends_with("heron 199999\nheron 200000\n"), "{printed}");
    assert!(printed.len() <= 16 << 10, "{}", printed.len());
}

/// A person rejects a plan with words; the planner gets them and makes another one.
#[test]
fn a_plan_rejected_with_words_is_followed_by_another() {
    let mut bench = Bench::new();
    bench.fill(&["echo goose > egg", "echo heron > egg"]);
    bench.act(Action::Do(Command::StartLoop));
    bench.wait_for_attempt(1);
    bench.act(Action::Do(Command::OpenAttempt));
    bench.act(Action::Do(Command::Reject));
    let digest = bench.session().opened.digest;
    let Question::Reject { then, .. } = bench.app.view().dialog.unwrap().question else {
        panic!("another dialog")
    };
    assert_eq!(then, AfterRejection::AnotherPlan);
    let reason = "a heron, not a goose".to_owned();
    bench.act(Action::Dialog(DialogAction::Reject { digest, reason, replan: true }));
    bench.authorize_attempt(2);
    assert_eq!(bench.wait_for_loop_end(), StopCode::Completed);
    let egg = std::fs::read_to_string(bench.workspace.path().join("egg")).unwrap();
    assert_eq!(egg, "heron\n");
    let live = bench.app.loop_page.live.as_ref().unwrap();
    let [first, second] = live.state.attempts.as_slice() else { panic!("{:?}", live.state) };
    let record = first.record.as_ref().unwrap();
    assert_eq!(record.feedback.as_deref(), Some("a heron, not a goose"));
    assert_eq!(attempt_look(&live.state, first).1, "rejected by you");
    assert!(second.revised.as_ref().unwrap().0.contains("a heron, not a goose"));
}

/// The loop waits for the answer to the planner's question; without one it ends.
#[test]
fn a_question_of_the_planner_waits_for_an_answer() {
    let question = r#"{"version": "2026-02-19", "goal": "an egg", "failure": {"code":
        "clarification_needed", "message": "Which egg?", "retryable": false}}"#;
    let plan = r#"{"goal": "an egg", "steps": [{"command": "echo heron > egg"}]}"#;
    for answered in [true, false] {
        let mut bench = Bench::new();
        bench.fill_with(&scripted([question, plan].map(str::to_owned)));
        bench.act(Action::Do(Command::StartLoop));
        bench.wait_until("a question", |app| app.loop_page.is_asked());
        let live = bench.app.loop_page.live.as_ref().unwrap();
        assert_eq!(live.state.phase, LoopPhase::AwaitingAnswer("Which egg?".to_owned()));
        bench.act(Action::Loop(LoopAction::EditAnswer(" the heron's ".to_owned())));
        bench.act(Action::Loop(LoopAction::AnswerPlanner { answered }));
        if !answered {
            assert_eq!(bench.wait_for_loop_end(), StopCode::PlannerRejectedNonRetryable);
            continue;
        }
        bench.authorize_attempt(2);
        assert_eq!(bench.wait_for_loop_end(), StopCode::Completed);
        let live = bench.app.loop_page.live.as_ref().unwrap();
        let record = live.state.attempts[0].record.as_ref().unwrap();
        assert_eq!(record.feedback.as_deref(), Some("the heron's"));
    }
}
