//! The state of one classification, from the commands of a script to the findings.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::PathBuf;

use super::listed::listed;
use super::place;
use super::program::program_of;
use super::rating::{Finding, Rating};
use super::syntax::{DECLARING, END, Script, SimpleCommand, UNKNOWN, Word};
use super::table::{TABLE, Table};
use super::user::UserRules;
use crate::plan::RiskLevel;

/// Limit for wrappers inside wrappers (SPEC §7.1).
pub(super) const MAX_DEPTH: usize = 8;
/// Limit for the commands of one classification, including inner ones.
const MAX_COMMANDS: usize = 2000;

pub(super) struct Judge<'a> {
    /// The text of the whole command.
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
    /// Files that this command line writes, and may run later.
    pub(super) written: Vec<String>,
    /// Whether a command fetched files.
    pub(super) fetched: bool,
    /// Whether a command encrypted files.
    pub(super) locked: bool,
    /// Rules of the user that match a command.
    pub(super) matched: BTreeSet<String>,
    /// Variables that were set from input.
    pub(super) read_names: BTreeSet<String>,
    /// Aliases and their texts.
    pub(super) aliases: BTreeMap<String, String>,
    /// Links that this command line creates to places outside the working folder.
    pub(super) links: Vec<String>,
    /// Every command and loop of the outermost command line.
    pub(super) made: Vec<SimpleCommand>,
    pub(super) made_loops: Vec<(String, Vec<Word>)>,
    /// The folders of this program.
    pub(super) own: &'a [PathBuf],
    /// Bytes of the texts produced so far by replacing variables and operands.
    pub(super) expanded: usize,
}

impl<'a> Judge<'a> {
    /// `None` if the built-in table is broken.
    pub(super) fn new(source: &'a str, user: &'a UserRules, own: &'a [PathBuf]) -> Option<Self> {
        Some(Self {
            source,
            table: TABLE.as_ref().ok()?,
            user,
            findings: Vec::new(),
            commands: Vec::new(),
            bash_only: false,
            variables: BTreeMap::new(),
            folder: String::new(),
            script: Script::default(),
            calls: 0,
            written: Vec::new(),
            fetched: false,
            locked: false,
            matched: BTreeSet::new(),
            read_names: BTreeSet::new(),
            aliases: BTreeMap::new(),
            links: Vec::new(),
            made: Vec::new(),
            made_loops: Vec::new(),
            own,
            expanded: 0,
        })
    }

    pub(super) fn note(&mut self, level: RiskLevel, rule: &str, span: Range<usize>, reason: &str) {
        let builtin = Rating::new(level, rule, reason);
        self.findings.push(Finding { span, builtin, user: None });
    }

    pub(super) fn caution(&mut self, rule: &str, span: Range<usize>, reason: &str) {
        self.note(RiskLevel::Caution, rule, span, reason);
    }

    /// Whether there is a dangerous finding already, both with and without the rules of the user.
    pub(super) fn is_dangerous(&self) -> bool {
        let dangerous = |level: RiskLevel| level >= RiskLevel::Dangerous;
        self.findings.iter().any(|finding| dangerous(finding.decided().level))
            && self.findings.iter().any(|finding| dangerous(finding.builtin.level))
    }

    pub(super) fn danger(&mut self, rule: &str, span: Range<usize>, reason: &str) {
        self.note(RiskLevel::Dangerous, rule, span, reason);
    }

    pub(super) fn too_deep(&mut self, span: Range<usize>) {
        let reason =
            "Nests commands inside commands more than 8 levels deep, or more than 2,000 commands.";
        self.danger("wrapped-too-deep", span, reason);
    }

    /// Rates every command of a script.
    pub(super) fn script(&mut self, script: Script, outer: &SimpleCommand, depth: usize) {
        self.bash_only |= script.bash_only;
        for (name, values) in &script.loops {
            self.variable(name, None, &outer.span);
            let texts = values.iter().map(|word| word.text.clone()).collect();
            self.assigns(name, texts, &outer.span);
            if self.calculates(name) {
                self.evaluates(values);
            }
        }
        for function in &script.functions {
            self.fork_bomb(&script, function);
        }
        for span in &script.endless {
            let reason = "Starts more and more processes without waiting for any.";
            self.danger("endless-loop", span.clone(), reason);
        }
        if let Some(span) = script.overflow.clone() {
            self.too_much(&span);
        }
        let evaluated = script.evaluated.clone();
        let above = std::mem::replace(&mut self.script, script);
        for index in 0..self.script.commands.len() {
            let printed = self.script.commands.get(index).and_then(|it| self.printed_program(it));
            if let (Some(printed), Some(command)) = (printed, self.script.commands.get_mut(index)) {
                let span = std::mem::replace(command, printed).span;
                let reason = "The program is named by the output of another command.";
                self.caution("printed-program", span, reason);
            }
        }
        for index in 0..self.script.commands.len() {
            let Some(mut command) = self.script.commands.get(index).cloned() else { break };
            command.remote |= outer.remote;
            command.raised |= outer.raised;
            self.command(&command, depth);
        }
        // Evaluated last, because the values of variables are known only now.
        self.evaluates(&evaluated);
        self.script = above;
    }

    /// Rates a function that starts itself twice at once, which exhausts the machine.
    fn fork_bomb(&mut self, script: &Script, function: &super::syntax::Function) {
        let calls =
            |it: &SimpleCommand| it.words.first().is_some_and(|it| it.text == function.name);
        let body = script.commands.get(function.body.clone()).unwrap_or_default();
        let piped = |it: &SimpleCommand| {
            let input = it.input.clone().and_then(|input| script.commands.get(input));
            calls(it) && input.unwrap_or_default().iter().any(calls)
        };
        let bomb = body.iter().any(piped);
        let twice = body.iter().filter(|it| calls(it)).count() > 1;
        let alone = |it: &SimpleCommand| calls(it) && it.background;
        if bomb || (twice && body.iter().any(alone)) {
            self.note(
                RiskLevel::Blocked,
                "fork-bomb",
                function.span.clone(),
                "Defines a function that starts itself twice, which fills the machine with processes.",
            );
        }
    }

