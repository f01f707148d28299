//! Commands inside commands: `sudo`, `xargs`, `find -exec`, `sh -c`, `ssh` and their like.

use super::judge::Judge;
use super::parse::parse;
use super::syntax::{END, SimpleCommand, UNKNOWN, Word};
use super::table::{Kind, Wrapper};
use crate::risk::RiskLevel;

impl Judge<'_> {
    /// Judges what a wrapper runs; says whether the program is nothing but a wrapper.
    pub(super) fn unwrap(&mut self, command: &SimpleCommand, program: &str, depth: usize) -> bool {
        let table = self.table;
        let globals = table.globals.get(program).map(Vec::as_slice).unwrap_or_default();
        let mut only = false;
        let mut words = command.words.clone();
        // Where a variable's value is known, what it wraps is known, too.
        if words.iter().skip(1).any(Word::unknown) && words.iter().all(|word| word.inner.is_none())
        {
            words = self.first_values(&words);
        }
        for wrapper in &table.wrapper {
            for name in &wrapper.names {
                let Some(start) = begins(name, program, &words, globals) else { continue };
                let rest = words.get(start..).unwrap_or_default();
                only |= self.wrapped(command, program, wrapper, rest, depth);
            }
        }
        only
    }

    fn wrapped(
        &mut self,
        outer: &SimpleCommand,
        program: &str,
        wrapper: &Wrapper,
        rest: &[Word],
        depth: usize,
    ) -> bool {
        if wrapper.names.iter().any(|name| name == "command")
            && rest.first().is_some_and(|word| matches!(word.text.as_str(), "-v" | "-V"))
        {
            self.note(
                RiskLevel::Safe,
                "asks-name",
                outer.span(),
                "Only asks what a name means.",
                None,
            );
            return true;
        }
        let mut context = outer.clone();
        context.assignments.clear();
        context.raised |= wrapper.raises;
        context.remote |= wrapper.remote;
        match wrapper.kind {
            Kind::Shell => {
                self.shell(&context, wrapper, rest, depth);
                return true;
            }
            Kind::Find => {
                self.find(&context, rest, depth);
                return false;
            }
            Kind::Interpreter => return self.interpreter(&context, wrapper, program, rest),
            Kind::Argv | Kind::Joined | Kind::Options => {}
        }
        let mut at = 0;
        let mut scripts = false;
        let mut skip = wrapper.skip;
        while let Some(word) = rest.get(at) {
            let text = word.text.as_str();
            at += 1;
            if text == "--" {
                if skip == 0 || wrapper.names.iter().any(|name| name.contains("kubectl")) {
                    break;
                }
                continue;
            }
            if text.starts_with('-') && text.len() > 1
                || text.starts_with('+') && wrapper.kind == Kind::Options
            {
                if let Some((value, used)) = value_of(text, rest.get(at), &wrapper.scripts) {
                    scripts = true;
                    at += usize::from(used);
                    self.read(&value, word, &context, depth);
                } else if takes_next(text, &wrapper.values) {
                    if let Some((name, _)) = rest.get(at).and_then(|word| word.text.split_once('='))
                    {
                        self.variable(name, None, &word.span());
                    }
                    at += 1;
                }
                continue;
            }
            if wrapper.kind == Kind::Options {
                continue;
            }
            let assignment = text.split_once('=').filter(|(name, _)| {
                !name.is_empty()
                    && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'%')
            });
            if let Some((name, value)) = assignment
                && skip == 0
                && (wrapper.raises || wrapper.names.iter().any(|name| name == "env"))
            {
                let value = Word::literal(value, word.span());
                let only = SimpleCommand {
                    assignments: vec![(name.to_owned(), value)],
                    span: word.span(),
                    ..SimpleCommand::default()
                };
                self.command(&only, depth + 1);
                continue;
            }
            if skip > 0 {
                skip -= 1;
                continue;
            }
            at -= 1;
            break;
        }
        let mut inner = rest.get(at..).unwrap_or_default().to_vec();
        if wrapper.more {
            for word in &mut inner {
                word.text = word.text.replace("{}", &format!("{UNKNOWN}ARG{END}"));
            }
            inner.push(Word::literal(&format!("{UNKNOWN}ARG{END}"), outer.span()));
        }
        if wrapper.kind == Kind::Options {
            return false;
        }
        let level = wrapper.level;
        if level > RiskLevel::Safe || inner.is_empty() || context.raised || context.remote {
            let level = level.max(if context.raised || context.remote {
                RiskLevel::Caution
            } else {
                level
            });
            self.note(
                level,
                "wrapper",
                outer.span(),
                "Runs another command, or code of its own.",
                None,
            );
        }
        if inner.is_empty() && !scripts {
            return !wrapper.more;
        }
        if wrapper.kind == Kind::Joined {
            let text = inner.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
            if let Some(first) = inner.first() {
                self.read(&text, first, &context, depth);
            }
        } else if !inner.is_empty() {
            // A real command line inside one word, as `watch 'ls -l'` has it.
            let inner = SimpleCommand { words: inner, redirects: quiet(outer), ..context };
            // What `xargs` reads is not what its command reads.
            let inner = if wrapper.more {
                SimpleCommand { redirects: Vec::new(), input: None, ..inner }
            } else {
                inner
            };
            self.command(&inner, depth + 1);
        }
        true
    }

    /// Reads a text as a shell would.
    pub(super) fn read(&mut self, text: &str, word: &Word, context: &SimpleCommand, depth: usize) {
        if depth > 8 {
            return self.danger(
                "wrapped-too-deep",
                word.span(),
                "Commands inside commands, deeper than 8.",
            );
        }
        match parse(text, depth) {
            Ok(mut script) => {
                for command in &mut script.commands {
                    command.span = word.span();
                    for word in &mut command.words {
                        word.span = command.span.clone();
                        word.inner = None;
                    }
                    // A remote or inner shell reads what the outer one was given.
                    if command.input.is_none() && command.redirects.is_empty() {
                        command.redirects = quiet(context);
                    }
                }
                self.script(script, context, depth + 1);
            }
            Err(_) => self.danger(
                "unreadable",
                word.span(),
                "This cannot be read completely as a command.",
            ),
        }
    }

    fn find(&mut self, context: &SimpleCommand, rest: &[Word], depth: usize) {
        let flags = ["-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"];
        let mut at = 0;
        while let Some(word) = rest.get(at) {
            at += 1;
            if !flags.contains(&word.text.as_str()) {
                continue;
            }
            let tail = rest.get(at..).unwrap_or_default();
            let length = tail
                .iter()
                .position(|word| word.text == ";")
                .or_else(|| tail.iter().rposition(|word| word.text == "+"));
            let mut inner = tail.get(..length.unwrap_or(tail.len())).unwrap_or_default().to_vec();
            let mut named = false;
            for word in &mut inner {
                named |= word.text.contains("{}");
                word.text = word.text.replace("{}", &format!("{UNKNOWN}ARG{END}"));
            }
            if !named {
                inner.push(Word::literal(&format!("{UNKNOWN}ARG{END}"), word.span()));
            }
            // Where it searches is what the command is given.
            if let Some(first) = rest.first().filter(|first| {
                !first.text.starts_with('-')
                    && context.words.first().is_some_and(|word| word.text.ends_with("find"))
            }) {
                for word in &mut inner {
                    if word.text == format!("{UNKNOWN}ARG{END}") {
                        word.text = format!("{}/{UNKNOWN}{END}", first.text.trim_end_matches('/'));
                    }
                }
            }
            at += inner.len();
            let command = SimpleCommand { words: inner, redirects: Vec::new(), ..context.clone() };
            self.command(&command, depth + 1);
        }
    }
}

