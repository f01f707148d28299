//! The rules as a table, and whether one of them matches a command.

use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

use super::place;
use super::syntax::{END, UNKNOWN};
use super::verbs::Verbs;
use crate::risk::RiskLevel;

/// The file with every rule, wrapper and option.
pub(in crate::risk) const TEXT: &str = include_str!("../../../assets/risk/rules.toml");

/// The table of this program.
pub(super) static TABLE: LazyLock<Result<Table, String>> = LazyLock::new(|| {
    let mut table: Table = toml::from_str(TEXT).map_err(|error| error.to_string())?;
    table.variables.plain = Regex::new(&table.variables.harmless).ok();
    table.verbs.compile()?;
    for rule in &mut table.rule {
        rule.patterns =
            rule.when.iter().map(|text| Pattern::read(text)).collect::<Result<_, _>>()?;
    }
    Ok(table)
});

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    /// Options before the subcommand that take a value, by program.
    pub(super) globals: std::collections::BTreeMap<String, Vec<String>>,
    /// Variables that change what later programs are.
    pub(super) variables: Variables,
    pub(super) verbs: Verbs,
    pub(super) wrapper: Vec<Wrapper>,
    pub(super) rule: Vec<Rule>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Variables {
    pub(super) hijack: Vec<String>,
    pub(super) traces: Vec<String>,
    /// Values that change nothing, as a pattern.
    harmless: String,
    #[serde(skip)]
    pub(super) plain: Option<Regex>,
}

/// How a wrapper holds the command it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    /// Its operands are program and arguments.
    #[default]
    Argv,
    /// Its operands, joined by blanks, are read by a shell.
    Joined,
    /// A shell: `-c`, a file, or what it reads.
    Shell,
    /// Commands between `-exec` and `;` or `+`.
    Find,
    /// Only options hold commands.
    Options,
    /// An interpreter of another language.
    Interpreter,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wrapper {
    /// `program` or `program subcommand`.
    pub(super) names: Vec<String>,
    #[serde(default)]
    pub(super) kind: Kind,
    /// Options that take a value.
    #[serde(default)]
    pub(super) values: Vec<String>,
    /// Options whose value is a command line (or, for an interpreter, code).
    #[serde(default)]
    pub(super) scripts: Vec<String>,
    /// Operands before the command.
    #[serde(default)]
    pub(super) skip: usize,
    /// More operands follow that nobody knows yet.
    #[serde(default)]
    pub(super) more: bool,
    /// Without a command it starts a shell.
    #[serde(default)]
    pub(super) shell: bool,
    #[serde(default)]
    pub(super) raises: bool,
    #[serde(default)]
    pub(super) remote: bool,
    /// What the wrapper does by itself when it does not only run.
    #[serde(default = "safe")]
    pub(super) level: RiskLevel,
}

fn safe() -> RiskLevel {
    RiskLevel::Safe
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    pub(super) id: String,
    pub(super) level: RiskLevel,
    pub(super) reason: String,
    pub(super) safer: Option<String>,
    when: Vec<String>,
    #[cfg_attr(not(test), expect(dead_code, reason = "examples are read by the tests"))]
    #[serde(rename = "match", default)]
    pub(super) examples: Vec<String>,
    #[cfg_attr(not(test), expect(dead_code, reason = "examples are read by the tests"))]
    #[serde(rename = "not", default)]
    pub(super) others: Vec<String>,
    #[serde(skip)]
    pub(super) patterns: Vec<Pattern>,
}

/// A program's name, subcommands and conditions.
#[derive(Debug)]
pub(super) struct Pattern {
    head: Vec<Vec<String>>,
    conditions: Vec<(bool, Vec<Test>)>,
}

#[derive(Debug)]
enum Test {
    Option(String),
    Place(String),
    Text(Regex),
}

