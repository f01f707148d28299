//! Words: quotes, expansions, braces and assignments.

use super::parse::{Parsed, Parser};
use super::syntax::{OUTPUT, Word, name_length, unknown};

const OPEN: char = '\u{E010}';
const COMMA: char = '\u{E011}';
const CLOSE: char = '\u{E012}';
/// Limit for braces in one word. With more of them its value is unknown.
const MAX_BRACES: usize = 12;
/// Limit for the words that one word expands to through braces.
const MAX_BRACE_WORDS: usize = 64;

impl Parser<'_> {
    /// A word after brace expansion.
    pub(super) fn words(&mut self) -> Parsed<Vec<Word>> {
        let word = self.raw_word()?;
        let texts = expand(&word.text, MAX_BRACE_WORDS);
        if texts.len() >= MAX_BRACE_WORDS {
            self.script.overflow = Some(word.span());
        }
        if texts.len() > 1 {
            self.script.bash_only = true;
        }
        Ok(texts.into_iter().map(|text| Word { text, ..word.clone() }).collect())
    }

    /// A word without brace expansion.
    pub(super) fn word(&mut self) -> Parsed<Word> {
        let mut word = self.raw_word()?;
        word.text = plain(&word.text);
        Ok(word)
    }

    fn raw_word(&mut self) -> Parsed<Word> {
        let start = self.at;
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
                    self.pattern()?;
                }
                '<' | '>' => {
                    if !self.rest().get(1..).is_some_and(|rest| rest.starts_with('(')) {
                        break;
                    }
                    self.script.bash_only = true;
                    self.at += 2;
                    let first = self.script.commands.len();
                    self.substitution(&mut word)?;
                    if next == '>' {
                        // The commands inside read what is written to the word.
                        self.feed(first, 0..0);
                    }
                    word.text.insert(0, next);
                }
                '\\' => {
                    self.at += 1;
                    match self.bump() {
                        Some('\n') | None => {}
                        Some(escaped) => word.text.push(escaped),
                    }
                }
                '\'' => {
                    self.at += 1;
                    self.single(&mut word)?;
                }
                '"' => {
                    self.at += 1;
                    self.double(&mut word)?;
                }
                '$' => self.dollar(&mut word, false)?,
                '`' => self.backquote(&mut word)?,
                '{' | ',' | '}' => {
                    self.at += 1;
                    word.text.push(match next {
                        '{' => OPEN,
                        ',' => COMMA,
                        _ => CLOSE,
                    });
                }
                other => {
                    word.glob |= matches!(other, '*' | '?' | '[');
                    self.at += other.len_utf8();
                    word.text.push(other);
                }
            }
        }
        if self.at == start {
            return Err(self.fault("no word where one is needed"));
        }
        word.span = start..self.at;
        Ok(word)
    }

    fn pattern(&mut self) -> Parsed<()> {
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
        Err(self.fault("a pattern without its end"))
    }

    fn single(&mut self, word: &mut Word) -> Parsed<()> {
        let Some(end) = self.rest().find('\'') else {
            return Err(self.fault("a quote without its end"));
        };
        word.text.push_str(self.rest().get(..end).unwrap_or_default());
        self.at += end + 1;
        Ok(())
    }

    pub(super) fn double(&mut self, word: &mut Word) -> Parsed<()> {
        loop {
            match self.peek() {
                None => return Err(self.fault("a quote without its end")),
                Some('"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(_) => self.quoted(word)?,
            }
        }
    }

    /// One piece of a text in which only expansions are special.
    pub(super) fn quoted(&mut self, word: &mut Word) -> Parsed<()> {
        match self.peek() {
            Some('\\') => {
                self.at += 1;
                match self.bump() {
                    Some('\n') | None => {}
                    Some(next @ ('$' | '`' | '"' | '\\')) => word.text.push(next),
                    Some(next) => word.text.extend(['\\', next]),
                }
                Ok(())
            }
            Some('$') => self.dollar(word, true),
            Some('`') => self.backquote(word),
            Some(next) => {
                self.at += next.len_utf8();
                word.text.push(next);
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// The text of a here-document with an unquoted delimiter.
    pub(super) fn expanded_text(&mut self) -> Parsed<Word> {
        let mut word = Word::default();
        while self.peek().is_some() {
            self.quoted(&mut word)?;
        }
        Ok(word)
    }

    /// `NAME=value`, if that follows.
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
        let start = self.at;
        if let Some(subscript) = subscript {
            let from = start + name.len();
            self.evaluated(subscript, from..from + subscript.len() + 2)?;
        }
        self.at = self.source.len() - value.len();
        if self.take("(") {
            self.script.bash_only = true;
            let mut values = Vec::new();
            loop {
                self.blanks();
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
        word.span = start..self.at;
        Ok(Some(vec![(name, word)]))
    }
}

/// The position of the closing bracket, skipping nested brackets and quotes.
fn closing(text: &str) -> Option<usize> {
    let mut open = 0_usize;
    let mut quote = None;
    let mut characters = text.char_indices();
    while let Some((at, next)) = characters.next() {
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
                    return Some(at);
                }
            }
            (None, ' ' | '\t' | '\n' | ';' | '|' | '&') if !text.get(..at)?.contains('$') => {
                return None;
            }
            _ => {}
        }
    }
    None
}

fn plain(text: &str) -> String {
    text.replace(OPEN, "{").replace(COMMA, ",").replace(CLOSE, "}")
}

/// Brace expansion of a text.
fn expand(text: &str, most: usize) -> Vec<String> {
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
                return parts
                    .iter()
                    .take(most)
                    .flat_map(|part| expand(&format!("{before}{part}{after}"), each))
                    .filter(|text| !text.is_empty())
                    .collect();
            }
            if inside.contains("..") {
                return expand(&format!("{before}{}{after}", unknown("#")), most);
            }
        }
        searched = before;
    }
    vec![plain(text)]
}
