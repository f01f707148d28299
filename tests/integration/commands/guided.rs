//! Command plans in guided mode: each step waits for a person (SPEC §1.2).

use countersign::evidence::verify;
use countersign::plan::Mode;
use countersign::run::{AnsweredBy, Control, Decision, RunEvent};
use proptest::prelude::*;
use serde_json::Value;

use super::steps::{artifact, plan};
use crate::harness::{Harness, and, command};

/// A guided plan of these steps.
fn guided(steps: impl IntoIterator<Item = Value>) -> Value {
    and(plan(steps), "mode", "guided")
}

/// How many rows of a table belong to a step.
fn rows(harness: &Harness, table: &str, step: &str) -> i64 {
    harness.count(&format!("SELECT count(*) FROM {table} WHERE step_id = ?1"), [step])
}

/// Each step waits, and is run, skipped or done by hand.
#[test]
fn guided_steps_end_by_each_answer() {
    let harness = Harness::new().answering(|request| match request.step_id.as_str() {
        "a" | "a.verify" => Decision::DoneByHand,
        "b" => Decision::Skip,
        _ => Decision::Approve,
    });
    let with_check = |id: &str| {
        let step = command(id, &format!("echo {id} > {id}.txt"));
        and(step, "verificationCommand", format!("echo {id} > {id}.checked.txt"))
    };
    let ran = harness.run(&guided([with_check("a"), with_check("b"), with_check("c")]));
    let all = ["done_by_hand", "done_by_hand", "skipped", "skipped", "succeeded", "succeeded"];
    assert_eq!(ran.words(), (all.to_vec(), "completed"));
    let asked = ran.callbacks.confirmation_requests();
    let ids: Vec<_> = asked.iter().map(|it| it.step_id.as_str()).collect();
    assert_eq!(ids, ["a", "a.verify", "b", "c", "c.verify"], "b.verify is skipped with b");
    for request in &asked {
        assert!(request.guided && !request.user.is_empty());
        assert_eq!(request.why, "In guided mode each step waits for you.");
    }
    let made: Vec<_> = harness.tree().into_keys().collect();
    assert_eq!(made, ["c.checked.txt", "c.txt"], "only what was run has an effect");
    for step in ["a", "a.verify"] {
        assert_eq!(rows(&harness, "intents", step), 0);
        let sql = "SELECT outcome || ' ' || success || ' ' || invoked || ' ' ||
                   coalesce(exit_code, 'none') FROM executions WHERE step_id = ?1";
        assert_eq!(harness.texts(sql, [step]), ["done_by_hand 0 0 none"]);
        let sql = "SELECT decision || ' ' || decided_by FROM decisions WHERE step_id = ?1";
        assert_eq!(harness.texts(sql, [step]), ["done_by_hand test"]);
        for kind in ["stdout", "stderr", "result"] {
            assert_eq!(artifact(&harness, step, kind), None, "{step} {kind}");
        }
    }
    let state = ran.callbacks.state();
    assert_eq!(harness.replayed(ran.result().run_id), state);
    let answers: Vec<_> = ran
        .callbacks
        .events()
        .iter()
        .filter_map(|event| match event {
            RunEvent::ConfirmationDecided { answer, .. } => Some(answer.decision),
            _ => None,
        })
        .collect();
    use Decision::{Approve, DoneByHand, Skip};
    assert_eq!(answers, [DoneByHand, DoneByHand, Skip, Approve, Approve]);
}

#[test]
fn done_by_hand_needs_guided_mode() {
    let harness = Harness::with(&[("sub/a.txt", "x")]).answering(|_| Decision::DoneByHand);
    let ran = harness.run(&plan([command("a", "rm -r sub"), command("b", "echo")]));
    assert_eq!(ran.words(), (vec!["denied"], "failed"));
    assert!(!ran.callbacks.confirmation_requests()[0].guided);
    assert_eq!(harness.texts("SELECT decision FROM decisions WHERE step_id = 'a'", []), ["cancel"]);
    assert_eq!(harness.content("sub/a.txt").as_deref(), Some("x"));
}

