//! Redacts secrets before they are stored (SPEC §8). The rules are in `secrets`.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::OnceLock;

use aho_corasick::Anchored;
use aho_corasick::automaton::Automaton as _;
use aho_corasick::nfa::contiguous::NFA;
use serde_json::Value;

use super::ledger::canonical;
use super::secrets;
use super::secrets::{Match, has_digit, has_letter};
use super::vault::Vault;

/// A range of a text to redact, with the kind of the secret.
type SecretRange = (Range<usize>, &'static str);

/// The kind of a secret that a person gave, in markers.
pub(super) const GIVEN: &str = "input";

/// The secrets found so far. Each is redacted wherever it occurs, even where no rule recognises it, for instance one
/// line of a private key in a diff.
#[derive(Default)]
pub(super) struct KnownSecrets {
    seen: HashSet<String>,
    secrets: Vec<(&'static str, String)>,
    /// Finds all secrets in one pass, because a log can contain thousands of tokens. Built on first use; `None` if
    /// there are too many for an automaton.
    finder: OnceLock<Option<NFA>>,
}

impl KnownSecrets {
    /// Adds a secret, which is redacted wherever it occurs.
    pub(super) fn add(&mut self, kind: &'static str, secret: &str) {
        if self.seen.insert(secret.to_owned()) {
            self.secrets.push((kind, secret.to_owned()));
            self.finder = OnceLock::new();
        }
    }

    /// Whether there are no secrets.
    pub(super) fn is_empty(&self) -> bool {
        self.secrets.is_empty()
    }

    /// Keeps the secrets that are redacted in all later records of a run, at most [`MAX_KEPT`]. Secrets that could
    /// be ordinary words are redacted only in the record in which they were found.
    pub(super) fn for_later_records(mut self) -> Self {
        let before = self.secrets.len();
        self.secrets.retain(|(kind, secret)| *kind == GIVEN || is_unmistakable(secret));
        self.secrets.truncate(MAX_KEPT);
        if self.secrets.len() < before {
            self.seen = self.secrets.iter().map(|(_, secret)| secret.clone()).collect();
            self.finder = OnceLock::new();
        }
        self
    }

    /// Whether a text contains any of these secrets.
    pub(super) fn occur_in(&self, text: &str) -> bool {
        !self.ranges(text).is_empty()
    }

    /// The length of the longest secret, in bytes; 0 if there are none.
    pub(super) fn longest(&self) -> usize {
        self.secrets.iter().map(|(_, secret)| secret.len()).max().unwrap_or(0)
    }

    /// Adds other known secrets.
    pub(super) fn add_all(&mut self, others: &Self) {
        for (kind, secret) in &others.secrets {
            self.add(kind, secret);
        }
    }

    /// The parts of a text that are occurrences of secrets, in order. Overlapping occurrences are one part.
    pub(super) fn ranges(&self, text: &str) -> Vec<SecretRange> {
        if self.secrets.is_empty() {
            return Vec::new();
        }
        let finder = self
            .finder
            .get_or_init(|| NFA::new(self.secrets.iter().map(|(_, secret)| secret)).ok());
        let one_by_one = || {
            let occurrences = |(kind, secret): &(&'static str, String)| {
                let (kind, length) = (*kind, secret.len());
                text.match_indices(secret.as_str())
                    .map(|(start, _)| (start..start + length, kind))
                    .collect::<Vec<_>>()
            };
            merged(self.secrets.iter().flat_map(occurrences).collect())
        };
        finder.as_ref().and_then(|finder| self.ranges_by(finder, text)).unwrap_or_else(one_by_one)
    }

    /// As [`Self::ranges`]. Looks only at the longest secret that ends at a position, because a text with thousands of
    /// secrets inside one another has billions of occurrences.
    fn ranges_by(&self, finder: &NFA, text: &str) -> Option<Vec<SecretRange>> {
        let mut all: Vec<SecretRange> = Vec::new();
        let mut state = finder.start_state(Anchored::No).ok()?;
        for (index, byte) in text.bytes().enumerate() {
            state = finder.next_state(Anchored::No, state, byte);
            if !finder.is_match(state) {
                continue;
            }
            // The first secret of a state is the longest: the others are ends of it.
            let (kind, secret) = self.secrets.get(finder.match_pattern(state, 0).as_usize())?;
            let end = index + 1;
            let mut start = end - secret.len();
            while let Some((last, _)) = all.pop_if(|(last, _)| last.end > start) {
                start = start.min(last.start);
            }
            all.push((start..end, kind));
        }
        Some(all)
    }
}

/// Whether exact bytes contain anything to redact. If they are JSON, escaped secrets count too.
pub(super) fn bytes_contain_secret(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    if !secrets::find(&text).is_empty() {
        return true;
    }
    if secrets::can_skip(&text) {
        return false;
    }
    serde_json::from_slice::<Value>(bytes).is_ok_and(|mut value| {
        let mut count = 0;
        KnownSecrets::default().replace_secrets(None, &mut value, &mut |text, _| {
            count += 1;
            text.to_owned()
        });
        count > 0
    })
}

/// The kind of each secret in a text that is stored in clear: of a JSON text, in its strings.
pub(super) fn kinds_of_secrets(text: &str, is_json: bool) -> Vec<&'static str> {
    if secrets::can_skip(text) {
        return Vec::new();
    }
    let mut kinds = Vec::new();
    match serde_json::from_str::<Value>(text).ok().filter(|_| is_json) {
        Some(mut value) => {
            KnownSecrets::default().replace_secrets(None, &mut value, &mut |secret, kind| {
                kinds.push(kind);
                secret.to_owned()
            });
        }
        None => kinds.extend(secrets::find(text).iter().map(|found| found.kind)),
    }
    kinds
}

impl KnownSecrets {
    /// Adds the secrets in this text.
    pub(super) fn learn(&mut self, text: &str) {
        self.learn_found(text, &secrets::find(text));
    }

    /// Adds the secrets in this text, of which the rules found these.
    fn learn_found(&mut self, text: &str, found: &[Match]) {
        for found in found {
            self.learn_match(text, found);
        }
        // In JSON a secret may be in a list of arguments, or be escaped.
        if text.starts_with(['{', '['])
            && !secrets::can_skip(text)
            && let Ok(mut value) = serde_json::from_str::<Value>(text)
        {
            Self::default().replace_secrets(None, &mut value, &mut |secret, kind| {
                self.learn_one(kind, secret);
                secret.to_owned()
            });
        }
    }

    /// Adds the secret that a rule matched, as it is written and decoded.
    pub(super) fn learn_match(&mut self, text: &str, found: &Match) {
        self.learn_one(found.kind, text.get(found.secret.clone()).unwrap_or_default());
        self.learn_one(found.kind, found.plain.as_deref().unwrap_or_default());
    }

    /// Adds each line of a secret, unless it could be an ordinary word.
    fn learn_one(&mut self, kind: &'static str, secret: &str) {
        // Diffs and search results show single lines of a secret.
        for line in secret.lines().map(str::trim).filter(|line| is_distinctive(line)) {
            if !line.starts_with("-----") {
                self.add(kind, line);
                // In source code, a line of a key may be in quotes, which JSON escapes.
                let core = longest_run(line);
                if core.len() >= 32 && core.len() < line.len() {
                    self.add(kind, core);
                }
            }
        }
    }

    /// The matches of the rules in a text, and the occurrences of known secrets.
    pub(super) fn all_ranges(&self, text: &str) -> Vec<SecretRange> {
        let found = secrets::find(text).into_iter().map(|it| (it.secret, it.kind));
        found.chain(self.ranges(text)).collect()
    }

    /// Redacts a whole text and keeps its lines: a marker is followed by the line breaks of the secret. What the text
    /// contains as a secret is redacted wherever it occurs in the text. `None` once `stop` has returned true.
    pub(super) fn redact_lines<'t>(
        &self,
        vault: &Vault,
        text: &'t str,
        stop: &dyn Fn() -> bool,
    ) -> Option<Cow<'t, str>> {
        if self.secrets.is_empty() && secrets::can_skip(text) {
            return Some(Cow::Borrowed(text));
        }
        let mut own = Self::default();
        let found = secrets::find_until(text, stop);
        if stop() {
            return None;
        }
        own.learn_found(text, &found);
        let mut ranges: Vec<_> = found.into_iter().map(|it| (it.secret, it.kind)).collect();
        ranges.extend(own.ranges(text));
        ranges.extend(self.ranges(text));
        Some(replace_ranges(text, ranges, &mut |secret, kind| {
            let breaks = secret.matches('\n').count();
            marker(vault, kind, secret) + &"\n".repeat(breaks)
        }))
    }

    /// Redacts a text.
    pub(super) fn redact<'t>(&self, vault: &Vault, text: &'t str) -> Cow<'t, str> {
        redact_ranges(vault, text, self.all_ranges(text))
    }

    /// Redacts the strings and keys of a value, and the numbers in fields with secret names. Returns its canonical
    /// text.
    pub(super) fn redact_json(&self, vault: &Vault, mut value: Value) -> String {
        let text = canonical(&value);
        // One pass over the text shows that most values contain no secret. Known secrets must be compared with the
        // strings themselves, because they may be escaped in the text.
        if self.secrets.is_empty() && secrets::can_skip(&text) {
            return text;
        }
        self.redact_value_in_place(vault, &mut value);
        canonical(&value)
    }

    /// As [`Self::redact_json`], but changes the value.
    pub(super) fn redact_value_in_place(&self, vault: &Vault, value: &mut Value) {
        self.replace_secrets(None, value, &mut |secret, kind| marker(vault, kind, secret));
    }

    /// Replaces each secret in a value by the result of `replace` for the secret and its kind. `name` is the name of
    /// the field that contains the value.
    fn replace_secrets(
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
                for (index, range) in words.map_or_else(Vec::new, |it| secrets::in_arguments(&it)) {
                    if let Some(ranges) = ranges.get_mut(index) {
                        ranges.push((range, "password"));
                    }
                }
                for (item, ranges) in items.iter_mut().zip(ranges) {
                    if let Value::String(text) = item {
                        replace_in(text, ranges, replace);
                    }
                    self.replace_secrets(name, item, replace);
                }
            }
            Value::Object(map) => {
                // In `{"name": "DB_PASS", "value": "…"}`, another field contains the name of the value.
                let named = ["name", "key", "Name", "Key", "variable"]
                    .into_iter()
                    .find_map(|field| map.get(field)?.as_str())
                    .filter(|name| secrets::is_secret_name(name))
                    .map(str::to_owned);
                for (key, mut value) in std::mem::take(map) {
                    let is_value = key.eq_ignore_ascii_case("value");
                    let name = named.as_deref().filter(|_| is_value).unwrap_or(&key);
                    self.replace_secrets(Some(name), &mut value, replace);
                    // A key can contain a secret, for instance if it is a path.
                    let redacted = replace_ranges(&key, self.all_ranges(&key), replace);
                    map.insert(redacted.into_owned(), value);
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

/// The maximum number of secrets that are kept from one record of a run to the next.
const MAX_KEPT: usize = 4_096;

/// Whether a secret is long or random enough to be redacted in all later records.
fn is_unmistakable(text: &str) -> bool {
    (text.len() >= 8 && has_digit(text) && has_letter(text))
        || (text.len() >= 16 && !text.contains(' '))
}

/// Whether a secret is redacted wherever it occurs. A short one could be an ordinary word.
fn is_distinctive(text: &str) -> bool {
    text.len() >= 8 || (text.len() >= 6 && has_digit(text) && has_letter(text))
}

/// Replaces each of these ranges with a redaction marker.
pub(super) fn redact_ranges<'t>(
    vault: &Vault,
    text: &'t str,
    ranges: Vec<SecretRange>,
) -> Cow<'t, str> {
    replace_ranges(text, ranges, &mut |secret, kind| marker(vault, kind, secret))
}

