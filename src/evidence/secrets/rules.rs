//! The rules with a trigger word: every rule needs one of its words, and most text contains none.

use std::ops::Range;
use std::sync::LazyLock;

use super::words::{Finder, words};
use super::{Match, assign, commands, files, http, logins};

/// Finds a secret at the trigger word with this range of the text.
type OneSecret = fn(&str, Range<usize>) -> Option<Match>;
/// As [`OneSecret`], and passes further secrets to the function.
type SeveralSecrets = fn(&str, Range<usize>, &mut dyn FnMut(Match)) -> Option<Match>;

/// A rule for a trigger word.
#[derive(Clone, Copy)]
enum Rule {
    One(OneSecret),
    /// If the rule finds nothing, the word may be part of a name.
    OneOrName(OneSecret),
    Several(SeveralSecrets),
}

use Rule::{One, OneOrName, Several};

/// Parts of names. In this and in the other lists, words are in lower case and have at least three bytes, and no word
/// is a prefix of another one.
const NAMES: &[&str] = &[
    "pass", "pwd", "psw", "psk", "secret", "token", "cred", "key", "jwt", "sess", "kennwort",
    "senha", "mnemonic", "salt", "bindpw", "rootpw", "dsn",
];

/// The other trigger words, by rule.
const WORDS: &[(Rule, &[&str])] = &[
    (OneOrName(http::authorization), &["auth", "bearer"]),
    (OneOrName(http::cookie), &["cookie"]),
    (One(http::url), &["://"]),
    (One(http::signature), &["sig=", "signature="]),
    (OneOrName(http::webhook), &["hook"]),
    (One(files::block), &["-----begin "]),
    (One(files::private_lines), &["private-lines:"]),
    (
        One(files::hash),
        &["$6$", "$5$", "$1$", "$y$", "$2a", "$2b", "$2y", "$apr1", "$argon", "$scrypt"],
    ),
    (Several(vault), &["vault"]),
    (One(logins::oracle), &["sqlplus", "oracle:thin:"]),
    (One(logins::identified_by), &["identified by"]),
    (One(logins::nt_hashes), &[":::"]),
    (Several(logins::jwk), &["\"kty"]),
    (One(logins::here_string), &["<<<"]),
    (One(logins::secure_string), &["securestring"]),
    (One(logins::rabbitmqctl), &["rabbitmqctl"]),
    (OneOrName(logins::smtp_login), &["smtp"]),
    (One(commands::piped_to_volume), &["cryptsetup"]),
    // `:5432:` and `:6432:`.
    (One(files::pgpass), &["432:", ":*:"]),
    (One(files::expect_send), &["send "]),
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

/// For names, for other words, for options, and for ends of names.
static FINDERS: LazyLock<[Finder<Rule>; 4]> = LazyLock::new(|| {
    [
        Finder::of(&[(One(named), NAMES)]),
        Finder::of(WORDS),
        Finder::of(&[(One(commands::at_option), &OPTIONS)]),
        Finder::of(&[(One(short_name), ENDINGS)]),
    ]
});

/// Whether a text contains a trigger word.
pub(super) fn has_trigger(text: &str) -> bool {
    words(&FINDERS, &text.to_ascii_lowercase()).next().is_some()
}

/// Calls `each` with the matches of all rules, until `stop` returns true.
pub(super) fn find(text: &str, stop: &dyn Fn() -> bool, mut each: impl FnMut(Match)) {
    let mut done = 0;
    for (rule, word) in words(&FINDERS, &text.to_ascii_lowercase()) {
        if stop() {
            return;
        }
        if word.start < done {
            continue;
        }
        let found = match rule {
            One(find) => find(text, word),
            OneOrName(find) => find(text, word.clone()).or_else(|| named(text, word)),
            Several(find) => find(text, word, &mut each),
        };
        if let Some(found) = found {
            done = found.secret.end;
            each(found);
        }
    }
}

/// The secret at a word that may be part of a name: its value, a part of a URL, or the input of a program.
fn named(text: &str, word: Range<usize>) -> Option<Match> {
    let found = assign::at_word(text, word.clone()).or_else(|| http::in_path(text, word.clone()));
    found.or_else(|| {
        let rest = text.get(word.end..)?;
        let is_chpasswd = text.get(..word.start)?.ends_with("ch") && rest.starts_with("wd");
        let reads_input = rest.starts_with("word-stdin")
            || rest.starts_with("phrase-fd")
            || rest.starts_with("wd --stdin")
            || is_chpasswd;
        let piped = if reads_input { commands::piped_into(text, word.clone()) } else { None };
        piped.or_else(|| if is_chpasswd { logins::chpasswd_lines(text, word.end) } else { None })
    })
}

/// As [`named`], for a word of [`ENDINGS`].
fn short_name(text: &str, word: Range<usize>) -> Option<Match> {
    named(text, word.start..word.end - 1)
}

/// The secrets in a command of the program `vault`, and those in a file of Ansible.
fn vault(text: &str, word: Range<usize>, each: &mut dyn FnMut(Match)) -> Option<Match> {
    logins::vault_command(text, word.clone(), each);
    files::vault(text, word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fast_search_uses_all_words() {
        assert!(FINDERS.iter().all(Finder::is_complete));
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
            let text = format!("x{word}x");
            assert!(words(&FINDERS, &text).any(|(_, range)| range.start == 1), "{word}");
        }
    }
}
