//! Names that inline code may use together with modules of the project.
//!
//! A module of the project is project code, like its scripts. For what belongs to the language, only listed
//! modules, names and attributes are allowed.

use std::collections::BTreeSet;

use super::language::{InlineRules, Language};
use super::tokens::{Cursor, Token, cursors, is_punct, name};
use crate::risk::shell::listed::listed;

/// R functions that call a function by name.
const CALL_NAMED: &str =
    "sapply lapply vapply mapply tapply apply Reduce Map Filter outer aggregate";

/// What the code loads.
#[derive(Default)]
struct Loaded {
    /// Names bound to project modules, and names imported from these.
    project: BTreeSet<String>,
    /// Names bound to modules of the language.
    standard: BTreeSet<String>,
    /// Whether any project module is loaded.
    any_project: bool,
    /// Whether any listed module is loaded.
    any_listed: bool,
    /// Indices of tokens in import statements.
    tokens: BTreeSet<usize>,
}

impl InlineRules {
    /// Whether the code loads project modules, and uses only names from them, names that it binds, and listed names.
    pub(super) fn uses_only_known_names(&self, all: &[Token]) -> bool {
        let Some(mut loaded) = self.loaded_modules(all) else { return false };
        if !loaded.any_project {
            return false;
        }
        let mut bound = BTreeSet::new();
        self.add_bound_names(all, &mut bound);
        self.add_parameters(all, &mut bound);
        bound.retain(|ident| !loaded.project.contains(ident));
        if self.calls_unknown_function(all, &bound) || self.uses_module_as_value(all) {
            return false;
        }
        bound.extend(loaded.project.iter().cloned());
        loaded.standard.retain(|ident| !bound.contains(ident));
        cursors(all)
            .all(|it| loaded.tokens.contains(&it.index) || self.is_known_name(it, &loaded, &bound))
    }

    /// The loaded modules; `None` if one of them belongs to the language and is not listed, or an import has another
    /// form.
    fn loaded_modules(&self, all: &[Token]) -> Option<Loaded> {
        let mut loaded = Loaded::default();
        let mut start = 0;
        for statement in all.split(|token| matches!(token, Token::Punct(';'))) {
            let first = name(statement.first()).unwrap_or_default();
            let loads = match self.language {
                Language::Python | Language::Julia => matches!(first, "import" | "from" | "using"),
                _ => false,
            };
            if loads {
                loaded.tokens.extend(start..start + statement.len());
                self.add_import(statement, &mut loaded)?;
            }
            start += statement.len() + 1;
        }
        for cursor in cursors(all) {
            let Some(ident) = cursor.name(0) else { continue };
            let bracket = isize::from(cursor.is_punct(1, "("));
            let module = match (self.language, ident, cursor.get(1 + bracket)) {
                (Language::JavaScript | Language::Ruby, "require", Some(Token::Text(module))) => {
                    module.as_str()
                }
                (Language::R, "library" | "require", Some(Token::Name(module))) => module.as_str(),
                // A name qualified by its package.
                (Language::R, module, Some(Token::Punct(':'))) if cursor.is_punct(2, ":") => module,
                _ => continue,
            };
            let bare = module.trim_start_matches("node:");
            let is_standard = module.starts_with("node:") || listed(&self.standard, bare);
            let is_listed = listed(&self.modules, module);
            if is_standard && !is_listed {
                return None;
            }
            loaded.any_project |= !is_standard && !is_listed;
            loaded.any_listed |= is_listed;
            if let Some(bound) = cursor.name(-2)
                && cursor.is_punct(-1, "=")
            {
                let kind = if is_standard { &mut loaded.standard } else { &mut loaded.project };
                kind.insert(bound.to_owned());
            }
        }
        Some(loaded)
    }

