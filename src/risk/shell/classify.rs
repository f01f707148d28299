//! From the text of a command to its verdict.

use std::collections::BTreeSet;
use std::ops::Range;

use serde::Serialize;

use super::classifier::Classifier;
use super::rating::{Finding, Rating};
use super::syntax::Script;
use super::{
    SimpleCommand, Surroundings, UserRules, Word, parse, parser_agreement, scan, second_parser,
};
use crate::plan::{CommandInput, RiskLevel};

/// The shell that will run the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Shell {
    /// `bash`, whose grammar the parsers implement.
    #[default]
    Bash,
    /// Another `sh`: anything beyond POSIX is at least dangerous.
    Posix,
}

/// The verdict on a command.
#[derive(Debug, Clone, Serialize)]
pub struct CommandVerdict {
    /// The level.
    pub level: RiskLevel,
    /// The rule that decided.
    pub rule: String,
    /// Whether the rule that decided is one of the user's.
    pub user_rule: bool,
    /// The bytes of the command that the rule matched.
    pub span: Range<usize>,
    /// The reason.
    pub reason: String,
    /// A safer alternative, if there is one.
    pub suggestion: Option<String>,
    /// The bytes of every part of the command that has the level, in order; none overlaps another.
    #[serde(skip)]
    pub parts: Vec<Range<usize>>,
    /// The verdict without the rules of the user.
    pub builtin: BuiltinVerdict,
    /// Every simple command that was found.
    #[serde(skip)]
    pub commands: Vec<SimpleCommand>,
    /// Rules of the user that match one of the commands, whether they decided or not.
    #[serde(skip)]
    pub matched: BTreeSet<String>,
}

/// The verdict of the built-in rules alone (SPEC §7.1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BuiltinVerdict {
    /// The level.
    pub level: RiskLevel,
    /// The rule that decided.
    pub rule: String,
    /// The bytes of the command that the rule matched.
    pub span: Range<usize>,
    /// The reason.
    pub reason: String,
}

/// The positions that one parser finds in a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedSpans {
    /// The span of every simple command; from the second parser, an empty span at its start.
    pub commands: Vec<Range<usize>>,
    /// The span of every word of these commands; none from the second parser.
    pub words: Vec<Range<usize>>,
}

/// The bytes for which the scan refuses a command before parsing; `None` if the command is not refused.
pub fn refused_span(command: &str) -> Option<Range<usize>> {
    scan::scan(command).map(|refused| refused.span)
}

/// The result of the first parser; `None` if it cannot parse all of the command.
pub fn first_parse(command: &str) -> Option<ParsedSpans> {
    let script = parse::parse(command, 0).ok()?;
    Some(ParsedSpans {
        commands: script.commands.iter().map(SimpleCommand::span).collect(),
        words: script.commands.iter().flat_map(|c| c.words.iter().map(Word::span)).collect(),
    })
}

/// The result of the second parser; `None` if it cannot parse all of the command.
pub fn second_parse(command: &str) -> Option<ParsedSpans> {
    let second = second_parser::read(command).filter(|second| !second.faulty)?;
    Some(ParsedSpans {
        commands: second
            .programs
            .iter()
            .chain(&second.others)
            .map(|start| *start..*start)
            .collect(),
        words: Vec::new(),
    })
}

/// The verdict on a command by the rules alone, as if no repository named a program.
pub fn of_command(command: &str, shell: Shell, rules: &UserRules) -> CommandVerdict {
    of_local_command(command, shell, rules, Surroundings::NONE, &[])
}

