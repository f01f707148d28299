//! The words of a search: what a person types, of which nothing is a syntax error. Pure.

/// A word or a phrase of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// The text without its signs; it has a letter or a digit.
    pub text: String,
    /// Whether the last word of the text is only the beginning of a word.
    pub is_prefix: bool,
    /// Whether the text must not occur.
    pub is_excluded: bool,
}

impl Term {
    /// The words of the text: letters and digits of any script.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
    }
}

/// The words and quoted phrases of a text. A `-` before a word or phrase excludes it; a `*` after a word makes it the
/// beginning of one, as the last word is, which may still be typed. Signs alone are no words.
pub fn terms(text: &str) -> Vec<Term> {
    let mut terms = Vec::new();
    let mut excludes_next = false;
    for (n, piece) in text.split('"').enumerate() {
        if n % 2 == 1 {
            let is_excluded = std::mem::take(&mut excludes_next);
            terms.push((Term { text: piece.to_owned(), is_prefix: false, is_excluded }, false));
            continue;
        }
        let mut words: Vec<_> = piece.split_whitespace().collect();
        // The sign of the phrase that follows.
        excludes_next = piece.ends_with('-') && words.last() == Some(&"-");
        if excludes_next {
            words.pop();
        }
        terms.extend(words.into_iter().map(|word| (bare(word), true)));
    }
    let is_word = |text: &str| text.chars().any(char::is_alphanumeric);
    terms.retain(|(term, _)| is_word(&term.text));
    if let Some((last, true)) = terms.last_mut() {
        last.is_prefix |= !last.is_excluded;
    }
    terms.into_iter().map(|(term, _)| term).collect()
}

/// A word outside of quotation marks.
fn bare(word: &str) -> Term {
    let excluded = word.strip_prefix('-').filter(|it| it.starts_with(char::is_alphanumeric));
    let text = excluded.unwrap_or(word);
    let beginning = text.strip_suffix('*').filter(|it| it.ends_with(char::is_alphanumeric));
    Term {
        text: beginning.unwrap_or(text).to_owned(),
        is_prefix: beginning.is_some(),
        is_excluded: excluded.is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> Vec<String> {
        let sign = |is: bool, sign| if is { sign } else { "" };
        let write = |it: Term| {
            format!("{}{}{}", sign(it.is_excluded, "-"), it.text, sign(it.is_prefix, "*"))
        };
        terms(text).into_iter().map(write).collect()
    }

    #[test]
    fn signs_exclude_and_shorten_words() {
        assert_eq!(written("one two"), ["one", "two*"]);
        assert_eq!(written("on* \"two words\""), ["on*", "two words"]);
        assert_eq!(written("-one two -thr* -\"a b\""), ["-one", "two", "-thr*", "-a b"]);
        assert_eq!(written("x -one"), ["x", "-one"]);
    }

    #[test]
    fn other_signs_are_text() {
        assert_eq!(written("--locked a-b - x"), ["--locked", "a-b", "x*"]);
        assert_eq!(written("!! * -* - \"\" -"), Vec::<String>::new());
        assert_eq!(written("a**"), ["a***"]);
        assert_eq!(written("\"open"), ["open"]);
        assert_eq!(written("x- \"y z\""), ["x-", "y z"]);
    }
}
