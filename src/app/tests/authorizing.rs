//! Giving, refusing and losing an authorization.

use super::*;

/// The notice names the bad rule, and no plan can be authorized.
#[test]
fn a_bad_rule_prevents_authorization() {
    let mut bench = Bench::with_settings(
        "[[policy.command_rules]]\nid = \"mine\"\nprefix = [\"make\"]\nlevel = \"blocked\"\n\
         reason = \"no\"\nmust_match = [\"cargo build\"]\nmust_not_match = []\n",
    );
    assert!(bench.app.shared.notices.iter().any(|notice| notice.details.contains("\"mine\"")));
    bench.file("a.txt", "bittern\n");
    let plan = bench.file("plan.json", PLAN);
    bench.open(&plan);
    assert!(bench.app.situation().not_authorizable.is_some());
    let named = |finding: &crate::plan::Finding| {
        finding.code.as_str() == "E002" && finding.message.contains("\"mine\"")
    };
    assert!(
        bench.session().opened.findings.iter().any(named),
        "{:?}",
        bench.session().opened.findings
    );
    bench.act(Action::Do(Command::Authorize));
    assert!(bench.app.view().dialog.is_none(), "nothing can be authorized");
}

/// The notice names the file that changed.
#[test]
fn a_change_on_disk_voids_the_approval() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.authorize();
    bench.file("a.txt", "changed by another program\n");
    bench.app.plan.review_again(false, &mut bench.app.shared);
    bench.wait_until("a void approval", |app| {
        matches!(app.plan.shown.as_ref().unwrap().approval, Approval::Void(_))
    });
    let Approval::Void(changes) = &bench.session().approval else { panic!("not void") };
    assert_eq!(changes.iter().map(|c| c.what.as_str()).collect::<Vec<_>>(), ["file a.txt"]);
    assert!(bench.app.shared.notices.iter().any(|notice| notice.summary.contains("file a.txt")));
    assert!(!bench.app.situation().approved);
    bench.act(Action::Do(Command::Run));
    assert!(!bench.app.situation().running, "a void approval starts no run");
}

#[test]
fn the_question_shows_the_latest_review() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    let inputs = |bench: &Bench| match bench.app.view().dialog.unwrap().question {
        Question::Authorize(view) => Arc::clone(&view.inputs),
        question => panic!("{question:?}"),
    };
    bench.act(Action::Do(Command::Authorize));
    let before = inputs(&bench);
    assert!(Arc::ptr_eq(&before, &inputs(&bench)), "the list is computed once, not in each frame");
    bench.act(Action::Dialog(DialogAction::LeaveUndecided));
    let binding = bench.session().opened.review.as_ref().unwrap().binding.clone();
    bench.file("a.txt", "changed by another program\n");
    bench.app.plan.review_again(false, &mut bench.app.shared);
    bench.wait_until("another review", |app| {
        app.plan.shown.as_ref().unwrap().opened.review.as_ref().unwrap().binding != binding
    });
    bench.act(Action::Do(Command::Authorize));
    assert_ne!(inputs(&bench), before);
}

/// The notice is shown when the run ends.
#[test]
fn a_change_during_the_run_is_reported() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(1);
    std::fs::write(&plan, PLAN.replace("heron", "egret")).unwrap();
    bench.act(Action::Do(Command::StopNow));
    bench.wait_until("a notice", |app| {
        app.shared.notices.iter().any(|notice| notice.summary.contains("changed since its run"))
    });
}

/// The plan file changes while the run waits for a confirmation. The approved steps are executed.
#[test]
fn the_approved_bytes_run_despite_a_change() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.authorize();
    let approved = bench.session().opened.digest;
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(1);
    let changed = PLAN.replace("heron", "egret").replace("b.txt", "c.txt");
    std::fs::write(&plan, &changed).unwrap();
    let ctx = bench.ctx.clone();
    bench.app.run_timers(&ctx);
    assert_eq!(bench.session().opened.digest, approved, "the page still shows the plan that runs");
    bench.answer(1, Decision::Approve);
    bench.wait_for_confirmation(2);
    bench.answer(2, Decision::Approve);
    bench.wait_until("a notice", |app| {
        app.shared.notices.iter().any(|notice| notice.summary.contains("changed since its run"))
    });
    let folder = plan.parent().unwrap();
    assert_eq!(std::fs::read_to_string(folder.join("b.txt")).unwrap(), "heron\n");
    assert!(!folder.join("c.txt").exists());
    assert_eq!(
        bench.session().opened.digest,
        Digest::of(changed.as_bytes()),
        "the page shows the new file after the run"
    );
    assert!(!bench.app.situation().approved, "the new file is not approved");
    bench.wait_until("the runs", |app| app.plan.runs.iter().any(|run| run.plan_digest == approved));
}

