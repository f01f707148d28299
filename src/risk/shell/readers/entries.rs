//! The table `readers.toml`: programs with the options and operands of read-only calls.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use serde::Deserialize;

use super::super::lazy_regex::LazyRegex;
use super::super::syntax::UNKNOWN;

/// The text of the table.
pub(in crate::risk) const TEXT: &str = include_str!("../../../../assets/risk/readers.toml");

pub(super) static ENTRIES: LazyLock<Result<Entries, String>> = LazyLock::new(|| {
    let mut readers: Entries = toml::from_str(TEXT).map_err(|error| error.to_string())?;
    let sets = std::mem::take(&mut readers.set);
    for reader in readers.reader.iter_mut().chain(readers.form.values_mut()) {
        for name in &reader.sets {
            let set = sets.get(name).ok_or_else(|| format!("no set {name}"))?;
            reader.short.push_str(&set.short);
            reader.value.push_str(&set.value);
            reader.glued.push_str(&set.glued);
            reader.long = format!("{} {}", reader.long, set.long);
        }
        reader.options = reader.long.split_whitespace().map(LongOption::read).collect();
        reader.heads = reader
            .names
            .iter()
            .map(|name| {
                name.split_whitespace().map(|w| w.split('|').map(str::to_owned).collect()).collect()
            })
            .collect();
    }
    let mut by_program: HashMap<String, Vec<(usize, usize)>> = HashMap::new();
    for (entry, reader) in readers.reader.iter().enumerate() {
        for (head, words) in reader.heads.iter().enumerate() {
            for program in words.first().into_iter().flatten() {
                by_program.entry(program.clone()).or_default().push((entry, head));
            }
        }
    }
    readers.by_program = by_program;
    Ok(readers)
});

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entries {
    /// Options shared by several entries.
    #[serde(default)]
    pub(super) set: BTreeMap<String, OptionSet>,
    /// Options before the subcommand in read-only calls, by program.
    #[serde(default)]
    pub(super) global: BTreeMap<String, OptionSet>,
    pub(super) reader: Vec<Entry>,
    /// Calls that ask for help or a version.
    pub(super) help: Help,
    /// The allowed options of harmless forms.
    #[serde(default)]
    pub(super) form: BTreeMap<String, Entry>,
    /// For each program: the entries with the index of the matching name.
    #[serde(skip)]
    by_program: HashMap<String, Vec<(usize, usize)>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Help {
    /// Programs that load nothing from the working folder before they answer.
    pub(super) programs: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct OptionSet {
    /// Letters of options without a value.
    pub(super) short: String,
    /// Letters of options with a value.
    pub(super) value: String,
    /// Letters of options with an optional attached value.
    pub(super) glued: String,
    /// Names of long options: `name`, `name=` with a value, `name[=]` with an attached value.
    pub(super) long: String,
}

/// The allowed operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Operands {
    /// Any text whose only unknown parts are plain variables such as `HOME`.
    #[default]
    Known,
    /// Any text, also with unknown parts.
    Any,
    /// No operands.
    None,
    /// Letters, digits and a few signs, but no colons or blanks.
    Word,
}

/// The language of a script among the operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Language {
    Sed,
    Awk,
    Find,
    Test,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Entry {
    /// `program` or `program subcommand`; words may be `a|b`.
    pub(super) names: Vec<String>,
    pub(super) short: String,
    pub(super) value: String,
    /// Letters of options with an optional attached value.
    pub(super) glued: String,
    pub(super) long: String,
    /// Names of shared option sets.
    pub(super) sets: Vec<String>,
    /// Whether long options have one dash. They are then listed with it in `long`: `-name`, or `-name=` with a value.
    pub(super) single: bool,
    /// Whether a number is allowed as an option, as in `-20`.
    pub(super) digits: bool,
    pub(super) operands: Operands,
    /// The maximum number of operands.
    pub(super) most: Option<usize>,
    /// The minimum number of operands.
    pub(super) least: usize,
    /// A pattern for every operand.
    pub(super) only: Option<LazyRegex>,
    /// Options that write, run or send something. Abbreviations of long ones are recognized.
    pub(super) harm: Vec<String>,
    /// Options whose value is an output file, which is dangerous outside the working folder.
    pub(super) writes: Vec<String>,
    pub(super) language: Option<Language>,
    /// Whether the program is git, or asks git.
    pub(super) repository: bool,
    /// What the program loads from the working folder before it reads; empty for nothing.
    pub(super) loads: String,
    pub(super) examples: Vec<String>,
    #[serde(skip)]
    pub(super) options: Vec<LongOption>,
    #[serde(skip)]
    pub(super) heads: Vec<Vec<Vec<String>>>,
}

/// One argument of a call.
#[derive(Debug, Clone, Copy)]
pub(in crate::risk::shell) struct Argument<'a> {
    pub(in crate::risk::shell) text: &'a str,
    pub(in crate::risk::shell) glob: bool,
    /// Whether the argument is in double quotes, so that it stays one word.
    pub(in crate::risk::shell) quoted: bool,
}

