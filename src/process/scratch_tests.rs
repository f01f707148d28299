//! Tests of the private folders: permissions, locks and removal.

use std::os::unix::fs::PermissionsExt as _;

use std::fs;
use std::path::Path;

use super::Scratch;
use super::scratch::{default_parent, remove_abandoned};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn folders(parent: &Path) -> usize {
    fs::read_dir(parent).unwrap().filter(|it| it.as_ref().unwrap().path().is_dir()).count()
}

#[test]
fn only_abandoned_folders_are_removed() {
    let temporary = tempfile::tempdir().unwrap();
    let parent = temporary.path().join("simulations");
    let live = Scratch::create(&parent).unwrap();
    fs::write(live.target().join("file"), "x").unwrap();
    // The state after the process was killed: the lock is free.
    let dead = parent.join("4711-dead");
    fs::create_dir_all(dead.join("copy/ws")).unwrap();
    fs::write(dead.join("lock"), "").unwrap();
    // The state after a process was killed while it removed the folder.
    fs::create_dir_all(parent.join("4712-half")).unwrap();
    let second = Scratch::create(&parent).unwrap();
    assert_eq!(folders(&parent), 2, "the two that are worked in");
    fs::create_dir_all(dead.join("target")).unwrap();
    remove_abandoned(&parent).unwrap();
    assert_eq!(folders(&parent), 2);
    assert_eq!(fs::read_to_string(live.target().join("file")).unwrap(), "x");
    second.remove().unwrap();
    drop(live);
    assert_eq!(folders(&parent), 0);
    assert!(remove_abandoned(&temporary.path().join("absent")).is_ok());
}

#[test]
fn scratch_folder_is_private_and_always_removable() {
    let temporary = tempfile::tempdir().unwrap();
    let parent = temporary.path().join("simulations");
    let scratch = Scratch::create(&parent).unwrap();
    let top = scratch.target().parent().unwrap().to_owned();
    assert_eq!((mode(&parent), mode(&top), mode(&scratch.target())), (0o700, 0o700, 0o700));
    let closed = scratch.target().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::write(closed.join("file"), "x").unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o500)).unwrap();
    std::os::unix::fs::symlink(temporary.path(), scratch.target().join("link")).unwrap();
    scratch.remove().unwrap();
    assert!(!top.exists() && parent.exists());

    fs::set_permissions(&parent, fs::Permissions::from_mode(0o777)).unwrap();
    let error = Scratch::create(&parent).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied, "others may write there");
}

#[test]
fn scratch_folder_is_outside_the_workspace() {
    let default = default_parent(Path::new("/nowhere"));
    let above = default.parent().unwrap();
    assert!(!default_parent(above).starts_with(above));
}
