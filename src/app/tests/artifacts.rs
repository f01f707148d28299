//! Artifacts that are too long for their database row: read, shown, copied and saved from real evidence.

use super::super::commands::to_save;
use super::*;
use crate::ui::action::{ArtifactAction, SavedContent};
use crate::ui::artifact::{Form, LoadState, Prepared, Shape};
use crate::worker::ToSave;

const READ: &str = r#"{"plan_id": "read", "intent": "QUERY", "title": "Read", "steps": [
    {"step_id": "text", "tool": "file_read", "arguments": {"path": "long.txt"}},
    {"step_id": "bytes", "tool": "file_read", "arguments": {"path": "bytes.bin"}},
    {"step_id": "list", "tool": "file_search", "arguments": {"pattern": "heron", "root": "long.txt"}}
]}"#;

/// Bytes that are not text and contain a secret.
fn bytes() -> Vec<u8> {
    let mut bytes = vec![0xff; 40];
    bytes.extend(
        b" AWS_SECRET_ACCESS_KEY=AKIAIOSFODNN7EXAMPLE wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY ",
    );
    bytes
}

fn ran() -> Bench {
    let mut bench = Bench::new();
    bench.file("long.txt", &"a heron in the reeds\n".repeat(1_000));
    std::fs::write(bench.workspace.path().join("bytes.bin"), bytes()).unwrap();
    let plan = bench.file("read.json", READ);
    bench.open(&plan);
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.ended();
    bench
}

/// Shows a step's output, and returns the digest of the whole output.
fn kept(bench: &mut Bench, step: usize) -> Digest {
    bench.act(Action::Plan(PlanAction::SelectStep(step)));
    bench.act(Action::Plan(PlanAction::ShowTab(Tab::Output)));
    let id = bench.session().selected_execution().unwrap();
    bench.until("its record", |app| {
        app.plan.shown.as_ref().unwrap().pane.executions.get(&id).is_some()
    });
    let artifacts = &bench.session().pane.executions.get(&id).unwrap().artifacts;
    artifacts.iter().find(|it| it.artifact_type == "stdout").unwrap().blob.unwrap()
}

fn load(bench: &mut Bench, key: (Digest, Shape), copy: bool) -> LoadState {
    let (digest, shape) = key;
    bench.act(Action::Artifact(ArtifactAction::Load { digest, shape, copy }));
    let ready = |app: &App| {
        let loaded = app.shared.contents.all().get(&key);
        loaded.is_some_and(|it| !matches!(it, LoadState::Requested))
    };
    bench.until("the whole", ready);
    bench.app.shared.contents.all()[&key].clone()
}

fn here(loaded: LoadState) -> Arc<Prepared> {
    let LoadState::Ready(prepared) = loaded else { panic!("{loaded:?}") };
    prepared
}

#[test]
fn a_long_artifact_is_shown_copied_saved() {
    let mut bench = ran();
    let text = kept(&mut bench, 0);
    let prepared = here(load(&mut bench, (text, Shape::Text), true));
    assert_eq!(prepared.text.line_count(), 1_000);
    assert_eq!(bench.app.shared.to_copy.as_ref().unwrap().len(), 21_000, "for the clipboard");
    let binary = kept(&mut bench, 1);
    let Form::Hex(shown) = &here(load(&mut bench, (binary, Shape::Text), false)).form else {
        panic!("bytes are shown as bytes");
    };
    assert_eq!(shown.to_vec(), bytes());
    let list = kept(&mut bench, 2);
    let Form::Table(table) = &here(load(&mut bench, (list, Shape::Rows), false)).form else {
        panic!("matches are a table");
    };
    assert_eq!(table.row_count(), 1_000);

    let file = bench.workspace.path().join("saved.bin");
    let what = to_save(SavedContent::Stored { digest: binary, shape: Shape::Text });
    bench.app.shared.save(file.clone(), what);
    bench.until("saved", |app| {
        app.shared.notices.iter().any(|it| it.summary.starts_with("Saved as"))
    });
    assert_eq!(std::fs::read(&file).unwrap(), bytes());
    let nowhere = bench.workspace.path().join("no/such/folder.txt");
    let what = ToSave::Text("heron".into());
    bench.app.shared.save(nowhere, what);
    bench.until("refused", |app| app.shared.notices.iter().any(|it| it.summary.contains("E302")));
}

