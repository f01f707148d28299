//! Commands inside commands: `sudo`, `xargs`, `find -exec`, `sh -c`, `ssh` and the like.

use std::ops::Range;

use super::classifier::{Classifier, MAX_DEPTH};
use super::elsewhere::PathUse;
use super::listed::listed;
use super::parse::parse;
use super::syntax::ARGUMENT;
use super::table::{Wrapper, WrapperKind};
use super::wrapper_words::{
    command_value, index_after_name, input_redirects, placeholder, takes_next_word, wrapper_options,
};
use super::{SimpleCommand, Word};
use crate::plan::RiskLevel;

impl Classifier<'_> {
    /// Rates the inner commands of a call of a wrapper. Returns whether the call itself is rated as a wrapper, and not
    /// as an ordinary program.
    pub(super) fn rate_inner_commands(
        &mut self,
        command: &SimpleCommand,
        program: &str,
        depth: usize,
    ) -> bool {
        let table = self.table;
        let globals = table.globals.get(program).map(Vec::as_slice).unwrap_or_default();
        let mut is_wrapper = false;
        let mut variants = vec![command.words.clone()];
        // Known values of variables make the inner command known.
        if command.arguments().iter().any(Word::has_unknown)
            && command.words.iter().all(|word| word.inner.is_none())
        {
            variants = self.variants(&command.words, &command.span);
        }
        for words in &variants {
            for wrapper in &table.wrapper {
                for name in &wrapper.names {
                    let Some(start) = index_after_name(name, program, words, globals) else {
                        continue;
                    };
                    let rest = words.get(start..).unwrap_or_default();
                    is_wrapper |= self.rate_wrapped(command, (program, name), wrapper, rest, depth);
                }
            }
        }
        is_wrapper
    }

    /// Rates the inner commands of a call that matches `name`, a name of `wrapper`; `rest` are the words after the name.
    /// Returns what [`Self::rate_inner_commands`] does.
    fn rate_wrapped(
        &mut self,
        outer: &SimpleCommand,
        (program, name): (&str, &str),
        wrapper: &Wrapper,
        rest: &[Word],
        depth: usize,
    ) -> bool {
        if wrapper.is("command") && rest.first().is_some_and(|it| listed("-v -V", &it.text)) {
            let reason = "Only shows what a name stands for.";
            self.add_finding(RiskLevel::Safe, "asks-name", outer.span(), reason);
            return true;
        }
        let mut context = outer.clone();
        context.assignments.clear();
        context.raised |= wrapper.raises;
        context.remote |= wrapper.remote;
        match wrapper.kind {
            WrapperKind::Shell => {
                self.rate_shell(&context, wrapper, rest, depth);
                return true;
            }
            WrapperKind::Find => {
                self.rate_find(&context, rest, depth);
                return false;
            }
            WrapperKind::Interpreter => {
                return self.rate_interpreter(&context, wrapper, program, rest, depth);
            }
            WrapperKind::Each => {
                self.rate_wrapper_paths(
                    outer,
                    (program, name),
                    &wrapper_options(rest, &wrapper.values),
                );
                self.rate_operands(&context, wrapper, rest, depth);
                return true;
            }
            WrapperKind::Argv | WrapperKind::Joined | WrapperKind::Options => {}
        }
        let mut index = 0;
        let mut scripts = false;
        let mut skip = wrapper.skip;
        while let Some(word) = rest.get(index) {
            let text = word.text.as_str();
            index += 1;
            if text == "--" {
                let ends = skip == 0 || wrapper.names.iter().any(|name| name.contains("kubectl"));
                if program != "env" && ends {
                    break;
                }
                continue;
            }
            if text.starts_with('-') && text.len() > 1
                || text.starts_with('+') && wrapper.kind == WrapperKind::Options
            {
                if let Some((value, used)) = command_value(text, rest.get(index), wrapper) {
                    scripts = true;
                    let holder = rest.get(index).filter(|_| used).unwrap_or(word);
                    index += usize::from(used);
                    if program == "env" {
                        if value.contains(['\\', '$', '"', '\'']) {
                            let reason = "env splits this text by its own rules.";
                            self.add_danger("escaped-word", holder.span(), reason);
                        }
                        // The split text is only the beginning of the command.
                        let rest = rest.get(index..).unwrap_or_default();
                        let split =
                            value.split_whitespace().map(|it| Word::literal(it, word.span()));
                        let env = std::iter::once(Word::literal("env", word.span()));
                        let words = env.chain(split).chain(rest.iter().cloned()).collect();
                        let whole = SimpleCommand {
                            words,
                            redirects: input_redirects(outer),
                            ..context.clone()
                        };
                        self.rate_command(&whole, depth + 1);
                        break;
                    }
                    self.rate_text(&value, holder, &context, depth);
                } else if takes_next_word(text, &wrapper.values) {
                    // The value may be a variable assignment.
                    let assigned = rest.get(index).and_then(|word| word.text.split_once('='));
                    if let Some((name, _)) = assigned {
                        self.rate_variable(name, None, &word.span());
                    }
                    index += 1;
                } else if wrapper.kind != WrapperKind::Options && !wrapper.allows(text) {
                    // The next word may be the option's value rather than the program.
                    if let Some(next) = rest.get(index)
                        && !outer.remote
                        && self.outside_path(&next.text, PathUse::MayWrite).is_some()
                    {
                        let reason = "An unknown option names a path outside the working folder.";
                        self.add_danger("elsewhere", next.span(), reason);
                    }
                    let reason =
                        "Runs another command, with an option that is not known to be harmless.";
                    self.add_caution("wrapper-option", word.span(), reason);
                }
                continue;
            }
            if wrapper.kind == WrapperKind::Options {
                continue;
            }
            let assignment = text.split_once('=').filter(|(name, _)| {
                !name.is_empty()
                    && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'%')
            });
            if let Some((name, value)) = assignment
                && skip == 0
                && (wrapper.raises || wrapper.is("env"))
            {
                let value = Word::literal(value, word.span());
                let only = SimpleCommand {
                    assignments: vec![(name.to_owned(), value)],
                    span: word.span(),
                    ..SimpleCommand::default()
                };
                self.rate_command(&only, depth + 1);
                continue;
            }
            if skip > 0 {
                skip -= 1;
                continue;
            }
            index -= 1;
            break;
        }
        let mut inner = rest.get(index..).unwrap_or_default().to_vec();
        if wrapper.kind == WrapperKind::Argv || wrapper.kind == WrapperKind::Joined {
            self.rate_wrapper_paths(outer, (program, name), rest.get(..index).unwrap_or_default());
        }
        if wrapper.fetches
            && let Some(first) = inner.first()
            && !self.table.packages.known.is_match(&first.text)
            && !self.checks_project(&inner)
        {
            let reason = "Downloads and runs a package that is not a known development tool.";
            self.add_danger("runs-fetched", first.span(), reason);
        }
        if wrapper.more {
            let options = rest.get(..index).unwrap_or_default();
            let mark = placeholder(options);
            if self
                .replace_in_words(&mut inner, mark.as_deref().unwrap_or("{}"), ARGUMENT)
                .is_none()
            {
                return true;
            }
            if mark.is_none() {
                inner.push(Word::literal(ARGUMENT, outer.span()));
            }
            // The input becomes words of the command, including the paths in it.
            if let Some(path) =
                self.path_in_input(outer).or_else(|| self.path_for_words(outer, options))
            {
                inner.push(Word::literal(&path, outer.span()));
            }
        }
        if wrapper.kind == WrapperKind::Options {
            if wrapper.is("su") && !scripts && program == "su" {
                context.raised = true;
                self.rate_shell_input(&context, depth);
            }
            return false;
        }
        const ASKS: &str = "-l -ll -v -V -k -K --list --validate --version --help";
        if inner.is_empty()
            && !scripts
            && (wrapper.shell || context.remote || wrapper.raises)
            && !rest.iter().any(|word| listed(ASKS, &word.text))
        {
            self.rate_shell_input(&context, depth);
        }
        let level = wrapper.level.unwrap_or(RiskLevel::Safe);
        let elsewhere = context.raised || context.remote;
        if level > RiskLevel::Safe || inner.is_empty() || elsewhere {
            let level = if elsewhere { level.max(RiskLevel::Caution) } else { level };
            self.add_finding(
                level,
                "wrapper",
                outer.span(),
                "Runs another command, or code of its own.",
            );
        }
        if inner.is_empty() && !scripts {
            return !wrapper.more;
        }
        if wrapper.kind == WrapperKind::Joined {
            if program == "trap" {
                // The remaining operands are signals.
                inner.truncate(1);
            }
            let text = inner.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
            if let Some(first) = inner.first() {
                self.rate_text(&text, first, &context, depth);
            }
        } else if !inner.is_empty() {
            // The inner command keeps the input redirections, since writes were rated already.
            let mut inner =
                SimpleCommand { words: inner, redirects: input_redirects(outer), ..context };
            // `xargs` consumes the input itself.
            if wrapper.more {
                (inner.redirects, inner.input) = (Vec::new(), None);
            }
            self.rate_command(&inner, depth + 1);
        }
        true
    }

    /// The start of a text in the command, if the word consists literally of this text, with or without quotes.
    fn literal_position(&self, text: &str, word: &Word) -> Option<usize> {
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

    /// Parses a text as a shell would and rates its commands.
    pub(super) fn rate_text(
        &mut self,
        text: &str,
        word: &Word,
        context: &SimpleCommand,
        depth: usize,
    ) {
        if depth > MAX_DEPTH {
            return self.add_nesting_limit(word.span());
        }
        match parse(text, depth) {
            Ok(mut script) => {
                let base = self.literal_position(text, word);
                let outer_span = |span: &Range<usize>| match base {
                    Some(base) => base + span.start..base + span.end,
                    None => word.span(),
                };
                for function in &mut script.functions {
                    function.span = outer_span(&function.span);
                }
                for span in &mut script.endless {
                    *span = outer_span(span);
                }
                for command in &mut script.commands {
                    command.span = outer_span(&command.span);
                    let redirected = command.redirects.iter_mut().map(|it| &mut it.target);
                    for word in command.words.iter_mut().chain(redirected) {
                        word.inner = None;
                    }
                    for word in command.all_words_mut() {
                        word.span = outer_span(&word.span);
                    }
                    // An inner shell inherits the input.
                    if command.input.is_none() && command.redirects.is_empty() {
                        command.redirects = input_redirects(context);
                    }
                }
                self.rate_script(script, context, depth + 1);
            }
            Err(_) => {
                let reason = "This cannot be parsed completely as a command.";
                self.add_danger("unreadable", word.span(), reason);
            }
        }
    }

    /// Rates a text that may be a command line. Only dangerous findings count.
    pub(super) fn rate_possible(
        &mut self,
        text: &str,
        word: &Word,
        context: &SimpleCommand,
        depth: usize,
    ) {
        self.keep_if_dangerous(|classifier| classifier.rate_text(text, word, context, depth + 1));
    }
}
