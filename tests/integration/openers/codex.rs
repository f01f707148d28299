//! Patches that begin with `*** Begin Patch`, applied by Codex's own program and as plans.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::numbers::Numbers;
use super::planned;
use crate::harness::agents::installed;
use crate::harness::{Harness, tree};

/// Codex applies a patch if it is called by this name.
fn apply_patch(folder: &Path) -> PathBuf {
    let package = installed("COUNTERSIGN_AGENTS", "agents/node_modules/.bin").join("../@openai");
    let entries = |folder: &Path| -> Vec<PathBuf> {
        let read = fs::read_dir(folder).unwrap();
        read.map(|entry| entry.unwrap().path()).collect()
    };
    let vendors = entries(&package).into_iter().map(|platform| platform.join("vendor"));
    let platforms = vendors.filter(|vendor| vendor.is_dir()).flat_map(|vendor| entries(&vendor));
    let program = platforms.map(|it| it.join("bin/codex")).find(|it| it.is_file()).unwrap();
    let link = folder.join("apply_patch");
    symlink(program, &link).unwrap();
    link
}

/// Lines of which files have several alike.
const LINES: [&str; 7] = ["fn a() {", "    x", "    y", "}", "", "*** note", "\tx"];

fn file(numbers: &mut Numbers) -> Vec<&'static str> {
    (0..numbers.below(14)).map(|_| *numbers.of(&LINES)).collect()
}

/// A patch of two files, most of whose places are in them.
fn patch(numbers: &mut Numbers, files: &[(&str, Vec<&str>)]) -> String {
    let mut text = "*** Begin Patch\n".to_owned();
    for (name, lines) in files {
        match numbers.below(8) {
            0 => text.push_str(&format!("*** Delete File: {name}\n")),
            1 => text.push_str(&format!("*** Add File: new-{name}\n+one\n+\n")),
            more => {
                text.push_str(&format!("*** Update File: {name}\n"));
                if more == 2 {
                    text.push_str(&format!("*** Move to: moved/{name}\n"));
                }
                let mut from = 0;
                for _ in 0..1 + numbers.below(2) {
                    from = place(numbers, lines, from, &mut text);
                }
            }
        }
    }
    text + "*** End Patch\n"
}

/// Writes a place behind a line, and returns the line behind it.
fn place(numbers: &mut Numbers, lines: &[&str], from: usize, text: &mut String) -> usize {
    let begin = from + numbers.below(4);
    match begin.checked_sub(1).and_then(|above| lines.get(above)) {
        Some(anchor) if numbers.below(3) == 0 => text.push_str(&format!("@@ {anchor}\n")),
        _ => text.push_str("@@\n"),
    }
    let end = (begin + 1 + numbers.below(5)).min(lines.len());
    for line in lines.get(begin..end).unwrap_or_default() {
        match numbers.below(4) {
            0 => text.push_str(&format!("-{line}\n")),
            1 => text.push_str(&format!("-{line}\n+new\n")),
            2 => text.push_str(&format!(" {line}\n+added\n")),
            _ => text.push_str(&format!(" {line}\n")),
        }
    }
    if numbers.below(10) == 0 {
        text.push_str("+only added\n");
    }
    if end == lines.len() && numbers.below(2) == 0 {
        text.push_str("*** End of File\n");
    }
    end
}

/// Where a plan is made of a patch, Codex makes the same files of it.
#[test]
fn accepted_patches_change_files_as_codex_does() {
    let temporary = tempfile::tempdir().unwrap();
    let program = apply_patch(temporary.path());
    let (mut numbers, mut accepted, mut moved, mut anchored) = (Numbers(5), 0, 0, 0);
    for number in 0..400 {
        let files = [("a", file(&mut numbers)), ("b", file(&mut numbers))];
        let text = patch(&mut numbers, &files);
        let by_codex = temporary.path().join(number.to_string());
        fs::create_dir(&by_codex).unwrap();
        let ours = Harness::new();
        for (name, lines) in &files {
            let end = if lines.is_empty() || numbers.below(5) == 0 { "" } else { "\n" };
            for folder in [&by_codex, &ours.workspace()] {
                fs::write(folder.join(name), lines.join("\n") + end).unwrap();
            }
        }
        let Ok(plan) = planned(text.as_bytes(), &ours.workspace()) else { continue };
        let finished = ours.execute(ours.approve_now(&plan));
        assert_eq!(finished.words().1, "completed", "{:?}\n{text}", finished.codes());
        #[expect(clippy::disallowed_methods, reason = "it is what the plans are compared with")]
        let applied = Command::new(&program).arg(&text).current_dir(&by_codex).output().unwrap();
        assert!(applied.status.success(), "{text}\n{}", String::from_utf8_lossy(&applied.stderr));
        assert_eq!(tree(&ours.workspace()), tree(&by_codex), "{text}");
        accepted += 1;
        moved += usize::from(text.contains("*** Move to"));
        anchored += usize::from(text.contains("\n@@ "));
    }
    assert!(accepted > 80 && moved > 5 && anchored > 5, "{accepted}, {moved}, {anchored}");
}
