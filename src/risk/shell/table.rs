//! The rules as a table, and whether one of them matches a command.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::LazyLock;

use serde::Deserialize;

use super::admin::Admin;
use super::elsewhere::positions::Elsewhere;
use super::inline::language::Inline;
use super::known::Known;
use super::lazy_regex::LazyRegex;
use super::listed::wild;
use super::pattern::{Pattern, Seen};
use super::verbs::Verbs;
use crate::plan::RiskLevel;

/// The file with every rule, wrapper and option.
pub(in crate::risk) const TEXT: &str = include_str!("../../../assets/risk/rules.toml");

/// The table of this program.
pub(super) static TABLE: LazyLock<Result<Table, String>> = LazyLock::new(|| {
    let mut table: Table = toml::from_str(TEXT).map_err(|error| error.to_string())?;
    table.known.iter_mut().for_each(Known::compile);
    for rule in &mut table.rule {
        rule.patterns = rule.when.iter().map(|text| Pattern::read(text)).collect();
    }
    table.index();
    Ok(table)
});

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    /// Options before the subcommand that take a value, by program.
    pub(super) globals: BTreeMap<String, Vec<String>>,
    /// Variables that change what later programs are.
    pub(super) variables: Variables,
    pub(super) verbs: Verbs,
    pub(super) elsewhere: Elsewhere,
    /// Programs of administrators.
    pub(super) admin: Admin,
    /// Packages that projects run without having them, as a pattern of the whole word.
    pub(super) packages: Packages,
    /// What code in the command line may name, by language.
    pub(super) inline: Vec<Inline>,
    /// Whole calls that do less than their programs can.
    pub(super) known: Vec<Known>,
    pub(super) wrapper: Vec<Wrapper>,
    pub(super) rule: Vec<Rule>,
    /// Which pattern of which rule is about a program, in the order of the table.
    #[serde(skip)]
    by_program: HashMap<String, Vec<(usize, usize)>>,
    /// Patterns for names that only begin in a certain way.
    #[serde(skip)]
    by_beginning: Vec<(usize, usize)>,
}

impl Table {
    fn index(&mut self) {
        for (at, rule) in self.rule.iter().enumerate() {
            for (index, pattern) in rule.patterns.iter().enumerate() {
                for program in pattern.programs() {
                    if program.ends_with('*') {
                        self.by_beginning.push((at, index));
                    }
                    self.by_program.entry(program.clone()).or_default().push((at, index));
                }
            }
        }
    }

    /// Whether a rule names this program.
    pub(super) fn knows(&self, program: &str) -> bool {
        self.by_program.contains_key(program)
    }

    /// The last of the worst rules that match a command.
    pub(super) fn worst(&self, seen: &Seen, globals: &[String]) -> Option<&Rule> {
        let named = self.by_program.get(seen.program).into_iter().flatten();
        named
            .chain(&self.by_beginning)
            .filter_map(|(at, index)| Some((at, self.rule.get(*at)?, *index)))
            .filter(|(_, rule, index)| {
                rule.patterns.get(*index).is_some_and(|it| it.matches(seen, globals))
            })
            .max_by_key(|(at, rule, _)| (rule.level, **at))
            .map(|(_, rule, _)| rule)
    }

    /// Whether a rule calls something that this program can do dangerous, or it runs other commands.
    pub(super) fn dangerous(&self, program: &str) -> bool {
        static NAMES: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
            let Ok(table) = TABLE.as_ref() else { return Default::default() };
            let rules = table.rule.iter().filter(|rule| rule.level >= RiskLevel::Dangerous);
            let ruled =
                rules.flat_map(|rule| rule.patterns.iter().flat_map(Pattern::programs).cloned());
            let runs = table.wrapper.iter().flat_map(|it| &it.names);
            ruled.chain(runs.filter_map(|name| name.split(' ').next().map(str::to_owned))).collect()
        });
        NAMES.contains(program)
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Variables {
    pub(super) hijack: Vec<String>,
    pub(super) traces: Vec<String>,
    /// Variables that change nothing but what programs show.
    pub(super) harmless: Vec<String>,
    /// Values of the others that change nothing: names, and a pattern of the whole value.
    pub(super) values: BTreeMap<String, LazyRegex>,
}

impl Variables {
    /// Whether a value of this variable is one that changes nothing.
    pub(super) fn is_harmless(&self, name: &str, value: &str) -> bool {
        self.values.iter().any(|(names, values)| {
            names.split('|').any(|known| wild(known, name)) && values.is_match(value)
        })
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Packages {
    pub(super) known: LazyRegex,
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
    /// Each operand is a command line of its own.
    Each,
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
    /// Options without a value that change nothing but how it waits or prints.
    #[serde(default)]
    flags: Vec<String>,
    /// Operands before the command.
    #[serde(default)]
    pub(super) skip: usize,
    /// More operands follow that nobody knows yet.
    #[serde(default)]
    pub(super) more: bool,
    /// Without a command it starts a shell.
    #[serde(default)]
    pub(super) shell: bool,
    /// It fetches the package of the program that it runs.
    #[serde(default)]
    pub(super) fetches: bool,
    #[serde(default)]
    pub(super) raises: bool,
    #[serde(default)]
    pub(super) remote: bool,
    /// What the wrapper does by itself when it does not only run.
    #[serde(default = "safe")]
    pub(super) level: RiskLevel,
}

impl Wrapper {
    /// Whether an option is one of those that change nothing: a flag, or a known one with its value.
    pub(super) fn allows(&self, text: &str) -> bool {
        let (name, value) = text.split_once('=').map_or((text, None), |(name, _)| (name, Some(())));
        if self.flags.iter().any(|flag| flag == text) {
            return true;
        }
        if name.starts_with("--") {
            return value.is_some() && self.values.iter().any(|known| known == name);
        }
        let Some(letters) = text.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
            return false;
        };
        for letter in letters.chars() {
            let is =
                |options: &[String]| options.iter().any(|option| *option == format!("-{letter}"));
            if is(&self.values) {
                return true;
            }
            if !is(&self.flags) {
                return false;
            }
        }
        true
    }
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
