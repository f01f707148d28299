//! Inline code of languages for calculating and plotting: Octave, gnuplot and Lisps.
//!
//! Only listed names are allowed, and variables that cannot be mistaken for functions. Texts may not contain
//! commands. Any other syntax is refused, which makes the call dangerous.

use std::collections::{BTreeMap, BTreeSet};

use super::lexer::string;
use super::tokens::{Cursor, Token, cursors, name};
use crate::risk::shell::listed::{listed, listed_in};
use crate::risk::shell::syntax::name_length;
use crate::risk::shell::{Word, path_kind};

/// Limit for code that can be reviewed at a glance.
const MAX_LENGTH: usize = 600;

pub(super) const OCTAVE: &str = include_str!("../../../../assets/risk/words/octave.txt");
const PACKAGES: &str =
    "statistics signal symbolic control image io struct optim linear-algebra strings";
/// Functions of Octave that read files.
const READS: &str = "csvread dlmread fileread slurp";

pub(super) const GNUPLOT: &str = include_str!("../../../../assets/risk/words/gnuplot.txt");

/// Commands of gnuplot. A statement may also be an abbreviation of one or a definition.
const COMMANDS: &str = "plot splot replot set unset print stats reset exit quit pause";

pub(super) const LISP: &str = include_str!("../../../../assets/risk/words/lisp.txt");
/// Names for variables and functions that none of the Lisps defines.
pub(super) const LISP_VARIABLES: &str =
    include_str!("../../../../assets/risk/words/lisp-variables.txt");

/// Whether code only computes; `None` for languages that are not handled here.
pub(super) fn computes(program: &str, options: &[Word], code: &str, rest: &[Word]) -> Option<bool> {
    let (language, plain) = match program {
        "octave" | "octave-cli" => (
            "octave",
            "--eval -q --quiet --silent -qf -f --norc -W --no-gui --no-window-system --no-history",
        ),
        "gnuplot" => ("gnuplot", "-e -p -persist --persist"),
        "sbcl" | "clisp" | "ecl" | "guile" | "racket" | "clojure" | "clj" | "bb" | "mit-scheme" => {
            (
                "lisp",
                "-e --eval -c -M --noinform --non-interactive --no-userinit --no-sysinit --quit -q --no-auto-compile",
            )
        }
        _ => return None,
    };
    let known = |word: &Word| listed(plain, &word.text);
    // A second code option would run, too. An operand of gnuplot is a script of the project.
    let after = |word: &Word| {
        matches!(word.text.as_str(), "--quit" | "-persist" | "-p" | "--non-interactive")
            || language == "gnuplot"
                && !word.text.starts_with('-')
                && !word.has_unknown()
                && path_kind::is_in_project(&word.text)
    };
    if code.len() > MAX_LENGTH || !options.iter().all(known) || !rest.iter().all(after) {
        return Some(false);
    }
    Some(match language {
        "octave" => lex(code, language).is_some_and(|all| octave(&all)),
        "gnuplot" => lex(code, language).is_some_and(|all| gnuplot(&all)),
        _ => lisp(code),
    })
}

