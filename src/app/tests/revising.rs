//! Changes of a plan before it is decided about.

use std::collections::BTreeSet;

use super::*;
use crate::risk::Policy;
use crate::run::{Diff, DiffLine, LineKind};
use crate::ui::action::RevisionAction;
use crate::ui::plan::ArgumentEdit;
use crate::worker::inbox::{InboxFolder, Proposal, propose};

impl Bench {
    fn revise(&mut self, action: RevisionAction) {
        self.act(Action::Plan(PlanAction::Revise(action)));
    }

    /// Waits until a change of the plan was made or refused.
    fn wait_for_revision(&mut self, of: Digest) {
        self.wait_until("a revision", |app| {
            let session = app.plan.shown.as_ref().unwrap();
            !session.revising.is_applying && session.opened.digest != of
        });
    }

    fn digest(&self) -> Digest {
        self.session().opened.digest
    }

    /// Opens the editor for an argument and types into it.
    fn type_argument(&mut self, step: usize, name: &str, text: &str) {
        self.revise(RevisionAction::Edit(step, name.to_owned()));
        self.wait_until("the editor", |app| {
            app.plan.shown.as_ref().unwrap().revising.edit.is_some()
        });
        self.revise(RevisionAction::Type(text.to_owned()));
    }

    fn set_argument(&mut self, step: usize, name: &str, text: &str) {
        let of = self.digest();
        self.type_argument(step, name, text);
        self.revise(RevisionAction::ApplyEdit);
        self.wait_for_revision(of);
    }

    fn leave_out(&mut self, step: usize) {
        let of = self.digest();
        self.revise(RevisionAction::LeaveOut(BTreeSet::from([step])));
        self.wait_for_revision(of);
    }

    fn why_not(&self) -> Option<&'static str> {
        self.app.situation().not_revisable
    }

    fn bytes(&self) -> String {
        String::from_utf8(self.session().opened.plan.as_ref().unwrap().source.to_vec()).unwrap()
    }

    fn wait_for_preview(&mut self, step: usize) {
        self.act(Action::Plan(PlanAction::SelectStep(step)));
        self.wait_until("a preview", |app| {
            app.plan.shown.as_ref().unwrap().pane.previews.get(&step).is_some()
        });
    }
}

#[test]
fn an_edited_argument_makes_a_revision_that_can_be_undone() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    let file = bench.digest();
    bench.set_argument(1, "contents", "osprey\n");
    assert_eq!(bench.bytes(), PLAN.replace("kingfisher\\n", "osprey\\n"));
    let session = bench.session();
    assert!(session.path().unwrap().starts_with(&bench.folders.evidence));
    assert_eq!(session.opened.base(), plan);
    assert_eq!(session.revising.edit, None);
    let review = session.opened.review.as_ref().unwrap();
    assert_eq!(review.workspace, plan.parent().unwrap(), "the workspace of the file stays");
    let view = bench.app.view().plan.unwrap();
    let parts = view.revision.revised.unwrap().parts;
    assert_eq!(parts.len(), 1);
    assert_eq!(std::fs::read_to_string(&plan).unwrap(), PLAN, "the file stays");
    assert_eq!(bench.app.plan.open_plans().len(), 1, "it takes the place of the file");

    bench.set_argument(2, "path", "c.txt");
    assert_eq!(bench.session().opened.revised.as_ref().unwrap().parts.len(), 2);
    let of = bench.digest();
    bench.revise(RevisionAction::Undo(1, Some("contents".to_owned())));
    bench.wait_for_revision(of);
    assert_eq!(bench.bytes(), PLAN.replace("b.txt", "c.txt"));
    let of = bench.digest();
    let listed = |bench: &Bench| -> Vec<PathBuf> {
        bench.app.plan.recent.iter().map(|it| it.path.clone()).collect()
    };
    let revision = bench.session().path().unwrap().to_owned();
    assert_eq!(listed(&bench), [revision, plan.clone()]);
    let detail = &bench.app.plan.recent[0].detail;
    assert!(detail.starts_with("revised by you · "), "{detail}");
    bench.act(Action::Do(Command::DiscardRevision));
    bench.wait_for_revision(of);
    assert_eq!(
        listed(&bench),
        std::slice::from_ref(&plan),
        "what was taken back is no plan any more"
    );
    assert_eq!((bench.digest(), bench.session().path()), (file, Some(&*plan)));
    assert!(bench.session().opened.revised.is_none());
}

