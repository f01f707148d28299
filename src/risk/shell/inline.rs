//! Code in the command line that only computes and prints (SPEC §7.1).
//!
//! A closed world: each name must be in a list of the table or be bound by the code itself, each name behind a dot
//! must be in another, and what reads a file must be given the name of one of the project as it stands. Whatever
//! else the code holds is as dangerous as any code that nobody has read.

mod tokens;

use std::collections::BTreeSet;

use serde::Deserialize;

use super::discloses::is_secret_name;
use super::judge::Judge;
use super::place;
use super::syntax::{UNKNOWN, Word};
use tokens::{Token, tokens};

/// What code of one language may name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Inline {
    language: String,
    programs: Vec<String>,
    names: String,
    attributes: String,
    modules: String,
    reads: String,
}

impl Judge<'_> {
    /// Whether a call of an interpreter only computes and prints: its options are plain, and so is the code.
    pub(super) fn computes(
        &self,
        program: &str,
        options: &[Word],
        code: &Word,
        rest: &[Word],
    ) -> bool {
        let is = |it: &&Inline| it.programs.iter().any(|name| name == program);
        let Some(language) = self.table.inline.iter().find(is) else { return false };
        let plain = |word: &Word| plain_option(&language.language, &word.text);
        if !options.iter().all(plain) || code.text.contains(UNKNOWN) || code.escaped {
            return false;
        }
        let perl = language.language == "perl";
        let changes = perl
            && options.iter().any(|word| word.text.starts_with('-') && word.text.contains('i'));
        let reads = perl || language.language == "ruby";
        // Perl opens what it is given, and may be given a command; with `-i` it changes the file.
        let inside = |word: &Word| {
            let path = place::settle(&word.text, &self.folder);
            !word.text.starts_with('-')
                && !word.text.contains(['|', '<', '>'])
                && (!changes || (!word.unknown() && is_inside(&path)))
        };
        if reads && !rest.iter().all(inside)
            || (changes && !self.folder.is_empty() && !is_inside(&self.folder))
        {
            return false;
        }
        (perl && substitutes(&code.text)) || language.allows(&code.text)
    }
}

/// Options that change nothing but how the code is read and its input taken apart.
fn plain_option(language: &str, text: &str) -> bool {
    let letters = |allowed: &str| {
        text.strip_prefix('-').is_some_and(|rest| rest.chars().all(|c| allowed.contains(c)))
    };
    match language {
        "python" => letters("BsSEuIOqcd"),
        "javascript" => {
            letters("pe")
                || matches!(
                    text,
                    "eval" | "--eval" | "--print" | "--no-warnings" | "--input-type=module"
                )
        }
        "perl" => {
            let bundle = text.split('.').next().unwrap_or_default();
            let ending = text.strip_prefix(bundle).unwrap_or_default();
            bundle.strip_prefix('-').is_some_and(|it| it.chars().all(|c| "pnlawie0E".contains(c)))
                && (ending.is_empty()
                    || bundle.ends_with('i')
                        && ending.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'.'))
        }
        "ruby" => {
            letters("enplaw")
                || matches!(
                    text,
                    "-rjson"
                        | "-rdate"
                        | "-rtime"
                        | "-rset"
                        | "-ryaml"
                        | "-rdigest"
                        | "-rsecurerandom"
                        | "-rbase64"
                )
        }
        "php" => letters("rn"),
        _ => letters("e"),
    }
}

/// Whether a settled path is of the project, and is no file that other programs obey or that keeps keys.
fn is_inside(path: &str) -> bool {
    !place::is_outside(path)
        && !place::is_sensitive(path)
        && !place::is_secret(path)
        && !path.contains(['*', '|', '<', '>', ':', '\\', UNKNOWN])
}

