//! Whether one token of inline code is allowed in its position.

use std::collections::BTreeSet;

use super::effects::{
    endless, has_paths, loads_data, names_no_secret, names_project_file, only_mentioned,
};
use super::language::{Inline, Language};
use super::tokens::{Cursor, Token};
use crate::risk::shell::listed::listed;

/// JavaScript names that lead to code generation.
const BANNED: &str = "constructor __proto__ prototype mainModule binding dlopen eval Function callee caller arguments _load";

/// The modes of Python that only read a file.
fn only_reads(mode: &str) -> bool {
    matches!(mode, "r" | "rb" | "rt")
}

impl Inline {
    /// Whether a token is allowed in its position.
    pub(super) fn token(
        &self,
        here: Cursor,
        bound: &BTreeSet<String>,
        shown: &BTreeSet<String>,
    ) -> bool {
        let language = self.language;
        let script = language == Language::JavaScript;
        match here.get(0) {
            Some(Token::Sign('[')) if script || language == Language::Lua => {
                // A computed attribute could be any.
                let plain = match here.get(1) {
                    Some(Token::Number(_)) => true,
                    Some(Token::Text(text)) => {
                        listed(&self.attributes, text) || listed(&self.names, text)
                    }
                    _ => false,
                };
                self.allows_subscript(here, plain)
            }
            Some(Token::Sign('(')) if self.calls_text(here) => false,
            Some(Token::Sign(']')) if script => !here.sign(1, ":"),
            Some(Token::Text(text)) if script && here.sign(1, ":") => {
                !text.contains('\\') && !listed(BANNED, text)
            }
            Some(Token::Name(own)) => self.name(here, own, bound, shown),
            _ => true,
        }
    }

    fn name(
        &self,
        here: Cursor,
        own: &str,
        bound: &BTreeSet<String>,
        shown: &BTreeSet<String>,
    ) -> bool {
        let language = self.language;
        let script = language == Language::JavaScript;
        let given = |by: isize| here.sign(by, "(") && here.text(by + 1).is_some();
        if script && listed(BANNED, own) || own.contains("ENV") && !script {
            return false;
        }
        if here.is_attribute() || language == Language::Lua && here.sign(-1, ":") {
            return self.attribute(here, own, shown);
        }
        if here.sign(-1, "$") || (here.sign(-1, "@") && language == Language::Perl) {
            // A variable that is called could contain any function name.
            return !here.sign(1, "(")
                && (!own.starts_with('_') || own == "_" && language == Language::Perl)
                && !matches!(own, "GLOBALS" | "ARGV" | "SIG" | "INC" | "ISA");
        }
        if here.sign(-1, ":") && language == Language::Ruby {
            return listed(&self.attributes, own);
        }
        let keyword = language == Language::Python && here.sign(-1, "(,") && here.is_assigned();
        let key = script && here.sign(-1, "{,") && here.sign(1, ":");
        if keyword || key {
            return true;
        }
        if listed(&self.reads, own) {
            let mode =
                here.sign(3, ",") && here.text(4).is_some_and(only_reads) && here.sign(5, ")");
            return here.sign(1, "(")
                && here.text(2).is_some_and(names_project_file)
                && (here.sign(3, ")") || mode);
        }
        match own {
            "File" if language == Language::Ruby => {
                let only = "read readlines exist? file? directory? basename extname join";
                here.sign(1, ".") && here.name(2).is_some_and(|it| listed(only, it))
            }
            "require" if script && here.sign(1, ".") => here.name(2) == Some("resolve") && given(3),
            "require" => {
                let data = |text: &str| {
                    text.starts_with("./") && text.ends_with(".json") && !text.contains("..")
                };
                here.text(1 + isize::from(here.sign(1, "(")))
                    .is_some_and(|it| listed(&self.modules, it) || script && data(it))
            }
            "while" | "until" => listed(&self.names, own) && !endless(here),
            // Perl's repetition operator.
            "x" if language == Language::Perl => here.text(-1).is_some() || here.sign(-1, ")"),
            _ if shown.contains(own) => here.sign(1, "."),
            _ => bound.contains(own) || listed(&self.names, own),
        }
    }

    /// Whether an attribute is listed, with extra conditions for some.
    fn attribute(&self, here: Cursor, own: &str, shown: &BTreeSet<String>) -> bool {
        let of = here.name(-2).unwrap_or_default();
        let version = matches!(own, "__version__" | "__file__" | "__name__" | "__doc__");
        let (python, script) =
            (self.language == Language::Python, self.language == Language::JavaScript);
        if shown.contains(of) {
            return version || matches!(own, "VERSION" | "version");
        }
        // An assigned attribute would be visible to other code.
        if here.is_assigned() && self.language != Language::Perl {
            return false;
        }
        match own {
            // On texts and lists these return a copy; on files they overwrite or move.
            "replace" | "copy" | "move" if python && (of == "os" || has_paths(here.all)) => false,
            "write" if script => matches!(of, "stdout" | "stderr"),
            // Only directly on a literal path.
            "read_text" | "read_bytes" => {
                here.sign(-2, ")")
                    && here.text(-3).is_some()
                    && here.sign(-4, "(")
                    && here.name(-5) == Some("Path")
            }
            "open" if python && here.sign(1, "(") => {
                here.sign(2, ")") || here.text(2).is_some_and(only_reads) && here.sign(3, ")")
            }
            // pandas evaluates the argument of `query`, and `to_string` can write a file.
            "query" if python => !here.sign(1, "("),
            "to_string" => {
                let buffer =
                    |it: &Token| matches!(it, Token::Name(own) | Token::Text(own) if own == "buf");
                let first = here.sign(2, ")") || here.name(2).is_some() && here.sign(3, "=");
                !here.sign(1, "(") || first && !here.all.iter().any(buffer)
            }
            "env" | "environ" | "getenv" if self.language != Language::Lua => {
                let named = match script {
                    true => here.name(2),
                    false => (1..=5).find_map(|by| here.text(by)),
                };
                named.is_some_and(names_no_secret)
                    && (here.sign(1, if script { "." } else { "[" })
                        || here.sign(1, ".") && here.name(2) == Some("get"))
            }
            "system" => of == "platform" && here.sign(1, "(") && here.sign(2, ")"),
            "load" => loads_data(of),
            "path" if of == "sys" => only_mentioned(here),
            _ if listed(&self.reads, own) => {
                here.sign(1, "(")
                    && here.text(2).is_some_and(names_project_file)
                    && (here.sign(3, ")") || script && here.sign(3, ","))
            }
            // A variable after `env.`, which was checked there.
            _ if of == "env" && script => true,
            _ => version || listed(&self.attributes, own),
        }
    }
}
