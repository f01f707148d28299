//! From the commands of a script to the worst verdict: wrappers are unwrapped, rules asked.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::effects::program_of;
use super::place;
use super::syntax::{END, Script, SimpleCommand, UNKNOWN, Word};
use super::table::{TABLE, Table};
use super::user::UserRules;
use crate::risk::RiskLevel;

/// Wrappers inside wrappers that are followed (SPEC §7.1).
const DEEPEST: usize = 8;
/// Commands that one classification looks at, wrapped ones with it.
const MOST: usize = 2000;

/// What one rule says about a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Opinion {
    pub(super) level: RiskLevel,
    pub(super) rule: String,
    pub(super) reason: String,
    pub(super) safer: Option<String>,
}

/// What one command deserves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) span: Range<usize>,
    pub(super) builtin: Opinion,
    /// A rule of the user that raised or lowered it.
    pub(super) user: Option<Opinion>,
}

impl Finding {
    /// What counts.
    pub(super) fn decided(&self) -> &Opinion {
        self.user.as_ref().unwrap_or(&self.builtin)
    }
}

pub(super) struct Judge<'a> {
    /// The whole command.
    pub(super) source: &'a str,
    pub(super) table: &'a Table,
    pub(super) user: &'a UserRules,
    pub(super) findings: Vec<Finding>,
    pub(super) commands: Vec<SimpleCommand>,
    pub(super) bash_only: bool,
    pub(super) variables: BTreeMap<String, Vec<String>>,
    pub(super) folder: String,
    pub(super) script: Script,
    calls: usize,
    /// Files that this command itself writes before it may run them.
    pub(super) written: Vec<String>,
    /// Something was fetched into a file.
    pub(super) fetched: bool,
    /// Something was put where only a key opens it.
    pub(super) locked: bool,
    /// The rules of the user that match a command.
    pub(super) matched: BTreeSet<String>,
}

impl<'a> Judge<'a> {
    /// A judge with the table; nothing when the table of the program itself is broken.
    pub(super) fn new(source: &'a str, user: &'a UserRules) -> Option<Self> {
        Some(Self {
            source,
            table: TABLE.as_ref().ok()?,
            user,
            findings: Vec::new(),
            commands: Vec::new(),
            bash_only: false,
            variables: BTreeMap::from([("TMPDIR".to_owned(), vec!["/tmp".to_owned()])]),
            folder: String::new(),
            script: Script::default(),
            calls: 0,
            written: Vec::new(),
            fetched: false,
            locked: false,
            matched: BTreeSet::new(),
        })
    }

    pub(super) fn note(
        &mut self,
        level: RiskLevel,
        rule: &str,
        span: Range<usize>,
        reason: &str,
        safer: Option<&str>,
    ) {
        let builtin = Opinion {
            level,
            rule: rule.to_owned(),
            reason: reason.to_owned(),
            safer: safer.map(str::to_owned),
        };
        self.findings.push(Finding { span, builtin, user: None });
    }

    /// Whether something is dangerous already, with the rules of the user and without them.
    pub(super) fn is_dangerous(&self) -> bool {
        let dangerous = |level: RiskLevel| level >= RiskLevel::Dangerous;
        self.findings.iter().any(|finding| dangerous(finding.decided().level))
            && self.findings.iter().any(|finding| dangerous(finding.builtin.level))
    }

    pub(super) fn danger(&mut self, rule: &str, span: Range<usize>, reason: &str) {
        self.note(RiskLevel::Dangerous, rule, span, reason, None);
    }

    /// Judges every command of a script that a shell would read.
    pub(super) fn script(&mut self, script: Script, outer: &SimpleCommand, depth: usize) {
        self.bash_only |= script.bash_only;
        for (name, values) in &script.loops {
            self.variable(name, None, &outer.span);
            let texts = values.iter().map(|word| word.text.clone());
            self.variables.entry(name.clone()).or_default().extend(texts);
        }
        for function in &script.functions {
            self.bomb(&script, function);
        }
        for span in &script.endless {
            self.danger(
                "endless-loop",
                span.clone(),
                "Starts ever more processes and waits for none.",
            );
        }
        let above = std::mem::replace(&mut self.script, script);
        for index in 0..self.script.commands.len() {
            let Some(mut command) = self.script.commands.get(index).cloned() else { break };
            command.remote |= outer.remote;
            command.raised |= outer.raised;
            self.command(&command, depth);
        }
        self.script = above;
    }

    /// A function that pipes itself into itself fills the machine.
    fn bomb(&mut self, script: &Script, function: &super::syntax::Function) {
        let calls = |index: usize| {
            script
                .commands
                .get(index)
                .and_then(|command| command.words.first())
                .is_some_and(|word| word.text == function.name)
        };
        let bomb = function.body.clone().any(|index| {
            calls(index)
                && script
                    .commands
                    .get(index)
                    .and_then(|command| command.input.clone())
                    .is_some_and(|mut input| input.any(calls))
        });
        let twice = function.body.clone().filter(|index| calls(*index)).count() > 1;
        let alone = |index: usize| {
            calls(index) && script.commands.get(index).is_some_and(|command| command.background)
        };
        if bomb || (twice && function.body.clone().any(alone)) {
            self.note(
                RiskLevel::Blocked,
                "fork-bomb",
                function.span.clone(),
                "A function that starts itself twice fills the machine with processes.",
                None,
            );
        }
    }

    /// The values that a text may have; unknown parts stay marked.
    pub(super) fn resolve(&self, text: &str) -> Vec<String> {
        let mut texts = vec![text.to_owned()];
        if !text.contains(UNKNOWN) {
            return texts;
        }
        for (name, values) in &self.variables {
            let mark = format!("{UNKNOWN}{name}{END}");
            if !values.is_empty() && text.contains(&mark) {
                texts = texts
                    .iter()
                    .flat_map(|text| values.iter().map(|value| text.replace(&mark, value)))
                    .take(16)
                    .collect();
            }
        }
        texts
    }