/// Whether code of Perl is nothing but `s/../../`, `tr/../../` and their like, without code in a pattern.
fn substitutes(code: &str) -> bool {
    let mut rest = code.trim().trim_end_matches(';');
    if rest.is_empty() {
        return false;
    }
    while !rest.is_empty() {
        rest = rest.trim_start_matches([' ', ';', '\n']);
        let Some(body) = rest
            .strip_prefix('s')
            .or_else(|| rest.strip_prefix("tr"))
            .or_else(|| rest.strip_prefix('y'))
        else {
            return false;
        };
        let Some(mark) = body.chars().next().filter(|c| "/|,#!".contains(*c)) else { return false };
        let mut ends = Vec::new();
        let mut escaped = false;
        for (at, c) in body.char_indices().skip(1) {
            if escaped {
                escaped = false;
            } else if c == '\\' {
                escaped = true;
            } else if c == mark {
                ends.push(at);
                if ends.len() == 2 {
                    break;
                }
            }
        }
        let [middle, end] = ends.as_slice() else { return false };
        let (pattern, new) = (
            body.get(1..*middle).unwrap_or_default(),
            body.get(middle + 1..*end).unwrap_or_default(),
        );
        let hidden = |text: &str| {
            let known = text.replace("\\@", "").replace("\\$", "");
            let variable = known.split('$').skip(1).any(|it| {
                !it.is_empty() && !it.starts_with(|c: char| c.is_ascii_digit() || "|)&".contains(c))
            });
            variable || known.contains('@') || known.contains("(?{") || known.contains("(??{")
        };
        if hidden(pattern) || hidden(new) {
            return false;
        }
        let after = body.get(end + 1..).unwrap_or_default();
        let flags = after.bytes().take_while(u8::is_ascii_alphabetic).count();
        if !after.bytes().take(flags).all(|it| b"gimsxrcd".contains(&it)) {
            return false;
        }
        rest = after.get(flags..).unwrap_or_default();
        if !rest.is_empty() && !rest.starts_with(';') {
            return false;
        }
        rest = rest.trim_start_matches([' ', ';', '\n']);
    }
    true
}

fn listed(list: &str, name: &str) -> bool {
    list.split(' ').any(|it| it == name)
}

fn sign(token: Option<&Token>, wanted: char) -> bool {
    matches!(token, Some(Token::Sign(sign)) if *sign == wanted)
}

fn name(token: Option<&Token>) -> Option<&str> {
    match token {
        Some(Token::Name(name)) => Some(name),
        _ => None,
    }
}

impl Inline {
    /// Whether a code holds nothing that is not known.
    fn allows(&self, code: &str) -> bool {
        let Some(all) = tokens(code, &self.language) else { return false };
        if all.is_empty() || !modest(&all) {
            return false;
        }
        let mut bound = BTreeSet::new();
        let mut shown = BTreeSet::new();
        let start = if self.language == "python" {
            let Some(start) = self.imports(&all, &mut bound, &mut shown) else { return false };
            start
        } else {
            0
        };
        let Some(body) = all.get(start..) else { return false };
        self.binds(body, &mut bound);
        (0..body.len()).all(|at| self.token(body, at, &bound, &shown))
    }

