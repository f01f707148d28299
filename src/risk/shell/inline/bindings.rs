//! The names that inline code binds, and whether all its names are allowed.

use std::collections::BTreeSet;

use super::imports::calls_function_by_name;
use super::language::{InlineRules, Language};
use super::lexer::tokens;
use super::tokens::{Token, cursors, is_punct, name};
use crate::risk::shell::listed::listed;

/// Limit for the number of tokens.
const MAX_TOKENS: usize = 4000;

/// Python modules with effects on import.
const ACT_ON_IMPORT: [&str; 6] =
    ["antigravity", "idlelib", "turtledemo", "test", "this", "rlcompleter"];

impl InlineRules {
    /// The tokens of code; `None` for unsupported syntax.
    pub(super) fn tokens(&self, code: &str) -> Option<Vec<Token>> {
        tokens(code, self.language, &self.refused)
    }

    /// Whether all of the code is allowed.
    pub(super) fn allows(&self, code: &str) -> bool {
        let Some(all) = self.tokens(code) else { return false };
        if all.is_empty()
            || all.len() > MAX_TOKENS
            || !is_cheap(&all)
            || calls_function_by_name(&all, self.language)
            || self.uses_module_as_value(&all)
        {
            return false;
        }
        let (mut bound, mut version_only) = (BTreeSet::new(), BTreeSet::new());
        let python = self.language == Language::Python;
        let start =
            if python { self.add_imports(&all, &mut bound, &mut version_only) } else { Some(0) };
        let Some(body) = start.and_then(|start| all.get(start..)) else { return false };
        let mut local = BTreeSet::new();
        self.add_bound_names(body, &mut local);
        if self.calls_unknown_function(body, &local) {
            return false;
        }
        bound.extend(local);
        cursors(body).all(|cursor| self.allows_token(cursor, &bound, &version_only))
    }

    /// Adds the names that the imports at the start bind: to `version_only` for modules of which only the version may be
    /// used, else to `bound`. Returns the index after the imports; `None` if one is not allowed.
    fn add_imports(
        &self,
        all: &[Token],
        bound: &mut BTreeSet<String>,
        version_only: &mut BTreeSet<String>,
    ) -> Option<usize> {
        let mut start = 0;
        for statement in all.split(|token| matches!(token, Token::Punct(';'))) {
            let first = name(statement.first());
            if first != Some("import") && first != Some("from") && !statement.is_empty() {
                break;
            }
            start += statement.len() + 1;
            let mut words = statement.get(1..).unwrap_or_default();
            let from = first == Some("from");
            if from {
                let index = words.iter().position(|it| name(Some(it)) == Some("import"))?;
                if !listed(&self.modules, &dotted(words.get(..index)?)?) {
                    return None;
                }
                words = words.get(index + 1..)?;
            }
            for part in
                words.split(|token| matches!(token, Token::Punct(','))).filter(|it| !it.is_empty())
            {
                let alias = part.iter().position(|it| name(Some(it)) == Some("as"));
                let module = dotted(part.get(..alias.unwrap_or(part.len()))?)?;
                let ident = match alias {
                    Some(index) => dotted(part.get(index + 1..)?)?,
                    None => module.split('.').next()?.to_owned(),
                };
                let special =
                    ["path", "environ", "load", "system", "metadata"].contains(&module.as_str());
                if from && (special || !self.allows_attribute(&module)) {
                    return None;
                }
                if from || listed(&self.modules, &module) {
                    // A function that reads a file is known by its name, so under another one its argument would not
                    // be checked.
                    if ident != module && listed(&self.reads, &module) {
                        return None;
                    }
                    bound.insert(ident);
                } else if !module.contains('.')
                    && !module.starts_with('_')
                    && !ACT_ON_IMPORT.contains(&module.as_str())
                {
                    version_only.insert(ident);
                } else {
                    return None;
                }
            }
        }
        Some(start.min(all.len()))
    }

