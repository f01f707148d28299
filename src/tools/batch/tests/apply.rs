//! Applying batches: every disk operation fails once, and other cases.

mod roll_back;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::sync::Arc;

use rustix::io::Errno;
use tempfile::TempDir;
use uuid::Uuid;

use super::super::apply::{Applied, apply_on};
use super::super::{NewMode, RolledBack, rename_modes};
use crate::authorization::FileState;
use crate::plan::{Code, Digest};
use crate::run::{FileEffect, FileMode, Modes, StopSignal};
use crate::workspace::{Disk, DiskOp, Root, Workspace, WorkspaceError, WriteContext};

/// Every name below a folder, with its mode and, for a file, its content.
type Tree = BTreeMap<String, (u32, Option<Vec<u8>>)>;

fn tree(folder: &Path) -> Tree {
    fn collect(folder: &Path, top: &Path, tree: &mut Tree) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let data = path.symlink_metadata().unwrap();
            let name = path.strip_prefix(top).unwrap().to_str().unwrap().to_owned();
            let content = data.is_file().then(|| fs::read(&path).unwrap());
            tree.insert(name, (data.mode(), content));
            if data.is_dir() {
                collect(&path, top, tree);
            }
        }
    }
    let mut tree = Tree::new();
    collect(folder, folder, &mut tree);
    tree
}

fn effect(path: &str, before: Option<&[u8]>, after: Option<&[u8]>) -> FileEffect {
    let state = |bytes: Option<&[u8]>| {
        bytes.map_or(FileState::Absent, |bytes| FileState::Content(Digest::of(bytes)))
    };
    FileEffect {
        path: path.to_owned(),
        before: state(before),
        after: state(after),
        before_bytes: before.map(Arc::from),
        after_bytes: after.map(Arc::from),
        modes: Modes::default(),
    }
}

/// A workspace with the files that [`Fixture::effects`] changes.
struct Fixture {
    folder: TempDir,
    workspace: Workspace,
    stop: StopSignal,
}

const BINARY: &[u8] = b"\0\xff\0binary";

impl Fixture {
    /// Two files to replace, one of them executable, one to delete, one to rename, and one that stays unchanged.
    fn new() -> Self {
        // The folder is in memory if possible, because some tests apply thousands of batches with many flushes.
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() { TempDir::new_in(memory) } else { TempDir::new() };
        let folder = folder.unwrap();
        let put = |name: &str, content: &[u8], mode: u32| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, content).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        };
        put("a.txt", b"old a\n", 0o640);
        put("b.sh", b"old b\n", 0o755);
        put("c.bin", BINARY, 0o600);
        put("d/e.sh", b"moved\n", 0o750);
        put("d/stays", b"stays\n", 0o644);
        let root = Root::open(folder.path(), true).unwrap();
        let workspace = Workspace::new(root, Vec::new(), Vec::new());
        Self { folder, workspace, stop: StopSignal::default() }
    }

    fn effects() -> Vec<FileEffect> {
        vec![
            effect("a.txt", Some(b"old a\n"), Some(b"new a\n")),
            effect("b.sh", Some(b"old b\n"), Some(b"new b\n")),
            effect("c.bin", Some(BINARY), None),
            effect("n/m/new.txt", None, Some(b"new\n")),
            effect("d/e.sh", Some(b"moved\n"), None),
            effect("f/g.sh", None, Some(b"moved\n")),
            effect("d/stays", Some(b"stays\n"), Some(b"stays\n")),
        ]
    }

    fn apply(&self, gate: &dyn Fn(DiskOp) -> io::Result<()>) -> Result<Applied, Box<RolledBack>> {
        let effects = Self::effects();
        self.apply_effects(Disk { gate }, &effects, &rename_modes(&effects))
    }

    fn apply_effects(
        &self,
        disk: Disk<'_>,
        effects: &[FileEffect],
        modes: &BTreeMap<String, NewMode>,
    ) -> Result<Applied, Box<RolledBack>> {
        let context = WriteContext {
            expected: &BTreeMap::new(),
            stop: &self.stop,
            execution_id: Uuid::new_v4(),
        };
        apply_on(disk, &self.workspace, effects, modes, &context)
    }

    fn tree(&self) -> Tree {
        tree(self.folder.path())
    }

    fn assert_applied(&self) {
        let tree = self.tree();
        let names: Vec<&str> = tree.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            ["a.txt", "b.sh", "d", "d/stays", "f", "f/g.sh", "n", "n/m", "n/m/new.txt"]
        );
        let assert_file = |name: &str, mode: Option<u32>, content: &[u8]| {
            let (found, bytes) = &tree[name];
            assert_eq!(bytes.as_deref().unwrap(), content, "{name}");
            if let Some(mode) = mode {
                assert_eq!(found & 0o7777, mode, "{name}");
            }
        };
        assert_file("a.txt", Some(0o640), b"new a\n");
        assert_file("b.sh", Some(0o755), b"new b\n");
        assert_file("n/m/new.txt", None, b"new\n");
        assert_file("f/g.sh", Some(0o750), b"moved\n");
        assert_file("d/stays", Some(0o644), b"stays\n");
    }
}