    /// The imports at the beginning: what they bind, and modules of which only the version may be shown.
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
                if from
                    && (special
                        || !(listed(&self.attributes, &module) || listed(&self.reads, &module)))
                {
                    return None;
                }
                if from || listed(&self.modules, &module) {
                    if own != module && listed(&self.reads, &module) {
                        return None;
                    }
                    bound.insert(own);
                } else if !module.contains('.') && !module.starts_with('_') {
                    shown.insert(own);
                } else {
                    return None;
                }
            }
        }
        Some(start.min(all.len()))
    }

    /// The names that the code binds: variables of loops, parameters, and what is assigned to.
    fn binds(&self, all: &[Token], bound: &mut BTreeSet<String>) {
        let python = self.language == "python";
        for at in 0..all.len() {
            let before = at.checked_sub(1).and_then(|at| all.get(at));
            let starts = before.is_none() || sign(before, ';') || sign(before, '{');
            if name(all.get(at)).is_some_and(|it| {
                matches!(it, "const" | "let" | "var" | "for" | "local" | "my" | "lambda" | "as")
            }) {
                // Python's comprehensions, `for` and `lambda` bind several names, with commas between them.
                let listing = python || self.language == "lua";
                let mut next = at + 1;
                while let Some(own) = name(all.get(next)) {
                    if matches!(own, "const" | "let" | "var") {
                        break;
                    }
                    bound.insert(own.to_owned());
                    next += 2;
                    if !listing || !sign(all.get(next - 1), ',') {
                        break;
                    }
                }
            }
            let assigned = sign(all.get(at + 1), '=')
                && !sign(all.get(at + 2), '=')
                && !sign(all.get(at + 2), '>');
            if let Some(own) = name(all.get(at)) {
                if starts && assigned && matches!(self.language.as_str(), "python" | "ruby" | "lua")
                    || sign(all.get(at + 1), '=')
                        && sign(all.get(at + 2), '>')
                        && self.language == "javascript"
                    || self.language == "ruby"
                        && sign(before, '|')
                        && (sign(all.get(at + 1), '|') || sign(all.get(at + 1), ','))
                {
                    bound.insert(own.to_owned());
                }
            }
            // Parameters of an arrow: only names and commas between the brackets.
            if self.language == "javascript"
                && sign(all.get(at), ')')
                && sign(all.get(at + 1), '=')
                && sign(all.get(at + 2), '>')
            {
                for back in (0..at).rev() {
                    match all.get(back) {
                        Some(Token::Name(own)) => {
                            bound.insert(own.clone());
                        }
                        Some(Token::Sign(',')) => {}
                        _ => break,
                    }
                }
            }
        }
        // What has a meaning of its own keeps it.
        let kept = [
            "require",
            "open",
            "Path",
            "eval",
            "exec",
            "import",
            "constructor",
            "Function",
            "this",
            "globalThis",
        ];
        bound.retain(|own| !kept.contains(&own.as_str()) || (python && own == "Path"));
    }

    fn token(
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
                // A computed name could be any.
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
            // PHP calls the function that a text names.
            Some(Token::Sign('(')) if self.language == "php" => {
                !(matches!(before, Some(Token::Text(_))) || sign(before, ')') || sign(before, ']'))
            }
            Some(Token::Sign(']')) if script => !sign(next, ':'),
            Some(Token::Text(text)) if script && sign(next, ':') => {
                !text.contains('\\') && !BANNED.contains(&text.as_str())
            }
            Some(Token::Name(own)) => {
                if script && BANNED.contains(&own.as_str())
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
                    // A variable that is called could hold the name of any function.
                    return !sign(next, '(') && !own.starts_with('_') && own != "GLOBALS";
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
                if own == "require" {
                    let bracket = usize::from(sign(next, '('));
                    return matches!(all.get(at + 1 + bracket), Some(Token::Text(text))
                        if listed(&self.modules, text)
                            || script && text.starts_with("./") && text.ends_with(".json") && !text.contains(".."));
                }
                if shown.contains(own) {
                    return sign(next, '.');
                }
                bound.contains(own) || listed(&self.names, own)
            }
            _ => true,
        }
    }

    /// Whether a name behind a dot is known, and the few that need more than that have it.
    fn attribute(&self, all: &[Token], at: usize, own: &str, shown: &BTreeSet<String>) -> bool {
        let of = at.checked_sub(2).and_then(|at| name(all.get(at))).unwrap_or_default();
        let next = all.get(at + 1);
        let version = matches!(own, "__version__" | "__file__" | "__name__" | "__doc__");
        if shown.contains(of) {
            return version || matches!(own, "VERSION" | "version");
        }
        // What is assigned to a name behind a dot would be found there by others.
        let assigned = sign(next, '=') && !sign(all.get(at + 2), '=');
        if assigned && self.language != "perl" {
            return false;
        }
        let text = all.iter().skip(at + 1).take(5).find_map(|it| match it {
            Token::Text(text) => Some(text.as_str()),
            _ => None,
        });
        match own {
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
            // A variable of the environment that `env.` has named.
            _ if of == "env" && self.language == "javascript" => true,
            _ => version || listed(&self.attributes, own),
        }
    }
}

/// Names of JavaScript by which code reaches what makes code.
const BANNED: [&str; 12] = [
    "constructor",
    "__proto__",
    "prototype",
    "mainModule",
    "binding",
    "dlopen",
    "eval",
    "Function",
    "callee",
    "caller",
    "arguments",
    "_load",
];

/// Names with dots between them.
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

fn is_project_file(token: &Token) -> bool {
    let reads = |text: &str| {
        let path = place::settle(text, "");
        !text.is_empty()
            && !place::is_outside(&path)
            && !place::is_secret(&path)
            && !place::is_keys(&path)
            && !path.rsplit('/').next().is_some_and(|it| it.starts_with(".env"))
            && !path.contains(['*', '|', '<', '>', ':', '\\'])
    };
    matches!(token, Token::Text(text) if reads(text))
}

/// Whether the code cannot ask for more memory or time than a person would grant: no tower of powers, no large
/// number beside what repeats.
fn modest(all: &[Token]) -> bool {
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
                repeats |= matches!(
                    name.as_str(),
                    "repeat"
                        | "range"
                        | "fill"
                        | "padEnd"
                        | "padStart"
                        | "alloc"
                        | "Array"
                        | "rep"
                        | "bytes"
                        | "bytearray"
                        | "str_repeat"
                        | "ljust"
                        | "rjust"
                        | "zfill"
                        | "times"
                        | "upto"
                        | "zeros"
                        | "ones"
                        | "arange"
                        | "pow"
                        | "factorial"
                        | "token_hex"
                        | "token_bytes"
                        | "randomBytes"
                        | "while"
                        | "sleep"
                        | "x"
                );
            }
            _ => {}
        }
    }
    // Each power is counted as a sign of its own, and once more as its second half.
    let multiplied = times > powers;
    !(powers > 0 && (multiplied || repeats || powers > 1))
        && (largest < 1e7 || !(multiplied || repeats))
}
