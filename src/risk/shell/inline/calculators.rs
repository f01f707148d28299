//! Inline code of languages for calculating and plotting: Octave, gnuplot and Lisps.
//!
//! Only listed names are allowed, and variables that cannot be mistaken for functions. Texts may not contain
//! commands. Any other syntax is refused, which makes the call dangerous.

use std::collections::{BTreeMap, BTreeSet};

use super::tokens::{Token, name, sign};
use crate::risk::shell::listed::listed;
use crate::risk::shell::place;
use crate::risk::shell::syntax::Word;

/// Limit for code that can be reviewed at a glance.
const MAX_LENGTH: usize = 600;

const OCTAVE: &str = "disp display printf fprintf sprintf num2str mat2str str2double int2str eig inv det rank trace norm lu qr chol svd \
    pinv expm magic zeros ones eye rand randn randi linspace logspace reshape repmat size length numel ndims columns \
    rows sum prod cumsum cumprod mean median std var mode min max sort unique find any all abs sqrt exp log log2 \
    log10 sin cos tan asin acos atan atan2 sinh cosh tanh floor ceil round fix mod rem gcd lcm factorial nchoosek \
    primes isprime factor cross dot kron polyfit polyval roots conv deconv interp1 trapz diff fft ifft real imag conj \
    angle meshgrid strcat strsplit strjoin strrep strtrim upper lower regexprep isempty isnan isinf true false pi e \
    Inf NaN eps i j ans end bitand bitor bitxor dec2bin bin2dec dec2hex hex2dec tic toc clock date version \
    OCTAVE_VERSION cov corr corrcoef quantile prctile triu tril diag circshift fliplr flipud rot90 sub2ind ind2sub \
    cell struct fieldnames isfield class isa double single int8 int16 int32 int64 uint8 uint16 uint32 uint64 logical \
    char ischar isnumeric nnz format long short if else elseif for while endif endfor endwhile csvread dlmread fileread";
const PACKAGES: &str =
    "statistics signal symbolic control image io struct optim linear-algebra strings";
/// Functions of Octave that read files.
const READS: &str = "csvread dlmread fileread slurp";

const GNUPLOT: &str = "plot splot replot set unset terminal term output png pngcairo svg pdf pdfcairo dumb qt wxt x11 size title xlabel \
    ylabel zlabel xrange yrange zrange logscale grid key style data lines linespoints points boxes histogram \
    histograms impulses dots steps fill solid border with w using u every smooth axes lw lt lc pt ps linewidth \
    linetype linecolor pointtype pointsize rgb notitle nokey print sin cos tan asin acos atan sinh cosh tanh exp log \
    log10 sqrt abs floor ceil int real gamma erf pi x y z t l lp p datafile separator comma tab whitespace xtics ytics \
    rotate by timefmt xdata ydata time top bottom left right center inside outside off on enhanced font samples \
    isosamples view map stats name multiplot layout columnheader autotitle autoscale for in d nooutput tics box";

/// Commands of gnuplot. A statement may also be an abbreviation of one or a definition.
const COMMANDS: &str = "plot splot replot set unset print stats reset exit quit pause";

const LISP: &str = "+ - * / mod rem quot quotient remainder modulo abs min max gcd lcm expt sqrt exp log sin cos tan floor ceiling round \
    truncate 1+ 1- inc dec = /= < > <= >= not and or eq eql equal eq? equal? zero? even? odd? pos? neg? zerop evenp oddp \
    plusp minusp if when unless cond else let let* letrec lambda fn loop recur dotimes dolist doseq for define defun \
    defn def list cons car cdr cadr first second third rest last nth length count reverse append map mapcar mapv reduce \
    filter remove-if remove-if-not apply funcall vector range iota take drop partition group-by frequencies sort \
    sort-by distinct hash-map assoc get keys vals conj concat mapcat str string-append string-upcase string-downcase \
    string-length number->string display displayln newline print println prn format princ terpri write-line t nil \
    true false fold fold-left fold-right numerator denominator exact->inexact inexact->exact square cube begin progn \
    values quote exit quit identity sum from to below collect by do slurp lisp-implementation-version \
    lisp-implementation-type *clojure-version* clojure-version version";
/// Names for variables and functions that none of the languages defines.
const OWN: &str = "fact fac factorial fib fibonacci sq add double triple f g h k n m x y z a b c i j v s r u w acc lst xs ys item elem \
    total result avg power iter helper sum-list my-sum % %1 %2";

