//! Simulations with real cargo on small workspaces without dependencies, and so without a network.

mod copying;
mod forms;
mod model;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;
use uuid::Uuid;

use super::settings::Limits;
use crate::plan::{Edit, Simulation, ToolCall, VerifyScope};
use crate::process::NoCapture;
use crate::risk::Policy;
use crate::run::{Diff, EdgeType, Preview, StopSignal, Stream};
use crate::tools::{CallResult, Context, Toolbox};
use crate::workspace::Overlay;

/// A workspace, and a folder beside it for its simulations.
struct Fixture {
    folder: TempDir,
    tools: Toolbox,
    stop: StopSignal,
}

/// Every name below a folder, with all properties that a change could affect.
type Tree = BTreeMap<PathBuf, (u32, u64, i64, i64, Vec<u8>)>;

fn tree(top: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut folders = vec![top.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let data = fs::symlink_metadata(&path).unwrap();
            let content = match &data {
                data if data.is_dir() => {
                    folders.push(path.clone());
                    Vec::new()
                }
                data if data.is_symlink() => {
                    fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
                }
                data if data.is_file() => fs::read(&path).unwrap(),
                _ => Vec::new(),
            };
            let entry = (data.mode(), data.ino(), data.mtime(), data.mtime_nsec(), content);
            tree.insert(path.strip_prefix(top).unwrap().to_owned(), entry);
        }
    }
    tree
}

impl Fixture {
    fn with(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("ws")).unwrap();
        let mut tools = Toolbox::open(&folder.path().join("ws"), &Policy::default()).unwrap();
        tools.simulations.parent = Some(folder.path().join("scratch"));
        let fixture = Self { folder, tools, stop: StopSignal::default() };
        files.iter().for_each(|(path, content)| fixture.put(path, content));
        fixture
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join("ws").join(path)
    }

    fn put(&self, path: &str, content: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn link(&self, path: &str, target: impl AsRef<Path>) {
        symlink(target, self.path(path)).unwrap();
    }

    /// The files that remain in the folder of the simulations, except for its lock.
    fn scratch_files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.folder.path().join("scratch")).into_iter().flatten();
        let paths = entries.map(|entry| entry.unwrap().path());
        paths.filter(|path| !path.ends_with("door")).collect()
    }

    /// Runs a simulation, and checks that the workspace is unchanged and the scratch folder is removed.
    /// `on_output` receives the streamed output.
    fn simulate_with(&self, simulation: Simulation, on_output: &dyn Fn(&str)) -> Simulated {
        let before = tree(&self.path(""));
        let call = ToolCall::Simulate(simulation);
        let expected = self.tools.inputs(&call).unwrap();
        let printed = RefCell::new([String::new(), String::new()]);
        let call_result = self.tools.invoke(
            &call,
            &Context {
                expected: &expected,
                stop: &self.stop,
                execution_id: Uuid::new_v4(),
                output: &|stream, text| {
                    printed.borrow_mut()[usize::from(stream == Stream::Stderr)].push_str(text);
                    on_output(text);
                },
                capture: &NoCapture,
                walls: crate::authorization::StepWalls::NONE,
                terminal: None,
            },
        );
        assert_eq!(tree(&self.path("")), before, "the workspace is as it was");
        assert_eq!(self.scratch_files(), Vec::<PathBuf>::new(), "nothing is left of the copy");
        assert!(call_result.files.is_empty() && call_result.side_effects.is_empty());
        let affects = |edge: &EdgeType| matches!(edge, EdgeType::Affected | EdgeType::ExecutedOn);
        assert!(!call_result.edges.iter().any(|edge| affects(&edge.edge_type)), "{call_result:?}");
        Simulated { call_result, printed: printed.into_inner() }
    }

    fn simulate(&self, simulation: Simulation) -> Simulated {
        self.simulate_with(simulation, &|_| {})
    }

    fn edits(&self, edits: Vec<Edit>, verify: Option<VerifyScope>) -> Simulated {
        self.simulate(Simulation::Edits { edits, verify })
    }

    fn steps(&self, steps: Vec<ToolCall>) -> Simulated {
        self.simulate(Simulation::Steps { steps, verify: None })
    }

    fn function(&self, name: &str, inputs: &[&str], traces: bool) -> Simulated {
        self.simulate(function(name, inputs, traces))
    }

    fn preview(&self, simulation: Simulation) -> Preview {
        let before = tree(self.folder.path());
        let call = ToolCall::Simulate(simulation);
        let preview = self.tools.preview(&call, Overlay::empty()).unwrap();
        assert_eq!(tree(self.folder.path()), before, "not even a folder is made for a preview");
        preview
    }
}

fn function(name: &str, inputs: &[&str], trace_enabled: bool) -> Simulation {
    let inputs = inputs.iter().map(|input| (*input).to_owned()).collect();
    Simulation::Function { function: name.to_owned(), inputs, trace_enabled }
}

/// The result of a simulation, and its output.
struct Simulated {
    call_result: CallResult,
    printed: [String; 2],
}

impl Simulated {
    #[track_caller]
    fn succeeds(self) -> Self {
        assert!(self.call_result.error.is_none(), "{:?} {:?}", self.call_result, self.printed);
        self
    }

    #[track_caller]
    fn error(&self) -> (&'static str, String) {
        let error = self.call_result.error.as_ref().expect("it fails");
        assert!(!error.next().is_empty());
        (error.code().as_str(), error.to_string())
    }

    fn result(&self) -> &Value {
        &self.call_result.result
    }

    /// The changed files on the copy, with their numbers of added and removed lines.
    fn changes(&self) -> Vec<(String, usize, usize)> {
        let count = |diff: &Diff| match diff {
            Diff::Text { added, removed, .. } => (*added, *removed),
            other => panic!("{other:?}"),
        };
        let changes = self.call_result.simulated.iter().map(|change| {
            let (added, removed) = count(&change.diff);
            (change.path.clone(), added, removed)
        });
        changes.collect()
    }

    /// The paths in the result, and whether each change was predicted.
    fn predicted(&self) -> Vec<(&str, bool)> {
        let rows = self.result()["changed_files"].as_array().unwrap();
        let row = |row: &'_ Value| row["predicted"].as_bool().unwrap();
        rows.iter().map(|it| (it["path"].as_str().unwrap(), row(it))).collect()
    }
}

fn write(path: &str, contents: &str) -> Edit {
    Edit::Write { path: path.to_owned(), contents: contents.to_owned() }
}

const MANIFEST: &str = "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";

/// A crate with these files.
fn app(files: &[(&str, &str)]) -> Fixture {
    let fixture = Fixture::with(files);
    fixture.put("Cargo.toml", MANIFEST);
    fixture
}
