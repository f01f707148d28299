//! Whether one token of inline code is allowed in its position.

use std::collections::BTreeSet;

use super::effects::endless;
use super::language::Inline;
use super::tokens::{Token, name, sign};
use crate::risk::shell::discloses::is_secret_name;
use crate::risk::shell::listed::listed;
use crate::risk::shell::place;

/// JavaScript names that lead to code generation.
const BANNED: &str = "constructor __proto__ prototype mainModule binding dlopen eval Function callee caller arguments _load";

impl Inline {
    /// Whether a token is allowed in its position.
    pub(super) fn token(
        &self,
        all: &[Token],
        at: usize,
        bound: &BTreeSet<String>,
        shown: &BTreeSet<String>,
    ) -> bool {
        let get = |back: usize| at.checked_sub(back).and_then(|at| all.get(at));
        let (before, next) = (get(1), all.get(at + 1));
        let closes = |from: usize| sign(all.get(from), ')');
        let given = |from: usize| {
            sign(all.get(from), '(') && matches!(all.get(from + 1), Some(Token::Text(_)))
        };
        let script = self.language == "javascript";
        match all.get(at) {
            Some(Token::Sign('[')) if script || self.language == "lua" => {
                // A computed attribute could be any.
                let follows = matches!(before, Some(Token::Name(_) | Token::Text(_)))
                    || sign(before, ')')
                    || sign(before, ']');
                let plain = match next {
                    Some(Token::Number(_)) => true,
                    Some(Token::Text(text)) => {
                        listed(&self.attributes, text) || listed(&self.names, text)
                    }
                    _ => false,
                };
                let word = name(before).is_some_and(|it| matches!(it, "return" | "of" | "in"));
                !(script && sign(before, '{'))
                    && (!follows || word || (plain && sign(all.get(at + 2), ']')))
            }
            // PHP calls a function named by a text.
            Some(Token::Sign('(')) if self.language == "php" => {
                !(matches!(before, Some(Token::Text(_))) || sign(before, ')') || sign(before, ']'))
            }
            Some(Token::Sign(']')) if script => !sign(next, ':'),
            Some(Token::Text(text)) if script && sign(next, ':') => {
                !text.contains('\\') && !listed(BANNED, text)
            }
            Some(Token::Name(own)) => {
                if script && listed(BANNED, own)
                    || own.contains("ENV") && self.language != "javascript"
                {
                    return false;
                }
                let dotted = sign(before, '.') && !sign(get(2), '.')
                    || self.language == "lua" && sign(before, ':');
                if dotted {
                    return self.attribute(all, at, own, shown);
                }
                if sign(before, '$') || (sign(before, '@') && self.language == "perl") {
                    // A variable that is called could contain any function name.
                    return !sign(next, '(')
                        && (!own.starts_with('_') || own == "_" && self.language == "perl")
                        && !matches!(own.as_str(), "GLOBALS" | "ARGV" | "SIG" | "INC" | "ISA");
                }
                if sign(before, ':') && self.language == "ruby" {
                    return listed(&self.attributes, own);
                }
                let behind = sign(before, '(') || sign(before, ',');
                let keyword = self.language == "python"
                    && behind
                    && sign(next, '=')
                    && !sign(all.get(at + 2), '=');
                let key = script && (sign(before, '{') || sign(before, ',')) && sign(next, ':');
                if keyword || key {
                    return true;
                }
                if listed(&self.reads, own) {
                    let mode = sign(all.get(at + 3), ',')
                        && matches!(all.get(at + 4), Some(Token::Text(mode)) if matches!(mode.as_str(), "r" | "rb" | "rt"))
                        && closes(at + 5);
                    return given(at + 1)
                        && (closes(at + 3) || mode)
                        && all.get(at + 2).is_some_and(is_project_file);
                }
                if own == "File" && self.language == "ruby" {
                    return sign(next, '.')
                        && name(all.get(at + 2)).is_some_and(|it| {
                            listed(
                                "read readlines exist? file? directory? basename extname join",
                                it,
                            )
                        });
                }
                if own == "require" && script && sign(next, '.') {
                    return name(all.get(at + 2)) == Some("resolve") && given(at + 3);
                }
                if own == "require" {
                    let bracket = usize::from(sign(next, '('));
                    return matches!(all.get(at + 1 + bracket), Some(Token::Text(text))
                        if listed(&self.modules, text)
                            || script && text.starts_with("./") && text.ends_with(".json") && !text.contains(".."));
                }
                if matches!(own.as_str(), "while" | "until") {
                    return listed(&self.names, own) && !endless(all, at);
                }
                // `x` is Perl's repetition operator.
                if own == "x" && self.language == "perl" {
                    return matches!(before, Some(Token::Text(_) | Token::Sign(')')));
                }
                if shown.contains(own) {
                    return sign(next, '.');
                }
                bound.contains(own) || listed(&self.names, own)
            }
            _ => true,
        }
    }

