//! Whether one token of inline code is allowed in its position.

use std::collections::BTreeSet;

use super::effects::{
    has_constant_condition, is_only_passed_on, loads_data, names_no_secret, names_path_class,
    names_project_file,
};
use super::language::{InlineRules, Language};
use super::tokens::{Cursor, Token};
use crate::risk::shell::listed::listed;

/// JavaScript names that lead to code generation.
const BANNED: &str = "constructor __proto__ prototype mainModule binding dlopen eval Function callee caller arguments _load";

/// Whether a mode of Python only reads a file.
fn only_reads(mode: &str) -> bool {
    matches!(mode, "r" | "rb" | "rt")
}

impl InlineRules {
    /// Whether a token is allowed in its position.
    pub(super) fn allows_token(
        &self,
        cursor: Cursor,
        bound: &BTreeSet<String>,
        version_only: &BTreeSet<String>,
    ) -> bool {
        let language = self.language;
        let script = language == Language::JavaScript;
        match cursor.get(0) {
            Some(Token::Punct('[')) if script || language == Language::Lua => {
                // A computed attribute could be any.
                let plain = match cursor.get(1) {
                    Some(Token::Number(_)) => true,
                    Some(Token::Text(text)) => {
                        listed(&self.attributes, text) || listed(&self.names, text)
                    }
                    _ => false,
                };
                self.allows_subscript(cursor, plain)
            }
            Some(Token::Punct('(')) if self.calls_text(cursor) => false,
            Some(Token::Punct(']')) if script => !cursor.is_punct(1, ":"),
            Some(Token::Text(text)) if script && cursor.is_punct(1, ":") => {
                !text.contains('\\') && !listed(BANNED, text)
            }
            Some(Token::Name(ident)) => self.allows_name_at(cursor, ident, bound, version_only),
            _ => true,
        }
    }

    /// Whether a name is allowed in its position.
    fn allows_name_at(
        &self,
        cursor: Cursor,
        ident: &str,
        bound: &BTreeSet<String>,
        version_only: &BTreeSet<String>,
    ) -> bool {
        let language = self.language;
        let script = language == Language::JavaScript;
        let given = |by: isize| cursor.is_punct(by, "(") && cursor.text(by + 1).is_some();
        if script && listed(BANNED, ident) || ident.contains("ENV") && !script {
            return false;
        }
        if cursor.is_attribute() || language == Language::Lua && cursor.is_punct(-1, ":") {
            return self.allows_attribute_at(cursor, ident, version_only);
        }
        if cursor.is_punct(-1, "$") || (cursor.is_punct(-1, "@") && language == Language::Perl) {
            // A variable that is called could contain any function name.
            return !cursor.is_punct(1, "(")
                && (!ident.starts_with('_') || ident == "_" && language == Language::Perl)
                && !matches!(ident, "GLOBALS" | "ARGV" | "SIG" | "INC" | "ISA");
        }
        if cursor.is_punct(-1, ":") && language == Language::Ruby {
            return listed(&self.attributes, ident);
        }
        let keyword =
            language == Language::Python && cursor.is_punct(-1, "(,") && cursor.is_assigned();
        let key = script && cursor.is_punct(-1, "{,") && cursor.is_punct(1, ":");
        if keyword || key {
            return true;
        }
        if listed(&self.reads, ident) {
            let mode = cursor.is_punct(3, ",")
                && cursor.text(4).is_some_and(only_reads)
                && cursor.is_punct(5, ")");
            return cursor.is_punct(1, "(")
                && cursor.text(2).is_some_and(names_project_file)
                && (cursor.is_punct(3, ")") || mode);
        }
        match ident {
            "File" if language == Language::Ruby => {
                let only = "read readlines exist? file? directory? basename extname join";
                cursor.is_punct(1, ".") && cursor.name(2).is_some_and(|it| listed(only, it))
            }
            "require" if script && cursor.is_punct(1, ".") => {
                cursor.name(2) == Some("resolve") && given(3)
            }
            "require" => {
                let data = |text: &str| {
                    text.starts_with("./") && text.ends_with(".json") && !text.contains("..")
                };
                cursor
                    .text(1 + isize::from(cursor.is_punct(1, "(")))
                    .is_some_and(|it| listed(&self.modules, it) || script && data(it))
            }
            "while" | "until" => listed(&self.names, ident) && !has_constant_condition(cursor),
            // Perl's repetition operator.
            "x" if language == Language::Perl => {
                cursor.text(-1).is_some() || cursor.is_punct(-1, ")")
            }
            _ if version_only.contains(ident) => cursor.is_punct(1, "."),
            _ => bound.contains(ident) || listed(&self.names, ident),
        }
    }

    /// Whether an attribute is listed, with extra conditions for some.
    fn allows_attribute_at(
        &self,
        cursor: Cursor,
        ident: &str,
        version_only: &BTreeSet<String>,
    ) -> bool {
        let object = cursor.name(-2).unwrap_or_default();
        let version = matches!(ident, "__version__" | "__file__" | "__name__" | "__doc__");
        let (python, script) =
            (self.language == Language::Python, self.language == Language::JavaScript);
        if version_only.contains(object) {
            return version || matches!(ident, "VERSION" | "version");
        }
        // An assigned attribute would be visible to other code.
        if cursor.is_assigned() && self.language != Language::Perl {
            return false;
        }
        match ident {
            // On texts and lists these return a copy; on files they overwrite or move.
            "replace" | "copy" | "move"
                if python && (object == "os" || names_path_class(cursor.all)) =>
            {
                false
            }
            "write" if script => matches!(object, "stdout" | "stderr"),
            // Allowed only directly on a literal path.
            "read_text" | "read_bytes" => {
                cursor.is_punct(-2, ")")
                    && cursor.text(-3).is_some()
                    && cursor.is_punct(-4, "(")
                    && cursor.name(-5) == Some("Path")
            }
            "open" if python && cursor.is_punct(1, "(") => {
                cursor.is_punct(2, ")")
                    || cursor.text(2).is_some_and(only_reads) && cursor.is_punct(3, ")")
            }
            // pandas evaluates the argument of `query`, and `to_string` can write a file.
            "query" if python => !cursor.is_punct(1, "("),
            "to_string" => {
                let buffer = |it: &Token| matches!(it, Token::Name(ident) | Token::Text(ident) if ident == "buf");
                let first =
                    cursor.is_punct(2, ")") || cursor.name(2).is_some() && cursor.is_punct(3, "=");
                !cursor.is_punct(1, "(") || first && !cursor.all.iter().any(buffer)
            }
            "env" | "environ" | "getenv" if self.language != Language::Lua => {
                let named = match script {
                    true => cursor.name(2),
                    false => (1..=5).find_map(|by| cursor.text(by)),
                };
                named.is_some_and(names_no_secret)
                    && (cursor.is_punct(1, if script { "." } else { "[" })
                        || cursor.is_punct(1, ".") && cursor.name(2) == Some("get"))
            }
            "system" => object == "platform" && cursor.is_punct(1, "(") && cursor.is_punct(2, ")"),
            "load" => loads_data(object),
            "path" if object == "sys" => is_only_passed_on(cursor),
            _ if listed(&self.reads, ident) => {
                cursor.is_punct(1, "(")
                    && cursor.text(2).is_some_and(names_project_file)
                    && (cursor.is_punct(3, ")") || script && cursor.is_punct(3, ","))
            }
            // A variable after `env.`, which was checked there.
            _ if object == "env" && script => true,
            _ => version || listed(&self.attributes, ident),
        }
    }
}