/// Whether code only computes; `None` for languages that are not handled here.
pub(super) fn computes(program: &str, options: &[Word], code: &str, rest: &[Word]) -> Option<bool> {
    let (language, plain): (_, &[&str]) = match program {
        "octave" | "octave-cli" => (
            "octave",
            &[
                "--eval",
                "-q",
                "--quiet",
                "--silent",
                "-qf",
                "-f",
                "--norc",
                "-W",
                "--no-gui",
                "--no-window-system",
                "--no-history",
            ],
        ),
        "gnuplot" => ("gnuplot", &["-e", "-p", "-persist", "--persist"]),
        "sbcl" | "clisp" | "ecl" | "guile" | "racket" | "clojure" | "clj" | "bb" | "mit-scheme" => {
            (
                "lisp",
                &[
                    "-e",
                    "--eval",
                    "-c",
                    "-M",
                    "--noinform",
                    "--non-interactive",
                    "--no-userinit",
                    "--no-sysinit",
                    "--quit",
                    "-q",
                    "--no-auto-compile",
                ],
            )
        }
        _ => return None,
    };
    let known = |word: &Word| plain.contains(&word.text.as_str());
    // A second code option would run, too. An operand of gnuplot is a script of the project.
    let after = |word: &Word| {
        matches!(word.text.as_str(), "--quit" | "-persist" | "-p" | "--non-interactive")
            || language == "gnuplot"
                && !word.text.starts_with('-')
                && !word.unknown()
                && place::is_project_file(&place::normalize(&word.text, ""))
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
            let length =
                rest.bytes().take_while(|it| it.is_ascii_alphanumeric() || *it == b'_').count();
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
            let (text, end) = string(code, at)?;
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

/// The content of a string and the index after it. Single quotes have no escapes.
fn string(code: &str, start: usize) -> Option<(String, usize)> {
    let bytes = code.as_bytes();
    let quote = *bytes.get(start)?;
    let mut at = start + 1;
    loop {
        match *bytes.get(at)? {
            b'\\' if quote == b'"' => {
                if !matches!(bytes.get(at + 1)?, b'n' | b't' | b'"' | b'\\') {
                    return None;
                }
                at += 2;
            }
            b'\n' => return None,
            byte if byte == quote => return Some((code.get(start + 1..at)?.to_owned(), at + 1)),
            _ => at += 1,
        }
    }
}

fn octave(all: &[Token]) -> bool {
    const CONTROL: [&str; 4] = ["if", "for", "while", "else"];
    let control = all.iter().position(|it| name(Some(it)).is_some_and(|it| CONTROL.contains(&it)));
    let control = control.unwrap_or(all.len());
    // Variables that are assigned unconditionally, from the end of that statement on; and conditionally assigned
    // ones, which must not be called.
    let (mut first, mut later) = (BTreeMap::new(), BTreeSet::new());
    let mut depth = 0_usize;
    for at in 0..all.len() {
        let before = at.checked_sub(1).and_then(|at| all.get(at));
        match all.get(at) {
            Some(Token::Sign('(' | '[' | '{')) => depth += 1,
            Some(Token::Sign(')' | ']' | '}')) => depth = depth.saturating_sub(1),
            _ => {}
        }
        let Some(own) = name(all.get(at)) else {
            if sign(all.get(at), '@') && sign(all.get(at + 1), '(') {
                let inside =
                    all.iter().skip(at + 2).take_while(|it| !matches!(it, Token::Sign(')')));
                later.extend(inside.filter_map(|it| name(Some(it))));
            }
            continue;
        };
        let assigned = sign(all.get(at + 1), '=') && !sign(all.get(at + 2), '=');
        let starts = depth == 0 && (before.is_none() || sign(before, ';'));
        if assigned && starts && at < control {
            let statement = all.iter().skip(at).position(|it| matches!(it, Token::Sign(';')));
            first.entry(own).or_insert(statement.map_or(all.len(), |it| at + it));
        }
        if assigned {
            later.insert(own);
        }
    }
    let set = |own: &str, at: usize| first.get(own).is_some_and(|end| *end < at);
    (0..all.len()).all(|at| {
        let before = at.checked_sub(1).and_then(|at| all.get(at));
        let next = all.get(at + 1);
        let Some(own) = name(all.get(at)) else { return true };
        if own == "pkg" {
            return name(next) == Some("load");
        }
        if own == "load" {
            return name(before) == Some("pkg");
        }
        if name(before) == Some("load") {
            return listed(PACKAGES, own);
        }
        if listed(READS, own) {
            let inside = matches!(all.get(at + 2), Some(Token::Text(text)) if place::is_project_file(&place::normalize(text, "")));
            let ends = sign(all.get(at + 3), ')') || sign(all.get(at + 3), ',');
            return sign(next, '(') && inside && ends;
        }
        let field = sign(before, '.')
            && at.checked_sub(2).and_then(|at| name(all.get(at))).is_some_and(|it| set(it, at));
        let called = sign(next, '(') || matches!(next, Some(Token::Name(_) | Token::Text(_)));
        listed(OCTAVE, own) || field || set(own, at) || later.contains(own) && !called
    })
}

fn gnuplot(all: &[Token]) -> bool {
    let defines = |at: usize| {
        let own = name(all.get(at))?;
        let inside = all.get(at + 2..).unwrap_or_default();
        let close = inside.iter().take(6).position(|it| matches!(it, Token::Sign(')')));
        let function =
            sign(all.get(at + 1), '(') && close.is_some_and(|it| sign(all.get(at + 3 + it), '='));
        let is = (sign(all.get(at + 1), '=') && !sign(all.get(at + 2), '=') || function)
            && own != "system";
        is.then_some(own)
    };
    let starts = |at: usize| at.checked_sub(1).is_none_or(|at| sign(all.get(at), ';'));
    let bound: BTreeSet<&str> =
        (0..all.len()).filter(|at| starts(*at)).filter_map(defines).collect();
    (0..all.len()).all(|at| match all.get(at) {
        Some(Token::Text(text)) => {
            let word = |back: usize| at.checked_sub(back).and_then(|at| name(all.get(at)));
            let written = word(1) == Some("output") || word(2) == Some("set");
            // gnuplot runs such a text as a command for input or output.
            !text.contains(['<', '|'])
                && (!(written || text.contains('/'))
                    || place::is_project_file(&place::normalize(text, "")))
        }
        Some(Token::Name(own)) if starts(at) && !listed(COMMANDS, own) => defines(at).is_some(),
        Some(Token::Sign('{' | '}')) => false,
        Some(Token::Name(own)) => listed(GNUPLOT, own) || bound.contains(own.as_str()),
        _ => true,
    })
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
            if text.contains("~/")
                || before == "slurp" && !place::is_project_file(&place::normalize(text, ""))
            {
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
            if before == "slurp" || !(number || key || listed(LISP, &word) || listed(OWN, &word)) {
                return false;
            }
            before = word;
            rest = rest.get(length..).unwrap_or_default();
        }
    }
    !code.trim().is_empty()
}
