//! Names that inline code may use together with modules of the project.
//!
//! A module of the project is project code, like its scripts. For what belongs to the language, only listed
//! modules, names and attributes are allowed.

use std::collections::BTreeSet;

use super::language::Inline;
use super::tokens::{Token, name, sign};
use crate::risk::shell::listed::listed;

/// Ruby classes and modules that can access files, processes or the network.
const RUBY: &str = "Object BasicObject Module Class Kernel File FileTest Dir IO Process Signal Thread Fiber Ractor \
    ObjectSpace GC Marshal Binding Proc Method UnboundMethod TracePoint RubyVM ENV ARGF ARGV STDIN STDOUT STDERR DATA \
    TOPLEVEL_BINDING Open3 FileUtils Tempfile Pathname PStore Etc Socket TCPSocket TCPServer UDPSocket UNIXSocket Net \
    URI OpenURI WEBrick DRb Logger CSV Zlib PTY Readline Reline IRB Fiddle Syslog Find Shell Gem Bundler Rake \
    Shellwords ERB Psych Monitor Mutex Queue Timeout Coverage Ripper Warning Refinement YAML Rails ActiveRecord";

/// Words in names of R functions that have effects beyond their values.
const R: &str = "file dir unlink system system2 shell source sys sink setwd getwd write writeLines save load dput dump pdf png \
    jpeg svg tiff bmp dev Sys options assign get mget do match eval evalq parse deparse body environment attach \
    detach install download url socket socketConnection pipe fifo gzfile bzfile open close readline quit q rm remove \
    local delayedAssign makeActiveBinding trace debug browser on unz create rename append copy link new call exec";

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
        if calls_unknown(all, &bound, &self.language)
            || hands_over(all, &self.language, &self.modules)
        {
            return false;
        }
        bound.extend(loaded.foreign.iter().cloned());
        loaded.own.retain(|own| !bound.contains(own));
        (0..all.len()).all(|at| loaded.tokens.contains(&at) || self.knows(all, at, &loaded, &bound))
    }

    /// The loaded modules; `None` if one belongs to the language and is not listed.
    fn loaded(&self, all: &[Token]) -> Option<Loaded> {
        let mut loaded = Loaded::default();
        let mut start = 0;
        for statement in all.split(|token| matches!(token, Token::Sign(';'))) {
            let first = name(statement.first()).unwrap_or_default();
            let loads = match self.language.as_str() {
                "python" | "julia" => matches!(first, "import" | "from" | "using"),
                _ => false,
            };
            if loads {
                loaded.tokens.extend(start..start + statement.len());
                self.imported(statement, &mut loaded)?;
            }
            start += statement.len() + 1;
        }
        for (at, token) in all.iter().enumerate() {
            let Token::Name(own) = token else { continue };
            let bracket = usize::from(sign(all.get(at + 1), '('));
            let module = match (self.language.as_str(), own.as_str(), all.get(at + 1 + bracket)) {
                ("javascript" | "ruby", "require", Some(Token::Text(module))) => module.as_str(),
                ("r", "library" | "require", Some(Token::Name(module))) => module.as_str(),
                // A name qualified by its package.
                ("r", module, Some(Token::Sign(':'))) if sign(all.get(at + 2), ':') => module,
                _ => continue,
            };
            let bare = module.trim_start_matches("node:");
            let own_module = module.starts_with("node:") || listed(&self.standard, bare);
            if own_module && !listed(&self.modules, module) {
                return None;
            }
            loaded.any |= !own_module && !listed(&self.modules, module);
            loaded.mixed |= listed(&self.modules, module);
            if let Some(bound) = at.checked_sub(2).and_then(|at| name(all.get(at)))
                && sign(at.checked_sub(1).and_then(|at| all.get(at)), '=')
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
            let dots: Vec<&str> = whole
                .into_iter()
                .next()
                .unwrap_or_default()
                .iter()
                .filter_map(|it| name(Some(it)))
                .collect();
            let whole = if from && index > 0 { top.to_owned() } else { dots.join(".") };
            let own = listed(&self.standard, module) || listed(&self.modules, module);
            if own && !listed(&self.modules, &whole) && !listed(&self.modules, module) {
                return None;
            }
            let bound = if from || names.contains(&"as") { *names.last()? } else { first };
            // A name imported from a module of the language has to be listed, too.
            if from && own {
                let taken: Vec<&str> = names
                    .iter()
                    .copied()
                    .skip_while(|it| index == 0 && *it != "import")
                    .filter(|it| *it != "import" && *it != "as")
                    .collect();
                if !taken
                    .first()
                    .is_some_and(|it| listed(&self.attributes, it) || listed(&self.reads, it))
                {
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
        for at in 0..all.len() {
            if !name(all.get(at)).is_some_and(|it| matches!(it, "def" | "function" | "catch")) {
                continue;
            }
            let open = at + 1 + usize::from(name(all.get(at + 1)).is_some());
            if open == at + 2
                && let Some(own) = name(all.get(at + 1))
            {
                bound.insert(own.to_owned());
            }
            let inside = all.get(open..).unwrap_or_default();
            for token in inside.iter().take_while(|it| !matches!(it, Token::Sign(')'))) {
                if let Token::Name(own) = token {
                    bound.insert(own.clone());
                }
            }
        }
    }

    /// Whether a name belongs to the project, is bound by the code, or is listed.
    fn knows(&self, all: &[Token], at: usize, loaded: &Loaded, bound: &BTreeSet<String>) -> bool {
        let Some(Token::Name(own)) = all.get(at) else {
            return true;
        };
        let get = |back: usize| at.checked_sub(back).and_then(|at| all.get(at));
        let (before, next) = (get(1), all.get(at + 1));
        if self.language == "julia" && listed(&self.standard, own) && !listed(&self.modules, own) {
            return false;
        }
        let argument = (sign(before, '(') || sign(before, ','))
            && sign(next, '=')
            && !sign(all.get(at + 2), '=');
        let key = (sign(before, '{') || sign(before, ',') || self.language == "ruby")
            && sign(next, ':')
            && !sign(all.get(at + 2), ':');
        let special = matches!(own.as_str(), "require" | "library" | "env" | "environ" | "getenv");
        if argument || key || special {
            return true;
        }
        if self.language == "r" {
            let package = sign(next, ':') || sign(before, ':') && sign(get(2), ':');
            return package
                || sign(before, '$')
                || bound.contains(own)
                || listed(&self.names, own)
                || listed(&self.reads, own)
                || !listed(R, own) && loaded.any;
        }
        if sign(before, '.') && !sign(get(2), '.') {
            return match self.root(all, at) {
                Some(root) if loaded.own.contains(&root) => self.attribute_listed(own),
                Some(root) if bound.contains(&root) => true,
                Some(root) if root == "require" => !loaded.mixed || self.attribute_listed(own),
                Some(root) if self.is_constant(&root) => true,
                Some(root) if root.is_empty() => true,
                _ => self.attribute_listed(own),
            };
        }
        if sign(before, ':') && self.language == "ruby" {
            return listed(&self.attributes, own);
        }
        bound.contains(own)
            || loaded.own.contains(own) && sign(next, '.')
            || listed(&self.names, own)
            || listed(&self.reads, own)
            || self.is_constant(own)
    }

    fn attribute_listed(&self, own: &str) -> bool {
        listed(&self.attributes, own)
            || listed(&self.reads, own)
            || matches!(own, "__version__" | "__file__" | "__name__" | "__doc__" | "load" | "argv")
    }

    /// Whether this is a class or module that does not belong to the language.
    fn is_constant(&self, own: &str) -> bool {
        matches!(self.language.as_str(), "ruby" | "julia")
            && own.starts_with(|c: char| c.is_ascii_uppercase())
            && !listed(RUBY, own)
            && !listed(&self.standard, own)
            && !listed(&self.names, own)
    }

    /// The first name in a chain of attributes, calls and subscripts. Empty for an expression in brackets; `None`
    /// for a text or a number.
    fn root(&self, all: &[Token], at: usize) -> Option<String> {
        let mut at = at.checked_sub(1)?;
        loop {
            at = at.checked_sub(1)?;
            match all.get(at)? {
                Token::Name(own) => {
                    let before = at.checked_sub(1).and_then(|at| all.get(at));
                    if !sign(before, '.') {
                        return Some(own.clone());
                    }
                    at = at.checked_sub(1)?;
                }
                Token::Sign(')' | ']') => {
                    let mut open = 0_usize;
                    loop {
                        match all.get(at)? {
                            Token::Sign(')' | ']' | '}') => open += 1,
                            Token::Sign('(' | '[' | '{') => open -= 1,
                            _ => {}
                        }
                        if open == 0 {
                            break;
                        }
                        at = at.checked_sub(1)?;
                    }
                    // The expression before the bracket is called or indexed.
                    let before = at.checked_sub(1).and_then(|at| all.get(at));
                    if !matches!(before, Some(Token::Name(_) | Token::Sign(')' | ']'))) {
                        return Some(String::new());
                    }
                }
                _ => return None,
            }
        }
    }
}

/// Whether an R function that calls others by name gets a name.
pub(super) fn names_function(all: &[Token], language: &str) -> bool {
    let calls = |it: &Token| name(Some(it)).is_some_and(|it| listed(CALL_NAMED, it));
    let given =
        |pair: &[Token]| matches!(pair, [Token::Sign('(' | ',' | '=' | '-'), Token::Text(_)]);
    language == "r" && all.iter().any(calls) && all.windows(2).any(given)
}

/// Whether a bound name is called without being a function in all of the code.
pub(super) fn calls_unknown(all: &[Token], bound: &BTreeSet<String>, language: &str) -> bool {
    const WORDS: &str = "if unless and or while until do then end else in rescue not";
    let defined = |own: &str| {
        (0..all.len()).any(|at| {
            if name(all.get(at)) != Some(own) {
                return false;
            }
            let before = name(at.checked_sub(1).and_then(|at| all.get(at)));
            let value = usize::from(sign(all.get(at + 1), '=')) + at + 1;
            let value = if sign(all.get(at + 1), '<') && sign(all.get(at + 2), '-') {
                at + 3
            } else {
                value
            };
            let inside = all.get(value..).unwrap_or_default();
            let close = inside.iter().take(24).position(|it| matches!(it, Token::Sign(')')));
            let arrow = |at: usize| sign(all.get(at), '=') && sign(all.get(at + 1), '>');
            matches!(before, Some("def" | "function" | "class"))
                || value > at + 1
                    && (matches!(
                        name(all.get(value)),
                        Some("lambda" | "function" | "async" | "proc")
                    ) || arrow(value + 1)
                        || sign(all.get(value), '(')
                            && close.is_some_and(|it| arrow(value + it + 1)))
        })
    };
    let mut known: BTreeSet<&str> = BTreeSet::new();
    all.iter().enumerate().any(|(at, token)| {
        let Token::Name(own) = token else { return false };
        let before = at.checked_sub(1).and_then(|at| all.get(at));
        if !bound.contains(own) || sign(before, '.') || known.contains(own.as_str()) {
            return false;
        }
        let called = match all.get(at + 1) {
            Some(Token::Sign('(')) => {
                !matches!(name(before), Some("def" | "function" | "class" | "in" | "lambda"))
            }
            Some(Token::Text(_)) => matches!(language, "ruby" | "lua"),
            Some(Token::Number(_) | Token::Sign('{')) => matches!(language, "ruby" | "lua"),
            Some(Token::Name(next)) => language == "ruby" && !listed(WORDS, next),
            _ => false,
        };
        if !called {
            return false;
        }
        if defined(own) {
            known.insert(own);
            return false;
        }
        true
    })
}

/// Whether a module of the language is used as a value, so that its functions could be called by other names.
pub(super) fn hands_over(all: &[Token], language: &str, modules: &str) -> bool {
    const LUA: &str = "os io string table math debug package coroutine utf8 jit";
    const SCRIPT: &str = "fs process Deno Bun os path crypto util";
    if !matches!(language, "python" | "javascript" | "lua") {
        return false;
    }
    let mut held: BTreeSet<&str> = BTreeSet::new();
    for (at, token) in all.iter().enumerate() {
        match token {
            // The result of `require` is bound or destructured immediately.
            Token::Name(own) if own == "require" && language == "javascript" => {
                let bracket = usize::from(sign(all.get(at + 1), '('));
                if let Some(Token::Text(module)) = all.get(at + 1 + bracket)
                    && listed(modules, module)
                {
                    let equals = at.checked_sub(1).is_some_and(|at| sign(all.get(at), '='));
                    match at.checked_sub(2).and_then(|at| name(all.get(at))).filter(|_| equals) {
                        Some(own) => _ = held.insert(own),
                        None if !sign(all.get(at + 2 + 2 * bracket), '.') => return true,
                        None => {}
                    }
                }
            }
            _ => {}
        }
    }
    let module = |own: &str| match language {
        "lua" => listed(LUA, own),
        "javascript" => listed(SCRIPT, own) || held.contains(own),
        _ => matches!(own, "os" | "sys" | "pathlib" | "operator"),
    };
    all.iter().enumerate().any(|(at, token)| {
        let Token::Name(own) = token else { return false };
        if !module(own) {
            return false;
        }
        let before = at.checked_sub(1).and_then(|at| all.get(at));
        let binds = matches!(
            name(before),
            Some("const" | "let" | "var" | "import" | "from" | "local" | "as")
        ) || sign(before, '.')
            || language == "python" && imports(all, at);
        let key = language == "javascript" && sign(all.get(at + 1), ':');
        !binds && !key && !sign(all.get(at + 1), '.')
    })
}

/// Whether a token is part of an import statement.
fn imports(all: &[Token], at: usize) -> bool {
    let before = all.get(..at).unwrap_or_default();
    let start = before.iter().rposition(|it| matches!(it, Token::Sign(';'))).map_or(0, |at| at + 1);
    matches!(name(all.get(start)), Some("import" | "from"))
}
