//! What the program's tables say about codes, tools, preconditions, rules, exit codes, walls and words, for people who
//! look something up (pure). The window's help and `countersign explain` show the same entries.
//!
//! Nothing is listed here a second time: entries are made of the tables that the program uses. Only exit codes
//! ([`EXITS`]), walls and words have their table in this room.

mod exits;
mod find;
#[cfg(test)]
mod tests;
mod walls;
mod words;

use std::borrow::Cow;
use std::sync::LazyLock;

use serde::Serialize;

pub use exits::{EXITS, exits_text};
pub use find::{Found, Help};

use crate::plan::{ArgumentSpec, Code, PRECONDITIONS, TOOLS, Tool, ToolClass, ToolSpec};
use crate::risk::{CODE_RULES, RuleText, read_only_programs, rule_texts, sensitive_rules};
use crate::run::{PLACES, StopCode};

/// A part of the help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "each section is described by its title")]
pub enum Section {
    Codes,
    Tools,
    Preconditions,
    Rules,
    Walls,
    Loop,
    ExitCodes,
    Words,
}

impl Section {
    /// Every section, in the order of the help.
    pub const ALL: [Self; 8] = [
        Self::Words,
        Self::Codes,
        Self::Tools,
        Self::Preconditions,
        Self::Rules,
        Self::Walls,
        Self::Loop,
        Self::ExitCodes,
    ];

    /// The heading.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Codes => "Error codes",
            Self::Tools => "Tools",
            Self::Preconditions => "Preconditions",
            Self::Rules => "Risk of commands",
            Self::Walls => "Walls",
            Self::Loop => "Ends of a loop",
            Self::ExitCodes => "Exit codes",
            Self::Words => "Words",
        }
    }
}

/// Something that can be looked up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// The part of the help.
    pub section: Section,
    /// The name by which it is found and linked; unique without regard to case.
    pub key: Cow<'static, str>,
    /// What it is, in a few words; may be empty.
    pub title: Cow<'static, str>,
    /// What it means, as sentences.
    pub text: Cow<'static, str>,
    /// What a person does about it, as sentences; may be empty.
    pub next: Cow<'static, str>,
}

/// Every entry of the program, by section and in the order of its table.
pub fn entries() -> &'static [Entry] {
    static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
        let mut entries = Vec::new();
        for section in Section::ALL {
            match section {
                Section::Words => {
                    entries.extend(words::WORDS.iter().map(word));
                    entries.extend(PLACES.iter().map(place));
                }
                Section::Codes => entries.extend(Code::ALL.iter().map(|code| Entry {
                    section,
                    key: code.as_str().into(),
                    title: code.title().into(),
                    text: code.meaning().into(),
                    next: code.next().into(),
                })),
                Section::Tools => entries.extend(TOOLS.iter().map(tool)),
                Section::Preconditions => {
                    entries.extend(PRECONDITIONS.iter().map(|(key, text)| Entry {
                        section,
                        key: (*key).into(),
                        title: "".into(),
                        text: (*text).into(),
                        next: "".into(),
                    }));
                }
                Section::Rules => {
                    entries.push(readers());
                    entries.extend(rule_texts().map(rule));
                    // One has the name of its tool, whose entry says the same.
                    let rules = CODE_RULES.iter().filter(|it| Tool::from_name(it.id).is_none());
                    entries.extend(rules.map(|rule| Entry {
                        section,
                        key: rule.id.into(),
                        title: rule.level.into(),
                        text: rule.text.into(),
                        next: "".into(),
                    }));
                    entries.extend(sensitive());
                }
                Section::Walls => entries.extend(walls::entries()),
                Section::Loop => entries.extend(StopCode::ALL.iter().map(|code| Entry {
                    section,
                    key: code.as_str().into(),
                    title: "".into(),
                    text: code.meaning().into(),
                    next: code.next().into(),
                })),
                Section::ExitCodes => entries.extend(EXITS.iter().map(|exit| Entry {
                    section,
                    key: format!("exit {}", exit.code).into(),
                    title: exit.meaning.into(),
                    text: exit.text.into(),
                    next: exit.next.into(),
                })),
            }
        }
        entries
    });
    &ENTRIES
}

fn word((key, text): &(&'static str, &'static str)) -> Entry {
    let (key, text) = ((*key).into(), (*text).into());
    Entry { section: Section::Words, key, title: "".into(), text, next: "".into() }
}

/// Where a decision was made, as records have it.
fn place((key, phrase): &(&'static str, &'static str)) -> Entry {
    let text = format!("Where a decision was made: {}.", phrase.trim_end_matches(','));
    Entry {
        section: Section::Words,
        key: (*key).into(),
        title: "".into(),
        text: text.into(),
        next: "".into(),
    }
}

fn tool(spec: &'static ToolSpec) -> Entry {
    let effect = match spec.class {
        ToolClass::Read => "It only reads.",
        ToolClass::Mutate => "It changes files, which the step shows before you authorize it.",
        ToolClass::Check => "It may run code of the workspace.",
        ToolClass::Command => "It may do anything that its walls allow.",
    };
    let kind = spec.dialect.as_str().replace('_', " ");
    let arguments: Vec<_> = spec.arguments.iter().map(argument).collect();
    let arguments = match arguments.as_slice() {
        [] => "It takes no arguments.".to_owned(),
        arguments => format!("Arguments: {}.", arguments.join(", ")),
    };
    Entry {
        section: Section::Tools,
        key: spec.name.into(),
        title: spec.summary.into(),
        text: format!("{effect} For {kind}s. {arguments}").into(),
        next: "".into(),
    }
}

fn argument(spec: &ArgumentSpec) -> String {
    let alias = spec.alias.map(|alias| format!(" or {alias}")).unwrap_or_default();
    let optional = if spec.required { "" } else { " (optional)" };
    format!("{}{alias}{optional}", spec.name)
}

fn rule(rule: RuleText<'static>) -> Entry {
    let example = rule.example.map(|it| format!(" For example: {it}")).unwrap_or_default();
    Entry {
        section: Section::Rules,
        key: rule.id.into(),
        title: rule.level.as_str().into(),
        text: format!("{}{example}", rule.reason).into(),
        next: rule.safer.map(|safer| format!("Safer: {safer}").into()).unwrap_or_default(),
    }
}

/// The table of calls that are safe, as one entry: it has options and operands for each program.
fn readers() -> Entry {
    let names: Vec<_> = read_only_programs().into_iter().collect();
    Entry {
        section: Section::Rules,
        key: "read-only".into(),
        title: "safe".into(),
        text: format!(
            "A command is safe if its program is known to only read and every option and operand of the call is one that the \
             table of such calls allows. It has calls of: {}.",
            names.join(", ")
        )
        .into(),
        next: "countersign risk -- COMMAND says how dangerous a command is, and by which rule.".into(),
    }
}

/// The rules about writing sensitive files. Several groups of paths may have one rule.
fn sensitive() -> Vec<Entry> {
    let mut rules: Vec<(&'static str, String)> = Vec::new();
    for (id, reason) in sensitive_rules() {
        match rules.iter_mut().find(|(known, _)| *known == id) {
            Some((_, text)) if text.contains(reason) => {}
            Some((_, text)) => *text += &format!(", or {reason}"),
            None => rules.push((id, format!("A step or a command that {reason}"))),
        }
    }
    let entry = |(id, text): (&'static str, String)| Entry {
        section: Section::Rules,
        key: id.into(),
        title: "dangerous".into(),
        text: format!("{text}.").into(),
        next: "".into(),
    };
    rules.into_iter().map(entry).collect()
}
