//! The table of rules, wrappers and options, read from `rules.toml`.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::LazyLock;

use serde::Deserialize;

use super::Word;
use super::admin::Admin;
use super::elsewhere::positions::Elsewhere;
use super::embedded::patterns::Embedded;
use super::inline::language::InlineRules;
use super::known::KnownCalls;
use super::lazy_regex::LazyRegex;
use super::listed::matches_wildcard;
use super::pattern::{CallFacts, Pattern};
use super::verbs::Verbs;
use crate::plan::RiskLevel;

/// The text of the table.
pub(in crate::risk) const TEXT: &str = include_str!("../../../assets/risk/rules.toml");

/// The built-in table.
pub(super) static TABLE: LazyLock<Result<Table, String>> = LazyLock::new(|| {
    let mut table: Table = toml::from_str(TEXT).map_err(|error| error.to_string())?;
    table.known.iter_mut().for_each(KnownCalls::compile);
    for rule in &mut table.rule {
        rule.patterns = rule.when.iter().map(|text| Pattern::read(text)).collect();
    }
    table.index();
    Ok(table)
});

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    /// Options with a value that may precede the subcommand, by program.
    pub(super) globals: BTreeMap<String, Vec<String>>,
    /// Variables that affect later programs.
    pub(super) variables: Variables,
    pub(super) verbs: Verbs,
    pub(super) embedded: Embedded,
    pub(super) elsewhere: Elsewhere,
    /// Administration programs.
    pub(super) admin: Admin,
    /// Well-known development tools, which may be fetched and run.
    pub(super) packages: Packages,
    /// Names that code in the command line may use, by language.
    pub(super) inline: Vec<InlineRules>,
    /// Calls that do less than their programs could.
    pub(super) known: Vec<KnownCalls>,
    pub(super) wrapper: Vec<Wrapper>,
    pub(super) rule: Vec<Rule>,
    /// For each program name: the rules and their patterns, in table order.
    #[serde(skip)]
    by_program: HashMap<String, Vec<(usize, usize)>>,
    /// Patterns for names that end in `*`.
    #[serde(skip)]
    by_prefix: Vec<(usize, usize)>,
}

impl Table {
    fn index(&mut self) {
        for (rule_index, rule) in self.rule.iter().enumerate() {
            for (pattern_index, pattern) in rule.patterns.iter().enumerate() {
                for program in pattern.programs() {
                    if program.ends_with('*') {
                        self.by_prefix.push((rule_index, pattern_index));
                    }
                    self.by_program
                        .entry(program.clone())
                        .or_default()
                        .push((rule_index, pattern_index));
                }
            }
        }
    }

    /// Whether a rule names this program.
    pub(super) fn knows(&self, program: &str) -> bool {
        self.by_program.contains_key(program)
    }

    /// The last of the worst rules that match a command.
    pub(super) fn worst(&self, facts: &CallFacts, globals: &[String]) -> Option<&Rule> {
        let named = self.by_program.get(facts.program).into_iter().flatten();
        named
            .chain(&self.by_prefix)
            .filter_map(|(rule, pattern)| Some((rule, self.rule.get(*rule)?, *pattern)))
            .filter(|(_, rule, pattern)| {
                rule.patterns.get(*pattern).is_some_and(|it| it.matches(facts, globals))
            })
            .max_by_key(|(index, rule, _)| (rule.level, **index))
            .map(|(_, rule, _)| rule)
    }

    /// The wrappers that a program with these arguments may be, by its name and its subcommands.
    pub(super) fn wrappers_of<'t>(
        &'t self,
        program: &'t str,
        arguments: &'t [Word],
    ) -> impl Iterator<Item = &'t Wrapper> {
        let is = move |name: &String| {
            let mut words = name.split(' ');
            words.next() == Some(program)
                && words.all(|word| arguments.iter().any(|argument| argument.text == word))
        };
        self.wrapper.iter().filter(move |wrapper| wrapper.names.iter().any(is))
    }

    /// Whether a program has a dangerous rule or runs other commands.
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
    /// Variables that change what later programs are or do.
    pub(super) hijack: Vec<String>,
    /// Variables that control the history of the shell.
    pub(super) traces: Vec<String>,
    /// Variables that only affect what programs display.
    pub(super) harmless: Vec<String>,
    /// Harmless values of other variables: a pattern for the whole value, by variable names separated by `|`.
    pub(super) values: BTreeMap<String, LazyRegex>,
}

impl Variables {
    /// Whether this value of a variable is harmless.
    pub(super) fn is_harmless(&self, name: &str, value: &str) -> bool {
        self.values.iter().any(|(names, values)| {
            names.split('|').any(|known| matches_wildcard(known, name)) && values.is_match(value)
        })
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Packages {
    pub(super) known: LazyRegex,
}

/// How a wrapper gets the command that it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub(super) enum WrapperKind {
    /// Its operands are a program and the program's arguments.
    #[default]
    Argv,
    /// A shell runs its operands, joined by blanks, as one command line.
    Joined,
    /// Each operand is a command line.
    Each,
    /// A shell, which runs the value of `-c`, a file, or its input.
    Shell,
    /// Commands between `-exec` and `;` or `+`.
    Find,
    /// Only options contain commands.
    Options,
    /// An interpreter of another language.
    Interpreter,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Wrapper {
    /// `program` or `program subcommand`.
    pub(super) names: Vec<String>,
    pub(super) kind: WrapperKind,
    /// Options with a value.
    pub(super) values: Vec<String>,
    /// Options whose value is a command line or, for an interpreter, code.
    pub(super) scripts: Vec<String>,
    /// Harmless options without a value.
    flags: Vec<String>,
    /// The number of operands before the command.
    pub(super) skip: usize,
    /// Whether operands from the input are appended to the command, as by `xargs`.
    pub(super) more: bool,
    /// Whether the wrapper starts a shell if no command is given.
    pub(super) shell: bool,
    /// Whether the wrapper downloads the package of the program that it runs.
    pub(super) fetches: bool,
    /// Whether the command runs with raised privileges.
    pub(super) raises: bool,
    /// Whether the command runs on another host or in a container.
    pub(super) remote: bool,
    /// The level of the wrapper itself; safe if it has none.
    pub(super) level: Option<RiskLevel>,
}

impl Wrapper {
    /// Whether the wrapper has this name.
    pub(super) fn is(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }

    /// Whether an option is harmless: a flag, or a known option with its value.
    pub(super) fn allows(&self, text: &str) -> bool {
        if self.flags.iter().any(|flag| flag == text) {
            return true;
        }
        if text.starts_with("--") {
            let name = text.split_once('=').map(|(name, _)| name);
            return self.values.iter().any(|known| Some(known.as_str()) == name);
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

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    pub(super) id: String,
    pub(super) level: RiskLevel,
    pub(super) reason: String,
    pub(super) safer: Option<String>,
    when: Vec<String>,
    #[serde(rename = "match", default)]
    pub(super) examples: Vec<String>,
    #[cfg_attr(not(test), expect(dead_code, reason = "examples are read by the tests"))]
    #[serde(rename = "not", default)]
    pub(super) others: Vec<String>,
    #[serde(skip)]
    pub(super) patterns: Vec<Pattern>,
}
