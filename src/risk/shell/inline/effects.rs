//! Whether inline code can have effects beyond its output.
//!
//! Importing a module runs code of the project, as its scripts do, and is allowed. The names that the code uses decide:
//! each is split into words, and no word may suggest more than reading.

use super::bindings::is_cheap;
use super::imports::calls_function_by_name;
use super::language::{InlineRules, Language};
use super::tokens::{Cursor, Token, cursors, name};
use crate::risk::shell::listed::{listed, listed_in};
use crate::risk::shell::path_kind;
use crate::risk::shell::secrets::is_secret_name;

/// Limit for code that can be reviewed at a glance.
const MAX_LENGTH: usize = 400;

/// Words in names that suggest more than reading, computing and printing.
pub(super) const WORDS: &str = include_str!("../../../../assets/risk/words/effect-words.txt");

/// Harmless names that contain such words.
const HARMLESS_NAMES: &str =
    "process const function class_methods re_compile public_methods define method_missing";

/// Names that are refused as a whole.
pub(super) const NAMES: &str = include_str!("../../../../assets/risk/words/effect-names.txt");

/// Whether a name suggests an effect.
fn suggests_effect(ident: &str) -> bool {
    if listed(HARMLESS_NAMES, ident) {
        return false;
    }
    let lower = ident.to_ascii_lowercase();
    if listed_in(NAMES, ident) || is_effect_word(&lower) {
        return true;
    }
    let mut part = String::new();
    let mut upper = true;
    for c in ident.chars().chain(std::iter::once('_')) {
        let ends = !c.is_ascii_alphanumeric() || (c.is_ascii_uppercase() && !upper);
        if ends {
            if is_effect_word(&part) {
                return true;
            }
            part.clear();
        }
        if c.is_ascii_alphanumeric() {
            part.push(c.to_ascii_lowercase());
        }
        upper = c.is_ascii_uppercase();
    }
    false
}

/// Whether a word suggests an effect, also with a number or `sync` at its end.
fn is_effect_word(text: &str) -> bool {
    let text = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let without_sync = text.strip_suffix("sync").filter(|it| !it.is_empty()).unwrap_or(text);
    if text.starts_with("save") || text.ends_with("save") || text.starts_with("write") {
        return true;
    }
    listed_in(WORDS, text) || listed_in(WORDS, without_sync)
}

/// Functions that build texts, which could hide a name.
const TEXT_BUILDERS: &str = "join concat replace fromCharCode fromCodePoint atob Buffer reverse decodeURIComponent slice substring \
    substr chr bytes decode toString raw unescape";

impl InlineRules {
    /// Whether code that imports modules of the project calls nothing with effects beyond its output.
    pub(super) fn has_no_effects(&self, code: &str) -> bool {
        if code.len() > MAX_LENGTH {
            return false;
        }
        let Some(all) = self.tokens(code) else { return false };
        let builds_text = cursors(&all).any(|cursor| match cursor.get(0) {
            Some(Token::Name(ident)) => listed(TEXT_BUILDERS, ident),
            Some(Token::Text(_)) => cursor.is_punct(-1, "+") || cursor.is_punct(1, "+"),
            _ => false,
        });
        all.len() > 1
            && is_cheap(&all)
            && !calls_function_by_name(&all, self.language)
            && self.uses_only_known_names(&all)
            && cursors(&all).all(|cursor| self.token_has_no_effect(cursor, builds_text))
    }

    fn token_has_no_effect(&self, cursor: Cursor, builds_text: bool) -> bool {
        let has_attributes = matches!(self.language, Language::JavaScript | Language::Lua);
        match cursor.get(0) {
            Some(Token::Text(text)) => text_has_no_effect(text),
            Some(Token::Punct('(')) if self.calls_text(cursor) => false,
            // The result of an expression is called, which could be any function.
            Some(Token::Punct('(')) if cursor.is_punct(-1, "])") => false,
            Some(Token::Punct('[')) if has_attributes => {
                let plain = match cursor.get(1) {
                    Some(Token::Number(_)) => true,
                    Some(Token::Text(text)) => !text.contains('\\'),
                    Some(Token::Name(_)) => !builds_text && !loads_file_module(cursor.all),
                    _ => false,
                };
                self.allows_subscript(cursor, plain)
            }
            Some(Token::Name(ident)) => self.name_has_no_effect(cursor, ident),
            _ => true,
        }
    }

