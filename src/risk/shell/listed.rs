//! Closed lists of words. Each is one text with a blank between two words, as constants and the table hold them.

/// Whether a list holds a word.
pub(super) fn listed(list: &str, word: &str) -> bool {
    list.split(' ').any(|it| it == word)
}

/// Whether a text is a word of a list, which may end in `*`.
pub(super) fn wild(pattern: &str, text: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(head) => text.starts_with(head),
        None => pattern == text,
    }
}