#[test]
fn a_revision_is_authorized_run_and_recorded_as_one() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    let base = bench.digest();
    bench.leave_out(2);
    bench.set_argument(1, "contents", "osprey\n");
    let revised = bench.digest();
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(1);
    assert_eq!(bench.why_not(), Some("Its run is under way."));
    bench.answer(1, Decision::Approve);
    bench.wait_for_end();
    let folder = plan.parent().unwrap();
    assert_eq!(std::fs::read_to_string(folder.join("a.txt")).unwrap(), "osprey\n");
    assert!(!folder.join("b.txt").exists(), "the step was left out");
    let run_id = bench.session().run.run_id.unwrap();
    let mut reader = bench.app.shared.setup.location.open().unwrap();
    let recorded = reader.revision_of(run_id).unwrap().unwrap();
    assert_eq!((recorded.base_digest, recorded.changes.len()), (base, 2));
    assert!(recorded.difference.unwrap().contains("+     \"arguments\": {\"path\": \"a.txt\""));
    assert!(reader.stored_content(&base).is_ok_and(|it| matches!(
        it,
        crate::evidence::StoredContent::Content(bytes) if bytes == PLAN.as_bytes()
    )));
    assert!(crate::evidence::verify(&bench.folders.evidence, None).unwrap().ok);

    bench.app.plan.shown = None;
    bench.act(Action::Plan(PlanAction::OpenRun(run_id)));
    bench.wait_until("the replay", |app| app.plan.shown.is_some());
    let decisions = &bench.session().recorded.as_ref().unwrap().decisions;
    let sentences: Vec<_> = decisions.iter().map(|it| it.sentence()).collect();
    assert!(sentences[0].starts_with("Revised in the window"), "{sentences:?}");
    assert!(decisions[0].note.contains("two): file_write left out"), "{}", decisions[0].note);
    assert!(bench.why_not().unwrap().contains("from the records"));
    assert!(!bench.app.view().plan.unwrap().revision.is_offered);
    assert_ne!(revised, base);
}

#[test]
fn a_revision_ends_an_authorization() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.authorize();
    bench.set_argument(2, "path", "c.txt");
    assert!(matches!(bench.session().approval, Approval::Void(_)));
    assert!(!bench.app.situation().approved);
    let notice = bench.app.shared.notices.last().unwrap();
    assert_eq!(notice.summary, "The authorization is void: you revised the plan.");
    bench.open(&plan);
    assert_eq!(bench.session().approval, Approval::None, "nor does it count for the file");
}

#[test]
fn steps_that_need_a_left_out_one_go_with_it_and_are_named() {
    let mut bench = Bench::new();
    let text = PLAN.replace(
        "\"step_id\": \"two\"",
        "\"step_id\": \"two\", \"precondition\": \"one succeeded\"",
    );
    let plan = bench.file("plan.json", &text);
    bench.open(&plan);
    bench.act(Action::Plan(PlanAction::SelectStep(1)));
    let of = bench.digest();
    bench.act(Action::Do(Command::LeaveOutStep));
    bench.wait_for_revision(of);
    let steps = &bench.session().opened.plan.as_ref().unwrap().steps;
    assert_eq!(steps.len(), 1);
    let notice = bench.app.shared.notices.last().unwrap();
    assert!(notice.details.contains("two is left out, too: it needs one."), "{notice:?}");

    bench.revise(RevisionAction::LeaveOut(BTreeSet::from([0])));
    bench.wait_until("the refusal", |app| {
        app.shared.notices.last().is_some_and(|it| it.details.contains("every step"))
    });
    assert_eq!(bench.session().opened.plan.as_ref().unwrap().steps.len(), 1);
}

#[test]
fn marked_steps_are_left_out_together() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    for step in [0, 2] {
        bench.act(Action::Plan(PlanAction::SelectStep(step)));
        bench.act(Action::Do(Command::MarkStep));
    }
    let of = bench.digest();
    bench.act(Action::Do(Command::LeaveOutStep));
    bench.wait_for_revision(of);
    let steps = &bench.session().opened.plan.as_ref().unwrap().steps;
    assert_eq!(steps.iter().map(|it| &*it.step_id).collect::<Vec<_>>(), ["one"]);
    assert!(bench.session().revising.marked.is_empty());
}

