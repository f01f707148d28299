//! `sed` scripts: those that only select, replace and print, as opposed to those that run and write.

use super::super::syntax::{END, UNKNOWN};
use super::{CallEffect, ParsedArguments};

pub(super) fn effect(parsed: &ParsedArguments) -> CallEffect {
    let Some((scripts, effect)) = parsed.scripts(["e", "expression"]) else {
        return CallEffect::Unlisted;
    };
    effect.max(script(&scripts.join("\n")))
}

/// The effect of a script.
pub(super) fn script(text: &str) -> CallEffect {
    if text.contains(UNKNOWN) {
        // An unknown part is usually a number in an address, but could contain any command. The script counts as
        // harmful only if it is harmful with a number, with a word and with an empty text in place of that part.
        let harms = |value: &str| script(&with_values(text, value)) == CallEffect::Harmful;
        return if harms("1") && harms("x") && harms("") {
            CallEffect::Harmful
        } else {
            CallEffect::Unlisted
        };
    }
    let mut reader =
        ScriptParser { rest: text.chars().collect(), position: 0, effect: CallEffect::ReadsOnly };
    match reader.commands() {
        Some(()) => reader.effect,
        None => CallEffect::Harmful,
    }
}

/// Replaces all unknown parts by one value.
fn with_values(text: &str, value: &str) -> String {
    let mut parts = text.split(UNKNOWN);
    let mut known = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        known.push_str(value);
        known.push_str(part.split_once(END).map_or("", |(_, rest)| rest));
    }
    known
}

struct ScriptParser {
    rest: Vec<char>,
    position: usize,
    effect: CallEffect,
}

impl ScriptParser {
    fn peek(&self) -> Option<char> {
        self.rest.get(self.position).copied()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek();
        self.position += 1;
        next
    }

    fn skip(&mut self, these: &str) {
        self.skip_while(|next| these.contains(next));
    }

    fn skip_while(&mut self, skips: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&skips) {
            self.position += 1;
        }
    }

    fn digits(&mut self) -> bool {
        let before = self.position;
        self.skip("0123456789");
        self.position > before
    }

    /// Skips a text and its closing delimiter.
    fn delimited(&mut self, end: char) -> Option<()> {
        loop {
            match self.next()? {
                '\\' => {
                    self.next()?;
                }
                // Inside a bracket expression the delimiter is an ordinary character.
                '[' if end != '[' => self.bracket(end),
                next if next == end => return Some(()),
                _ => {}
            }
        }
    }

    /// Skips a bracket expression. An opening bracket without a closing one is an ordinary character.
    fn bracket(&mut self, delimiter: char) {
        let mut index = self.position;
        if self.rest.get(index) == Some(&'^') {
            index += 1;
        }
        if self.rest.get(index) == Some(&']') {
            index += 1;
        }
        while let Some(next) = self.rest.get(index) {
            match next {
                ']' => {
                    let inside = self.rest.get(self.position..index).unwrap_or_default();
                    // Implementations differ on where such a pattern ends.
                    if inside.contains(&delimiter) {
                        self.effect = self.effect.max(CallEffect::Unlisted);
                    }
                    self.position = index + 1;
                    return;
                }
                '\n' => return,
                _ => index += 1,
            }
        }
    }

    /// Skips an address. Returns whether there is one; `None` for an unknown form.
    fn address(&mut self) -> Option<bool> {
        match self.peek() {
            Some('$') => {
                self.position += 1;
            }
            Some('0'..='9') => {
                self.digits();
                if self.peek() == Some('~') {
                    self.position += 1;
                    self.digits();
                }
            }
            Some('/') => {
                self.position += 1;
                self.delimited('/')?;
                self.skip("IM");
            }
            Some('\\') => {
                self.position += 1;
                let end = self.next()?;
                self.delimited(end)?;
                self.skip("IM");
            }
            Some('+' | '~') => {
                self.position += 1;
                if !self.digits() {
                    return None;
                }
            }
            _ => return Some(false),
        }
        Some(true)
    }

    /// Checks every command; `None` if one runs or writes something, or is not known.
    fn commands(&mut self) -> Option<()> {
        let mut open = 0_usize;
        loop {
            self.skip(" \t\n;");
            if self.peek().is_none() {
                return (open == 0).then_some(());
            }
            if self.address()? {
                self.skip(" \t");
                if self.peek() == Some(',') {
                    self.position += 1;
                    self.skip(" \t");
                    if !self.address()? {
                        return None;
                    }
                }
            }
            self.skip(" \t!");
            match self.next()? {
                '{' => {
                    open += 1;
                    continue;
                }
                '}' => open = open.checked_sub(1)?,
                '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z'
                | 'F' => {}
                'q' | 'Q' | 'l' | 'L' => {
                    self.skip(" \t");
                    self.digits();
                }
                '#' => {
                    self.line();
                    continue;
                }
                ':' | 'b' | 't' | 'T' => {
                    self.skip_while(|next| !matches!(next, '\n' | ';' | '}'));
                }
                'a' | 'i' | 'c' => {
                    self.text();
                    continue;
                }
                's' => {
                    self.replacement()?;
                    self.skip("gpiIMm0123456789");
                }
                'y' => self.replacement()?,
                // These commands read a file that the script names, and not an operand.
                'r' | 'R' => {
                    self.effect = self.effect.max(CallEffect::Unlisted);
                    self.line();
                    continue;
                }
                _ => return None,
            }
            self.skip(" \t");
            if self.peek().is_some_and(|next| !matches!(next, '\n' | ';' | '}' | '#')) {
                return None;
            }
        }
    }

    fn line(&mut self) {
        self.skip_while(|next| next != '\n');
    }

    /// Skips the text of `a`, `i` and `c`, which a backslash continues.
    fn text(&mut self) {
        while let Some(next) = self.next() {
            match next {
                '\\' => {
                    self.next();
                }
                '\n' => return,
                _ => {}
            }
        }
    }

    /// Skips a pattern and its replacement.
    fn replacement(&mut self) -> Option<()> {
        let end = self.next().filter(|end| !matches!(end, '\n' | '\\'))?;
        self.delimited(end)?;
        self.delimited(end)
    }
}
