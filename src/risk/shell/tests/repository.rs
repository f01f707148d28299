//! Reading calls of git in folders whose repositories name programs, or do not.

use std::sync::Arc;

use super::*;
use crate::risk::{Repositories, RepositorySettings};

/// Repositories that name a program in these folders, and in everything below them.
#[derive(Debug)]
struct NamesIn(&'static [&'static str]);

impl RepositorySettings for NamesIn {
    fn named_program(&self, cwd: Option<&str>, folder: &str) -> Option<String> {
        let folder = match cwd {
            Some(cwd) if !folder.starts_with(['/', '~']) => format!("{cwd}/{folder}"),
            _ => folder.to_owned(),
        };
        let folder = folder.trim_end_matches('/');
        let inside = |it: &&&str| folder == **it || folder.starts_with(&format!("{it}/"));
        self.0.iter().find(inside).map(|it| format!("core.fsmonitor in {it}"))
    }
}

fn verdict_in(command: &str, names: &'static [&'static str], cwd: Option<&str>) -> CommandVerdict {
    let repositories = Repositories::Read(Arc::new(NamesIn(names)));
    let surroundings = Surroundings { own_folders: &[], repositories: &repositories, cwd };
    of_local_command(command, Shell::Bash, &UserRules::default(), surroundings, &[])
}

/// Asserts that a reading call is safe only if none of the folders in which it may run names a program.
fn assert_depends(commands: &[&str], folder: &'static [&'static str]) {
    for command in commands {
        let found = verdict_in(command, folder, None);
        assert_eq!(
            (found.level, found.rule.as_str()),
            (RiskLevel::Caution, "reads-repository"),
            "{command}"
        );
        let found = verdict_in(command, &[], None);
        assert_eq!(found.level, RiskLevel::Safe, "{command}: {} {}", found.rule, found.reason);
    }
}

#[test]
fn every_reading_call_of_git_depends_on_the_repository() {
    assert_depends(
        &[
            "git status",
            "git status --porcelain",
            "git diff",
            "git diff --no-ext-diff --no-textconv",
            "git --no-optional-locks status",
            "git --no-pager log -p",
            "git show HEAD",
            "git show HEAD:src/main.rs",
            "git blame -L 1,5 a",
            "git grep -n x",
            "git ls-files",
            "git ls-tree HEAD",
            "git describe --tags",
            "git cat-file -p HEAD",
            "git stash list",
            "git branch",
            "git help log",
            "git rev-parse HEAD",
            "gh pr list",
            "/usr/bin/git status",
            "git-status",
            "timeout 5 git status",
            "nice git status",
            "env git status",
            "LC_ALL=C git status",
            "bash -c 'git status'",
            "git ls-files | head -3",
            "echo \"$(git rev-parse HEAD)\"",
            "[ -d .git ] && git status || true",
            "for i in 1 2; do git status; done",
            "f() { git diff; }; f",
            "find . -name '*.rs' -exec git blame {} +",
            "ls && rg -n x src && git status",
        ],
        &[""],
    );
}

#[test]
fn the_folder_of_a_call_counts() {
    assert_depends(
        &[
            "cd sub && git status",
            "git -C sub status",
            "git -C ./sub/deep log",
            "cd sub; cd deep; git status",
            "cd sub || true; git status",
            "cd sub && ls; cd other; git status",
            "(cd sub && git diff)",
            "pushd sub; git status; popd",
            "bash -c 'cd sub; git status'",
        ],
        &["sub"],
    );
    for command in ["git status", "cd other && git status", "ls sub; git diff", "git log -- sub"] {
        assert_eq!(verdict_in(command, &["sub"], None).level, RiskLevel::Safe, "{command}");
    }
    // A command that moves may fail.
    assert_depends(&["cd sub; git status", "cd nowhere && git status"], &[""]);
    assert_depends(&["cd /srv/x && git status", "git -C sub -C x status"], &["/srv", "sub"]);
    assert_eq!(verdict_in("git status", &["sub"], Some("sub")).level, RiskLevel::Caution);
    assert_eq!(verdict_in("git status", &["sub"], Some("other")).level, RiskLevel::Safe);
}

/// Where the folder is not known, no repository is known to be harmless.
#[test]
fn unknown_folders_are_not_safe() {
    for command in [
        "cd \"$d\" && git status",
        "cd - && git status",
        "cd .. && git status",
        "cd sub && git -C .. status",
        "git -C sub/../x status",
        "git -C sub -C .. status",
        "git -C \"$d\" status",
        "git -C 's*' -C * status",
        "while true; do git status; cd sub; done",
        "for d in a b; do git status; cd sub; done",
        "f() { git status; cd sub; }; f; f",
        "trap 'git status' EXIT; cd sub",
        "env -C sub git status",
        "env --chdir=sub git status",
        "env -iC sub git status",
        "env -u A -C sub git status",
        "find . -execdir git status ;",
        "find . -execdir git status \\;",
        "find . -name x -exec sh -c 'cd {}; git status' \\;",
        "ls | xargs -I{} git -C {} status",
        "cd -P sub/.. && git status",
        "GIT_DIR=x git status",
        "export GIT_DIR=x; git status",
        "declare -x GIT_DIR=x; git status",
        "set -a; GIT_DIR=x; git status",
        "GIT_WORK_TREE=x git status",
        "GIT_INDEX_FILE=x git status",
        "HOME=. git status",
        "export HOME=$PWD; git status",
        "XDG_CONFIG_HOME=. git status",
        "unset HOME; git status",
        "CDPATH=/x; cd sub && git status",
        "git --git-dir=x status",
        "git --git-dir x status",
        "git --work-tree=x status",
        "git -c core.fsmonitor=x status",
        "git -ccore.fsmonitor=x status",
        "git --config-env=core.fsmonitor=X status",
        "git --exec-path=x status",
        "git --bare status",
        "git diff --submodule=diff HEAD~1",
        "git diff --ext-diff",
        "git log --textconv",
        "git remote show origin",
        "git submodule foreach git status",
        "git submodule foreach 'git status'; git status",
        "unshare --wd=sub git status",
        "systemd-run -d git status",
        "start-stop-daemon -d sub --exec /usr/bin/git status",
    ] {
        let found = verdict_in(command, &[], None);
        assert!(found.level >= RiskLevel::Caution, "{command}: {}", found.rule);
    }
}

#[test]
fn unknown_settings_are_not_safe() {
    let surroundings =
        Surroundings { own_folders: &[], repositories: &Repositories::Unknown, cwd: None };
    let rules = UserRules::default();
    let found = of_local_command("git status", Shell::Bash, &rules, surroundings, &[]);
    assert_eq!((found.level, found.rule.as_str()), (RiskLevel::Caution, "reads-repository"));
    let found = of_local_command("ls", Shell::Bash, &rules, surroundings, &[]);
    assert_eq!(found.level, RiskLevel::Safe);
}

/// Commands that make settings which a later step would meet are never safe, so that a person sees them.
#[test]
fn changing_the_settings_of_a_repository_is_dangerous() {
    for command in [
        "git config core.fsmonitor ./x",
        "git config --local diff.external ./x",
        "git config set core.hooksPath x",
        "git config --add include.path ../x",
        "git config -f .git/config core.pager ./x",
        "echo '[core]' >> .git/config",
        "cp x .git/config",
        "mv x .git/hooks/post-index-change",
        "tee .git/config < x",
        "sed -i s/a/b/ .git/config",
    ] {
        assert!(level(command) >= RiskLevel::Dangerous, "{command}: {}", verdict_on(command).rule);
    }
}
