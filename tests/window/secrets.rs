//! Searches for a text that must be nowhere: files of the program, its processes, and the evidence as it shows it.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::harness::Desktop;
use super::support::read;

/// Fails if the text is in a file of the program's home folder, or in the command line or environment of a process.
#[track_caller]
pub(super) fn assert_nowhere(desktop: &Desktop, text: &str) {
    let home = desktop.evidence().parent().expect("the home folder").to_owned();
    let mut found = Vec::new();
    search_files(&home, text.as_bytes(), &mut found);
    for process in fs::read_dir("/proc").expect("the processes").flatten() {
        for name in ["cmdline", "environ"] {
            let path = process.path().join(name);
            // The test itself and the program that types for it have the text.
            let is_typist = fs::read_to_string(process.path().join("comm"))
                .is_ok_and(|comm| comm.trim() == "xdotool");
            if !is_typist && contains(&fs::read(&path).unwrap_or_default(), text.as_bytes()) {
                found.push(path.display().to_string());
            }
        }
    }
    assert_eq!(found, Vec::<String>::new());
}

/// Fails if the text is in a record of the evidence, as the program itself shows it with all contents.
#[track_caller]
pub(super) fn assert_not_recorded(desktop: &Desktop, text: &str) {
    let records = records(desktop);
    assert!(!records.is_empty());
    for record in records {
        assert!(!record.contains(text), "{record}");
    }
}

/// The records of all executions, as the program shows them.
pub(super) fn records(desktop: &Desktop) -> Vec<String> {
    let evidence = desktop.evidence();
    let ids: Vec<String> =
        read(&evidence, "SELECT id FROM executions ORDER BY row", |row| row.get(0));
    let show = |id: &String| {
        #[expect(clippy::disallowed_methods, reason = "the program under test")]
        let shown = Command::new(env!("CARGO_BIN_EXE_countersign"))
            .args(["evidence", "show", id, "--json", "--evidence"])
            .arg(&evidence)
            .output()
            .expect("the program");
        assert!(shown.status.success(), "{}", String::from_utf8_lossy(&shown.stderr));
        String::from_utf8(shown.stdout).expect("a document")
    };
    ids.iter().map(show).collect()
}

fn search_files(folder: &Path, text: &[u8], found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => search_files(&path, text, found),
            Ok(kind) if kind.is_file() && contains(&fs::read(&path).unwrap_or_default(), text) => {
                found.push(path.display().to_string());
            }
            _ => {}
        }
    }
}

fn contains(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|window| window == text)
}
