//! Diffs between the commits of a repository, applied by git and as plans.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use countersign::openers::{NoFiles, open};
use countersign::plan::{Plan, parse};

use super::numbers::Numbers;
use crate::harness::{Harness, tree};

/// Runs git without the settings of the user.
#[expect(clippy::disallowed_methods, reason = "git is what the plans are compared with")]
fn git(folder: &Path, arguments: &[&str]) -> Vec<u8> {
    let done = Command::new("git")
        .args(["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "core.autocrlf=false"])
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(done.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    done.stdout
}

fn line(numbers: &mut Numbers) -> String {
    const LINES: [&str; 8] =
        ["", "-- sql", "++ x", " space", "--- a/x", "@@ -1 +1 @@", "é\u{301} ends\r", "\\ none"];
    match numbers.below(3) {
        0 => LINES[numbers.below(LINES.len())].to_owned(),
        _ => format!("line {}", numbers.below(40)),
    }
}

const NAMES: [&str; 9] = [
    "a.txt",
    "b c.txt",
    "sub/ä.rs",
    "sub/deep/x",
    "b/a",
    "quote\"d",
    "tab\tbed",
    "-dash",
    "a b/b a",
];

/// Changes a few files: new, changed, renamed and deleted ones, some without a line break at their end.
fn change(folder: &Path, numbers: &mut Numbers) {
    for _ in 0..1 + numbers.below(3) {
        let path = folder.join(NAMES[numbers.below(NAMES.len())]);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let Ok(text) = fs::read_to_string(&path) else {
            let lines: Vec<_> = (0..numbers.below(60)).map(|_| line(numbers)).collect();
            let end = if numbers.below(3) == 0 { "" } else { "\n" };
            fs::write(&path, lines.join("\n") + end).unwrap();
            continue;
        };
        match numbers.below(6) {
            0 => fs::remove_file(&path).unwrap(),
            1 => {
                let to = folder.join(NAMES[numbers.below(NAMES.len())]);
                fs::create_dir_all(to.parent().unwrap()).unwrap();
                fs::rename(&path, &to).unwrap();
            }
            _ => {
                let mut lines: Vec<_> = text.split('\n').map(str::to_owned).collect();
                for _ in 0..1 + numbers.below(4) {
                    let at = numbers.below(lines.len());
                    match numbers.below(3) {
                        0 => lines[at] = line(numbers),
                        1 => lines.insert(at, line(numbers)),
                        _ if lines.len() > 1 => drop(lines.remove(at)),
                        _ => {}
                    }
                }
                fs::write(&path, lines.join("\n")).unwrap();
            }
        }
    }
}

/// Every diff between two commits changes the files as `git apply` does.
#[test]
fn commits_are_applied_as_git_applies_them() {
    const COMMITS: usize = 200;
    let temporary = tempfile::tempdir().unwrap();
    let folder = |name: &str| -> PathBuf {
        let folder = temporary.path().join(name);
        fs::create_dir(&folder).unwrap();
        folder
    };
    let (repository, by_git) = (folder("repository"), folder("by-git"));
    git(&repository, &["init", "-q"]);
    git(&repository, &["commit", "-q", "--allow-empty", "-m", "first"]);
    let (ours, mut numbers) = (Harness::new(), Numbers(11));
    let (mut applied, mut renamed) = (0, 0);
    while applied < COMMITS {
        change(&repository, &mut numbers);
        git(&repository, &["add", "-A"]);
        let diff = git(&repository, &["diff", "--cached", "-M"]);
        if diff.is_empty() {
            continue;
        }
        git(&repository, &["commit", "-q", "-m", "next"]);
        fs::write(temporary.path().join("diff"), &diff).unwrap();
        git(&by_git, &["apply", "../diff"]);
        let opened = open(&diff, &NoFiles).unwrap();
        let text = String::from_utf8_lossy(&diff);
        let bytes = opened.plan.unwrap_or_else(|| panic!("{:?}\n{text}", opened.findings));
        let plan: Plan = parse(&bytes).plan.unwrap();
        let finished = ours.execute(ours.approve_now(&plan));
        assert_eq!(
            finished.words(),
            (vec!["succeeded"], "completed"),
            "{:?}\n{text}",
            finished.codes()
        );
        assert_eq!(tree(&ours.workspace()), tree(&by_git), "{text}");
        (applied, renamed) = (applied + 1, renamed + usize::from(text.contains("\nrename to ")));
    }
    assert!(renamed > 5, "{renamed} renames");
}