#[test]
fn purged_and_sealed_contents_are_reported() {
    let mut bench = ran();
    let (text, binary) = (kept(&mut bench, 0), kept(&mut bench, 1));
    let setup = bench.app.shared.setup.clone();
    let mut store = setup.location.store().unwrap();
    store.purge(&text, "no longer needed", 1).unwrap();
    drop(store);
    let LoadState::Missing(why) = load(&mut bench, (text, Shape::Text), true) else {
        panic!("gone")
    };
    assert!(why.contains("removed from the evidence"), "{why}");
    assert_eq!(bench.app.shared.to_copy, None);

    // Another user with another key.
    let folders = Folders {
        evidence: setup.location.evidence,
        secrets: bench.workspace.path().join("other"),
        state: bench.workspace.path().join("other-state"),
        settings: bench.workspace.path().join("settings"),
        home: bench.workspace.path().to_owned(),
    };
    let (sender, woken) = sync_channel(1_024);
    let wake: Wake = Arc::new(move || {
        let _ = sender.try_send(());
    });
    bench.woken = woken;
    bench.app = App::new(folders, settings::load(None), wake).unwrap();
    let sealed = load(&mut bench, (binary, Shape::Text), false);
    let LoadState::Missing(why) = sealed else { panic!("sealed: {sealed:?}") };
    assert!(why.contains("sealed"), "{why}");
    assert!(bench.app.shared.notices.is_empty(), "{:?}", bench.app.shared.notices);
}

#[test]
fn a_json_string_is_saved_as_text() {
    let mut bench = Bench::new();
    bench.file("long.txt", &"heron\n".repeat(2_000));
    let plan = READ
        .replace("file_read", "file_write")
        .replace(r#"{"path": "bytes.bin"}"#, r#"{"path": "other.txt", "contents": "x"}"#);
    let contents = "egret\\n".repeat(2_000);
    let plan = plan.replace(
        r#"{"path": "long.txt"}"#,
        &format!(r#"{{"path": "long.txt", "contents": "{contents}"}}"#),
    );
    let plan = bench.file("write.json", &plan.replace("QUERY", "MUTATE"));
    bench.open(&plan);
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.ended();
    bench.act(Action::Plan(PlanAction::SelectStep(0)));
    bench.act(Action::Plan(PlanAction::ShowTab(Tab::Artifacts)));
    let id = bench.session().selected_execution().unwrap();
    bench.until("its record", |app| {
        app.plan.shown.as_ref().unwrap().pane.executions.get(&id).is_some()
    });
    let artifacts = &bench.session().pane.executions.get(&id).unwrap().artifacts;
    let digest = artifacts.iter().find(|it| it.artifact_type == "diff").unwrap().blob.unwrap();
    let Form::Diff(changes) = &here(load(&mut bench, (digest, Shape::Diff), false)).form else {
        panic!("a difference");
    };
    assert_eq!(changes[0].path, "long.txt");
    let file = bench.workspace.path().join("saved.diff");
    let what = to_save(SavedContent::Stored { digest, shape: Shape::Diff });
    bench.app.shared.save(file.clone(), what);
    bench.until("saved", |app| {
        app.shared.notices.iter().any(|it| it.summary.starts_with("Saved as"))
    });
    let saved = std::fs::read_to_string(file).unwrap();
    assert!(saved.starts_with("--- a/long.txt\n+++ b/long.txt\n"), "{saved:.80}");
}
