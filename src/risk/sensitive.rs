//! One table of sensitive paths for tools and commands (SPEC §4, §7.1): files that configure other programs, and
//! files with keys or passwords.
//!
//! Paths are folded before they are compared, because a file system may treat two spellings as one file: it may
//! ignore case, Unicode normalization, zero-width characters, and trailing dots or spaces.

use std::borrow::Cow;
use std::sync::LazyLock;

use serde::Deserialize;
use unicode_normalization::UnicodeNormalization as _;

/// The text of the table.
pub(super) const TEXT: &str = include_str!("../../assets/risk/sensitive.toml");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    group: Vec<PatternGroup>,
}

/// Why a file is sensitive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Sensitivity {
    /// It configures other programs.
    Configuration,
    /// It contains keys or passwords.
    Secret,
    /// It may contain keys or passwords. Only planners are kept from it.
    Private,
}

/// Patterns with the same rule.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PatternGroup {
    pub(super) rule: String,
    kind: Sensitivity,
    pub(super) reason: String,
    patterns: Vec<String>,
}

/// The groups of the table. If it cannot be read, every file is sensitive.
static GROUPS: LazyLock<Vec<PatternGroup>> = LazyLock::new(|| match toml::from_str(TEXT) {
    Ok(Table { group }) => group,
    Err(_) => vec![PatternGroup {
        rule: "no-rules".to_owned(),
        kind: Sensitivity::Secret,
        reason: "may be sensitive, because the table of sensitive paths cannot be read".to_owned(),
        patterns: vec!["*".to_owned()],
    }],
});

/// The rules about writing sensitive files, each with what writing such a file does, as a sentence without its subject.
pub fn rules() -> impl Iterator<Item = (&'static str, &'static str)> {
    let written = GROUPS.iter().filter(|group| group.kind != Sensitivity::Private);
    written.map(|group| (&*group.rule, &*group.reason))
}

/// The first group that matches a path; `None` for an ordinary file.
pub(super) fn find_sensitive(path: &str) -> Option<&'static PatternGroup> {
    find_group(path, |kind| kind != Sensitivity::Private)
}

/// Whether planners are not shown a file of the workspace (SPEC §10). The public half of a key pair is shown.
pub fn is_hidden_from_planners(path: &str) -> bool {
    !path.ends_with(".pub") && find_group(path, |_| true).is_some()
}

/// Whether a file contains keys or passwords. The public half of a key pair does not count.
pub(super) fn is_secret_file(path: &str) -> bool {
    !path.ends_with(".pub") && find_group(path, |kind| kind == Sensitivity::Secret).is_some()
}

fn find_group(path: &str, wanted: impl Fn(Sensitivity) -> bool) -> Option<&'static PatternGroup> {
    let folded = folded_names(path);
    let names: Vec<&str> = folded.iter().map(|name| &**name).collect();
    let is_absolute = path.starts_with(['/', '\\']);
    let is_hit = |it: &&Pattern| wanted(it.group.kind) && it.matches(&names, is_absolute);
    Some(PATTERNS.iter().find(is_hit)?.group)
}

/// The folded names of a path. `.` is left out.
fn folded_names(path: &str) -> Vec<Cow<'_, str>> {
    let names = path.split(['/', '\\']).filter(|name| !matches!(*name, "" | "."));
    names.map(folded_name).filter(|name| !name.is_empty()).collect()
}

/// One name in the form in which the most lenient file system compares it.
fn folded_name(name: &str) -> Cow<'_, str> {
    if name == ".." {
        return Cow::Borrowed(name);
    }
    let is_plain = |byte: u8| byte.is_ascii() && !byte.is_ascii_uppercase() && byte != b':';
    let trimmed = || name.ends_with(['.', ' ']);
    if name.bytes().all(is_plain) && !trimmed() && !name.starts_with("git~") {
        return Cow::Borrowed(name);
    }
    let folded = fold(name);
    // On NTFS a name may have a stream suffix, as in `.git::$INDEX_ALLOCATION`.
    let folded = folded.split_once("::").or(folded.split_once(":$")).map_or(&*folded, |it| it.0);
    let folded = folded.trim_end_matches(['.', ' ']);
    let is_short_name = folded
        .strip_prefix("git~")
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()));
    Cow::Owned(if is_short_name { ".git".to_owned() } else { folded.to_owned() })
}