    /// Whether a bracket calls a function that a text may name.
    pub(super) fn calls_text(&self, cursor: Cursor) -> bool {
        match self.language {
            Language::Php => cursor.follows_value() || cursor.is_punct(-1, "}"),
            Language::R => cursor.text(-1).is_some(),
            _ => false,
        }
    }

    /// Whether a bracket cannot access a computed attribute. `plain`: its content is literal.
    pub(super) fn allows_subscript(&self, cursor: Cursor, plain: bool) -> bool {
        let follows = cursor.name(-1).is_some()
            || cursor.follows_value()
            || cursor.is_punct(-1, "}")
            || matches!(cursor.get(-1), Some(Token::Number(_)));
        let word = matches!(cursor.name(-1), Some("return" | "of" | "in"));
        !(self.language == Language::JavaScript && cursor.is_punct(-1, "{"))
            && (!follows || word || plain && cursor.is_punct(2, "]"))
    }

    fn name_has_no_effect(&self, cursor: Cursor, ident: &str) -> bool {
        let object = cursor.name(-2).unwrap_or_default();
        let dotted = cursor.is_punct(-1, ".");
        if ident.starts_with("__") {
            return dotted
                && matches!(ident, "__version__" | "__file__" | "__name__" | "__doc__")
                && !cursor.is_punct(1, "[");
        }
        // An assigned attribute would be visible to other code.
        if dotted
            && cursor.is_assigned()
            && !cursor.is_punct(2, ">")
            && self.language != Language::R
        {
            return false;
        }
        if cursor.is_punct(-1, "$") || (cursor.is_punct(-1, "@") && self.language == Language::Perl)
        {
            return !cursor.is_punct(1, "(")
                && !ident.starts_with('_')
                && !ident.contains("ENV")
                && ident != "GLOBALS";
        }
        match ident {
            // On a text this returns a copy; on a path it overwrites a file.
            "replace" if self.language == Language::Python => {
                return dotted && object != "os" && !names_path_class(cursor.all);
            }
            "file" if self.language == Language::R && cursor.is_punct(1, "=") => return false,
            "values" | "entries" if loads_file_module(cursor.all) => return false,
            "while" | "until" => return !has_constant_condition(cursor),
            "requests" | "urllib" | "urllib3" | "http" | "httpx" => {
                return self.language == Language::Python && only_mentions_module(cursor);
            }
            "environ" | "getenv" | "env" | "ENV" | "fetchenv" => {
                let named = match self.language {
                    Language::JavaScript => cursor.name(2).filter(|_| cursor.is_punct(1, ".")),
                    _ => (1..=4).find_map(|by| cursor.text(by)),
                };
                return named.is_some_and(names_no_secret);
            }
            "argv" | "glob" if self.language == Language::Python => return true,
            "platform" | "json" | "sys" | "tomllib" | "yaml" => {
                return !cursor.is_punct(1, "=") || self.language == Language::Python;
            }
            "load" => return loads_data(object),
            "compile" => return dotted && object == "re",
            "write" => return matches!(object, "stdout" | "stderr") && dotted,
            "path" if object == "sys" => return is_only_passed_on(cursor),
            // A module with a literal name.
            "require" | "import" | "library" | "use" | "using"
                if matches!(
                    self.language,
                    Language::JavaScript | Language::Ruby | Language::Php | Language::Lua
                ) =>
            {
                let known = cursor.text(1 + isize::from(cursor.is_punct(1, "(")));
                if self.language == Language::Php || known.is_none() && cursor.is_punct(1, "(") {
                    return false;
                }
                return match known {
                    Some(module) => !module.contains("..") && !module_suggests_effect(module),
                    None => {
                        ident != "require"
                            || cursor.is_punct(1, ".") && cursor.name(2) == Some("resolve")
                    }
                };
            }
            _ => {}
        }
        if ident == "open"
            || listed(&self.reads, ident)
            || listed(
                "readFile read File readlines readLines loadtxt file_get_contents file",
                ident,
            )
        {
            if !cursor.is_punct(1, "(") {
                // An imported class, or a method of an open file.
                let imported = cursor.name(-1) == Some("import") || cursor.is_punct(-1, ",");
                return ident == "Path" && imported
                    || matches!(ident, "File" | "file" | "read" | "readlines");
            }
            let closes = |by| cursor.is_punct(by, ")");
            let given = cursor.text(2).is_some_and(names_readable_file);
            let read = |mode: &str| matches!(mode, "r" | "rb" | "rt" | "utf8" | "utf-8");
            let mode = cursor.is_punct(3, ",") && cursor.text(4).is_some_and(read) && closes(5);
            let no_path = ident == "read" || dotted && ident == "open";
            return no_path && closes(2) || given && (closes(3) || mode);
        }
        ident == "function" || ident == "const" || !suggests_effect(ident)
    }
}