#[test]
fn an_approval_runs_out() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.authorize();
    let session = bench.app.plan.shown.as_mut().unwrap();
    let authorization = session.authorization.clone().unwrap();
    let decided_at_ms = authorization.decided_at_ms;
    let (until_ms, given) = (authorization.expires_at_ms, authorization.given_since_boot.unwrap());
    assert_eq!(session.expire(until_ms - 1, &given), Some(1));
    // Setting the wall clock back does not extend the approval.
    let ttl_ms = until_ms - decided_at_ms;
    let later = |ms| SinceBoot { ms: given.ms + ms, ..given.clone() };
    assert_eq!(session.expire(decided_at_ms, &later(ttl_ms - 2)), Some(2));
    assert_eq!(session.expire(decided_at_ms, &later(ttl_ms)), None);
    assert_eq!(session.approval, Approval::Expired);
    bench.act(Action::Do(Command::Run));
    assert!(!bench.app.situation().running);
}

#[test]
fn a_rejection_is_kept_with_its_reason() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.act(Action::Do(Command::Reject));
    let digest = bench.session().opened.digest;
    let reason = "It writes too much.".to_owned();
    bench.act(Action::Dialog(DialogAction::Reject {
        digest,
        reason: reason.clone(),
        replan: false,
    }));
    bench.wait_until("rejected", |app| {
        app.plan.shown.as_ref().unwrap().approval == Approval::Rejected(reason.clone())
    });
}

#[test]
fn a_rejection_is_shown_when_the_plan_is_opened_again() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    let digest = bench.session().opened.digest;
    bench.act(Action::Do(Command::Reject));
    let reason = "It writes too much.".to_owned();
    bench.act(Action::Dialog(DialogAction::Reject { digest, reason, replan: false }));
    bench.wait_until("rejected", |app| {
        matches!(app.plan.shown.as_ref().unwrap().approval, Approval::Rejected(_))
    });
    let is_listed_as_rejected =
        |bench: &Bench| bench.app.plan.recent.iter().map(|it| it.rejected).collect::<Vec<_>>();
    assert_eq!(is_listed_as_rejected(&bench), [true]);
    let other = bench.file("other.json", &PLAN.replace("b.txt", "c.txt"));
    bench.open(&other);
    let bar = |bench: &Bench| {
        crate::ui::plan::bar(&bench.app.view().plan.unwrap(), &bench.app.situation())
    };
    assert_eq!(bar(&bench).title, "Not authorized");
    bench.open(&plan);
    let shown = bar(&bench);
    assert!(shown.title.starts_with("Rejected "), "{shown:?}");
    assert_eq!(shown.detail, "It writes too much.");
    assert!(shown.more.contains("in the window"), "{shown:?}");
    assert_eq!(shown.others, [Command::Authorize]);

    let question = crate::run::Question::Rejected { words: "too much".into() };
    bench.act(Action::Evidence(EvidenceAction::RunQuery(question)));
    bench.wait_until("the rejection", |app| {
        app.evidence.answer.as_ref().is_some_and(|answer| answer.len() == 1)
    });
    bench.open(&other);
    bench.act(Action::Plan(PlanAction::OpenRejected(digest)));
    bench.wait_until("opened from its rejection", |app| {
        app.plan.shown.as_ref().unwrap().opened.digest == digest
    });
    let unknown = crate::plan::Digest::of(b"gone");
    bench.act(Action::Plan(PlanAction::OpenRejected(unknown)));
    assert!(bench.app.shared.notices.iter().any(|it| it.summary.contains("no longer has")));
    bench.authorize();
    assert_eq!(is_listed_as_rejected(&bench), [false, false]);
    bench.open(&other);
    bench.open(&plan);
    assert!(bar(&bench).title.starts_with("Authorized "), "the authorization is later and counts");
}

