//! Authorizations that are signed with an SSH key whose passphrase is asked for in the window.

use super::*;
use crate::ui::action::Typed;

const PASSPHRASE: &str = "kingfisherquartz";

/// A bench whose settings sign authorizations and ends of runs with a key that has a passphrase.
#[expect(clippy::disallowed_methods, reason = "makes a key as a person does")]
fn signing_bench() -> (Bench, PathBuf, tempfile::TempDir) {
    let keys = tempfile::tempdir().unwrap();
    let key = keys.path().join("id");
    let made = std::process::Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", PASSPHRASE, "-f"])
        .arg(&key)
        .status();
    assert!(made.unwrap().success());
    let bench = Bench::with_settings(&format!(
        "[signatures]\nkey = {:?}\nprincipal = 'ada'\nsign = ['authorizations', 'run_ends']\n",
        key.to_str().unwrap()
    ));
    bench.file("a.txt", "bittern\n");
    let plan = PLAN.replace("\"requires_confirmation\": true,", "");
    let plan = bench.file("plan.json", &plan);
    (bench, plan, keys)
}

/// Authorizes the plan, and answers the question for the passphrase.
fn authorize(bench: &mut Bench, answer: Option<&str>) {
    bench.act(Action::Do(Command::Authorize));
    let digest = bench.session().opened.digest;
    bench.act(Action::Dialog(DialogAction::Authorize(digest)));
    assert_eq!(bench.session().approval, Approval::Signing);
    answer_secret(bench, answer);
}

fn answer_secret(bench: &mut Bench, answer: Option<&str>) {
    bench.wait_until("the question", |app| {
        let dialog = app.view().dialog;
        dialog.is_some_and(|dialog| matches!(dialog.question, Question::Secret { .. }))
    });
    let (id, question) = bench.app.shared.secrets[0].clone();
    assert!(question.prompt.starts_with("Enter passphrase"), "{question:?}");
    let answer = answer.map(|answer| Typed(answer.as_bytes().to_vec()));
    bench.act(Action::Dialog(DialogAction::AnswerSecret { id, answer }));
}

fn recorded(bench: &Bench) -> usize {
    let reader = bench.folders.location().open();
    reader
        .and_then(|mut reader| reader.signatures(crate::evidence::SignaturesOf::All))
        .unwrap()
        .len()
}

#[test]
fn an_authorization_counts_once_it_is_signed() {
    let (mut bench, plan, _keys) = signing_bench();
    bench.open(&plan);
    let view = bench.session().authorize_view(&bench.app.shared.setup.policy, None, &now());
    assert!(format!("{view:?}").contains("is signed by ada with the key"));
    for (answer, said) in [(None, "was not given"), (Some("wrong"), "incorrect passphrase")] {
        authorize(&mut bench, answer);
        bench.wait_until("the refusal", |app| {
            app.plan.shown.as_ref().unwrap().approval == Approval::None
        });
        let notices = format!("{:?}", bench.app.shared.notices);
        assert!(notices.contains(said) && notices.contains("not signed"), "{notices}");
        bench.act(Action::Do(Command::Run));
        assert!(!bench.app.situation().running, "nothing runs without the signature");
        assert_eq!(recorded(&bench), 0);
    }
    authorize(&mut bench, Some(PASSPHRASE));
    bench.wait_until("authorized", |app| {
        matches!(app.plan.shown.as_ref().unwrap().approval, Approval::Approved { .. })
    });
    assert_eq!(recorded(&bench), 1);
    bench.act(Action::Do(Command::Run));
    // The end of the run is signed when the run has ended.
    answer_secret(&mut bench, Some(PASSPHRASE));
    bench.wait_for_end();
    assert_eq!(bench.session().run.phase, Phase::Ended(RunStatus::Completed));
    assert_eq!(recorded(&bench), 2);
}

/// What needs no approval needs no signature.
#[test]
fn a_rejection_is_not_signed() {
    let (mut bench, plan, _keys) = signing_bench();
    bench.open(&plan);
    bench.act(Action::Do(Command::Reject));
    let digest = bench.session().opened.digest;
    bench.act(Action::Dialog(DialogAction::Reject {
        digest,
        reason: "no".to_owned(),
        replan: false,
    }));
    assert_eq!(bench.session().approval, Approval::Recording);
    bench.wait_until("rejected", |app| {
        matches!(app.plan.shown.as_ref().unwrap().approval, Approval::Rejected(_))
    });
}
