//! A tokenizer for inline code: strings, numbers, names and punctuation.
//!
//! Syntax that the tokenizer could read differently from the language is refused: comments, other text that the
//! language skips, code inside strings and patterns, other quotes, escapes outside strings.

use super::hidden;
use super::language::{Language, refused_symbols, skips_lines};
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

/// The tokens of code; `None` for unsupported syntax.
pub(super) fn tokens(code: &str, language: Language) -> Option<Vec<Token>> {
    lex(code, language, refused_symbols(language))
}

fn lex(code: &str, language: Language, refused: &[&str]) -> Option<Vec<Token>> {
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
    let mut lexer = Lexer { code, language, position: 0, tokens: vec![], newlines: 0, depth: 0 };
    while let Some(byte) = lexer.byte(0) {
        let blank = byte.is_ascii_whitespace();
        if !blank && refused.iter().any(|it| lexer.rest().starts_with(it)) {
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
                    self.tokens.append(&mut formatted(&text)?);
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
fn formatted(text: &str) -> Option<Vec<Token>> {
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
        found.append(&mut tokens(code, Language::Python)?);
        found.push(Token::Punct(')'));
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LANGUAGES: [Language; 8] = [
        Language::Python,
        Language::JavaScript,
        Language::Lua,
        Language::Ruby,
        Language::Php,
        Language::Perl,
        Language::R,
        Language::Julia,
    ];

    /// Code with one refused symbol and no other one.
    fn sample(language: Language, refused: &str) -> &'static str {
        match (language, refused) {
            (Language::Lua, "--") => "a = 1 -- b",
            (Language::Lua, "[[") => "print([[a]])",
            (Language::Lua, "[=") => "print([=a=])",
            (Language::R, "%") => "a %in% b",
            (Language::Julia, "@") => "@show a",
            (Language::JavaScript, "/*") => "1/*a",
            (Language::JavaScript, "<!--") => "a <!-- b",
            (Language::JavaScript, "-->") => "a --> b",
            (Language::Ruby, "<<") => "a <<A",
            (Language::Ruby, "::") => "A::B",
            (Language::Php, "//") => "echo 1; // a",
            (Language::Php, "/*") => "echo 1; /* a",
            (Language::Php, "<<") => "echo <<A",
            (Language::Php, "?>") => "echo 1; ?> a",
            (Language::Php, "->") => "$a->b",
            (Language::Php, "::") => "A::b",
            (Language::Php, "{$") => "if (1) {$a = 1; }",
            (Language::Perl, "<") => "print <F>",
            (Language::Perl, "->") => "$a->b",
            (Language::Perl, "::") => "A::b",
            (Language::Perl, "*{") => "*{b}",
            (Language::Perl, "&") => "&b",
            _ => panic!("no sample for {language:?} {refused}"),
        }
    }

    // An entry that never matches would look like a check.
    #[test]
    fn every_refused_sign_is_needed() {
        for language in LANGUAGES {
            for entry in refused_symbols(language) {
                let code = sample(language, entry);
                let others: Vec<&str> =
                    refused_symbols(language).iter().copied().filter(|it| it != entry).collect();
                assert_eq!(tokens(code, language), None, "{language:?} {entry}");
                assert!(lex(code, language, &others).is_some(), "{language:?} {entry}");
            }
        }
    }

    #[test]
    fn numbers_in_other_bases_have_their_value() {
        for (code, value) in
            [("0x7fffffff", 2_147_483_647.0), ("0b101", 5.0), ("0o17", 15.0), ("1_000", 1000.0)]
        {
            assert_eq!(tokens(code, Language::Python), Some(vec![Token::Number(value)]), "{code}");
        }
        for code in ["0x", "0b2", "0x1or", "1if", "5.times"] {
            assert_eq!(tokens(code, Language::Ruby), None, "{code}");
        }
    }

    #[test]
    fn slashes_are_read_as_the_language_does() {
        let texts = |code: &str, language: Language| {
            let all = tokens(code, language)?;
            let only = all.into_iter().filter_map(|it| match it {
                Token::Text(text) => Some(text),
                _ => None,
            });
            Some(only.collect::<Vec<_>>())
        };
        for (code, language) in [
            ("print if /a+/", Language::Perl),
            ("print split /a+/", Language::Perl),
            ("$a =~ /a+/", Language::Perl),
            ("f(/a+/)", Language::Perl),
            ("f(/a+/)", Language::JavaScript),
            ("a.split /a+/", Language::Ruby),
            ("puts 1 if /a+/", Language::Ruby),
        ] {
            assert_eq!(texts(code, language), Some(vec!["a+".to_owned()]), "{code}");
        }
        for (code, language) in [
            ("print 1\n/2;b;1/3", Language::Perl),
            ("print $if /2;b;1/3", Language::Perl),
            ("print $;/2;b;1/3", Language::Perl),
            ("split /2;b;1/3", Language::Ruby),
            ("a.split/2;b;1/3", Language::Ruby),
            ("a.split / 2;b;1/3", Language::Ruby),
            ("a.if /2;b;1/3", Language::Ruby),
            ("puts :=~/2;b;1/3", Language::Ruby),
            ("f(// a\n)", Language::JavaScript),
            ("f(/[/,],/,b,/1/)", Language::JavaScript),
            ("reduce(/,[1]);b;reduce(/,[1])", Language::Julia),
            ("f(/,1/)", Language::R),
        ] {
            assert_eq!(texts(code, language), None, "{code}");
        }
    }

    #[test]
    fn skipped_lines_are_refused() {
        for (code, language) in [
            ("a\n=begin\nb\n=end\n", Language::Ruby),
            ("a\n__END__\nb", Language::Ruby),
            ("a\n=pod\nb\n=cut\n", Language::Perl),
            ("a\n=head1\nb\n=cut\n", Language::Perl),
            ("a\n\u{4}\nb", Language::Ruby),
            ("a\n\u{1a}\nb", Language::Perl),
            ("a = 1\r b", Language::Python),
        ] {
            assert_eq!(tokens(code, language), None, "{code:?}");
        }
    }

    #[test]
    fn continued_lines_are_refused() {
        for (code, language) in [
            ("f\n[b]", Language::JavaScript),
            ("f\n(b)", Language::Php),
            ("f\n(b)", Language::Lua),
            ("(f\n(b))", Language::Python),
            ("(f\n(b))", Language::R),
            ("(f.\nb)", Language::Python),
            ("f.b\n= c", Language::JavaScript),
            ("{\n[b]: c}", Language::JavaScript),
            ("{'b'\n: c}", Language::JavaScript),
        ] {
            assert_eq!(tokens(code, language), None, "{code:?}");
        }
        for (code, language) in [
            ("f\n(b)", Language::Python),
            ("f\n[b]", Language::Ruby),
            ("f(\n[b],\n(c))", Language::Python),
            ("f()\n.b()", Language::JavaScript),
        ] {
            assert!(tokens(code, language).is_some(), "{code:?}");
        }
    }

    #[test]
    fn quotes_that_depend_on_their_place_are_refused() {
        for (code, language) in [
            ("[1]'; b; [1]'", Language::Julia),
            ("1'; b; 1'", Language::Julia),
            ("puts(% \" ); b; puts(% \" )", Language::Ruby),
            ("x if % a ", Language::Ruby),
            ("$@ b", Language::Perl),
            ("puts ?a", Language::Ruby),
        ] {
            assert_eq!(tokens(code, language), None, "{code}");
        }
        assert!(tokens("puts 7 % 3", Language::Ruby).is_some());
    }
}
