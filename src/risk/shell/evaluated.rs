//! Words that bash evaluates again after their expansion: arithmetic, subscripts and variable names.
//!
//! A subscript is arithmetic, and arithmetic runs the command substitutions in its text and in the values of its
//! variables. So such a word is safe only if it is a plain number. It is dangerous if it contains a substitution after
//! the first expansion, or text that the command line does not contain.

use std::collections::BTreeSet;

use super::classifier::Classifier;
use super::listed::{listed, matches_wildcard};
use super::syntax::{DECLARING, Redirect, UNKNOWN, unknown};
use super::{SimpleCommand, Word};

/// Programs whose output may be used in arithmetic, because it is usually a number or a plain name.
const COUNTING: &str =
    "wc date nproc stat grep egrep rg expr git id seq du df ps tput bc getconf pgrep ls find";

/// Programs that print nothing.
const SILENT: &str = "cd test [ true false : read set sleep";

/// Variables of bash that evaluate assigned values as arithmetic.
const CALCULATED: &str = "RANDOM SRANDOM SECONDS OPTIND LINENO HISTCMD EPOCHSECONDS BASHPID";

impl Classifier<'_> {
    /// Rates the words of a command that bash evaluates a second time.
    pub(super) fn rate_evaluated_words(&mut self, words: &[Word]) {
        for word in words {
            self.rate_evaluated_word(word);
        }
    }

    fn rate_evaluated_word(&mut self, word: &Word) {
        let Some(known) = self.resolve(&word.text, &word.span) else { return };
        let foreign = self.is_foreign(word);
        for text in known {
            // A name in arithmetic means the value of the variable, which is evaluated, too.
            let names: BTreeSet<&str> = text.split(|c| !is_name_part(c)).collect();
            let values = names.into_iter().filter_map(|name| self.variables.get(name));
            let mut values = values.flatten();
            if foreign || hides_command(&text) || values.any(|it| hides_command(it)) {
                let reason =
                    "bash evaluates this word again and runs the commands that it may hold.";
                self.add_danger("evaluated-data", word.span(), reason);
            } else if !is_number(&text) {
                let reason = "bash evaluates this word again after its expansion.";
                self.add_caution("evaluated-word", word.span(), reason);
            }
        }
    }

    /// Whether a word contains the output of a command that may print more than numbers, or a variable that was set
    /// from such output or from input.
    pub(super) fn is_foreign(&self, word: &Word) -> bool {
        if word.text.strip_prefix("v ").is_some_and(is_name) {
            return false;
        }
        let named = |name: &&str| self.input_variables.contains(*name);
        if word.text.split(|c| !is_name_part(c)).any(|it| named(&it)) {
            return true;
        }
        let Some(inner) = word.inner.clone() else { return false };
        let commands = self.commands_in(inner.clone());
        let last = commands.iter().rposition(|it| !it.words.is_empty());
        let is_piped = |index: usize| {
            commands.iter().filter_map(|it| it.input.as_ref()).any(|input| input.contains(&index))
        };
        commands.iter().enumerate().any(|(index, command)| {
            let is_silent = || is_piped(inner.start + index) || prints_nothing(command);
            prints_foreign_text(command) && (last == Some(index) || !is_silent())
        })
    }

    /// Rates a nameref, which hides the variable that is set. It is dangerous if the command line names a variable that
    /// affects later programs.
    fn rate_nameref(&mut self, command: &SimpleCommand) {
        let names = |text: &str| {
            let name = text.rsplit('=').next().unwrap_or(text);
            self.table.variables.hijack.iter().any(|known| matches_wildcard(known, name))
        };
        if self
            .line_commands
            .iter()
            .flat_map(SimpleCommand::arguments)
            .any(|word| names(&word.text))
        {
            let reason = "Gives a second name to a variable that affects later programs.";
            self.add_danger("hijacks-variable", command.span(), reason);
        }
    }

    /// Rates builtins that evaluate variable names or assigned values.
    pub(super) fn rate_evaluating_builtin(&mut self, command: &SimpleCommand, program: &str) {
        let words = command.arguments();
        let has = |letters: &[char]| {
            let options = words.iter().take_while(|word| word.text != "--");
            options.into_iter().any(|word| has_letter(&word.text, letters))
        };
        if matches!(program, "declare" | "local" | "typeset") && has(&['n']) {
            self.rate_nameref(command);
        }
        let evaluated: Vec<Word> = match program {
            "let" => words.to_vec(),
            // The positional parameters may be evaluated later.
            "set" => words.iter().filter(|word| hides_command(&word.text)).cloned().collect(),
            "read" | "mapfile" | "readarray" | "getopts" | "unset" => {
                if matches!(program, "read" | "mapfile" | "readarray") {
                    self.record_input_variables(command, words);
                }
                words.iter().filter(|word| !is_plain_option(word)).map(as_name).collect()
            }
            "printf" | "wait" => {
                let letter = if program == "printf" { 'v' } else { 'p' };
                let before = words.iter().skip_while(|word| !has_letter(&word.text, &[letter]));
                before.take(2).map(as_name).collect()
            }
            "[" | "test" => {
                let asks = |word: &Word| matches!(word.text.as_str(), "-v" | "-R");
                let pairs = words.iter().zip(words.iter().skip(1));
                pairs.filter(|(word, _)| asks(word)).map(|(_, name)| as_name(name)).collect()
            }
            _ if listed(DECLARING, program) => {
                let arithmetic = has(&['i', 'n']);
                let is_evaluated = |word: &&Word| {
                    let name = word.text.split('=').next().unwrap_or_default();
                    !word.text.starts_with(['-', '+'])
                        && (arithmetic
                            || self.evaluates_assignments(name)
                            || !is_name(name.trim_end_matches('+')))
                };
                let mut evaluated: Vec<Word> =
                    words.iter().filter(is_evaluated).map(as_name).collect();
                evaluated.extend(self.quoted_lists(words, has(&['a', 'A'])));
                evaluated
            }
            _ => return,
        };
        self.rate_evaluated_words(&evaluated);
        self.rate_evaluated_input(command, program, words);
    }

    /// Records variables that get lines of the input. If the input names an outside path, each line may be a path
    /// below it.
    fn record_input_variables(&mut self, command: &SimpleCommand, words: &[Word]) {
        let mut commands = self.script.commands.iter();
        let whole = commands.find(|it| it.words.is_empty() && !it.redirects.is_empty());
        let around = whole.and_then(|it| self.path_in_input(it));
        let path = self.path_in_input(command).or(around);
        for name in words.iter().map(|word| &word.text).filter(|it| is_name(it)) {
            if let Some(path) = &path {
                let found = format!("{path}/{}", unknown("FOUND"));
                self.record_values(name, vec![found], &command.span());
            }
            self.input_variables.insert(name.clone());
        }
    }

    /// The values that become a list only when the builtin runs, and whose words bash then expands once more.
    fn quoted_lists(&mut self, words: &[Word], lists: bool) -> Vec<Word> {
        let made = self.declares_list();
        let mut found = Vec::new();
        for word in words.iter().filter(|word| !word.list && !word.text.starts_with(['-', '+'])) {
            let Some((_, value)) = word.text.split_once('=') else {
                if lists && word.has_unknown() {
                    found.push(as_name(word));
                }
                continue;
            };
            let known = self.resolve(value, &word.span).unwrap_or_default();
            let list = known.iter().any(|value| value.starts_with('('));
            let unknown = (lists || made) && known.iter().any(|value| value.starts_with(UNKNOWN));
            if list || unknown {
                found.push(Word { text: format!("v {value}"), ..word.clone() });
            }
        }
        found
    }

    /// Whether any command of the line declares a list. Its name is not compared.
    fn declares_list(&self) -> bool {
        self.line_commands.iter().any(|command| {
            let flagged = |letters: &[char]| {
                command.arguments().iter().any(|it| has_letter(&it.text, letters))
            };
            match command.program().as_deref() {
                Some("read") => flagged(&['a']),
                Some("mapfile" | "readarray") => true,
                program => program.is_some_and(|it| listed(DECLARING, it)) && flagged(&['a', 'A']),
            }
        })
    }

    /// Whether bash evaluates assignments to this variable as arithmetic: some of its own variables, and those
    /// declared as integers or namerefs.
    pub(super) fn evaluates_assignments(&self, name: &str) -> bool {
        let name = name.trim_end_matches('+').split('[').next().unwrap_or_default();
        if listed(CALCULATED, name) {
            return true;
        }
        self.line_commands.iter().any(|command| {
            let words = || command.arguments().iter().map(|word| word.text.as_str());
            command.program().is_some_and(|it| listed(DECLARING, &it))
                && words().any(|text| has_letter(text, &['i', 'n']))
                && words().any(|text| text.split(['=', '+', '[']).next() == Some(name))
        })
    }

    /// Rates input that is stored in a variable whose values bash evaluates.
    fn rate_evaluated_input(&mut self, command: &SimpleCommand, program: &str, words: &[Word]) {
        if !matches!(program, "read" | "mapfile" | "readarray" | "printf") {
            return;
        }
        let into = |word: &&Word| {
            let name = word.text.strip_prefix("-v").unwrap_or(&word.text);
            is_name(name) && self.evaluates_assignments(name)
        };
        let Some(word) = words.iter().find(into).cloned() else { return };
        let number = |word: &Word| is_number(&word.text) || word.text.starts_with('%');
        if program == "printf"
            && words.iter().all(|it| it.text.starts_with('-') || it.text == word.text || number(it))
        {
            return;
        }
        let reason = "bash calculates what is put into this variable, and runs the commands in it.";
        self.add_danger("evaluated-data", command.span(), reason);
    }
}

