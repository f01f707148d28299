//! Prefilter for the secret rules: every rule needs one of these words, and most text contains none.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, Span, packed};

/// The rule to try at a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trigger {
    /// Part of a name that may be assigned to.
    Name,
    /// The end of a short name with its delimiter: `_PAT=`.
    Ending,
    /// A name that is also the start of a header.
    Authorization,
    Cookie,
    Address,
    Signature,
    Webhook,
    Block,
    PrivateLines,
    Hash,
    Vault,
    Oracle,
    Identified,
    NtHashes,
    Jwk,
    HereString,
    SecureString,
    Broker,
    Mail,
    Volume,
    Pgpass,
    Sent,
    Option,
}

/// Parts of names, in lower case, at least three bytes. No word is a prefix of another; so in the other lists.
const NAMES: &[&str] = &[
    "pass", "pwd", "psw", "psk", "secret", "token", "cred", "key", "jwt", "sess", "kennwort",
    "senha", "mnemonic", "salt", "bindpw", "rootpw", "dsn",
];

/// The other words, by the rule to try.
const WORDS: &[(Trigger, &[&str])] = &[
    (Trigger::Authorization, &["auth", "bearer"]),
    (Trigger::Cookie, &["cookie"]),
    (Trigger::Address, &["://"]),
    (Trigger::Signature, &["sig=", "signature="]),
    (Trigger::Webhook, &["hook"]),
    (Trigger::Block, &["-----begin "]),
    (Trigger::PrivateLines, &["private-lines:"]),
    (
        Trigger::Hash,
        &["$6$", "$5$", "$1$", "$y$", "$2a", "$2b", "$2y", "$apr1", "$argon", "$scrypt"],
    ),
    (Trigger::Vault, &["vault"]),
    (Trigger::Oracle, &["sqlplus", "oracle:thin:"]),
    (Trigger::Identified, &["identified by"]),
    (Trigger::NtHashes, &[":::"]),
    (Trigger::Jwk, &["\"kty"]),
    (Trigger::HereString, &["<<<"]),
    (Trigger::SecureString, &["securestring"]),
    (Trigger::Broker, &["rabbitmqctl"]),
    (Trigger::Mail, &["smtp"]),
    (Trigger::Volume, &["cryptsetup"]),
    // `:5432:` and `:6432:`.
    (Trigger::Pgpass, &["432:", ":*:"]),
    (Trigger::Sent, &["send "]),
];

/// Options of any program, in lower case.
const OPTIONS: [&str; 15] = [
    " -p",
    " -u",
    " -a",
    " -w",
    " -k",
    " -b",
    " -x",
    " -t",
    " -s",
    " -hmac",
    " /p:",
    " --user",
    "--value",
    "--proxy-user",
    "--oauth2",
];

/// Ends of names that are too short to search for alone, with the possible delimiters.
const ENDINGS: &[&str] = &[
    "pat=", "pat:", "pat\"", "pat\\", "pat\n", "pat_", "sas=", "sas:", "sas\"", "sas\\", "sas\n",
    "sas_", "otp=", "otp:", "otp\"", "otp\\", "otp\n", "otp_", "pw=", "pw:", "pw\"", "pw\\",
    "pw\n", "pw_",
];

/// Searches for some of the words. Fewer words give fewer false candidates.
struct Finder {
    /// Ten times as fast as the automaton, but not available on every processor.
    packed: Option<packed::Searcher>,
    /// The fallback.
    slow: Option<AhoCorasick>,
    hooks: Vec<Trigger>,
}

impl Finder {
    fn of(rows: &[(Trigger, &[&'static str])]) -> Self {
        let words = rows.iter().flat_map(|(hook, words)| words.iter().map(|word| (*word, *hook)));
        let (words, hooks): (Vec<_>, Vec<_>) = words.unzip();
        let packed = packed::Searcher::new(&words);
        let slow = packed.is_none().then(|| AhoCorasick::new(&words).ok()).flatten();
        Self { packed, slow, hooks }
    }

    /// The first word at or after this position.
    fn next(&self, lower: &str, start: usize) -> Option<(Range<usize>, Trigger)> {
        let found = match (&self.packed, &self.slow) {
            (Some(packed), _) => packed.find_in(lower, Span { start, end: lower.len() }),
            (None, Some(slow)) => {
                slow.find(aho_corasick::Input::new(lower).range(start..lower.len()))
            }
            (None, None) => None,
        }?;
        let hook = self.hooks.get(found.pattern().as_usize()).copied()?;
        Some((found.start()..found.end(), hook))
    }
}

/// For names, for other words, for options, and for ends of names.
static FINDERS: LazyLock<[Finder; 4]> = LazyLock::new(|| {
    [
        Finder::of(&[(Trigger::Name, NAMES)]),
        Finder::of(WORDS),
        Finder::of(&[(Trigger::Option, &OPTIONS)]),
        Finder::of(&[(Trigger::Ending, ENDINGS)]),
    ]
});

/// Calls `each` with every word in this text, which must be in lower case, until `each` returns false.
pub(super) fn each(lower: &str, mut each: impl FnMut(Trigger, Range<usize>) -> bool) {
    let finders = &*FINDERS;
    let mut next = finders.each_ref().map(|finder| finder.next(lower, 0));
    loop {
        let starts = next.iter().map(|found| found.as_ref().map_or(usize::MAX, |it| it.0.start));
        let Some((number, start)) = starts.enumerate().min_by_key(|(_, start)| *start) else {
            return;
        };
        let (Some(place), Some(finder)) = (next.get_mut(number), finders.get(number)) else {
            return;
        };
        let Some((range, hook)) = place.take() else { return };
        if !each(hook, range) {
            return;
        }
        *place = finder.next(lower, start + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fast_search_uses_all_words() {
        let fast = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));
        for finder in &*FINDERS {
            assert_eq!(finder.packed.is_some(), fast);
            assert!(finder.packed.is_some() || finder.slow.is_some(), "nothing would be found");
        }
        let all: Vec<&str> = WORDS
            .iter()
            .flat_map(|(_, words)| *words)
            .chain(NAMES)
            .chain(&OPTIONS)
            .chain(ENDINGS)
            .copied()
            .collect();
        for word in &all {
            assert_eq!(*word, word.to_ascii_lowercase());
            assert!(word.len() >= 3, "{word}");
            let mut seen = Vec::new();
            each(&format!("x{word}x"), |_, range| {
                seen.push(range);
                true
            });
            assert!(seen.iter().any(|range| range.start == 1), "{word}: {seen:?}");
        }
    }
}
