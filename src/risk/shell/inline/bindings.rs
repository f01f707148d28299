//! The names that inline code binds, and whether all its names are allowed.

use std::collections::BTreeSet;

use super::imports::{calls_unknown, hands_over, names_function};
use super::language::{Inline, Language};
use super::lexer::tokens;
use super::tokens::{Token, cursors, name, sign};
use crate::risk::shell::listed::listed;

/// Limit for the number of tokens.
const MAX_TOKENS: usize = 4000;

/// Python modules with effects on import.
const ACTS: [&str; 6] = ["antigravity", "idlelib", "turtledemo", "test", "this", "rlcompleter"];

impl Inline {
    /// Whether all of the code is allowed.
    pub(super) fn allows(&self, code: &str) -> bool {
        let Some(all) = tokens(code, self.language) else { return false };
        if all.is_empty()
            || all.len() > MAX_TOKENS
            || !modest(&all)
            || names_function(&all, self.language)
            || hands_over(&all, self.language, &self.modules)
        {
            return false;
        }
        let (mut bound, mut shown) = (BTreeSet::new(), BTreeSet::new());
        let python = self.language == Language::Python;
        let start = if python { self.imports(&all, &mut bound, &mut shown) } else { Some(0) };
        let Some(body) = start.and_then(|start| all.get(start..)) else { return false };
        let mut own = BTreeSet::new();
        self.binds(body, &mut own);
        if calls_unknown(body, &own, self.language) {
            return false;
        }
        bound.extend(own);
        cursors(body).all(|here| self.token(here, &bound, &shown))
    }

    /// The imports at the start: names that they bind, and modules of which only the version may be used.
    fn imports(
        &self,
        all: &[Token],
        bound: &mut BTreeSet<String>,
        shown: &mut BTreeSet<String>,
    ) -> Option<usize> {
        let mut start = 0;
        for statement in all.split(|token| matches!(token, Token::Sign(';'))) {
            let first = name(statement.first());
            if first != Some("import") && first != Some("from") && !statement.is_empty() {
                break;
            }
            start += statement.len() + 1;
            let mut words = statement.get(1..).unwrap_or_default();
            let from = first == Some("from");
            if from {
                let at = words.iter().position(|it| name(Some(it)) == Some("import"))?;
                if !listed(&self.modules, &dotted(words.get(..at)?)?) {
                    return None;
                }
                words = words.get(at + 1..)?;
            }
            for part in
                words.split(|token| matches!(token, Token::Sign(','))).filter(|it| !it.is_empty())
            {
                let alias = part.iter().position(|it| name(Some(it)) == Some("as"));
                let module = dotted(part.get(..alias.unwrap_or(part.len()))?)?;
                let own = match alias {
                    Some(at) => dotted(part.get(at + 1..)?)?,
                    None => module.split('.').next()?.to_owned(),
                };
                let special =
                    ["path", "environ", "load", "system", "metadata"].contains(&module.as_str());
                if from && (special || !self.allows_attribute(&module)) {
                    return None;
                }
                if from || listed(&self.modules, &module) {
                    if own != module && listed(&self.reads, &module) {
                        return None;
                    }
                    bound.insert(own);
                } else if !module.contains('.')
                    && !module.starts_with('_')
                    && !ACTS.contains(&module.as_str())
                {
                    shown.insert(own);
                } else {
                    return None;
                }
            }
        }
        Some(start.min(all.len()))
    }

