//! Artifacts that are too long for their database row are shown, copied and saved.

use super::super::artifacts::save_source;
use super::*;
use crate::ui::action::{ArtifactAction, SavedContent};
use crate::ui::artifact::{Form, LoadState, Prepared, Shape};
use crate::worker::SaveSource;

const READ: &str = r#"{"plan_id": "read", "intent": "QUERY", "title": "Read", "steps": [
    {"step_id": "text", "tool": "file_read", "arguments": {"path": "long.txt"}},
    {"step_id": "bytes", "tool": "file_read", "arguments": {"path": "bytes.bin"}},
    {"step_id": "list", "tool": "file_search", "arguments": {"pattern": "heron", "root": "long.txt"}}
]}"#;

/// Bytes that are not UTF-8 and contain a secret.
fn bytes() -> Vec<u8> {
    let mut bytes = vec![0xff; 40];
    bytes.extend(
        b" AWS_SECRET_ACCESS_KEY=AKIAIOSFODNN7EXAMPLE wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY ",
    );
    bytes
}

/// Runs [`READ`] on a long text and on [`bytes`].
fn after_run() -> Bench {
    let mut bench = Bench::new();
    bench.file("long.txt", &"a heron in the reeds\n".repeat(1_000));
    std::fs::write(bench.workspace.path().join("bytes.bin"), bytes()).unwrap();
    let plan = bench.file("read.json", READ);
    bench.open(&plan);
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.wait_for_end();
    bench
}

/// Shows the output of a step. Returns the digest of the complete output.
fn output_digest(bench: &mut Bench, step: usize) -> Digest {
    bench.act(Action::Plan(PlanAction::SelectStep(step)));
    bench.act(Action::Plan(PlanAction::ShowTab(Tab::Output)));
    let id = bench.session().selected_execution().unwrap();
    bench.wait_until("the record", |app| {
        app.plan.shown.as_ref().unwrap().pane.executions.get(&id).is_some()
    });
    let artifacts = &bench.session().pane.executions.get(&id).unwrap().artifacts;
    artifacts.iter().find(|it| it.artifact_type == "stdout").unwrap().blob.unwrap()
}

/// Loads a content and waits until it is ready or missing.
fn load(bench: &mut Bench, key: (Digest, Shape), copy: bool) -> LoadState {
    let (digest, shape) = key;
    bench.act(Action::Artifact(ArtifactAction::Load { digest, shape, copy }));
    let is_loaded = |app: &App| {
        let loaded = app.shared.contents.all().get(&key);
        loaded.is_some_and(|it| !matches!(it, LoadState::Requested))
    };
    bench.wait_until("the content", is_loaded);
    bench.app.shared.contents.all()[&key].clone()
}

fn prepared(loaded: LoadState) -> Arc<Prepared> {
    let LoadState::Ready(prepared) = loaded else { panic!("{loaded:?}") };
    prepared
}

#[test]
fn a_long_artifact_is_shown_copied_saved() {
    let mut bench = after_run();
    let text = output_digest(&mut bench, 0);
    let content = prepared(load(&mut bench, (text, Shape::Text), true));
    assert_eq!(content.text.line_count(), 1_000);
    assert_eq!(bench.app.shared.to_copy.as_ref().unwrap().len(), 21_000, "for the clipboard");
    let binary = output_digest(&mut bench, 1);
    let Form::Hex(shown) = &prepared(load(&mut bench, (binary, Shape::Text), false)).form else {
        panic!("bytes are shown as bytes");
    };
    assert_eq!(shown.to_vec(), bytes());
    let list = output_digest(&mut bench, 2);
    let Form::Table(table) = &prepared(load(&mut bench, (list, Shape::Rows), false)).form else {
        panic!("matches are a table");
    };
    assert_eq!(table.row_count(), 1_000);

    let file = bench.workspace.path().join("saved.bin");
    let source = save_source(SavedContent::Stored { digest: binary, shape: Shape::Text });
    bench.app.shared.save(file.clone(), source);
    bench.wait_until("saved", |app| {
        app.shared.notices.iter().any(|it| it.summary.starts_with("Saved as"))
    });
    assert_eq!(std::fs::read(&file).unwrap(), bytes());
    let missing_folder = bench.workspace.path().join("no/such/folder.txt");
    bench.app.shared.save(missing_folder, SaveSource::Text("heron".into()));
    bench.wait_until("the failure", |app| {
        app.shared.notices.iter().any(|it| it.summary.contains("E302"))
    });
}

#[test]
fn purged_and_sealed_contents_are_reported() {
    let mut bench = after_run();
    let (text, binary) = (output_digest(&mut bench, 0), output_digest(&mut bench, 1));
    let setup = bench.app.shared.setup.clone();
    let mut store = setup.location.store().unwrap();
    store.purge_content(&text, "no longer needed", 1).unwrap();
    drop(store);
    let LoadState::Missing(why) = load(&mut bench, (text, Shape::Text), true) else {
        panic!("not missing")
    };
    assert!(why.contains("removed from the evidence"), "{why}");
    assert_eq!(bench.app.shared.to_copy, None);

    // A window with another key.
    let folders = Folders {
        evidence: setup.location.evidence,
        secrets: bench.workspace.path().join("other"),
        state: bench.workspace.path().join("other-state"),
        inbox: bench.workspace.path().join("inbox"),
        window: bench.workspace.path().join("window"),
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
    let LoadState::Missing(why) = sealed else { panic!("not missing: {sealed:?}") };
    assert!(why.contains("encrypted"), "{why}");
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
    bench.wait_for_end();
    bench.act(Action::Plan(PlanAction::SelectStep(0)));
    // The tab that tells what the step did shows the recorded change.
    bench.act(Action::Plan(PlanAction::ShowTab(Tab::WillDo)));
    let id = bench.session().selected_execution().unwrap();
    bench.wait_until("the record", |app| {
        app.plan.shown.as_ref().unwrap().pane.executions.get(&id).is_some()
    });
    let artifacts = &bench.session().pane.executions.get(&id).unwrap().artifacts;
    let digest = artifacts.iter().find(|it| it.artifact_type == "diff").unwrap().blob.unwrap();
    let Form::Diff(changes) = &prepared(load(&mut bench, (digest, Shape::Diff), false)).form else {
        panic!("diffs are shown as diffs");
    };
    assert_eq!(changes[0].path, "long.txt");
    let file = bench.workspace.path().join("saved.diff");
    let source = save_source(SavedContent::Stored { digest, shape: Shape::Diff });
    bench.app.shared.save(file.clone(), source);
    bench.wait_until("saved", |app| {
        app.shared.notices.iter().any(|it| it.summary.starts_with("Saved as"))
    });
    let saved = std::fs::read_to_string(file).unwrap();
    assert!(saved.starts_with("--- a/long.txt\n+++ b/long.txt\n"), "{saved:.80}");
}