#[test]
fn only_the_ticked_lines_are_changed() {
    let mut bench = Bench::new();
    bench.file("a.txt", "one\ntwo\nthree\n");
    let text = PLAN.replace("kingfisher\\n", "ONE\\ntwo\\nTHREE");
    let plan = bench.file("plan.json", &text);
    bench.open(&plan);
    assert!(bench.app.situation().no_lines.is_some(), "the first step only reads");
    bench.wait_for_preview(1);
    assert_eq!(bench.app.situation().no_lines, None);
    bench.act(Action::Do(Command::ChooseLines));
    let lines = bench.session().revising.lines.clone().unwrap();
    let Diff::Text { lines, .. } = &lines.changes[0].diff else { panic!("{lines:?}") };
    let first: Vec<DiffLine> = lines
        .iter()
        .filter(|line| line.kind != LineKind::Context && line.text.eq_ignore_ascii_case("one"))
        .cloned()
        .collect();
    assert_eq!(first.len(), 2);
    let path = "a.txt".to_owned();
    bench.revise(RevisionAction::WantLines { path, lines: first, wanted: false });
    let why_not = bench.app.situation().not_authorizable;
    assert_eq!(why_not, Some("First apply or drop your choice of lines."));
    let of = bench.digest();
    bench.revise(RevisionAction::ApplyLines);
    bench.wait_for_revision(of);
    assert!(bench.bytes().contains(r#""contents": "one\ntwo\nTHREE""#), "{}", bench.bytes());
    assert_eq!(bench.app.situation().not_authorizable, None);
}

#[test]
fn an_unfinished_edit_is_kept_and_asked_about() {
    let (mut bench, plan) = bench();
    let other = bench.file("other.json", &PLAN.replace("two-writes", "other"));
    bench.open(&plan);
    bench.type_argument(1, "contents", "osprey\n");
    let why_not = bench.app.situation().not_authorizable;
    assert_eq!(why_not, Some("First apply or drop what you typed for an argument."));
    bench.revise(RevisionAction::LeaveEdit);
    let edit = |bench: &Bench| bench.session().revising.edit.clone();
    assert!(edit(&bench).is_some_and(|edit| edit.asks));
    bench.act(Action::Do(Command::ClosePlan));
    assert_eq!(bench.session().path(), Some(&*plan), "it stays open");
    assert_eq!(edit(&bench).unwrap().text, "osprey\n");

    bench.open(&other);
    assert_eq!(edit(&bench), None);
    let Bench { app, .. } = &mut bench;
    assert!(app.plan.asks_about_edits(&mut app.shared), "also while another plan is shown");
    assert!(!app.plan.asks_about_edits(&mut app.shared), "but not twice");
    bench.open(&plan);
    assert_eq!(edit(&bench).unwrap().text, "osprey\n");
    // The file gets another step in front.
    let text = PLAN.replace("\"steps\": [", "\"steps\": [{\"step_id\": \"z\", \"tool\": \"file_read\", \"arguments\": {\"path\": \"a.txt\"}},");
    std::fs::write(&plan, text).unwrap();
    bench.act(Action::Do(Command::Reload));
    bench.wait_until("the new file", |app| {
        app.plan.shown.as_ref().unwrap().opened.plan.as_ref().unwrap().steps.len() == 4
    });
    assert_eq!(edit(&bench).unwrap().step, Some(2), "it follows its step");
    bench.revise(RevisionAction::DropEdit);
    assert_eq!(edit(&bench), None);
    bench.type_argument(2, "contents", "kingfisher\n");
    bench.revise(RevisionAction::LeaveEdit);
    assert_eq!(edit(&bench), None, "nothing was typed");
}

#[test]
fn a_value_that_is_refused_stays_in_the_editor() {
    let mut bench = Bench::new();
    let text = r#"{"version": "2026-02-19", "goal": "g", "actions": [
        {"type": "mutate_batch", "request": {"edits": [{"op": "create", "path": "a", "contents": "x"}]}}
    ]}"#;
    let plan = bench.file("plan.json", text);
    bench.open(&plan);
    bench.type_argument(0, "edits", "[{");
    bench.revise(RevisionAction::ApplyEdit);
    bench.wait_until("the refusal", |app| {
        app.shared.notices.last().is_some_and(|it| it.details.contains("must be JSON"))
    });
    let edit = bench.session().revising.edit.clone().unwrap();
    assert_eq!((edit.text.as_str(), edit.is_changed()), ("[{", true));
    let ArgumentEdit { original, .. } = edit;
    assert_eq!(original.unwrap(), r#"[{"op": "create", "path": "a", "contents": "x"}]"#);
    assert_eq!(bench.session().path(), Some(&*plan));
}

#[test]
fn a_faulty_argument_can_be_repaired_in_the_window() {
    let mut bench = Bench::new();
    let plan =
        bench.file("plan.json", &PLAN.replace("\"path\": \"a.txt\"}", "\"pth\": \"a.txt\"}"));
    bench.open(&plan);
    assert!(bench.app.situation().not_authorizable.is_some());
    bench.set_argument(0, "path", "a.txt");
    assert!(bench.app.situation().not_authorizable.is_some(), "one fault is left");
    let of = bench.digest();
    bench.revise(RevisionAction::TakeAway(0, "pth".to_owned()));
    bench.wait_for_revision(of);
    assert_eq!(bench.app.situation().not_authorizable, None);
}

#[test]
fn a_change_of_the_file_is_told_and_the_revision_stays() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.set_argument(1, "contents", "osprey\n");
    let revised = bench.digest();
    std::fs::write(&plan, PLAN.replace("heron", "egret")).unwrap();
    bench.act(Action::Do(Command::Reload));
    bench.wait_until("the finding", |app| {
        let findings = &app.plan.shown.as_ref().unwrap().opened.findings;
        findings.iter().any(|it| it.message.contains("has changed since you revised it"))
    });
    assert_eq!(bench.digest(), revised);
    assert_eq!(bench.app.situation().not_authorizable, None);
}