/// Removes differences that a file system may ignore: compatibility forms (NFKC), case, and zero-width characters.
fn fold(text: &str) -> String {
    let once = |text: &str| -> String {
        let visible: String = text.nfkc().filter(|c| !has_no_width(*c)).collect::<String>();
        // Both conversions are needed to make `ß` equal to `SS`, and `ſ` equal to `s`.
        visible.to_uppercase().to_lowercase()
    };
    // A change of case can produce characters that compose differently.
    once(&once(text))
}

/// Whether HFS+ ignores a character in names, or the character is otherwise invisible.
fn has_no_width(c: char) -> bool {
    matches!(c,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}'
        | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FE00}'..='\u{FE0F}'
        | '\u{FEFF}' | '\u{E0000}'..='\u{E0FFF}')
}

/// A parsed pattern of the table. Patterns are parsed once, because every tool call is compared with all of them.
struct Pattern {
    group: &'static PatternGroup,
    /// Whether only absolute paths match.
    is_absolute: bool,
    /// Whether a match must start at the first name of a path.
    is_anchored: bool,
    /// Whether everything below a matching folder matches, too.
    below: bool,
    parts: Vec<Part>,
}

/// One name of a pattern.
enum Part {
    Exactly(&'static str),
    /// A prefix and a suffix around `*`.
    Around(&'static str, &'static str),
}

static PATTERNS: LazyLock<Vec<Pattern>> = LazyLock::new(|| {
    let patterns = |group: &'static PatternGroup| {
        group.patterns.iter().map(move |text| Pattern::new(group, text))
    };
    GROUPS.iter().flat_map(patterns).collect()
});

impl Pattern {
    fn new(group: &'static PatternGroup, text: &'static str) -> Self {
        let rest = text.strip_prefix('/');
        let is_absolute = rest.is_some();
        let is_anchored = is_absolute || text.starts_with('~');
        let text = rest.unwrap_or(text);
        let head = text.strip_suffix("/**");
        let part = |text: &'static str| match text.split_once('*') {
            None => Part::Exactly(text),
            Some((head, tail)) => Part::Around(head, tail),
        };
        let parts = head.unwrap_or(text).split('/').map(part).collect();
        Self { group, is_absolute, is_anchored, below: head.is_some(), parts }
    }

    fn matches(&self, names: &[&str], is_absolute: bool) -> bool {
        if self.is_absolute && !is_absolute {
            return false;
        }
        let Some(last) = names.len().checked_sub(self.parts.len()) else { return false };
        let mut starts = match (self.is_anchored, self.below) {
            (true, true) => 0..=0,
            (true, false) if last > 0 => return false,
            (_, false) => last..=last,
            (false, true) => 0..=last,
        };
        starts.any(|start| {
            let names = names.iter().skip(start);
            self.parts.iter().zip(names).all(|(part, name)| part.matches(name))
        })
    }
}

impl Part {
    fn matches(&self, name: &str) -> bool {
        match self {
            Self::Exactly(text) => *text == name,
            Self::Around(head, tail) => {
                name.len() >= head.len() + tail.len()
                    && name.starts_with(head)
                    && name.ends_with(tail)
            }
        }
    }
}

/// Whether one absolute path is equal to or below another one, compared after folding.
pub fn is_at_or_below(path: &str, folder: &str) -> bool {
    let (path, folder) = (folded_names(path), folded_names(folder));
    path.len() >= folder.len() && path.iter().zip(&folder).all(|(one, other)| one == other)
}