/// Splits an option into its name and its attached value.
pub(super) fn split_value(text: &str) -> (&str, Option<&str>) {
    text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)))
}

#[derive(Debug)]
pub(super) struct LongOption {
    pub(super) name: String,
    pub(super) takes: Takes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    Nothing,
    Value,
    GluedValue,
}

impl LongOption {
    fn read(text: &str) -> Self {
        let (name, takes) = if let Some(name) = text.strip_suffix("[=]") {
            (name, Takes::GluedValue)
        } else if let Some(name) = text.strip_suffix('=') {
            (name, Takes::Value)
        } else {
            (text, Takes::Nothing)
        };
        Self { name: name.to_owned(), takes }
    }
}

impl Entries {
    /// The entries of a program, each with its subcommands.
    pub(super) fn of(&self, program: &str) -> impl Iterator<Item = (&Entry, &[Vec<String>])> {
        self.by_program.get(program).into_iter().flatten().filter_map(|(entry, head)| {
            let reader = self.reader.get(*entry)?;
            let (_, subcommands) = reader.heads.get(*head)?.split_first()?;
            Some((reader, subcommands))
        })
    }

    /// The arguments after the subcommand; `None` if another subcommand is called, or an option before it is not
    /// listed, has an unknown value, or has an absolute or home path as the next word.
    pub(super) fn subcommand<'a, 'b>(
        &self,
        program: &str,
        subcommands: &[Vec<String>],
        arguments: &'a [Argument<'b>],
    ) -> Option<&'a [Argument<'b>]> {
        let mut index = 0;
        for wanted in subcommands {
            while let Some(argument) = arguments.get(index).filter(|it| it.text.starts_with('-')) {
                if wanted.iter().any(|word| word == argument.text) {
                    break;
                }
                let before = index;
                let set = self.global.get(program)?;
                let (name, glued) = split_value(argument.text);
                let mut options = set.long.split_whitespace().map(LongOption::read);
                let option = options.find(|option| option.name == name)?;
                index += match (option.takes, glued) {
                    (Takes::Nothing, None) | (Takes::Value | Takes::GluedValue, Some(_)) => 1,
                    (Takes::Value, None) => 2,
                    _ => return None,
                };
                // An absolute, home or unknown path may lead to a folder whose settings name programs to run.
                let outside =
                    |it: &Argument| it.text.contains(UNKNOWN) || it.text.starts_with(['/', '~']);
                if arguments.get(before..index).is_none_or(|used| used.iter().any(outside)) {
                    return None;
                }
            }
            let word = arguments.get(index)?;
            if !wanted.iter().any(|wanted| wanted == word.text) {
                return None;
            }
            index += 1;
        }
        arguments.get(index..)
    }
}
