//! The state of one classification, and how it rates a script, a function and a simple command.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::listed::listed;
use super::program::program_of;
use super::rating::{Finding, Rating};
use super::syntax::{DECLARING, END, Script, UNKNOWN};
use super::table::{TABLE, Table};
use super::{SimpleCommand, Surroundings, UserRules, Word, path_kind};
use crate::plan::RiskLevel;

/// Limit for wrappers inside wrappers (SPEC §7.1).
pub(super) const MAX_DEPTH: usize = 8;
/// Limit for the commands of one classification, including inner ones.
const MAX_COMMANDS: usize = 2000;

/// The state of one classification.
pub(super) struct Classifier<'a> {
    /// The text of the whole command.
    pub(super) source: &'a str,
    pub(super) table: &'a Table,
    pub(super) user_rules: &'a UserRules,
    pub(super) findings: Vec<Finding>,
    /// Every rated command that starts a program, including inner ones.
    pub(super) commands: Vec<SimpleCommand>,
    /// Whether any script uses syntax beyond POSIX.
    pub(super) bash_only: bool,
    /// The known values of each variable.
    pub(super) variables: BTreeMap<String, Vec<String>>,
    /// The working folder after `cd`, normalized; relative to the initial one unless it starts with `/`, `~` or an
    /// unknown part. Empty before the first `cd`.
    pub(super) folder: String,
    /// The script whose commands are being rated.
    pub(super) script: Script,
    call_count: usize,
    /// Files that the command line writes, and may run later.
    pub(super) written_files: Vec<String>,
    /// Whether a command fetched files.
    pub(super) fetched_files: bool,
    /// Whether a command encrypted files.
    pub(super) encrypted_files: bool,
    /// Ids of the user's rules that match a command.
    pub(super) matched: BTreeSet<String>,
    /// Variables that were set from input.
    pub(super) input_variables: BTreeSet<String>,
    /// Aliases and their texts.
    pub(super) aliases: BTreeMap<String, String>,
    /// Links that the command line creates to paths outside the working folder.
    pub(super) links: Vec<String>,
    /// Every command of the outermost command line.
    pub(super) line_commands: Vec<SimpleCommand>,
    /// Every loop of the outermost command line: the variable and its values.
    pub(super) line_loops: Vec<(String, Vec<Word>)>,
    /// What is known besides the text.
    pub(super) surroundings: Surroundings<'a>,
    /// Every folder in which a command may run, as in `folder`.
    pub(super) visited_folders: Vec<String>,
    /// Bytes of the texts produced so far by replacing variables and operands.
    pub(super) expanded_bytes: usize,
}

impl<'a> Classifier<'a> {
    /// `None` if the built-in table cannot be parsed.
    pub(super) fn new(
        source: &'a str,
        user_rules: &'a UserRules,
        surroundings: Surroundings<'a>,
    ) -> Option<Self> {
        Some(Self {
            source,
            table: TABLE.as_ref().ok()?,
            user_rules,
            findings: Vec::new(),
            commands: Vec::new(),
            bash_only: false,
            variables: BTreeMap::new(),
            folder: String::new(),
            script: Script::default(),
            call_count: 0,
            written_files: Vec::new(),
            fetched_files: false,
            encrypted_files: false,
            matched: BTreeSet::new(),
            input_variables: BTreeSet::new(),
            aliases: BTreeMap::new(),
            links: Vec::new(),
            line_commands: Vec::new(),
            line_loops: Vec::new(),
            surroundings,
            visited_folders: vec![String::new()],
            expanded_bytes: 0,
        })
    }

    pub(super) fn add_finding(
        &mut self,
        level: RiskLevel,
        rule: &str,
        span: Range<usize>,
        reason: &str,
    ) {
        let builtin = Rating::builtin(level, rule, reason);
        self.findings.push(Finding { span, builtin, user: None });
    }

    pub(super) fn add_caution(&mut self, rule: &str, span: Range<usize>, reason: &str) {
        self.add_finding(RiskLevel::Caution, rule, span, reason);
    }

    /// Whether the findings are dangerous already, both with and without the rules of the user.
    pub(super) fn is_dangerous(&self) -> bool {
        let dangerous = |level: RiskLevel| level >= RiskLevel::Dangerous;
        self.findings.iter().any(|finding| dangerous(finding.effective().level))
            && self.findings.iter().any(|finding| dangerous(finding.builtin.level))
    }

