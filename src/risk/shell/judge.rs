//! From the commands of a script to the worst verdict: wrappers are unwrapped, rules asked.

use std::collections::BTreeMap;
use std::ops::Range;

use super::place;
use super::syntax::{END, Redirect, Script, SimpleCommand, UNKNOWN, Word};
use super::table::{Seen, TABLE, Table};
use super::user::UserRules;
use crate::risk::RiskLevel;

/// Wrappers inside wrappers that are followed (SPEC §7.1).
const DEEPEST: usize = 8;
/// Commands that one classification looks at, wrapped ones with it.
const MOST: usize = 2000;

/// What one command deserves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) level: RiskLevel,
    pub(super) rule: String,
    pub(super) span: Range<usize>,
    pub(super) reason: String,
    pub(super) safer: Option<String>,
    /// The level before a rule of the user lowered or raised it.
    pub(super) builtin: RiskLevel,
}

pub(super) struct Judge<'a> {
    pub(super) table: &'a Table,
    pub(super) user: &'a UserRules,
    pub(super) findings: Vec<Finding>,
    pub(super) commands: Vec<SimpleCommand>,
    pub(super) bash_only: bool,
    variables: BTreeMap<String, Vec<String>>,
    folder: String,
    pub(super) script: Script,
    calls: usize,
    /// Files that this command itself writes before it may run them.
    written: Vec<String>,
    /// Something was fetched into a file.
    fetched: bool,
}

