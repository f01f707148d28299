//! Closed lists of words. Each is one text with a blank between two words, as constants and the table hold them.

/// Whether a list holds a word.
pub(super) fn listed(list: &str, word: &str) -> bool {
    list.split(' ').any(|it| it == word)
}
