//! Only this user can access the folders and files of the evidence (SPEC §8), through the real command.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::harness::home::{Done, Home, PROGRAM};
use crate::harness::read_file;
use crate::harness::set_mode;

fn home() -> Home {
    let home = Home::new();
    home.write("a.txt", "a wombat\n");
    home.plan(json!([read_file("look", "a.txt")]));
    home
}

fn run(home: &Home) -> Done {
    home.json(["run", "space/p.json", "--yes"])
}

fn key(home: &Home) -> PathBuf {
    home.path().join(".config/countersign/evidence.key")
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

/// The folder and every file and folder below it.
fn below(folder: &Path) -> Vec<PathBuf> {
    let mut all = vec![folder.to_owned()];
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => all.extend(below(&path)),
            false => all.push(path),
        }
    }
    all
}

fn assert_private(home: &Home) {
    let folders = [
        home.evidence(),
        home.path().join(".config/countersign"),
        home.path().join(".local/state/countersign"),
    ];
    let mut seen = 0;
    for path in folders.iter().flat_map(|folder| below(folder)) {
        let expected = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(&path), expected, "{}", path.display());
        seen += 1;
    }
    assert!(seen >= 12, "{seen}");
}

#[test]
fn everything_is_private_under_any_umask() {
    for umask in ["000", "022", "077", "027"] {
        let home = home();
        let mut command = home.command_of("sh");
        command.args(["-c", "umask $1 && shift && exec \"$@\"", "sh", umask, PROGRAM]);
        command.args(["run", "space/p.json", "--yes", "--json", "--evidence"]).arg(home.evidence());
        let _ = Done::of(&mut command).exits(0);
        let mut command = home.command_of("sh");
        command.args(["-c", "umask $1 && shift && exec \"$@\"", "sh", umask, PROGRAM]);
        command.args(["evidence", "search", "wombat", "--json", "--evidence"]).arg(home.evidence());
        assert_eq!(Done::of(&mut command).exits(0).lines().len(), 1);
        assert_private(&home);
    }
}

#[test]
fn too_open_modes_are_repaired() {
    let home = home();
    let _ = run(&home).exits(0);
    let _ = home.json(["evidence", "search", "wombat"]).exits(0);
    for path in below(&home.evidence()) {
        set_mode(&path, if path.is_dir() { 0o777 } else { 0o666 });
    }
    set_mode(&home.path().join(".config/countersign"), 0o755);
    set_mode(&home.path().join(".local/state/countersign"), 0o755);
    let _ = run(&home).exits(0);
    let _ = home.json(["evidence", "search", "wombat"]).exits(0);
    assert_private(&home);
    assert_eq!(home.json(["evidence", "verify"]).exits(0).document()["ok"], true);
}

#[test]
fn key_readable_by_others_is_refused() {
    let home = home();
    let _ = run(&home).exits(0);
    for open in [0o644, 0o640, 0o604, 0o660] {
        set_mode(&key(&home), open);
        let refused = run(&home).exits(4);
        assert_eq!(refused.error_code(), "E401");
        let mend = format!("chmod 600 '{}'", key(&home).display());
        assert!(refused.stderr.contains(&mend), "{refused:#?}");
        assert_eq!(home.json(["evidence", "verify"]).exits(4).error_code(), "E401");
        assert_eq!(home.json(["evidence", "search", "wombat"]).exits(0).lines().len(), 1);
        assert_eq!(mode(&key(&home)), open, "the mode is not repaired silently");
    }
    set_mode(&key(&home), 0o600);
    let _ = run(&home).exits(0);
}

#[test]
fn a_folder_with_other_things_keeps_its_mode() {
    let home = home();
    fs::create_dir(home.evidence()).unwrap();
    fs::write(home.evidence().join("somebody's.txt"), "").unwrap();
    set_mode(&home.evidence(), 0o755);
    let _ = run(&home).exits(0);
    assert_eq!(mode(&home.evidence()), 0o755, "somebody may need it");
    assert_eq!(mode(&home.evidence().join("execution_log.db")), 0o600);
    set_mode(&home.evidence(), 0o777);
    let refused = run(&home).exits(4);
    assert!(refused.stderr.contains("others may write into it"), "{refused:#?}");
    assert!(refused.stderr.contains("chmod go-w"), "{refused:#?}");
}

#[test]
fn a_folder_behind_a_link_is_mended_too() {
    let home = home();
    let real = home.path().join("real");
    fs::create_dir(&real).unwrap();
    set_mode(&real, 0o777);
    symlink(&real, home.evidence()).unwrap();
    let _ = run(&home).exits(0);
    assert_eq!(mode(&real), 0o700);
    assert_eq!(home.json(["evidence", "verify"]).exits(0).document()["ok"], true);
}

#[test]
fn a_database_behind_a_link_is_refused() {
    let home = home();
    let _ = run(&home).exits(0);
    let database = home.evidence().join("execution_log.db");
    let real = home.path().join("elsewhere.db");
    fs::rename(&database, &real).unwrap();
    symlink(&real, &database).unwrap();
    assert_eq!(run(&home).exits(4).error_code(), "E401");
}

/// Root makes another user the owner of the folder; other users try a folder of root.
#[test]
fn a_folder_of_somebody_else_is_refused() {
    let home = home();
    let folder = if rustix::process::geteuid().is_root() {
        fs::create_dir(home.evidence()).unwrap();
        chown(home.evidence(), Some(65_534), Some(65_534)).unwrap();
        home.evidence()
    } else {
        PathBuf::from("/usr")
    };
    let mut command = home.command();
    command.args(["run", "space/p.json", "--yes", "--json", "--evidence"]).arg(&folder);
    let refused = Done::of(&mut command).exits(4);
    assert_eq!(refused.error_code(), "E401");
    assert!(refused.stderr.contains("it belongs to user"), "{refused:#?}");
}