impl<'a> Judge<'a> {
    /// A judge with the table; nothing when the table of the program itself is broken.
    pub(super) fn new(user: &'a UserRules) -> Option<Self> {
        Some(Self {
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
        self.findings.push(Finding {
            level,
            rule: rule.to_owned(),
            span,
            reason: reason.to_owned(),
            safer: safer.map(str::to_owned),
            builtin: level,
        });
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
    fn resolve(&self, text: &str) -> Vec<String> {
        let mut texts = vec![text.to_owned()];
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
        } else if !first.text.is_ascii() {
            Some("The program's name has letters that look like others.")
        } else {
            None
        };
        if let Some(reason) = fault {
            return self.danger("hidden-program", first.span(), reason);
        }
        self.fetches(command);
        let Some(program) = program_of(&first.text) else {
            self.runs_file(first);
            return self.grade(command, &first.text.clone());
        };
        if self.call(command, &program, depth) {
            return;
        }
        self.names(command, &program);
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
        self.grade(command, &program);
    }

    /// Remembers that files come from somewhere else.
    fn fetches(&mut self, command: &SimpleCommand) {
        let Some(program) = command.words.first().and_then(|word| program_of(&word.text)) else {
            return;
        };
        let mut rest = command.words.iter().skip(1).map(|word| word.text.as_str());
        self.fetched |= match program.as_str() {
            "wget" | "aria2c" | "axel" => !rest.any(|text| text == "-" || text.ends_with("O-")),
            "curl" | "fetch" => {
                let writes = command.redirects.iter().any(Redirect::writes);
                let mut named = false;
                let mut lost = false;
                for text in rest {
                    named |= text.starts_with("--output")
                        || text.starts_with("--remote-name")
                        || (text.starts_with('-')
                            && !text.starts_with("--")
                            && text.contains(['o', 'O']));
                    lost |= text == "/dev/null";
                }
                (named || writes) && !lost
            }
            "tar" | "bsdtar" | "unzip" => command.input.is_some(),
            "tee" => {
                let folder = self.folder.clone();
                self.written.extend(rest.map(|text| place::settle(text, &folder)));
                false
            }
            _ => false,
        };
    }

    /// Running a file that this very command fetched or wrote is running what nobody has read.
    pub(super) fn runs_file(&mut self, word: &Word) {
        let path = place::settle(&word.text, &self.folder);
        if self.fetched || self.written.contains(&path) {
            self.danger(
                "runs-fetched",
                word.span(),
                "Runs a file that this command itself fetched or wrote.",
            );
        }
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

    /// Builtins that write to a variable whose name they are given.
    fn names(&mut self, command: &SimpleCommand, program: &str) {
        let writes = match program {
            "read" | "getopts" | "mapfile" | "readarray" | "let" | "declare" | "typeset"
            | "local" => true,
            "printf" | "wait" => {
                command.words.iter().any(|word| word.text == "-v" || word.text == "-p")
            }
            _ => false,
        };
        for word in command.words.iter().skip(1).filter(|_| writes) {
            self.variable(&word.text, None, &word.span);
        }
    }

    /// A wrapper's own rules count when they say more than that it runs something.
    fn own(&mut self, command: &SimpleCommand, program: &str) {
        let before = self.findings.len();
        self.grade(command, program);
        if self.findings.last().is_some_and(|finding| finding.level < RiskLevel::Dangerous) {
            self.findings.truncate(before);
        }
    }

    /// The first known values of words, for what a wrapper runs.
    pub(super) fn first_values(&self, words: &[Word]) -> Vec<Word> {
        words
            .iter()
            .flat_map(|word| {
                let text = self.resolve(&word.text).into_iter().next().unwrap_or_default();
                let lone = word.text.starts_with(UNKNOWN) && word.text.ends_with(END);
                if lone && text != word.text && text.contains(' ') {
                    text.split_whitespace().map(|part| Word::literal(part, word.span())).collect()
                } else {
                    vec![Word { text, ..word.clone() }]
                }
            })
            .collect()
    }

    pub(super) fn variable(&mut self, name: &str, value: Option<&str>, span: &Range<usize>) {
        let table = self.table;
        let is = |names: &[String]| {
            names.iter().any(|known| match known.strip_suffix('*') {
                Some(head) => name.starts_with(head),
                None => known == name,
            })
        };
        let harmless = value.is_some_and(|value| {
            table.variables.plain.as_ref().is_some_and(|plain| plain.is_match(value))
        });
        if is(&table.variables.hijack) && !harmless {
            self.danger("hijack-variable", span.clone(), "Changes which code later programs run.");
        } else if is(&table.variables.traces) {
            self.danger(
                "history-variable",
                span.clone(),
                "Keeps the shell from recording what is done.",
            );
        }
    }

    fn redirect(&mut self, redirect: &Redirect) {
        let span = redirect.target.span();
        for text in self.resolve(&redirect.target.text) {
            let path = place::settle(&text, &self.folder);
            if path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/") {
                return self.danger(
                    "network-redirect",
                    span,
                    "Connects the command to another host.",
                );
            }
            if !redirect.writes() || text.starts_with('>') {
                continue;
            }
            self.writes(&path, span.clone());
            self.written.push(path);
        }
    }

    /// A verdict on writing a path.
    pub(super) fn writes(&mut self, path: &str, span: Range<usize>) {
        if place::is_disk(path) {
            self.note(RiskLevel::Blocked, "write-disk", span, "Overwrites a whole disk.", None);
        } else if place::is_system(path) {
            self.danger("write-system", span, "Writes a file of the system.");
        } else if place::is_sensitive(path) {
            self.danger(
                "write-sensitive",
                span,
                "Writes a file that other programs obey, or that keeps keys or history.",
            );
        } else if !path.starts_with("/dev/") {
            self.note(RiskLevel::Caution, "write-file", span, "Writes a file.", None);
        }
    }

    /// What a program reads, where that is known, and whether it reads anything.
    pub(super) fn reads(&self, command: &SimpleCommand) -> (Option<String>, bool) {
        let here =
            command.redirects.iter().rev().find(|redirect| redirect.operator.starts_with("<<"));
        if let Some(redirect) = here {
            return (Some(redirect.target.text.clone()), false);
        }
        if let Some(input) = command.input.clone() {
            let sources = self.script.commands.get(input).unwrap_or_default();
            let known = match sources {
                [source] => self.prints(source),
                _ => None,
            };
            return (known, true);
        }
        let file = |redirect: &Redirect| {
            matches!(redirect.operator, "<" | "<>") && redirect.target.text != "/dev/null"
        };
        (None, command.redirects.iter().any(file))
    }

    fn prints(&self, source: &SimpleCommand) -> Option<String> {
        let (program, rest) = source.words.split_first()?;
        match program.text.as_str() {
            "echo" => {
                let texts: Vec<&str> = rest.iter().map(|word| word.text.as_str()).collect();
                let text = texts.join(" ");
                (!text.contains('\\') && !text.starts_with('-')).then_some(text)
            }
            "printf" => {
                let (format, values) = rest.split_first()?;
                let format =
                    format.text.replace("\\n", "\n").replace("\\t", "\t").replace("\\r", "");
                if format.contains('\\') || format.starts_with('-') {
                    return None;
                }
                let values: Vec<&str> = values.iter().map(|word| word.text.as_str()).collect();
                Some(format.replace("%s", &values.join("\n")).replace("%b", "\\"))
                    .filter(|text| !text.contains('\\'))
            }
            "cat" => {
                let (text, _) = rest.is_empty().then(|| self.reads(source))?;
                text
            }
            _ => None,
        }
    }

    /// Asks the table and the rules of the user.
    pub(super) fn grade(&mut self, command: &SimpleCommand, program: &str) {
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
        let span = command.span();
        let mut finding = Finding {
            level: RiskLevel::Caution,
            rule: "unknown-program".to_owned(),
            span: span.clone(),
            reason: "Nobody has said yet what this program does.".to_owned(),
            safer: None,
            builtin: RiskLevel::Caution,
        };
        if asks && known {
            finding = Finding {
                level: RiskLevel::Safe,
                rule: "asks-help".to_owned(),
                reason: "Only asks what the program can do.".to_owned(),
                ..finding
            };
        } else {
            let worst = self
                .table
                .rule
                .iter()
                .filter(|rule| rule.patterns.iter().any(|pattern| pattern.matches(&seen, globals)))
                .max_by_key(|rule| rule.level);
            if let Some(rule) = worst {
                finding = Finding {
                    level: rule.level,
                    rule: rule.id.clone(),
                    reason: rule.reason.clone(),
                    safer: rule.safer.clone(),
                    ..finding
                };
            }
        }
        if finding.level == RiskLevel::Safe && (command.remote || command.raised) {
            finding.level = RiskLevel::Caution;
        }
        finding.builtin = finding.level;
        let words: Vec<String> = std::iter::once(program.to_owned())
            .chain(arguments.iter().map(|(text, _)| text.clone()))
            .collect();
        if let Some(rule) = self.user.strictest(&words) {
            let lowers = rule.level < finding.level;
            let allowed = finding.level == RiskLevel::Dangerous && rule.level == RiskLevel::Caution;
            if rule.level > finding.level || (lowers && allowed) {
                finding = Finding {
                    level: rule.level,
                    rule: rule.id.clone(),
                    reason: rule.reason.clone(),
                    safer: None,
                    ..finding
                };
            }
        }
        self.findings.push(finding);
    }
}

/// The name by which the table knows a program; nothing for a program by its own path.
fn program_of(text: &str) -> Option<String> {
    let name = text.rsplit('/').next().unwrap_or(text);
    let known = [
        "/bin/",
        "/sbin/",
        "/usr/bin/",
        "/usr/sbin/",
        "/usr/local/bin/",
        "/usr/local/sbin/",
        "/opt/homebrew/bin/",
        "/snap/bin/",
        "/etc/init.d/",
    ];
    let folder = text.strip_suffix(name).unwrap_or_default();
    if folder == "/etc/init.d/" {
        return Some("/etc/init.d/".to_owned());
    }
    if folder.is_empty()
        || known.contains(&folder)
        || matches!(name, "rails" | "gradlew" | "mvnw" | "rake")
    {
        return Some(name.strip_suffix(".exe").unwrap_or(name).to_owned());
    }
    None
}
