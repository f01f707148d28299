//! The tokens of inline code, and a cursor over them.

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
