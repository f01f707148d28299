//! One command against the table and the rules of the user.

use super::judge::{Finding, Judge, Opinion};
use super::syntax::{Redirect, SimpleCommand};
use super::table::Seen;
use crate::risk::RiskLevel;

/// The rule of a program without one.
const UNKNOWN_PROGRAM: &str = "unknown-program";

/// Programs by which a command inside another one is known.
const STARTS: [&str; 17] = [
    "rm", "sh", "bash", "dash", "zsh", "dd", "shred", "sudo", "doas", "chmod", "chown", "eval",
    "curl", "wget", "find", "xargs", "env",
];

impl Judge<'_> {
    /// Asks the table and the rules of the user.
    pub(super) fn grade(&mut self, command: &SimpleCommand, program: &str, depth: usize) {
        let opinion = self.opinion(command, program);
        let unknown = opinion.rule == UNKNOWN_PROGRAM;
        self.decide(command, program, opinion);
        if unknown {
            self.perhaps(command, program, depth);
        }
    }

    /// A program that nobody knows may be one more wrapper: what looks like a command inside it
    /// counts when it is dangerous.
    fn perhaps(&mut self, command: &SimpleCommand, program: &str, depth: usize) {
        // A program by its own path belongs to the project; its options have their own meaning.
        if program.contains('/') {
            return;
        }
        let words = self.first_values(command.words.get(1..).unwrap_or_default());
        if !self.table.verbs.excepted(program)
            && let Some(at) = words.iter().position(|word| STARTS.contains(&word.text.as_str()))
        {
            let words = words.get(at..).unwrap_or_default().to_vec();
            let inner = SimpleCommand { words, redirects: Vec::new(), ..command.clone() };
            self.only_if_dangerous(|judge| judge.command(&inner, depth + 1));
        }
        for (index, word) in words.iter().enumerate() {
            let named = word.text.split_once('=').filter(|(name, _)| self.table.verbs.runs(name));
            let before = index.checked_sub(1).and_then(|before| words.get(before));
            let text = match named {
                Some((_, text)) => text,
                None if before.is_some_and(|word| self.table.verbs.runs(&word.text)) => &word.text,
                None => continue,
            };
            if text.trim().contains(' ') {
                self.only_if_dangerous(|judge| judge.read(text, word, command, depth + 1));
            }
        }
    }

    /// Keeps what this finds only where it is dangerous, and says of it that a known command did it.
    fn only_if_dangerous(&mut self, look: impl FnOnce(&mut Self)) {
        let (findings, commands) = (self.findings.len(), self.commands.len());
        let matched = self.matched.clone();
        look(self);
        let found = self.findings.get(findings..).unwrap_or_default();
        // That a text cannot be read as a command says that it is none.
        let dangerous = found.iter().any(|finding| {
            let level = finding.decided().level.max(finding.builtin.level);
            level >= RiskLevel::Dangerous && finding.builtin.rule != "unreadable"
        });
        if !dangerous {
            self.findings.truncate(findings);
            self.commands.truncate(commands);
            self.matched = matched;
        }
    }

    /// The rules about a wrapper itself; what it runs was judged already.
    pub(super) fn own(&mut self, command: &SimpleCommand, program: &str) {
        let before = self.findings.len();
        let mut opinion = self.opinion(command, program);
        // That it runs something, and that nobody knows it, says nothing more.
        let only_runs = opinion.level < RiskLevel::Dangerous;
        if only_runs {
            opinion.level = RiskLevel::Safe;
        }
        self.decide(command, program, opinion);
        if only_runs && self.findings.last().is_some_and(|finding| finding.user.is_none()) {
            self.findings.truncate(before);
        }
    }

    /// What the table says of a command.
    fn opinion(&mut self, command: &SimpleCommand, program: &str) -> Opinion {
        let arguments = self.arguments(command.words.get(1..).unwrap_or_default());
        let (text, fed) = self.reads(command);
        let seen = Seen {
            program,
            arguments: &arguments,
            folder: &self.folder,
            fed,
            text: text.as_deref(),
            answered: self.answered(command),
            writes: command.redirects.iter().any(Redirect::writes),
            raised: command.raised,
        };
        let globals = self.table.globals.get(program).map(Vec::as_slice).unwrap_or_default();
        let asks = arguments
            .last()
            .is_some_and(|(text, _)| matches!(text.as_str(), "--help" | "-help"))
            || matches!(arguments.as_slice(), [(only, _)] if only == "--version")
            || (program == "git" && matches!(arguments.as_slice(), [_, (last, _)] if last == "-h"));
        let known = self.table.rule.iter().any(|rule| {
            rule.patterns.iter().flat_map(|p| p.programs()).any(|name| name == program)
        });
        let mut opinion = Opinion {
            level: RiskLevel::Caution,
            rule: UNKNOWN_PROGRAM.to_owned(),
            reason: "Nobody has said yet what this program does.".to_owned(),
            safer: None,
        };
        if asks && known {
            opinion = Opinion {
                level: RiskLevel::Safe,
                rule: "asks-help".to_owned(),
                reason: "Only asks what the program can do.".to_owned(),
                safer: None,
            };
        } else {
            let worst = self
                .table
                .rule
                .iter()
                .filter(|rule| rule.patterns.iter().any(|pattern| pattern.matches(&seen, globals)))
                .max_by_key(|rule| rule.level);
            if let Some(rule) = worst {
                opinion = Opinion {
                    level: rule.level,
                    rule: rule.id.clone(),
                    reason: rule.reason.clone(),
                    safer: rule.safer.clone(),
                };
            } else if self.table.verbs.say(program, &arguments) {
                opinion = Opinion {
                    level: RiskLevel::Dangerous,
                    rule: "says-it-destroys".to_owned(),
                    reason:
                        "Nobody has said yet what this program does, and its own words speak of \
                             destroying, stopping or publishing."
                            .to_owned(),
                    safer: None,
                };
            }
        }
        if opinion.level == RiskLevel::Safe && (command.remote || command.raised) {
            opinion.level = RiskLevel::Caution;
        }
        opinion
    }

    /// Keeps what the table says of a command, and what the rules of the user make of that.
    pub(super) fn decide(&mut self, command: &SimpleCommand, program: &str, builtin: Opinion) {
        let arguments = self.arguments(command.words.get(1..).unwrap_or_default());
        let names = [Some(program), command.words.first().map(|word| word.text.as_str())];
        let rules: Vec<_> = self
            .user
            .iter()
            .filter(|rule| names.iter().flatten().any(|name| rule.matches(name, &arguments)))
            .collect();
        self.matched.extend(rules.iter().map(|rule| rule.id.clone()));
        // The first of the strictest.
        let strictest = rules.into_iter().rev().max_by_key(|rule| rule.level);
        let user = strictest.filter(|rule| rule.changes(builtin.level)).map(|rule| Opinion {
            level: rule.level,
            rule: rule.id.clone(),
            reason: rule.reason.clone(),
            safer: None,
        });
        self.findings.push(Finding { span: command.span(), builtin, user });
    }
}
