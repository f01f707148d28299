//! Indirect commands: functions, aliases, and programs named by `$(echo ..)`.

use super::classifier::Classifier;
use super::syntax::{OUTPUT, unknown};
use super::{SimpleCommand, Word};

impl Classifier<'_> {
    /// The command with its program replaced, if the program is the known output of `$(echo ..)`; `None` otherwise.
    pub(super) fn printed_program(&self, command: &SimpleCommand) -> Option<SimpleCommand> {
        let (first, rest) = command.words.split_first()?;
        if first.text != OUTPUT {
            return None;
        }
        let inner = self.script.commands.get(first.inner.clone()?)?;
        let [source] = inner else { return None };
        let text = self.known_output(source).filter(|text| {
            !text.trim().is_empty()
                && text.bytes().all(|b| b.is_ascii_alphanumeric() || b" ./_-".contains(&b))
        })?;
        let printed = text
            .split_whitespace()
            .map(|word| Word { inner: first.inner.clone(), ..Word::literal(word, first.span()) });
        let words = printed.chain(rest.iter().cloned()).collect();
        Some(SimpleCommand { words, ..command.clone() })
    }

    /// Rates the text of an alias as a command. An alias that replaces a known program is dangerous.
    pub(super) fn rate_alias(&mut self, command: &SimpleCommand, depth: usize) {
        for word in command.arguments().iter() {
            let Some((name, text)) = word.text.split_once('=') else { continue };
            let text = text.trim_end();
            if text.is_empty() {
                continue;
            }
            if self.table.dangerous(name) && text.split_whitespace().next() != Some(name) {
                let reason = "Replaces a known program by another command.";
                self.add_danger("hijacks", word.span(), reason);
            }
            self.aliases.insert(name.to_owned(), text.to_owned());
            let reason = "Defines an alias, which changes what a command runs.";
            self.add_caution("sets-alias", word.span(), reason);
            self.rate_text(text, word, command, depth + 1);
        }
    }

    /// Rates a call of an alias as the command that replaces it.
    pub(super) fn rate_alias_call(&mut self, command: &SimpleCommand, program: &str, depth: usize) {
        let Some(text) = self.aliases.remove(program) else { return };
        let span = command.span();
        let head = text.split_whitespace().map(|it| Word::literal(it, span.clone()));
        let words = head.chain(command.arguments().iter().cloned()).collect();
        let whole = SimpleCommand { words, ..command.clone() };
        self.keep_if_dangerous(|classifier| classifier.rate_command(&whole, depth + 1));
        self.aliases.insert(program.to_owned(), text);
    }

    /// Rates a call of a function: its body with the arguments of the call. Returns whether the name can only mean the
    /// function, and not also a known program.
    pub(super) fn rate_function_call(
        &mut self,
        command: &SimpleCommand,
        program: &str,
        depth: usize,
    ) -> bool {
        let Some(function) = self.script.functions.iter().find(|function| function.name == program)
        else {
            return false;
        };
        let body = self.script.commands.get(function.body.clone()).unwrap_or_default().to_vec();
        let arguments = command.arguments();
        let all = [unknown("@"), unknown("*")];
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
                    for (number, argument) in arguments.iter().enumerate().take(99) {
                        let mark = unknown(&(number + 1).to_string());
                        match self.replace_limited(&text, &mark, &argument.text, &word.span) {
                            Some(replaced) => text = replaced,
                            None => break,
                        }
                    }
                    vec![Word { text, ..word }]
                })
                .collect();
            if inner.words != before {
                inner.span = command.span();
                self.rate_command(&inner, depth + 1);
            }
        }
        // Programs that run others, such as `env` and `xargs`, never call functions, and another shell or `unset
        // -f` drops them. So a known program with the name of a function is rated as that program, too.
        !(self.table.dangerous(program)
            || self.table.knows(program)
            || self.table.admin.names(program))
    }
}
