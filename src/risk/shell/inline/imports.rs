//! Names that inline code may use together with modules of the project.
//!
//! A module of the project is project code, like its scripts. For what belongs to the language, only listed
//! modules, names and attributes are allowed.

use std::collections::BTreeSet;

use super::language::{Inline, Language};
use super::tokens::{Cursor, Token, cursors, name, sign};
use crate::risk::shell::listed::{listed, listed_in};

/// Ruby classes and modules that can access files, processes or the network.
const RUBY: &str = include_str!("../../../../assets/risk/words/ruby-outside.txt");

/// Words in names of R functions that have effects beyond their values.
const R: &str = include_str!("../../../../assets/risk/words/r-effects.txt");

/// Julia functions with effects beyond their values.
const JULIA: &str = "rm mv cp cd run open write touch truncate mkdir mkpath mktemp mktempdir chmod chown symlink hardlink \
    download include include_string eval evalfile invokelatest ccall kill exit atexit pipeline detach redirect_stdout \
    redirect_stderr rename unlink sendfile connect listen";

/// R functions that call a function by name.
const CALL_NAMED: &str =
    "sapply lapply vapply mapply tapply apply Reduce Map Filter outer aggregate";

/// What the code loads.
#[derive(Default)]
struct Loaded {
    /// Project modules and names imported from them.
    foreign: BTreeSet<String>,
    /// Modules of the language.
    own: BTreeSet<String>,
    /// Whether any project module is loaded.
    any: bool,
    /// Whether any module of the language is loaded.
    mixed: bool,
    /// Indices of tokens in import statements.
    tokens: BTreeSet<usize>,
}

impl Inline {
    /// Whether code with project modules uses only names from them and listed names.
    pub(super) fn closed(&self, all: &[Token]) -> bool {
        let Some(mut loaded) = self.loaded(all) else { return false };
        if !loaded.any {
            return false;
        }
        let mut bound = BTreeSet::new();
        self.binds(all, &mut bound);
        self.parameters(all, &mut bound);
        bound.retain(|own| !loaded.foreign.contains(own));
        if calls_unknown(all, &bound, self.language)
            || hands_over(all, self.language, &self.modules)
        {
            return false;
        }
        bound.extend(loaded.foreign.iter().cloned());
        loaded.own.retain(|own| !bound.contains(own));
        cursors(all).all(|it| loaded.tokens.contains(&it.at) || self.knows(it, &loaded, &bound))
    }

    /// The loaded modules; `None` if one belongs to the language and is not listed.
    fn loaded(&self, all: &[Token]) -> Option<Loaded> {
        let mut loaded = Loaded::default();
        let mut start = 0;
        for statement in all.split(|token| matches!(token, Token::Sign(';'))) {
            let first = name(statement.first()).unwrap_or_default();
            let loads = match self.language {
                Language::Python | Language::Julia => matches!(first, "import" | "from" | "using"),
                _ => false,
            };
            if loads {
                loaded.tokens.extend(start..start + statement.len());
                self.imported(statement, &mut loaded)?;
            }
            start += statement.len() + 1;
        }
        for here in cursors(all) {
            let Some(own) = here.name(0) else { continue };
            let bracket = isize::from(here.sign(1, "("));
            let module = match (self.language, own, here.get(1 + bracket)) {
                (Language::JavaScript | Language::Ruby, "require", Some(Token::Text(module))) => {
                    module.as_str()
                }
                (Language::R, "library" | "require", Some(Token::Name(module))) => module.as_str(),
                // A name qualified by its package.
                (Language::R, module, Some(Token::Sign(':'))) if here.sign(2, ":") => module,
                _ => continue,
            };
            let bare = module.trim_start_matches("node:");
            let own_module = module.starts_with("node:") || listed(&self.standard, bare);
            let is_listed = listed(&self.modules, module);
            if own_module && !is_listed {
                return None;
            }
            loaded.any |= !own_module && !is_listed;
            loaded.mixed |= is_listed;
            if let Some(bound) = here.name(-2)
                && here.sign(-1, "=")
            {
                let kind = if own_module { &mut loaded.own } else { &mut loaded.foreign };
                kind.insert(bound.to_owned());
            }
        }
        Some(loaded)
    }

