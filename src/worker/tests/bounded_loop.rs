//! A bounded loop on the executor thread, without a window.

use std::time::Duration;

use super::*;
use crate::authorization::AuthorizationClass;
use crate::autonomy::{LoopOutcome, scripted};
use crate::run::{LookScope, LoopFate, LoopPhase, LoopState, PlannerStatus, StopCode};

/// The outcome of a loop, the state after its events, and the plans that it proposed.
struct EndedLoop {
    outcome: Result<Box<LoopOutcome>, Failure>,
    state: LoopState,
    proposed: Vec<PlanProposal>,
}

impl Desktop {
    /// The order for a loop whose planner prints the n-th of these plans in the n-th attempt.
    fn order(&self, plans: &[Value]) -> LoopOrder {
        LoopOrder {
            goal: "a file".to_owned(),
            planner: scripted(plans.iter().map(Value::to_string)),
            planner_timeout: Duration::from_secs(60),
            max_attempts: 3,
            verify: None,
            workspace: WorkspaceChoice::chosen(self.workspace()),
            class: None,
            looks: LookScope::Workspace,
            target: None,
            plan_only: false,
        }
    }

    /// Runs a loop to its end. Each event of it is passed to `react`.
    fn run_loop(&self, order: LoopOrder, mut react: impl FnMut(&Self, &RunEvent)) -> EndedLoop {
        self.worker.send(Command::Loop(Box::new(order))).unwrap();
        let (mut state, mut proposed) = (LoopState::default(), Vec::new());
        loop {
            match self.worker.recv().unwrap() {
                Event::Run(event) => {
                    state.apply(&event);
                    react(self, &event);
                }
                Event::Proposed(plan) => proposed.push(*plan),
                Event::LoopFinished(outcome) => return EndedLoop { outcome, state, proposed },
                other => panic!("{other:?}"),
            }
        }
    }

    /// Approves the plan if the event asks for its authorization. Answers about other plans, and a second answer, are
    /// refused.
    fn approve_plan(&self, event: &RunEvent) {
        if let RunEvent::AuthorizationNeeded { loop_id, attempt, .. } = event {
            let approve = || PlanDecision::Approve {
                method: Method::Window,
                note: "in the window".to_owned(),
            };
            assert!(!self.worker.answer_plan(*loop_id, attempt + 1, approve()), "another attempt");
            assert!(!self.worker.answer_plan(Uuid::new_v4(), *attempt, approve()), "another loop");
            assert!(self.worker.answer_plan(*loop_id, *attempt, approve()));
            assert!(!self.worker.answer_plan(*loop_id, *attempt, approve()), "answered already");
        }
    }
}

fn command(command: &str) -> Value {
    json!({"goal": "a file", "steps": [{"command": command}]})
}

/// Each plan is shown, authorized and run, and the replayed loop equals the live one.
#[test]
fn a_loop_shows_its_plans_and_replays() {
    let desktop = desktop();
    let order = desktop.order(&[command("exit 3"), command("echo done > a.txt")]);
    let ended = desktop.run_loop(LoopOrder { max_attempts: 2, ..order }, Desktop::approve_plan);
    let outcome = ended.outcome.unwrap();
    assert_eq!(outcome.stop_reason.code, StopCode::Completed, "{outcome:?}");
    assert!(desktop.workspace().join("a.txt").exists());
    let [first, second] = ended.proposed.as_slice() else { panic!("{:?}", ended.proposed) };
    assert_eq!(first.attempt, 1);
    assert!(ended.state.attempts[0].revised.is_none());
    assert_eq!(ended.state.attempts[1].revised.as_ref().unwrap().1.changed, 1);
    assert_eq!((second.attempt, second.plan.steps.len(), second.review.risks.len()), (2, 1, 1));
    assert_eq!(ended.state.attempts[1].planner_output, "thinking\n");

    let loops = desktop.query(ListLoops(5)).unwrap();
    assert_eq!(loops.len(), 1);
    assert_eq!(loops[0].fate, LoopFate::Ended(StopCode::Completed));
    let replayed = desktop.query(ReplayLoop(loops[0].loop_id)).unwrap();
    let mut again = LoopState::default();
    replayed.events.iter().for_each(|event| again.apply(event));
    let mut live = ended.state;
    live.attempts.iter_mut().for_each(|attempt| attempt.planner_output.clear());
    assert_eq!(again, live, "the replayed state equals the live state");
    let records: Vec<_> = replayed.detail.attempts.iter().map(|it| it.record.clone()).collect();
    assert_eq!(records, outcome.attempts.into_iter().map(Some).collect::<Vec<_>>());
}

#[test]
fn a_rejected_plan_ends_the_loop() {
    let desktop = desktop();
    let order = desktop.order(&[command("echo done > a.txt")]);
    let ended = desktop.run_loop(order, |desktop, event| {
        if let RunEvent::AuthorizationNeeded { loop_id, attempt, .. } = event {
            let answer = PlanDecision::Reject {
                method: Method::Window,
                reason: "not this".to_owned(),
                replan: false,
            };
            assert!(desktop.worker.answer_plan(*loop_id, *attempt, answer));
        }
    });
    let outcome = ended.outcome.unwrap();
    assert_eq!(outcome.stop_reason.code, StopCode::NotAuthorized);
    assert_eq!(outcome.stop_reason.message, "not this");
    assert!(!desktop.workspace().join("a.txt").exists());
}