/// What a command reads stays true inside its wrapper; what it writes was judged already.
fn quiet(command: &SimpleCommand) -> Vec<super::syntax::Redirect> {
    command.redirects.iter().filter(|redirect| !redirect.writes()).cloned().collect()
}

/// Where the wrapper's own words begin, when the command starts with its name.
fn begins(name: &str, program: &str, words: &[Word], globals: &[String]) -> Option<usize> {
    let mut parts = name.split(' ');
    if parts.next() != Some(program) {
        return None;
    }
    let mut at = 1;
    for part in parts {
        while words.get(at).is_some_and(|word| word.text.starts_with('-')) {
            at += 1 + usize::from(words.get(at).is_some_and(|word| globals.contains(&word.text)));
        }
        if words.get(at)?.text != part {
            return None;
        }
        at += 1;
    }
    Some(at)
}

/// The value of an option that holds a command, and whether the next word was used for it.
pub(super) fn value_of(
    text: &str,
    next: Option<&Word>,
    options: &[String],
) -> Option<(String, bool)> {
    for option in options {
        if text == option {
            return Some((next?.text.clone(), true));
        }
        if let Some(value) = text.strip_prefix(option.as_str()) {
            if let Some(value) = value.strip_prefix('=') {
                return Some((value.to_owned(), false));
            }
            if option.len() == 2 && !option.starts_with("--") {
                return Some((value.to_owned(), false));
            }
        }
        // The last letter of a bundle may be the one with the value.
        let letter = option.strip_prefix('-').filter(|letter| letter.len() == 1);
        if let Some(letter) = letter
            && text.starts_with('-')
            && !text.starts_with("--")
            && text.len() <= 6
            && text.bytes().skip(1).all(|b| b.is_ascii_alphabetic())
            && text.ends_with(letter)
        {
            return Some((next?.text.clone(), true));
        }
    }
    None
}

pub(super) fn takes_next(text: &str, values: &[String]) -> bool {
    if values.iter().any(|value| value == text) {
        return true;
    }
    // `-nH user`: the last letter of a bundle takes the value.
    let bundle = text.strip_prefix('-').filter(|rest| rest.len() > 1 && !rest.starts_with('-'));
    bundle.is_some_and(|rest| {
        let mut letters = rest.chars();
        let last = letters.next_back();
        let earlier =
            letters.any(|letter| values.iter().any(|value| *value == format!("-{letter}")));
        !earlier
            && last.is_some_and(|letter| values.iter().any(|value| *value == format!("-{letter}")))
    })
}