/// The digest in the answer differs from that of the plan on the page.
#[test]
fn an_answer_to_another_plan_is_ignored() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.act(Action::Do(Command::Authorize));
    let other = crate::plan::Digest::of(b"another plan");
    bench.act(Action::Dialog(DialogAction::Authorize(other)));
    assert_eq!(bench.session().approval, Approval::None);
}

/// A faulty plan cannot be authorized, but that it must not run can be recorded.
#[test]
fn a_faulty_plan_is_rejected() {
    let mut bench = Bench::new();
    let text = PLAN.replace("file_read", "file_reed");
    let plan = bench.file("faulty.json", &text);
    bench.open(&plan);
    let situation = bench.app.situation();
    assert_eq!(situation.not_authorizable, Some("Correct the errors listed above."));
    assert_eq!(situation.not_rejectable, None);
    let digest = bench.session().opened.digest;
    bench.act(Action::Do(Command::Reject));
    let reason = "no such tool".to_owned();
    bench.act(Action::Dialog(DialogAction::Reject {
        digest,
        reason: reason.clone(),
        replan: false,
    }));
    bench.wait_until("rejected", |app| {
        app.plan.shown.as_ref().unwrap().approval == Approval::Rejected(reason.clone())
    });
    let bar = crate::ui::plan::bar(&bench.app.view().plan.unwrap(), &bench.app.situation());
    assert_eq!((bar.title.as_str(), bar.primary), ("Rejected", None));
    // An answer that was prepared earlier authorizes nothing.
    bench.act(Action::Do(Command::Reject));
    bench.act(Action::Dialog(DialogAction::Authorize(digest)));
    assert!(!matches!(bench.session().approval, Approval::Approved { .. }));
}

/// Looking at another plan meanwhile does not end it, but every change does.
#[test]
fn an_unused_authorization_returns_with_its_plan() {
    let (mut bench, plan) = bench();
    let other = bench.file("other.json", PLAN);
    bench.open(&plan);
    bench.authorize();
    let given = bench.session().authorization.clone().unwrap();
    bench.open(&other);
    assert_eq!(bench.session().approval, Approval::None, "it is that of one plan file");
    bench.open(&plan);
    assert!(matches!(bench.session().approval, Approval::Approved { .. }));
    assert_eq!(bench.session().authorization.as_ref(), Some(&given));
    bench.open(&other);
    bench.file("a.txt", "changed by another program\n");
    bench.open(&plan);
    let Approval::Void(changes) = &bench.session().approval else { panic!("not void") };
    assert_eq!(changes.iter().map(|c| c.what.as_str()).collect::<Vec<_>>(), ["file a.txt"]);
    assert!(bench.session().authorization.is_none());
    bench.act(Action::Do(Command::Run));
    assert!(!bench.app.situation().running);
    bench.open(&other);
    bench.open(&plan);
    assert_eq!(bench.session().approval, Approval::None, "a void one does not return");
}

/// The steps may be other ones, which nobody has seen.
#[test]
fn an_unused_authorization_does_not_return_to_a_changed_plan_file() {
    let (mut bench, plan) = bench();
    let other = bench.file("other.json", PLAN);
    bench.open(&plan);
    bench.authorize();
    bench.open(&other);
    let text = std::fs::read_to_string(&plan).unwrap();
    std::fs::write(&plan, text.replace("kingfisher", "heron")).unwrap();
    bench.open(&plan);
    let Approval::Void(changes) = &bench.session().approval else { panic!("not void") };
    assert_eq!(changes.iter().map(|c| c.what.as_str()).collect::<Vec<_>>(), ["plan bytes"]);
    assert!(bench.session().authorization.is_none());
}

#[test]
fn an_authorization_expires_while_another_plan_is_shown() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.authorize();
    let given = bench.session().authorization.clone().unwrap();
    let since_boot = given.given_since_boot.clone().unwrap();
    let session = bench.app.plan.shown.as_mut().unwrap();
    for (now_ms, approval) in [
        (given.expires_at_ms, Approval::Expired),
        (
            given.expires_at_ms - 1,
            Approval::Approved { at_ms: given.decided_at_ms, until_ms: given.expires_at_ms },
        ),
    ] {
        (session.approval, session.authorization) = (Approval::None, None);
        session.restore(given.clone(), now_ms, &since_boot);
        assert_eq!(session.approval, approval);
        assert_eq!(session.authorization.is_some(), approval != Approval::Expired);
    }
}
