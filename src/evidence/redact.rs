//! Finding keys, tokens and passwords in text (SPEC §8).
//!
//! Two kinds of rules: shapes that only a secret has, and assignments to a name that says so, whose
//! value must then look like a value and not like code. Absent on purpose: entropy guesses, which
//! would take every digest for a key.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashSet;
use std::ops::Range;

use aho_corasick::AhoCorasick;
use regex::{Captures, Regex};
use serde_json::Value;

use super::vault::Vault;

/// Names that say that what is assigned to them is secret, as the end of a longer name.
const NAMES: &str = "password|passwd|passphrase|pwd|secret|token|api[_-]?key|apikey|access[_-]?key|\
                     private[_-]?key|client[_-]?secret|auth[_-]?key|secret[_-]?key";

/// What a shape needs besides its pattern.
#[derive(Clone, Copy)]
enum Check {
    /// The pattern says it all.
    Shape,
    /// It must contain a digit, which words joined by dashes do not.
    HasDigit,
    /// It is the value of an assignment without quotes.
    BareValue,
    /// It is the value of an assignment in quotes.
    QuotedValue,
}

struct Rule {
    kind: &'static str,
    /// The secret is the group `s`, or the whole match where there is none.
    pattern: Regex,
    check: Check,
}

/// Recognises secrets. Each pattern reads the text on its own: most begin with a literal and skim a MiB in
/// a tenth of a millisecond, where one automaton for all of them needs a second.
pub(super) struct Redactor {
    rules: Vec<Rule>,
    secret_name: Regex,
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

