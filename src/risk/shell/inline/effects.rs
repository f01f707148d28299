//! Whether inline code can have effects beyond its output.
//!
//! Importing a module runs a file of the project, as its scripts do. What counts is what the code calls: every name
//! is split into words, and none of them may suggest more than reading.

use super::bindings::modest;
use super::imports::names_function;
use super::language::{Inline, Language};
use super::lexer::tokens;
use super::tokens::{Cursor, Token, cursors, name};
use crate::risk::shell::discloses::is_secret_name;
use crate::risk::shell::listed::{listed, listed_in};
use crate::risk::shell::place;

/// Limit for code that can be reviewed at a glance.
const MAX_LENGTH: usize = 400;

/// Words in names that suggest more than reading, computing and printing.
const WORDS: &str = include_str!("../../../../assets/risk/words/effect-words.txt");

/// Harmless names that contain such words.
const ONLY_SOUND: &str =
    "process const function class_methods re_compile public_methods define method_missing";

/// Names that are refused as a whole.
const NAMES: &str = include_str!("../../../../assets/risk/words/effect-names.txt");

/// Whether a name suggests an effect.
fn speaks(own: &str) -> bool {
    if listed(ONLY_SOUND, own) {
        return false;
    }
    let lower = own.to_ascii_lowercase();
    if listed_in(NAMES, own) || word(&lower) {
        return true;
    }
    let mut part = String::new();
    let mut upper = true;
    for c in own.chars().chain(std::iter::once('_')) {
        let ends = !c.is_ascii_alphanumeric() || (c.is_ascii_uppercase() && !upper);
        if ends {
            if word(&part) {
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

fn word(text: &str) -> bool {
    let text = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let singular = text.strip_suffix("sync").filter(|it| !it.is_empty()).unwrap_or(text);
    if text.starts_with("save") || text.ends_with("save") || text.starts_with("write") {
        return true;
    }
    listed_in(WORDS, text) || listed_in(WORDS, singular)
}

/// Functions that build texts, which could hide a name.
const BUILDS: &str = "join concat replace fromCharCode fromCodePoint atob Buffer reverse decodeURIComponent slice substring \
    substr chr bytes decode toString raw unescape";

impl Inline {
    /// Whether code may import modules, but calls nothing with effects beyond its output.
    pub(super) fn stays(&self, code: &str) -> bool {
        if code.len() > MAX_LENGTH {
            return false;
        }
        let Some(all) = tokens(code, self.language) else { return false };
        let builds = cursors(&all).any(|here| match here.get(0) {
            Some(Token::Name(own)) => listed(BUILDS, own),
            Some(Token::Text(_)) => here.sign(-1, "+") || here.sign(1, "+"),
            _ => false,
        });
        all.len() > 1
            && modest(&all)
            && !names_function(&all, self.language)
            && self.closed(&all)
            && cursors(&all).all(|here| self.stays_at(here, builds))
    }

    fn stays_at(&self, here: Cursor, builds: bool) -> bool {
        let has_attributes = matches!(self.language, Language::JavaScript | Language::Lua);
        match here.get(0) {
            Some(Token::Text(text)) => text_stays(text),
            Some(Token::Sign('(')) if self.calls_text(here) => false,
            // The result of an expression is called, which could be any function.
            Some(Token::Sign('(')) if here.sign(-1, "])") => false,
            Some(Token::Sign('[')) if has_attributes => {
                let plain = match here.get(1) {
                    Some(Token::Number(_)) => true,
                    Some(Token::Text(text)) => !text.contains('\\'),
                    Some(Token::Name(_)) => !builds && !has_files(here.all),
                    _ => false,
                };
                self.allows_subscript(here, plain)
            }
            Some(Token::Name(own)) => self.name_stays(here, own),
            _ => true,
        }
    }

    /// Whether a bracket calls a function that a text may name.
    pub(super) fn calls_text(&self, here: Cursor) -> bool {
        match self.language {
            Language::Php => here.follows_value() || here.sign(-1, "}"),
            Language::R => here.text(-1).is_some(),
            _ => false,
        }
    }

    /// Whether a bracket names no attribute that is computed. `plain`: its content is literal.
    pub(super) fn allows_subscript(&self, here: Cursor, plain: bool) -> bool {
        let follows = here.name(-1).is_some()
            || here.follows_value()
            || here.sign(-1, "}")
            || matches!(here.get(-1), Some(Token::Number(_)));
        let word = matches!(here.name(-1), Some("return" | "of" | "in"));
        !(self.language == Language::JavaScript && here.sign(-1, "{"))
            && (!follows || word || plain && here.sign(2, "]"))
    }

    fn name_stays(&self, here: Cursor, own: &str) -> bool {
        let of = here.name(-2).unwrap_or_default();
        let dotted = here.sign(-1, ".");
        if own.starts_with("__") {
            return dotted
                && matches!(own, "__version__" | "__file__" | "__name__" | "__doc__")
                && !here.sign(1, "[");
        }
        // An assigned attribute would be visible to other code.
        if dotted && here.is_assigned() && !here.sign(2, ">") && self.language != Language::R {
            return false;
        }
        if here.sign(-1, "$") || (here.sign(-1, "@") && self.language == Language::Perl) {
            return !here.sign(1, "(")
                && !own.starts_with('_')
                && !own.contains("ENV")
                && own != "GLOBALS";
        }
        match own {
            // On a text this returns a copy; on a path it overwrites a file.
            "replace" if self.language == Language::Python => {
                return dotted && of != "os" && !has_paths(here.all);
            }
            "file" if self.language == Language::R && here.sign(1, "=") => return false,
            "values" | "entries" if has_files(here.all) => return false,
            "while" | "until" => return !endless(here),
            "requests" | "urllib" | "urllib3" | "http" | "httpx" => {
                return self.language == Language::Python && only_named(here);
            }
            "environ" | "getenv" | "env" | "ENV" | "fetchenv" => {
                let named = match self.language {
                    Language::JavaScript => here.name(2).filter(|_| here.sign(1, ".")),
                    _ => (1..=4).find_map(|by| here.text(by)),
                };
                return named.is_some_and(names_no_secret);
            }
            "argv" | "glob" if self.language == Language::Python => return true,
            "platform" | "json" | "sys" | "tomllib" | "yaml" => {
                return !here.sign(1, "=") || self.language == Language::Python;
            }
            "load" => return loads_data(of),
            "compile" => return dotted && of == "re",
            "write" => return matches!(of, "stdout" | "stderr") && dotted,
            "path" if of == "sys" => return only_mentioned(here),
            // A module with a literal name.
            "require" | "import" | "library" | "use" | "using"
                if matches!(
                    self.language,
                    Language::JavaScript | Language::Ruby | Language::Php | Language::Lua
                ) =>
            {
                let known = here.text(1 + isize::from(here.sign(1, "(")));
                if self.language == Language::Php || known.is_none() && here.sign(1, "(") {
                    return false;
                }
                return match known {
                    Some(module) => !module.contains("..") && !speaks_module(module),
                    None => {
                        own != "require" || here.sign(1, ".") && here.name(2) == Some("resolve")
                    }
                };
            }
            _ => {}
        }
        if own == "open"
            || listed(&self.reads, own)
            || listed("readFile read File readlines readLines loadtxt file_get_contents file", own)
        {
            if !here.sign(1, "(") {
                // An imported class, or a method of an open file.
                let imported = here.name(-1) == Some("import") || here.sign(-1, ",");
                return own == "Path" && imported
                    || matches!(own, "File" | "file" | "read" | "readlines");
            }
            let closes = |by| here.sign(by, ")");
            let given = here.text(2).is_some_and(reads_inside);
            let read = |mode: &str| matches!(mode, "r" | "rb" | "rt" | "utf8" | "utf-8");
            let mode = here.sign(3, ",") && here.text(4).is_some_and(read) && closes(5);
            let no_path = own == "read" || dotted && own == "open";
            return no_path && closes(2) || given && (closes(3) || mode);
        }
        own == "function" || own == "const" || !speaks(own)
    }
}

/// Whether the condition of a loop is constant.
pub(super) fn endless(here: Cursor) -> bool {
    let from = 1 + isize::from(here.sign(1, "("));
    matches!(here.get(from), Some(Token::Number(_)))
        || here.name(from).is_some_and(|it| it.eq_ignore_ascii_case("true"))
        || here.sign(from, "!")
}

/// Whether `load` of this module reads data and no code.
pub(super) fn loads_data(module: &str) -> bool {
    matches!(module, "json" | "tomllib" | "toml" | "tomli")
}

/// Whether nothing is done with a name but passing it on as a value.
pub(super) fn only_mentioned(here: Cursor) -> bool {
    here.get(1).is_none() || here.sign(1, "),")
}

/// Whether this is the plain name of a variable that holds no secret.
pub(super) fn names_no_secret(name: &str) -> bool {
    name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_') && !is_secret_name(name)
}

/// Whether the code only mentions a network module, without calling, renaming or storing any of it.
fn only_named(here: Cursor) -> bool {
    let mut end = 1;
    while here.sign(end, ".") && here.name(end + 1).is_some() {
        end += 2;
    }
    let kept = here.sign(-1, "=") || matches!(here.name(-1), Some("from" | "return" | "lambda"));
    (here.get(end).is_none() || here.sign(end, ",);")) && !kept
}

/// Whether Python code uses the class for paths.
pub(super) fn has_paths(all: &[Token]) -> bool {
    all.iter().any(|it| matches!(name(Some(it)), Some("Path" | "pathlib")))
}

/// Whether the file module of JavaScript is loaded.
fn has_files(all: &[Token]) -> bool {
    let is = |it: &Token| matches!(it, Token::Text(text) if matches!(text.trim_start_matches("node:"), "fs" | "fs/promises"));
    all.iter().any(is)
}

/// Whether the name of a module suggests an effect.
fn speaks_module(module: &str) -> bool {
    let bare = module.trim_start_matches("node:").trim_start_matches("./");
    bare.starts_with('/') || bare == "module" || bare.split(['/', '-', '.', '@']).any(speaks)
}

/// Whether a text contains no outside path, no secret file and no name that could be called.
fn text_stays(text: &str) -> bool {
    let path = place::normalize(text, "");
    let called = text.bytes().all(|it| it.is_ascii_alphanumeric() || b"_.:".contains(&it))
        && text.split(['.', ':']).any(speaks);
    let escapes = ["\\x", "\\u", "\\0", "\\1"].iter().any(|it| text.contains(it));
    let leaves =
        text.starts_with(['/', '~']) && text.len() > 1 || text.contains("../") || text == "..";
    let hides = place::keeps_keys(&path) || is_environment(&path);
    let runs = text.contains("://") || text.contains("$(") || text.contains('`');
    !(called || escapes || leaves || hides || runs)
}

fn reads_inside(text: &str) -> bool {
    let path = place::normalize(text, "");
    !text.is_empty() && text_stays(text) && (place::is_project_file(&path) || is_plain_path(&path))
}

/// Whether a path may be a file that keeps settings of the environment.
fn is_environment(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|it| it.starts_with(".env"))
}

fn is_plain_path(path: &str) -> bool {
    !place::is_outside(path) && !path.contains(['*', '|', '<', '>', ':', '\\'])
}

/// Whether a text names a file of the project without secrets.
pub(super) fn names_project_file(text: &str) -> bool {
    let path = place::normalize(text, "");
    !text.is_empty() && is_plain_path(&path) && !place::keeps_keys(&path) && !is_environment(&path)
}
