//! Plans of others in the inbox: what is listed, opened, decided about and removed.

use super::*;
use crate::app::attention::Waits;
use crate::risk::{Policy, RiskLevel, UserRule, UserRules};
use crate::run::InboxEntry;
use crate::ui::action::InboxAction;
use crate::worker::inbox::{Handle, InboxFolder, Proposal, propose};

impl Bench {
    fn propose(&self, text: &str) -> Handle {
        let folder = InboxFolder::open(&self.folders.inbox).unwrap();
        let proposal = Proposal {
            folder: None,
            bytes: text.as_bytes().to_vec(),
            name: "p.json".to_owned(),
            workspace: self.workspace.path().to_owned(),
            from: "an agent".to_owned(),
            at_ms: now().ms,
            asked_until_ms: None,
        };
        propose(&folder, &proposal, &Policy::default()).unwrap()
    }

    fn entry(&self, index: usize) -> InboxEntry {
        self.app.view().sidebar.inbox.list.entries[index].clone()
    }

    fn wait_for_waiting(&mut self, count: usize) {
        self.wait_until(&format!("{count} waiting plans"), |app| app.inbox.waiting() == count);
    }
}

#[test]
fn a_proposal_is_opened_in_its_workspace_and_waits_until_it_is_decided() {
    let (mut bench, _) = bench();
    let handle = bench.propose(PLAN);
    bench.wait_for_waiting(1);
    assert_eq!(bench.app.waiting(), [Waits::Inbox]);
    assert_eq!(bench.app.view().status.text, "1 plan waits in the inbox");
    assert_eq!(bench.app.situation().inbox_waiting, 1);
    bench.act(Action::Do(Command::OpenWaiting));
    let path = bench.entry(0).path;
    bench.wait_until("opened", |app| {
        app.plan.shown.as_ref().is_some_and(|session| session.path() == Some(&*path))
    });
    let view = bench.app.view().plan.unwrap();
    assert_eq!((view.in_inbox, view.proposed_by), (true, Some("an agent")));
    assert_eq!(view.proposed_name, Some("p.json"));
    let workspace = bench.workspace.path().canonicalize().unwrap();
    assert_eq!(view.review.unwrap().workspace, workspace);
    assert_eq!(bench.app.waiting(), [Waits::Inbox], "looking is no decision");
    bench.authorize();
    bench.wait_for_waiting(0);
    assert_eq!(bench.app.waiting(), []);
    assert_eq!(bench.entry(0).id, handle.id, "it is still listed");
    assert!(!bench.app.situation().inbox_decided, "it is still to run");
    bench.act(Action::Do(Command::RemoveDecided));
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(1);
    bench.act(Action::Do(Command::RemoveFromInbox));
    assert!(bench.app.shared.notices.last().unwrap().summary.contains("queued or under way"));
    bench.answer(1, Decision::Cancel);
    bench.wait_for_end();
    assert!(bench.app.situation().inbox_decided);

    // The same plan again is another proposal.
    bench.propose(PLAN);
    bench.wait_for_waiting(1);
    bench.act(Action::Do(Command::RemoveDecided));
    bench.wait_until("removed", |app| app.view().sidebar.inbox.list.entries.len() == 1);
    assert!(bench.folders.inbox.join("removed").join(&handle.id).join("plan").exists());
    bench.wait_for_waiting(1);
    let session = |app: &App| app.plan.shown.as_ref().map(|it| it.approval.clone());
    bench.wait_until("the record of its run", |app| session(app) == Some(Approval::Recorded));
}

#[test]
fn a_file_that_was_put_there_needs_a_workspace_first() {
    let (mut bench, plan) = bench();
    InboxFolder::open(&bench.folders.inbox).unwrap();
    std::fs::copy(&plan, bench.folders.inbox.join("p.json")).unwrap();
    bench.wait_for_waiting(1);
    let path = bench.entry(0).path;
    bench.open(&path);
    let why = bench.app.situation().not_authorizable.unwrap();
    assert_eq!(why, "Choose the workspace of the plan first.");
    let view = bench.app.view().plan.unwrap();
    assert!(view.plan.is_some() && view.review.is_none() && view.in_inbox);
    let [finding] = view.findings else { panic!("{:?}", view.findings) };
    assert!(finding.message.contains("has no workspace"), "{}", finding.message);
    bench.act(Action::Do(Command::Authorize));
    assert!(bench.app.view().dialog.is_none());

    // The inbox itself is none.
    let choose = |bench: &mut Bench, folder: PathBuf| {
        let Bench { app, .. } = bench;
        let purpose = crate::ui::action::PlanFolder::Workspace;
        app.plan.choose_folder(&path, folder, purpose, &mut app.shared);
    };
    let inbox = bench.folders.inbox.clone();
    choose(&mut bench, inbox);
    bench.wait_until("refused", |app| {
        let findings = &app.plan.shown.as_ref().unwrap().opened.findings;
        findings.iter().any(|it| it.message.contains("cannot be the workspace"))
    });
    assert!(bench.app.situation().not_authorizable.is_some());
    let workspace = bench.workspace.path().canonicalize().unwrap();
    choose(&mut bench, workspace.clone());
    bench.wait_until("a review", |app| app.plan.review().is_some());
    assert_eq!(bench.app.plan.review().unwrap().workspace, workspace);
    bench.authorize();
    bench.wait_for_waiting(0);
}