    /// Adds the names of one import statement of Python or Julia; `None` as for [`Self::loaded_modules`].
    fn add_import(&self, statement: &[Token], loaded: &mut Loaded) -> Option<()> {
        let words: Vec<&str> = statement.iter().filter_map(|it| name(Some(it))).collect();
        let only_names =
            |it: &Token| matches!(it, Token::Name(_) | Token::Punct('.' | ',' | ':' | '(' | ')'));
        if !statement.iter().all(only_names) {
            return None;
        }
        let top = *words.get(1)?;
        let parts = statement.get(1..)?.split(|it| matches!(it, Token::Punct(',')));
        let from = words.first() == Some(&"from");
        for (index, part) in parts.enumerate() {
            let names: Vec<&str> = part.iter().filter_map(|it| name(Some(it))).collect();
            let Some(first) = names.first().copied() else { continue };
            let module =
                if from || index > 0 && is_punct(statement.get(2), ':') { top } else { first };
            let whole =
                part.split(|it| name(Some(it)).is_some_and(|it| it == "import" || it == "as"));
            let dots = whole.into_iter().next().unwrap_or_default().iter();
            let dots: Vec<&str> = dots.filter_map(|it| name(Some(it))).collect();
            let whole = if from && index > 0 { top.to_owned() } else { dots.join(".") };
            let is_standard = listed(&self.standard, module) || listed(&self.modules, module);
            if is_standard && !listed(&self.modules, &whole) && !listed(&self.modules, module) {
                return None;
            }
            let bound = if from || names.contains(&"as") { *names.last()? } else { first };
            // A name imported from a module of the language has to be listed, too.
            if from && is_standard {
                let mut taken = names.iter().skip_while(|it| index == 0 && **it != "import");
                let taken = taken.find(|it| !matches!(**it, "import" | "as"));
                if !taken.is_some_and(|it| self.allows_attribute(it)) {
                    return None;
                }
            }
            let kind = if is_standard { &mut loaded.standard } else { &mut loaded.project };
            kind.insert(bound.to_owned());
            loaded.any_project |= !is_standard;
        }
        Some(())
    }

    /// Adds the names of defined functions and of their parameters.
    fn add_parameters(&self, all: &[Token], bound: &mut BTreeSet<String>) {
        for cursor in cursors(all) {
            if !matches!(cursor.name(0), Some("def" | "function" | "catch")) {
                continue;
            }
            let named = cursor.name(1);
            bound.extend(named.map(str::to_owned));
            let inside = all.iter().skip(cursor.index + 1 + usize::from(named.is_some()));
            let inside = inside.take_while(|it| !matches!(it, Token::Punct(')')));
            bound.extend(inside.filter_map(|it| name(Some(it))).map(str::to_owned));
        }
    }

    /// Whether a name belongs to the project, is bound by the code, or is listed.
    fn is_known_name(&self, cursor: Cursor, loaded: &Loaded, bound: &BTreeSet<String>) -> bool {
        let Some(ident) = cursor.name(0) else { return true };
        let ruby = self.language == Language::Ruby;
        if self.language == Language::Julia
            && listed(&self.standard, ident)
            && !listed(&self.modules, ident)
        {
            return false;
        }
        let argument = cursor.is_punct(-1, "(,") && cursor.is_assigned();
        let key = (cursor.is_punct(-1, "{,") || ruby)
            && cursor.is_punct(1, ":")
            && !cursor.is_punct(2, ":");
        let special = matches!(ident, "require" | "library" | "env" | "environ" | "getenv");
        if argument || key || special {
            return true;
        }
        if self.language == Language::R {
            let package =
                cursor.is_punct(1, ":") || cursor.is_punct(-1, ":") && cursor.is_punct(-2, ":");
            return package
                || cursor.is_punct(-1, "$")
                || bound.contains(ident)
                || self.allows_name(ident)
                || !listed(&self.effects, ident) && loaded.any_project;
        }
        if cursor.is_attribute() {
            let is_open = root(cursor).is_some_and(|root| {
                !loaded.standard.contains(root)
                    && (bound.contains(root)
                        || root == "require" && !loaded.any_listed
                        || root.is_empty()
                        || self.is_constant(root))
            });
            let always_allowed = ["__version__", "__file__", "__name__", "__doc__", "load", "argv"];
            return is_open || self.allows_attribute(ident) || always_allowed.contains(&ident);
        }
        if cursor.is_punct(-1, ":") && ruby {
            return listed(&self.attributes, ident);
        }
        bound.contains(ident)
            || loaded.standard.contains(ident) && cursor.is_punct(1, ".")
            || self.allows_name(ident)
            || self.is_constant(ident)
    }