/// Whether a normalized path names one of these folders or something inside. Where the path starts with `..`, `~`, a
/// variable or a glob pattern, its beginning is unknown: the rest must start with at least the last two names of a
/// folder.
pub(super) fn names_own_folder(path: &str, own_folders: &[std::path::PathBuf]) -> bool {
    let is_open = |name: &str| name.contains(['\u{E000}', '*', '?', '[']);
    let is = |known: &str, name: &str| {
        let head = name.split(['\u{E000}', '*', '?', '[']).next().unwrap_or_default();
        known == name || is_open(name) && known.starts_with(head)
    };
    let begins = |folder: &[Cow<str>], names: &[Cow<str>]| {
        folder.len() <= names.len()
            && folder.iter().zip(names).all(|(known, name)| is(known, name))
            // Glob patterns alone identify no folder.
            && folder.iter().zip(names).any(|(known, name)| known == name)
    };
    let names = folded_names(path);
    // `/proc/PID/root` and `/proc/PID/cwd` lead to other folders.
    let seen = match names.as_slice() {
        [first, _, third, rest @ ..]
            if &**first == "proc" && matches!(&**third, "root" | "cwd") =>
        {
            rest
        }
        all => all,
    };
    let is_rooted = path.starts_with('/')
        && (seen.len() == names.len() || names.get(2).is_some_and(|it| it == "root"));
    own_folders.iter().any(|folder| {
        let folder = folder.to_string_lossy();
        let folder = folded_names(&folder);
        if is_rooted {
            return begins(&folder, seen);
        }
        let inside = seen
            .iter()
            .skip_while(|name| matches!(&***name, "..") || name.starts_with('~') || is_open(name));
        let inside: Vec<Cow<str>> = inside.cloned().collect();
        inside.len() < names.len()
            && (1..folder.len().saturating_sub(1))
                .any(|index| folder.get(index..).is_some_and(|tail| begins(tail, &inside)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(path: &str) -> Option<&'static str> {
        find_sensitive(path).map(|group| group.rule.as_str())
    }

    #[test]
    fn patterns_are_folded_and_matched_once() {
        assert!(GROUPS.iter().all(|group| group.rule != "no-rules"));
        for group in GROUPS.iter() {
            for pattern in &group.patterns {
                let bare = pattern.trim_end_matches("/**").replace('*', "x");
                for name in bare.split('/').filter(|name| !name.is_empty()) {
                    assert_eq!(folded_name(name), name, "{pattern}: not as names are compared");
                }
                for path in [bare.clone(), bare.to_uppercase()] {
                    assert!(is_hidden_from_planners(&path), "{pattern}");
                    let is_private = group.kind == Sensitivity::Private;
                    assert!(is_private || find_sensitive(&path).is_some(), "{pattern}");
                }
                assert!(pattern.matches('*').count() < 2 || pattern.ends_with("/**"), "{pattern}");
            }
        }
    }

    #[test]
    fn spellings_of_one_file_are_one() {
        for path in [
            ".git/config",
            ".GIT/config",
            ".Git/Config",
            ".g\u{200c}it/config",
            "x/.git /config",
            ".git./config",
            ".git::$INDEX_ALLOCATION/config",
            "GIT~1/config",
            ".gi\u{ff54}/config",
            "\u{feff}.git/config",
            "a\\.git\\config",
            ".//.git//config",
            ".g\u{ad}it/config",
        ] {
            assert_eq!(rule(path), Some("write-git-internals"), "{path:?}");
        }
        for path in [".\u{17f}sh/config", ".\u{ff33}SH/config", ".ssh/x"] {
            assert_eq!(rule(path), Some("write-ssh"), "{path:?}");
        }
        // The Kelvin sign is a k in lower case.
        assert_eq!(rule("Ma\u{212a}efile"), Some("write-makefile"));
    }

    #[test]
    fn ordinary_files_are_not_sensitive() {
        for path in [
            ".gitignore",
            "git/x",
            "docs/build.rs.md",
            ".github/README.md",
            "src/lib.rs",
            "a.makefile",
            "bin/tool",
            "x~/bin/y",
            "etc/shadow",
            "notes/etc/cron.d/x",
            "Cargo.toml",
            "git~x/config",
        ] {
            assert_eq!(rule(path), None, "{path}");
        }
        for path in ["src/env.rs", "tests/key.rs", "secrets.rs", "src/secrets/mod.rs", "a.key.md"] {
            assert!(!is_hidden_from_planners(path), "{path}");
        }
        assert_eq!(rule("~/bin/x"), Some("write-autostart"));
        assert_eq!(rule("/etc/cron.daily/x"), Some("write-autostart"));
    }
}
