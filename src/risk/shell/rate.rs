//! Rates one simple command by the table and by the rules of the user.

use super::classifier::Classifier;
use super::elsewhere::{PathUse, is_elsewhere, may_change};
use super::known::BESIDE;
use super::listed::listed;
use super::pattern::{CallFacts, has_destructive_sql};
use super::program::{canonical, program_of};
use super::queries::only_queries;
use super::rating::{Finding, Rating};
use super::readers::{Argument, CallEffect};
use super::syntax::{Redirect, UNKNOWN, before};
use super::{SimpleCommand, Word, harmless_forms, help, readers};
use crate::plan::RiskLevel;

/// The rule id for a program without a rule.
pub(super) const UNKNOWN_PROGRAM: &str = "unknown-program";

/// The rule id for a call that no rule of its program matches.
pub(super) const UNLISTED_CALL: &str = "unlisted-call";

/// The rule id for calls that `readers.toml` does not allow, of programs that it lists.
pub(super) const PERHAPS_READS: &str = "perhaps-reads";

/// Program names that are also ordinary words, so that they are no sign of a command inside other calls.
const ORDINARY_WORDS: &str = "start stop format net at batch init reg sc security service trust transfer wipe defaults cipher mail host cmd \
    test [ set cd exec time watch make task just help info script command split install patch link http serve sync \
    build run ts tc view";

/// Builtins of the shell, which no other program can run.
const BUILTINS: &str = "history fc unset shopt trap hash enable bind complete alias declare export local readonly jobs";