    /// Adds the names of one import statement of Python or Julia.
    fn imported(&self, statement: &[Token], loaded: &mut Loaded) -> Option<()> {
        let words: Vec<&str> = statement.iter().filter_map(|it| name(Some(it))).collect();
        let only_names =
            |it: &Token| matches!(it, Token::Name(_) | Token::Sign('.' | ',' | ':' | '(' | ')'));
        if !statement.iter().all(only_names) {
            return None;
        }
        let top = *words.get(1)?;
        let parts = statement.get(1..)?.split(|it| matches!(it, Token::Sign(',')));
        let from = words.first() == Some(&"from");
        for (index, part) in parts.enumerate() {
            let names: Vec<&str> = part.iter().filter_map(|it| name(Some(it))).collect();
            let Some(first) = names.first().copied() else { continue };
            let module = if from || index > 0 && sign(statement.get(2), ':') { top } else { first };
            let whole =
                part.split(|it| name(Some(it)).is_some_and(|it| it == "import" || it == "as"));
            let dots = whole.into_iter().next().unwrap_or_default().iter();
            let dots: Vec<&str> = dots.filter_map(|it| name(Some(it))).collect();
            let whole = if from && index > 0 { top.to_owned() } else { dots.join(".") };
            let own = listed(&self.standard, module) || listed(&self.modules, module);
            if own && !listed(&self.modules, &whole) && !listed(&self.modules, module) {
                return None;
            }
            let bound = if from || names.contains(&"as") { *names.last()? } else { first };
            // A name imported from a module of the language has to be listed, too.
            if from && own {
                let mut taken = names.iter().skip_while(|it| index == 0 && **it != "import");
                let taken = taken.find(|it| !matches!(**it, "import" | "as"));
                if !taken.is_some_and(|it| self.allows_attribute(it)) {
                    return None;
                }
            }
            let kind = if own { &mut loaded.own } else { &mut loaded.foreign };
            kind.insert(bound.to_owned());
            loaded.any |= !own;
        }
        Some(())
    }

    /// Adds the names of defined functions and of their parameters.
    fn parameters(&self, all: &[Token], bound: &mut BTreeSet<String>) {
        for here in cursors(all) {
            if !matches!(here.name(0), Some("def" | "function" | "catch")) {
                continue;
            }
            let named = here.name(1);
            bound.extend(named.map(str::to_owned));
            let inside = all.iter().skip(here.at + 1 + usize::from(named.is_some()));
            let inside = inside.take_while(|it| !matches!(it, Token::Sign(')')));
            bound.extend(inside.filter_map(|it| name(Some(it))).map(str::to_owned));
        }
    }

    /// Whether a name belongs to the project, is bound by the code, or is listed.
    fn knows(&self, here: Cursor, loaded: &Loaded, bound: &BTreeSet<String>) -> bool {
        let Some(own) = here.name(0) else { return true };
        let ruby = self.language == Language::Ruby;
        if self.language == Language::Julia
            && listed(&self.standard, own)
            && !listed(&self.modules, own)
        {
            return false;
        }
        let argument = here.sign(-1, "(,") && here.is_assigned();
        let key = (here.sign(-1, "{,") || ruby) && here.sign(1, ":") && !here.sign(2, ":");
        let special = matches!(own, "require" | "library" | "env" | "environ" | "getenv");
        if argument || key || special {
            return true;
        }
        if self.language == Language::R {
            let package = here.sign(1, ":") || here.sign(-1, ":") && here.sign(-2, ":");
            return package
                || here.sign(-1, "$")
                || bound.contains(own)
                || self.allows_name(own)
                || !listed_in(R, own) && loaded.any;
        }
        if here.is_attribute() {
            let is_open = root(here).is_some_and(|root| {
                !loaded.own.contains(root)
                    && (bound.contains(root)
                        || root == "require" && !loaded.mixed
                        || root.is_empty()
                        || self.is_constant(root))
            });
            let shown = ["__version__", "__file__", "__name__", "__doc__", "load", "argv"];
            return is_open || self.allows_attribute(own) || shown.contains(&own);
        }
        if here.sign(-1, ":") && ruby {
            return listed(&self.attributes, own);
        }
        bound.contains(own)
            || loaded.own.contains(own) && here.sign(1, ".")
            || self.allows_name(own)
            || self.is_constant(own)
    }

    /// Whether this is a class or module that does not belong to the language.
    fn is_constant(&self, own: &str) -> bool {
        matches!(self.language, Language::Ruby | Language::Julia)
            && own.starts_with(|c: char| c.is_ascii_uppercase())
            && !listed_in(RUBY, own)
            && !listed(&self.standard, own)
            && !listed(&self.names, own)
    }
}

/// The first name in a chain of attributes, calls and subscripts. Empty for an expression in brackets; `None` for a
/// text or a number.
fn root(here: Cursor<'_>) -> Option<&str> {
    let mut distance = -2;
    loop {
        match here.get(distance)? {
            Token::Name(own) if !here.sign(distance - 1, ".") => return Some(own),
            Token::Name(_) => distance -= 2,
            Token::Sign(')' | ']') => {
                let mut open = 0_usize;
                loop {
                    match here.get(distance)? {
                        Token::Sign(')' | ']' | '}') => open += 1,
                        Token::Sign('(' | '[' | '{') => open -= 1,
                        _ => {}
                    }
                    distance -= 1;
                    if open == 0 {
                        break;
                    }
                }
                // The expression before the bracket is called or indexed.
                if here.name(distance).is_none() && !here.sign(distance, ")]") {
                    return Some("");
                }
            }
            _ => return None,
        }
    }
}

