//! A tokenizer for inline code: strings, numbers, names and punctuation.
//!
//! Syntax that the tokenizer could read differently from the language is refused: comments, other text that the
//! language skips, code inside strings and patterns, other quotes, escapes outside strings.

use super::hidden;
use super::language::{Language, skips_lines};
use super::tokens::{Token, name};
use crate::risk::shell::listed::listed;
use crate::risk::shell::syntax::name_length;

/// Words after which a slash starts a pattern.
const BEFORE_PATTERN: &str = "if unless and or not split grep while until";

/// Keywords of Ruby after which `%` starts a text.
const RUBY_WORDS: &str = "if unless and or not while until then do else elsif when case return in begin ensure rescue \
    break next end yield self";

/// Keywords of Python that a bracket may follow.
const PYTHON_WORDS: &str = "in and or not if else is for lambda";

/// The tokens of code; `None` for unsupported syntax, such as one of the refused symbols.
pub(super) fn tokens(code: &str, language: Language, refused: &[String]) -> Option<Vec<Token>> {
    // Some control characters end the code or a line.
    let control = |byte: u8| byte.is_ascii_control() && !matches!(byte, b'\n' | b'\t');
    if !code.is_ascii()
        || code.contains('`')
        || code.bytes().any(control)
        || code.contains("'''")
        || code.contains("\"\"\"")
        || code.lines().any(|line| skips_lines(line, language))
    {
        return None;
    }
    let mut lexer =
        Lexer { code, language, refused, position: 0, tokens: vec![], newlines: 0, depth: 0 };
    while let Some(byte) = lexer.byte(0) {
        let blank = byte.is_ascii_whitespace();
        if !blank && refused.iter().any(|it| lexer.rest().starts_with(it.as_str())) {
            return None;
        }
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'_' => lexer.name()?,
            b'0'..=b'9' => lexer.number()?,
            b'\'' | b'"' => lexer.text()?,
            b'/' => lexer.slash()?,
            b'\\' => return None,
            _ if blank => lexer.blank()?,
            _ => lexer.punctuation(byte)?,
        }
        if !blank {
            lexer.newlines = 0;
        }
    }
    Some(lexer.tokens)
}