/// The tokens of code; `None` for unsupported syntax.
fn lex(code: &str, language: &str) -> Option<Vec<Token>> {
    if !code.is_ascii() || code.contains(['`', '\0', '#', '~']) || code.contains("...") {
        return None;
    }
    let bytes = code.as_bytes();
    let mut found = Vec::new();
    let mut index = 0;
    while let Some(byte) = bytes.get(index) {
        let rest = code.get(index..)?;
        let before =
            index.checked_sub(1).and_then(|index| bytes.get(index)).copied().unwrap_or(b' ');
        let ends = matches!(
            found.last(),
            Some(Token::Name(_) | Token::Number(_) | Token::Punct(')' | ']' | '}' | '\''))
        );
        if byte.is_ascii_alphabetic() || *byte == b'_' {
            let length = name_length(rest);
            found.push(Token::Name(rest.get(..length)?.to_owned()));
            index += length;
        } else if byte.is_ascii_digit() {
            let length = rest.bytes().take_while(|it| it.is_ascii_digit() || *it == b'.').count();
            let number: f64 = rest.get(..length)?.trim_end_matches('.').parse().ok()?;
            // Limit for running time.
            if number >= 1e7 {
                return None;
            }
            let power = rest.get(length..)?;
            let signed = power.strip_prefix(['e', 'E']).map(|it| it.trim_start_matches(['-', '+']));
            let digits = signed.map_or(0, |it| it.bytes().take_while(u8::is_ascii_digit).count());
            index += length;
            if digits > 0 {
                index += power.len() - signed?.len() + digits;
            }
            found.push(Token::Number(number));
        } else if *byte == b'\'' && language == "octave" && ends {
            // Directly after a value this is the transpose operator; after a blank it is ambiguous.
            if before.is_ascii_whitespace() {
                return None;
            }
            found.push(Token::Punct('\''));
            index += 1;
        } else if matches!(byte, b'\'' | b'"') {
            // Single quotes have no escapes.
            let (text, end) = string(code, index, |quote, next| match (quote, next) {
                (b'\'', _) => Some(1),
                (_, b'n' | b't' | b'"' | b'\\') => Some(2),
                _ => None,
            })?;
            found.push(Token::Text(text));
            index = end;
        } else if *byte == b'\n' {
            found.push(Token::Punct(';'));
            index += 1;
        } else if byte.is_ascii_whitespace() {
            index += 1;
        } else {
            let next = bytes.get(index + 1).copied().unwrap_or(b' ');
            let refused = match byte {
                b'\\' | b'?' => true,
                b'%' => language == "octave",
                b'!' => next != b'=',
                b'$' => language == "octave" || !next.is_ascii_digit(),
                b'@' => language != "octave",
                _ => false,
            };
            if refused {
                return None;
            }
            found.push(Token::Punct(char::from(*byte)));
            index += 1;
        }
    }
    Some(found)
}

fn octave(all: &[Token]) -> bool {
    let control = |cursor: &Cursor| matches!(cursor.name(0), Some("if" | "for" | "while" | "else"));
    let control = cursors(all).find(control).map_or(all.len(), |cursor| cursor.index);
    let next = |from: usize, end: char| {
        let index = all.iter().skip(from).position(|it| *it == Token::Punct(end));
        index.map_or(all.len(), |index| from + index)
    };
    // Variables that are assigned unconditionally, from the end of that statement on; and conditionally assigned
    // ones, which must not be called.
    let (mut first, mut later) = (BTreeMap::new(), BTreeSet::new());
    let mut depth = 0_usize;
    for cursor in cursors(all) {
        match cursor.get(0) {
            Some(Token::Punct('(' | '[' | '{')) => depth += 1,
            Some(Token::Punct(')' | ']' | '}')) => depth = depth.saturating_sub(1),
            Some(Token::Punct('@')) if cursor.is_punct(1, "(") => {
                let inside = all.get(cursor.index..next(cursor.index, ')')).unwrap_or_default();
                later.extend(inside.iter().filter_map(|it| name(Some(it))));
            }
            Some(Token::Name(ident)) if cursor.is_assigned() => {
                let starts = depth == 0 && (cursor.get(-1).is_none() || cursor.is_punct(-1, ";"));
                if starts && cursor.index < control {
                    first.entry(ident.as_str()).or_insert(next(cursor.index, ';'));
                }
                later.insert(ident);
            }
            _ => {}
        }
    }
    let set = |ident: &str, index: usize| first.get(ident).is_some_and(|end| *end < index);
    cursors(all).all(|cursor| {
        let Some(ident) = cursor.name(0) else { return true };
        if ident == "pkg" {
            return cursor.name(1) == Some("load");
        }
        if ident == "load" {
            return cursor.name(-1) == Some("pkg");
        }
        if cursor.name(-1) == Some("load") {
            return listed(PACKAGES, ident);
        }
        if listed(READS, ident) {
            let inside = cursor.text(2).is_some_and(path_kind::is_in_project);
            return cursor.is_punct(1, "(") && inside && cursor.is_punct(3, "),");
        }
        let field =
            cursor.is_punct(-1, ".") && cursor.name(-2).is_some_and(|it| set(it, cursor.index));
        let called =
            cursor.is_punct(1, "(") || cursor.name(1).is_some() || cursor.text(1).is_some();
        listed_in(OCTAVE, ident)
            || field
            || set(ident, cursor.index)
            || later.contains(ident) && !called
    })
}