    /// Adds the names that the code binds: loop variables, parameters and assignment targets.
    pub(super) fn add_bound_names(&self, all: &[Token], bound: &mut BTreeSet<String>) {
        // Variables have a sigil in these languages, so a bare name is never one.
        if matches!(self.language, Language::Perl | Language::Php) {
            return;
        }
        let python = self.language == Language::Python;
        for cursor in cursors(all) {
            // In Lua a brace starts a table, and its keys are not variables.
            let block = if self.language == Language::Lua { ";" } else { ";{" };
            let starts = cursor.get(-1).is_none() || cursor.is_punct(-1, block);
            let arrow = cursor.is_punct(1, "=") && cursor.is_punct(2, ">");
            if cursor.name(0).is_some_and(|it| listed("const let var for local my lambda as", it)) {
                // In Python and Lua several names may be bound, separated by commas.
                let listing = python || self.language == Language::Lua;
                let mut next = 1;
                while let Some(ident) = cursor.name(next) {
                    if matches!(ident, "const" | "let" | "var") {
                        break;
                    }
                    bound.insert(ident.to_owned());
                    next += 2;
                    if !listing || !cursor.is_punct(next - 1, ",") {
                        break;
                    }
                }
            }
            let assigned = starts && cursor.is_assigned() && !arrow;
            let binds = match self.language {
                Language::Python | Language::Lua => assigned,
                Language::Ruby => assigned || cursor.is_punct(-1, "|") && cursor.is_punct(1, "|,"),
                Language::R => starts && cursor.is_punct(1, "<") && cursor.is_punct(2, "-"),
                Language::JavaScript => arrow,
                _ => false,
            };
            bound.extend(cursor.name(0).filter(|_| binds).map(str::to_owned));
            // Parameters of an arrow function: only names and commas inside the brackets.
            if self.language == Language::JavaScript && cursor.is_punct(0, ")") && arrow {
                let inside = all.get(..cursor.index).unwrap_or_default().iter().rev();
                let inside =
                    inside.take_while(|it| matches!(it, Token::Name(_) | Token::Punct(',')));
                bound.extend(inside.filter_map(|it| name(Some(it))).map(str::to_owned));
            }
        }
        // Never treated as bound: a parameter named `open` does not change what `open` means in the rest of the code.
        const RESERVED: &str = "require open Path eval exec import constructor Function this globalThis getattr setattr \
            delattr vars globals locals compile breakpoint input dir help memoryview fetch load loadstring dofile \
            system send spawn fork method";
        let is_reserved = |ident: &str| {
            ident.starts_with("__") || listed(RESERVED, ident) || listed(&self.reserved, ident)
        };
        bound.retain(|ident| !is_reserved(ident) || python && ident == "Path");
    }
}

/// A name with dots; `None` for other tokens.
fn dotted(tokens: &[Token]) -> Option<String> {
    let mut text = String::new();
    for (index, token) in tokens.iter().enumerate() {
        match token {
            Token::Name(name) if index % 2 == 0 => text.push_str(name),
            Token::Punct('.') if index % 2 == 1 => text.push('.'),
            _ => return None,
        }
    }
    (!text.is_empty() && !text.ends_with('.')).then_some(text)
}

/// Whether the code needs only moderate memory and time: at most one power, with a small literal exponent and without
/// multiplication or repetition; and no large number together with multiplication or repetition.
pub(super) fn is_cheap(all: &[Token]) -> bool {
    let mut largest: f64 = 0.0;
    let (mut times, mut powers, mut repeats) = (0, 0, false);
    for (index, token) in all.iter().enumerate() {
        match token {
            Token::Number(number) => largest = largest.max(*number),
            Token::Punct('*') if is_punct(all.get(index + 1), '*') => {
                powers += 1;
                if !matches!(all.get(index + 2), Some(Token::Number(number)) if *number <= 4096.0) {
                    return false;
                }
            }
            Token::Punct('*') => times += 1,
            Token::Name(name) => {
                repeats |= listed(
                    "repeat range fill padEnd padStart alloc Array rep bytes bytearray str_repeat ljust rjust \
                    zfill times upto zeros ones arange pow factorial token_hex token_bytes randomBytes while \
                    sleep x",
                    name,
                );
            }
            _ => {}
        }
    }
    // `**` is counted as a power, and its second character as a multiplication.
    let multiplied = times > powers;
    !(powers > 0 && (multiplied || repeats || powers > 1))
        && (largest < 1e7 || !(multiplied || repeats))
}