    pub(super) fn arguments(&self, words: &[Word]) -> Vec<(String, bool)> {
        let mut arguments = Vec::new();
        for word in words {
            for text in self.resolve(&word.text) {
                let glob = word.glob || (text != word.text && text.contains(['*', '?', '[']));
                let lone = word.text.starts_with(UNKNOWN) && word.text.ends_with(END);
                if lone && text != word.text && text.contains([' ', '\t']) {
                    arguments.extend(text.split_whitespace().map(|part| (part.to_owned(), glob)));
                } else {
                    arguments.push((text, glob));
                }
            }
        }
        arguments
    }

    pub(super) fn command(&mut self, command: &SimpleCommand, depth: usize) {
        self.calls += 1;
        if depth > DEEPEST || self.calls > MOST {
            return self.danger(
                "wrapped-too-deep",
                command.span(),
                "Commands inside commands, deeper than 8.",
            );
        }
        for (name, value) in &command.assignments {
            let values = self.resolve(&value.text);
            let known = self.variables.entry(name.clone()).or_default();
            known.extend(values);
            known.truncate(16);
            self.variable(name, Some(&value.text), &value.span);
        }
        for redirect in &command.redirects {
            self.redirect(redirect);
        }
        for word in command.words.iter().filter(|word| word.escaped) {
            self.danger("escaped-word", word.span(), "A word is hidden behind character codes.");
        }
        let Some(first) = command.words.first() else {
            return self.note(
                RiskLevel::Safe,
                "no-program",
                command.span(),
                "Starts no program.",
                None,
            );
        };
        self.commands.push(command.clone());
        let fault = if first.unknown() {
            Some("The program is named by a variable or by the output of a command.")
        } else if first.glob && !matches!(first.text.as_str(), "[" | "[[") {
            Some("The program is named by a pattern.")
        } else if first.text.starts_with('!') && first.text.len() > 1 {
            Some("The program is named by what was typed before.")
        } else if !first.text.is_ascii() {
            Some("The program's name has letters that look like others.")
        } else {
            None
        };
        if let Some(reason) = fault {
            return self.danger("hidden-program", first.span(), reason);
        }
        self.fetches(command);
        self.locks(command);
        let Some(program) = program_of(&first.text) else {
            self.runs_file(first);
            return self.grade(command, &first.text.clone(), depth);
        };
        if self.call(command, &program, depth) {
            return;
        }
        self.names(command, &program);
        self.empties(command, &program);
        self.installs(command, &program);
        if self.unwrap(command, &program, depth) {
            return self.own(command, &program);
        }
        if matches!(program.as_str(), "cd" | "pushd")
            && let Some((to, _)) = self
                .arguments(command.words.get(1..).unwrap_or_default())
                .into_iter()
                .find(|(text, _)| !text.starts_with('-'))
        {
            self.folder = place::settle(&to, &self.folder);
        }
        if matches!(
            program.as_str(),
            "export" | "declare" | "local" | "typeset" | "readonly" | "unset" | "env"
        ) {
            for word in command.words.iter().skip(1) {
                if let Some((name, value)) = word.text.split_once('=') {
                    self.variables.entry(name.to_owned()).or_default().push(value.to_owned());
                }
                if word.text.contains('=') || program == "unset" {
                    let mut parts = word.text.splitn(2, '=');
                    let name = parts.next().unwrap_or_default();
                    self.variable(name, parts.next(), &word.span);
                }
            }
        }
        self.grade(command, &program, depth);
    }

    /// A call of a function: its body with the arguments of the call.
    fn call(&mut self, command: &SimpleCommand, program: &str, depth: usize) -> bool {
        let Some(function) = self.script.functions.iter().find(|function| function.name == program)
        else {
            return false;
        };
        let body = self.script.commands.get(function.body.clone()).unwrap_or_default().to_vec();
        let arguments = command.words.get(1..).unwrap_or_default();
        let all = [format!("{UNKNOWN}@{END}"), format!("{UNKNOWN}*{END}")];
        for mut inner in body {
            if inner.words.first().is_some_and(|word| word.text == program) {
                continue;
            }
            let before = inner.words.clone();
            inner.words = inner
                .words
                .into_iter()
                .flat_map(|word| {
                    if all.contains(&word.text) {
                        return arguments.to_vec();
                    }
                    let mut text = word.text.clone();
                    for (number, argument) in arguments.iter().enumerate() {
                        text =
                            text.replace(&format!("{UNKNOWN}{}{END}", number + 1), &argument.text);
                    }
                    vec![Word { text, ..word }]
                })
                .collect();
            if inner.words != before {
                inner.span = command.span();
                self.command(&inner, depth + 1);
            }
        }
        true
    }

    /// The first known values of words, for what a wrapper runs.
    pub(super) fn first_values(&self, words: &[Word]) -> Vec<Word> {
        words
            .iter()
            .flat_map(|word| {
                let text = self.resolve(&word.text).into_iter().next().unwrap_or_default();
                let lone = word.text.starts_with(UNKNOWN) && word.text.ends_with(END);
                // In quotes it stays one word.
                let quoted = self.source.get(word.span()).is_some_and(|it| it.starts_with('"'));
                if lone && !quoted && text != word.text && text.contains(' ') {
                    text.split_whitespace().map(|part| Word::literal(part, word.span())).collect()
                } else {
                    vec![Word { text, ..word.clone() }]
                }
            })
            .collect()
    }
}
