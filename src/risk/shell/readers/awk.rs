//! Programs of `awk` that choose, calculate and print: nothing that runs, opens or writes.

use std::sync::LazyLock;

use regex::Regex;

use super::super::syntax::UNKNOWN;
use super::{Argument, Call, Taken, is_operand};

pub(super) fn call(taken: &Taken) -> Call {
    let mut call = Call::Reads;
    let mut operands = taken.operands.iter().copied();
    let sources: Vec<&str> = taken
        .values
        .iter()
        .filter(|(name, _)| matches!(name.as_str(), "e" | "source"))
        .map(|(_, v)| *v)
        .collect();
    if sources.is_empty() {
        match operands.next() {
            Some(Argument { text, glob: false, .. }) => call = program(text),
            Some(Argument { text, .. }) => call = program(text),
            None => return Call::More,
        }
    }
    for text in sources {
        call = call.max(program(text));
    }
    if operands.all(is_operand) { call } else { call.max(Call::More) }
}

/// A program for awk, its texts and patterns taken out.
pub(super) fn program(text: &str) -> Call {
    static TEXTS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#""(?:[^"\\]|\\.)*"|(^|[({,!~&|;\s])/(?:[^/\\\n]|\\.)*/|#[^\n]*"#).ok()
    });
    static RUNS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"\b(system|getline|extension)\b|[^|]\|[^|]|^\||\||@|/inet").ok()
    });
    static WRITES: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"\bprintf?\b[^;}\n]*>|\b(close|fflush)\b").ok());
    // A file that is named in the program, below the working directory.
    static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#"^[^>]*>{1,2}\s*"[\w-][\w./-]*"\s*([;}\n][^>]*)?$|^[^>]*(close|fflush)[^>]*$"#)
            .ok()
    });
    let (Some(texts), Some(runs), Some(writes), Some(named)) =
        (TEXTS.as_ref(), RUNS.as_ref(), WRITES.as_ref(), NAMED.as_ref())
    else {
        return Call::Harms;
    };
    if text.contains("/inet/") {
        return Call::Harms;
    }
    let bare = texts.replace_all(text, "$1 _ ").replace("||", " ").replace(['\\', '\n'], " ");
    let writes = writes.is_match(&bare);
    if runs.is_match(&bare) || (writes && (!named.is_match(text) || text.contains("../"))) {
        Call::Harms
    } else if writes || bare.contains('"') || bare.contains(UNKNOWN) || text.contains("ENVIRON") {
        Call::More
    } else {
        Call::Reads
    }
}