/// Marks a word as a variable name, which is never a plain number.
fn as_name(word: &Word) -> Word {
    Word { text: format!("v {}", word.text), ..word.clone() }
}

/// Whether a word is a group of short options with one of these letters.
fn has_letter(text: &str, letters: &[char]) -> bool {
    text.starts_with(['-', '+']) && !text.starts_with("--") && text.contains(letters)
}

fn is_plain_option(word: &Word) -> bool {
    word.text.starts_with('-') && word.text.len() <= 3 && !word.has_unknown()
}

/// Whether a command may print more than numbers and plain names.
fn prints_foreign_text(command: &SimpleCommand) -> bool {
    let Some(name) = command.program() else { return false };
    let plain = |word: &Word| !word.has_unknown() && !hides_command(&word.text);
    let prints_text =
        matches!(name.as_str(), "echo" | "printf") && command.arguments().iter().all(plain);
    !prints_text && !listed(COUNTING, &name)
}

/// Whether a command prints nothing to its standard output. A file such as `/dev/fd/1` is the output itself.
fn prints_nothing(command: &SimpleCommand) -> bool {
    let to_file = |it: &Redirect| {
        let target = &it.target;
        let may_be_output =
            target.has_unknown() || target.text.starts_with('/') || target.text.contains("..");
        it.takes_output() && (target.text == "/dev/null" || !may_be_output)
    };
    command.starts(SILENT) || command.redirects.iter().any(to_file)
}

fn is_name_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(is_name_part)
}

/// Whether a text contains a substitution that bash runs when it evaluates the text.
fn hides_command(text: &str) -> bool {
    text.contains("$(") || text.contains('`') || text.contains("${") || text.contains("<(")
}

/// Whether a text consists of numbers and operators only.
fn is_number(text: &str) -> bool {
    let known = text.replace(&unknown("#"), "0").replace(&unknown("?"), "0");
    known
        .chars()
        .all(|c| c.is_ascii_digit() || c.is_ascii_whitespace() || "+-*/%<>=!&|^~?:,();".contains(c))
}
