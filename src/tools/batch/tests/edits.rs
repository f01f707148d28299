//! Each edit on a real workspace: its result, and why it is refused.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use super::*;
use crate::plan::{Code, Digest};
use crate::run::{Diff, EdgeType, TargetKind};
use crate::tools::tests::{content, predictable, test_workspace};
use crate::workspace::{Overlay, WorkspaceError};

#[test]
fn edits_build_on_earlier_edits() {
    let workspace = test_workspace();
    workspace.put("a.txt", "one two\n");
    workspace.put("gone.bin", b"\0\xff");
    workspace.put("src/lib.rs", "/// Adds.\nfn add() -> u8 {\n    1\n}\n");
    let call = batch(vec![
        create("new/deep/b.txt", "b\n"),
        replace("new/deep/b.txt", "b", "bee"),
        rename("new/deep/b.txt", "c.txt"),
        patch("c.txt", "--- a/c.txt\n+++ b/c.txt\n@@ -1 +1,2 @@\n bee\n+sea\n"),
        replace("a.txt", "two", "three"),
        write("a2.txt", "written\n"),
        delete("gone.bin"),
        splice("src/lib.rs", "add", "fn add() -> u8 {\n    2\n}"),
    ]);
    let (preview, predicted) =
        workspace.tools.preview_with_effects(&call, &workspace.stop).unwrap();
    assert_eq!(
        preview.summary,
        "Creates 2 files, changes 2 files and deletes 1 file, all or none."
    );
    let done = workspace.succeeds(&call);
    assert_eq!(predictable(&done.files, &predicted), predicted);
    assert_eq!(workspace.names(), ["a.txt", "a2.txt", "c.txt", "src", "src/lib.rs"]);
    assert_eq!(workspace.content("c.txt"), b"bee\nsea\n");
    assert_eq!(workspace.content("a.txt"), b"one three\n");
    assert_eq!(workspace.content("src/lib.rs"), b"/// Adds.\nfn add() -> u8 {\n    2\n}\n");
    assert_eq!((&done.result["valid"], &done.result["committed"]), (&json!(true), &json!(true)));
    assert_eq!(done.result["errors"], json!([]));
    assert_eq!(done.result["engine"]["name"], "embedded");
    let changed = done.result["changed_files"].as_array().unwrap();
    let paths: Vec<_> = changed.iter().map(|it| it["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["c.txt", "a.txt", "a2.txt", "gone.bin", "src/lib.rs"]);
    assert_eq!(changed[3]["after"], json!(null));
    let edge = |edge_type, target_kind, target: &str| {
        let it = |edge: &&crate::run::Edge| {
            (edge.edge_type, edge.target_kind, edge.target.as_str())
                == (edge_type, target_kind, target)
        };
        assert_eq!(done.edges.iter().filter(it).count(), 1, "{edge_type:?} {target}");
    };
    edge(EdgeType::ExecutedOn, TargetKind::File, "gone.bin");
    edge(EdgeType::Affected, TargetKind::File, "gone.bin");
    edge(EdgeType::Affected, TargetKind::File, "c.txt");
    edge(EdgeType::Affected, TargetKind::Symbol, "add");
}

#[test]
fn renames_and_replacements_keep_modes() {
    let workspace = test_workspace();
    workspace.put("run.sh", "#!/bin/sh\n");
    workspace.put("other.sh", "#!/bin/sh\n");
    for name in ["run.sh", "other.sh"] {
        let mode = std::fs::Permissions::from_mode(0o750);
        std::fs::set_permissions(workspace.path(name), mode).unwrap();
    }
    workspace.succeeds(&batch(vec![
        rename("run.sh", "between.sh"),
        rename("between.sh", "bin/start.sh"),
        replace("bin/start.sh", "#!/bin/sh", "#!/bin/bash"),
        write("other.sh", "x"),
    ]));
    for name in ["bin/start.sh", "other.sh"] {
        let mode = workspace.path(name).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o750, "{name}");
    }
}

/// The message with which a batch of this one edit is refused.
fn refused(workspace: &crate::tools::tests::TestWorkspace, edit: Edit) -> String {
    let call = batch(vec![edit]);
    let (code, message) = workspace.fails(&call);
    assert_eq!(code, Code::WriteFailed, "{message}");
    assert!(workspace.run(&call).error.unwrap().is_refusal(), "{message}");
    let preview = workspace.tools.preview(&call, Overlay::empty()).unwrap();
    assert!(preview.would_fail(), "{}", preview.summary);
    message
}

#[test]
fn impossible_edit_is_refused_with_its_reason() {
    let workspace = test_workspace();
    workspace.put("a.txt", "x y x\n");
    workspace.put("crlf.txt", "one\r\ntwo\r\n");
    workspace.put("binary", b"\xff\xfe");
    workspace.put("folder/f.txt", "f\n");
    workspace.put("bad.rs", "fn a( {\n");
    workspace.put("good.rs", "fn a() {}\nfn b() {}\n");
    workspace.link("link", "a.txt");
    workspace.link("dangling", "nowhere");
    let cases = [
        (replace("a.txt", "x", "z"), "occurs 2 times;"),
        (replace("a.txt", "q", "z"), "does not occur; it must"),
        (replace("crlf.txt", "one\ntwo", "z"), "but would with CRLF"),
        (replace("a.txt", "", "z"), "it must occur exactly once"),
        (replace("binary", "x", "z"), "binary is not UTF-8 text"),
        (replace("none", "x", "z"), "cannot read none: it does not exist"),
        (replace("none/f", "x", "z"), "cannot read none/f: it does not exist"),
        (create("a.txt", ""), "cannot create a.txt: it exists already"),
        (create("dangling", ""), "cannot create dangling: it exists already"),
        (create("a.txt/below", ""), "cannot write a.txt/below"),
        (write("none/f", ""), "its folder does not exist"),
        (write("folder", ""), "folder is a folder, not a file"),
        (delete("folder"), "folder is a folder, not a file"),
        (delete("none"), "it does not exist"),
        (delete("link"), "link is a link: name the file that it leads to"),
        (rename("link", "new"), "link is a link"),
        (rename("a.txt", "folder/f.txt"), "cannot create folder/f.txt: it exists already"),
        (rename("a.txt", "a.txt"), "it exists already"),
        (rename("a.txt", "folder"), "cannot create folder: it exists already"),
        (rename("a.txt", "dangling"), "cannot create dangling: it exists already"),
        (patch("a.txt", "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-y\n+z\n"), "hunk 1 does not fit"),
        (patch("a.txt", "--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+z\n"), "exists already"),
        (patch("link", "--- a/link\n+++ /dev/null\n@@ -1 +0,0 @@\n-x y x\n"), "link is a link"),
        (splice("good.rs", "c", "fn c() {}"), "c"),
        (splice("good.rs", "a", "fn a( {"), "good.rs"),
        (splice("good.rs", "a", " "), "holds no code"),
        (splice("bad.rs", "a", "fn a() {}"), "bad.rs"),
        (splice("a.txt", "a", "fn a() {}"), "no grammar"),
    ];
    for (edit, why) in cases {
        let message = refused(&workspace, edit);
        assert!(message.contains(why), "{message:?} instead of {why:?}");
        assert!(message.contains("edit 1 ("), "{message}");
    }
}

#[test]
fn edit_of_a_link_changes_its_target() {
    let workspace = test_workspace();
    workspace.put("real.txt", "old\n");
    workspace.link("link", "real.txt");
    let done = workspace.succeeds(&batch(vec![replace("link", "old", "new")]));
    assert_eq!(done.files[0].path, "real.txt");
    assert_eq!(workspace.content("real.txt"), b"new\n");
    assert!(workspace.path("link").is_symlink());
}

#[test]
fn edit_leading_outside_changes_nothing() {
    let workspace = test_workspace();
    workspace.put("a.txt", "a");
    workspace.link("away", workspace.folder.path().join("outside"));
    for path in ["../outside/secret", "away/secret", "/etc/passwd"] {
        for edit in [delete(path), write(path, ""), rename("a.txt", path)] {
            let call = batch(vec![write("a.txt", "b"), edit]);
            let (code, message) = workspace.fails(&call);
            assert_eq!(code, Code::WriteFailed, "{message}");
            assert!(workspace.run(&call).error.unwrap().is_refusal(), "{message}");
            assert!(message.contains("leads outside the workspace"), "{message}");
            assert_eq!(workspace.content("a.txt"), b"a");
            let error = workspace.tools.preview(&call, Overlay::empty()).unwrap_err();
            assert!(matches!(error.get(), Some(WorkspaceError::Outside { .. })), "{error}");
        }
    }
}

// An edit that depends on a failed edit gets no fault of its own.
#[test]
fn independent_faults_are_reported_together() {
    let workspace = test_workspace();
    workspace.put("a.txt", "a\n");
    let call = batch(vec![
        replace("a.txt", "x", "y"),
        replace("a.txt", "y", "z"),
        write("good.txt", "good"),
        delete("none"),
        rename("none", "other"),
        write("other", "builds on the rename"),
        create("good.txt", "again"),
    ]);
    let done = workspace.run(&call);
    assert_eq!(done.result["valid"], false);
    assert_eq!(done.result["committed"], false);
    let errors = done.result["errors"].as_array().unwrap();
    let told: Vec<_> = errors
        .iter()
        .map(|it| (it["edit_index"].as_u64().unwrap(), it["op"].as_str().unwrap()))
        .collect();
    assert_eq!(told, [(0, "replace"), (3, "delete"), (6, "create")]);
    assert_eq!(workspace.names(), ["a.txt"]);
    let preview = workspace.tools.preview(&call, Overlay::empty()).unwrap();
    assert_eq!(preview.summary, "Would fail: 3 faults, and no file would change.");
    assert_eq!(preview.notes.len(), 4);
}

#[test]
fn different_hash_is_a_conflict_naming_both() {
    let workspace = test_workspace();
    workspace.put("a.txt", "now\n");
    workspace.put("b.txt", "b\n");
    let mut batch = MutateBatch {
        edits: vec![write("b.txt", "new")],
        expected_hashes: [("a.txt".to_owned(), Digest::of(b"then\n"))].into(),
        dry_run: false,
    };
    let (code, message) = workspace.fails(&ToolCall::MutateBatch(batch.clone()));
    assert_eq!(code, Code::Conflict);
    let (expected, found) = (Digest::of(b"then\n").to_string(), Digest::of(b"now\n").to_string());
    assert!(message.contains(&expected) && message.contains(&found), "{message}");
    assert!(message.contains("a.txt is to be"), "{message}");
    assert_eq!(workspace.content("b.txt"), b"b\n");
    batch.expected_hashes.insert("a.txt".to_owned(), Digest::of(b"now\n"));
    workspace.succeeds(&ToolCall::MutateBatch(batch.clone()));
    batch.expected_hashes.insert("gone".to_owned(), Digest::of(b""));
    let call = ToolCall::MutateBatch(batch);
    let (code, message) = workspace.fails(&call);
    assert_eq!(code, Code::Conflict);
    assert!(message.contains("gone is to be"), "{message}");
    assert!(!workspace.run(&call).error.unwrap().is_refusal(), "a conflict is a code of its own");
}

#[test]
fn dry_run_reports_and_changes_nothing() {
    let workspace = test_workspace();
    workspace.put("a.txt", "a\n");
    let dry = |edits| {
        let (expected_hashes, dry_run) = (std::collections::BTreeMap::new(), true);
        ToolCall::MutateBatch(MutateBatch { edits, expected_hashes, dry_run })
    };
    let call = dry(vec![replace("a.txt", "a", "b"), create("n/new", "x")]);
    assert!(workspace.tools.inputs(&call).unwrap().is_empty(), "it takes what it finds");
    let (preview, predicted) =
        workspace.tools.preview_with_effects(&call, &workspace.stop).unwrap();
    assert!(predicted.is_empty(), "no effect is announced");
    assert_eq!(preview.changes.len(), 2);
    assert!(
        preview.summary.starts_with("A dry run, which changes nothing."),
        "{}",
        preview.summary
    );
    let done = workspace.succeeds(&call);
    assert_eq!((&done.result["valid"], &done.result["committed"]), (&json!(true), &json!(false)));
    assert_eq!(done.result["changed_files"].as_array().unwrap().len(), 2);
    assert!(done.files.is_empty());
    assert!(done.edges.iter().all(|edge| edge.edge_type == EdgeType::Referenced));
    assert_eq!(workspace.names(), ["a.txt"]);
    assert_eq!(workspace.content("a.txt"), b"a\n");
    let invalid = workspace.run(&dry(vec![delete("none")]));
    assert!(invalid.error.is_some());
    assert_eq!(invalid.result["valid"], false);
}

#[test]
fn unapproved_content_makes_the_batch_stale() {
    let workspace = test_workspace();
    workspace.put("a.txt", "a\n");
    workspace.put("b.txt", "b\n");
    let call = batch(vec![write("a.txt", "new"), replace("b.txt", "b", "c")]);
    let approved = workspace.tools.inputs(&call).unwrap();
    assert_eq!(approved.len(), 2);
    workspace.put("b.txt", "a b c\n");
    let done = workspace.run_approved(&call, &approved);
    let error = done.error.unwrap();
    assert_eq!((error.code(), error.is_refusal()), (Code::Stale, false));
    assert_eq!(done.result["valid"], true);
    assert_eq!(done.result["committed"], false);
    assert_eq!(workspace.content("a.txt"), b"a\n");
    let done = workspace.run_approved(&call, &std::collections::BTreeMap::new());
    assert_eq!(done.error.unwrap().code(), Code::Stale);
}

#[test]
fn previews_after_a_batch_use_its_result() {
    let workspace = test_workspace();
    workspace.put("a.txt", "a\n");
    let mut overlay = Overlay::default();
    workspace.tools.project(&batch(vec![rename("a.txt", "b.txt")]), &mut overlay).unwrap();
    workspace
        .tools
        .project(&batch(vec![delete("none"), write("c.txt", "")]), &mut overlay)
        .unwrap();
    let call = batch(vec![replace("b.txt", "a", "z")]);
    let preview = workspace.tools.preview(&call, &overlay).unwrap();
    let Diff::Text { added: 1, removed: 1, .. } = preview.changes[0].diff else {
        panic!("{preview:?}")
    };
    assert_eq!(preview.changes[0].before, content("a\n"));
    assert!(preview.notes.iter().any(|note| note.contains("An earlier step leaves b.txt")));
    let gone = workspace.tools.preview(&batch(vec![delete("a.txt")]), &overlay).unwrap();
    assert!(gone.would_fail());
    let absent = workspace.tools.preview(&batch(vec![delete("c.txt")]), &overlay).unwrap();
    assert!(absent.would_fail(), "a batch that fails leaves nothing");
}

#[test]
fn batch_without_net_change_says_so() {
    let workspace = test_workspace();
    workspace.put("a.txt", "a\n");
    let call =
        batch(vec![write("a.txt", "b"), create("x", ""), delete("x"), write("a.txt", "a\n")]);
    let preview = workspace.tools.preview(&call, Overlay::empty()).unwrap();
    assert!(preview.summary.starts_with("This step changes nothing"), "{}", preview.summary);
    let done = workspace.succeeds(&call);
    assert!(done.files.is_empty());
    assert_eq!(done.result["committed"], true);
    assert_eq!(workspace.names(), ["a.txt"]);
}

#[test]
fn batch_over_the_memory_limit_is_refused() {
    let workspace = test_workspace();
    for name in ["a", "b"] {
        workspace.put(name, vec![0; 600 << 10]);
    }
    let (_, message) = workspace.fails(&batch(vec![delete("a"), delete("b")]));
    assert!(
        message.contains("edit 2 (delete)") && message.contains("together more than"),
        "{message}"
    );
    workspace.succeeds(&batch(vec![delete("a"), create("c", "")]));
}

#[test]
fn written_keys_are_canonical_paths() {
    let workspace = test_workspace();
    workspace.put(".git/config", "x");
    workspace.put("run.sh", "x");
    workspace.link("innocent", ".git/config");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(workspace.path("run.sh"), mode).unwrap();
    let call = batch(vec![write("innocent", "y"), rename("run.sh", "new.sh")]);
    let now = workspace.tools.now();
    assert_eq!(now.written_keys(&call).unwrap(), [".git/config", "run.sh", "new.sh"]);
    assert!(now.key_and_is_executable("run.sh").unwrap().1);
    assert_eq!(now.input_keys(&call).unwrap().len(), 3);
}