    pub(super) fn add_danger(&mut self, rule: &str, span: Range<usize>, reason: &str) {
        self.add_finding(RiskLevel::Dangerous, rule, span, reason);
    }

    pub(super) fn add_nesting_limit(&mut self, span: Range<usize>) {
        let reason = "Has commands nested more than 8 levels deep, or more than 2,000 commands.";
        self.add_danger("wrapped-too-deep", span, reason);
    }

    /// Rates every command of a script.
    pub(super) fn rate_script(&mut self, script: Script, outer: &SimpleCommand, depth: usize) {
        self.bash_only |= script.bash_only;
        for (name, values) in &script.loops {
            self.rate_variable(name, None, &outer.span);
            let texts = values.iter().map(|word| word.text.clone()).collect();
            self.record_values(name, texts, &outer.span);
            if self.evaluates_assignments(name) {
                self.rate_evaluated_words(values);
            }
        }
        for function in &script.functions {
            self.rate_fork_bomb(&script, function);
        }
        for span in &script.endless {
            let reason = "Starts more and more processes without waiting for any.";
            self.add_danger("endless-loop", span.clone(), reason);
        }
        if let Some(span) = script.overflow.clone() {
            self.add_expansion_limit(&span);
        }
        let evaluated = script.evaluated.clone();
        let outer_script = std::mem::replace(&mut self.script, script);
        for index in 0..self.script.commands.len() {
            let printed = self.script.commands.get(index).and_then(|it| self.printed_program(it));
            if let (Some(printed), Some(command)) = (printed, self.script.commands.get_mut(index)) {
                let span = std::mem::replace(command, printed).span;
                let reason = "The program is named by the output of another command.";
                self.add_caution("printed-program", span, reason);
            }
        }
        for index in 0..self.script.commands.len() {
            let Some(mut command) = self.script.commands.get(index).cloned() else { break };
            command.remote |= outer.remote;
            command.raised |= outer.raised;
            self.rate_command(&command, depth);
        }
        // Rated last, because the values of variables are known only now.
        self.rate_evaluated_words(&evaluated);
        self.script = outer_script;
    }

    /// Rates a function that starts itself twice at once, which exhausts the machine.
    fn rate_fork_bomb(&mut self, script: &Script, function: &super::syntax::Function) {
        let calls =
            |it: &SimpleCommand| it.words.first().is_some_and(|it| it.text == function.name);
        let body = script.commands.get(function.body.clone()).unwrap_or_default();
        let piped = |it: &SimpleCommand| {
            let input = it.input.clone().and_then(|input| script.commands.get(input));
            calls(it) && input.unwrap_or_default().iter().any(calls)
        };
        let bomb = body.iter().any(piped);
        let twice = body.iter().filter(|it| calls(it)).count() > 1;
        let in_background = |it: &SimpleCommand| calls(it) && it.background;
        if bomb || (twice && body.iter().any(in_background)) {
            self.add_finding(
                RiskLevel::Blocked,
                "fork-bomb",
                function.span.clone(),
                "Defines a function that starts itself twice, which fills the machine with processes.",
            );
        }
    }

