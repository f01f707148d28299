//! The tools on a real folder: successes and failures.

mod bounds;
mod cargo;
mod code;
mod codegraph;
mod own_folders;
mod paths;
mod preview;
mod read_write;
mod search;
mod source;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;
use uuid::Uuid;

use super::*;
use crate::authorization::FileState;
use crate::plan::{Code, Digest, ToolCall};
use crate::process::NoCapture;
use crate::risk::Policy;
use crate::run::{Edge, ErrorInfo as _, FileEffect, Preview, StopSignal, Stream};
use crate::workspace::{Kind, Overlay, WorkspaceError, file};

/// The changes without the modes that cannot be predicted, because the system chooses them.
pub(super) fn predictable(done: &[FileEffect], predicted: &[FileEffect]) -> Vec<FileEffect> {
    let mut done = done.to_vec();
    for (done, predicted) in done.iter_mut().zip(predicted) {
        // A new file, or a file that was replaced by a new one.
        if predicted.after != FileState::Absent && predicted.modes.after.is_none() {
            assert!(done.modes.after.take().is_some(), "{} has a mode", done.path);
        }
    }
    done
}

/// A workspace `ws` beside a folder `outside`, which no tool may access.
pub(super) struct TestWorkspace {
    pub(super) folder: TempDir,
    pub(super) tools: Toolbox,
    pub(super) stop: StopSignal,
}

#[must_use]
pub(super) fn test_workspace() -> TestWorkspace {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("ws")).unwrap();
    fs::create_dir(folder.path().join("outside")).unwrap();
    fs::write(folder.path().join("outside/secret"), "secret").unwrap();
    let tools = Toolbox::open(&folder.path().join("ws"), &Policy::default()).unwrap();
    TestWorkspace { folder, tools, stop: StopSignal::default() }
}

impl TestWorkspace {
    pub(super) fn path(&self, relative: &str) -> PathBuf {
        self.tools.workspace().join(relative)
    }

    pub(super) fn put(&self, relative: &str, content: impl AsRef<[u8]>) {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(super) fn content(&self, relative: &str) -> Vec<u8> {
        fs::read(self.path(relative)).unwrap()
    }

    pub(super) fn link(&self, name: &str, target: impl AsRef<Path>) {
        std::os::unix::fs::symlink(target, self.path(name)).unwrap();
    }

    /// Every name below the workspace, sorted.
    pub(super) fn names(&self) -> Vec<String> {
        fn collect(folder: &Path, below: &Path, names: &mut Vec<String>) {
            for entry in fs::read_dir(folder).unwrap() {
                let entry = entry.unwrap();
                let path = entry.path();
                names.push(path.strip_prefix(below).unwrap().to_str().unwrap().to_owned());
                if entry.file_type().unwrap().is_dir() {
                    collect(&path, below, names);
                }
            }
        }
        let mut names = Vec::new();
        collect(self.tools.workspace(), self.tools.workspace(), &mut names);
        names.sort();
        names
    }

    /// Runs the call with the present states of its input files as the authorized ones.
    pub(super) fn run(&self, call: &ToolCall) -> CallResult {
        let expected = self.tools.inputs(call).unwrap_or_default();
        self.run_approved(call, &expected)
    }

    pub(super) fn run_approved(
        &self,
        call: &ToolCall,
        expected: &BTreeMap<String, FileState>,
    ) -> CallResult {
        let written = Cell::new(0);
        let output = |_: Stream, text: &str| written.set(written.get() + text.len());
        let execution_id = Uuid::new_v4();
        let context = Context {
            expected,
            stop: &self.stop,
            execution_id,
            output: &output,
            capture: &NoCapture,
            walls: crate::authorization::StepWalls::NONE,
            terminal: None,
        };
        self.tools.invoke(call, &context)
    }

    /// The error of the call. Checks that the call has changed nothing.
    pub(super) fn fails(&self, call: &ToolCall) -> (Code, String) {
        let before = self.names();
        let call_result = self.run(call);
        let error = call_result.error.expect("the call fails");
        assert!(call_result.files.is_empty(), "a failed call has no effect");
        assert_eq!(self.names(), before, "and leaves no name behind");
        assert!(!error.next().is_empty());
        assert_eq!(
            fs::read(self.folder.path().join("outside/secret")).unwrap(),
            b"secret",
            "and nothing outside is touched"
        );
        (error.code(), error.to_string())
    }

    pub(super) fn succeeds(&self, call: &ToolCall) -> CallResult {
        let call_result = self.run(call);
        assert!(call_result.error.is_none(), "{:?}", call_result.error);
        assert_eq!(call_result.exit_code, None, "no process ran");
        call_result
    }
}

fn read(path: &str) -> ToolCall {
    ToolCall::FileRead { path: path.to_owned() }
}

fn write(path: &str, contents: &str) -> ToolCall {
    ToolCall::FileWrite { path: path.to_owned(), contents: contents.to_owned() }
}

fn create(path: &str, contents: &str) -> ToolCall {
    ToolCall::FileCreate { path: path.to_owned(), contents: contents.to_owned() }
}

fn search(pattern: &str, root: &str) -> ToolCall {
    ToolCall::FileSearch { pattern: pattern.to_owned(), root: root.to_owned() }
}

fn glob(pattern: &str, root: &str) -> ToolCall {
    ToolCall::FileGlob { pattern: pattern.to_owned(), root: root.to_owned() }
}

pub(super) fn content(text: &str) -> FileState {
    FileState::Content(Digest::of(text.as_bytes()))
}

#[test]
fn files_named_by_a_splice_plan_are_inputs() {
    let workspace = test_workspace();
    workspace.put("plans/p.json", r#"{"steps":[{"file":"../a.rs","symbol":"f","with":"new.rs"}]}"#);
    workspace.put("a.rs", "a");
    let call = ToolCall::SplicePlan { plan_file: "plans/p.json".to_owned() };
    let inputs = workspace.tools.inputs(&call).unwrap();
    assert_eq!(inputs.keys().collect::<Vec<_>>(), ["a.rs", "plans/new.rs", "plans/p.json"]);
    assert_eq!(inputs["a.rs"], content("a"));
    assert_eq!(inputs["plans/new.rs"], FileState::Absent);
    workspace.put(
        "plans/p.json",
        r#"{"steps":[{"file":"../../outside/secret","symbol":"f","with":"x"}]}"#,
    );
    let error = workspace.tools.inputs(&call).unwrap_err();
    assert!(matches!(error.get(), Some(WorkspaceError::Outside { .. })));
    workspace.put("plans/p.json", "no json");
    assert_eq!(workspace.tools.inputs(&call).unwrap().len(), 1);
}