fn gnuplot(all: &[Token]) -> bool {
    let starts = |cursor: &Cursor| cursor.get(-1).is_none() || cursor.is_punct(-1, ";");
    let bound: BTreeSet<&str> = cursors(all).filter(starts).filter_map(defined).collect();
    cursors(all).all(|cursor| match cursor.get(0) {
        Some(Token::Text(text)) => {
            let written = cursor.name(-1) == Some("output") || cursor.name(-2) == Some("set");
            // gnuplot runs such a text as a command for input or output.
            !text.contains(['<', '|'])
                && (!(written || text.contains('/')) || path_kind::is_in_project(text))
        }
        Some(Token::Name(ident)) if starts(&cursor) && !listed(COMMANDS, ident) => {
            defined(cursor).is_some()
        }
        Some(Token::Punct('{' | '}')) => false,
        Some(Token::Name(ident)) => listed_in(GNUPLOT, ident) || bound.contains(ident.as_str()),
        _ => true,
    })
}

/// The variable or function that a statement of gnuplot defines; `None` for any other statement.
fn defined(cursor: Cursor<'_>) -> Option<&str> {
    let close = (2..8).find(|by| cursor.is_punct(*by, ")"));
    let function = cursor.is_punct(1, "(") && close.is_some_and(|by| cursor.is_punct(by + 1, "="));
    cursor.name(0).filter(|ident| (cursor.is_assigned() || function) && *ident != "system")
}

fn lisp(code: &str) -> bool {
    let code = code.replace("#'", "'").replace("#(", "(");
    if !code.is_ascii() || code.contains(['`', '\\', '#', ';', '@', '|', '\0', '{', '}']) {
        return false;
    }
    // The output of one format could be the format of another.
    if code.matches("format").count() > 1 {
        return false;
    }
    let mut rest = code.as_str();
    let mut before = String::new();
    while let Some(first) = rest.chars().next() {
        if first == '"' {
            let Some(end) = rest.get(1..).and_then(|it| it.find('"')) else { return false };
            let text = rest.get(1..=end).unwrap_or_default();
            // A format of Common Lisp can call a function.
            if text.contains("~/") || before == "slurp" && !path_kind::is_in_project(text) {
                return false;
            }
            before.clear();
            rest = rest.get(end + 2..).unwrap_or_default();
        } else if "()[]', \n\t".contains(first) {
            if before == "slurp" && first != ' ' {
                return false;
            }
            rest = rest.get(1..).unwrap_or_default();
        } else {
            let length = rest.find(|c: char| "()[]'\", \n\t".contains(c)).unwrap_or(rest.len());
            let word = rest.get(..length).unwrap_or_default().to_ascii_lowercase();
            let number = word.trim_start_matches(['-', '+']);
            let number = number.starts_with(|c: char| c.is_ascii_digit())
                && number.len() < 8
                && number.bytes().all(|it| it.is_ascii_digit() || matches!(it, b'.' | b'/'));
            let key = matches!(word.as_str(), ":key" | ":initial-value" | ":test" | ":end");
            if before == "slurp"
                || !(number || key || listed_in(LISP, &word) || listed_in(LISP_VARIABLES, &word))
            {
                return false;
            }
            before = word;
            rest = rest.get(length..).unwrap_or_default();
        }
    }
    !code.trim().is_empty()
}
