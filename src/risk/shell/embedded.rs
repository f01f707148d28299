//! Programs, code and pipes that are embedded in the options and operands of a call.
//!
//! No list of all options that run something can be complete. So every call that is not rated dangerous yet is
//! checked by the names of its options and by the form of their values.

pub(super) mod patterns;

use super::classifier::Classifier;
use super::elsewhere::PathUse;
use super::lazy_regex::LazyRegex;
use super::listed::listed;
use super::program::program_of;
use super::rate::is_unlisted;
use super::rating::Rating;
use super::sources::{adds_insecure_source, is_source_option};
use super::syntax::{OUTPUT, UNKNOWN, before};
use super::{SimpleCommand, Word, help};
use crate::plan::RiskLevel;

/// Each option that has a value, with this value.
fn option_values(words: &[Word]) -> Vec<(String, Word)> {
    let mut found = Vec::new();
    for (index, word) in words.iter().enumerate() {
        let text = word.text.as_str();
        if text.starts_with('-') && text.len() > 1 {
            if let Some((name, value)) = text.split_once('=') {
                found.push((name.to_owned(), Word { text: value.to_owned(), ..word.clone() }));
            } else if let Some(index) = text.find('|').filter(|_| !text.starts_with("--")) {
                // A pipe directly after a short option.
                let (name, value) = text.split_at(index);
                found.push((name.to_owned(), Word { text: value.to_owned(), ..word.clone() }));
            }
            continue;
        }
        let is_bare = |it: &&Word| it.text.starts_with('-') && !it.text.contains('=');
        if let Some(before) = before(words, index).filter(is_bare) {
            found.push((before.text.clone(), word.clone()));
        }
    }
    found
}

fn is_shell(text: &str) -> bool {
    program_of(text)
        .is_some_and(|name| listed("sh bash dash zsh ksh ash fish csh tcsh mksh", &name))
}