struct Lexer<'a> {
    code: &'a str,
    language: Language,
    refused: &'a [String],
    position: usize,
    tokens: Vec<Token>,
    /// The number of newlines at the end of `tokens`.
    newlines: usize,
    /// Open round and square brackets.
    depth: usize,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        self.code.get(self.position..).unwrap_or_default()
    }

    fn byte(&self, distance: usize) -> Option<u8> {
        self.code.as_bytes().get(self.position + distance).copied()
    }

    /// The token at this distance before the current position. Newlines do not count.
    fn prev(&self, distance: usize) -> Option<&Token> {
        self.tokens.get(self.tokens.len().checked_sub(self.newlines + distance)?)
    }

    /// Whether the token at this distance before the current position is one of these characters.
    fn prev_punct(&self, distance: usize, wanted: &str) -> bool {
        matches!(self.prev(distance), Some(Token::Punct(sign)) if wanted.contains(*sign))
    }

    fn name(&mut self) -> Option<()> {
        let length = name_length(self.rest());
        let mut ident = self.rest().get(..length)?.to_owned();
        self.position += length;
        if self.language == Language::Ruby
            && self.byte(0) == Some(b'?')
            && !matches!(self.byte(1), Some(b' '))
        {
            // `?=` may also be a character.
            if self.byte(1) == Some(b'=') {
                return None;
            }
            ident.push('?');
            self.position += 1;
        }
        if matches!(self.byte(0), Some(b'\'' | b'"')) {
            match self.language {
                // The prefix of a text.
                Language::Python if matches!(ident.as_str(), "r" | "b" | "u" | "rb" | "br") => {
                    return Some(());
                }
                Language::Python if ident == "f" => {
                    let (text, end) = string(self.code, self.position, |_, _| Some(2))?;
                    self.tokens.push(Token::Text(String::new()));
                    self.tokens.append(&mut formatted(&text, self.refused)?);
                    self.position = end;
                    return Some(());
                }
                Language::Lua | Language::Ruby | Language::Php => {}
                _ => return None,
            }
        }
        self.tokens.push(Token::Name(ident));
        Some(())
    }

    fn number(&mut self) -> Option<()> {
        let rest = self.rest();
        let part = |it: u8| it.is_ascii_digit() || matches!(it, b'.' | b'_');
        let mut length = rest.bytes().take_while(|it| part(*it)).count();
        if rest.get(..length)?.contains("..") {
            length = rest.find("..")?;
        }
        let mut number = rest.get(..length)?.replace('_', "");
        self.position += length;
        let radix = match self.byte(0) {
            Some(b'x') => 16,
            Some(b'o') => 8,
            Some(b'b') => 2,
            _ => 10,
        };
        let mut value = None;
        if let Some(tail) = self.rest().strip_prefix(['e', 'E']) {
            let digits = tail.bytes().take_while(u8::is_ascii_digit).count();
            number = format!("{number}e{}", tail.get(..digits)?);
            self.position += 1 + digits;
        } else if number == "0" && radix != 10 {
            let tail = self.rest().get(1..)?;
            let length = tail.bytes().take_while(u8::is_ascii_alphanumeric).count();
            let digits = tail.get(..length)?;
            #[expect(clippy::cast_precision_loss, reason = "only the size matters")]
            let large = u64::from_str_radix(digits, radix).ok()? as f64;
            value = Some(large);
            self.position += 1 + length;
        }
        // A name directly after a number could be part of the number in one language and an attribute in another.
        if self.byte(0).is_some_and(|it| it.is_ascii_alphanumeric() || it == b'_') {
            return None;
        }
        self.tokens.push(Token::Number(match value {
            Some(value) => value,
            None => number.parse().ok()?,
        }));
        Some(())
    }

    fn text(&mut self) -> Option<()> {
        let double = self.byte(0) == Some(b'"');
        // After a value, a single quote in Julia is the adjoint operator.
        let ends = matches!(self.tokens.last(), Some(Token::Number(_) | Token::Text(_)))
            || matches!(self.tokens.last(), Some(Token::Punct(')' | ']' | '}')));
        if self.language == Language::Julia && !double && ends {
            return None;
        }
        let (text, end) = string(self.code, self.position, |_, _| Some(2))?;
        if hidden::in_text(&text, double, self.language) {
            return None;
        }
        self.tokens.push(Token::Text(text));
        self.position = end;
        Some(())
    }

    /// A pattern or a division.
    fn slash(&mut self) -> Option<()> {
        if self.starts_pattern() {
            return self.pattern();
        }
        let divides = match self.language {
            Language::Python | Language::Lua | Language::Php => true,
            // After these the operator itself is the value.
            Language::R | Language::Julia => !self.prev_punct(1, "(,~"),
            Language::JavaScript => {
                let value = matches!(self.prev(1), Some(Token::Name(_) | Token::Punct(')')));
                let single = value && self.newlines == 0 && !self.rest().get(1..)?.contains('/');
                single || self.after_number()
            }
            Language::Ruby | Language::Perl => self.after_number(),
        };
        if !divides {
            return None;
        }
        self.tokens.push(Token::Punct('/'));
        self.position += 1;
        Some(())
    }

    fn after_number(&self) -> bool {
        matches!(self.tokens.last(), Some(Token::Number(_)))
    }

    fn starts_pattern(&self) -> bool {
        match self.language {
            Language::Python | Language::Lua | Language::Php | Language::R | Language::Julia => {
                false
            }
            Language::JavaScript => self.newlines == 0 && self.prev_punct(1, "(,~"),
            // After a sigil, the word or the character is the name of a variable.
            Language::Perl => {
                let word = name(self.prev(1)).is_some_and(|it| listed(BEFORE_PATTERN, it));
                self.prev(1).is_none()
                    || !self.prev_punct(2, "$@%*&") && (word || self.prev_punct(1, "(,;~"))
            }
            Language::Ruby => {
                let method = self.prev_punct(2, ".:") || name(self.prev(2)) == Some("def");
                match self.prev(1) {
                    _ if self.newlines > 0 => false,
                    Some(Token::Punct('~')) => {
                        let called = self.prev_punct(3, ".:") || name(self.prev(3)) == Some("def");
                        self.prev_punct(2, "=!") && !called
                    }
                    Some(Token::Punct('(' | ',')) => !self.prev_punct(2, ":"),
                    // A method, unless blanks make it a division.
                    Some(Token::Name(ident)) if matches!(ident.as_str(), "split" | "grep") => {
                        let before = self.code.get(..self.position).unwrap_or_default();
                        let after = self.byte(1).unwrap_or(b' ');
                        self.prev_punct(2, ".")
                            && before.ends_with(' ')
                            && !after.is_ascii_whitespace()
                            && after != b'='
                    }
                    Some(Token::Name(ident)) => !method && listed(BEFORE_PATTERN, ident),
                    _ => false,
                }
            }
        }
    }

    fn pattern(&mut self) -> Option<()> {
        let length = self.rest().get(1..)?.find('/')?;
        let text = self.rest().get(1..=length)?;
        if hidden::in_pattern(text, self.language) {
            return None;
        }
        self.position += length + 2;
        self.position += self.rest().bytes().take_while(|it| b"gimx".contains(it)).count();
        if self.byte(0).is_some_and(|it| it.is_ascii_alphabetic()) {
            return None;
        }
        self.tokens.push(Token::Text(text.to_owned()));
        Some(())
    }

    fn blank(&mut self) -> Option<()> {
        if self.byte(0) == Some(b'\n') {
            if self.is_continued() {
                return None;
            }
            self.tokens.push(Token::Punct(';'));
            self.newlines += 1;
        }
        self.position += 1;
        Some(())
    }

    /// Whether a statement continues after this newline in a way that the rules for adjacent tokens would miss.
    fn is_continued(&self) -> bool {
        if self.prev_punct(1, ".") {
            return true;
        }
        let value = matches!(
            self.prev(1),
            Some(Token::Name(_) | Token::Text(_) | Token::Number(_) | Token::Punct(')' | ']'))
        );
        let js = self.language == Language::JavaScript;
        let bracketed = match self.language {
            Language::JavaScript | Language::Lua => value,
            Language::Php => value || self.prev_punct(1, "}"),
            Language::Python => {
                let word = name(self.prev(1)).is_some_and(|it| listed(PYTHON_WORDS, it));
                value && !word && self.depth > 0
            }
            Language::R | Language::Julia => value && self.depth > 0,
            Language::Ruby | Language::Perl => false,
        };
        match self.rest().trim_start().bytes().next() {
            Some(b'[') if js && self.prev_punct(1, "{") => true,
            Some(b'(' | b'[') => bracketed,
            Some(b'=') => value,
            Some(b':') => js && matches!(self.prev(1), Some(Token::Text(_) | Token::Punct(']'))),
            _ => false,
        }
    }

    fn punctuation(&mut self, byte: u8) -> Option<()> {
        let sign = char::from(byte);
        let next = self.byte(1).unwrap_or(b' ');
        // Characters that start comments, other kinds of quotes or names.
        let quotes = match (sign, self.language) {
            ('#', Language::Lua) => false,
            ('#', _) => true,
            ('$', Language::Perl) => matches!(next, b'\'' | b'"' | b'{' | b'(' | b'$' | b'@'),
            ('$', Language::Php) => matches!(next, b'\'' | b'"' | b'{' | b'(' | b'$'),
            ('$', Language::R) => !next.is_ascii_alphabetic(),
            ('$', _) => true,
            ('@', Language::JavaScript) => true,
            ('@', _) => matches!(next, b'\'' | b'"' | b'{'),
            ('?', Language::Ruby) => next != b' ',
            // Where a value is expected, `%` and any character, even a blank, start a quote.
            ('%', Language::Ruby) => {
                let value = match self.prev(1) {
                    _ if self.newlines > 0 => false,
                    Some(Token::Name(ident)) => !listed(RUBY_WORDS, ident),
                    Some(Token::Text(_) | Token::Number(_) | Token::Punct(')' | ']')) => true,
                    _ => false,
                };
                !self.rest().starts_with("% ") || !value
            }
            _ => false,
        };
        if quotes {
            return None;
        }
        match sign {
            '(' | '[' => self.depth += 1,
            ')' | ']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        self.tokens.push(Token::Punct(sign));
        self.position += 1;
        Some(())
    }
}

