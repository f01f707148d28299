//! Commands inside commands: `sudo`, `xargs`, `find -exec`, `sh -c`, `ssh` and their like.

use std::ops::Range;

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
            Kind::Interpreter => return self.interpreter(&context, wrapper, program, rest, depth),
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
                    let holder = rest.get(at).filter(|_| used).unwrap_or(word);
                    at += usize::from(used);
                    if program == "env" {
                        // What is split is only the beginning of the command.
                        let rest = rest.get(at..).unwrap_or_default();
                        let split =
                            value.split_whitespace().map(|it| Word::literal(it, word.span()));
                        let env = std::iter::once(Word::literal("env", word.span()));
                        let words = env.chain(split).chain(rest.iter().cloned()).collect();
                        let whole =
                            SimpleCommand { words, redirects: quiet(outer), ..context.clone() };
                        self.command(&whole, depth + 1);
                        break;
                    }
                    self.read(&value, holder, &context, depth);
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
            let options = rest.get(..at).unwrap_or_default();
            let mark = replaced(options);
            for word in &mut inner {
                let mark = mark.as_deref().unwrap_or("{}");
                word.text = word.text.replace(mark, &format!("{UNKNOWN}ARG{END}"));
            }
            if mark.is_none() {
                inner.push(Word::literal(&format!("{UNKNOWN}ARG{END}"), outer.span()));
            }
        }
        if wrapper.kind == Kind::Options {
            if wrapper.names.iter().any(|name| name == "su") && !scripts && program == "su" {
                context.raised = true;
                self.stdin(&context, depth);
            }
            return false;
        }
        let asks =
            ["-l", "-ll", "-v", "-V", "-k", "-K", "--list", "--validate", "--version", "--help"];
        if inner.is_empty()
            && !scripts
            && (wrapper.shell || context.remote || wrapper.raises)
            && !rest.iter().any(|word| asks.contains(&word.text.as_str()))
            && wrapper.kind != Kind::Options
        {
            self.stdin(&context, depth);
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
            if program == "trap" {
                // Signals follow the command.
                inner.truncate(1);
            }
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

    /// Where a text begins in the command, when it stands there as it is, in quotes or without.
    fn verbatim(&self, text: &str, word: &Word) -> Option<usize> {
        let written = self.source.get(word.span())?;
        let inner = written
            .strip_prefix('\'')
            .and_then(|rest| rest.strip_suffix('\''))
            .or_else(|| written.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')));
        match inner {
            Some(inner) if inner == text => Some(word.span.start + 1),
            _ => (written == text).then_some(word.span.start),
        }
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
                let base = self.verbatim(text, word);
                let place = |span: &Range<usize>| match base {
                    Some(base) => base + span.start..base + span.end,
                    None => word.span(),
                };
                for function in &mut script.functions {
                    function.span = place(&function.span);
                }
                for span in &mut script.endless {
                    *span = place(span);
                }
                for command in &mut script.commands {
                    command.span = place(&command.span);
                    let words = command.words.iter_mut();
                    let assigned = command.assignments.iter_mut().map(|(_, word)| word);
                    let redirected = command.redirects.iter_mut().map(|it| &mut it.target);
                    for word in words.chain(assigned).chain(redirected) {
                        word.span = place(&word.span);
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
            // `find` passes on what it found only where that is asked for; `fd` always does.
            let is_find = context.words.first().is_some_and(|word| word.text.ends_with("find"));
            if !named && !is_find {
                inner.push(Word::literal(&format!("{UNKNOWN}ARG{END}"), word.span()));
            }
            // Where it searches is what the command is given.
            if let Some(first) = rest.first().filter(|first| {
                !first.text.starts_with('-')
                    && context.words.first().is_some_and(|word| word.text.ends_with("find"))
            }) {
                let found = format!("{}/{UNKNOWN}{END}", first.text.trim_end_matches('/'));
                for word in &mut inner {
                    word.text = word.text.replace(&format!("{UNKNOWN}ARG{END}"), &found);
                }
            }
            at += inner.len();
            let command = SimpleCommand { words: inner, redirects: Vec::new(), ..context.clone() };
            self.command(&command, depth + 1);
        }
    }
}

/// The mark that operands replace, where they are not put behind the command.
fn replaced(options: &[Word]) -> Option<String> {
    let (index, text) = options.iter().enumerate().find_map(|(index, word)| {
        let text = word.text.as_str();
        let value = ["-I", "--replace", "-i"].iter().find_map(|name| text.strip_prefix(name))?;
        Some((index, value.trim_start_matches('=').to_owned()))
    })?;
    let next = || options.get(index + 1).map(|word| word.text.clone());
    let named = options.get(index).is_some_and(|word| word.text == "-I");
    let text = if named { next().unwrap_or_default() } else { text };
    Some(if text.is_empty() { "{}".to_owned() } else { text })
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
