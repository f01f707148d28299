//! A checked destination for the SSH client (SPEC §7.3), which the client cannot parse as an option.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Maximum bytes of a destination: a host name has at most 253, and a user name precedes it.
const MAX_BYTES: usize = 512;

/// The target of a plan: `host`, `user@host` or `ssh://user@host:port`. The host may be an alias of the user's
/// `~/.ssh/config`.
///
/// The client inserts user and host into commands of that file (`ProxyCommand`, `Match exec`). Therefore only ASCII
/// letters and digits and the characters `._-+:@[]%/` are accepted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Destination(String);

/// Why a text is not a destination.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DestinationError {
    /// The text is empty.
    #[error("the target is empty: name a host, or leave the target out to run here")]
    Empty,
    /// The text is longer than any user and host name.
    #[error("the target has more than {MAX_BYTES} bytes")]
    TooLong,
    /// The text, its host or its user begins with `-`, so that the client would parse it as an option.
    #[error("a target, its user and its host cannot begin with `-`")]
    Option,
    /// The text contains a character that is not accepted, or a slash after the host.
    #[error("a target cannot have {0:?} in it: write host, user@host or ssh://user@host:port")]
    Character(char),
    /// The host is missing, or the user before the `@`.
    #[error("the target has no {0}: write host, user@host or ssh://user@host:port")]
    Part(&'static str),
}

impl Destination {
    /// Checks a text.
    ///
    /// # Errors
    /// The text is not a destination.
    pub fn parse(text: &str) -> Result<Self, DestinationError> {
        if text.is_empty() {
            return Err(DestinationError::Empty);
        }
        if text.len() > MAX_BYTES {
            return Err(DestinationError::TooLong);
        }
        let is_accepted = |c: char| c.is_ascii_alphanumeric() || "._-+:@[]%/".contains(c);
        if let Some(character) = text.chars().find(|c| !is_accepted(*c)) {
            return Err(DestinationError::Character(character));
        }
        let (address, is_uri) = match text.strip_prefix("ssh://") {
            Some(address) => (address.strip_suffix('/').unwrap_or(address), true),
            None => (text, false),
        };
        if address.contains('/') {
            return Err(DestinationError::Character('/'));
        }
        let (user, host) = match address.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, address),
        };
        if user == Some("") {
            return Err(DestinationError::Part("user before the @"));
        }
        let name = if is_uri { host.rsplit_once(':').map_or(host, |(name, _)| name) } else { host };
        if name.is_empty() {
            return Err(DestinationError::Part("host"));
        }
        let begins = |part: &str| part.starts_with('-');
        if begins(text) || begins(host) || user.is_some_and(begins) {
            return Err(DestinationError::Option);
        }
        Ok(Self(text.to_owned()))
    }

    /// The destination as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for Destination {
    type Error = DestinationError;

    fn try_from(text: String) -> Result<Self, DestinationError> {
        Self::parse(&text)
    }
}

impl From<Destination> for String {
    fn from(destination: Destination) -> Self {
        destination.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_addresses_and_uris_are_destinations() {
        for text in [
            "build",
            "ada@build.example.org",
            "ada@corp@build",
            "ssh://build",
            "ssh://ada@build:2222/",
            "ssh://[::1]:2222",
            "fe80::1%eth0",
            "10.0.0.7",
        ] {
            assert_eq!(Destination::parse(text).map(String::from), Ok(text.to_owned()));
        }
    }

    #[test]
    fn options_scripts_and_invisible_characters_are_not() {
        use DestinationError::{Character, Empty, Option, Part, TooLong};
        for (text, error) in [
            ("", Empty),
            ("-oProxyCommand=touch", Character('=')),
            ("-F", Option),
            ("ada@-F", Option),
            ("-l@build", Option),
            ("ssh://-F", Option),
            ("ssh://ada@-F:22", Option),
            ("build host", Character(' ')),
            ("build\n", Character('\n')),
            ("build\0", Character('\0')),
            ("bu\u{200b}ild", Character('\u{200b}')),
            ("b\u{fc}ro", Character('\u{fc}')),
            ("a;b", Character(';')),
            ("$(id)@build", Character('$')),
            ("`id`", Character('`')),
            ("*.example.org", Character('*')),
            ("build/home", Character('/')),
            ("@build", Part("user before the @")),
            ("ada@", Part("host")),
            ("ssh://", Part("host")),
            ("ssh://:22", Part("host")),
        ] {
            assert_eq!(Destination::parse(text), Err(error), "{text:?}");
        }
        assert_eq!(Destination::parse(&"a".repeat(513)), Err(TooLong));
    }
}