    /// Whether an attribute is listed, with extra conditions for some.
    fn attribute(&self, all: &[Token], at: usize, own: &str, shown: &BTreeSet<String>) -> bool {
        let of = at.checked_sub(2).and_then(|at| name(all.get(at))).unwrap_or_default();
        let next = all.get(at + 1);
        let version = matches!(own, "__version__" | "__file__" | "__name__" | "__doc__");
        if shown.contains(of) {
            return version || matches!(own, "VERSION" | "version");
        }
        // An assigned attribute would be visible to other code.
        let assigned = sign(next, '=') && !sign(all.get(at + 2), '=');
        if assigned && self.language != "perl" {
            return false;
        }
        let text = all.iter().skip(at + 1).take(5).find_map(|it| match it {
            Token::Text(text) => Some(text.as_str()),
            _ => None,
        });
        let files = || {
            let file = |it: &Token| matches!(name(Some(it)), Some("Path" | "pathlib"));
            self.language == "python" && (of == "os" || all.iter().any(file))
        };
        match own {
            // On texts and lists these return a copy; on files they overwrite or move.
            "replace" | "copy" | "move" if files() => false,
            "write" if self.language == "javascript" => matches!(of, "stdout" | "stderr"),
            // Only directly on a literal path.
            "read_text" | "read_bytes" => {
                let back = |count: usize| at.checked_sub(count).and_then(|at| all.get(at));
                sign(back(2), ')')
                    && matches!(back(3), Some(Token::Text(_)))
                    && sign(back(4), '(')
                    && name(back(5)) == Some("Path")
            }
            "open" if self.language == "python" && sign(next, '(') => {
                sign(all.get(at + 2), ')')
                    || matches!(all.get(at + 2), Some(Token::Text(mode)) if matches!(mode.as_str(), "r" | "rb" | "rt"))
                        && sign(all.get(at + 3), ')')
            }
            // pandas evaluates the argument of `query`, and `to_string` can write a file.
            "query" if self.language == "python" => !sign(next, '('),
            "to_string" => {
                !matches!(all.get(at + 2), Some(Token::Text(_)))
                    && name(all.get(at + 2)) != Some("buf")
            }
            "env" | "environ" | "getenv" if self.language != "lua" => {
                let named =
                    if self.language == "javascript" { name(all.get(at + 2)) } else { text };
                let plain =
                    |it: &str| it.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_');
                sign(next, if self.language == "javascript" { '.' } else { '[' })
                    && named.is_some_and(|it| plain(it) && !is_secret_name(it))
                    || sign(next, '.')
                        && name(all.get(at + 2)) == Some("get")
                        && named.is_some_and(|it| plain(it) && !is_secret_name(it))
            }
            "system" => of == "platform" && sign(next, '(') && sign(all.get(at + 2), ')'),
            "load" => matches!(of, "json" | "tomllib" | "toml" | "tomli"),
            "path" if of == "sys" => sign(next, ')') || sign(next, ',') || next.is_none(),
            _ if listed(&self.reads, own) => {
                sign(next, '(')
                    && all.get(at + 2).is_some_and(is_project_file)
                    && (sign(all.get(at + 3), ')')
                        || self.language == "javascript" && sign(all.get(at + 3), ','))
            }
            // A variable after `env.`, which was checked there.
            _ if of == "env" && self.language == "javascript" => true,
            _ => version || listed(&self.attributes, own),
        }
    }
}

fn is_project_file(token: &Token) -> bool {
    let reads = |text: &str| {
        let path = place::normalize(text, "");
        !text.is_empty()
            && !place::is_outside(&path)
            && !place::is_secret(&path)
            && !place::is_keys(&path)
            && !path.rsplit('/').next().is_some_and(|it| it.starts_with(".env"))
            && !path.contains(['*', '|', '<', '>', ':', '\\'])
    };
    matches!(token, Token::Text(text) if reads(text))
}