#[test]
fn automatic_run_becomes_guided_never_the_reverse() {
    let mut harness = Harness::new().answering(|_| Decision::DoneByHand);
    let control = harness.control.clone();
    harness = harness.on_event(move |event| {
        if matches!(event, RunEvent::StepStarted { step_index: 1, .. }) {
            control.request(Control::GoOnGuided, AnsweredBy::Test);
            // No control leads back to automatic mode.
            control.request(Control::Pause, AnsweredBy::Test);
            control.request(Control::Resume, AnsweredBy::Test);
        }
    });
    let steps = ["a", "b", "c", "d"].map(|id| command(id, &format!("echo > {id}.txt")));
    let ran = harness.run(&plan(steps.clone()));
    let all = ["succeeded", "succeeded", "done_by_hand", "done_by_hand"];
    assert_eq!(ran.words(), (all.to_vec(), "completed"));
    let asked: Vec<_> =
        ran.callbacks.confirmation_requests().iter().map(|it| it.step_id.clone()).collect();
    assert_eq!(asked, ["c", "d"], "what had begun ends as it began");
    let sql = "SELECT decision FROM decisions WHERE step_id IS NULL AND run_id IS NOT NULL
               AND decided_by = 'test'";
    assert_eq!(harness.texts(sql, []), ["go_on_guided", "pause", "resume"]);
    let replayed = harness.replayed(ran.result().run_id);
    assert!(replayed.became_guided && ran.callbacks.state().became_guided);
    // The next run is automatic again.
    harness.control.reset();
    let next = Harness::new();
    assert!(next.run(&plan(steps)).callbacks.confirmation_requests().is_empty());
}

#[test]
fn steps_done_by_hand_are_not_left() {
    let harness = Harness::new().answering(|request| match request.step_id.as_str() {
        "a" => Decision::DoneByHand,
        "b" => Decision::Skip,
        _ => Decision::Approve,
    });
    let steps = [command("a", "echo"), command("b", "echo"), command("c", "false")];
    let ran = harness.run(&guided(steps));
    assert_eq!(ran.words(), (vec!["done_by_hand", "skipped", "failed"], "failed"));
    let rest = harness.continuation_of(ran.result().run_id);
    let ids: Vec<_> = rest.steps.iter().map(|step| step.step_id.as_str()).collect();
    assert_eq!(ids, ["b", "c"]);
    assert_eq!(rest.mode, Mode::Guided);
}

proptest! {
    // Each case is a whole run with all its flushes, so there are few cases.
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn step_done_by_hand_calls_no_tool(
        answers in prop::collection::vec(prop::sample::select(vec![
            Decision::Approve, Decision::Skip, Decision::DoneByHand, Decision::DoneByHand,
        ]), 1..6),
        guided_from in 0_usize..4,
        dangerous in any::<bool>(),
    ) {
        let given = answers.clone();
        let mut harness = Harness::new().answering(move |request| given[request.step_index]);
        let control = harness.control.clone();
        harness = harness.on_event(move |event| {
            if matches!(event, RunEvent::StepStarted { step_index, .. } if step_index + 1 == guided_from) {
                control.request(Control::GoOnGuided, AnsweredBy::Test);
            }
        });
        let steps = (0..answers.len()).map(|n| {
            let level = if dangerous { "dangerous" } else { "safe" };
            and(command(&format!("s{n}"), &format!("echo {n} > {n}.txt")), "riskLevel", level)
        });
        let plan = plan(steps);
        let plan = if guided_from == 0 { and(plan, "mode", "guided") } else { plan };
        let ran = harness.run(&plan);
        let result = ran.result();
        for (n, step) in result.step_results.iter().enumerate() {
            let guided = n >= guided_from;
            let expected = match (answers[n], guided, dangerous) {
                (_, false, false) | (Decision::Approve, ..) => "succeeded",
                (Decision::Skip, ..) => "skipped",
                (_, true, _) => "done_by_hand",
                (_, false, true) => "denied",
            };
            prop_assert_eq!(step.outcome.as_str(), expected);
            let ran = step.outcome.as_str() == "succeeded";
            prop_assert_eq!(harness.content(&format!("{n}.txt")).is_some(), ran);
            prop_assert_eq!(rows(&harness, "intents", &step.step_id), i64::from(ran));
            let sql = "SELECT invoked FROM executions WHERE step_id = ?1";
            prop_assert_eq!(harness.count(sql, [&step.step_id]), i64::from(ran));
        }
        prop_assert_eq!(harness.replayed(result.run_id), ran.callbacks.state());
        prop_assert!(verify(&harness.evidence(), None).unwrap().ok);
    }
}

#[test]
fn guided_step_waits_for_a_person() {
    let harness = Harness::new();
    let steps = plan([command("a", "echo"), command("b", "ls")]);
    let ran = harness.run(&and(steps, "mode", "teacher"));
    assert_eq!(ran.words().1, "completed");
    let asked: Vec<_> =
        ran.callbacks.confirmation_requests().iter().map(|it| it.step_id.clone()).collect();
    assert_eq!(asked, ["a", "b"]);
}
