//! Repositories that git itself makes, and what this reader says of them.

use super::*;

/// Runs git in a folder, without the settings of this computer.
#[expect(clippy::disallowed_methods, reason = "the repository under test is made by the real git")]
fn git(folder: &Path, arguments: &[&str]) {
    let output = std::process::Command::new("git")
        .args(["-c", "user.name=n", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"])
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A repository with one commit.
fn repository(at: &Path) {
    fs::create_dir_all(at.join("src/deep")).unwrap();
    git(at, &["init", "-q", "-b", "main"]);
    for number in 0..20 {
        fs::write(at.join(format!("src/file{number}.txt")), "1\n").unwrap();
    }
    git(at, &["add", "."]);
    git(at, &["commit", "-q", "-m", "x"]);
}

fn named(folder: &Path) -> Option<String> {
    program_named_by_repository(folder)
}

#[test]
fn new_repository_names_nothing() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(named(folder.path()), None);
    repository(folder.path());
    git(folder.path(), &["remote", "add", "origin", "git@example.com:a/b.git"]);
    git(folder.path(), &["config", "branch.main.remote", "origin"]);
    for below in ["", "src/deep", "not/there"] {
        assert_eq!(named(&folder.path().join(below)), None, "{below}");
    }
    for version in ["2", "3", "4"] {
        git(folder.path(), &["update-index", "--index-version", version]);
        assert_eq!(named(folder.path()), None, "version {version}");
    }
}

#[test]
fn settings_hooks_and_includes_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path();
    repository(top);
    let with = |key: &str, value: &str| {
        git(top, &["config", key, value]);
        let found = named(&top.join("src/deep"));
        git(top, &["config", "--unset", key]);
        found
    };
    assert!(with("core.fsmonitor", "./x").unwrap().starts_with("core.fsmonitor ("));
    assert_eq!(with("core.fsmonitor", "false"), None);
    assert!(with("diff.a.textconv", "x").unwrap().starts_with("diff.a.textconv"));
    assert_eq!(named(top), None, "git leaves empty sections");
    fs::write(top.join("more"), "[diff]\n\texternal = x\n").unwrap();
    assert!(with("include.path", "../more").unwrap().starts_with("diff.external"));
    assert!(with("includeIf.onbranch:other.path", "../more").is_some());
    assert_eq!(with("include.path", "../missing"), None);
    fs::create_dir(top.join("hooks")).unwrap();
    assert_eq!(with("core.hooksPath", "hooks"), None);
    fs::write(top.join("hooks/post-index-change"), "").unwrap();
    assert!(with("core.hooksPath", "hooks").unwrap().starts_with("the hook "));
    assert_eq!(named(top), None);
    fs::write(top.join(".git/hooks/post-index-change"), "").unwrap();
    assert!(named(top).is_some());
    fs::remove_file(top.join(".git/hooks/post-index-change")).unwrap();
    fs::write(top.join(".git/config.worktree"), "[core]\n\tfsmonitor = x\n").unwrap();
    assert!(named(top).is_some());
}

#[test]
fn submodules_are_checked_however_they_are_kept() {
    for version in ["2", "4"] {
        let folder = tempfile::tempdir().unwrap();
        let (top, other) = (folder.path().join("top"), folder.path().join("other"));
        repository(&other);
        repository(&top);
        let url = other.to_str().unwrap();
        git(&top, &["submodule", "--quiet", "add", url, "src/kept"]);
        git(&top, &["clone", "-q", url, "src/inline"]);
        git(&top, &["add", "src/inline"]);
        git(&top, &["update-index", "--index-version", version]);
        assert_eq!(named(&top), None);
        for module in ["src/kept", "src/inline"] {
            git(&top.join(module), &["config", "core.fsmonitor", "./x"]);
            assert!(named(&top).unwrap().starts_with("core.fsmonitor"), "{module}");
            assert!(named(&top.join(module)).is_some());
            git(&top.join(module), &["config", "--unset", "core.fsmonitor"]);
            assert_eq!(named(&top), None);
        }
        // An unrelated repository below is not entered by git.
        git(&top, &["clone", "-q", url, "apart"]);
        git(&top.join("apart"), &["config", "core.fsmonitor", "./x"]);
        assert_eq!(named(&top), None);
        assert!(named(&top.join("apart")).is_some());
    }
}

#[test]
fn worktrees_and_folders_without_tree_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let (top, tree) = (folder.path().join("top"), folder.path().join("tree"));
    repository(&top);
    git(&top, &["worktree", "add", "-q", tree.to_str().unwrap()]);
    assert_eq!(named(&tree), None);
    git(&top, &["config", "filter.x.clean", "./x"]);
    assert!(named(&tree).unwrap().starts_with("filter.x.clean"));
    let bare = top.join("src/bare");
    fs::create_dir_all(bare.join("objects")).unwrap();
    fs::create_dir_all(bare.join("refs")).unwrap();
    fs::write(bare.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(bare.join("config"), "[core]\n\tfsmonitor = x\n").unwrap();
    assert!(named(&bare.join("refs")).unwrap().starts_with("core.fsmonitor"));
}

#[test]
fn what_cannot_be_read_is_not_harmless() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path();
    fs::write(top.join(".git"), "gitdir:elsewhere\n").unwrap();
    assert!(named(top).is_some());
    fs::remove_file(top.join(".git")).unwrap();
    repository(top);
    git(top, &["update-index", "--split-index"]);
    assert!(named(top).unwrap().contains("index"));
    git(top, &["update-index", "--no-split-index"]);
    assert_eq!(named(top), None);
    let index = fs::read(top.join(".git/index")).unwrap();
    for length in [0, 3, 11, 40, index.len() - 1] {
        fs::write(top.join(".git/index"), &index[..length]).unwrap();
        assert!(named(top).is_some(), "{length}");
    }
    fs::write(top.join(".git/index"), &index).unwrap();
    fs::write(top.join(".git/config"), b"[core]\n\tbare = \xff\n").unwrap();
    assert!(named(top).unwrap().contains("no text"));
    fs::write(top.join(".git/config"), "[include]\n\tpath = x/../config\n").unwrap();
    fs::create_dir(top.join(".git/x")).unwrap();
    assert!(named(top).unwrap().contains("more than"), "files that include each other");
    fs::write(top.join(".git/config"), "[include]\n\tpath = ~other/config\n").unwrap();
    assert!(named(top).is_some());
}
