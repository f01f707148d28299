//! Expansions after `$` or a backquote, arithmetic and conditions.

use super::Word;
use super::parse::{Parsed, Parser, parse};
use super::syntax::name_length;

impl Parser<'_> {
    pub(super) fn dollar_expansion(&mut self, word: &mut Word, quoted: bool) -> Parsed<()> {
        self.position += 1;
        match self.peek() {
            Some('\'') if !quoted => {
                self.position += 1;
                self.script.bash_only = true;
                self.ansi_c(word)
            }
            Some('"') if !quoted => {
                self.position += 1;
                self.double_quoted(word)
            }
            Some('(') => {
                if self.rest().starts_with("((") && self.arithmetic_follows() {
                    self.position += 2;
                    word.mark("#");
                    return self.arithmetic("))");
                }
                self.position += 1;
                self.substitution(word)
            }
            Some('{') => {
                self.position += 1;
                self.parameter(word)
            }
            // `$[..]`, the old syntax for arithmetic.
            Some('[') => {
                self.position += 1;
                self.script.bash_only = true;
                word.mark("#");
                self.arithmetic("]")
            }
            Some(next) if next.is_ascii_alphabetic() || next == '_' => {
                let rest = self.rest();
                let name = rest.get(..name_length(rest)).unwrap_or_default();
                self.position += name.len();
                word.mark(name);
                Ok(())
            }
            Some(next) if next.is_ascii_digit() || "@*#?$!-".contains(next) => {
                self.position += 1;
                word.mark(&next.to_string());
                Ok(())
            }
            _ => {
                word.text.push('$');
                Ok(())
            }
        }
    }

    /// Parses `$(..)` or `<(..)`, after the opening parenthesis.
    pub(super) fn substitution(&mut self, word: &mut Word) -> Parsed<()> {
        let first = self.script.commands.len();
        self.nested(Self::list)?;
        self.require(")", "a substitution without its end")?;
        self.mark_output(word, first);
        Ok(())
    }

    /// Appends the output of the commands from `first` on as an unknown part.
    pub(super) fn mark_output(&self, word: &mut Word, first: usize) {
        word.mark("");
        let start = word.inner.as_ref().map_or(first, |inner| inner.start);
        word.inner = Some(start..self.script.commands.len());
    }

    pub(super) fn backquote(&mut self, word: &mut Word) -> Parsed<()> {
        let start = self.position;
        self.position += 1;
        let mut text = String::new();
        loop {
            match self.bump() {
                None => return Err(self.error("a backquote without its end")),
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
        let nested = self.nested(|_| parse(&text, depth + 1))?;
        self.merge_nested(nested, start..self.position);
        self.mark_output(word, first);
        Ok(())
    }

    /// Parses `${..}`, after the opening brace.
    pub(super) fn parameter(&mut self, word: &mut Word) -> Parsed<()> {
        let start = self.position;
        if self.peek().is_some_and(|next| next.is_whitespace() || next == '|') {
            return Err(self.error("a substitution that only some versions of bash know"));
        }
        let rest = self.rest();
        let name = rest.get(..name_length(rest)).unwrap_or_default().to_owned();
        let mut inside = Word::default();
        self.nested(|parser| {
            loop {
                match parser.peek() {
                    None => return Err(parser.error("a parameter without its end")),
                    Some('}') => {
                        parser.position += 1;
                        return Ok(());
                    }
                    Some('\'') => {
                        // Whether the expansion is inside double quotes, where a single quote is ordinary, is not known
                        // here. It counts as a quote only if it is closed before the next `}`.
                        parser.position += 1;
                        if let Some(end) = parser.rest().find('\'') {
                            let close = parser.rest().find('}').unwrap_or(usize::MAX);
                            if end < close {
                                inside.text.push_str(parser.rest().get(..end).unwrap_or_default());
                                parser.position += end + 1;
                            }
                        }
                    }
                    Some('"') => {
                        parser.position += 1;
                        parser.double_quoted(&mut inside)?;
                    }
                    Some(_) => parser.quoted_piece(&mut inside)?,
                }
            }
        })?;
        // An assignment is recorded like a loop variable whose values are unknown.
        if let Some(rest) = rest.get(name.len()..)
            && (rest.starts_with(":=") || rest.starts_with('='))
        {
            self.script.loops.push((name.clone(), Vec::new()));
        }
        if let Some(again) = evaluated_part(&inside.text) {
            let span = start..self.position;
            let inner = inside.inner.clone();
            self.script.evaluated.push(Word { text: again, span, inner, ..Word::default() });
        }
        // After `/`, `^`, `,` or `@`, the result is not the value of the variable.
        let rewrites = inside
            .text
            .strip_prefix(&name)
            .is_some_and(|rest| !name.is_empty() && rest.starts_with(['/', '^', ',', '@']));
        word.mark(if rewrites { "+" } else { &name });
        if inside.inner.is_some() {
            word.inner = inside.inner;
        }
        Ok(())
    }

    /// Parses a text that bash evaluates as arithmetic, and records the word as evaluated.
    pub(super) fn nested_arithmetic(
        &mut self,
        text: &str,
        span: std::ops::Range<usize>,
    ) -> Parsed<()> {
        if self.depth >= MAX_TEXT_DEPTH {
            return Err(self.error("nested too deep"));
        }
        let word = self.nested_text(text, span)?;
        self.script.evaluated.push(word);
        Ok(())
    }

    /// Parses `$'..'`, after the opening quote.
    pub(super) fn ansi_c(&mut self, word: &mut Word) -> Parsed<()> {
        loop {
            match self.bump() {
                None => return Err(self.error("a quote without its end")),
                Some('\'') => return Ok(()),
                Some('\\') => {
                    let Some(kind) = self.bump() else { continue };
                    let (digits, radix) = match kind {
                        'x' => (2, 16),
                        'u' => (4, 16),
                        'U' => (8, 16),
                        '0'..='7' => {
                            self.position -= 1;
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
                    self.position += length;
                    word.escaped = true;
                    word.text.push(code.ok().and_then(char::from_u32).unwrap_or('\u{FFFD}'));
                }
                Some(next) => word.text.push(next),
            }
        }
    }

    /// Whether `((` starts arithmetic, rather than two nested subshells.
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

    /// Parses arithmetic up to and including `end`, and records the expression as evaluated.
    pub(super) fn arithmetic(&mut self, end: &str) -> Parsed<()> {
        let (mut round, mut square) = (0_usize, 0_usize);
        let mut content = Word::default();
        let start = self.position;
        loop {
            if round == 0 && square == 0 && self.take(end) {
                content.span = start..self.position;
                self.script.evaluated.push(content);
                return Ok(());
            }
            match self.peek() {
                None => return Err(self.error("arithmetic without its end")),
                Some(next @ ('(' | ')' | '[' | ']')) => {
                    match next {
                        '(' => round += 1,
                        ')' => round = round.saturating_sub(1),
                        '[' => square += 1,
                        _ => square = square.saturating_sub(1),
                    }
                    content.text.push(next);
                    self.position += 1;
                }
                Some('"') => {
                    self.position += 1;
                }
                Some(_) => self.quoted_piece(&mut content)?,
            }
        }
    }

    /// Parses `[[ .. ]]`, after the opening brackets.
    pub(super) fn condition(&mut self) -> Parsed<()> {
        const NUMBERS: [&str; 6] = ["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];
        let mut words: Vec<Word> = Vec::new();
        loop {
            self.skip_blanks();
            if self.take("]]") {
                break;
            }
            match self.peek() {
                None => return Err(self.error("a condition without its end")),
                Some('\n' | '&' | '|' | '(' | ')' | '<' | '>' | ';') => {
                    self.position += 1;
                }
                Some(_) => words.push(self.word()?),
            }
        }
        for (index, word) in words.iter().enumerate() {
            let is = |index: Option<usize>, names: &[&str]| {
                index
                    .and_then(|index| words.get(index))
                    .is_some_and(|it| names.contains(&it.text.as_str()))
            };
            let before = index.checked_sub(1);
            let number = is(before, &NUMBERS) || is(Some(index + 1), &NUMBERS);
            let variable = is(before, &["-v", "-R"]);
            if number || variable {
                let mut word = word.clone();
                if variable {
                    // `v ` marks a variable name, of which bash evaluates only the subscript.
                    word.text.insert_str(0, "v ");
                }
                self.script.evaluated.push(word);
            }
        }
        Ok(())
    }
}

/// Maximum nesting depth of text that is parsed again because bash evaluates it as arithmetic. It is below
/// `parse::MAX_DEPTH`, which leaves some levels for the expansions in that text.
const MAX_TEXT_DEPTH: usize = 40;

/// The part inside `${..}` that bash evaluates again, if any.
fn evaluated_part(text: &str) -> Option<String> {
    if let Some(name) = text.strip_prefix('!') {
        // `v ` marks a variable name, of which bash evaluates only the subscript.
        let lists = name.ends_with(['@', '*']) || name.ends_with("[@]") || name.ends_with("[*]");
        return (!lists && !name.is_empty()).then(|| format!("v {name}"));
    }
    let text = text.strip_prefix('#').unwrap_or(text);
    let end = name_length(text).max(usize::from(text.starts_with(['@', '*'])));
    let mut rest = text.get(end..)?;
    let mut again = String::new();
    if let Some(inside) = rest.strip_prefix('[') {
        let close = inside.find(']').unwrap_or(inside.len());
        let subscript = inside.get(..close).unwrap_or_default();
        if !matches!(subscript, "@" | "*") {
            again.push_str(subscript);
        }
        rest = inside.get(close + 1..).unwrap_or_default();
        // If the subscript itself contains a bracket, the whole rest is treated as evaluated.
        if rest.contains(']') {
            again = inside.to_owned();
        }
    }
    if let Some(slice) = rest.strip_prefix(':')
        && !slice.starts_with(['-', '=', '?', '+'])
    {
        again.push(' ');
        again.push_str(slice);
    }
    if rest == "@P" {
        // `${x@P}` expands the value as a prompt string, which runs command substitutions in it. The placeholder
        // stands for such a command.
        again.push_str("$(prompt)");
    }
    (!again.is_empty()).then_some(again)
}
