//! `file_read`, `file_write` and `file_create`.

use std::os::unix::fs::{MetadataExt, PermissionsExt};

use proptest::prelude::*;

use super::*;
use crate::run::{EdgeType, FileMode, Modes, TargetKind};
use crate::workspace::Access;

/// A path through a file. It fails also for root, who ignores permissions.
const THROUGH_A_FILE: &str = "file/below";

#[test]
fn reading_gives_the_exact_bytes() {
    let workspace = test_workspace();
    for bytes in [
        &b""[..],
        b"no final newline",
        b"one\r\ntwo\r\n",
        b"\xef\xbb\xbfwith a mark\n",
        b"\xff\xfe\x00binary",
        b"\0",
    ] {
        workspace.put("f", bytes);
        let call_result = workspace.succeeds(&read("f"));
        assert_eq!(call_result.stdout.as_deref(), Some(bytes));
        assert_eq!(call_result.result["bytes"], bytes.len());
        assert_eq!(call_result.result["sha256"], Digest::of(bytes).to_string());
        assert_eq!(call_result.result.get("lines").is_some(), std::str::from_utf8(bytes).is_ok());
        assert!(call_result.files.is_empty());
    }
    assert!(workspace.tools.inputs(&read("f")).unwrap().is_empty());
    assert!(
        workspace
            .tools
            .preview_with_effects(&read("f"), &StopSignal::default())
            .unwrap()
            .1
            .is_empty()
    );
}