/// The content of a string that starts at a quote, and the index after it. `escape` gives the length of an escape
/// sequence by its quote and its second byte; `None` if it is not supported.
pub(super) fn string(
    code: &str,
    start: usize,
    escape: impl Fn(u8, u8) -> Option<usize>,
) -> Option<(String, usize)> {
    let bytes = code.as_bytes();
    let quote = *bytes.get(start)?;
    let mut end = start + 1;
    loop {
        match *bytes.get(end)? {
            b'\\' => end += escape(quote, *bytes.get(end + 1)?)?,
            b'\n' => return None,
            byte if byte == quote => return Some((code.get(start + 1..end)?.to_owned(), end + 1)),
            _ => end += 1,
        }
    }
}

/// The tokens of the code inside the braces of a formatted string; `None` for unsupported syntax.
fn formatted(text: &str, refused: &[String]) -> Option<Vec<Token>> {
    let text = text.replace("{{", "").replace("}}", "");
    let mut found = Vec::new();
    for (index, part) in text.split('{').enumerate() {
        if index == 0 {
            if part.contains('}') {
                return None;
            }
            continue;
        }
        let (code, after) = part.split_once('}')?;
        if after.contains('}') || code.contains(['\\', '{']) {
            return None;
        }
        let code = code.trim_end_matches("!r").trim_end_matches("!s").trim_end_matches('=');
        let code = match code.split_once(':') {
            Some((head, format))
                if format
                    .bytes()
                    .all(|it| it.is_ascii_alphanumeric() || b"<>^+-.,_% :/".contains(&it)) =>
            {
                head
            }
            Some(_) => return None,
            None => code,
        };
        found.push(Token::Punct('('));
        found.append(&mut tokens(code, Language::Python, refused)?);
        found.push(Token::Punct(')'));
    }
    Some(found)
}

#[cfg(test)]
mod tests;
