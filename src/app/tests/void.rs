//! Authorizations that become void.

use super::*;

/// The folder of a file that the plan only reads becomes a link to another folder. Nothing that the authorization
/// covers changes.
#[test]
fn errors_alone_void_with_a_notice() {
    let mut bench = Bench::new();
    let folder = bench.workspace.path().canonicalize().unwrap().join("notes");
    std::fs::create_dir(&folder).unwrap();
    bench.file("notes/a.txt", "heron\n");
    let plan = bench.file(
        "plan.json",
        r#"{"plan_id": "p", "intent": "READ", "title": "Read",
            "steps": [{"step_id": "a", "tool": "file_read", "arguments": {"path": "notes/a.txt"}}]}"#,
    );
    bench.open(&plan);
    bench.authorize();
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::rename(&folder, elsewhere.path().join("notes")).unwrap();
    std::os::unix::fs::symlink(elsewhere.path().join("notes"), &folder).unwrap();
    bench.act(Action::Do(Command::Reload));
    bench.wait_until("the end of the authorization", |app| {
        matches!(app.plan.shown.as_ref().unwrap().approval, Approval::Void(_))
    });
    let Approval::Void(changes) = &bench.session().approval else { panic!("another state") };
    assert_eq!(changes.len(), 1, "{changes:?}");
    let notices = &bench.app.shared.notices;
    let text = "The authorization is void. Changed since: result of the review.";
    assert!(notices.iter().any(|notice| notice.summary == text), "{notices:?}");
}