fn replace_in(
    text: &mut String,
    ranges: Vec<SecretRange>,
    replace: &mut impl FnMut(&str, &'static str) -> String,
) {
    if let Cow::Owned(redacted) = replace_ranges(text, ranges, replace) {
        *text = redacted;
    }
}

pub(super) fn replace_ranges<'t>(
    text: &'t str,
    ranges: Vec<SecretRange>,
    replace: &mut impl FnMut(&str, &'static str) -> String,
) -> Cow<'t, str> {
    if ranges.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut redacted = String::with_capacity(text.len());
    let mut done = 0;
    for (range, kind) in merged(ranges) {
        redacted.push_str(text.get(done..range.start).unwrap_or_default());
        redacted.push_str(&replace(text.get(range.clone()).unwrap_or_default(), kind));
        done = range.end;
    }
    redacted.push_str(text.get(done..).unwrap_or_default());
    Cow::Owned(redacted)
}

fn marker(vault: &Vault, kind: &str, secret: &str) -> String {
    format!("[secret:{kind}:{}]", vault.mark(secret))
}

/// Sorts ranges and merges overlapping ones. A merged range has the kind of its first part.
fn merged(mut ranges: Vec<SecretRange>) -> Vec<SecretRange> {
    ranges.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
    let mut all: Vec<SecretRange> = Vec::new();
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
