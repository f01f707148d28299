//! Redacts secrets before they are stored (SPEC §8). The rules are in `secrets`.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashSet;
use std::ops::Range;

use aho_corasick::AhoCorasick;
use serde_json::Value;

use super::ledger::canonical;
use super::secrets::{self, Match, has_digit, has_letter};
use super::vault::Vault;

/// A part of a text to redact, with the kind of the secret.
type Found = (Range<usize>, &'static str);

/// Secrets found in the exact bytes of a record. Each is also redacted where only part of its context is shown, for
/// instance one line of a private key in a diff.
#[derive(Debug, Default)]
pub(super) struct KnownSecrets {
    seen: HashSet<String>,
    secrets: Vec<(&'static str, String)>,
    /// Finds all of them in one pass, because a log can contain thousands of tokens. Built on first use; `None` if
    /// there are too many to build it.
    finder: OnceCell<Option<AhoCorasick>>,
}

impl KnownSecrets {
    fn add(&mut self, kind: &'static str, secret: &str) {
        if self.seen.insert(secret.to_owned()) {
            self.secrets.push((kind, secret.to_owned()));
            self.finder = OnceCell::new();
        }
    }

    /// Whether there are no secrets.
    pub(super) fn is_empty(&self) -> bool {
        self.secrets.is_empty()
    }

    /// The secrets that are redacted in all records of a run, not only in the record in which they were found.
    /// Secrets that could be ordinary words are not among them.
    pub(super) fn lasting(mut self) -> Self {
        let before = self.secrets.len();
        self.secrets.retain(|(_, secret)| is_unmistakable(secret));
        self.secrets.truncate(MAX_LASTING);
        if self.secrets.len() < before {
            self.seen = self.secrets.iter().map(|(_, secret)| secret.clone()).collect();
            self.finder = OnceCell::new();
        }
        self
    }

    /// Whether a text contains any of them.
    pub(super) fn is_in(&self, text: &str) -> bool {
        !self.ranges(text).is_empty()
    }

    /// The length of the longest, in bytes.
    pub(super) fn longest(&self) -> usize {
        self.secrets.iter().map(|(_, secret)| secret.len()).max().unwrap_or(0)
    }

    /// Adds the secrets of another record.
    pub(super) fn add_all(&mut self, others: &Self) {
        for (kind, secret) in &others.secrets {
            self.add(kind, secret);
        }
    }

    /// All occurrences of all secrets, including overlapping ones.
    pub(super) fn ranges(&self, text: &str) -> Vec<Found> {
        if self.secrets.is_empty() {
            return Vec::new();
        }
        let finder = self
            .finder
            .get_or_init(|| AhoCorasick::new(self.secrets.iter().map(|(_, secret)| secret)).ok());
        let one_by_one = || {
            let places = |(kind, secret): &(&'static str, String)| {
                let (kind, length) = (*kind, secret.len());
                text.match_indices(secret.as_str())
                    .map(|(start, _)| (start..start + length, kind))
                    .collect::<Vec<_>>()
            };
            self.secrets.iter().flat_map(places).collect()
        };
        finder.as_ref().map_or_else(one_by_one, |finder| {
            finder
                .find_overlapping_iter(text)
                .filter_map(|found| {
                    let (kind, _) = self.secrets.get(found.pattern().as_usize())?;
                    Some((found.range(), *kind))
                })
                .collect()
        })
    }
}

/// Whether a text contains anything to redact.
pub(super) fn finds_in(text: &str) -> bool {
    !secrets::find(text).is_empty()
}

/// Whether exact bytes contain anything to redact, also behind JSON escapes.
pub(super) fn finds_in_bytes(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    if finds_in(&text) {
        return true;
    }
    if secrets::rule_out(&text) {
        return false;
    }
    serde_json::from_slice::<Value>(bytes).is_ok_and(|mut value| {
        let mut places = 0;
        KnownSecrets::default().each_secret(None, &mut value, &mut |text, _| {
            places += 1;
            text.to_owned()
        });
        places > 0
    })
}

impl KnownSecrets {
    /// Adds the secrets of this text to those that are redacted wherever they occur.
    pub(super) fn learn(&mut self, text: &str) {
        for found in secrets::find(text) {
            self.learn_match(text, &found);
        }
        // In JSON a secret may be in a list of arguments, or be escaped.
        if text.starts_with(['{', '['])
            && !secrets::rule_out(text)
            && let Ok(mut value) = serde_json::from_str::<Value>(text)
        {
            Self::default().each_secret(None, &mut value, &mut |secret, kind| {
                self.learn_one(kind, secret);
                secret.to_owned()
            });
        }
    }

    /// Adds the match of a rule.
    pub(super) fn learn_match(&mut self, text: &str, found: &Match) {
        self.learn_one(found.kind, text.get(found.secret.clone()).unwrap_or_default());
        self.learn_one(found.kind, found.plain.as_deref().unwrap_or_default());
    }

    /// Adds one secret.
    fn learn_one(&mut self, kind: &'static str, secret: &str) {
        // Each line of a multi-line secret, because diffs and search results show single lines.
        for line in secret.lines().map(str::trim).filter(|line| is_telling(line)) {
            if !line.starts_with("-----") {
                self.add(kind, line);
                // A line of a key may be in quotes in source code, and these quotes may be escaped in turn.
                let core = longest_run(line);
                if core.len() >= 32 && core.len() < line.len() {
                    self.add(kind, core);
                }
            }
        }
    }

    /// The matches of the rules in a text, and the occurrences of known secrets.
    fn all_ranges(&self, text: &str) -> Vec<Found> {
        let found = secrets::find(text).into_iter().map(|it| (it.secret, it.kind));
        found.chain(self.ranges(text)).collect()
    }

    /// Redacts a text.
    pub(super) fn hide<'t>(&self, vault: &Vault, text: &'t str) -> Cow<'t, str> {
        hide_ranges(vault, text, self.all_ranges(text))
    }

    /// Redacts the strings, the keys and the numbers in secret fields of a value, and returns its canonical text.
    pub(super) fn hide_in_json(&self, vault: &Vault, mut value: Value) -> String {
        let text = canonical(&value);
        // Most values contain no trigger of any rule, which one pass over the whole shows. Known secrets must be
        // compared with the strings themselves, because they may be escaped in the text.
        if self.secrets.is_empty() && secrets::rule_out(&text) {
            return text;
        }
        self.hide_below(vault, &mut value);
        canonical(&value)
    }

    /// Redacts a value in place.
    pub(super) fn hide_below(&self, vault: &Vault, value: &mut Value) {
        self.each_secret(None, value, &mut |secret, kind| marker(vault, kind, secret));
    }

    /// Replaces each secret in a value by the result of `replace` for the secret and its kind. `name` is that of the
    /// field that contains the value.
    fn each_secret(
        &self,
        name: Option<&str>,
        value: &mut Value,
        replace: &mut impl FnMut(&str, &'static str) -> String,
    ) {
        match value {
            Value::String(text) => {
                if name.is_some_and(|name| secrets::is_secret_field(name, text)) {
                    *text = replace(text, "password");
                } else {
                    replace_in(text, self.all_ranges(text), replace);
                }
            }
            Value::Number(number) => {
                let number = number.to_string();
                if name.is_some_and(|name| secrets::is_secret_number(name, &number)) {
                    *value = replace(&number, "password").into();
                }
            }
            Value::Array(items) => {
                let words: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
                let mut ranges: Vec<Vec<_>> = vec![Vec::new(); items.len()];
                for (number, range) in words.map_or_else(Vec::new, |it| secrets::in_arguments(&it))
                {
                    if let Some(ranges) = ranges.get_mut(number) {
                        ranges.push((range, "password"));
                    }
                }
                for (item, ranges) in items.iter_mut().zip(ranges) {
                    if let Value::String(text) = item {
                        replace_in(text, ranges, replace);
                    }
                    self.each_secret(name, item, replace);
                }
            }
            Value::Object(map) => {
                // `{"name": "DB_PASS", "value": "…"}`: another field contains the name of the value.
                let named = ["name", "key", "Name", "Key", "variable"]
                    .into_iter()
                    .find_map(|field| map.get(field)?.as_str())
                    .filter(|name| secrets::is_secret_name(name))
                    .map(str::to_owned);
                for (key, mut value) in std::mem::take(map) {
                    let is_value = key.eq_ignore_ascii_case("value");
                    let name = named.as_deref().filter(|_| is_value).unwrap_or(&key);
                    self.each_secret(Some(name), &mut value, replace);
                    // If keys are paths, a key can contain a secret.
                    let hidden = replace_ranges(&key, self.all_ranges(&key), replace);
                    map.insert(hidden.into_owned(), value);
                }
            }
            _ => {}
        }
    }
}

/// The longest part of a line that could be base64.
fn longest_run(line: &str) -> &str {
    let runs = line.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=')));
    runs.max_by_key(|run| run.len()).unwrap_or_default()
}

/// Limit for the secrets of a run that are kept from one record to the next.
const MAX_LASTING: usize = 4_096;

/// Whether a text is long and random enough to be redacted in all records.
fn is_unmistakable(text: &str) -> bool {
    (text.len() >= 8 && has_digit(text) && has_letter(text))
        || (text.len() >= 16 && !text.contains(' '))
}

/// Whether a text is redacted wherever it occurs. Short words are not.
fn is_telling(text: &str) -> bool {
    text.len() >= 8 || (text.len() >= 6 && has_digit(text) && has_letter(text))
}

/// Replaces each of these ranges by a redaction marker.
pub(super) fn hide_ranges<'t>(vault: &Vault, text: &'t str, ranges: Vec<Found>) -> Cow<'t, str> {
    replace_ranges(text, ranges, &mut |secret, kind| marker(vault, kind, secret))
}

