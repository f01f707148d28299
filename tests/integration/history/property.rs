//! Random sequences of edits by plans and by hand, undo, redo and restore (SPEC §9): no later work is lost, a
//! refusal changes nothing, and `.git` is unchanged.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;

use crate::harness::{FinishedRun, Harness, set_mode, tree};
use crate::harness::{batch, redo, restore, undo, undo_of};

const FILES: [&str; 4] = ["a", "b", "sub/c", "sub/deep/d"];

#[derive(Debug, Clone)]
enum Act {
    /// A file written by a plan.
    Write(usize, u8),
    WriteTwo(usize, usize, u8),
    Delete(usize),
    Rename(usize, usize),
    /// A file written by hand, without a record.
    HandWrite(usize, Vec<u8>),
    HandDelete(usize),
    HandRename(usize, usize),
    HandMode(usize, u32),
    Undo,
    Redo,
    /// An undo of one of the earlier runs.
    UndoOf(prop::sample::Index),
    Restore(prop::sample::Index),
}

fn any_file() -> impl Strategy<Value = usize> {
    0..FILES.len()
}

fn any_plan_act() -> impl Strategy<Value = Act> {
    prop_oneof![
        3 => (any_file(), any::<u8>()).prop_map(|(file, text)| Act::Write(file, text)),
        1 => (any_file(), any_file(), any::<u8>()).prop_map(|(a, b, text)| Act::WriteTwo(a, b, text)),
        1 => any_file().prop_map(Act::Delete),
        1 => (any_file(), any_file()).prop_map(|(from, to)| Act::Rename(from, to)),
    ]
}

fn any_act() -> impl Strategy<Value = Act> {
    let bytes = prop::collection::vec(any::<u8>(), 0..6);
    prop_oneof![
        4 => any_plan_act(),
        2 => (any_file(), bytes).prop_map(|(file, bytes)| Act::HandWrite(file, bytes)),
        1 => any_file().prop_map(Act::HandDelete),
        1 => (any_file(), any_file()).prop_map(|(from, to)| Act::HandRename(from, to)),
        1 => (any_file(), select(vec![0o600, 0o644, 0o755]))
            .prop_map(|(file, mode)| Act::HandMode(file, mode)),
        3 => Just(Act::Undo),
        2 => Just(Act::Redo),
        2 => any::<prop::sample::Index>().prop_map(Act::UndoOf),
        2 => any::<prop::sample::Index>().prop_map(Act::Restore),
    ]
}

/// Every file with its content and mode.
type Tree = BTreeMap<String, (Vec<u8>, u32)>;

fn files_with_modes(harness: &Harness) -> Tree {
    let with_mode = |(path, bytes): (String, Vec<u8>)| {
        let mode = fs::metadata(harness.path(&path)).unwrap().mode();
        (path, (bytes, mode))
    };
    tree(&harness.workspace()).into_iter().map(with_mode).collect()
}

fn git_files(tree: &Tree) -> Tree {
    tree.iter()
        .filter(|it| it.0.starts_with(".git/"))
        .map(|it| (it.0.clone(), it.1.clone()))
        .collect()
}

fn content(tree: &Tree, path: &str) -> Option<Vec<u8>> {
    tree.get(path).map(|it| it.0.clone())
}

/// The change of one file by one recorded step, or the state in which the step found and left it.
struct RecordedChange {
    run: usize,
    before: Option<Vec<u8>>,
    after: Option<Vec<u8>>,
}

/// A workspace, and the recorded changes of each file.
struct World {
    harness: Harness,
    runs: Vec<FinishedRun>,
    changes: BTreeMap<&'static str, Vec<RecordedChange>>,
}

impl World {
    fn new() -> Self {
        let harness = Harness::with(&[
            ("a", "first\n"),
            (".git/HEAD", "ref: refs/heads/main\n"),
            (".git/objects/ab/cdef", "\u{1}\u{2}"),
        ]);
        set_mode(&harness.path(".git/HEAD"), 0o640);
        Self { harness, runs: Vec::new(), changes: BTreeMap::new() }
    }

    fn plan(&self, act: &Act) -> Option<serde_json::Value> {
        let there = files_with_modes(&self.harness);
        let write = |file: &usize, text: &u8| json!({ "op": "write", "path": FILES[*file], "contents": format!("{text}\n") });
        // A write needs an existing folder; a create makes it.
        let put = |file: &usize, text: &u8| {
            let mut edit = write(file, text);
            if !there.contains_key(FILES[*file]) {
                edit["op"] = "create".into();
            }
            edit
        };
        Some(match act {
            Act::Write(file, text) => batch(json!([put(file, text)])),
            Act::WriteTwo(a, b, text) if a != b => batch(json!([put(a, text), put(b, text)])),
            Act::Delete(file) => batch(json!([{ "op": "delete", "path": FILES[*file] }])),
            Act::Rename(from, to) if from != to => {
                batch(json!([{ "op": "rename", "path": FILES[*from], "to": FILES[*to] }]))
            }
            Act::Undo => undo(),
            Act::Redo => redo(),
            Act::UndoOf(index) if !self.runs.is_empty() => {
                undo_of(&self.runs[index.index(self.runs.len())].checkpoint())
            }
            Act::Restore(index) if !self.runs.is_empty() => {
                restore(&self.runs[index.index(self.runs.len())].checkpoint())
            }
            _ => return None,
        })
    }