/// A command as rules see it.
pub(super) struct Seen<'a> {
    pub(super) program: &'a str,
    /// Arguments with known variables replaced; the second says that the word is a pattern.
    pub(super) arguments: &'a [(String, bool)],
    /// The working directory as far as it is known, from `cd`.
    pub(super) folder: &'a str,
    /// It reads a pipe or a file.
    pub(super) fed: bool,
    /// What it reads is the answer of a database.
    pub(super) answered: bool,
    /// It writes a file through a redirection.
    pub(super) writes: bool,
    /// It has more rights than the person.
    pub(super) raised: bool,
    /// The text it reads, where that is known.
    pub(super) text: Option<&'a str>,
}

impl Pattern {
    fn read(text: &str) -> Result<Self, String> {
        let mut parts = text.split(" & ");
        let head = parts.next().unwrap_or_default();
        let head = head.split_whitespace().map(|word| word.split('|').map(str::to_owned).collect());
        let mut conditions = Vec::new();
        for part in parts {
            let (negated, part) = part.strip_prefix('!').map_or((false, part), |rest| (true, rest));
            let tests = if let Some(pattern) = part.strip_prefix('~') {
                let regex = Regex::new(pattern).map_err(|error| format!("{text}: {error}"))?;
                vec![Test::Text(regex)]
            } else {
                part.split('|')
                    .map(|alternative| match alternative.strip_prefix('@') {
                        Some(place) => Test::Place(place.to_owned()),
                        None => Test::Option(alternative.to_owned()),
                    })
                    .collect()
            };
            conditions.push((negated, tests));
        }
        Ok(Self { head: head.collect(), conditions })
    }

    pub(super) fn programs(&self) -> impl Iterator<Item = &String> {
        self.head.first().into_iter().flatten()
    }

    pub(super) fn matches(&self, seen: &Seen, globals: &[String]) -> bool {
        let Some((programs, subcommands)) = self.head.split_first() else { return false };
        if !programs.iter().any(|name| wild(name, seen.program)) {
            return false;
        }
        let mut at = 0;
        for wanted in subcommands {
            while let Some((argument, _)) = seen.arguments.get(at) {
                if !argument.starts_with('-') || wanted.iter().any(|word| word == argument) {
                    break;
                }
                at += 1 + usize::from(globals.contains(argument));
            }
            let Some((argument, _)) = seen.arguments.get(at) else { return false };
            if !wanted.iter().any(|word| wild(word, argument)) {
                return false;
            }
            at += 1;
        }
        let rest = seen.arguments.get(at..).unwrap_or_default();
        // Options before the subcommand count, too.
        self.conditions
            .iter()
            .all(|(negated, tests)| *negated != tests.iter().any(|test| test.holds(seen, rest)))
    }
}

/// Whether a text is a word of the table, which may end in `*`.
pub(super) fn wild(pattern: &str, text: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(head) => text.starts_with(head),
        None => pattern == text,
    }
}