fn replace_in(
    text: &mut String,
    ranges: Vec<Found>,
    replace: &mut impl FnMut(&str, &'static str) -> String,
) {
    if let Cow::Owned(hidden) = replace_ranges(text, ranges, replace) {
        *text = hidden;
    }
}

fn replace_ranges<'t>(
    text: &'t str,
    ranges: Vec<Found>,
    replace: &mut impl FnMut(&str, &'static str) -> String,
) -> Cow<'t, str> {
    if ranges.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut hidden = String::with_capacity(text.len());
    let mut done = 0;
    for (range, kind) in merged(ranges) {
        hidden.push_str(text.get(done..range.start).unwrap_or_default());
        hidden.push_str(&replace(text.get(range.clone()).unwrap_or_default(), kind));
        done = range.end;
    }
    hidden.push_str(text.get(done..).unwrap_or_default());
    Cow::Owned(hidden)
}

fn marker(vault: &Vault, kind: &str, secret: &str) -> String {
    format!("[secret:{kind}:{}]", vault.mark(secret))
}

/// Sorts ranges and merges overlapping ones, which keep the kind of the first one.
fn merged(mut ranges: Vec<Found>) -> Vec<Found> {
    ranges.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
    let mut all: Vec<Found> = Vec::new();
    for (range, kind) in ranges {
        match all.last_mut() {
            Some((last, _)) if range.start < last.end => last.end = last.end.max(range.end),
            _ => all.push((range, kind)),
        }
    }
    all
}

#[cfg(test)]
#[path = "redact_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "ordinary_tests.rs"]
mod ordinary_tests;