impl Classifier<'_> {
    /// Raises a rating if an option or operand contains a program, code or a pipe. `wraps`: the program is a wrapper.
    pub(super) fn raise_for_embedded(
        &mut self,
        command: &SimpleCommand,
        program: &str,
        rating: Rating,
        (wraps, depth): (bool, usize),
    ) -> Rating {
        let asks =
            rating.is_reading() || matches!(rating.rule.as_str(), help::ASKS_HELP | "computes");
        if rating.level >= RiskLevel::Dangerous || asks || command.remote {
            return rating;
        }
        let mut found = self.embedded_in_options(command, program, depth);
        // The operands of a wrapper belong to the command that it runs.
        if found.is_none() && is_unlisted(&rating) && !wraps {
            found = self.embedded_in_operands(command, program, depth);
        }
        let Some(reason) = found else { return rating };
        Rating::dangerous("carries", reason).with_safer(
            "Run that command or code as a step of its own, so that it can be reviewed.",
        )
    }

    /// Why the options make a call dangerous; `None` if they do not.
    fn embedded_in_options(
        &mut self,
        command: &SimpleCommand,
        program: &str,
        depth: usize,
    ) -> Option<&'static str> {
        let table = &self.table.embedded;
        let excepted = self.table.verbs.excepted(program);
        let words = command.arguments();
        if program == "gh" && self.runs_extension(words) {
            return Some("Installs an extension and runs it immediately.");
        }
        const UNENCRYPTED: &str = "Installs from an unencrypted address, so that others can change the package on the way.";
        if adds_insecure_source(program, words) {
            return Some(UNENCRYPTED);
        }
        for (option, value) in option_values(words) {
            let text = value.text.as_str();
            if table.scripts.is_match(&option)
                && text.strip_prefix('<').is_some_and(|it| it.starts_with(OUTPUT))
            {
                return Some("Runs the output of another command as a script.");
            }
            let piped = text.strip_prefix('|').is_some_and(|it| {
                it.trim_start().starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
            });
            if piped && table.writes.is_match(&option) {
                return Some("Pipes its output into another command.");
            }
            if table.sets.is_match(&option) && program != "git" && table.sets_program(program, text)
            {
                return Some("Changes a setting that names a program to run.");
            }
            if is_source_option(&option)
                && text.starts_with("http://")
                && !text.contains("//localhost")
            {
                return Some(UNENCRYPTED);
            }
            if self.table.elsewhere.sends(&option, text) {
                return Some("Writes its output to another host.");
            }
            if !table.handlers.is_match(&option) {
                continue;
            }
            if table.fed.is_match(&option) && is_shell(text) {
                return Some("Passes its input to a shell.");
            }
            let path = text.starts_with(['/', '~', UNKNOWN]) || text.starts_with("../");
            if path && !text.contains(' ') && self.outside_path(text, PathUse::LoadsCode).is_some()
            {
                return Some("Runs a program from outside the project.");
            }
            if option.ends_with("hook") && adds_code(text) {
                return Some("Runs code given in an option.");
            }
            if text.contains(' ') && !excepted {
                self.rate_possible(text, &value, command, depth);
            }
        }
        None
    }

    /// Why the operands or the input of a call without a rule make it dangerous.
    fn embedded_in_operands(
        &mut self,
        command: &SimpleCommand,
        program: &str,
        depth: usize,
    ) -> Option<&'static str> {
        if self.table.verbs.excepted(program) || listed(&self.table.embedded.messages, program) {
            return None;
        }
        if self.starts_shell(command, program, depth) {
            return Some("Starts a shell through an unknown program.");
        }
        self.embedded_in_code(command, depth)
    }

    /// Whether a call of `gh` installs a third-party extension that another command of the same line runs.
    fn runs_extension(&self, words: &[Word]) -> bool {
        let texts: Vec<&str> = words.iter().map(|it| it.text.as_str()).collect();
        let ["extension" | "extensions" | "ext", "install", rest @ ..] = texts.as_slice() else {
            return false;
        };
        let name = rest.iter().find(|it| !it.starts_with('-')).copied().unwrap_or_default();
        let known = ["github/", "cli/", "https://github.com/github/", "https://github.com/cli/"];
        if known.iter().any(|owner| name.starts_with(owner)) {
            return false;
        }
        let name = name.trim_end_matches(".git").rsplit('/').next().unwrap_or_default();
        let name = name.strip_prefix("gh-").unwrap_or(name);
        self.line_commands.iter().any(|it| {
            let mut words = it.words.iter().map(|it| it.text.as_str());
            words.next() == Some("gh")
                && words.find(|it| !matches!(*it, "ext" | "extension" | "exec")) == Some(name)
        })
    }

    /// Whether a program without a rule gets a shell as its operand. An operand that may be a command line is rated.
    fn starts_shell(&mut self, command: &SimpleCommand, program: &str, depth: usize) -> bool {
        const NAMES: &str = "completion completions init hook env activate shellenv generate generate-completion install add \
            show search help info list man setup get uninstall shell shell-completion";
        // Batch systems start interactive shells.
        if matches!(program, "bsub" | "srun" | "salloc" | "qlogin" | "qrsh" | "qsub") {
            return false;
        }
        if self.table.knows(program) || program.contains('/') || self.table.verbs.is_tool(program) {
            return false;
        }
        let words = command.arguments();
        for (index, word) in words.iter().enumerate() {
            let before = before(words, index).map(|it| it.text.as_str());
            let first = before.is_none_or(|it| it.starts_with('-'));
            // After a word of `NAMES` the name of a shell is only an operand, as in `completion bash`.
            let about = words.iter().take(index).any(|it| listed(NAMES, &it.text));
            if is_shell(&word.text)
                && !about
                && !before.is_some_and(|it| it.starts_with("--") || it == "-s")
            {
                return true;
            }
            let starts = word.text.split(' ').next().and_then(program_of);
            let known = starts.is_some_and(|name| self.table.dangerous(&name));
            let acts = [" -", " /", " ~", "/"].iter().any(|sign| word.text.contains(sign));
            if first && known && acts && word.text.contains(' ') {
                self.rate_possible(&word.text, word, command, depth);
            }
        }
        false
    }

    /// Why code of any language in the operands or the input makes the call dangerous. Commands that such code runs are
    /// rated.
    fn embedded_in_code(&mut self, command: &SimpleCommand, depth: usize) -> Option<&'static str> {
        let table = &self.table.embedded;
        let words = command.arguments();
        let (fed, _) = self.known_input(command);
        let mut texts: Vec<String> = words.iter().map(|word| word.text.clone()).collect();
        texts.extend(fed);
        for inner in words.iter().filter_map(|word| word.inner.clone()) {
            // The arguments of the commands in a process substitution.
            let printed = self.script.commands.get(inner).unwrap_or_default().iter();
            texts.extend(printed.flat_map(|it| it.arguments().iter()).map(|it| it.text.clone()));
        }
        for text in texts.iter().filter(|text| text.len() < 4000) {
            if table.deletes.is_match(text) && text.contains(['(', ';', '{', ' ']) {
                return Some("Passes code that deletes files.");
            }
            for found in table.runs.find_iter(text).take(8) {
                let rest = text.get(found.end()..).unwrap_or_default();
                let line = rest.split(['\n', ')', '}', ';']).next().unwrap_or_default();
                let line = line.replace("\\n", " ").replace(['"', '\'', ',', '`', ']'], " ");
                if line.trim().contains(' ') || is_shell(line.trim()) {
                    let word = Word::literal(line.trim(), command.span());
                    self.rate_possible(&word.text, &word, command, depth);
                }
            }
            // Forth and similar languages put the text before the word that runs it.
            let words: Vec<&str> = text.split('"').collect();
            if let [before, line, after, ..] = words.as_slice()
                && before.trim_end().ends_with('s')
                && after.trim_start().starts_with("system")
            {
                let word = Word::literal(line.trim(), command.span());
                self.rate_possible(&word.text, &word, command, depth);
            }
        }
        None
    }
}

/// Whether the code in an option does more than extend the module path inside the project.
fn adds_code(text: &str) -> bool {
    static PLACES: LazyRegex = LazyRegex::new(
        r#"^\s*(import sys;\s*)?sys\.path\.(append|insert)\((\d+, ?)?["'](\.|\./[\w./-]*|\w[\w./-]*)["']\);?\s*$|^from pylint\.config import find_default_config_files"#,
    );
    text.contains('(') && (text.contains("..") || !PLACES.is_match(text))
}
