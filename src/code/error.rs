//! Why a source text could not be read or changed.

use std::fmt;

use super::Definition;

/// An error of the code engine, with the details that are needed to fix it (SPEC §6, E104 and E310).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CodeError {
    /// The text is larger than the engine accepts.
    #[error("it has {bytes} bytes, and the engine reads at most {limit}")]
    TooLarge {
        /// The size of the text in bytes.
        bytes: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// Parsing would exceed a limit of the engine. Limits count operations, not time.
    #[error("it takes more than {limit} {what}, the limit of the engine for one text")]
    TooMany {
        /// The counted operations, for the message.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
    /// Parsing this text and those before it would exceed the limit of a review.
    #[error(
        "this text and those parsed before it take more than {limit} parser steps, the limit for one review"
    )]
    TooManyInReview {
        /// The limit.
        limit: u64,
    },
    /// The user stopped the operation.
    #[error("parsing was stopped")]
    Stopped,
    /// The text has a syntax error.
    #[error("{what} does not parse as {language}: line {line}, column {column}")]
    Syntax {
        /// The text with the error.
        what: ParsedText,
        /// The language's name.
        language: &'static str,
        /// Line of the error, from 1.
        line: usize,
        /// Column of the error in bytes, from 1.
        column: usize,
    },
    /// No definition matches the symbol.
    #[error("no definition of {symbol}{}", hint.as_ref().map_or_else(String::new, |hint| format!(": {hint}")))]
    NotFound {
        /// The symbol in the request.
        symbol: String,
        /// A suggestion, if there is one.
        hint: Option<String>,
    },
    /// Several definitions match the symbol.
    #[error("{symbol} is defined {} times: {}", candidates.len(), list(candidates))]
    Ambiguous {
        /// The symbol in the request.
        symbol: String,
        /// All matches, in text order.
        candidates: Vec<Definition>,
    },
    /// One statement defines this symbol and others, which replacing it would remove.
    #[error("{symbol} is defined in one statement with {others}; replace the file's text instead")]
    Shared {
        /// The symbol in the request.
        symbol: String,
        /// The other symbols.
        others: String,
    },
    /// The kind of definition is unknown.
    #[error("{kind} is no kind of definition; known: {known}")]
    UnknownKind {
        /// The kind in the request.
        kind: String,
        /// The known kinds.
        known: String,
    },
    /// The replacement contains no code.
    #[error("the replacement holds no code")]
    EmptyReplacement,
}

/// Which text of a replacement has a syntax error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParsedText {
    /// The file before the replacement.
    File,
    /// The file after it.
    Result,
}

impl fmt::Display for ParsedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::File => "the file",
            Self::Result => "the result",
        })
    }
}

/// Lists candidates with kind and line.
fn list(candidates: &[Definition]) -> String {
    const MAX_LISTED: usize = 8;
    let mut items: Vec<_> = candidates
        .iter()
        .take(MAX_LISTED)
        .map(|it| format!("{} {} (line {})", it.kind.as_str(), it.fqn, it.span.start_line))
        .collect();
    if let Some(more) = candidates.len().checked_sub(MAX_LISTED).filter(|more| *more > 0) {
        items.push(format!("and {more} more"));
    }
    items.join(", ")
}