#[test]
fn a_stop_ends_a_loop_in_any_phase() {
    for phase in ["planner", "authorization", "run"] {
        let desktop = desktop();
        let plans = [command("sleep 600; echo late > late.txt")];
        let mut order = desktop.order(&plans);
        if phase == "planner" {
            order.planner = "sleep 600; echo late > late.txt".to_owned();
        }
        let ended = desktop.run_loop(order, |desktop, event| {
            let current = match event {
                RunEvent::PlannerStarted { .. } => "planner",
                RunEvent::AuthorizationNeeded { .. } => "authorization",
                RunEvent::StepStarted { .. } => "run",
                _ => return,
            };
            if current == phase {
                desktop.worker.control(Control::StopNow);
            } else {
                desktop.approve_plan(event);
            }
        });
        let outcome = ended.outcome.unwrap();
        assert_eq!(outcome.stop_reason.code, StopCode::OperatorStopped, "{phase}: {outcome:?}");
        assert_eq!(ended.state.phase, LoopPhase::Ended(Box::new(outcome.stop_reason)));
        assert!(!desktop.workspace().join("late.txt").exists());
        let report = desktop.query(Verify).unwrap();
        assert!(report.ok, "{report:?}");
        // The same thread takes the next command.
        let order = desktop.order(&[command("touch a"), command("touch a"), command("touch a")]);
        let ended = desktop.run_loop(order, Desktop::approve_plan);
        assert_eq!(ended.outcome.unwrap().stop_reason.code, StopCode::Completed, "{phase}");
    }
}

#[test]
fn a_class_authorizes_until_revoked() {
    let desktop = desktop();
    let mut order = desktop.order(&[command("exit 3"), command("exit 4"), command("exit 5")]);
    order.class = Some(AuthorizationClass {
        tools: vec!["shell".to_owned()],
        paths: vec![".".to_owned()],
        hosts: Vec::new(),
        max_risk: crate::plan::RiskLevel::Dangerous,
        max_attempts: 3,
        expires_at: "9999-01-01T00:00:00Z".to_owned(),
        needs: Default::default(),
    });
    let mut class = None;
    let mut outside_class = Vec::new();
    let ended = desktop.run_loop(order, |desktop, event| match event {
        RunEvent::LoopStarted { class_id, .. } => class = *class_id,
        RunEvent::AttemptStarted { attempt: 2, .. } => {
            let class_id = class.unwrap();
            for revoked in [true, false] {
                assert_eq!(desktop.query(RevokeClass(class_id)).unwrap(), revoked);
            }
        }
        RunEvent::AuthorizationNeeded { attempt, outside, .. } => {
            outside_class.push((*attempt, outside.clone()));
            desktop.approve_plan(event);
        }
        _ => {}
    });
    let revoked = vec!["the class was revoked".to_owned()];
    assert_eq!(outside_class, [(2, revoked.clone()), (3, revoked)]);
    let outcome = ended.outcome.unwrap();
    assert_eq!(outcome.stop_reason.code, StopCode::RetryBudgetExhausted);
    assert_eq!(ended.proposed.len(), 3, "plans that the class authorizes are shown, too");
    let reasons: Vec<_> =
        ended.state.attempts.iter().map(|it| it.authorized.clone().unwrap().1).collect();
    assert!(reasons[0].contains("inside the authorization class"), "{reasons:?}");
    assert!(reasons[1].contains("in the window"), "{reasons:?}");
}

#[test]
fn a_planner_without_name_records_nothing() {
    let desktop = desktop();
    let mut order = desktop.order(&[]);
    order.planner = "replay:".to_owned();
    let ended = desktop.run_loop(order, |_, event| panic!("{event:?}"));
    assert!(ended.outcome.unwrap_err().message.contains("replay:DIR"));
    let loops = desktop.query(ListLoops(5)).unwrap();
    assert_eq!(loops, []);
}

#[test]
fn a_panicking_loop_leaves_the_worker_usable() {
    let desktop = desktop();
    desktop.faults.plant("worker");
    let order = desktop.order(&[command("true")]);
    let ended = desktop.run_loop(order, Desktop::approve_plan);
    let outcome = ended.outcome.unwrap();
    assert_eq!(outcome.stop_reason.code, StopCode::RunnerInternalError);
    assert!(outcome.stop_reason.message.contains("planted in the worker"), "{outcome:?}");
    assert!(outcome.not_recorded.is_none());
    assert_eq!(outcome.attempts.len(), 1);
    assert_eq!(outcome.attempts[0].planner.status, PlannerStatus::Accepted);
    let loops = desktop.query(ListLoops(5)).unwrap();
    assert_eq!(loops[0].fate, LoopFate::Ended(StopCode::RunnerInternalError));
    let runs = desktop.query(ListRuns(5)).unwrap();
    assert_eq!(runs[0].fate, RunFate::Interrupted, "the run of the attempt");
    let report = desktop.query(Verify).unwrap();
    assert!(report.ok, "{report:?}");
}
