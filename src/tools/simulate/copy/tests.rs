//! Tests of the copy of the workspace.

use super::*;
use crate::plan::Code;
use crate::workspace::{Budget, Root};

fn workspace(folder: &Path) -> Workspace {
    let root = Root::open(folder, true).unwrap();
    Workspace { root, extra: Vec::new(), budget: Budget::default() }
}

#[test]
fn stop_during_the_walk_is_an_error() {
    let [from, to] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    std::fs::create_dir(from.path().join("folder")).unwrap();
    let (from, to) = (workspace(from.path()), workspace(to.path()));
    let stop = StopSignal::default();
    stop.set();
    let error = copy(&from, &to.root.dir, &[], Limits::DEFAULT, &stop).unwrap_err();
    assert_eq!(error.code(), Code::Cancelled);
}

#[test]
fn unreadable_names_are_listed_as_omitted() {
    let [from, to] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    std::fs::write(from.path().join("file"), "").unwrap();
    let (from, to) = (workspace(from.path()), workspace(to.path()));
    let stop = StopSignal::default();
    let copier = Copier::new(&from, &to.root.dir, Limits::DEFAULT, &stop);
    copier.copy_folder(Path::new("gone")).unwrap();
    copier.copy_link(Path::new("gone")).unwrap();
    copier.copy_folder(Path::new("file/a")).unwrap();
    copier.copy_link(Path::new("file/b")).unwrap();
    let left_out = copier.finish().unwrap().left_out;
    let begin = ["file/a: it cannot be read: ", "file/b: it cannot be read: "];
    assert_eq!(left_out.len(), begin.len(), "{left_out:?}");
    assert!(left_out.iter().zip(begin).all(|(it, begin)| it.starts_with(begin)), "{left_out:?}");
}