    /// The arguments with known variables replaced, each with whether it is a glob pattern. A variable that is a whole
    /// word is split at blanks.
    pub(super) fn expand_arguments(&mut self, words: &[Word]) -> Vec<(String, bool)> {
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

    /// Rates a simple command with its assignments, redirections and inner commands.
    pub(super) fn rate_command(&mut self, command: &SimpleCommand, depth: usize) {
        self.call_count += 1;
        if depth > MAX_DEPTH || self.call_count > MAX_COMMANDS {
            return self.add_nesting_limit(command.span());
        }
        for (name, value) in &command.assignments {
            if let Some(values) = self.resolve(&value.text, &value.span) {
                self.record_values(name, values, &value.span);
            }
            if value.text.contains("[$(") || value.text.contains("[`") {
                let reason = "A subscript in this value runs a command whenever the value is used in arithmetic.";
                self.add_danger("evaluated-data", value.span(), reason);
            }
            if self.evaluates_assignments(name) {
                self.rate_evaluated_words(std::slice::from_ref(value));
            }
            if value.inner.is_some() && self.is_foreign(value) {
                self.input_variables.insert(name.clone());
            }
            self.rate_variable(name, Some(&value.text), &value.span);
            if !command.words.is_empty() && !command.remote {
                self.rate_exported_value(name, &value.text, &value.span);
            }
            if !command.words.is_empty() || name.bytes().all(|b| !b.is_ascii_lowercase()) {
                self.rate_export(name, &value.span);
            }
        }
        for redirect in &command.redirects {
            self.rate_redirect(redirect);
        }
        for word in command.words.iter().filter(|word| word.escaped) {
            let reason = "A word is written as character codes, which hides what it says.";
            self.add_danger("escaped-word", word.span(), reason);
        }
        let Some(first) = command.words.first() else {
            return self.add_finding(
                RiskLevel::Safe,
                "no-program",
                command.span(),
                "Starts no program.",
            );
        };
        self.check_own_folders(command);
        self.expanded_bytes += command.words.iter().map(|word| word.text.len()).sum::<usize>();
        self.commands.push(command.clone());
        let fault = if first.has_unknown() {
            Some("The program is named by a variable or by the output of a command.")
        } else if first.glob && !matches!(first.text.as_str(), "[" | "[[") {
            Some("The program is named by a pattern.")
        } else if first.text.starts_with('!') && first.text.len() > 1 {
            Some("The program is named by an entry of the shell's history.")
        } else if !first.text.is_ascii() {
            Some(
                "The program's name contains non-ASCII characters, which can look like other letters.",
            )
        } else {
            None
        };
        let looped = self.looped_programs(command);
        if !looped.is_empty() {
            for call in &looped {
                self.rate_command(call, depth + 1);
            }
            return;
        }
        if let Some(reason) = fault {
            return self.add_danger("hidden-program", first.span(), reason);
        }
        self.record_fetches(command);
        self.rate_deletion_after_encryption(command);
        let Some(program) = program_of(&first.text) else {
            self.rate_run_file(first);
            return self.rate_call(command, &first.text.clone(), depth);
        };
        if self.rate_function_call(command, &program, depth) {
            return;
        }
        // `git-x` is another name of `git x`.
        if let Some(subcommand) = program.strip_prefix("git-")
            && !self.table.dangerous(&program)
        {
            let git = ["git", subcommand].map(|word| Word::literal(word, first.span()));
            let rest = command.arguments().iter().cloned();
            let words = git.into_iter().chain(rest).collect();
            return self.rate_command(&SimpleCommand { words, ..command.clone() }, depth + 1);
        }
        self.rate_evaluating_builtin(command, &program);
        if program == "alias" {
            self.rate_alias(command, depth);
        }
        self.rate_alias_call(command, &program, depth);
        self.rate_named_variables(command, &program);
        self.rate_emptying(command, &program);
        self.rate_overwriting(command, &program);
        self.rate_package_files(command, &program);
        self.rate_fetched_package(command, &program);
        self.rate_written_program(command);
        if self.is_wrapper_that_may_move(command, &program) {
            self.note_folder(command, &program);
        }
        if self.rate_inner_commands(command, &program, depth) {
            return self.rate_wrapper(command, &program, depth);
        }
        if matches!(program.as_str(), "cd" | "pushd") {
            let operands =
                self.expand_arguments(command.arguments()).into_iter().map(|(text, _)| text);
            // Without an argument, `cd` changes to the home folder.
            let home = (program == "cd" && command.words.len() == 1).then(|| "~".to_owned());
            if let Some(to) = operands.chain(home).find(|text| !text.starts_with('-')) {
                self.folder = path_kind::normalize(&to, &self.folder);
            }
            self.note_folder(command, &program);
        }
        if listed(DECLARING, &program) || matches!(program.as_str(), "unset" | "env") {
            for word in command.arguments().iter() {
                if let Some((name, value)) = word.text.split_once('=') {
                    let values = self.resolve(value, &word.span).unwrap_or_default();
                    self.record_values(name, values, &word.span);
                    let exports =
                        |word: &Word| word.text.starts_with("-") && word.text.contains('x');
                    if program == "export" || command.arguments().iter().any(exports) {
                        self.rate_export(name, &word.span);
                        self.rate_exported_value(name, value, &word.span);
                    }
                }
                // An unset variable no longer affects later programs, but may have controlled the history.
                let recorded = || word.text.starts_with("HIST") || word.text.starts_with("PROMPT");
                if word.text.contains('=') || (program == "unset" && recorded()) {
                    let mut parts = word.text.splitn(2, '=');
                    let name = parts.next().unwrap_or_default();
                    self.rate_variable(name, parts.next(), &word.span);
                }
            }
        }
        self.rate_call(command, &program, depth);
        let arguments = self.expand_arguments(command.arguments());
        self.record_link(&program, &arguments);
    }
}
