//! Panics of the two threads.

use super::*;

/// After the panic the same thread executes the next run.
#[test]
fn a_panic_interrupts_only_its_run() {
    let desktop = desktop();
    let steps = json!([create("a.txt", false), create("b.txt", false)]);
    let opened = desktop.open(&steps);
    desktop.faults.plant("worker");
    let (message, mut live) = desktop.run_into_panic(desktop.approve(&opened));
    let visible = "planted in the worker: ⟨U+202E⟩desrever";
    assert_eq!(message, visible, "control characters are made visible");
    assert!(desktop.workspace().join("a.txt").exists());
    assert!(!desktop.workspace().join("b.txt").exists(), "no step runs after the panic");

    // The evidence marks the run as interrupted at once, although the process still exists.
    let runs = desktop.query(ListRuns(5)).unwrap();
    assert_eq!(runs.len(), 1);
    assert_eq!(runs[0].fate, RunFate::Interrupted);
    let replayed = desktop.query(ReplayRun(runs[0].run_id)).unwrap();
    let mut recorded = RunState::default();
    replayed.events.iter().for_each(|event| recorded.apply(event));
    live.interrupt();
    recorded.interrupt();
    assert_eq!((recorded.steps.done(), &recorded.phase), (1, &Phase::Interrupted));
    assert_eq!(live.steps, recorded.steps);

    let rest = desktop.query(follow_up(runs[0].run_id, FollowUp::Continue)).unwrap();
    let (result, _) = desktop.run(desktop.approve(&rest), |_, _| {});
    assert_eq!(result.unwrap().status, RunStatus::Completed, "the thread takes another run");
    assert!(desktop.workspace().join("b.txt").exists());
    let report = desktop.query(Verify).unwrap();
    assert!(report.ok, "{report:?}");
}

/// As after a power cut: the step has written its file, and the evidence has its intent alone.
#[test]
fn a_run_that_is_cut_off_has_an_unknown_step() {
    let desktop = desktop();
    let opened = desktop.open(&json!([create("a.txt", false), create("b.txt", false)]));
    let approved = Box::new(desktop.approve(&opened));
    let secret_inputs = SecretInputs::default();
    let command =
        Command::Run { approved, file: None, secret_inputs, call: None, cut_off_in: Some(0) };
    desktop.worker.send(command).unwrap();
    let run_id = loop {
        match desktop.worker.recv().unwrap() {
            Event::Run(_) => {}
            Event::CutOff => break desktop.query(ListRuns(5)).unwrap()[0].run_id,
            other => panic!("{other:?}"),
        }
    };
    assert!(desktop.workspace().join("a.txt").exists());
    assert!(!desktop.workspace().join("b.txt").exists());
    let found = desktop.query(Reconcile(run_id)).unwrap();
    let findings: Vec<_> = found.iter().map(|it| it.finding).collect();
    assert_eq!(findings, [crate::run::DiskState::AsAfter]);
    assert!(desktop.query(Verify).unwrap().ok);
    // The thread takes the next run, which is not cut off.
    let back = FollowUp::Settle(SettleMode::RollBack);
    let back = desktop.query(follow_up(run_id, back)).unwrap();
    let (result, _) = desktop.run(desktop.approve(&back), |worker, request| {
        assert!(worker.answer(request.run_id, request.step_index, answer(Decision::Approve)));
    });
    assert_eq!(result.unwrap().status, RunStatus::Completed);
    assert!(!desktop.workspace().join("a.txt").exists());
}

/// The executor thread calls `wake`, so that a panic there can interrupt a pending confirmation.
#[test]
fn a_panic_during_a_question_decides_nothing() {
    let mut desktop = desktop();
    let setup = Setup {
        location: EvidenceLocation::new(
            desktop.temp.path().join("evidence"),
            desktop.temp.path().join("secrets"),
        ),
        policy: Policy::default(),
        inbox: desktop.temp.path().join("inbox"),
        faults: Faults::default(),
    };
    // The run sends three events: its start, the start of the step, and the confirmation.
    let left = std::sync::atomic::AtomicIsize::new(3);
    let wake: Wake = Arc::new(move || {
        let before = left.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
        assert_ne!(before, 1, "during a confirmation");
    });
    desktop.worker = Worker::start(setup, wake).unwrap();
    let opened = desktop.open(&json!([create("a.txt", true)]));
    let (message, state) = desktop.run_into_panic(desktop.approve(&opened));
    assert!(message.contains("during a confirmation"), "{message}");
    let Phase::AwaitingConfirmation(request) = &state.phase else { panic!("{:?}", state.phase) };
    let approval = answer(Decision::Approve);
    assert!(!desktop.worker.answer(request.run_id, request.step_index, approval));
    assert!(!desktop.workspace().join("a.txt").exists());
    let (result, _) = desktop.run(desktop.approve(&opened), |worker, request| {
        assert!(worker.answer(request.run_id, request.step_index, answer(Decision::Approve)));
    });
    assert_eq!(result.unwrap().status, RunStatus::Completed);
}

#[test]
fn a_panicking_query_answers_only_itself() {
    let desktop = desktop();
    let opened = desktop.open(&json!([create("a.txt", false)]));
    let (result, _) = desktop.run(desktop.approve(&opened), |_, _| {});
    assert_eq!(result.unwrap().status, RunStatus::Completed);
    let search = || Search(Default::default());
    desktop.faults.plant("query");
    let Err(QueryError::Panicked(message)) = desktop.query(search()) else { panic!("no panic") };
    assert_eq!(message, "planted in the query: ⟨U+202E⟩desrever");
    let page = desktop.query(search()).unwrap();
    assert_eq!(page.unwrap().counts.total, 1, "the next query opens the evidence again");
}
