//! Prefilter for the secret rules: every rule needs one of these words, and most text contains none.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, Span, packed};

/// The rule that a trigger word selects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trigger {
    /// Part of a name that may have a secret value.
    Name,
    /// The end of a short name with the delimiter after it: `_PAT=`.
    Ending,
    Authorization,
    Cookie,
    Url,
    Signature,
    Webhook,
    Block,
    PrivateLines,
    Hash,
    Vault,
    Oracle,
    IdentifiedBy,
    NtHashes,
    Jwk,
    HereString,
    SecureString,
    RabbitMq,
    Smtp,
    Volume,
    Pgpass,
    Send,
    Option,
}

/// Parts of names. In this and in the other lists, words are in lower case and have at least three bytes, and no word
/// is a prefix of another one.
const NAMES: &[&str] = &[
    "pass", "pwd", "psw", "psk", "secret", "token", "cred", "key", "jwt", "sess", "kennwort",
    "senha", "mnemonic", "salt", "bindpw", "rootpw", "dsn",
];

/// The other trigger words, by rule.
const WORDS: &[(Trigger, &[&str])] = &[
    (Trigger::Authorization, &["auth", "bearer"]),
    (Trigger::Cookie, &["cookie"]),
    (Trigger::Url, &["://"]),
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
    (Trigger::IdentifiedBy, &["identified by"]),
    (Trigger::NtHashes, &[":::"]),
    (Trigger::Jwk, &["\"kty"]),
    (Trigger::HereString, &["<<<"]),
    (Trigger::SecureString, &["securestring"]),
    (Trigger::RabbitMq, &["rabbitmqctl"]),
    (Trigger::Smtp, &["smtp"]),
    (Trigger::Volume, &["cryptsetup"]),
    // `:5432:` and `:6432:`.
    (Trigger::Pgpass, &["432:", ":*:"]),
    (Trigger::Send, &["send "]),
];

/// Options of programs.
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

/// Ends of names, each with a delimiter after it, because they are too short to be searched for alone.
const ENDINGS: &[&str] = &[
    "pat=", "pat:", "pat\"", "pat\\", "pat\n", "pat_", "sas=", "sas:", "sas\"", "sas\\", "sas\n",
    "sas_", "otp=", "otp:", "otp\"", "otp\\", "otp\n", "otp_", "pw=", "pw:", "pw\"", "pw\\",
    "pw\n", "pw_",
];

/// Searches for the words of one list. The packed searcher gives fewer false candidates for fewer words.
struct Finder {
    /// Ten times as fast as the automaton, but not available on every processor.
    packed: Option<packed::Searcher>,
    /// The automaton, if there is no packed searcher.
    automaton: Option<AhoCorasick>,
    triggers: Vec<Trigger>,
}

impl Finder {
    fn of(rows: &[(Trigger, &[&'static str])]) -> Self {
        let words =
            rows.iter().flat_map(|(trigger, words)| words.iter().map(|word| (*word, *trigger)));
        let (words, triggers): (Vec<_>, Vec<_>) = words.unzip();
        let packed = packed::Searcher::new(&words);
        let automaton = packed.is_none().then(|| AhoCorasick::new(&words).ok()).flatten();
        Self { packed, automaton, triggers }
    }

    /// The first word at or after this position.
    fn next(&self, lower: &str, start: usize) -> Option<(Range<usize>, Trigger)> {
        let found = match (&self.packed, &self.automaton) {
            (Some(packed), _) => packed.find_in(lower, Span { start, end: lower.len() }),
            (None, Some(automaton)) => {
                automaton.find(aho_corasick::Input::new(lower).range(start..lower.len()))
            }
            (None, None) => None,
        }?;
        let trigger = self.triggers.get(found.pattern().as_usize()).copied()?;
        Some((found.start()..found.end(), trigger))
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

/// Calls `each` with the trigger words in this text, in order, until `each` returns false. The text must be in lower
/// case.
pub(super) fn each(lower: &str, mut each: impl FnMut(Trigger, Range<usize>) -> bool) {
    let finders = &*FINDERS;
    let mut next = finders.each_ref().map(|finder| finder.next(lower, 0));
    loop {
        let starts = next.iter().map(|found| found.as_ref().map_or(usize::MAX, |it| it.0.start));
        let Some((index, start)) = starts.enumerate().min_by_key(|(_, start)| *start) else {
            return;
        };
        let (Some(found), Some(finder)) = (next.get_mut(index), finders.get(index)) else {
            return;
        };
        let Some((range, trigger)) = found.take() else { return };
        if !each(trigger, range) {
            return;
        }
        *found = finder.next(lower, start + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fast_search_uses_all_words() {
        let has_packed = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));
        for finder in &*FINDERS {
            assert_eq!(finder.packed.is_some(), has_packed);
            assert!(finder.packed.is_some() || finder.automaton.is_some());
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
