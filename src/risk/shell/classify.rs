//! From the text of a command to its verdict.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;

use serde::Serialize;

use super::judge::Judge;
use super::syntax::{Script, SimpleCommand, Word};
use super::user::UserRules;
use super::{agreement, grammar, parse, scan};
use crate::plan::RiskLevel;

/// The shell that will read the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Shell {
    /// `bash`, which the readers know.
    #[default]
    Bash,
    /// Another `sh`: what POSIX does not know is at least dangerous.
    Posix,
}

/// What a command deserves, and why.
#[derive(Debug, Clone, Serialize)]
pub struct CommandVerdict {
    /// How dangerous.
    pub level: RiskLevel,
    /// The rule that decided.
    pub rule: String,
    /// The rule that decided is one of the user's.
    pub user_rule: bool,
    /// The bytes of the command that matched.
    pub span: Range<usize>,
    /// Why.
    pub reason: String,
    /// A safer way, where there is one.
    pub suggestion: Option<String>,
    /// What it would be without the rules of the user.
    pub builtin: BuiltinVerdict,
    /// Every simple command that was found.
    #[serde(skip)]
    pub commands: Vec<SimpleCommand>,
    /// The rules of the user that match one of them, whether they decided or not.
    #[serde(skip)]
    pub matched: BTreeSet<String>,
}

/// What the rules of the program say about a command, whatever the user's say (SPEC §7.1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BuiltinVerdict {
    /// How dangerous.
    pub level: RiskLevel,
    /// The rule that decided.
    pub rule: String,
    /// The bytes of the command that matched.
    pub span: Range<usize>,
    /// Why.
    pub reason: String,
}

/// What each part of the classifier sees in a command by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The bytes of every simple command.
    pub commands: Vec<Range<usize>>,
    /// The bytes of every word of them.
    pub words: Vec<Range<usize>>,
}

/// The bytes for which the scan refuses to have a command read.
pub fn refused(command: &str) -> Option<Range<usize>> {
    scan::scan(command).map(|refused| refused.span)
}

/// What the first reader sees; nothing where it cannot read everything.
pub fn first_reading(command: &str) -> Option<Reading> {
    let script = parse::parse(command, 0).ok()?;
    Some(Reading {
        commands: script.commands.iter().map(SimpleCommand::span).collect(),
        words: script.commands.iter().flat_map(|c| c.words.iter().map(Word::span)).collect(),
    })
}

/// What the second reader sees; nothing where it cannot read everything.
pub fn second_reading(command: &str) -> Option<Reading> {
    let second = grammar::read(command).filter(|second| !second.faulty)?;
    Some(Reading {
        commands: second.programs.iter().chain(&second.others).map(|at| *at..*at).collect(),
        words: Vec::new(),
    })
}

/// The verdict on a command.
pub fn of_command(command: &str, shell: Shell, rules: &UserRules) -> CommandVerdict {
    of_command_beside(command, shell, rules, &[])
}

/// The verdict on a command that must not touch `own`, the folders of this program itself.
pub fn of_command_beside(
    command: &str,
    shell: Shell,
    rules: &UserRules,
    own: &[PathBuf],
) -> CommandVerdict {
    if let Some(refused) = scan::scan(command) {
        return alone(refused.rule, refused.span, refused.reason);
    }
    let whole = 0..command.len();
    let script = match parse::parse(command, 0) {
        Ok(script) => script,
        Err(fault) => {
            let reason = format!("This cannot be read completely: {}.", fault.what);
            return alone(
                "unreadable",
                command.floor_char_boundary(fault.at)..command.len(),
                &reason,
            );
        }
    };
    let Some(mut judge) = Judge::new(command, rules, own) else {
        return alone("no-rules", whole, "The table of rules cannot be read.");
    };
    judge.made = script.commands.clone();
    judge.made_loops = script.loops.clone();
    judge.script(script.clone(), &SimpleCommand::default(), 0);
    // The second reader can only raise. What is dangerous without it may also be what it takes for ever to
    // read: a program that is named by a pattern of brackets.
    if !judge.is_dangerous()
        && let Some((at, reason)) = doubt(command, &script)
    {
        judge.danger("readers-disagree", at..whole.end, reason);
    }
    if shell == Shell::Posix && judge.bash_only {
        judge.danger("not-posix", whole.clone(), "Only bash reads this as it was read here.");
    }
    verdict(judge, whole)
}

/// Where and why it is not certain which commands this runs.
fn doubt(command: &str, script: &Script) -> Option<(usize, &'static str)> {
    let mut second = grammar::read(command);
    if second.as_ref().is_some_and(|it| it.faulty)
        && let Some(bare) = without_texts(command, script)
    {
        second = grammar::read(&bare);
    }
    match &second {
        None => Some((0, "The second reader is not there.")),
        Some(second) if second.faulty => {
            Some((0, "The second reader cannot read this completely."))
        }
        Some(second) => agreement::disagreement(command, script, second)
            .map(|at| (at, "Two readers do not agree on which commands this runs.")),
    }
}

/// The command with blanks for here-strings that hold nothing but plain text: the grammar does not know them behind
/// other redirections. What stands in such quotes runs nothing, whoever reads it.
fn without_texts(command: &str, script: &Script) -> Option<String> {
    let mut bare = command.to_owned();
    for redirect in script.commands.iter().flat_map(|it| &it.redirects) {
        let span = redirect.target.span();
        let written = command.get(span.clone()).unwrap_or_default();
        let plain = written.bytes().all(|it| !matches!(it, b'$' | b'`' | b'\\' | b'\n'))
            && redirect.target.inner.is_none();
        let before = command.get(..span.start).unwrap_or_default().trim_end();
        if redirect.operator == "<<<" && plain && before.ends_with("<<<") {
            let start = before.len() - 3;
            bare.replace_range(start..span.end, &" ".repeat(span.end - start));
        }
    }
    (bare != command).then_some(bare)
}

/// The first of the worst findings, with the rules of the user and without them.
fn verdict(judge: Judge, whole: Range<usize>) -> CommandVerdict {
    let findings = &judge.findings;
    let worst = findings.iter().rev().max_by_key(|finding| finding.decided().level);
    let builtin = findings.iter().rev().max_by_key(|finding| finding.builtin.level);
    let (Some(worst), Some(builtin)) = (worst, builtin) else {
        return alone("nothing", whole, "There is no command.");
    };
    let decided = worst.decided();
    CommandVerdict {
        level: decided.level,
        rule: decided.rule.clone(),
        user_rule: worst.user.is_some(),
        span: worst.span.clone(),
        reason: decided.reason.clone(),
        suggestion: decided.safer.clone(),
        builtin: BuiltinVerdict {
            level: builtin.builtin.level,
            rule: builtin.builtin.rule.clone(),
            span: builtin.span.clone(),
            reason: builtin.builtin.reason.clone(),
        },
        commands: judge.commands,
        matched: judge.matched,
    }
}

fn alone(rule: &str, span: Range<usize>, reason: &str) -> CommandVerdict {
    let level = RiskLevel::Dangerous;
    CommandVerdict {
        level,
        rule: rule.to_owned(),
        user_rule: false,
        span: span.clone(),
        reason: reason.to_owned(),
        suggestion: None,
        builtin: BuiltinVerdict { level, rule: rule.to_owned(), span, reason: reason.to_owned() },
        commands: Vec::new(),
        matched: BTreeSet::new(),
    }
}
