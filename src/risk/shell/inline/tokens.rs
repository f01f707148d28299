//! The tokens of inline code, and a cursor over them.

/// A token.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Name(String),
    Text(String),
    Number(f64),
    Punct(char),
}

/// Whether a token is this punctuation character.
pub(super) fn is_punct(token: Option<&Token>, wanted: char) -> bool {
    matches!(token, Some(Token::Punct(found)) if *found == wanted)
}

/// The text of a name token.
pub(super) fn name(token: Option<&Token>) -> Option<&str> {
    match token {
        Some(Token::Name(name)) => Some(name),
        _ => None,
    }
}

/// A position in a list of tokens. Methods address other tokens by their distance, which is negative before the
/// position.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    pub(super) all: &'a [Token],
    pub(super) index: usize,
}

/// A cursor on each token.
pub(super) fn cursors(all: &[Token]) -> impl Iterator<Item = Cursor<'_>> {
    (0..all.len()).map(move |index| Cursor { all, index })
}

impl<'a> Cursor<'a> {
    pub(super) fn get(self, distance: isize) -> Option<&'a Token> {
        self.all.get(self.index.checked_add_signed(distance)?)
    }

    /// Whether the token at this distance is one of these punctuation characters.
    pub(super) fn is_punct(self, distance: isize, wanted: &str) -> bool {
        matches!(self.get(distance), Some(Token::Punct(found)) if wanted.contains(*found))
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
        self.is_punct(1, "=") && !self.is_punct(2, "=")
    }

    /// Whether the token follows a dot, but not two.
    pub(super) fn is_attribute(self) -> bool {
        self.is_punct(-1, ".") && !self.is_punct(-2, ".")
    }

    /// Whether the token follows a text or a closing bracket.
    pub(super) fn follows_value(self) -> bool {
        self.text(-1).is_some() || self.is_punct(-1, ")]")
    }
}