/// As [`of_command`], for a command on this computer, of which the surroundings are known. `inputs` are the variables that the command gets in its environment: a value counts as if it stood in the
/// command, and one that is not known counts as input from outside.
pub fn of_local_command(
    command: &str,
    shell: Shell,
    rules: &UserRules,
    surroundings: Surroundings<'_>,
    inputs: &[CommandInput],
) -> CommandVerdict {
    if let Some(refused) = scan::scan(command) {
        return dangerous_verdict(refused.rule, refused.span, refused.reason);
    }
    let whole = 0..command.len();
    let script = match parse::parse(command, 0) {
        Ok(script) => script,
        Err(error) => {
            let reason = format!("This cannot be parsed completely: {}.", error.what);
            return dangerous_verdict(
                "unreadable",
                command.floor_char_boundary(error.position)..command.len(),
                &reason,
            );
        }
    };
    let Some(mut classifier) = Classifier::new(command, rules, surroundings) else {
        return dangerous_verdict("no-rules", whole, "The table of rules cannot be read.");
    };
    classifier.line_commands = script.commands.clone();
    classifier.line_loops = script.loops.clone();
    classifier.set_inputs(inputs);
    classifier.rate_inputs(&script, inputs);
    classifier.rate_script(script.clone(), &SimpleCommand::default(), 0);
    // The second parser can only raise the level, so it is skipped for commands that are dangerous already. Among
    // these are commands for which it needs exponential time, such as a program that is named by a bracket pattern.
    if !classifier.is_dangerous()
        && let Some((start, reason)) = second_parser_doubt(command, &script)
    {
        classifier.add_danger("readers-disagree", start..whole.end, reason);
    }
    if shell == Shell::Posix && classifier.bash_only {
        classifier.add_danger(
            "not-posix",
            whole.clone(),
            "Only bash interprets this as it was checked; another shell may run something else.",
        );
    }
    verdict(classifier, whole)
}

/// The position and the reason if the second parser does not confirm which commands run.
fn second_parser_doubt(command: &str, script: &Script) -> Option<(usize, &'static str)> {
    let mut second = second_parser::read(command);
    if second.as_ref().is_some_and(|it| it.faulty)
        && let Some(bare) = without_here_strings(command, script)
    {
        second = second_parser::read(&bare);
    }
    match &second {
        None => Some((0, "The second parser is not available.")),
        Some(second) if second.faulty => {
            Some((0, "The second parser cannot parse this completely."))
        }
        Some(second) => parser_agreement::disagreement(command, script, second)
            .map(|start| (start, "The two parsers disagree about which commands this runs.")),
    }
}

/// Replaces here-strings of plain text by blanks, because the second parser does not support here-strings after other
/// redirections. Plain text runs nothing. `None` if there is no such here-string.
fn without_here_strings(command: &str, script: &Script) -> Option<String> {
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

/// The first of the worst findings, both with and without the rules of the user.
fn verdict(classifier: Classifier, whole: Range<usize>) -> CommandVerdict {
    let findings = &classifier.findings;
    let worst = findings.iter().rev().max_by_key(|finding| finding.effective().level);
    let builtin = findings.iter().rev().max_by_key(|finding| finding.builtin.level);
    let (Some(worst), Some(builtin)) = (worst, builtin) else {
        return dangerous_verdict("nothing", whole, "There is no command.");
    };
    let mut found = CommandVerdict::new(worst, builtin);
    let as_bad = findings.iter().filter(|finding| finding.effective().level == found.level);
    found.parts = merged(as_bad.map(|finding| finding.span.clone()).collect());
    found.commands = classifier.commands;
    found.matched = classifier.matched;
    found
}

/// The same bytes as ranges in order, none of which overlaps another.
fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| range.start);
    ranges.into_iter().fold(Vec::new(), |mut merged: Vec<Range<usize>>, range| {
        match merged.last_mut().filter(|last| range.start < last.end) {
            Some(last) => last.end = last.end.max(range.end),
            None => merged.push(range),
        }
        merged
    })
}

/// The dangerous verdict on a command that is not rated any further.
fn dangerous_verdict(rule: &str, span: Range<usize>, reason: &str) -> CommandVerdict {
    let finding = Finding { span, builtin: Rating::dangerous(rule, reason), user: None };
    CommandVerdict::new(&finding, &finding)
}

impl CommandVerdict {
    fn new(finding: &Finding, without_user: &Finding) -> Self {
        let (effective, builtin) = (finding.effective(), &without_user.builtin);
        Self {
            level: effective.level,
            rule: effective.rule.clone(),
            user_rule: finding.user.is_some(),
            span: finding.span.clone(),
            reason: effective.reason.clone(),
            suggestion: effective.safer.clone(),
            parts: vec![finding.span.clone()],
            builtin: BuiltinVerdict {
                level: builtin.level,
                rule: builtin.rule.clone(),
                span: without_user.span.clone(),
                reason: builtin.reason.clone(),
            },
            commands: Vec::new(),
            matched: BTreeSet::new(),
        }
    }
}