/// Whether an R function that calls others by name gets a name.
pub(super) fn names_function(all: &[Token], language: Language) -> bool {
    let calls = |it: &Token| name(Some(it)).is_some_and(|it| listed(CALL_NAMED, it));
    let text = |it: &Token| matches!(it, Token::Text(_));
    language == Language::R && all.iter().any(calls) && all.iter().any(text)
}

/// Whether a bound name is called without being a function in all of the code.
pub(super) fn calls_unknown(all: &[Token], bound: &BTreeSet<String>, language: Language) -> bool {
    const WORDS: &str = "if unless and or while until do then end else in rescue not";
    let defined = |own: &str| {
        cursors(all).filter(|here| here.name(0) == Some(own)).any(|here| {
            let arrow = |by: isize| here.sign(by, "=") && here.sign(by + 1, ">");
            let replaced = here.sign(1, "<") && here.sign(2, "-");
            let value = if replaced { 3 } else { 1 + isize::from(here.sign(1, "=")) };
            let close = (value..value + 24).find(|by| here.sign(*by, ")"));
            // A Ruby variable is not what a call by its name calls.
            matches!(here.name(-1), Some("def" | "function" | "class"))
                || language != Language::Ruby
                    && value > 1
                    && (matches!(here.name(value), Some("lambda" | "function" | "async" | "proc"))
                        || arrow(value + 1)
                        || here.sign(value, "(") && close.is_some_and(|close| arrow(close + 1)))
        })
    };
    let mut known: BTreeSet<&str> = BTreeSet::new();
    cursors(all).any(|here| {
        let Some(own) = here.name(0).filter(|own| bound.contains(*own)) else { return false };
        let called = match here.get(1) {
            Some(Token::Sign('(')) => {
                !matches!(here.name(-1), Some("def" | "function" | "class" | "in" | "lambda"))
            }
            Some(Token::Text(_) | Token::Number(_) | Token::Sign('{')) => {
                matches!(language, Language::Ruby | Language::Lua)
            }
            Some(Token::Name(next)) => language == Language::Ruby && !listed(WORDS, next),
            _ => false,
        };
        if !called || here.sign(-1, ".") {
            return false;
        }
        // The function may be bound elsewhere only, and this call is one of the language.
        let effect = match language {
            Language::R => listed_in(R, own),
            Language::Julia => listed(JULIA, own),
            _ => false,
        };
        if effect {
            return true;
        }
        let is_function = known.contains(own) || defined(own) && known.insert(own);
        !is_function
    })
}

/// Whether a module of the language is used as a value, so that its functions could be called by other names.
pub(super) fn hands_over(all: &[Token], language: Language, modules: &str) -> bool {
    const LUA: &str = "os io string table math debug package coroutine utf8 jit";
    const SCRIPT: &str = "fs process Deno Bun os path crypto util";
    if !matches!(language, Language::Python | Language::JavaScript | Language::Lua) {
        return false;
    }
    let mut held: BTreeSet<&str> = BTreeSet::new();
    let requires = |it: &Cursor| language == Language::JavaScript && it.name(0) == Some("require");
    for here in cursors(all).filter(requires) {
        let bracket = isize::from(here.sign(1, "("));
        if !here.text(1 + bracket).is_some_and(|module| listed(modules, module)) {
            continue;
        }
        // The result is bound or destructured immediately.
        match here.name(-2).filter(|_| here.sign(-1, "=")) {
            Some(own) => _ = held.insert(own),
            None if !here.sign(2 + 2 * bracket, ".") => return true,
            None => {}
        }
    }
    let module = |own: &str| match language {
        Language::Lua => listed(LUA, own),
        Language::JavaScript => listed(SCRIPT, own) || held.contains(own),
        _ => matches!(own, "os" | "sys" | "pathlib" | "operator"),
    };
    cursors(all).filter(|here| here.name(0).is_some_and(module)).any(|here| {
        let binds =
            here.name(-1).is_some_and(|it| listed("const let var import from local as", it))
                || here.sign(-1, ".")
                || language == Language::Python && imports(all, here.at);
        let key = language == Language::JavaScript && here.sign(1, ":");
        !binds && !key && !here.sign(1, ".")
    })
}

/// Whether a token is part of an import statement.
fn imports(all: &[Token], at: usize) -> bool {
    let before = all.get(..at).unwrap_or_default();
    let start = before.iter().rposition(|it| matches!(it, Token::Sign(';'))).map_or(0, |at| at + 1);
    matches!(name(all.get(start)), Some("import" | "from"))
}