#[test]
fn a_queued_plan_is_not_revised() {
    let (mut bench, plan) = bench();
    let quick = bench.file("quick.json", &PLAN.replace("two-writes", "quick"));
    bench.open(&plan);
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(1);
    bench.open(&quick);
    // Another plan is revised while this one runs.
    bench.set_argument(2, "path", "c.txt");
    bench.authorize();
    bench.act(Action::Do(Command::Enqueue));
    assert_eq!(bench.why_not(), Some("It is queued: take it out of the queue first."));
    let of = bench.digest();
    bench.act(Action::Do(Command::LeaveOutStep));
    assert_eq!((bench.digest(), bench.session().revising.is_applying), (of, false));
    bench.act(Action::Do(Command::Unqueue));
    assert_eq!(bench.why_not(), None);
    bench.act(Action::Do(Command::StopNow));
    bench.wait_until("the end", |app| !app.is_busy());
}

#[test]
fn a_revised_proposal_counts_as_decided_and_a_call_is_not_revised() {
    let (mut bench, _) = bench();
    let propose = |bench: &Bench, asked_until_ms: Option<i64>| {
        let folder = InboxFolder::open(&bench.folders.inbox).unwrap();
        let proposal = Proposal {
            folder: None,
            bytes: PLAN.as_bytes().to_vec(),
            name: "p.json".to_owned(),
            workspace: bench.workspace.path().to_owned(),
            from: "an agent".to_owned(),
            at_ms: now().ms,
            asked_until_ms,
        };
        propose(&folder, &proposal, &Policy::default()).unwrap()
    };
    propose(&bench, None);
    bench.wait_until("a proposal", |app| app.inbox.waiting() == 1);
    bench.act(Action::Do(Command::OpenWaiting));
    bench.wait_until("opened", |app| app.plan.shown.is_some());
    bench.leave_out(0);
    let view = bench.app.view().plan.unwrap();
    assert_eq!((view.in_inbox, view.proposed_by), (true, Some("an agent")));
    let workspace = bench.workspace.path().canonicalize().unwrap();
    assert_eq!(view.review.unwrap().workspace, workspace);
    assert_eq!(bench.app.inbox.waiting(), 1, "a revision is no decision");
    bench.authorize();
    bench.wait_until("decided", |app| app.inbox.waiting() == 0);
    // The revision needs what it was made from, also while another plan is shown.
    let other = bench.file("other.json", &PLAN.replace("two-writes", "other"));
    for shown in [None, Some(&other)] {
        shown.into_iter().for_each(|path| bench.open(path));
        assert!(!bench.app.situation().inbox_decided, "{shown:?}: it is still to run");
    }

    propose(&bench, Some(now().ms + 60_000));
    bench.wait_until("a call", |app| app.inbox.waiting() == 1);
    bench.act(Action::Do(Command::OpenWaiting));
    bench.wait_until("opened", |app| {
        let shown = app.plan.shown.as_ref().unwrap();
        shown.opened.held.as_ref().is_some_and(|held| held.asked_until_ms.is_some())
    });
    assert!(bench.why_not().unwrap().starts_with("An agent waits for exactly this call"));
}
