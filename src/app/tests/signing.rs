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

/// A bench whose settings ask for two persons, of whom `bob` has this key.
#[expect(clippy::disallowed_methods, reason = "makes keys as a person does")]
fn team_bench() -> (Bench, PathBuf, tempfile::TempDir) {
    let keys = tempfile::tempdir().unwrap();
    let mut list = String::new();
    for who in ["ada", "bob"] {
        let key = keys.path().join(who);
        let line = ["-q", "-t", "ed25519", "-N", "", "-f"];
        let made = std::process::Command::new("ssh-keygen").args(line).arg(&key).status();
        assert!(made.unwrap().success());
        let public = std::fs::read_to_string(key.with_extension("pub")).unwrap();
        list.push_str(&format!("{who} {public}"));
    }
    std::fs::write(keys.path().join("allowed"), list).unwrap();
    std::fs::create_dir(keys.path().join("answers")).unwrap();
    let path = |name: &str| keys.path().join(name).to_str().unwrap().to_owned();
    let bench = Bench::with_settings(&format!(
        "[signatures]\nkey = {:?}\nprincipal = 'ada'\nsign = ['authorizations']\nrequired = 2\n\
         allowed_signers = {:?}\nfolder = {:?}\n",
        path("ada"),
        path("allowed"),
        path("answers")
    ));
    bench.file("a.txt", "bittern\n");
    let plan = PLAN.replace("\"requires_confirmation\": true,", "");
    let plan = bench.file("plan.json", &plan);
    (bench, plan, keys)
}

/// Bob's answer to a request about the plan on the page.
fn answer_of_bob(bench: &Bench, keys: &Path, refusal: Option<&str>) -> String {
    let opened = &bench.session().opened;
    let (plan, review) = (opened.plan.clone().unwrap(), opened.review.clone().unwrap());
    let location = bench.folders.location();
    let policy = &bench.app.shared.setup.policy;
    let request =
        crate::worker::review_request(&plan, &review, policy, &location, &Arc::default()).unwrap();
    let document = request.document("bob", refusal, now().ms).text();
    let key = crate::authorization::Signing {
        key: keys.join("bob"),
        principal: "bob".to_owned(),
        sign: Default::default(),
        seconds: 60,
        reviewing: None,
    };
    let keygen = crate::signing::SshKeygen::of_system(None).unwrap();
    let stop = Default::default();
    let signature = keygen.sign(&key, document.as_bytes(), "", None, &stop).unwrap();
    crate::authorization::ReviewSignature::file(&document, &signature)
}

#[test]
fn a_plan_waits_for_the_answer_of_another_person() {
    let (mut bench, plan, keys) = team_bench();
    bench.open(&plan);
    let situation = bench.app.situation();
    assert!(situation.lacks_signatures && situation.not_askable.is_none(), "{situation:?}");
    assert!((Command::Authorize.spec().unavailable)(&situation).is_some());
    // A refusal, and an answer about the file as it was before, leave it as it is.
    let refusal = answer_of_bob(&bench, keys.path(), Some("never"));
    std::fs::write(keys.path().join("answers/no.json"), refusal).unwrap();
    let before = answer_of_bob(&bench, keys.path(), None);
    std::fs::write(keys.path().join("answers/before.json"), before).unwrap();
    bench.file("a.txt", "heron\n");
    bench.act(Action::Do(Command::Reload));
    bench.wait_until("the answers", |app| {
        app.plan.shown.as_ref().is_some_and(|it| it.reviews_view().lines.len() == 2)
    });
    let lines = |bench: &Bench| {
        bench
            .session()
            .reviews_view()
            .lines
            .iter()
            .map(|(_, line)| line.clone())
            .collect::<Vec<_>>()
    };
    let said = lines(&bench);
    assert!(
        said[0].starts_with("An answer of bob does not count: it is void: file a.txt"),
        "{said:?}"
    );
    assert_eq!(said[1], "bob refuses: never");
    assert!(bench.app.situation().lacks_signatures);
    // One that is opened counts, and is used up.
    let answer = answer_of_bob(&bench, keys.path(), None);
    let file = bench.file("yes.json", &answer);
    let opens = Action::Plan(PlanAction::Open(file));
    bench.act(opens.clone());
    let says = |app: &App, text: &str| app.shared.notices.iter().any(|it| it.summary == text);
    bench.wait_until("the answer", |app| says(app, "bob has signed the plan."));
    assert_eq!(bench.session().path(), Some(&*plan), "the plan stays on the page");
    assert!(lines(&bench)[0].starts_with("bob has signed it with SHA256:"), "{:?}", lines(&bench));
    let digest = bench.session().opened.digest;
    bench.act(Action::Do(Command::Authorize));
    bench.act(Action::Dialog(DialogAction::Authorize(digest)));
    bench.wait_until("the authorization", |app| {
        matches!(app.plan.shown.as_ref().unwrap().approval, Approval::Approved { .. })
    });
    assert_eq!(recorded(&bench), 2);
    bench.act(opens);
    bench.wait_until("the used answer", |app| says(app, "The answer of bob does not count."));
}
