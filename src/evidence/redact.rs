//! Hiding secrets in what is about to be stored (SPEC §8). What is one, `secret_rules.rs` knows.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashSet;
use std::ops::Range;

use aho_corasick::AhoCorasick;
use serde_json::Value;

use super::ledger::canonical;
use super::secret_rules::{Match, Rules};
use super::vault::Vault;

/// Recognises secrets and hides them.
pub(super) struct Redactor {
    rules: Rules,
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Redactor")
    }
}

/// Secrets that were found in the exact bytes of a record; each is also hidden where only a part of
/// its surroundings is shown, for instance one line of a private key in a difference.
#[derive(Debug, Default)]
pub(super) struct KnownSecrets {
    seen: HashSet<String>,
    secrets: Vec<(&'static str, String)>,
    /// Finds all of them in one pass: a log can hold thousands of tokens. Made when first asked; `None`
    /// when they are too many even for that.
    finder: OnceCell<Option<AhoCorasick>>,
}

impl KnownSecrets {
    fn add(&mut self, kind: &'static str, secret: &str) {
        if self.seen.insert(secret.to_owned()) {
            self.secrets.push((kind, secret.to_owned()));
            self.finder = OnceCell::new();
        }
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.secrets.is_empty()
    }

    /// The length of the longest, in bytes.
    pub(super) fn longest(&self) -> usize {
        self.secrets.iter().map(|(_, secret)| secret.len()).max().unwrap_or(0)
    }

    /// Takes in those of another record.
    pub(super) fn add_all(&mut self, others: &Self) {
        for (kind, secret) in &others.secrets {
            self.add(kind, secret);
        }
    }

    /// Every place of every one, also where they overlap.
    pub(super) fn ranges(&self, text: &str) -> Vec<(Range<usize>, &'static str)> {
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

impl Redactor {
    /// Compiles the rules.
    pub(super) fn new() -> Result<Self, regex::Error> {
        Ok(Self { rules: Rules::new()? })
    }

    /// Whether there is anything to hide in this text.
    pub(super) fn finds_in(&self, text: &str) -> bool {
        self.rules.find(text).next().is_some()
    }

    /// Whether there is anything to hide in these exact bytes, also behind the escapes of JSON.
    pub(super) fn finds_in_bytes(&self, bytes: &[u8]) -> bool {
        let text = String::from_utf8_lossy(bytes);
        if self.finds_in(&text) {
            return true;
        }
        // What a rule needs is made of characters for which JSON has no other escapes than these: without
        // them it stands in the text as it stands in the string.
        if !text.contains("\\u") && !text.contains("\\/") && self.rules.rule_out(&text) {
            return false;
        }
        serde_json::from_slice::<Value>(bytes).is_ok_and(|value| self.finds_in_json(None, &value))
    }

    fn finds_in_json(&self, name: Option<&str>, value: &Value) -> bool {
        match value {
            Value::String(text) => self.is_secret(name, text) || self.finds_in(text),
            Value::Array(items) => items.iter().any(|item| self.finds_in_json(name, item)),
            Value::Object(map) => map
                .iter()
                .any(|(key, value)| self.finds_in(key) || self.finds_in_json(Some(key), value)),
            _ => false,
        }
    }

    /// Adds the secrets of this text to those that are hidden wherever they occur.
    pub(super) fn learn(&self, known: &mut KnownSecrets, text: &str) {
        for (range, kind) in self.rules.find(text) {
            Self::learn_one(known, kind, text.get(range).unwrap_or_default());
        }
    }

    /// Adds one secret.
    pub(super) fn learn_one(known: &mut KnownSecrets, kind: &'static str, secret: &str) {
        // Of a secret of several lines, each line: that is how differences and searches show it.
        for line in secret.lines().map(str::trim).filter(|line| line.len() >= 8) {
            if !line.starts_with("-----") {
                known.add(kind, line);
            }
        }
    }

    /// Every place where a rule's pattern stands.
    pub(super) fn matches<'t>(&'t self, text: &'t str) -> impl Iterator<Item = Match> {
        self.rules.matches(text)
    }

    /// The text with a marker in place of each secret.
    pub(super) fn hide<'t>(
        &self,
        vault: &Vault,
        known: &KnownSecrets,
        text: &'t str,
    ) -> Cow<'t, str> {
        let mut ranges: Vec<_> = self.rules.find(text).collect();
        ranges.extend(known.ranges(text));
        hide_ranges(vault, text, ranges)
    }

    /// The value as canonical text with a marker in place of each secret. They are hidden inside its
    /// texts, so that it stays the same kind of value.
    pub(super) fn hide_in_json(
        &self,
        vault: &Vault,
        known: &KnownSecrets,
        mut value: Value,
    ) -> String {
        let text = canonical(&value);
        // Most values hold nothing that any rule looks at, and one look at the whole says so. A known
        // secret may hold characters that are escaped in it, so it has to be looked for in the strings.
        if known.secrets.is_empty() && self.rules.rule_out(&text) {
            return text;
        }
        self.hide_below(vault, known, None, &mut value);
        canonical(&value)
    }

    /// Puts the markers into the value itself; `name` is that of the field which holds it.
    pub(super) fn hide_below(
        &self,
        vault: &Vault,
        known: &KnownSecrets,
        name: Option<&str>,
        value: &mut Value,
    ) {
        match value {
            Value::String(text) => {
                if self.is_secret(name, text) {
                    *text = marker(vault, "password", text);
                } else if let Cow::Owned(hidden) = self.hide(vault, known, text) {
                    *text = hidden;
                }
            }
            Value::Array(items) => {
                for item in items {
                    self.hide_below(vault, known, name, item);
                }
            }
            Value::Object(map) => {
                for (key, mut value) in std::mem::take(map) {
                    self.hide_below(vault, known, Some(&key), &mut value);
                    // Where paths are keys, a secret can stand in one.
                    map.insert(self.hide(vault, known, &key).into_owned(), value);
                }
            }
            _ => {}
        }
    }

    /// Whether this is the secret value of a field of this name.
    fn is_secret(&self, name: Option<&str>, value: &str) -> bool {
        name.is_some_and(|name| self.rules.is_secret_field(name, value))
    }
}

/// The text with a marker in place of each of these ranges.
pub(super) fn hide_ranges<'t>(
    vault: &Vault,
    text: &'t str,
    ranges: Vec<(Range<usize>, &'static str)>,
) -> Cow<'t, str> {
    if ranges.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut hidden = String::with_capacity(text.len());
    let mut done = 0;
    for (range, kind) in merged(ranges) {
        hidden.push_str(text.get(done..range.start).unwrap_or_default());
        hidden.push_str(&marker(vault, kind, text.get(range.clone()).unwrap_or_default()));
        done = range.end;
    }
    hidden.push_str(text.get(done..).unwrap_or_default());
    Cow::Owned(hidden)
}

fn marker(vault: &Vault, kind: &str, secret: &str) -> String {
    format!("[secret:{kind}:{}]", vault.mark(secret))
}

/// The ranges in order, those that overlap as one of the first one's kind.
fn merged(mut ranges: Vec<(Range<usize>, &'static str)>) -> Vec<(Range<usize>, &'static str)> {
    ranges.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
    let mut all: Vec<(Range<usize>, &'static str)> = Vec::new();
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
