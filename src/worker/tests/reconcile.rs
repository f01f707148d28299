//! An interrupted run is compared with the disk, and its steps are settled.

use super::*;

/// The findings are recorded. A follow-up plan restores the file's state before the step, or completes the step.
#[test]
fn an_interrupted_step_is_reconciled_and_settled() {
    use crate::evidence::{Entry, EvidenceStore, IntentRecord, RunStart};
    use crate::run::{DiskState, FileEffect};
    use crate::tools::Toolbox;

    let desktop = desktop();
    let file = desktop.workspace().join("a.txt");
    std::fs::write(&file, "old\n").unwrap();
    let write = json!({"tool": "file_write", "arguments": {"path": "a.txt", "contents": "new\n"}});
    let opened = desktop.open(&json!([write]));
    let ApprovedPlan { plan, authorization } = desktop.approve(&opened);
    let evidence = desktop.temp.path().join("evidence");
    let mut store = EvidenceStore::open(&evidence, desktop.temp.path().join("secrets")).unwrap();
    let (run_id, execution_id) = (Uuid::new_v4(), Uuid::new_v4());
    let (authorization, started_at_ms) = (&authorization, 1_000);
    let secret_inputs = crate::authorization::SecretInputs::none();
    let start = RunStart {
        fleet: None,
        run_id,
        plan: &plan,
        secret_inputs,
        authorization,
        reached: None,
        started_at_ms,
    };
    store.commit(&Entry::RunStart(start)).unwrap();
    let step = &plan.steps[0];
    let toolbox = Toolbox::open(&desktop.workspace(), &Policy::default()).unwrap();
    let files: Vec<FileEffect> =
        toolbox.preview_with_effects(&step.call, &crate::run::StopSignal::default()).unwrap().1;
    let intent = IntentRecord {
        execution_id,
        run_id,
        step,
        risk: &opened.review.as_ref().unwrap().risks[0],
        timestamp_ms: 1_000,
        host: None,
        walls: None,
        files: &files,
        decision: None,
    };
    store.commit(&Entry::Intent(intent)).unwrap();
    let active = failure(desktop.query(Reconcile(run_id)));
    assert!(active.message.contains("under way"), "{active:?}");

    drop(store);
    let states = [
        (Some("old\n"), DiskState::AsBefore),
        (Some("new\n"), DiskState::AsAfter),
        (Some("mine\n"), DiskState::Neither),
        (None, DiskState::Absent),
    ];
    for (contents, finding) in states {
        match contents {
            Some(contents) => std::fs::write(&file, contents).unwrap(),
            None => std::fs::remove_file(&file).unwrap(),
        }
        let found = desktop.query(Reconcile(run_id)).unwrap();
        assert_eq!(found.iter().map(|found| found.finding).collect::<Vec<_>>(), [finding]);
        let unchanged = std::fs::read_to_string(&file).ok();
        assert_eq!(contents, unchanged.as_deref(), "a comparison changes nothing");
        let (detail, _) = desktop.query(ReadExecution(execution_id)).unwrap();
        let last = detail.decisions.last().unwrap();
        assert_eq!((&*last.decision, &last.note), ("reconcile", &found[0].sentence()));
    }
    let leftover = format!(".countersign-{execution_id}");
    std::fs::write(desktop.workspace().join(&leftover), "ne").unwrap();
    let found = desktop.query(Reconcile(run_id)).unwrap();
    assert_eq!(found[0].leftover.as_ref(), Some(&leftover));
    assert!(found[0].sentence().ends_with(&format!("{leftover}, which can be deleted")));
    assert!(desktop.workspace().join(&leftover).exists(), "a comparison deletes nothing");
    let report = desktop.query(Verify).unwrap();
    assert!(report.ok, "{report:?}");
    // The recorded finding is neither a decision about the step nor its outcome, so it adds no event.
    let replayed = desktop.query(ReplayRun(run_id)).unwrap();
    assert_eq!(replayed.events.len(), 2, "{:?}", replayed.events);

    // The follow-up plan is opened, authorized, confirmed if it deletes a file, and run like any other plan.
    for (before, way, after) in
        [("new\n", SettleMode::RollBack, "old\n"), ("old\n", SettleMode::Finish, "new\n")]
    {
        std::fs::write(&file, before).unwrap();
        std::fs::write(desktop.workspace().join(&leftover), "ne").unwrap();
        let settle = || follow_up(run_id, FollowUp::Settle(way));
        let offered = desktop.query(settle()).unwrap();
        assert_eq!(before, std::fs::read_to_string(&file).unwrap(), "opening changes nothing");
        assert_eq!(offered.continues, None);
        let (result, _) = desktop.run(desktop.approve(&offered), |worker, request| {
            assert!(worker.answer(request.run_id, request.step_index, answer(Decision::Approve)));
        });
        assert_eq!(result.unwrap().status, RunStatus::Completed);
        assert_eq!(after, std::fs::read_to_string(&file).unwrap());
        assert!(!desktop.workspace().join(&leftover).exists());
        let again = failure(desktop.query(settle()));
        assert!(
            again.message.contains("every file already has the content that it would get"),
            "{again:?}"
        );
    }
    std::fs::write(&file, "mine\n").unwrap();
    let refused = failure(desktop.query(follow_up(run_id, FollowUp::Settle(SettleMode::Finish))));
    assert!(refused.message.contains("something else changed it"), "{refused:?}");
}
