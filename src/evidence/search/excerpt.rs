//! Finds the words of a search in a text, and cuts an excerpt around the first match. Pure.
//!
//! Words are those of the index: letters and digits of any script, without regard to case and accents.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use super::words::Term;

/// The number of characters before the first match from which a long line is cut.
const LEAD: usize = 28;
/// The maximum number of characters of the excerpt from the first match on.
const LENGTH: usize = 200;

/// The words and phrases that are marked.
pub struct Patterns(Vec<Pattern>);

struct Pattern {
    /// The folded words; never empty.
    words: Vec<String>,
    /// Whether the last one is the beginning of a word.
    is_prefix: bool,
}

impl Patterns {
    /// Those of the terms that must occur.
    pub fn of(terms: &[Term]) -> Self {
        let patterns = terms.iter().filter(|term| !term.is_excluded).map(|term| Pattern {
            words: Tokens::of(&term.text).map(|at| folded(&term.text[at])).collect(),
            is_prefix: term.is_prefix,
        });
        Self(patterns.filter(|pattern| !pattern.words.is_empty()).collect())
    }

    /// Whether nothing is marked.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One line around the first match and the ranges of the matches in it; `None` without a match. White space becomes
    /// one space. Text far before and after the first match is cut, so that the match is visible in a long line.
    pub fn excerpt(&self, text: &str) -> Option<(String, Vec<Range<usize>>)> {
        let mut tokens = Tokens::of(text);
        let first = loop {
            let here = tokens.clone();
            let token = tokens.next()?;
            if self.match_at(text, here).is_some() {
                break token.start;
            }
        };
        let line = text[..first].rfind('\n').map_or(0, |end| end + 1);
        let line = line + (text[line..].len() - text[line..].trim_start().len());
        let line = line.min(first);
        let before = text[line..first].char_indices().rev().nth(LEAD - 1);
        let start = before.map_or(line, |(index, _)| line + index);
        let end = text[first..].find('\n').map_or(text.len(), |end| first + end);
        let cut = text[first..end].char_indices().nth(LENGTH).map(|(index, _)| first + index);
        let cut_end = cut.unwrap_or(end);
        let mut plain = String::new();
        if start > line {
            plain.push('…');
        }
        let (mut marks, mut at) = (Vec::new(), start);
        // Matches are found in the whole text, but begin in the excerpt.
        let mut tokens = Tokens { text, at: first };
        loop {
            let here = tokens.clone();
            let Some(token) = tokens.next().filter(|token| token.start < cut_end) else { break };
            let Some(end) = self.match_at(text, here) else { continue };
            let end = end.min(cut_end);
            push_line(&mut plain, &text[at..token.start]);
            let from = plain.len();
            push_line(&mut plain, &text[token.start..end]);
            marks.push(from..plain.len());
            at = end;
            tokens = Tokens { text, at: end };
        }
        push_line(&mut plain, &text[at..cut_end]);
        let length = plain.trim_end().len();
        plain.truncate(length);
        if cut.is_some() {
            plain.push('…');
        }
        Some((plain, marks))
    }

    /// The end of the longest match that begins with the next token.
    fn match_at(&self, text: &str, tokens: Tokens<'_>) -> Option<usize> {
        self.0.iter().filter_map(|pattern| pattern.match_at(text, tokens.clone())).max()
    }
}

impl Pattern {
    fn match_at(&self, text: &str, mut tokens: Tokens<'_>) -> Option<usize> {
        let mut end = None;
        for (n, word) in self.words.iter().enumerate() {
            let at = tokens.next()?;
            let is_prefix = self.is_prefix && n + 1 == self.words.len();
            if !is_word(&text[at.clone()], word, is_prefix) {
                return None;
            }
            end = Some(at.end);
        }
        end
    }
}

/// Whether a token is this folded word or, for a prefix, begins with it.
fn is_word(token: &str, word: &str, is_prefix: bool) -> bool {
    if token.is_ascii() {
        let (token, word) = (token.as_bytes(), word.as_bytes());
        let token = if is_prefix { token.get(..word.len()) } else { Some(token) };
        return token.is_some_and(|token| token.eq_ignore_ascii_case(word));
    }
    let folded = folded(token);
    if is_prefix { folded.starts_with(word) } else { folded == word }
}

/// A word without case and accents.
fn folded(word: &str) -> String {
    if word.is_ascii() {
        return word.to_ascii_lowercase();
    }
    word.nfd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase).collect()
}

/// Appends a part of a line, with one space in place of white space.
fn push_line(plain: &mut String, part: &str) {
    for c in part.chars() {
        match c {
            c if c.is_whitespace() => {
                if !plain.ends_with(' ') {
                    plain.push(' ');
                }
            }
            c => plain.push(c),
        }
    }
}

/// The places of the words of a text.
#[derive(Clone)]
struct Tokens<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Tokens<'t> {
    fn of(text: &'t str) -> Self {
        Self { text, at: 0 }
    }
}

impl Iterator for Tokens<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.text.get(self.at..)?;
        let start = self.at + rest.find(char::is_alphanumeric)?;
        let is_other = |c: char| !c.is_alphanumeric() && !is_combining_mark(c);
        let rest = self.text.get(start..)?;
        let end = start + rest.find(is_other).unwrap_or(rest.len());
        self.at = end;
        Some(start..end)
    }
}

#[cfg(test)]
mod tests {
    use super::super::words::terms;
    use super::*;

    fn excerpt(words: &str, text: &str) -> Option<(String, Vec<String>)> {
        let (plain, marks) = Patterns::of(&terms(words)).excerpt(text)?;
        let marks = marks.into_iter().map(|mark| plain[mark].to_owned()).collect();
        Some((plain, marks))
    }

    #[test]
    fn words_are_marked_in_their_line() {
        let text = "first\n\t The  Müller-widget; mu\u{308}ll WIDGETS\nlast widget";
        let (plain, marks) = excerpt("muller widget", text).unwrap();
        assert_eq!(plain, "The Müller-widget; mu\u{308}ll WIDGETS");
        assert_eq!(marks, ["Müller", "widget", "WIDGETS"]);
        assert_eq!(excerpt("\"muller widget\"", text).unwrap().1, ["Müller-widget"]);
        assert_eq!(excerpt("mull", text).unwrap().1, ["Müller", "mu\u{308}ll"]);
        assert_eq!(excerpt("\"widget muller\"", text), None);
        assert_eq!(excerpt("-widget", text), None);
    }

    #[test]
    fn a_long_line_is_cut_around_the_match() {
        let text = format!("{} heron {}", "é ".repeat(500), "ü ".repeat(500));
        let (plain, marks) = excerpt("heron", &text).unwrap();
        assert!(plain.starts_with("…") && plain.ends_with("…"), "{plain}");
        assert!(plain.find("heron").unwrap() < 3 * LEAD + 3 && plain.chars().count() < 240);
        assert_eq!(marks, ["heron"]);
    }

    // The next line is not shown.
    #[test]
    fn a_phrase_over_two_lines_is_marked_to_the_end_of_its_line() {
        let (plain, marks) = excerpt("\"one two\"", "say one\ntwo three").unwrap();
        assert_eq!((plain.as_str(), marks), ("say one", vec!["one".to_owned()]));
    }
}