    /// The names that the code binds: loop variables, parameters and assignment targets.
    pub(super) fn binds(&self, all: &[Token], bound: &mut BTreeSet<String>) {
        // Variables have a sigil in these languages, so a bare name is never one.
        if matches!(self.language, Language::Perl | Language::Php) {
            return;
        }
        let python = self.language == Language::Python;
        for here in cursors(all) {
            // In Lua a brace starts a table, and its keys are no variables.
            let block = if self.language == Language::Lua { ";" } else { ";{" };
            let starts = here.get(-1).is_none() || here.sign(-1, block);
            let arrow = here.sign(1, "=") && here.sign(2, ">");
            if here.name(0).is_some_and(|it| listed("const let var for local my lambda as", it)) {
                // In Python and Lua several names may be bound, separated by commas.
                let listing = python || self.language == Language::Lua;
                let mut next = 1;
                while let Some(own) = here.name(next) {
                    if matches!(own, "const" | "let" | "var") {
                        break;
                    }
                    bound.insert(own.to_owned());
                    next += 2;
                    if !listing || !here.sign(next - 1, ",") {
                        break;
                    }
                }
            }
            let assigned = starts && here.is_assigned() && !arrow;
            let binds = match self.language {
                Language::Python | Language::Lua => assigned,
                Language::Ruby => assigned || here.sign(-1, "|") && here.sign(1, "|,"),
                Language::R => starts && here.sign(1, "<") && here.sign(2, "-"),
                Language::JavaScript => arrow,
                _ => false,
            };
            bound.extend(here.name(0).filter(|_| binds).map(str::to_owned));
            // Parameters of an arrow function: only names and commas inside the brackets.
            if self.language == Language::JavaScript && here.sign(0, ")") && arrow {
                let inside = all.get(..here.at).unwrap_or_default().iter().rev();
                let inside =
                    inside.take_while(|it| matches!(it, Token::Name(_) | Token::Sign(',')));
                bound.extend(inside.filter_map(|it| name(Some(it))).map(str::to_owned));
            }
        }
        // Names that must keep their meaning. One that is bound inside an expression keeps it outside of it.
        const KEPT: &str = "require open Path eval exec import constructor Function this globalThis getattr setattr \
            delattr vars globals locals compile breakpoint input dir help memoryview fetch load loadstring dofile \
            system send spawn fork method";
        let keeps = |own: &str| {
            own.starts_with("__") || listed(KEPT, own) || listed(kept_by(self.language), own)
        };
        bound.retain(|own| !keeps(own) || python && own == "Path");
    }
}

/// Names of one language that must keep their meaning.
fn kept_by(language: Language) -> &'static str {
    match language {
        Language::JavaScript => {
            "Reflect Proxy WebAssembly Worker SharedWorker global window module WebSocket XMLHttpRequest EventSource \
            setTimeout setInterval setImmediate queueMicrotask postMessage"
        }
        Language::Lua => {
            "loadfile module setmetatable getmetatable rawset rawget setfenv getfenv _G _ENV package newproxy \
            collectgarbage"
        }
        Language::Ruby => {
            "syscall trap exit abort at_exit autoload require_relative callcc set_trace_func trace_var binding \
            instance_eval instance_exec class_eval class_exec module_eval module_exec public_send define_method \
            define_singleton_method instance_variable_set extend include using"
        }
        Language::Python | Language::Php | Language::Perl | Language::R | Language::Julia => "",
    }
}

/// Joins names with dots.
fn dotted(tokens: &[Token]) -> Option<String> {
    let mut text = String::new();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Name(name) if at % 2 == 0 => text.push_str(name),
            Token::Sign('.') if at % 2 == 1 => text.push('.'),
            _ => return None,
        }
    }
    (!text.is_empty() && !text.ends_with('.')).then_some(text)
}

/// Whether the code needs only moderate memory and time: no nested powers, and no large number together with
/// repetition.
pub(super) fn modest(all: &[Token]) -> bool {
    let mut largest: f64 = 0.0;
    let (mut times, mut powers, mut repeats) = (0, 0, false);
    for (at, token) in all.iter().enumerate() {
        match token {
            Token::Number(number) => largest = largest.max(*number),
            Token::Sign('*') if sign(all.get(at + 1), '*') => {
                powers += 1;
                if !matches!(all.get(at + 2), Some(Token::Number(number)) if *number <= 4096.0) {
                    return false;
                }
            }
            Token::Sign('*') => times += 1,
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
    // `**` is counted as a power, and its second sign as a multiplication.
    let multiplied = times > powers;
    !(powers > 0 && (multiplied || repeats || powers > 1))
        && (largest < 1e7 || !(multiplied || repeats))
}