impl Test {
    fn holds(&self, seen: &Seen, rest: &[(String, bool)]) -> bool {
        let operands = || {
            let only = rest.iter().position(|(text, _)| text == "--").unwrap_or(rest.len());
            rest.iter()
                .enumerate()
                .filter(move |(at, (text, _))| {
                    *at > only || (*at < only && (!text.starts_with('-') || text == "-"))
                })
                .map(|(_, argument)| argument)
        };
        match self {
            Self::Option(option) => {
                let before = seen.arguments.iter().take_while(|(text, _)| text != "--");
                before.into_iter().any(|(text, _)| is_option(option, text))
            }
            Self::Text(regex) => {
                rest.iter().any(|(text, _)| regex.is_match(text))
                    || seen.text.is_some_and(|text| regex.is_match(text))
            }
            Self::Place(name) => {
                let path = |test: fn(&str) -> bool| {
                    operands().any(|(text, _)| {
                        let value = text.split_once('=').map_or(text.as_str(), |(_, value)| value);
                        test(&place::settle(text, seen.folder))
                            || (value != text && test(&place::settle(value, seen.folder)))
                    })
                };
                let last = |test: fn(&str) -> bool| {
                    operands()
                        .next_back()
                        .is_some_and(|(text, _)| test(&place::settle(text, seen.folder)))
                };
                match name.as_str() {
                    "root" => path(place::is_root),
                    "system" => path(place::is_system),
                    "outside" => path(place::is_outside),
                    "sensitive" => path(place::is_sensitive),
                    "secret" => path(place::is_secret),
                    "keys" => path(place::is_keys),
                    "endless" => {
                        seen.writes
                            && (seen.program == "yes"
                                || path(|path| {
                                    matches!(path, "/dev/zero" | "/dev/urandom" | "/dev/random")
                                }))
                    }
                    "disk" => path(place::is_disk),
                    "device" => path(|path| path.starts_with("/dev/") && place::is_system(path)),
                    "to-disk" => last(place::is_disk),
                    "to-system" => last(place::is_system),
                    "to-sensitive" => last(place::is_sensitive),
                    "to-remote" => {
                        operands().next_back().is_some_and(|(text, _)| place::is_remote(text))
                    }
                    "from-remote" => {
                        operands().next().is_some_and(|(text, _)| place::is_remote(text))
                    }
                    "glob" => operands().any(|(_, glob)| *glob),
                    "unknown" => operands().any(|(text, _)| text.contains(UNKNOWN)),
                    "ran" => rest.iter().any(|(text, _)| text.contains(&format!("{UNKNOWN}{END}"))),
                    "some" => operands().next().is_some(),
                    "two" => operands().nth(1).is_some(),
                    "any" => !rest.is_empty(),
                    "fed" => seen.fed,
                    "answered" => seen.answered,
                    "raised" => seen.raised,
                    "awk" => rest.iter().any(|(text, _)| starts(text)),
                    "read" => seen.text.is_some(),
                    "sql" => {
                        rest.iter().any(|(text, _)| {
                            let value =
                                text.strip_prefix("--").and_then(|text| text.split_once('='));
                            destroys(value.map_or(text.as_str(), |(_, value)| value))
                        }) || seen.text.is_some_and(destroys)
                    }
                    _ => false,
                }
            }
        }
    }
}

fn is_option(option: &str, text: &str) -> bool {
    if text == option {
        return true;
    }
    let Some(name) = text.split('=').next() else { return false };
    if option.starts_with("--") {
        return name == option
            || (name.len() >= 4 && name.starts_with("--") && option.starts_with(name));
    }
    let mut letters = option.chars();
    match (letters.next(), letters.next(), letters.next()) {
        (Some('-'), Some(letter), None) => {
            text.starts_with('-')
                && !text.starts_with("--")
                && text.len() <= 10
                && text.chars().skip(1).take_while(char::is_ascii_alphanumeric).any(|c| c == letter)
        }
        _ => name == option,
    }
}

/// Whether a program for awk starts others: its strings and patterns are not looked at.
fn starts(text: &str) -> bool {
    static TEXTS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#""(?:[^"\\]|\\.)*"|(^|[({,!~&|;\s])/(?:[^/\\\n]|\\.)*/"#).ok()
    });
    let Some(texts) = TEXTS.as_ref() else { return true };
    let bare = texts.replace_all(text, "$1 _ ").replace("||", " ");
    bare.contains('|') || bare.contains("system") || text.contains("/inet/")
}

/// Whether SQL destroys or changes many rows: its strings and comments are not looked at.
fn destroys(text: &str) -> bool {
    static STRINGS: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"'(?:[^']|'')*'|--[^\n]*|(?s:/\*.*?\*/)").ok());
    static WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?i)\b(drop|truncate|flushall|flushdb)\b|\bdelete\s+from\b|\bupdate\s+[\w.\x22`]+\s+set\b|\balter\s+(table|role|user|system)\b|\bgrant\b|\brevoke\b|\bcopy\b.*\bprogram\b|\binto\s+(out|dump)file\b|\breset\s+(master|slave|replica|binary)\b|\bpurge\s+(binary|master)\b|\bstop\s+(slave|replica)\b|\bset\s+global\b|\bdetach\s+delete\b",
        )
        .ok()
    });
    let (Some(strings), Some(words)) = (STRINGS.as_ref(), WORDS.as_ref()) else { return true };
    words.is_match(&strings.replace_all(text, "''"))
}