#[test]
fn unreadable_paths_are_errors_and_never_block() {
    let workspace = test_workspace();
    workspace.put("file", "x");
    fs::create_dir(workspace.path("folder")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        workspace.path("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(workspace.path("socket")).unwrap();
    workspace.link("dangling", "nothing");
    workspace.link("to_pipe", "pipe");
    for (path, words) in [
        ("missing", "does not exist"),
        ("dangling", "does not exist"),
        (THROUGH_A_FILE, "does not exist"),
        ("folder", "is a folder"),
        (".", "is a folder"),
        ("pipe", "is a device, pipe or socket"),
        ("to_pipe", "is a device, pipe or socket"),
        ("socket", "is a device, pipe or socket"),
    ] {
        let (code, message) = workspace.fails(&read(path));
        assert_eq!(code, Code::ReadFailed, "{path}");
        assert!(message.contains(words), "{message}");
        let preview = workspace.tools.preview(&read(path), &Overlay::default()).unwrap();
        assert!(preview.summary.contains(words), "{}", preview.summary);
    }
    // A pipe that replaces the file after the check is opened without blocking, and refused.
    let dir = cap_std::fs::Dir::open_ambient_dir(
        workspace.tools.workspace(),
        cap_std::ambient_authority(),
    )
    .unwrap();
    let open = |name| file::open(&dir, Path::new(name), name, Access::Read).unwrap_err();
    assert!(matches!(open("pipe"), WorkspaceError::NotAFile { .. }), "{:?}", open("pipe"));
    // A link is not followed.
    assert!(matches!(open("to_pipe"), WorkspaceError::ReadFailed { .. }), "{:?}", open("to_pipe"));
}

#[test]
fn oversized_file_is_not_read() {
    let workspace = test_workspace();
    let file = fs::File::create(workspace.path("sparse")).unwrap();
    file.set_len(file::FILE_BYTES + 1).unwrap();
    let (code, message) = workspace.fails(&read("sparse"));
    assert_eq!(code, Code::ReadFailed);
    assert!(message.contains(&file::FILE_BYTES.to_string()), "{message}");
}

#[test]
fn writing_keeps_the_mode_and_reports_changes() {
    let workspace = test_workspace();
    workspace.put("tool.sh", "old");
    fs::set_permissions(workspace.path("tool.sh"), fs::Permissions::from_mode(0o751)).unwrap();
    let call = write("tool.sh", "new\r\n");
    let predicted = workspace.tools.preview_with_effects(&call, &StopSignal::default()).unwrap().1;
    let call_result = workspace.succeeds(&call);
    assert_eq!(workspace.content("tool.sh"), b"new\r\n");
    assert_eq!(fs::metadata(workspace.path("tool.sh")).unwrap().mode() & 0o7777, 0o751);
    assert_eq!(workspace.names(), ["tool.sh"], "no temporary file is left");
    assert_eq!(call_result.stdout, None);
    assert_eq!(predicted, call_result.files, "it did what was predicted");
    assert_eq!(predicted[0].modes, Modes::kept(Some(FileMode::new(0o751))));
    let effect = &call_result.files[0];
    assert_eq!((effect.before, effect.after), (content("old"), content("new\r\n")));
    assert_eq!(effect.before_bytes.as_deref(), Some(&b"old"[..]));
    assert_eq!(effect.after_bytes.as_deref(), Some(&b"new\r\n"[..]));
    assert_eq!(
        call_result.result,
        serde_json::json!({
            "changed_files": [{
                "path": "tool.sh",
                "before": Digest::of(b"old").to_string(),
                "after": Digest::of(b"new\r\n").to_string(),
            }],
            "bytes": 5,
        })
    );
    assert!(call_result.edges.contains(&Edge {
        edge_type: EdgeType::Affected,
        target_kind: TargetKind::File,
        target: "tool.sh".to_owned(),
    }));
}

#[test]
fn writing_creates_a_missing_file_but_no_folder() {
    let workspace = test_workspace();
    workspace.succeeds(&write("new", ""));
    assert_eq!(workspace.content("new"), b"");
    let (code, message) = workspace.fails(&write("no/new", "x"));
    assert_eq!((code, message.contains("folder does not exist")), (Code::WriteFailed, true));
    let (preview, files) = workspace
        .tools
        .preview_with_effects(&write("no/new", "x"), &StopSignal::default())
        .unwrap();
    assert!(preview.would_fail() && preview.summary.contains("folder does not exist"));
    assert_eq!(files, []);
}

#[test]
fn writing_goes_through_a_link_inside_the_workspace() {
    let workspace = test_workspace();
    workspace.put("src/a", "old");
    workspace.link("link", "src/a");
    workspace.link("dangling", "src/b");
    workspace.succeeds(&write("link", "new"));
    workspace.succeeds(&write("dangling", "b"));
    assert_eq!(workspace.content("src/a"), b"new");
    assert_eq!(workspace.content("src/b"), b"b");
    assert!(fs::symlink_metadata(workspace.path("link")).unwrap().is_symlink());
}

#[test]
fn folders_and_impossible_names_are_not_written() {
    let workspace = test_workspace();
    workspace.put("file", "x");
    fs::create_dir(workspace.path("folder")).unwrap();
    for path in ["folder", ".", THROUGH_A_FILE] {
        assert_eq!(workspace.fails(&write(path, "x")).0, Code::WriteFailed, "{path}");
        assert_eq!(workspace.fails(&create(path, "x")).0, Code::WriteFailed, "{path}");
    }
    assert!(workspace.fails(&write(THROUGH_A_FILE, "x")).1.contains("Not a directory"));
    // The folder is created before the system refuses the name, and then removed.
    let long = "n".repeat(300);
    let (code, message) = workspace.fails(&create(&format!("new/{long}"), "x"));
    assert_eq!(code, Code::WriteFailed);
    assert!(message.contains("name too long"), "{message}");
}

#[test]
fn creating_makes_folders_and_refuses_what_exists() {
    let workspace = test_workspace();
    let call = create("docs/deep/n.md", "x\n");
    let predicted = workspace.tools.preview_with_effects(&call, &StopSignal::default()).unwrap().1;
    let call_result = workspace.succeeds(&call);
    assert_eq!(workspace.content("docs/deep/n.md"), b"x\n");
    assert_eq!(call_result.result["created_folders"], serde_json::json!(["docs", "docs/deep"]));
    assert_eq!(call_result.result["changed_files"][0]["before"], serde_json::Value::Null);
    assert_eq!(predicted, predictable(&call_result.files, &predicted));
    workspace.link("dangling", "nothing");
    workspace.link("link", "docs/deep/n.md");
    for path in ["docs/deep/n.md", "docs", "dangling", "link"] {
        let (code, message) = workspace.fails(&create(path, "other"));
        assert_eq!(code, Code::WriteFailed, "{path}");
        assert!(message.contains("exists already"), "{message}");
    }
    assert_eq!(workspace.content("docs/deep/n.md"), b"x\n");
}

#[test]
fn only_one_of_concurrent_creations_succeeds() {
    let workspace = test_workspace();
    let successes: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|n| {
                let (workspace, text) = (&workspace, format!("content of {n}"));
                scope.spawn(move || {
                    let expected = BTreeMap::from([("new/f".to_owned(), FileState::Absent)]);
                    let call_result = workspace.run_approved(&create("new/f", &text), &expected);
                    call_result.error.is_none().then_some(text)
                })
            })
            .collect();
        threads.into_iter().filter_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(successes.len(), 1);
    assert_eq!(workspace.content("new/f"), successes[0].as_bytes());
    assert_eq!(workspace.names(), ["new", "new/f"]);
}

#[test]
fn changed_target_is_stale_and_untouched() {
    let workspace = test_workspace();
    workspace.put("f", "approved");
    for (call, key) in
        [(write("f", "new"), "f"), (write("new", "new"), "new"), (create("c", "new"), "c")]
    {
        let expected = workspace.tools.inputs(&call).unwrap();
        workspace.put(key, "changed since");
        let names = workspace.names();
        for expected in [expected, BTreeMap::new()] {
            let call_result = workspace.run_approved(&call, &expected);
            let error = call_result.error.unwrap();
            assert_eq!(error.code(), Code::Stale, "{error}");
            assert!(call_result.files.is_empty());
            assert_eq!(workspace.content(key), b"changed since");
            assert_eq!(workspace.names(), names);
        }
    }
    // A link that was changed to lead to another file resolves to a path that is not authorized.
    workspace.put("a", "same");
    workspace.put("b", "same");
    workspace.link("link", "a");
    let expected = workspace.tools.inputs(&write("link", "new")).unwrap();
    fs::remove_file(workspace.path("link")).unwrap();
    workspace.link("link", "b");
    let error = workspace.run_approved(&write("link", "new"), &expected).error.unwrap();
    assert_eq!(error.code(), Code::Stale);
    assert_eq!(workspace.content("b"), b"same");
}

#[test]
fn stop_prevents_reading_writing_and_searching() {
    let workspace = test_workspace();
    workspace.put("f", "x");
    workspace.stop.set();
    for call in [read("f"), write("f", "y"), create("new/g", "y"), search("x", "."), glob("*", ".")]
    {
        assert_eq!(workspace.fails(&call).0, Code::Cancelled, "{call:?}");
    }
    assert_eq!(workspace.content("f"), b"x");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn writes_read_back_and_change_nothing_else(
        contents in any::<String>(), old in proptest::option::of(any::<Vec<u8>>()),
    ) {
        let workspace = test_workspace();
        workspace.put("sub/neighbour", "n");
        if let Some(old) = &old {
            workspace.put("sub/f", old);
        }
        let call_result = workspace.succeeds(&write("sub/f", &contents));
        prop_assert_eq!(call_result.files[0].before_bytes.as_deref(), old.as_deref());
        let bytes = workspace.succeeds(&read("sub/f")).stdout;
        prop_assert_eq!(bytes.as_deref(), Some(contents.as_bytes()));
        prop_assert_eq!(workspace.names(), ["sub", "sub/f", "sub/neighbour"]);
        prop_assert_eq!(workspace.content("sub/neighbour"), b"n");
        prop_assert_eq!(workspace.tools.digest_of("sub/f").unwrap(), call_result.files[0].after);
    }
}
