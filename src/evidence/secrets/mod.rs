//! Rules that recognize secrets (SPEC §8).
//!
//! There are three kinds of rules: token shapes; positions that contain secrets, such as headers, URLs, key blocks and
//! arguments of known programs; and assignments to names such as `password`, whose values must not look like code.
//! Entropy alone is not a rule, because it would match every digest.
//!
//! A prefilter finds the trigger words of the rules (`rules.rs`) and the long words of which tokens consist. The text
//! is parsed only at these positions, forwards and backwards within limits, so that the time is linear in its size. A
//! name is split into words, and its last word decides (`names.rs`), because a `password_file` is a path. The value
//! is then checked for the properties of a secret (`values.rs`). A value of several lines is hidden whole if one of its
//! lines is a secret (`blocks.rs`, `heredocs.rs`). Text around colour codes, line continuations and
//! encoded characters is decoded and searched again (`views.rs`).
//!
//! A rule covers a class of positions, not a single sample. Tests put the secrets of `tests/fixtures/secrets` into
//! every input and search every stored byte for them; `src/evidence/ordinary_tests.rs` tests texts that must not be
//! redacted. Texts that are almost certainly secrets are redacted in all later records of the run
//! (`KnownSecrets::for_later_records`).
//!
//! The table of shapes is this project's own. Crates with the public rules of gitleaks or Kingfisher bring a complete
//! scanner with a command line, archives or a native engine, need a newer compiler, pin every dependency, or have
//! data under a licence that `deny.toml` does not accept. Smaller crates cover fewer services.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use names::Class;
use values::ValueForm;

mod assign;
mod beside;
mod blocks;
mod commands;
mod files;
mod heredocs;
mod http;
mod lines;
mod logins;
mod names;
mod parts;
mod rules;
mod scan;
mod shapes;
mod table;
mod values;
mod views;
mod words;

pub(super) use assign::is_marker_rest;
pub(super) use scan::Match;
pub(super) use values::{has_digit, has_letter};

/// Finds the secrets of this process's environment variables, also with JSON escapes.
static ENVIRONMENT: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let values: Vec<String> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .flat_map(|(name, value)| secrets_of_variable(&name, &value))
        .flat_map(|value| {
            let escaped = serde_json::Value::from(value.as_str()).to_string();
            let escaped = escaped.trim_matches('"').to_owned();
            if escaped == value { vec![value] } else { vec![value, escaped] }
        })
        .collect();
    (!values.is_empty()).then(|| AhoCorasick::new(&values).ok()).flatten()
});

/// The value itself if the name indicates a secret; otherwise the secrets in its assignment, such as the password in a
/// URL. Secrets shorter than six bytes are omitted.
fn secrets_of_variable(name: &str, value: &str) -> Vec<String> {
    let form = match names::classify(name) {
        Some(Class::Password | Class::Secret) => Some(ValueForm::Quoted),
        Some(Class::Key) => {
            Some(ValueForm::Bare { tight: true, last: true, next: 0, colon: false })
        }
        Some(Class::Login | Class::Cookie | Class::Link) | None => None,
    };
    let is_whole = names::classify(name).zip(form).is_some_and(|(class, form)| {
        !names::is_working_folder(name, value) && parts::is_secret(class, value, form)
    });
    let secrets = if is_whole {
        vec![value.to_owned()]
    } else {
        let text = format!("{name}={value}");
        let mut matches = Vec::new();
        find_plain(&text, &|| false, &mut matches);
        let secrets = matches.into_iter().filter_map(|found| text.get(found.secret));
        secrets.map(str::to_owned).collect()
    };
    secrets.into_iter().filter(|secret| secret.len() >= 6).collect()
}

/// Whether a text need not be redacted, because it certainly contains neither a secret nor the name of a secret field.
/// If the text is JSON, the same holds for its strings.
pub(super) fn can_skip(text: &str) -> bool {
    !rules::has_trigger(text)
        && shapes::can_skip(text)
        && !views::has_breaks(text)
        && ENVIRONMENT.as_ref().is_none_or(|known| !known.is_match(text))
}

/// Every secret in a text, in any order. Matches may overlap.
pub(super) fn find(text: &str) -> Vec<Match> {
    find_until(text, &|| false)
}

/// As [`find`], but incomplete once `stop` has returned true: a hostile text of 1 MiB can take seconds.
pub(super) fn find_until(text: &str, stop: &dyn Fn() -> bool) -> Vec<Match> {
    let mut matches = Vec::new();
    find_plain(text, stop, &mut matches);
    views::find(text, &mut matches, |text, matches| find_plain(text, stop, matches));
    if let Some(known) = ENVIRONMENT.as_ref() {
        let found = known.find_iter(text);
        matches.extend(found.map(|it| Match::new(it.range(), it.range(), "environment")));
    }
    matches
}

/// Finds every secret that is written without interruptions.
fn find_plain(text: &str, stop: &dyn Fn() -> bool, matches: &mut Vec<Match>) {
    shapes::find(text, matches);
    rules::find(text, stop, |found| matches.push(found));
}

/// Whether the value of a field with this name is a secret or contains one. Name and value are given without quotes.
pub(super) fn is_secret_field(name: &str, value: &str) -> bool {
    let by_class = names::classify(name)
        .is_some_and(|class| parts::is_secret(class, value, ValueForm::Quoted));
    (by_class && !names::is_working_folder(name, value)) || parts::is_login_value(name, value)
}

/// Whether a number in a field with this name is a secret.
pub(super) fn is_secret_number(name: &str, number: &str) -> bool {
    names::classify(name) == Some(Class::Password) && number.len() >= 4
}

/// Whether a name indicates that its value is or contains a secret.
pub(super) fn is_secret_name(name: &str) -> bool {
    names::classify(name).is_some()
}

/// The ranges of the secrets in the arguments of a program, each with the index of its argument.
pub(super) fn in_arguments(arguments: &[&str]) -> Vec<(usize, Range<usize>)> {
    commands::in_arguments(arguments, |line, each| rules::find(line, &|| false, each))
}

#[cfg(test)]
#[path = "../secret_rules_tests.rs"]
mod tests;
