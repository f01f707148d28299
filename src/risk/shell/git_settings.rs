//! Which settings of a repository may make git run a program when it only reads (SPEC §7.1).
//!
//! A closed world: a setting is harmless if `assets/risk/git_settings.toml` lists it. The settings of the user and of the
//! system are not judged, because they are the person's own.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::lazy_regex::LazyRegex;

/// The text of the table.
pub(in crate::risk) const TEXT: &str = include_str!("../../../assets/risk/git_settings.toml");

static TABLE: LazyLock<Option<Table>> = LazyLock::new(|| {
    let mut table: Table = toml::from_str(TEXT).ok()?;
    for pattern in table.values.values_mut() {
        *pattern = format!("^({pattern})$");
    }
    table.patterns =
        std::mem::take(&mut table.values).into_iter().map(|(key, it)| (key, it.into())).collect();
    Some(table)
});

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    settings: BTreeMap<String, String>,
    network: BTreeMap<String, String>,
    values: BTreeMap<String, String>,
    #[serde(skip)]
    patterns: BTreeMap<String, LazyRegex>,
}

/// A settings file of git, as far as it matters for what git runs.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct GitSettings {
    /// The first setting that may name a program, or why the file cannot be judged.
    pub names: Option<String>,
    /// The paths of included files, whatever their condition is.
    pub includes: Vec<String>,
    /// The folders of hooks.
    pub hooks: Vec<String>,
    /// The working tree, relative to the folder of the repository.
    pub worktree: Option<String>,
    /// Whether objects have names of 32 bytes.
    pub sha256: bool,
}

/// Reads a settings file. Only its usual forms are read: anything else counts as a setting that may name a program.
pub fn read_git_settings(text: &str) -> GitSettings {
    let mut found = GitSettings::default();
    let (mut section, mut subsection) = (String::new(), String::new());
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let read = if line.starts_with('[') {
            header(line).map(|(name, sub)| (section, subsection) = (name, sub)).is_some()
        } else {
            setting(line).is_some_and(|(name, value)| {
                found.add(&section, &subsection, &name, &value);
                true
            })
        };
        if !read {
            found.name(format!("line {} of its settings is unusual", number + 1));
            // Later lines could be understood differently.
            break;
        }
    }
    found
}

/// `[section]` or `[section "subsection"]`, with nothing after it.
fn header(line: &str) -> Option<(String, String)> {
    let inner = line.strip_prefix('[')?.strip_suffix(']')?;
    let (name, sub) = match inner.split_once(' ') {
        None => (inner, ""),
        Some((name, sub)) => (name, sub.trim().strip_prefix('"')?.strip_suffix('"')?),
    };
    let plain = |it: char| it.is_ascii_alphanumeric() || it == '-';
    (!name.is_empty() && name.chars().all(plain) && !sub.contains(['"', '\\', '\0']))
        .then(|| (name.to_ascii_lowercase(), sub.to_owned()))
}

/// `name = value` without escapes; a name alone means yes.
fn setting(line: &str) -> Option<(String, String)> {
    let (name, value) = line.split_once('=').unwrap_or((line, "true"));
    let name = name.trim_end();
    let plain = |it: char| it.is_ascii_alphanumeric() || it == '-';
    if name.is_empty() || !name.chars().all(plain) || value.contains(['\\', '\0']) {
        return None;
    }
    let value = value.trim();
    let value = match value.strip_prefix('"').and_then(|it| it.strip_suffix('"')) {
        Some(quoted) if !quoted.contains('"') => quoted,
        Some(_) => return None,
        None if value.contains(['"', '#', ';']) => {
            // A comment, or a quoted part. Only a comment after a plain value is read.
            let plain = value.split(['#', ';']).next().unwrap_or_default().trim_end();
            if plain.contains('"') {
                return None;
            }
            plain
        }
        None => value,
    };
    Some((name.to_ascii_lowercase(), value.to_owned()))
}

impl GitSettings {
    fn name(&mut self, what: String) {
        self.names.get_or_insert(what);
    }

    fn add(&mut self, section: &str, subsection: &str, name: &str, value: &str) {
        match (section, name) {
            ("include" | "includeif", "path") => self.includes.push(value.to_owned()),
            ("core", "hookspath") => self.hooks.push(value.to_owned()),
            ("core", "worktree") => self.worktree = Some(value.to_owned()),
            ("extensions", "objectformat") => self.sha256 = value != "sha1",
            _ => {}
        }
        if !is_harmless(section, subsection, name, value) {
            let key = if subsection.is_empty() {
                format!("{section}.{name}")
            } else {
                format!("{section}.{subsection}.{name}")
            };
            self.name(key);
        }
    }
}

