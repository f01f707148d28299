//! A tokenizer for inline code: strings, numbers, names and signs.
//!
//! Syntax that the tokenizer could read differently from the language is refused: comments, code inside strings,
//! other quotes, escapes outside strings.

use crate::risk::shell::syntax::name_length;

/// A token.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Name(String),
    Text(String),
    Number(f64),
    Sign(char),
}

/// Whether a token is this sign.
pub(super) fn sign(token: Option<&Token>, wanted: char) -> bool {
    matches!(token, Some(Token::Sign(sign)) if *sign == wanted)
}

/// The text of a name token.
pub(super) fn name(token: Option<&Token>) -> Option<&str> {
    match token {
        Some(Token::Name(name)) => Some(name),
        _ => None,
    }
}

/// A token and its neighbours. Distances are negative before the token.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    pub(super) all: &'a [Token],
    pub(super) at: usize,
}

/// A cursor on each token.
pub(super) fn cursors(all: &[Token]) -> impl Iterator<Item = Cursor<'_>> {
    (0..all.len()).map(move |at| Cursor { all, at })
}

impl<'a> Cursor<'a> {
    pub(super) fn get(self, distance: isize) -> Option<&'a Token> {
        self.all.get(self.at.checked_add_signed(distance)?)
    }

    /// Whether the token is one of these signs.
    pub(super) fn sign(self, distance: isize, wanted: &str) -> bool {
        matches!(self.get(distance), Some(Token::Sign(sign)) if wanted.contains(*sign))
    }

    pub(super) fn name(self, distance: isize) -> Option<&'a str> {
        name(self.get(distance))
    }

    pub(super) fn text(self, distance: isize) -> Option<&'a str> {
        match self.get(distance) {
            Some(Token::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Whether `=` follows, but not `==`.
    pub(super) fn is_assigned(self) -> bool {
        self.sign(1, "=") && !self.sign(2, "=")
    }

    /// Whether it follows a dot, but not two.
    pub(super) fn is_attribute(self) -> bool {
        self.sign(-1, ".") && !self.sign(-2, ".")
    }

    /// Whether it follows a text or a closing bracket.
    pub(super) fn follows_value(self) -> bool {
        self.text(-1).is_some() || self.sign(-1, ")]")
    }
}

/// Words after which a slash starts a pattern.
const BEFORE_PATTERN: [&str; 9] =
    ["if", "unless", "and", "or", "not", "split", "grep", "while", "until"];

/// The tokens of code; `None` for unsupported syntax.
pub(super) fn tokens(code: &str, language: &str) -> Option<Vec<Token>> {
    if !code.is_ascii()
        || code.contains(['`', '\0'])
        || code.contains("'''")
        || code.contains("\"\"\"")
    {
        return None;
    }
    let (perl, lua) = (language == "perl", language == "lua");
    let refused: &[&str] = match language {
        "python" => &["#", "\\\n"],
        "lua" => &["--", "[[", "[="],
        "r" => &["#", "%"],
        "julia" => &["#", "@"],
        "javascript" => &["//", "/*", "<!--", "-->", "#"],
        "ruby" => &["#", "<<", "::", "=begin", "__END__", "?'", "?\""],
        "php" => &["#", "//", "/*", "<<", "?>", "->", "::", "${", "{$"],
        _ => &["#", "<", "->", "::", "(?{", "(??{", "@{", "${", "*{", "&", "__", "=pod", "=cut"],
    };
    let bytes = code.as_bytes();
    let mut found: Vec<Token> = Vec::new();
    let mut bare = String::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let rest = code.get(at..)?;
        let previous = found.last();
        if byte.is_ascii_alphabetic() || *byte == b'_' {
            let length = name_length(rest);
            let mut name = rest.get(..length)?.to_owned();
            at += length;
            if language == "ruby"
                && code.get(at..).is_some_and(|it| it.starts_with("?") && !it.starts_with("? "))
            {
                name.push('?');
                at += 1;
            }
            let quoted = code.get(at..).is_some_and(|it| it.starts_with(['\'', '"']));
            if quoted
                && language == "python"
                && matches!(name.as_str(), "r" | "b" | "u" | "rb" | "br")
            {
                continue;
            }
            if quoted && language == "python" && name == "f" {
                let (text, end) = string(code, at, |_, _| Some(2))?;
                let mut inside = formatted(&text)?;
                found.push(Token::Text(String::new()));
                found.append(&mut inside);
                at = end;
                continue;
            }
            if quoted && !matches!(language, "lua" | "ruby" | "php") {
                return None;
            }
            bare.push('x');
            found.push(Token::Name(name));
        } else if byte.is_ascii_digit() {
            let length = rest
                .bytes()
                .take_while(|it| it.is_ascii_digit() || matches!(it, b'.' | b'_'))
                .count();
            let length = if rest.get(..length)?.contains("..") { rest.find("..")? } else { length };
            let mut number = rest.get(..length)?.replace('_', "");
            at += length;
            if let Some(tail) = code.get(at..).and_then(|it| it.strip_prefix(['e', 'E'])) {
                let digits = tail.bytes().take_while(u8::is_ascii_digit).count();
                number = format!("{number}e{}", tail.get(..digits)?);
                at += 1 + digits;
            } else if number == "0" && code.get(at..)?.starts_with(['x', 'b', 'o']) {
                at += 1 + code.get(at + 1..)?.bytes().take_while(u8::is_ascii_alphanumeric).count();
            }
            bare.push('0');
            found.push(Token::Number(number.parse().ok()?));
        } else if matches!(byte, b'\'' | b'"') {
            let (text, end) = string(code, at, |_, _| Some(2))?;
            let double = *byte == b'"';
            let hidden = match language {
                "ruby" => double && (text.contains('#')),
                "julia" => text.contains('$'),
                "php" => double && (text.contains("${") || text.contains("{$")),
                "perl" => {
                    double
                        && (text.contains(['@', '`'])
                            || text.contains("${")
                            || text.contains("ENV"))
                }
                _ => false,
            };
            if hidden {
                return None;
            }
            bare.push(' ');
            found.push(Token::Text(text));
            at = end;
        } else if *byte == b'/' && !matches!(language, "python" | "lua" | "php") {
            let pattern = match previous {
                None => perl,
                Some(Token::Sign(sign)) => {
                    matches!(sign, '(' | ',' | ';' | '~') && (perl || *sign != ';')
                }
                Some(Token::Name(name)) => {
                    (perl || language == "ruby") && BEFORE_PATTERN.contains(&name.as_str())
                }
                _ => false,
            };
            if pattern {
                let length = rest.get(1..)?.find('/')?;
                let text = rest.get(1..=length)?;
                if text.contains(['\'', '"', '\n', '\\', '#']) && !plain_escapes(text) {
                    return None;
                }
                at += length + 2;
                at += code.get(at..)?.bytes().take_while(|it| b"gimx".contains(it)).count();
                if code.get(at..)?.starts_with(|c: char| c.is_ascii_alphabetic()) {
                    return None;
                }
                bare.push(' ');
                found.push(Token::Text(text.to_owned()));
            } else if matches!(previous, Some(Token::Number(_)))
                || language == "r"
                || language == "julia"
                || language == "javascript"
                    && matches!(previous, Some(Token::Name(_) | Token::Sign(')')))
                    && !rest.get(1..)?.contains('/')
            {
                bare.push('/');
                found.push(Token::Sign('/'));
                at += 1;
            } else {
                return None;
            }
        } else if byte.is_ascii_whitespace() {
            if *byte == b'\n' {
                found.push(Token::Sign(';'));
            }
            bare.push(' ');
            at += 1;
        } else if *byte == b'\\' || (language == "ruby" && *byte == b'%' && !rest.starts_with("% "))
        {
            return None;
        } else {
            let sign = char::from(*byte);
            let next = rest.as_bytes().get(1).copied().unwrap_or(b' ');
            // Signs that start other kinds of quotes or names.
            let quotes = match sign {
                '#' => !lua,
                '$' => {
                    matches!(next, b'\'' | b'"' | b'{' | b'(' | b'$')
                        || !(matches!(language, "perl" | "php")
                            || language == "r" && next.is_ascii_alphabetic())
                }
                '@' => language == "javascript" || matches!(next, b'\'' | b'"' | b'{'),
                '?' => language == "ruby" && next != b' ',
                _ => false,
            };
            if quotes {
                return None;
            }
            bare.push(sign);
            found.push(Token::Sign(sign));
            at += 1;
        }
    }
    (!refused.iter().any(|it| bare.contains(it))).then_some(found)
}

/// Whether a pattern has only simple escapes and no quotes.
fn plain_escapes(text: &str) -> bool {
    !text.contains(['\'', '"', '\n', '#']) && !text.ends_with('\\')
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
    let mut at = start + 1;
    loop {
        match *bytes.get(at)? {
            b'\\' => at += escape(quote, *bytes.get(at + 1)?)?,
            b'\n' => return None,
            byte if byte == quote => return Some((code.get(start + 1..at)?.to_owned(), at + 1)),
            _ => at += 1,
        }
    }
}

/// The code inside the braces of a formatted string.
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
        found.push(Token::Sign('('));
        found.append(&mut tokens(code, "python")?);
        found.push(Token::Sign(')'));
    }
    Some(found)
}