    /// Whether the code calls a name that it binds, but does not define as a function.
    pub(super) fn calls_unknown_function(&self, all: &[Token], bound: &BTreeSet<String>) -> bool {
        let language = self.language;
        const WORDS: &str = "if unless and or while until do then end else in rescue not";
        let defined = |ident: &str| {
            cursors(all).filter(|cursor| cursor.name(0) == Some(ident)).any(|cursor| {
                let arrow = |by: isize| cursor.is_punct(by, "=") && cursor.is_punct(by + 1, ">");
                let replaced = cursor.is_punct(1, "<") && cursor.is_punct(2, "-");
                let value = if replaced { 3 } else { 1 + isize::from(cursor.is_punct(1, "=")) };
                let close = (value..value + 24).find(|by| cursor.is_punct(*by, ")"));
                // In Ruby, a call by name never calls the value of a variable.
                matches!(cursor.name(-1), Some("def" | "function" | "class"))
                    || language != Language::Ruby
                        && value > 1
                        && (matches!(
                            cursor.name(value),
                            Some("lambda" | "function" | "async" | "proc")
                        ) || arrow(value + 1)
                            || cursor.is_punct(value, "(")
                                && close.is_some_and(|close| arrow(close + 1)))
            })
        };
        let mut known: BTreeSet<&str> = BTreeSet::new();
        cursors(all).any(|cursor| {
            let Some(ident) = cursor.name(0).filter(|ident| bound.contains(*ident)) else {
                return false;
            };
            let called = match cursor.get(1) {
                Some(Token::Punct('(')) => {
                    !matches!(cursor.name(-1), Some("def" | "function" | "class" | "in" | "lambda"))
                }
                Some(Token::Text(_) | Token::Number(_) | Token::Punct('{')) => {
                    matches!(language, Language::Ruby | Language::Lua)
                }
                Some(Token::Name(next)) => language == Language::Ruby && !listed(WORDS, next),
                _ => false,
            };
            if !called || cursor.is_punct(-1, ".") {
                return false;
            }
            // The name may be bound in another scope only, so that this calls a function of the language.
            if listed(&self.effects, ident) {
                return true;
            }
            let is_function = known.contains(ident) || defined(ident) && known.insert(ident);
            !is_function
        })
    }

    /// Whether a module of the language is used as a value, so that its functions could be called by other names.
    pub(super) fn uses_module_as_value(&self, all: &[Token]) -> bool {
        let language = self.language;
        let mut held: BTreeSet<&str> = BTreeSet::new();
        let requires =
            |it: &Cursor| language == Language::JavaScript && it.name(0) == Some("require");
        for cursor in cursors(all).filter(requires) {
            let bracket = isize::from(cursor.is_punct(1, "("));
            if !cursor.text(1 + bracket).is_some_and(|module| listed(&self.modules, module)) {
                continue;
            }
            // The result is bound or destructured immediately.
            match cursor.name(-2).filter(|_| cursor.is_punct(-1, "=")) {
                Some(ident) => _ = held.insert(ident),
                None if !cursor.is_punct(2 + 2 * bracket, ".") => return true,
                None => {}
            }
        }
        let module = |ident: &str| listed(&self.objects, ident) || held.contains(ident);
        cursors(all).filter(|cursor| cursor.name(0).is_some_and(module)).any(|cursor| {
            let binds =
                cursor.name(-1).is_some_and(|it| listed("const let var import from local as", it))
                    || cursor.is_punct(-1, ".")
                    || language == Language::Python && imports(all, cursor.index);
            let key = language == Language::JavaScript && cursor.is_punct(1, ":");
            !binds && !key && !cursor.is_punct(1, ".")
        })
    }

    /// Whether this is a class or module that does not belong to the language.
    fn is_constant(&self, ident: &str) -> bool {
        matches!(self.language, Language::Ruby | Language::Julia)
            && ident.starts_with(|c: char| c.is_ascii_uppercase())
            && !listed(&self.effects, ident)
            && !listed(&self.standard, ident)
            && !listed(&self.names, ident)
    }
}

/// The first name in a chain of attributes, calls and subscripts. Empty for an expression in brackets; `None` for a
/// text or a number.
fn root(cursor: Cursor<'_>) -> Option<&str> {
    let mut distance = -2;
    loop {
        match cursor.get(distance)? {
            Token::Name(ident) if !cursor.is_punct(distance - 1, ".") => return Some(ident),
            Token::Name(_) => distance -= 2,
            Token::Punct(')' | ']') => {
                let mut open = 0_usize;
                loop {
                    match cursor.get(distance)? {
                        Token::Punct(')' | ']' | '}') => open += 1,
                        Token::Punct('(' | '[' | '{') => open -= 1,
                        _ => {}
                    }
                    distance -= 1;
                    if open == 0 {
                        break;
                    }
                }
                // The expression before the bracket is called or indexed.
                if cursor.name(distance).is_none() && !cursor.is_punct(distance, ")]") {
                    return Some("");
                }
            }
            _ => return None,
        }
    }
}

/// Whether R code uses a function that calls other functions by name, and contains a text that could be a name.
pub(super) fn calls_function_by_name(all: &[Token], language: Language) -> bool {
    let calls = |it: &Token| name(Some(it)).is_some_and(|it| listed(CALL_NAMED, it));
    let text = |it: &Token| matches!(it, Token::Text(_));
    language == Language::R && all.iter().any(calls) && all.iter().any(text)
}

/// Whether a token is part of an import statement.
fn imports(all: &[Token], index: usize) -> bool {
    let before = all.get(..index).unwrap_or_default();
    let start =
        before.iter().rposition(|it| matches!(it, Token::Punct(';'))).map_or(0, |index| index + 1);
    matches!(name(all.get(start)), Some("import" | "from"))
}