    pub(super) fn arguments(&mut self, words: &[Word]) -> Vec<(String, bool)> {
        let mut arguments = Vec::new();
        for word in words {
            let texts = self.resolve(&word.text, &word.span);
            for text in texts.unwrap_or_else(|| vec![word.text.clone()]) {
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
        if depth > MAX_DEPTH || self.calls > MAX_COMMANDS {
            return self.too_deep(command.span());
        }
        for (name, value) in &command.assignments {
            if let Some(values) = self.resolve(&value.text, &value.span) {
                self.assigns(name, values, &value.span);
            }
            if value.text.contains("[$(") || value.text.contains("[`") {
                let reason = "A subscript in this value runs a command whenever the value is used in arithmetic.";
                self.danger("evaluated-data", value.span(), reason);
            }
            if self.calculates(name) {
                self.evaluates(std::slice::from_ref(value));
            }
            if value.inner.is_some() && self.is_foreign(value) {
                self.read_names.insert(name.clone());
            }
            self.variable(name, Some(&value.text), &value.span);
            if !command.words.is_empty() && !command.remote {
                self.exports_place(name, &value.text, &value.span);
            }
            if !command.words.is_empty() || name.bytes().all(|b| !b.is_ascii_lowercase()) {
                self.exported(name, &value.span);
            }
        }
        for redirect in &command.redirects {
            self.redirect(redirect);
        }
        for word in command.words.iter().filter(|word| word.escaped) {
            let reason = "A word is written as character codes, which hides what it says.";
            self.danger("escaped-word", word.span(), reason);
        }
        let Some(first) = command.words.first() else {
            return self.note(RiskLevel::Safe, "no-program", command.span(), "Starts no program.");
        };
        self.own_folder(command);
        self.expanded += command.words.iter().map(|word| word.text.len()).sum::<usize>();
        self.commands.push(command.clone());
        let fault = if first.unknown() {
            Some("The program is named by a variable or by the output of a command.")
        } else if first.glob && !matches!(first.text.as_str(), "[" | "[[") {
            Some("The program is named by a pattern.")
        } else if first.text.starts_with('!') && first.text.len() > 1 {
            Some("The program is named by an entry of the shell's history.")
        } else if !first.text.is_ascii() {
            Some("The program's name contains letters that look like other letters.")
        } else {
            None
        };
        let looped = self.looped_programs(command);
        if !looped.is_empty() {
            for call in &looped {
                self.command(call, depth + 1);
            }
            return;
        }
        if let Some(reason) = fault {
            return self.danger("hidden-program", first.span(), reason);
        }
        self.fetches(command);
        self.encrypts(command);
        let Some(program) = program_of(&first.text) else {
            self.runs_file(first);
            return self.rate(command, &first.text.clone(), depth);
        };
        if self.function_call(command, &program, depth) {
            return;
        }
        // `git-x` is another name of `git x`.
        if let Some(subcommand) = program.strip_prefix("git-")
            && !self.table.dangerous(&program)
        {
            let git = ["git", subcommand].map(|word| Word::literal(word, first.span()));
            let rest = command.arguments().iter().cloned();
            let words = git.into_iter().chain(rest).collect();
            return self.command(&SimpleCommand { words, ..command.clone() }, depth + 1);
        }
        self.evaluating_builtin(command, &program);
        if program == "alias" {
            self.alias(command, depth);
        }
        self.alias_call(command, &program, depth);
        self.names(command, &program);
        self.empties(command, &program);
        self.overwrites(command, &program);
        self.installs(command, &program);
        self.installs_fetched(command, &program);
        self.runs_written(command);
        if self.unwrap(command, &program, depth) {
            return self.rate_wrapper(command, &program, depth);
        }
        if matches!(program.as_str(), "cd" | "pushd") {
            let operands = self.arguments(command.arguments()).into_iter().map(|(text, _)| text);
            // Without an argument, `cd` changes to the home folder.
            let home = (program == "cd" && command.words.len() == 1).then(|| "~".to_owned());
            if let Some(to) = operands.chain(home).find(|text| !text.starts_with('-')) {
                self.folder = place::normalize(&to, &self.folder);
            }
        }
        if listed(DECLARING, &program) || matches!(program.as_str(), "unset" | "env") {
            for word in command.arguments().iter() {
                if let Some((name, value)) = word.text.split_once('=') {
                    let values = self.resolve(value, &word.span).unwrap_or_default();
                    self.assigns(name, values, &word.span);
                    let exports =
                        |word: &Word| word.text.starts_with("-") && word.text.contains('x');
                    if program == "export" || command.arguments().iter().any(exports) {
                        self.exported(name, &word.span);
                        self.exports_place(name, value, &word.span);
                    }
                }
                // An unset variable no longer affects later programs, but may have controlled the history.
                let recorded = || word.text.starts_with("HIST") || word.text.starts_with("PROMPT");
                if word.text.contains('=') || (program == "unset" && recorded()) {
                    let mut parts = word.text.splitn(2, '=');
                    let name = parts.next().unwrap_or_default();
                    self.variable(name, parts.next(), &word.span);
                }
            }
        }
        self.rate(command, &program, depth);
        let arguments = self.arguments(command.arguments());
        self.remember_link(&program, &arguments);
    }
}
