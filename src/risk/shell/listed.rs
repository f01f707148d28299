//! Word lists: each is one text with single blanks between the words, in constants and in the table.

/// Whether a list contains a word.
pub(super) fn listed(list: &str, word: &str) -> bool {
    list.split(' ').any(|it| it == word)
}

/// Whether a list that is separated by any whitespace, such as a file of `assets/risk/words`, contains a word.
pub(super) fn listed_in(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|it| it == word)
}

/// Whether a text equals a pattern or, for a pattern that ends in `*`, starts with it.
pub(super) fn matches_wildcard(pattern: &str, text: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(head) => text.starts_with(head),
        None => pattern == text,
    }
}
