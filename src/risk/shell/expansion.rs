//! What begins with `$` or a backquote, and the brackets of arithmetic and conditions.

use super::parse::{Parser, Read, parse};
use super::syntax::{END, UNKNOWN, Word};

impl Parser<'_> {
    pub(super) fn dollar(&mut self, word: &mut Word, quoted: bool) -> Read<()> {
        self.at += 1;
        match self.peek() {
            Some('\'') if !quoted => {
                self.at += 1;
                self.script.bash_only = true;
                self.ansi_c(word)
            }
            Some('"') if !quoted => {
                self.at += 1;
                self.double(word)
            }
            Some('(') => {
                if self.rest().starts_with("((") && self.arithmetic_follows() {
                    self.at += 2;
                    mark(word, "#");
                    return self.arithmetic("))");
                }
                self.at += 1;
                self.substitution(word)
            }
            Some('{') => {
                self.at += 1;
                self.parameter(word)
            }
            Some(next) if next.is_ascii_alphabetic() || next == '_' => {
                let rest = self.rest();
                let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
                let name = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
                self.at += name.len();
                mark(word, name);
                Ok(())
            }
            Some(next) if next.is_ascii_digit() || "@*#?$!-".contains(next) => {
                self.at += 1;
                mark(word, &next.to_string());
                Ok(())
            }
            _ => {
                word.text.push('$');
                Ok(())
            }
        }
    }

    /// `$(..)` or `<(..)` after its opening.
    pub(super) fn substitution(&mut self, word: &mut Word) -> Read<()> {
        let first = self.script.commands.len();
        self.deeper(Self::list)?;
        if !self.take(")") {
            return Err(self.fault("a substitution without its end"));
        }
        self.ran(word, first);
        Ok(())
    }

    pub(super) fn ran(&self, word: &mut Word, first: usize) {
        word.text.extend([UNKNOWN, END]);
        let start = word.inner.as_ref().map_or(first, |inner| inner.start);
        word.inner = Some(start..self.script.commands.len());
    }

    pub(super) fn backquote(&mut self, word: &mut Word) -> Read<()> {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            match self.bump() {
                None => return Err(self.fault("a backquote without its end")),
                Some('`') => break,
                Some('\\') => match self.bump() {
                    Some(next @ ('`' | '\\' | '$')) => text.push(next),
                    Some(next) => text.extend(['\\', next]),
                    None => {}
                },
                Some(next) => text.push(next),
            }
        }
        let first = self.script.commands.len();
        let depth = self.depth;
        let nested = self.deeper(|_| parse(&text, depth + 1))?;
        self.adopt(nested, start..self.at);
        self.ran(word, first);
        Ok(())
    }

    /// `${..}` after its opening.
    pub(super) fn parameter(&mut self, word: &mut Word) -> Read<()> {
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let name = rest.get(..end.unwrap_or(0)).unwrap_or_default().to_owned();
        let mut inside = Word::default();
        self.deeper(|parser| {
            loop {
                match parser.peek() {
                    None => return Err(parser.fault("a parameter without its end")),
                    Some('}') => {
                        parser.at += 1;
                        return Ok(());
                    }
                    Some('\'') => {
                        // Inside double quotes a single quote is a plain character.
                        parser.at += 1;
                        if let Some(end) = parser.rest().find('\'') {
                            let close = parser.rest().find('}').unwrap_or(usize::MAX);
                            if end < close {
                                parser.at += end + 1;
                            }
                        }
                    }
                    Some('"') => {
                        parser.at += 1;
                        parser.double(&mut inside)?;
                    }
                    Some(_) => parser.quoted(&mut inside)?,
                }
            }
        })?;
        if let Some(rest) = rest.get(name.len()..)
            && (rest.starts_with(":=") || rest.starts_with('='))
        {
            self.script.loops.push((name.clone(), Vec::new()));
        }
        mark(word, &name);
        if inside.inner.is_some() {
            word.inner = inside.inner;
        }
        Ok(())
    }

    pub(super) fn ansi_c(&mut self, word: &mut Word) -> Read<()> {
        loop {
            match self.bump() {
                None => return Err(self.fault("a quote without its end")),
                Some('\'') => return Ok(()),
                Some('\\') => {
                    let Some(kind) = self.bump() else { continue };
                    let (digits, radix) = match kind {
                        'x' => (2, 16),
                        'u' => (4, 16),
                        'U' => (8, 16),
                        '0'..='7' => {
                            self.at -= 1;
                            (3, 8)
                        }
                        _ => {
                            word.text.push(match kind {
                                'n' => '\n',
                                't' => '\t',
                                'r' => '\r',
                                'e' | 'E' => '\u{1b}',
                                other => other,
                            });
                            continue;
                        }
                    };
                    let rest = self.rest();
                    let length =
                        rest.chars().take(digits).take_while(|c| c.is_digit(radix)).count();
                    let code = u32::from_str_radix(rest.get(..length).unwrap_or("0"), radix);
                    self.at += length;
                    word.escaped = true;
                    word.text.push(code.ok().and_then(char::from_u32).unwrap_or('\u{FFFD}'));
                }
                Some(next) => word.text.push(next),
            }
        }
    }

    /// Whether two opening brackets begin arithmetic and not two groups.
    pub(super) fn arithmetic_follows(&self) -> bool {
        let mut open = 0_i32;
        let mut characters = self.rest().char_indices().peekable();
        while let Some((_, next)) = characters.next() {
            match next {
                '(' => open += 1,
                ')' => {
                    open -= 1;
                    if open == 1 {
                        return characters.peek().is_some_and(|(_, after)| *after == ')');
                    }
                }
                '\n' if open < 2 => return false,
                _ => {}
            }
        }
        false
    }

    pub(super) fn arithmetic(&mut self, end: &str) -> Read<()> {
        let mut open = 0_usize;
        let mut ignored = Word::default();
        loop {
            if open == 0 && self.take(end) {
                return Ok(());
            }
            match self.peek() {
                None => return Err(self.fault("arithmetic without its end")),
                Some('(') => {
                    open += 1;
                    self.at += 1;
                }
                Some(')') => {
                    open = open.saturating_sub(1);
                    self.at += 1;
                }
                Some('"') => {
                    self.at += 1;
                }
                Some(_) => self.quoted(&mut ignored)?,
            }
        }
    }

    /// `[[ .. ]]` after its opening.
    pub(super) fn condition(&mut self) -> Read<()> {
        loop {
            self.blanks();
            if self.take("]]") {
                return Ok(());
            }
            match self.peek() {
                None => return Err(self.fault("a condition without its end")),
                Some('\n' | '&' | '|' | '(' | ')' | '<' | '>' | ';') => {
                    self.at += 1;
                }
                Some(_) => {
                    self.word()?;
                }
            }
        }
    }
}

fn mark(word: &mut Word, name: &str) {
    word.text.push(UNKNOWN);
    word.text.push_str(name);
    word.text.push(END);
}