    /// Every place of every one, also where they overlap.
    fn ranges(&self, text: &str) -> Vec<(Range<usize>, &'static str)> {
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
        use Check::{BareValue, HasDigit, QuotedValue, Shape};
        let rule =
            |kind, pattern: &str, check| Ok(Rule { kind, pattern: Regex::new(pattern)?, check });
        let pem = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----";
        let quoted = format!(
            r#"(?i)(?P<k>{NAMES})\\?["']?\s*(?:=>|:=|=|:)\s*[bru]?\\?(?:"(?P<s>[^"\n\\]{{4,}})\\?"|'(?P<t>[^'\n\\]{{4,}})\\?')"#
        );
        let bare = format!(
            r#"(?i)(?P<k>{NAMES})\\?["']?(?P<o>\s*(?:=>|:=|=|:)\s*)(?P<s>[^\s"'`,;&(){{}}\[\]<>|\\]{{6,}})"#
        );
        let flag =
            format!(r#"(?i)--(?P<k>{NAMES})\s+(?P<s>[^\s"'`,;(){{}}\[\]<>|\\-][^\s"'`]{{5,}})"#);
        let rules = vec![
            rule(
                "private_key",
                &format!(
                    r"{pem}[A-Za-z0-9+/=\s\\:,._()-]{{20,}}?-----END [A-Z0-9 ]{{0,40}}PRIVATE KEY(?: BLOCK)?-----"
                ),
                Shape,
            )?,
            // A block whose end is cut off.
            rule("private_key", &format!(r"{pem}(?:\s|\\n|\\r)+[A-Za-z0-9+/=\s\\]{{40,}}"), Shape)?,
            rule("aws_key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b", Shape)?,
            rule("github_token", r"\bgh[pousr]_[A-Za-z0-9]{36,}\b", Shape)?,
            rule("github_token", r"\bgithub_pat_[A-Za-z0-9_]{22,}\b", Shape)?,
            rule("gitlab_token", r"\bglpat-[A-Za-z0-9_-]{20,}", Shape)?,
            rule("slack_token", r"\bxox[abeprs]-[A-Za-z0-9-]{10,}", HasDigit)?,
            rule("api_key", r"\bsk-[A-Za-z0-9_-]{20,}", HasDigit)?,
            rule("google_key", r"\bAIza[0-9A-Za-z_-]{35}", Shape)?,
            rule("stripe_key", r"\b[rs]k_(?:live|test)_[0-9A-Za-z]{16,}", Shape)?,
            rule("npm_token", r"\bnpm_[A-Za-z0-9]{36}\b", Shape)?,
            rule("pypi_token", r"\bpypi-[A-Za-z0-9_-]{50,}", Shape)?,
            rule("crates_io_token", r"\bcio[A-Za-z0-9]{32}\b", HasDigit)?,
            rule("jwt", r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}", Shape)?,
            rule(
                "authorization",
                r#"(?i)\bauthorization\\?["']?\s*[:=]\s*\\?["']?(?:bearer|basic|token)\s+(?P<s>[A-Za-z0-9._~+/=-]{8,})"#,
                Shape,
            )?,
            rule("authorization", r"(?i)\bbearer\s+(?P<s>[A-Za-z0-9._~+/=-]{20,})", HasDigit)?,
            rule(
                "password",
                r#"\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@"'<>]*:(?P<s>[^\s/@"'<>${}]+)@"#,
                Shape,
            )?,
            rule("password", &quoted, QuotedValue)?,
            rule("password", &bare, BareValue)?,
            rule("password", &flag, HasDigit)?,
        ];
        Ok(Self { rules, secret_name: Regex::new(&format!("(?i)(?:{NAMES})$"))? })
    }

    /// Whether there is anything to hide in this text.
    pub(super) fn finds_in(&self, text: &str) -> bool {
        self.rules.iter().any(|rule| {
            rule.pattern.captures_iter(text).any(|found| rule.secret_in(text, &found).is_some())
        })
    }

    /// Whether there is anything to hide in these exact bytes, also behind the escapes of JSON.
    pub(super) fn finds_in_bytes(&self, bytes: &[u8]) -> bool {
        self.finds_in(&String::from_utf8_lossy(bytes))
            || serde_json::from_slice::<Value>(bytes)
                .is_ok_and(|value| self.finds_in_json(None, &value))
    }

    fn finds_in_json(&self, name: Option<&str>, value: &Value) -> bool {
        match value {
            Value::String(text) => self.is_secret_field(name, text) || self.finds_in(text),
            Value::Array(items) => items.iter().any(|item| self.finds_in_json(name, item)),
            Value::Object(map) => {
                map.iter().any(|(key, value)| self.finds_in_json(Some(key), value))
            }
            _ => false,
        }
    }

    /// Adds the secrets of this text to those that are hidden wherever they occur.
    pub(super) fn learn(&self, known: &mut KnownSecrets, text: &str) {
        for (range, kind) in self.ranges(text) {
            let Some(secret) = text.get(range) else { continue };
            // Of a secret of several lines, each line: that is how differences and searches show it.
            for line in secret.lines().map(str::trim).filter(|line| line.len() >= 8) {
                if !line.starts_with("-----") {
                    known.add(kind, line);
                }
            }
        }
    }

    /// The text with a marker in place of each secret.
    pub(super) fn hide<'t>(
        &self,
        vault: &Vault,
        known: &KnownSecrets,
        text: &'t str,
    ) -> Cow<'t, str> {
        let mut ranges = self.ranges(text);
        ranges.extend(known.ranges(text));
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

    /// Hides secrets inside the texts of a JSON value, so that it stays the same kind of value.
    pub(super) fn hide_in_json(&self, vault: &Vault, known: &KnownSecrets, value: &mut Value) {
        self.hide_below(vault, known, None, value);
    }