impl Classifier<'_> {
    /// Rates a command that is not a wrapper.
    pub(super) fn rate_call(&mut self, command: &SimpleCommand, program: &str, depth: usize) {
        let rating = self.builtin_rating(command, program);
        let arguments = self.expand_arguments(command.arguments());
        let lowered = self.lowered(command, program, &arguments, rating);
        let rating = self.raise_for_paths(command, program, lowered);
        let rating = self.raise_for_secrets(command, program, &arguments, rating);
        let rating = self.raise_for_embedded(command, program, rating, (false, depth));
        let unknown = is_unlisted(&rating);
        self.add_rating(command, program, rating);
        if unknown {
            self.rate_unknown(command, program, depth);
        }
    }

    /// Raises the rating if the call may change a path outside the working folder.
    fn raise_for_paths(
        &mut self,
        command: &SimpleCommand,
        program: &str,
        rating: Rating,
    ) -> Rating {
        let asks = rating.is_reading()
            || matches!(
                rating.rule.as_str(),
                help::ASKS_HELP | harmless_forms::ONLY_SHOWS | BESIDE
            );
        if rating.level >= RiskLevel::Dangerous || command.remote || asks {
            return rating;
        }
        let arguments = self.expand_arguments(command.arguments());
        let reads = rating.rule == PERHAPS_READS;
        let is_unknown = rating.rule == UNKNOWN_PROGRAM && !command.raised;
        let moved = || {
            (!reads && is_elsewhere(&self.folder, PathUse::MayWrite)).then(|| self.folder.clone())
        };
        let found = self
            .changed_path(program, &arguments, command.raised)
            .filter(|_| !reads || !readers::only_reads_known(program, &arguments))
            .filter(|_| !is_unknown || !self.only_reads_siblings(program, &arguments))
            .or_else(|| self.changed_installed_path(program, &arguments).filter(|_| is_unknown))
            .or_else(moved)
            .or_else(|| self.path_in_substitutions(&command.words).filter(|_| !reads))
            .or_else(|| self.path_in_input(command).filter(|_| is_unlisted(&rating)));
        let Some(path) = found else { return rating };
        Rating::dangerous("elsewhere", &may_change(&path))
            .with_safer("Work on a copy below the working folder.")
    }

    /// Rates what looks like a command in the arguments of an unknown program, because the program may be a wrapper.
    /// Only dangerous findings count.
    fn rate_unknown(&mut self, command: &SimpleCommand, program: &str, depth: usize) {
        let excepted = self.table.verbs.excepted(program);
        // An unknown path may lead to a copy of a known program.
        let name = canonical(program.rsplit('/').next().unwrap_or(program).to_lowercase().as_str());
        if name != program && self.is_dangerous_name(&name) {
            let inner = command.calling(name);
            self.keep_if_dangerous(|classifier| classifier.rate_command(&inner, depth + 1));
        }
        let is_path = program.contains('/');
        for words in self.variants(command.arguments(), &command.span) {
            let starts = |word: &Word| {
                program_of(&word.text).is_some_and(|name| self.is_dangerous_name(&name))
            };
            let starts = words.iter().enumerate().filter(|(_, word)| !excepted && starts(word));
            let starts: Vec<usize> = starts.map(|(index, _)| index).take(4).collect();
            for index in starts {
                let words = words.get(index..).unwrap_or_default().to_vec();
                let inner = SimpleCommand { words, redirects: Vec::new(), ..command.clone() };
                self.keep_if_dangerous(|classifier| classifier.rate_command(&inner, depth + 1));
            }
            if is_path {
                // Options of a program of the project may have any meaning.
                continue;
            }
            for (index, word) in words.iter().enumerate() {
                let named =
                    word.text.split_once('=').filter(|(name, _)| self.table.verbs.runs(name));
                let before = before(&words, index);
                // Text after `--`, or with pipes and separators, may be a command line.
                let line = before.is_some_and(|it| it.text == "--")
                    || ["|", "&&", ";", "$("].iter().any(|sign| word.text.contains(sign));
                if line && !excepted && !self.table.knows(program) && word.text.contains([' ', '|'])
                {
                    self.rate_possible(&word.text, word, command, depth);
                    continue;
                }
                if excepted && !word.text.starts_with("--") {
                    continue;
                }
                let follows = before.filter(|before| self.table.verbs.runs(&before.text));
                let text = named.map(|(_, text)| text).or(follows.map(|_| word.text.as_str()));
                let Some(text) = text else { continue };
                if looks_like_code(text) && !excepted && !self.table.knows(program) {
                    let reason = "Passes code to an unknown program.";
                    self.add_danger("inline-code", word.span(), reason);
                } else if text.trim().contains(' ') && !only_queries(text) {
                    self.rate_possible(text, word, command, depth);
                }
            }
        }
    }

    /// Whether a word is the name of a dangerous program, but neither an ordinary word nor a builtin.
    fn is_dangerous_name(&self, name: &str) -> bool {
        self.table.dangerous(name) && !listed(ORDINARY_WORDS, name) && !listed(BUILTINS, name)
    }

    /// Runs a speculative check, and keeps its findings only if they are dangerous.
    pub(super) fn keep_if_dangerous(&mut self, check: impl FnOnce(&mut Self)) {
        let (findings, commands) = (self.findings.len(), self.commands.len());
        let matched = self.matched.clone();
        check(self);
        let found = self.findings.get(findings..).unwrap_or_default();
        // A text that cannot be parsed as a command is probably none.
        let dangerous = found.iter().any(|finding| {
            let level = finding.effective().level.max(finding.builtin.level);
            level >= RiskLevel::Dangerous && finding.builtin.rule != "unreadable"
        });
        if !dangerous {
            self.findings.truncate(findings);
            self.commands.truncate(commands);
            self.matched = matched;
        }
    }

    /// Rates a wrapper itself, after the command that it runs.
    pub(super) fn rate_wrapper(&mut self, command: &SimpleCommand, program: &str, depth: usize) {
        let rating = self.builtin_rating(command, program);
        let arguments = self.expand_arguments(command.arguments());
        let mut rating = self.lowered(command, program, &arguments, rating);
        // A wrapper that only reads may print secrets itself.
        if rating.is_reading() || rating.rule == PERHAPS_READS {
            rating = self.raise_for_secrets(command, program, &arguments, rating);
        }
        // The operands of these programs are the words of the inner command.
        let passes = matches!(program, "sudo" | "doas" | "timeout" | "nice" | "nohup" | "stdbuf");
        if passes && rating.rule == "says-it-destroys" {
            rating.level = RiskLevel::Caution;
        }
        rating = self.raise_for_embedded(command, program, rating, (true, depth));
        // A wrapper that is not dangerous itself gets no finding: the findings of its inner command count.
        let only_runs = rating.level < RiskLevel::Dangerous
            && !matches!(rating.rule.as_str(), "changes-files" | "prints-environment");
        if only_runs {
            rating.level = RiskLevel::Safe;
        }
        let before = self.findings.len();
        self.add_rating(command, program, rating);
        if only_runs && self.findings.last().is_some_and(|finding| finding.user.is_none()) {
            self.findings.truncate(before);
        }
    }

    /// The built-in rating of a command. On another host, or with raised privileges, nothing is safe.
    fn builtin_rating(&mut self, command: &SimpleCommand, program: &str) -> Rating {
        let mut rating = self.rating_of_call(command, program);
        if rating.level == RiskLevel::Safe && (command.remote || command.raised) {
            rating.level = RiskLevel::Caution;
        }
        rating
    }

    fn rating_of_call(&mut self, command: &SimpleCommand, program: &str) -> Rating {
        let operands = command.arguments();
        let quoted: std::collections::BTreeSet<String> = operands
            .iter()
            .filter(|word| {
                let written = self.source.get(word.span()).unwrap_or_default();
                written.len() > 1 && written.starts_with('"') && written.ends_with('"')
            })
            .map(|word| word.text.clone())
            .collect();
        let arguments = self.expand_arguments(operands);
        let (text, fed) = self.known_input(command);
        let facts = CallFacts {
            program,
            arguments: &arguments,
            folder: &self.folder,
            fed,
            text: text.as_deref(),
            answered: self.reads_query_result(command),
            writes: command.redirects.iter().any(Redirect::writes),
            raised: command.raised,
        };
        let globals = self.table.globals.get(program).map(Vec::as_slice).unwrap_or_default();
        let readers: Vec<Argument> = arguments
            .iter()
            .map(|(text, glob)| Argument { text, glob: *glob, quoted: quoted.contains(text) })
            .collect();
        let call = readers::check(program, &readers);
        let known = self.table.knows(program);
        let (rule, reason) = if known || call.is_some() {
            (UNLISTED_CALL, "No rule describes what this call of the program does.")
        } else {
            (UNKNOWN_PROGRAM, "No rule describes what this program does.")
        };
        if (known || call.is_some())
            && let Some(asks) = help::rating(program, &arguments)
        {
            return asks;
        }
        let worst = self.table.worst(&facts, globals);
        let harmless = worst.is_none_or(|rule| rule.level < RiskLevel::Dangerous);
        if call == Some(CallEffect::Harmful) && harmless {
            let reason = "The program usually only reads, but an option or a script of this call makes it write or run something.";
            return Rating::dangerous("reader-acts", reason);
        }
        if worst.is_none_or(|rule| rule.id == PERHAPS_READS) {
            match call {
                Some(CallEffect::ReadsOnly) => return Rating::reads(),
                Some(CallEffect::AsksGit) => return self.repository_rating(program, &arguments),
                Some(CallEffect::Loads(what)) => return Rating::loads(what),
                _ => {}
            }
            if call.is_some() {
                let reason = "The program can only read, but an option or operand of this call is not known to \
                              only read.";
                return Rating::caution(PERHAPS_READS, reason);
            }
        }
        if call.is_none()
            && harmless
            && let Some(administers) = self.table.admin.rating(program, &arguments)
        {
            return administers;
        }
        if let Some(rule) = worst {
            let rating = Rating::new(rule.level, &rule.id, &rule.reason);
            return Rating { safer: rule.safer.clone(), ..rating };
        }
        if self.runs_from_outside(command, program) {
            let reason = "Runs an unknown program from outside the project.";
            return Rating::dangerous("runs-outside", reason)
                .with_safer("Review the program before running it.");
        }
        let unknown = !known && call.is_none();
        if self.table.verbs.suggests_destruction(program, &arguments)
            || unknown && has_destructive_sql(&arguments)
            || unknown
                && !self.is_otherwise_listed(program)
                && self.table.verbs.suggests_effect(program, &arguments)
        {
            let reason = "No rule describes what this program does, and its name or arguments suggest destroying, \
                          stopping or publishing something.";
            return Rating::dangerous("says-it-destroys", reason);
        }
        Rating::caution(rule, reason)
    }

    /// Records the built-in rating of a command and applies the rules of the user.
    pub(super) fn add_rating(&mut self, command: &SimpleCommand, program: &str, builtin: Rating) {
        let arguments = self.expand_arguments(command.arguments());
        let names = [Some(program), command.words.first().map(|word| word.text.as_str())];
        let rules: Vec<_> = self
            .user_rules
            .iter()
            .filter(|rule| names.iter().flatten().any(|name| rule.matches(name, &arguments)))
            .collect();
        self.matched.extend(rules.iter().map(|rule| rule.id.clone()));
        // The first of the strictest rules.
        let strictest = rules.into_iter().rev().max_by_key(|rule| rule.level);
        let user = strictest
            .filter(|rule| rule.changes(builtin.level))
            .map(|rule| Rating::new(rule.level, &rule.id, &rule.reason));
        self.findings.push(Finding { span: command.span(), builtin, user });
    }
}

/// Whether no rule matches a call.
pub(super) fn is_unlisted(rating: &Rating) -> bool {
    rating.rule == UNKNOWN_PROGRAM || rating.rule == UNLISTED_CALL
}

/// Whether a text looks like code of some language rather than a command name.
fn looks_like_code(text: &str) -> bool {
    let call = text.contains('(') && text.contains(')') && !text.contains(UNKNOWN);
    call || text.starts_with("import ") || text.starts_with("require ")
}
