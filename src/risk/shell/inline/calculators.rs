//! Inline code of languages for calculating and plotting: Octave, gnuplot and Lisps.
//!
//! Only listed names are allowed, and variables that cannot be mistaken for functions. Texts may not contain
//! commands. Any other syntax is refused, which makes the call dangerous.

use std::collections::{BTreeMap, BTreeSet};

use super::lexer::string;
use super::tokens::{Cursor, Token, cursors, name};
use crate::risk::shell::listed::{listed, listed_in};
use crate::risk::shell::place;
use crate::risk::shell::syntax::{Word, name_length};

/// Limit for code that can be reviewed at a glance.
const MAX_LENGTH: usize = 600;

const OCTAVE: &str = include_str!("../../../../assets/risk/words/octave.txt");
const PACKAGES: &str =
    "statistics signal symbolic control image io struct optim linear-algebra strings";
/// Functions of Octave that read files.
const READS: &str = "csvread dlmread fileread slurp";

const GNUPLOT: &str = include_str!("../../../../assets/risk/words/gnuplot.txt");

/// Commands of gnuplot. A statement may also be an abbreviation of one or a definition.
const COMMANDS: &str = "plot splot replot set unset print stats reset exit quit pause";

const LISP: &str = include_str!("../../../../assets/risk/words/lisp.txt");
/// Names for variables and functions that none of the languages defines.
const OWN: &str = include_str!("../../../../assets/risk/words/lisp-variables.txt");

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
                && !word.unknown()
                && place::is_in_project(&word.text)
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
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let rest = code.get(at..)?;
        let before = at.checked_sub(1).and_then(|at| bytes.get(at)).copied().unwrap_or(b' ');
        let ends = matches!(
            found.last(),
            Some(Token::Name(_) | Token::Number(_) | Token::Sign(')' | ']' | '}' | '\''))
        );
        if byte.is_ascii_alphabetic() || *byte == b'_' {
            let length = name_length(rest);
            found.push(Token::Name(rest.get(..length)?.to_owned()));
            at += length;
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
            at += length;
            if digits > 0 {
                at += power.len() - signed?.len() + digits;
            }
            found.push(Token::Number(number));
        } else if *byte == b'\'' && language == "octave" && ends {
            // After a value this is the transpose operator. With a blank between it is ambiguous.
            if before.is_ascii_whitespace() {
                return None;
            }
            found.push(Token::Sign('\''));
            at += 1;
        } else if matches!(byte, b'\'' | b'"') {
            // Single quotes have no escapes.
            let (text, end) = string(code, at, |quote, next| match (quote, next) {
                (b'\'', _) => Some(1),
                (_, b'n' | b't' | b'"' | b'\\') => Some(2),
                _ => None,
            })?;
            found.push(Token::Text(text));
            at = end;
        } else if *byte == b'\n' {
            found.push(Token::Sign(';'));
            at += 1;
        } else if byte.is_ascii_whitespace() {
            at += 1;
        } else {
            let next = bytes.get(at + 1).copied().unwrap_or(b' ');
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
            found.push(Token::Sign(char::from(*byte)));
            at += 1;
        }
    }
    Some(found)
}

fn octave(all: &[Token]) -> bool {
    let control = |here: &Cursor| matches!(here.name(0), Some("if" | "for" | "while" | "else"));
    let control = cursors(all).find(control).map_or(all.len(), |here| here.at);
    let next = |from: usize, end: char| {
        let at = all.iter().skip(from).position(|it| *it == Token::Sign(end));
        at.map_or(all.len(), |at| from + at)
    };
    // Variables that are assigned unconditionally, from the end of that statement on; and conditionally assigned
    // ones, which must not be called.
    let (mut first, mut later) = (BTreeMap::new(), BTreeSet::new());
    let mut depth = 0_usize;
    for here in cursors(all) {
        match here.get(0) {
            Some(Token::Sign('(' | '[' | '{')) => depth += 1,
            Some(Token::Sign(')' | ']' | '}')) => depth = depth.saturating_sub(1),
            Some(Token::Sign('@')) if here.sign(1, "(") => {
                let inside = all.get(here.at..next(here.at, ')')).unwrap_or_default();
                later.extend(inside.iter().filter_map(|it| name(Some(it))));
            }
            Some(Token::Name(own)) if here.is_assigned() => {
                let starts = depth == 0 && (here.get(-1).is_none() || here.sign(-1, ";"));
                if starts && here.at < control {
                    first.entry(own.as_str()).or_insert(next(here.at, ';'));
                }
                later.insert(own);
            }
            _ => {}
        }
    }
    let set = |own: &str, at: usize| first.get(own).is_some_and(|end| *end < at);
    cursors(all).all(|here| {
        let Some(own) = here.name(0) else { return true };
        if own == "pkg" {
            return here.name(1) == Some("load");
        }
        if own == "load" {
            return here.name(-1) == Some("pkg");
        }
        if here.name(-1) == Some("load") {
            return listed(PACKAGES, own);
        }
        if listed(READS, own) {
            let inside = here.text(2).is_some_and(place::is_in_project);
            return here.sign(1, "(") && inside && here.sign(3, "),");
        }
        let field = here.sign(-1, ".") && here.name(-2).is_some_and(|it| set(it, here.at));
        let called = here.sign(1, "(") || here.name(1).is_some() || here.text(1).is_some();
        listed_in(OCTAVE, own) || field || set(own, here.at) || later.contains(own) && !called
    })
}

fn gnuplot(all: &[Token]) -> bool {
    let starts = |here: &Cursor| here.get(-1).is_none() || here.sign(-1, ";");
    let bound: BTreeSet<&str> = cursors(all).filter(starts).filter_map(defined).collect();
    cursors(all).all(|here| match here.get(0) {
        Some(Token::Text(text)) => {
            let written = here.name(-1) == Some("output") || here.name(-2) == Some("set");
            // gnuplot runs such a text as a command for input or output.
            !text.contains(['<', '|'])
                && (!(written || text.contains('/')) || place::is_in_project(text))
        }
        Some(Token::Name(own)) if starts(&here) && !listed(COMMANDS, own) => {
            defined(here).is_some()
        }
        Some(Token::Sign('{' | '}')) => false,
        Some(Token::Name(own)) => listed_in(GNUPLOT, own) || bound.contains(own.as_str()),
        _ => true,
    })
}

/// The variable or function that a statement of gnuplot defines.
fn defined(here: Cursor<'_>) -> Option<&str> {
    let close = (2..8).find(|by| here.sign(*by, ")"));
    let function = here.sign(1, "(") && close.is_some_and(|by| here.sign(by + 1, "="));
    here.name(0).filter(|own| (here.is_assigned() || function) && *own != "system")
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
            if text.contains("~/") || before == "slurp" && !place::is_in_project(text) {
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
                || !(number || key || listed_in(LISP, &word) || listed_in(OWN, &word))
            {
                return false;
            }
            before = word;
            rest = rest.get(length..).unwrap_or_default();
        }
    }
    !code.trim().is_empty()
}
