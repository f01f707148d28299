//! `awk` programs that only select, compute and print.

use super::super::lazy_regex::LazyRegex;
use super::super::syntax::UNKNOWN;
use super::{CallEffect, ParsedArguments};

pub(super) fn effect(parsed: &ParsedArguments) -> CallEffect {
    let Some((scripts, effect)) = parsed.scripts(["e", "source"]) else {
        return CallEffect::Unlisted;
    };
    scripts.into_iter().map(program).fold(effect, CallEffect::max)
}

/// The effect of an awk program. The contents of its strings, patterns and comments are ignored.
pub(super) fn program(text: &str) -> CallEffect {
    static TEXTS: LazyRegex =
        LazyRegex::new(r#""(?:[^"\\]|\\.)*"|(^|[({,!~&|;\s])/(?:[^/\\\n]|\\.)*/|#[^\n]*"#);
    static RUNS: LazyRegex =
        LazyRegex::new(r"\b(system|getline|extension)\b|[^|]\|[^|]|^\||\||@|/inet");
    static WRITES: LazyRegex = LazyRegex::new(r"\bprintf?\b[^;}\n]*>|\b(close|fflush)\b");
    // Output to a literal file below the working folder.
    static NAMED: LazyRegex = LazyRegex::new(
        r#"^[^>]*>{1,2}\s*"[\w-][\w./-]*"\s*([;}\n][^>]*)?$|^[^>]*(close|fflush)[^>]*$"#,
    );
    if text.contains("/inet/") {
        return CallEffect::Harmful;
    }
    let bare = TEXTS.replace_all(text, "$1 _ ").replace("||", " ").replace(['\\', '\n'], " ");
    let writes = WRITES.is_match(&bare);
    if RUNS.is_match(&bare) || (writes && (!NAMED.is_match(text) || text.contains("../"))) {
        CallEffect::Harmful
    } else if writes || bare.contains('"') || bare.contains(UNKNOWN) || text.contains("ENVIRON") {
        CallEffect::Unlisted
    } else {
        CallEffect::ReadsOnly
    }
}