    /// Changes a file without the program. Does nothing where that is not possible.
    fn by_hand(&self, act: &Act) {
        let path = |file: &usize| self.harness.path(FILES[*file]);
        match act {
            Act::HandWrite(file, bytes) => self.harness.put(FILES[*file], bytes),
            Act::HandDelete(file) => drop(fs::remove_file(path(file))),
            Act::HandRename(from, to) => {
                fs::create_dir_all(path(to).parent().unwrap()).unwrap();
                drop(fs::rename(path(from), path(to)));
            }
            Act::HandMode(file, mode) => {
                drop(fs::set_permissions(path(file), fs::Permissions::from_mode(*mode)));
            }
            _ => {}
        }
    }

    fn act(&mut self, act: &Act) -> Result<(), TestCaseError> {
        let Some(plan) = self.plan(act) else {
            self.by_hand(act);
            return Ok(());
        };
        let before = files_with_modes(&self.harness);
        let ran = self.harness.run(&plan);
        let after = files_with_modes(&self.harness);
        prop_assert_eq!(git_files(&before), git_files(&after));
        if ran.words().1 != "completed" {
            prop_assert_eq!(before, after, "what is refused changes nothing: {:?}", ran.codes());
            prop_assert!(
                matches!(ran.codes()[0], Some("E101" | "E311" | "E302" | "E304")),
                "{:?}",
                ran.result()
            );
            return Ok(());
        }
        let goes_back = matches!(act, Act::Undo | Act::Redo | Act::UndoOf(_) | Act::Restore(_));
        let found = if goes_back { self.files_of(&ran) } else { Vec::new() };
        for path in FILES {
            let (was, is) = (content(&before, path), content(&after, path));
            if was == is {
                // The step found the file as it was to make it, whoever did that. From here on, the history contains
                // this state.
                if found.iter().any(|it| it == path) {
                    self.record(path, was, is);
                }
                continue;
            }
            if let (Some(was), Some(is), true) = (before.get(path), after.get(path), goes_back) {
                prop_assert_eq!(was.1, is.1, "the mode of {} stays", path);
            }
            if goes_back {
                self.check_kept(act, path, &was)?;
            }
            self.record(path, was, is);
        }
        self.runs.push(ran);
        Ok(())
    }

    fn record(&mut self, path: &'static str, before: Option<Vec<u8>>, after: Option<Vec<u8>>) {
        let change = RecordedChange { run: self.runs.len(), before, after };
        self.changes.entry(path).or_default().push(change);
    }

    /// The files that a run restored or found restored.
    fn files_of(&self, ran: &FinishedRun) -> Vec<String> {
        self.harness.texts(
            "SELECT target FROM edges JOIN executions ON executions.id = execution_id
             WHERE edge_type = 'EXECUTED_ON' AND target_kind = 'file' AND run_id = ?1",
            [ran.result().run_id.to_string()],
        )
    }

    /// Asserts that only contents left by recorded steps were replaced.
    fn check_kept(
        &self,
        act: &Act,
        path: &str,
        was: &Option<Vec<u8>>,
    ) -> Result<(), TestCaseError> {
        let changes = self.changes.get(path).map_or(&[][..], Vec::as_slice);
        let last = changes.last();
        prop_assert!(last.is_some(), "no step ever changed {}", path);
        prop_assert_eq!(&last.unwrap().after, was, "later work on {} is lost", path);
        if let Act::Restore(index) = act {
            let first = index.index(self.runs.len());
            let since: Vec<&RecordedChange> =
                changes.iter().filter(|change| change.run >= first).collect();
            for pair in since.windows(2) {
                prop_assert_eq!(&pair[0].after, &pair[1].before, "work on {} is lost", path);
            }
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn later_work_is_never_lost(acts in prop::collection::vec(any_act(), 1..16)) {
        let mut world = World::new();
        for act in &acts {
            world.act(act)?;
        }
    }

    #[test]
    fn untouched_files_are_undone_and_redone(
        acts in prop::collection::vec(any_plan_act(), 1..8),
    ) {
        let mut world = World::new();
        let mut trees = vec![files_with_modes(&world.harness)];
        for act in &acts {
            world.act(act)?;
            let now = files_with_modes(&world.harness);
            if trees.last() != Some(&now) {
                trees.push(now);
            }
        }
        let first = world.runs.first().map(FinishedRun::checkpoint);
        let contents = |tree: &Tree| -> Vec<_> {
            tree.iter().map(|(path, it)| (path.clone(), it.0.clone())).collect()
        };
        for earlier in trees.iter().rev().skip(1) {
            prop_assert_eq!(world.harness.run(&undo()).words().1, "completed");
            prop_assert_eq!(contents(&files_with_modes(&world.harness)), contents(earlier));
        }
        for later in trees.iter().skip(1) {
            prop_assert_eq!(world.harness.run(&redo()).words().1, "completed");
            prop_assert_eq!(contents(&files_with_modes(&world.harness)), contents(later));
        }
        if let Some(first) = first {
            prop_assert_eq!(world.harness.run(&restore(&first)).words().1, "completed");
            prop_assert_eq!(contents(&files_with_modes(&world.harness)), contents(&trees[0]));
        }
    }
}

#[test]
fn work_done_by_hand_is_redone_and_undone() {
    let mut world = World::new();
    let by_hand = Act::HandWrite(1, b"0\n".to_vec());
    for act in [Act::Write(1, 0), Act::Undo, by_hand, Act::Redo, Act::Undo] {
        world.act(&act).unwrap();
    }
    assert_eq!(world.runs.len(), 4, "nothing is refused");
    assert_eq!(world.harness.content(FILES[1]), None);
}