/// Fails the `n`th operation, counted from 0, and lets the others pass.
fn fail_at(n: usize) -> impl Fn(DiskOp) -> io::Result<()> {
    let operations = Cell::new(0);
    move |_| {
        operations.set(operations.get() + 1);
        if operations.get() == n + 1 { Err(Errno::IO.into()) } else { Ok(()) }
    }
}

#[test]
fn all_files_of_a_batch_are_changed() {
    let fixture = Fixture::new();
    let applied = fixture.apply(&|_| Ok(())).unwrap();
    assert_eq!(applied.created_folders, ["n", "n/m", "f"]);
    fixture.assert_applied();
    let modes: Vec<_> = applied
        .effects
        .iter()
        .map(|effect| {
            let modes = [effect.modes.before, effect.modes.after];
            (effect.path.as_str(), modes.map(|mode| mode.map(FileMode::bits)))
        })
        .collect();
    let new = fs::metadata(fixture.folder.path().join("n/m/new.txt")).unwrap().mode() & 0o7777;
    assert_eq!(
        modes,
        [
            ("a.txt", [Some(0o640), Some(0o640)]),
            ("b.sh", [Some(0o755), Some(0o755)]),
            ("c.bin", [Some(0o600), None]),
            ("n/m/new.txt", [None, Some(new)]),
            ("d/e.sh", [Some(0o750), None]),
            ("f/g.sh", [None, Some(0o750)]),
        ],
        "as they are on the disk"
    );
}

#[test]
fn a_file_gets_the_mode_that_was_recorded() {
    let fixture = Fixture::new();
    let effects =
        [effect("n.sh", None, Some(b"n\n")), effect("b.sh", Some(b"old b\n"), Some(b"b\n"))];
    let recorded = |path: &str, mode| (path.to_owned(), NewMode::Recorded(FileMode::new(mode)));
    let modes = BTreeMap::from([recorded("n.sh", 0o751), recorded("b.sh", 0o606)]);
    fixture.apply_effects(Disk::REAL, &effects, &modes).unwrap();
    let tree = fixture.tree();
    assert_eq!((tree["n.sh"].0 & 0o7777, tree["b.sh"].0 & 0o7777), (0o751, 0o606));
}

/// A write between the last check and the change is not lost.
#[test]
fn foreign_write_before_the_change_is_kept() {
    for (act, path) in [(DiskOp::Exchange, "a.txt"), (DiskOp::Move, "c.bin")] {
        let fixture = Fixture::new();
        let mut before = fixture.tree();
        let once = Cell::new(false);
        let gate = |now| {
            if now == act && !once.replace(true) {
                fs::write(fixture.folder.path().join(path), "theirs").unwrap();
            }
            Ok(())
        };
        let rolled_back = fixture.apply(&gate).expect_err("the file has changed");
        assert!(
            matches!(rolled_back.error.get(), Some(WorkspaceError::Stale { .. })),
            "{rolled_back:?}"
        );
        before.get_mut(path).unwrap().1 = Some(b"theirs".to_vec());
        assert_eq!(fixture.tree(), before);
    }
}

/// A write to a file that the batch has already changed stays, and the old content is kept beside it.
#[test]
fn foreign_write_after_the_change_is_kept() {
    let fixture = Fixture::new();
    let gate = |act| {
        if act == DiskOp::FlushFolder {
            fs::write(fixture.folder.path().join("a.txt"), "theirs").unwrap();
            return Err(Errno::IO.into());
        }
        Ok(())
    };
    let rolled_back = fixture.apply(&gate).expect_err("it fails");
    let [file] = rolled_back.not_restored.as_slice() else { panic!("{rolled_back:?}") };
    assert_eq!((file.effect.path.as_str(), file.state()), ("a.txt", "other"));
    let original = file.original.as_ref().unwrap();
    assert_eq!(fixture.tree()[original].1.as_deref(), Some(&b"old a\n"[..]));
    assert_eq!(fixture.tree()["a.txt"].1.as_deref(), Some(&b"theirs"[..]));
    let effects = rolled_back.effects();
    assert_eq!(effects.len(), 1);
    assert_eq!(effects[0].after, FileState::Content(Digest::of(b"theirs")));
}