fn is_harmless(section: &str, subsection: &str, name: &str, value: &str) -> bool {
    let Some(table) = TABLE.as_ref() else { return false };
    let lists = |sections: &BTreeMap<String, String>| {
        sections
            .get(section)
            .is_some_and(|names| names.split_whitespace().any(|it| it == "*" || it == name))
    };
    let key = match section {
        "filter" => format!("{section}.{subsection}.{name}"),
        _ => format!("{section}.{name}"),
    };
    lists(&table.settings)
        || lists(&table.network)
        || table.patterns.get(&key).is_some_and(|values| values.is_match(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Option<String> {
        read_git_settings(text).names
    }

    #[test]
    fn usual_settings_name_nothing() {
        let text = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n\
                    # note\n[remote \"origin\"]\n\turl = git@example.com:a/b.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\
                    [branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n[user]\n\tname = \"A; B\"\n\
                    [core]\n\tsshCommand = ssh -i key\n\tfsmonitor = true\n[color \"diff\"]\n\tmeta = red bold\n\
                    [filter \"lfs\"]\n\tclean = git-lfs clean -- %f\n\trequired = true\n[submodule \"x\"]\n\tactive\n";
        assert_eq!(names(text), None);
    }

    #[test]
    fn settings_that_run_programs_are_named() {
        for (text, key) in [
            ("[core]\n\tfsmonitor = ./a.sh\n", "core.fsmonitor"),
            ("[CORE]\nFSMonitor=./a\n", "core.fsmonitor"),
            ("[diff]\n\texternal = ./a.sh\n", "diff.external"),
            ("[diff \"x\"]\n\ttextconv = ./a.sh\n", "diff.x.textconv"),
            ("[diff \"x y\"]\n\tcommand = ./a.sh\n", "diff.x y.command"),
            ("[filter \"x\"]\n\tclean = ./a.sh\n", "filter.x.clean"),
            ("[filter \"lfs\"]\n\tclean = ./a.sh; git-lfs clean -- %f\n", "filter.lfs.clean"),
            ("[filter \"lfs\"]\n\tprocess = ./git-lfs filter-process\n", "filter.lfs.process"),
            ("[filter \"LFS\"]\n\tprocess = git-lfs filter-process\n", "filter.LFS.process"),
            ("[core]\n\tpager = ./a.sh\n", "core.pager"),
            ("[pager]\n\tlog = ./a.sh\n", "pager.log"),
            ("[alias]\n\twhatchanged = !./a.sh\n", "alias.whatchanged"),
            ("[man \"x\"]\n\tcmd = ./a.sh\n", "man.x.cmd"),
            ("[help]\n\tbrowser = x\n", "help.browser"),
            ("[gpg]\n\tprogram = ./a.sh\n", "gpg.program"),
            ("[gpg \"ssh\"]\n\tprogram = ./a.sh\n", "gpg.ssh.program"),
            ("[remote \"o\"]\n\tuploadpack = ./a.sh\n", "remote.o.uploadpack"),
            ("[remote \"o\"]\n\tpromisor = true\n", "remote.o.promisor"),
            ("[extensions]\n\tpartialClone = o\n", "extensions.partialclone"),
            ("[hook \"x\"]\n\tcommand = ./a.sh\n", "hook.x.command"),
            ("[submodule \"x\"]\n\tupdate = !./a.sh\n", "submodule.x.update"),
            ("[core]\n\talternateRefsCommand = ./a.sh\n", "core.alternaterefscommand"),
            ("[anything]\n\tnew = 1\n", "anything.new"),
        ] {
            assert_eq!(names(text).as_deref(), Some(key), "{text}");
        }
    }

    /// What git reads in another way than this reader is never harmless.
    #[test]
    fn unusual_files_are_not_judged() {
        for text in [
            "[core] fsmonitor = ./a.sh\n",
            "[core]bare=true\n",
            "[diff.x]\n\ttextconv = ./a\n",
            "[core]\n\tbare = tr\\\nue\n",
            "[color \"a\\\"]\n[core\"]\n\tx = 1\n",
            "[core]\n\tfs\u{a0}monitor = x\n",
            "\u{feff}[core]\n\tbare = true\n",
            "[user]\n\tname = \"a\" b\n",
            "[user]\n\tname = a \"b\" # c\n",
            "[user]\n\tname = \"a\"b\"\n",
            "bare\n[\n",
        ] {
            assert!(names(text).is_some(), "{text:?}");
        }
    }

    #[test]
    fn included_and_other_folders_are_listed() {
        let text = "[include]\n\tpath = ../x\n[includeIf \"gitdir:~/a/\"]\n\tpath = y\n[core]\n\thooksPath = .husky\n\
                    \tworktree = ../../z\n[extensions]\n\tobjectFormat = sha256\n";
        let found = read_git_settings(text);
        assert_eq!(found.includes, ["../x", "y"]);
        assert_eq!(found.hooks, [".husky"]);
        assert_eq!((found.worktree.as_deref(), found.sha256), (Some("../../z"), true));
        assert_eq!(found.names, None);
    }

    #[test]
    fn every_pattern_compiles() {
        let table = TABLE.as_ref().unwrap();
        assert!(table.patterns.values().all(|it| it.compiled().is_some()));
    }
}
