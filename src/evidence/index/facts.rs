//! The facts of an execution as words of the index: its tool, outcome, files and so on. A filter is then one more word
//! of the search, and the index answers words and filters in one pass. Pure.

use sha2::{Digest as _, Sha256};

use crate::plan::Digest;

/// The character with which every fact begins. It is a letter for the index and is replaced in all other texts, so that
/// no text contains a fact by chance.
pub(in crate::evidence) const MARK: char = '\u{e000}';

/// The maximum length of a value that is written out, in bytes; longer ones are represented by their digest.
const MAX_VALUE: usize = 200;

/// What a fact is about. Values are compared without regard to the case of ASCII letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::evidence) enum Fact {
    Outcome,
    Tool,
    Risk,
    Host,
    Plan,
    Run,
    Loop,
    /// A person or a place that decided.
    By,
    /// The code of a diagnostic or of the error.
    Code,
}

impl Fact {
    fn letter(self) -> char {
        match self {
            Self::Outcome => 'o',
            Self::Tool => 't',
            Self::Risk => 'r',
            Self::Host => 'h',
            Self::Plan => 'n',
            Self::Run => 'u',
            Self::Loop => 'l',
            Self::By => 'b',
            Self::Code => 'c',
        }
    }

    /// The fact with this value as one word.
    pub(in crate::evidence) fn word(self, value: &str) -> String {
        let mut word = format!("{MARK}{}", self.letter());
        if value.len() > MAX_VALUE {
            let digest = Digest::from_bytes(Sha256::digest(value.to_ascii_lowercase()).into());
            word.push(MARK);
            word.push_str(&digest.hex());
            return word;
        }
        for c in value.chars() {
            match c {
                c if c.is_ascii_alphanumeric() => word.push(c.to_ascii_lowercase()),
                // Between marks, so that it cannot be confused with letters and digits.
                c => word.push_str(&format!("{MARK}{:x}{MARK}", u32::from(c))),
            }
        }
        word
    }
}

/// The word that every execution has.
pub(in crate::evidence) fn any() -> String {
    format!("{MARK}a")
}

/// The word between two texts of an execution, so that no phrase begins in one and ends in the other.
pub(super) fn separator() -> String {
    format!("{MARK}s")
}

/// How an execution is related to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::evidence) enum FileFact {
    Touched,
    Wrote,
}

impl FileFact {
    fn letters(self) -> (char, char) {
        match self {
            Self::Touched => ('f', 'p'),
            Self::Wrote => ('w', 'q'),
        }
    }

    /// The word that an execution has if there is any such file.
    pub(in crate::evidence) fn any(self) -> String {
        format!("{MARK}{}", self.letters().0)
    }

    /// The words of a path, in its order, separated by spaces; empty if it has neither letters nor digits.
    pub(in crate::evidence) fn words(self, path: &str) -> String {
        let words = path.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let words: Vec<_> = words.map(|word| format!("{MARK}{}{word}", self.letters().1)).collect();
        words.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_values_are_different_words() {
        let words = ["a-b", "a_b", "ab", "a2db", "é", "e", "", "-"].map(|it| Fact::Code.word(it));
        let different: std::collections::BTreeSet<_> = words.iter().collect();
        assert_eq!(different.len(), words.len(), "{words:?}");
        assert_eq!(Fact::Code.word("E0425"), Fact::Code.word("e0425"));
        assert_ne!(Fact::Code.word("x"), Fact::Tool.word("x"));
        let long = "x".repeat(MAX_VALUE + 1);
        assert!(Fact::Plan.word(&long).len() < MAX_VALUE);
        assert_ne!(Fact::Plan.word(&long), Fact::Plan.word(&format!("{long}y")));
    }
}