#[test]
fn unexpected_content_is_found_before_any_change() {
    let fixture = Fixture::new();
    fs::write(fixture.folder.path().join("b.sh"), "theirs").unwrap();
    let before = fixture.tree();
    let rolled_back = fixture.apply(&|_| Ok(())).expect_err("it is stale");
    assert_eq!(rolled_back.error.code(), Code::Stale);
    assert!(
        rolled_back.not_restored.is_empty() && rolled_back.warnings.is_empty(),
        "{rolled_back:?}"
    );
    assert_eq!(fixture.tree(), before);
}

#[test]
fn links_replacing_files_or_folders_are_not_followed() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("a.txt"), "old a\n").unwrap();
    fs::create_dir(outside.path().join("n")).unwrap();
    for (name, code) in [("a.txt", Code::WriteFailed), ("n", Code::OutsideWorkspace)] {
        let fixture = Fixture::new();
        let path = fixture.folder.path().join(name);
        let _ = fs::remove_file(&path);
        std::os::unix::fs::symlink(outside.path().join(name), &path).unwrap();
        let before = fixture.tree();
        let rolled_back = fixture.apply(&|_| Ok(())).expect_err("a link");
        assert_eq!(rolled_back.error.code(), code, "{rolled_back:?}");
        assert!(
            rolled_back.not_restored.is_empty() && rolled_back.warnings.is_empty(),
            "{rolled_back:?}"
        );
        assert_eq!(fixture.tree(), before);
    }
    assert_eq!(fs::read(outside.path().join("a.txt")).unwrap(), b"old a\n");
    assert_eq!(fs::read_dir(outside.path().join("n")).unwrap().count(), 0);
}

/// Many files are flushed at once or, where the system cannot, one by one, but before the first change.
#[test]
fn many_contents_are_flushed_before_the_first_change() {
    let fixture = Fixture::new();
    let name = |index: usize| format!("many/{index}.txt");
    let effects: Vec<_> = (0..20).map(|index| effect(&name(index), None, Some(b"new"))).collect();
    let acts = RefCell::new(Vec::new());
    let disk = Disk {
        gate: &|act| {
            acts.borrow_mut().push(act);
            Ok(())
        },
    };
    fixture.apply_effects(disk, &effects, &rename_modes(&effects)).unwrap();
    let acts = acts.into_inner();
    let place = |wanted| acts.iter().position(|act| *act == wanted);
    let together = place(DiskOp::FlushTogether).unwrap();
    let last_write = acts.iter().rposition(|act| *act == DiskOp::Write).unwrap();
    let each = acts.iter().filter(|act| **act == DiskOp::FlushFile).count();
    assert!(last_write < together, "{acts:?}");
    assert!(each == 0 || each == effects.len(), "{acts:?}");
    assert!(together.max(place(DiskOp::FlushFile).unwrap_or(0)) < place(DiskOp::Move).unwrap());
}

// Each folder is flushed once: after the last change, and before an old file is removed.
#[test]
fn contents_are_flushed_before_the_first_change() {
    let acts = RefCell::new(Vec::new());
    let fixture = Fixture::new();
    fixture
        .apply(&|act| {
            acts.borrow_mut().push(act);
            Ok(())
        })
        .unwrap();
    let acts = acts.into_inner();
    let changes = |act: &DiskOp| matches!(act, DiskOp::Exchange | DiskOp::Move);
    let first = acts.iter().position(changes).unwrap();
    let last_flush = acts.iter().rposition(|act| *act == DiskOp::FlushFile).unwrap();
    assert!(last_flush < first, "{acts:?}");
    let folders = acts.iter().filter(|act| **act == DiskOp::FlushFolder).count();
    assert_eq!(folders, 5, "the workspace, n, n/m, d and f");
    let last_change = acts.iter().rposition(changes).unwrap();
    let flush = acts.iter().position(|act| *act == DiskOp::FlushFolder).unwrap();
    let removed = acts.iter().position(|act| *act == DiskOp::RemoveFile).unwrap();
    assert!(last_change < flush && flush < removed, "{acts:?}");
}
