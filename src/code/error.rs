//! Why a source text could not be read or changed.

use super::symbol::Definition;

/// Limit for parser steps on one text, a step being a token or a completed rule. Ordinary sources take one step per
/// one or two bytes.
pub(super) const PARSER_STEPS: u64 = 1_000_000;

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
        /// The text with the error: the file or the result.
        what: &'static str,
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

impl CodeError {
    /// The parser steps to count for a text that could not be parsed: [`PARSER_STEPS`] if it reached any limit of the
    /// parser, else 0.
    pub fn steps(&self) -> u64 {
        match self {
            Self::TooMany { .. } | Self::TooManyInReview { .. } => PARSER_STEPS,
            _ => 0,
        }
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