#[test]
fn a_removed_plan_is_moved_and_closed() {
    let (mut bench, _) = bench();
    let handle = bench.propose(PLAN);
    bench.wait_for_waiting(1);
    bench.act(Action::Do(Command::OpenWaiting));
    bench.wait_until("opened", |app| app.situation().in_inbox);
    let remove = InboxAction::Remove("absent-0".to_owned());
    bench.act(Action::Plan(PlanAction::Inbox(remove)));
    bench.wait_until("a notice", |app| !app.shared.notices.is_empty());
    assert_eq!(bench.app.inbox.waiting(), 1);
    bench.act(Action::Do(Command::RemoveFromInbox));
    bench.wait_for_waiting(0);
    bench.wait_until("closed", |app| app.plan.shown.is_none());
    assert!(bench.folders.inbox.join("removed").join(handle.id).join("plan").exists());
    assert_eq!(bench.app.plan.recent, []);
}

#[test]
fn a_folder_that_is_not_private_is_told() {
    use std::os::unix::fs::PermissionsExt as _;
    let (mut bench, _) = bench();
    InboxFolder::open(&bench.folders.inbox).unwrap();
    let mode = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(&bench.folders.inbox, mode).unwrap();
    bench.app.inbox.refresh();
    bench.wait_until("the fault", |app| app.view().sidebar.inbox.list.fault.is_some());
    let fault = bench.app.view().sidebar.inbox.list.fault.clone().unwrap();
    assert!(fault.next.contains("chmod go-w"), "{fault:?}");
}

/// Whatever arrives meanwhile: nothing is lost, each file is read once, and the run and its question stay as they are.
#[test]
fn a_thousand_files_arrive_while_a_run_waits() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(1);
    InboxFolder::open(&bench.folders.inbox).unwrap();
    for number in 0..1_000 {
        let text = PLAN.replace("Two writes", &format!("Plan {number}"));
        let (part, whole) = (format!("{number}.json.part"), format!("{number}.json"));
        std::fs::write(bench.folders.inbox.join(&part), text).unwrap();
        std::fs::rename(bench.folders.inbox.join(part), bench.folders.inbox.join(whole)).unwrap();
    }
    bench.wait_for_waiting(1_000);
    let titles: std::collections::BTreeSet<_> = {
        let entries = &bench.app.view().sidebar.inbox.list.entries;
        entries.iter().filter_map(|entry| entry.plan.as_ref()?.title.clone()).collect()
    };
    assert_eq!(titles.len(), 1_000);
    assert_eq!(bench.app.waiting().len(), 1_001);
    assert!(bench.session().request().is_some(), "the question stays");
    bench.answer(1, Decision::Approve);
    bench.wait_for_confirmation(2);
    bench.answer(2, Decision::Approve);
    bench.wait_for_end();
    assert_eq!(bench.session().run.phase, Phase::Ended(RunStatus::Completed));
    assert_eq!(bench.app.inbox.waiting(), 1_000, "another plan of the same form was run");
}

#[test]
fn what_waits_is_judged_by_the_rules_of_now() {
    let (mut bench, _) = bench();
    bench.propose(r#"{"goal": "g", "steps": [{"command": "make deploy"}]}"#);
    bench.wait_for_waiting(1);
    assert_ne!(bench.entry(0).plan.unwrap().worst, Some(RiskLevel::Blocked));
    let rule = UserRule {
        id: "no-deploy".to_owned(),
        prefix: vec!["make".to_owned(), "deploy".to_owned()],
        level: RiskLevel::Blocked,
        reason: "because".to_owned(),
        must_match: vec!["make deploy".to_owned()],
        must_not_match: Vec::new(),
    };
    let command_rules = UserRules::new(vec![rule]).unwrap();
    let policy = Policy { command_rules, ..bench.app.shared.setup.policy.clone() };
    assert!(bench.app.use_policy(&policy));
    bench.wait_until("the new level", |app| {
        let entries = &app.view().sidebar.inbox.list.entries;
        entries[0].plan.as_ref().unwrap().worst == Some(RiskLevel::Blocked)
    });
}
