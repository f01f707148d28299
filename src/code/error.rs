//! Why a source text could not be read or changed.

use super::symbol::Definition;

/// Most steps of the parser for one text: a token, or a rule that is complete. Sources that people write take one
/// step for one to two bytes of them.
pub(super) const PARSER_STEPS: u64 = 1_000_000;

/// What is wrong, with what a person needs to put it right (SPEC §6, E104 and E310).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CodeError {
    /// The text is larger than the engine reads.
    #[error("it has {bytes} bytes, and the engine reads at most {limit}")]
    TooLarge {
        /// Its size in bytes.
        bytes: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// Reading it would take more than the engine does for one text. Counts decide, never a clock.
    #[error("it takes more than {limit} {what}, the most that the engine does for one text")]
    TooMany {
        /// What is counted.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
    /// Reading was asked to stop by a person.
    #[error("reading it was stopped")]
    Stopped,
    /// The text does not follow the grammar.
    #[error("{what} does not parse as {language}: line {line}, column {column}")]
    Syntax {
        /// Which text: the file, the replacement, or the result.
        what: &'static str,
        /// The language's name.
        language: &'static str,
        /// Line of the first fault, from 1.
        line: usize,
        /// Column of the first fault in bytes, from 1.
        column: usize,
    },
    /// Nothing defines this symbol.
    #[error("no definition of {symbol}{}", hint.as_ref().map_or_else(String::new, |hint| format!(": {hint}")))]
    NotFound {
        /// The symbol as it was asked for.
        symbol: String,
        /// What is there instead, when something is.
        hint: Option<String>,
    },
    /// More than one definition has this name.
    #[error("{symbol} is defined {} times: {}", candidates.len(), list(candidates))]
    Ambiguous {
        /// The symbol as it was asked for.
        symbol: String,
        /// All that match, in the order of the text.
        candidates: Vec<Definition>,
    },
    /// One statement defines this and something else; replacing it would take both away.
    #[error("{symbol} is defined in one statement with {others}; replace the file's text instead")]
    Shared {
        /// The symbol as it was asked for.
        symbol: String,
        /// What else the statement defines.
        others: String,
    },
    /// There is no such kind of definition.
    #[error("{kind} is no kind of definition; known: {known}")]
    UnknownKind {
        /// The kind as it was asked for.
        kind: String,
        /// The words that are accepted.
        known: String,
    },
    /// The replacement has no code in it.
    #[error("the replacement holds no code")]
    EmptyReplacement,
}

impl CodeError {
    /// How many steps of the parser it takes to find this, at most.
    pub fn steps(&self) -> u64 {
        match self {
            Self::TooMany { .. } => PARSER_STEPS,
            _ => 0,
        }
    }
}

/// Candidates as a person can tell them apart.
fn list(candidates: &[Definition]) -> String {
    const SHOWN: usize = 8;
    let mut words: Vec<_> = candidates
        .iter()
        .take(SHOWN)
        .map(|it| format!("{} {} (line {})", it.kind.as_str(), it.fqn, it.span.start_line))
        .collect();
    if let Some(more) = candidates.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        words.push(format!("and {more} more"));
    }
    words.join(", ")
}