    fn hide_below(
        &self,
        vault: &Vault,
        known: &KnownSecrets,
        name: Option<&str>,
        value: &mut Value,
    ) {
        match value {
            Value::String(text) => {
                if self.is_secret_field(name, text) {
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

    /// Whether a field of this name holds a secret as its value: the name and the quotes are not in
    /// the text then.
    fn is_secret_field(&self, name: Option<&str>, value: &str) -> bool {
        name.is_some_and(|name| self.secret_name.is_match(name))
            && is_quoted_secret(name.unwrap_or_default(), value)
    }

    fn ranges(&self, text: &str) -> Vec<(Range<usize>, &'static str)> {
        self.rules
            .iter()
            .flat_map(|rule| {
                rule.pattern
                    .captures_iter(text)
                    .filter_map(|found| Some((rule.secret_in(text, &found)?, rule.kind)))
            })
            .collect()
    }
}

impl Rule {
    fn secret_in(&self, text: &str, found: &Captures<'_>) -> Option<Range<usize>> {
        let secret = found.name("s").or_else(|| found.name("t")).or_else(|| found.get(0))?;
        let value = secret.as_str();
        let name = found.name("k").map_or("", |name| name.as_str());
        let is_secret = match self.check {
            Check::Shape => !value.starts_with("[secret:"),
            Check::HasDigit => value.bytes().any(|byte| byte.is_ascii_digit()),
            Check::QuotedValue => is_quoted_secret(name, value),
            Check::BareValue if is_marker(value) => false,
            Check::BareValue => {
                let tight = found.name("o").is_some_and(|op| op.as_str() == "=");
                let next = text.get(secret.end()..).and_then(|rest| rest.chars().next());
                is_bare_secret(name, value, tight, next)
            }
        };
        is_secret.then(|| secret.range())
    }
}

/// What stands after `[secret:` in a marker of ours.
fn is_marker(value: &str) -> bool {
    value.rsplit_once(':').is_some_and(|(kind, mark)| {
        kind.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
            && mark.len() == 8
            && mark.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

fn is_password(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.starts_with("pass") || name == "pwd" || name.ends_with("secret")
}

/// Text that stands where a secret would be: variables, templates, types.
fn is_placeholder(value: &str) -> bool {
    const WORDS: &[&str] = &[
        "string",
        "str",
        "number",
        "boolean",
        "bool",
        "null",
        "none",
        "undefined",
        "true",
        "false",
        "option",
        "required",
        "optional",
        "example",
        "changeme",
        "redacted",
        "hidden",
        "integer",
        "object",
        "unknown",
    ];
    value.starts_with(['$', '{', '<', '%', '[', '*', '&'])
        || value.contains("${")
        || value.contains("{{")
        || value.bytes().all(|byte| matches!(byte, b'*' | b'x' | b'X' | b'.' | b'-' | b'_'))
        || WORDS.contains(&value.to_ascii_lowercase().as_str())
}

fn is_quoted_secret(name: &str, value: &str) -> bool {
    if value.len() < 4 || is_placeholder(value) {
        return false;
    }
    let digit = value.bytes().any(|byte| byte.is_ascii_digit());
    let space = value.contains(char::is_whitespace);
    if is_password(name) {
        // A sentence about a password is not one.
        return !value.starts_with(' ') && value.split_whitespace().count() <= 4;
    }
    !space && value.len() >= 8 && (digit || value.len() >= 20)
}

fn is_bare_secret(name: &str, value: &str, tight: bool, next: Option<char>) -> bool {
    // What is called, indexed, instantiated or goes on with a field is code.
    if is_placeholder(value) || matches!(next, Some('(' | '[' | '<' | '{')) || value.contains("::")
    {
        return false;
    }
    let digit = value.bytes().any(|byte| byte.is_ascii_digit());
    let letter = value.bytes().any(|byte| byte.is_ascii_alphabetic());
    let path_like = value.contains('.') && !digit;
    let ends = !matches!(next, Some(',' | ';' | ')' | ']' | '}'));
    if is_password(name) {
        // After a space only the last word of a line is a value; the rest is prose or code.
        let ends = if tight { ends } else { matches!(next, None | Some('\n' | '\r')) };
        return (digit && letter) || (ends && !path_like);
    }
    // A counter or a version is a number, an identifier with a digit at its end is `token2`.
    digit && letter && value.len() >= 8 && (value.len() >= 16 || tight)
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
