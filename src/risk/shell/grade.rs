//! One command against the table and the rules of the user.

use super::judge::{Finding, Judge, Opinion};
use super::syntax::SimpleCommand;
use super::table::Seen;
use crate::risk::RiskLevel;

impl Judge<'_> {
    /// Asks the table and the rules of the user.
    pub(super) fn grade(&mut self, command: &SimpleCommand, program: &str) {
        let opinion = self.opinion(command, program);
        self.decide(command, program, opinion);
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
            rule: "unknown-program".to_owned(),
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
