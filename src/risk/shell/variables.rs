//! The possible values of words, within limits, and the effect of variables on later programs.

use std::ops::Range;

use super::Word;
use super::classifier::Classifier;
use super::elsewhere::PathUse;
use super::listed::matches_wildcard;
use super::scan::is_hidden;
use super::syntax::{END, UNKNOWN, unknown};
use crate::plan::CommandInput;

/// Limit for the values of one variable, and for the expansions of one word.
pub(super) const MAX_VALUES: usize = 16;
/// Limit for one text after replacing its variables, in bytes.
const MAX_TEXT_BYTES: usize = 64 * 1024;
/// Limit for all texts that one classification produces by replacing, in bytes.
const MAX_TOTAL_BYTES: usize = 4 * 1024 * 1024;

/// Suffixes of variables whose value is a command that programs run.
const COMMAND_SUFFIXES: &str = "_EDITOR _PAGER _BROWSER _DIFF _ASKPASS _SSH _RSH _SHELL _HOOK _HOOKS _HELPER _WRAPPER _LAUNCHER _PRELOAD \
    _FILTER _VIEWER _TERMINAL _SSH_COMMAND";

impl Classifier<'_> {
    /// Replaces a text inside another one. If a limit is reached, records a finding and returns `None`.
    pub(super) fn replace_limited(
        &mut self,
        text: &str,
        from: &str,
        to: &str,
        span: &Range<usize>,
    ) -> Option<String> {
        let times = if from.is_empty() { 0 } else { text.matches(from).count() };
        let length = text.len().saturating_add(times.saturating_mul(to.len()));
        if length > MAX_TEXT_BYTES || self.expanded_bytes.saturating_add(length) > MAX_TOTAL_BYTES {
            self.add_expansion_limit(span);
            return None;
        }
        if times == 0 {
            return Some(text.to_owned());
        }
        self.expanded_bytes += length;
        Some(text.replace(from, to))
    }

    /// Replaces a text in every word; `None` as in [`Self::replace_limited`].
    pub(super) fn replace_in_words(
        &mut self,
        words: &mut [Word],
        from: &str,
        to: &str,
    ) -> Option<()> {
        for word in words {
            word.text = self.replace_limited(&word.text, from, to, &word.span)?;
        }
        Some(())
    }

    /// Records that a limit is reached. Nothing is expanded afterwards.
    pub(super) fn add_expansion_limit(&mut self, span: &Range<usize>) {
        // One finding is enough.
        if self.expanded_bytes < MAX_TOTAL_BYTES {
            self.add_danger(
                "expands-too-much",
                span.clone(),
                "Its variables expand to more text or more commands than are checked.",
            );
        }
        self.expanded_bytes = MAX_TOTAL_BYTES;
    }

    /// The possible values of a text, with unknown parts marked; `None` if a limit is reached.
    pub(super) fn resolve(&mut self, text: &str, span: &Range<usize>) -> Option<Vec<String>> {
        let mut texts = vec![text.to_owned()];
        if !text.contains(UNKNOWN) {
            return Some(texts);
        }
        // A value may name another variable. The limit ends circular references.
        for _ in 0..4 {
            let mut changed = false;
            let mut names: Vec<String> = Vec::new();
            for part in texts.iter().flat_map(|text| text.split(UNKNOWN).skip(1)) {
                let name = part.split_once(END).map_or("", |(name, _)| name);
                let is_new = || !names.iter().any(|known| known == name);
                if !name.is_empty() && self.variables.contains_key(name) && is_new() {
                    names.push(name.to_owned());
                }
            }
            for name in names {
                let values = self.variables.get(&name).cloned().unwrap_or_default();
                if values.is_empty() {
                    continue;
                }
                let mark = unknown(&name);
                let mut next = Vec::new();
                for text in &texts {
                    if !text.contains(&mark) {
                        next.push(text.clone());
                        continue;
                    }
                    for value in &values {
                        if value.contains(&mark) {
                            // The previous value inside its own new value stays unknown.
                            let value = value.replace(&mark, &unknown("+"));
                            next.push(self.replace_limited(text, &mark, &value, span)?);
                        } else {
                            next.push(self.replace_limited(text, &mark, value, span)?);
                        }
                        changed = true;
                    }
                    if next.len() > MAX_VALUES {
                        self.add_expansion_limit(span);
                        return None;
                    }
                }
                texts = next;
            }
            if !changed {
                break;
            }
        }
        Some(texts)
    }

    /// The words, in every combination of the known values of their variables; empty if a limit is reached.
    pub(super) fn variants(&mut self, words: &[Word], span: &Range<usize>) -> Vec<Vec<Word>> {
        let mut variants = vec![Vec::new()];
        for word in words {
            let Some(texts) = self.resolve(&word.text, span) else { return Vec::new() };
            let lone = word.text.starts_with(UNKNOWN) && word.text.ends_with(END);
            // A quoted value stays one word.
            let quoted = self.source.get(word.span()).is_some_and(|it| it.starts_with('"'));
            if let [text] = texts.as_slice()
                && *text == word.text
            {
                for words in &mut variants {
                    words.push(word.clone());
                }
                continue;
            }
            let mut next = Vec::new();
            for before in &variants {
                for text in &texts {
                    let mut words: Vec<Word> = before.clone();
                    if lone && !quoted && *text != word.text && text.contains([' ', '\t', '\n']) {
                        words.extend(
                            text.split_whitespace().map(|it| Word::literal(it, word.span())),
                        );
                    } else {
                        words.push(Word { text: text.clone(), ..word.clone() });
                    }
                    next.push(words);
                }
            }
            if next.len() > MAX_VALUES {
                self.add_expansion_limit(span);
                return Vec::new();
            }
            variants = next;
        }
        variants
    }

    /// Sets the variables that the command gets in its environment.
    pub(super) fn set_inputs(&mut self, inputs: &[CommandInput]) {
        let whole = 0..self.source.len();
        for input in inputs {
            let name = input.variable();
            let Some(value) = &input.value else {
                self.input_variables.insert(name);
                continue;
            };
            if value.chars().any(is_hidden) {
                let reason = format!(
                    "The value of ${name} contains an invisible character, or one that looks like another one."
                );
                self.add_danger("hidden-character", whole.clone(), &reason);
                self.input_variables.insert(name);
                continue;
            }
            let mut values = vec![value.clone()];
            if input.may_change_in(self.source) {
                values.push(unknown("+"));
                self.input_variables.insert(name.clone());
            }
            self.record_values(&name, values, &whole);
        }
    }

    /// Records values of a variable.
    pub(super) fn record_values(&mut self, name: &str, values: Vec<String>, span: &Range<usize>) {
        let known = self.variables.entry(name.to_owned()).or_default();
        for value in values {
            if !known.contains(&value) {
                known.push(value);
            }
        }
        if known.len() > MAX_VALUES {
            self.add_expansion_limit(span);
        }
    }

    /// Rates an assignment to a variable that affects later programs or the shell itself.
    pub(super) fn rate_variable(&mut self, name: &str, value: Option<&str>, span: &Range<usize>) {
        let table = self.table;
        let is = |names: &[String]| names.iter().any(|known| matches_wildcard(known, name));
        let harmless = value.is_some_and(|value| table.variables.is_harmless(name, value));
        // A prompt is expanded each time it is shown.
        let prompt = matches!(name, "PS0" | "PS1" | "PS2" | "RPROMPT")
            && value.is_some_and(|value| value.contains("$(") || value.contains('`'));
        if prompt || (is(&table.variables.hijack) && !is(&table.variables.harmless) && !harmless) {
            self.add_danger(
                "hijack-variable",
                span.clone(),
                "Changes which programs run later, or what they do.",
            );
        } else if is(&table.variables.traces) {
            self.add_danger(
                "history-variable",
                span.clone(),
                "Stops the shell from recording commands in its history.",
            );
        }
    }

    /// Rates an exported variable whose value is a path outside the working folder or a command.
    pub(super) fn rate_exported_value(&mut self, name: &str, value: &str, span: &Range<usize>) {
        let table = &self.table.variables;
        if table.harmless.iter().any(|known| matches_wildcard(known, name))
            || table.is_harmless(name, value)
        {
            return;
        }
        // A plain program name is one word. Anything more is a command that has not been reviewed.
        let command =
            value.contains([' ', '/', '$', '`', ';', '|']) && !table.is_harmless("EDITOR", value);
        if command && COMMAND_SUFFIXES.split(' ').any(|ending| name.ends_with(ending)) {
            let reason = "Sets a variable whose value other programs run as a command.";
            self.add_danger("hijack-variable", span.clone(), reason);
        }
        let Some(values) = self.resolve(value, span) else { return };
        if let Some(path) = values.iter().find_map(|it| self.outside_path(it, PathUse::MayWrite)) {
            let reason = format!("Sets a variable to a path outside the working folder: {path}.");
            self.add_danger("elsewhere", span.clone(), &reason);
        }
    }

    /// Rates the export of a variable.
    pub(super) fn rate_export(&mut self, name: &str, span: &Range<usize>) {
        if !self.table.variables.harmless.iter().any(|known| matches_wildcard(known, name)) {
            self.add_caution(
                "sets-variable",
                span.clone(),
                "Sets an environment variable, which can change what programs do.",
            );
        }
    }
}
