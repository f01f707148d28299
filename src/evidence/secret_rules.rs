//! What a secret looks like (SPEC §8).
//!
//! Two kinds of rules: shapes that only a secret has, and assignments to a name that says so, whose
//! value must then look like a value and not like code. Absent on purpose: entropy guesses, which
//! would take every digest for a key.

use std::ops::Range;

use regex::{Captures, Regex};

use super::secret_words::{Places, RuleSet, Words};

/// Names that say that what is assigned to them is secret, as the end of a longer name.
const NAMES: &str = "password|passwd|passphrase|pwd|secret|token|api[_-]?key|apikey|access[_-]?key|\
                     private[_-]?key|client[_-]?secret|auth[_-]?key|secret[_-]?key";

/// What [`NAMES`] cannot match without.
const NAME_WORDS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "token",
    "apikey",
    "api_key",
    "api-key",
    "accesskey",
    "access_key",
    "access-key",
    "privatekey",
    "private_key",
    "private-key",
    "authkey",
    "auth_key",
    "auth-key",
];

/// How many bytes of a match may stand before its word: `--client_`.
const NAME_PREFIX: usize = 10;
/// How far behind a name its value is looked for before the whole text is read instead.
const FAR: usize = 16 << 10;

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
    /// One of these is in every match of the pattern, in whatever case. In lower case here.
    words: &'static [&'static str],
    /// The secret is the group `s`, or the whole match where there is none.
    pattern: Regex,
    check: Check,
}

/// A place where a rule's pattern stands.
pub(super) struct Match {
    /// All of it: the name as well as the value.
    pub(super) span: Range<usize>,
    /// What is to be hidden of it; none where it only looked like a secret.
    pub(super) secret: Option<Range<usize>>,
    pub(super) kind: &'static str,
}

/// All rules. Each pattern reads a text on its own: one automaton for all of them would need a second for
/// a MiB. But hardly any text contains a word that a rule needs, and all words are looked for in one pass.
pub(super) struct Rules {
    all: Vec<Rule>,
    words: Words,
    secret_name: Regex,
}

impl Rules {
    /// Compiles them.
    pub(super) fn new() -> Result<Self, regex::Error> {
        use Check::{BareValue, HasDigit, QuotedValue, Shape};
        let rule = |kind, words, pattern: &str, check| {
            Ok(Rule { kind, words, pattern: Regex::new(pattern)?, check })
        };
        let pem = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----";
        let whole_block = format!(
            r"{pem}[A-Za-z0-9+/=\s\\:,._()-]{{20,}}?-----END [A-Z0-9 ]{{0,40}}PRIVATE KEY(?: BLOCK)?-----"
        );
        let block_without_end = format!(r"{pem}(?:\s|\\n|\\r)+[A-Za-z0-9+/=\s\\]{{40,}}");
        let quoted = format!(
            r#"(?i)(?P<k>{NAMES})\\?["']?\s*(?:=>|:=|=|:)\s*[bru]?\\?(?:"(?P<s>[^"\n\\]{{4,}})\\?"|'(?P<t>[^'\n\\]{{4,}})\\?')"#
        );
        let bare = format!(
            r#"(?i)(?P<k>{NAMES})\\?["']?(?P<o>\s*(?:=>|:=|=|:)\s*)(?P<s>[^\s"'`,;&(){{}}\[\]<>|\\]{{6,}})"#
        );
        let flag =
            format!(r#"(?i)--(?P<k>{NAMES})\s+(?P<s>[^\s"'`,;(){{}}\[\]<>|\\-][^\s"'`]{{5,}})"#);
        let all = vec![
            rule("private_key", &["private key"], &whole_block, Shape)?,
            rule("private_key", &["private key"], &block_without_end, Shape)?,
            rule("aws_key", &["akia", "asia"], r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b", Shape)?,
            rule(
                "github_token",
                &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
                r"\bgh[pousr]_[A-Za-z0-9]{36,}\b",
                Shape,
            )?,
            rule("github_token", &["github_pat_"], r"\bgithub_pat_[A-Za-z0-9_]{22,}\b", Shape)?,
            rule("gitlab_token", &["glpat-"], r"\bglpat-[A-Za-z0-9_-]{20,}", Shape)?,
            rule("slack_token", &["xox"], r"\bxox[abeprs]-[A-Za-z0-9-]{10,}", HasDigit)?,
            rule("api_key", &["sk-"], r"\bsk-[A-Za-z0-9_-]{20,}", HasDigit)?,
            rule("google_key", &["aiza"], r"\bAIza[0-9A-Za-z_-]{35}", Shape)?,
            rule(
                "stripe_key",
                &["k_live_", "k_test_"],
                r"\b[rs]k_(?:live|test)_[0-9A-Za-z]{16,}",
                Shape,
            )?,
            rule("npm_token", &["npm_"], r"\bnpm_[A-Za-z0-9]{36}\b", Shape)?,
            rule("pypi_token", &["pypi-"], r"\bpypi-[A-Za-z0-9_-]{50,}", Shape)?,
            rule("crates_io_token", &["cio"], r"\bcio[A-Za-z0-9]{32}\b", HasDigit)?,
            rule(
                "jwt",
                &["eyj"],
                r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
                Shape,
            )?,
            rule(
                "authorization",
                &["authorization"],
                r#"(?i)\bauthorization\\?["']?\s*[:=]\s*\\?["']?(?:bearer|basic|token)\s+(?P<s>[A-Za-z0-9._~+/=-]{8,})"#,
                Shape,
            )?,
            rule(
                "authorization",
                &["bearer"],
                r"(?i)\bbearer\s+(?P<s>[A-Za-z0-9._~+/=-]{20,})",
                HasDigit,
            )?,
            rule(
                "password",
                &["://"],
                r#"\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@"'<>]*:(?P<s>[^\s/@"'<>${}]+)@"#,
                Shape,
            )?,
            rule("password", NAME_WORDS, &quoted, QuotedValue)?,
            rule("password", NAME_WORDS, &bare, BareValue)?,
            rule("password", NAME_WORDS, &flag, HasDigit)?,
        ];
        let secret_name = Regex::new(&format!("(?i)(?:{NAMES})$"))?;
        let words = Words::new(all.iter().map(|rule: &Rule| (rule.words, rule.is_named())));
        Ok(Self { all, words, secret_name })
    }

    /// The rules that can match somewhere in this text; all others cannot.
    fn candidates(&self, text: &str) -> RuleSet {
        self.words.places(text).rules
    }

    /// Whether no rule can match in this text, nor take it for the name of a secret field. Looks at each
    /// byte once. What is true of a text of JSON is true of every string that stands in it without an escape.
    pub(super) fn rule_out(&self, text: &str) -> bool {
        self.candidates(text) == 0
    }

    /// The secrets in this text, rule by rule.
    pub(super) fn find<'t>(
        &'t self,
        text: &'t str,
    ) -> impl Iterator<Item = (Range<usize>, &'static str)> {
        self.matches(text).filter_map(|found| Some((found.secret?, found.kind)))
    }

    /// Every place where a rule's pattern stands in this text, rule by rule.
    pub(super) fn matches<'t>(&'t self, text: &'t str) -> impl Iterator<Item = Match> {
        self.matches_at(self.words.places(text), text)
    }

