//! No tool can access Countersign's own folders.

use std::fs;
use std::os::unix::fs::symlink;

use crate::plan::ToolCall;
use crate::process::NoCapture;
use crate::risk::Policy;
use crate::run::{ErrorInfo as _, StopSignal};
use crate::tools::{Context, Toolbox};
use crate::workspace::Overlay;

/// A workspace with an own folder `Own`, and links outside that folder to it and to a file in it.
fn fixture() -> (tempfile::TempDir, Toolbox) {
    let folder = tempfile::tempdir().unwrap();
    let ws = folder.path().canonicalize().unwrap().join("ws");
    fs::create_dir_all(ws.join("Own/deep")).unwrap();
    fs::create_dir_all(ws.join("src")).unwrap();
    fs::write(ws.join("Own/key"), "needle").unwrap();
    fs::write(ws.join("Own/deep/log.db"), "needle").unwrap();
    fs::write(ws.join("src/a.txt"), "needle").unwrap();
    symlink("Own", ws.join("link")).unwrap();
    symlink("../Own/key", ws.join("src/to-key")).unwrap();
    fs::hard_link(ws.join("Own/key"), ws.join("src/hard")).unwrap();
    fs::hard_link(ws.join("src/a.txt"), ws.join("src/b.txt")).unwrap();
    let policy = Policy { own_folders: vec![ws.join("Own")], ..Policy::default() };
    let tools = Toolbox::open(&ws, &policy).unwrap();
    (folder, tools)
}

#[test]
fn no_spelling_leads_into_an_own_folder() {
    let (_folder, tools) = fixture();
    let absolute = tools.workspace().join("Own/key").to_string_lossy().into_owned();
    for path in [
        "Own",
        "Own/key",
        "Own/deep/log.db",
        "Own/new",
        "./src/../Own/key",
        "link",
        "link/key",
        "src/to-key",
        "src/hard",
        &absolute,
        "own/key",
        "OWN/new",
        "O\u{200d}wn/new",
        "Own./new",
    ] {
        let error = tools.kind_of(path).unwrap_err();
        assert_eq!(error.code(), crate::plan::Code::OutsideWorkspace, "{path}: {error}");
        assert!(error.to_string().contains("Countersign itself"), "{path}: {error}");
    }
    for path in ["src/a.txt", "src/b.txt", "Owner/key", "src/Own"] {
        assert!(tools.kind_of(path).is_ok(), "{path}");
    }
}

#[test]
fn searches_and_lists_skip_own_folders() {
    let (_folder, tools) = fixture();
    for call in [
        ToolCall::FileSearch { pattern: "needle".to_owned(), root: ".".to_owned() },
        ToolCall::FileGlob { pattern: "**".to_owned(), root: ".".to_owned() },
    ] {
        let context = Context {
            expected: &std::collections::BTreeMap::new(),
            stop: &StopSignal::default(),
            execution_id: uuid::Uuid::nil(),
            output: &|_, _| {},
            capture: &NoCapture,
            walls: crate::authorization::StepWalls::NONE,
            terminal: None,
        };
        let found = tools.invoke(&call, &context);
        let text = String::from_utf8(found.stdout.unwrap()).unwrap();
        assert!(text.contains("src/a.txt"), "{text}");
        assert!(!text.contains("Own") && !text.contains("key"), "{text}");
    }
}

#[test]
fn workspace_inside_an_own_folder_is_refused() {
    let (_folder, tools) = fixture();
    let inside = tools.workspace().join("Own/deep");
    let policy = Policy { own_folders: vec![tools.workspace().join("Own")], ..Policy::default() };
    let tools = Toolbox::open(&inside, &policy).unwrap();
    assert!(tools.kind_of(".").is_err() && tools.kind_of("log.db").is_err());
    let call = ToolCall::FileCreate { path: "new".to_owned(), contents: String::new() };
    assert!(tools.preview(&call, Overlay::empty()).is_err());
}