/// Whether the condition of a loop is constant or negated.
pub(super) fn has_constant_condition(cursor: Cursor) -> bool {
    let from = 1 + isize::from(cursor.is_punct(1, "("));
    matches!(cursor.get(from), Some(Token::Number(_)))
        || cursor.name(from).is_some_and(|it| it.eq_ignore_ascii_case("true"))
        || cursor.is_punct(from, "!")
}

/// Whether `load` of this module reads data and no code.
pub(super) fn loads_data(module: &str) -> bool {
    matches!(module, "json" | "tomllib" | "toml" | "tomli")
}

/// Whether a name is only passed on as a value.
pub(super) fn is_only_passed_on(cursor: Cursor) -> bool {
    cursor.get(1).is_none() || cursor.is_punct(1, "),")
}

/// Whether this is the plain name of a variable and does not suggest a secret.
pub(super) fn names_no_secret(name: &str) -> bool {
    name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_') && !is_secret_name(name)
}

/// Whether the code only mentions a network module, without calling, renaming or storing any of it.
fn only_mentions_module(cursor: Cursor) -> bool {
    let mut end = 1;
    while cursor.is_punct(end, ".") && cursor.name(end + 1).is_some() {
        end += 2;
    }
    let kept =
        cursor.is_punct(-1, "=") || matches!(cursor.name(-1), Some("from" | "return" | "lambda"));
    (cursor.get(end).is_none() || cursor.is_punct(end, ",);")) && !kept
}

/// Whether Python code uses the class for paths.
pub(super) fn names_path_class(all: &[Token]) -> bool {
    all.iter().any(|it| matches!(name(Some(it)), Some("Path" | "pathlib")))
}

/// Whether the file module of JavaScript is loaded.
fn loads_file_module(all: &[Token]) -> bool {
    let is = |it: &Token| matches!(it, Token::Text(text) if matches!(text.trim_start_matches("node:"), "fs" | "fs/promises"));
    all.iter().any(is)
}

/// Whether the name of a module suggests an effect.
fn module_suggests_effect(module: &str) -> bool {
    let bare = module.trim_start_matches("node:").trim_start_matches("./");
    bare.starts_with('/')
        || bare == "module"
        || bare.split(['/', '-', '.', '@']).any(suggests_effect)
}

/// Whether a text contains no outside path, no secret file and no name that could be called.
fn text_has_no_effect(text: &str) -> bool {
    let path = path_kind::normalize(text, "");
    let called = text.bytes().all(|it| it.is_ascii_alphanumeric() || b"_.:".contains(&it))
        && text.split(['.', ':']).any(suggests_effect);
    let escapes = ["\\x", "\\u", "\\0", "\\1"].iter().any(|it| text.contains(it));
    let leaves =
        text.starts_with(['/', '~']) && text.len() > 1 || text.contains("../") || text == "..";
    let hides = path_kind::holds_keys(&path) || is_environment(&path);
    let runs = text.contains("://") || text.contains("$(") || text.contains('`');
    !(called || escapes || leaves || hides || runs)
}

/// Whether a text is the path of a file that the code may read.
fn names_readable_file(text: &str) -> bool {
    let path = path_kind::normalize(text, "");
    !text.is_empty()
        && text_has_no_effect(text)
        && (path_kind::is_project_file(&path) || is_plain_path(&path))
}

/// Whether a path may be a file that keeps settings of the environment.
fn is_environment(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|it| it.starts_with(".env"))
}

fn is_plain_path(path: &str) -> bool {
    !path_kind::is_outside(path) && !path.contains(['*', '|', '<', '>', ':', '\\'])
}

/// Whether a text names a file of the project without secrets.
pub(super) fn names_project_file(text: &str) -> bool {
    let path = path_kind::normalize(text, "");
    !text.is_empty()
        && is_plain_path(&path)
        && !path_kind::holds_keys(&path)
        && !is_environment(&path)
}
