//! Words: quotes, expansions, braces and assignments.

use super::Word;
use super::parse::{Parsed, Parser};
use super::syntax::{OUTPUT, name_length, unknown};

// Unquoted braces and commas until brace expansion, which leaves quoted ones as they are.
const OPEN: char = '\u{E010}';
const COMMA: char = '\u{E011}';
const CLOSE: char = '\u{E012}';
/// Limit for braces in one word. With more of them its value is unknown.
const MAX_BRACES: usize = 12;
/// Limit for the words that one word expands to through braces.
const MAX_BRACE_WORDS: usize = 64;

impl Parser<'_> {
    /// Parses a word, and expands its braces into several words.
    pub(super) fn words(&mut self) -> Parsed<Vec<Word>> {
        let word = self.raw_word()?;
        let mut is_cut = false;
        let texts = expand(&word.text, MAX_BRACE_WORDS, &mut is_cut);
        if is_cut || texts.len() >= MAX_BRACE_WORDS {
            self.script.overflow = Some(word.span());
        }
        if texts.len() > 1 {
            self.script.bash_only = true;
        }
        Ok(texts.into_iter().map(|text| Word { text, ..word.clone() }).collect())
    }

    /// Parses a word without expanding its braces.
    pub(super) fn word(&mut self) -> Parsed<Word> {
        let mut word = self.raw_word()?;
        word.text = plain(&word.text);
        Ok(word)
    }

    fn raw_word(&mut self) -> Parsed<Word> {
        let start = self.position;
        let mut word = Word::default();
        while let Some(next) = self.peek() {
            match next {
                ' ' | '\t' | '\n' | ';' | '&' | '|' | ')' => break,
                '(' => {
                    // Brackets inside a word are allowed only in an extended glob.
                    if !word.text.ends_with(['?', '*', '+', '@', '!']) {
                        break;
                    }
                    word.glob = true;
                    self.skip_extended_glob()?;
                }
                '<' | '>' => {
                    if !self.rest().get(1..).is_some_and(|rest| rest.starts_with('(')) {
                        break;
                    }
                    self.script.bash_only = true;
                    self.position += 2;
                    let first = self.script.commands.len();
                    self.substitution(&mut word)?;
                    if next == '>' {
                        // The commands inside read what is written to the word.
                        self.set_input(first, 0..0);
                    }
                    word.text.insert(0, next);
                }
                '\\' => {
                    self.position += 1;
                    match self.bump() {
                        Some('\n') | None => {}
                        Some(escaped) => word.text.push(escaped),
                    }
                }
                '\'' => {
                    self.position += 1;
                    self.single_quoted(&mut word)?;
                }
                '"' => {
                    self.position += 1;
                    self.double_quoted(&mut word)?;
                }
                '$' => self.dollar_expansion(&mut word, false)?,
                '`' => self.backquote(&mut word)?,
                '{' | ',' | '}' => {
                    self.position += 1;
                    word.text.push(match next {
                        '{' => OPEN,
                        ',' => COMMA,
                        _ => CLOSE,
                    });
                }
                other => {
                    word.glob |= matches!(other, '*' | '?' | '[');
                    self.position += other.len_utf8();
                    word.text.push(other);
                }
            }
        }
        if self.position == start {
            return Err(self.error("no word where one is needed"));
        }
        word.span = start..self.position;
        Ok(word)
    }

    /// Skips the brackets of an extended glob.
    fn skip_extended_glob(&mut self) -> Parsed<()> {
        let mut open = 0_usize;
        while let Some(next) = self.bump() {
            match next {
                '(' => open += 1,
                ')' => open = open.saturating_sub(1),
                '\\' => {
                    self.bump();
                }
                '\n' => break,
                _ => {}
            }
            if open == 0 {
                return Ok(());
            }
        }
        Err(self.error("a pattern without its end"))
    }

    fn single_quoted(&mut self, word: &mut Word) -> Parsed<()> {
        let Some(end) = self.rest().find('\'') else {
            return Err(self.error("a quote without its end"));
        };
        word.text.push_str(self.rest().get(..end).unwrap_or_default());
        self.position += end + 1;
        Ok(())
    }

    pub(super) fn double_quoted(&mut self, word: &mut Word) -> Parsed<()> {
        loop {
            match self.peek() {
                None => return Err(self.error("a quote without its end")),
                Some('"') => {
                    self.position += 1;
                    return Ok(());
                }
                Some(_) => self.quoted_piece(word)?,
            }
        }
    }

    /// Parses one piece of a text in which only expansions are special, as in double quotes.
    pub(super) fn quoted_piece(&mut self, word: &mut Word) -> Parsed<()> {
        match self.peek() {
            Some('\\') => {
                self.position += 1;
                match self.bump() {
                    Some('\n') | None => {}
                    Some(next @ ('$' | '`' | '"' | '\\')) => word.text.push(next),
                    Some(next) => word.text.extend(['\\', next]),
                }
                Ok(())
            }
            Some('$') => self.dollar_expansion(word, true),
            Some('`') => self.backquote(word),
            Some(next) => {
                self.position += next.len_utf8();
                word.text.push(next);
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Parses a text in which only expansions are special to its end: a here-document with an unquoted delimiter, or
    /// arithmetic.
    pub(super) fn expanded_text(&mut self) -> Parsed<Word> {
        let mut word = Word::default();
        while self.peek().is_some() {
            self.quoted_piece(&mut word)?;
        }
        Ok(word)
    }

    /// Parses `NAME=value` or `NAME[subscript]=value`, also with `+=` or a list of values; `None` if none follows.
    pub(super) fn assignment(&mut self) -> Parsed<Option<Vec<(String, Word)>>> {
        let rest = self.rest();
        let end = name_length(rest);
        let name = rest.get(..end).unwrap_or_default().to_owned();
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            return Ok(None);
        }
        let mut after = rest.get(end..).unwrap_or_default();
        let mut subscript = None;
        if after.starts_with('[') {
            let Some(close) = closing(after) else { return Ok(None) };
            subscript = after.get(1..close);
            after = after.get(close + 1..).unwrap_or_default();
        }
        let Some(value) = after.strip_prefix("+=").or_else(|| after.strip_prefix('=')) else {
            return Ok(None);
        };
        let start = self.position;
        if let Some(subscript) = subscript {
            let from = start + name.len();
            self.nested_arithmetic(subscript, from..from + subscript.len() + 2)?;
        }
        self.position = self.source.len() - value.len();
        if self.take("(") {
            self.script.bash_only = true;
            let mut values = Vec::new();
            loop {
                self.skip_blanks();
                if self.take("\n") {
                    continue;
                }
                if self.take(")") {
                    return Ok(Some(values));
                }
                for word in self.words()? {
                    if let Some((subscript, _)) =
                        word.text.strip_prefix('[').and_then(|rest| rest.rsplit_once("]="))
                    {
                        let text = subscript.to_owned();
                        self.script.evaluated.push(Word { text, ..word.clone() });
                    }
                    values.push((name.clone(), word));
                }
            }
        }
        let ends = value.is_empty() || value.starts_with([' ', '\t', '\n', ';', '&', '|', ')']);
        let mut word = if ends { Word::default() } else { self.word()? };
        word.span = start..self.position;
        Ok(Some(vec![(name, word)]))
    }
}

/// The position of the closing bracket, skipping nested brackets and quotes; `None` if the word ends first.
fn closing(text: &str) -> Option<usize> {
    let mut open = 0_usize;
    let mut quote = None;
    let mut characters = text.char_indices();
    while let Some((index, next)) = characters.next() {
        match (quote, next) {
            (None | Some('"'), '\\') => {
                characters.next();
            }
            (Some(end), next) if end == next => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(next),
            (None, '[') => open += 1,
            (None, ']') => {
                open -= 1;
                if open == 0 {
                    return Some(index);
                }
            }
            (None, ' ' | '\t' | '\n' | ';' | '|' | '&') if !text.get(..index)?.contains('$') => {
                return None;
            }
            _ => {}
        }
    }
    None
}

/// The text with its marks replaced by braces and commas.
fn plain(text: &str) -> String {
    text.replace(OPEN, "{").replace(COMMA, ",").replace(CLOSE, "}")
}

/// Brace expansion of a text, into at most `most` texts; `is_cut` is set if texts are left out. A text with too many
/// braces gets an unknown part; so does a range such as `{1..9}`.
fn expand(text: &str, most: usize, is_cut: &mut bool) -> Vec<String> {
    if text.matches(OPEN).count() > MAX_BRACES {
        return vec![plain(text) + OUTPUT];
    }
    // The last opening brace contains no other one.
    let mut searched = text;
    while let Some(open) = searched.rfind(OPEN) {
        let (before, from) =
            (text.get(..open).unwrap_or_default(), text.get(open..).unwrap_or_default());
        if let Some(close) = from.find(CLOSE) {
            let inside = from.get(OPEN.len_utf8()..close).unwrap_or_default();
            let after = from.get(close + CLOSE.len_utf8()..).unwrap_or_default();
            if inside.contains(COMMA) {
                let parts: Vec<&str> = inside.split(COMMA).collect();
                let each = (most / parts.len().max(1)).max(1);
                *is_cut |= parts.len() > most;
                return parts
                    .iter()
                    .take(most)
                    .flat_map(|part| expand(&format!("{before}{part}{after}"), each, is_cut))
                    .filter(|text| !text.is_empty())
                    .collect();
            }
            if inside.contains("..") {
                return expand(&format!("{before}{}{after}", unknown("#")), most, is_cut);
            }
        }
        searched = before;
    }
    vec![plain(text)]
}
