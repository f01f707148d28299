//! Perl one-liners that only match, substitute, count and print, and their file lists.

use std::sync::LazyLock;

use super::hidden::has_code_group;
use crate::risk::shell::classifier::Classifier;
use crate::risk::shell::lazy_regex::LazyRegex;
use crate::risk::shell::program::program_of;
use crate::risk::shell::syntax::{UNKNOWN, unknown};
use crate::risk::shell::{SimpleCommand, Word, path_kind};

/// Limit for code that can be reviewed at a glance.
const MAX_LENGTH: usize = 400;

/// One statement with its terminator. Its texts contain no subscripts or blocks, in which Perl would run code; its
/// patterns contain no variables or code.
static STATEMENT: LazyLock<LazyRegex> = LazyLock::new(|| {
    let variable = r"\$(?:_|&|\.|\d+|[a-z]\w*|F\[-?\d+\])";
    let text = format!(r#""(?:[^"\\$@\[{{]|\\[ntr"\\$@0/]|{variable})*"|'[^'\\]*'"#);
    let value = format!(
        r"(?:{variable}|{text}|\d+|\$ARGV|@F\[[\d., -]+\]|length(?:\(\$_\))?|scalar\(@F\))"
    );
    let list = format!(r"{value}(?: ?[.,] ?{value})*");
    let pattern = r"(?:[^/\\$@]|\\.|\$(?:[)|]))*\$?";
    let found = format!(r"(?:!?\s?(?:{variable}\s?[=!]~\s?)?m?/{pattern}/[gimsxo]*)");
    let number =
        format!(r"(?:{value}\s?(?:==|!=|<=?|>=?|%|eq|ne|lt|gt)\s?{value}(?:\s?==\s?\d+)?)");
    let range = format!(r"(?:(?:\d+|/{pattern}/[i]?)\s?\.{{2,3}}\s?(?:\d+|/{pattern}/[i]?|eof))");
    let one = format!(
        r"(?:{found}|{number}|{range}|!?\s?eof|!?\$[a-z]\w*(?:\{{\$(?:_|\d)\}}(?:\+\+)?)?)"
    );
    let when =
        format!(r"(?:\s*(?:if|unless|while)\s*\(?{one}(?:\s?(?:&&|\|\||and|or)\s?{one})*\)?)");
    let prints = format!(r"(?:print|say)(?: STDERR)?\b\s?\(?(?:{list})?\)?");
    let changes =
        format!(r"(?:{variable}\s?=~\s?)?s/{pattern}/(?:[^/\\$@]|\\.|\$(?:\d|&))*/[gimsxr]*");
    let counts = format!(r"\$[a-z]\w*(?:\+\+|\s?\+=\s?{value})|(?:next|last|chomp|\$\.=0)");
    let does = format!("(?:{prints}|{changes}|{counts}){when}?");
    let ends = format!(
        r"(?:END|BEGIN)\s?\{{\s?{prints}\s?;?\s?\}}|(?:if|unless)\s?\({one}\)\s?\{{\s?{does}(?:\s?;\s?{does})*\s?;?\s?\}}"
    );
    LazyRegex::from(format!(
        r"^\s*(?:{ends}\s*;?|(?:{does}|{found}\s?(?:&&|and)\s?{does})\s*(?:;|\}}?$|$))\s*"
    ))
});

/// Whether Perl code only matches, substitutes, counts and prints.
pub(super) fn only_prints(code: &str) -> bool {
    let code = code.trim();
    // Commands and file access.
    let hidden = ["`", "<", "\\Q$", "system", "exec"];
    if code.is_empty() || code.len() > MAX_LENGTH || !code.is_ascii() {
        return false;
    }
    if hidden.iter().any(|it| code.contains(it)) || has_code_group(code) || has_subscript(code) {
        return false;
    }
    let mut rest = code;
    while !rest.is_empty() {
        let Some(found) = STATEMENT.find_iter(rest).next().filter(|it| it.end() > 0) else {
            return false;
        };
        rest = rest.get(found.end()..).unwrap_or_default();
    }
    true
}

/// Whether a replacement contains a subscript, where Perl runs code.
fn has_subscript(code: &str) -> bool {
    static SUBSCRIPT: LazyRegex = LazyRegex::new(r"\$(?:\d+|&)(?:->)?[\[\{]");
    SUBSCRIPT.is_match(code)
}

/// Whether a subscript contains a call, which Perl runs even inside a text.
pub(super) fn hides_call(code: &str) -> bool {
    static CALLS: LazyLock<LazyRegex> = LazyLock::new(|| {
        let names = "system|exec|qx|open|eval|do|require|rename|unlink|rmdir|mkdir|kill|fork|syscall|chmod|chown|link|symlink\
                     |truncate|utime|readpipe|glob|syswrite|socket|dump|chdir|chroot";
        LazyRegex::from(format!(r"[$@]\w*(?:->)?\s*[\[{{][^\]}}]*\b(?:{names})\b"))
    });
    CALLS.is_match(code)
}

impl Classifier<'_> {
    /// Whether a word consists of names of project files, printed by commands that only search for them.
    pub(super) fn lists_project_files(&self, word: &Word) -> bool {
        let lists = |it: &SimpleCommand| {
            let mut words = it.words.iter().map(|it| it.text.as_str());
            let program = words.next().and_then(program_of);
            let second = words.next().unwrap_or_default();
            match program.as_deref() {
                Some("rg" | "grep" | "fd" | "find" | "sort" | "uniq" | "head" | "ag") => true,
                Some("git") => matches!(second, "grep" | "ls-files" | "diff"),
                _ => false,
            }
        };
        let whole = |name: &str| word.text == unknown(name);
        if whole("")
            && let Some(inner) = word.inner.clone()
        {
            let commands = self.commands_in(inner.clone());
            return !commands.is_empty()
                && commands.iter().all(lists)
                && self.path_in_commands(inner).is_none();
        }
        let is = |it: &SimpleCommand, name: &str| it.program().as_deref() == Some(name);
        let found = word.text.strip_suffix(&format!("/{}", unknown("FOUND")));
        if found
            .is_some_and(|folder| path_kind::is_project_file(folder) && !folder.contains(UNKNOWN))
        {
            let mut commands = self.script.commands.iter();
            return self.folder.is_empty() && commands.all(|it| is(it, "find"));
        }
        whole("ARG")
            && self.folder.is_empty()
            && self.script.commands.iter().all(|it| lists(it) || is(it, "xargs"))
            && self.script.commands.iter().any(lists)
    }
}