    fn matches_at<'t>(&'t self, places: Places, text: &'t str) -> impl Iterator<Item = Match> {
        (self.all.iter().enumerate())
            .filter(move |(place, _)| places.rules & (1 << place) != 0)
            .flat_map(move |(_, rule)| {
                let names = places.names.as_ref().filter(|_| rule.is_named());
                names.and_then(|names| rule.matches_near(text, names)).unwrap_or_else(|| {
                    let all = rule.pattern.captures_iter(text);
                    all.map(|found| rule.found(text, &found)).collect()
                })
            })
    }

    /// Whether a field of this name holds a secret as its value: the name and the quotes are not in
    /// the text then.
    pub(super) fn is_secret_field(&self, name: &str, value: &str) -> bool {
        self.secret_name.is_match(name) && is_quoted_secret(name, value)
    }
}

impl Rule {
    /// Whether each match begins with one of [`NAME_WORDS`], or a few bytes before it.
    fn is_named(&self) -> bool {
        self.words == NAME_WORDS
    }

    /// The matches at these names, which are all there are; none where it cannot be said how far one of
    /// them may reach.
    fn matches_near(&self, text: &str, names: &[Range<usize>]) -> Option<Vec<Match>> {
        let (mut matches, mut done) = (Vec::new(), 0);
        for name in names {
            if name.start < done {
                continue;
            }
            let from = text.floor_char_boundary(name.start.saturating_sub(NAME_PREFIX)).max(done);
            let reach = text.get(..reach_of(text, name.end)?)?;
            let found = self.pattern.captures_at(reach, from);
            // What begins later belongs to a later name.
            let found = found.filter(|it| it.get(0).is_some_and(|it| it.start() <= name.start));
            if let Some(found) = found {
                let found = self.found(text, &found);
                done = found.span.end;
                matches.push(found);
            }
        }
        Some(matches)
    }

    fn found(&self, text: &str, found: &Captures<'_>) -> Match {
        Match {
            span: found.get(0).map_or(0..0, |whole| whole.range()),
            secret: self.secret_in(text, found),
            kind: self.kind,
        }
    }

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

/// Where a match must have ended that begins with a name which ends here: the name, what assigns to it and
/// the value are on three lines at most, with nothing but white space between them. None when that is far.
fn reach_of(text: &str, name_end: usize) -> Option<usize> {
    let (mut reach, mut filled) = (name_end, 0);
    for line in text.get(name_end..)?.split_inclusive('\n') {
        reach += line.len();
        filled += usize::from(!line.trim().is_empty());
        if filled == 3 || reach - name_end > FAR {
            break;
        }
    }
    (reach - name_end <= FAR).then_some(reach)
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

#[cfg(test)]
#[path = "secret_rules_tests.rs"]
mod tests;
