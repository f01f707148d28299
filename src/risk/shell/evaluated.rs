//! Words that bash evaluates again after their expansion: arithmetic, subscripts and variable names.
//!
//! A subscript is arithmetic, and arithmetic runs the command substitutions in its text and in the values of its
//! variables. So such a word is never safe. It is dangerous if it contains a substitution after the first
//! expansion, or text from a file or another host.

use super::judge::Judge;
use super::listed::listed;
use super::program::program_of;
use super::syntax::{END, SimpleCommand, UNKNOWN, Word};

/// Programs whose output is numbers that may be used in arithmetic.
const COUNTING: &str =
    "wc date nproc stat grep egrep rg expr git id seq du df ps tput bc getconf pgrep ls find";

/// Variables of bash that evaluate assigned values as arithmetic.
const CALCULATED: [&str; 8] =
    ["RANDOM", "SRANDOM", "SECONDS", "OPTIND", "LINENO", "HISTCMD", "EPOCHSECONDS", "BASHPID"];

impl Judge<'_> {
    /// Rates the words of a command that bash evaluates a second time.
    pub(super) fn evaluates(&mut self, words: &[Word]) {
        for word in words {
            self.evaluates_word(word);
        }
    }

    fn evaluates_word(&mut self, word: &Word) {
        let Some(known) = self.resolve(&word.text, &word.span) else { return };
        let foreign = self.is_foreign(word);
        for text in known {
            // Names in arithmetic stand for the values of variables, which are evaluated as well.
            let hidden = names_in(&text).any(|name| {
                self.variables
                    .get(name)
                    .is_some_and(|values| values.iter().any(|it| hides_command(it)))
            });
            if foreign || hidden || hides_command(&text) {
                self.danger(
                    "evaluated-data",
                    word.span(),
                    "bash evaluates this word again and runs the commands that it may hold.",
                );
            } else if !is_number(&text) {
                self.caution(
                    "evaluated-word",
                    word.span(),
                    "bash evaluates this word again after its expansion.",
                );
            }
        }
    }

    /// Whether a word contains the output of a command that may print more than numbers.
    pub(super) fn is_foreign(&self, word: &Word) -> bool {
        if word.text.strip_prefix("v ").is_some_and(is_name) {
            return false;
        }
        let read = self.read_names.iter().any(|name| {
            word.text.contains(&format!("{UNKNOWN}{name}{END}"))
                || word
                    .text
                    .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
                    .any(|it| it == name)
        });
        let Some(inner) = word.inner.clone() else { return read };
        let commands = self.script.commands.get(inner).unwrap_or_default();
        let last = commands.iter().rev().find(|command| !command.words.is_empty());
        let name = last.and_then(|it| it.words.first()).and_then(|it| program_of(&it.text));
        read || name.is_some_and(|name| {
            let prints_text = matches!(name.as_str(), "echo" | "printf")
                && last.is_some_and(|it| {
                    it.words
                        .iter()
                        .skip(1)
                        .all(|word| !word.unknown() && !hides_command(&word.text))
                });
            !prints_text && !listed(COUNTING, &name)
        })
    }

    /// A nameref hides which variable is set. It is dangerous if a variable that affects later programs is named
    /// anywhere in the command line.
    fn second_name(&mut self, command: &SimpleCommand) {
        let names = |text: &str| {
            let name = text.rsplit('=').next().unwrap_or(text);
            let listed = |it: &String| it.strip_suffix('*').is_none() && it == name;
            self.table.variables.hijack.iter().any(listed)
        };
        if self.made.iter().flat_map(|it| it.words.iter().skip(1)).any(|word| names(&word.text)) {
            let reason = "Gives a second name to a variable that affects later programs.";
            self.danger("hijacks-variable", command.span(), reason);
        }
    }

    /// Builtins that evaluate variable names or assigned values.
    pub(super) fn evaluating_builtin(&mut self, command: &SimpleCommand, program: &str) {
        let words = command.words.get(1..).unwrap_or_default();
        let has = |letter: char| {
            words.iter().take_while(|word| word.text != "--").any(|word| {
                word.text.starts_with(['-', '+'])
                    && !word.text.starts_with("--")
                    && word.text.contains(letter)
            })
        };
        if matches!(program, "declare" | "local" | "typeset") && has('n') {
            self.second_name(command);
        }
        let evaluated: Vec<Word> = match program {
            "let" => words.to_vec(),
            // The positional parameters may be evaluated later.
            "set" => words.iter().filter(|word| hides_command(&word.text)).cloned().collect(),
            "read" | "mapfile" | "readarray" | "getopts" | "unset" => {
                if matches!(program, "read" | "mapfile" | "readarray") {
                    let names = words.iter().filter(|word| !word.text.starts_with('-'));
                    let whole = self
                        .script
                        .commands
                        .iter()
                        .find(|it| it.words.is_empty() && !it.redirects.is_empty());
                    let around = whole.and_then(|it| self.named_in_input(it));
                    if let Some(path) = self.named_in_input(command).or(around) {
                        // Each line may be a path like those given to the other commands.
                        let names: Vec<String> = words
                            .iter()
                            .map(|word| word.text.clone())
                            .filter(|it| is_name(it))
                            .collect();
                        for name in names {
                            self.assigns(
                                &name,
                                vec![format!("{path}/{UNKNOWN}FOUND{END}")],
                                &command.span(),
                            );
                        }
                    }
                    self.read_names
                        .extend(names.map(|word| word.text.clone()).filter(|it| is_name(it)));
                }
                words.iter().filter(|word| !is_plain_option(word)).map(named).collect()
            }
            "printf" | "wait" => {
                let letter = if program == "printf" { 'v' } else { 'p' };
                let takes = |word: &&Word| is_bundle(&word.text) && word.text.contains(letter);
                let at = words.iter().position(|word| takes(&word));
                at.map(|at| words.iter().skip(at).take(2).map(named).collect()).unwrap_or_default()
            }
            "[" | "test" => {
                let asks = |word: &Word| matches!(word.text.as_str(), "-v" | "-R");
                let pairs = words.iter().zip(words.iter().skip(1));
                pairs.filter(|(word, _)| asks(word)).map(|(_, name)| named(name)).collect()
            }
            "declare" | "typeset" | "local" | "readonly" | "export" => {
                let arithmetic = has('i') || has('n');
                let lists = has('a') || has('A');
                let mut evaluated: Vec<Word> = words
                    .iter()
                    .filter(|word| !word.text.starts_with(['-', '+']))
                    .filter(|word| {
                        let name = word.text.split('=').next().unwrap_or_default();
                        arithmetic || self.calculates(name) || !is_name(name.trim_end_matches('+'))
                    })
                    .map(named)
                    .collect();
                evaluated.extend(self.quoted_lists(words, lists));
                evaluated
            }
            _ => return,
        };
        self.evaluates(&evaluated);
        self.calculates_input(command, program, words);
    }

    /// Values that become a list only while the builtin runs: bash expands such a list once more.
    fn quoted_lists(&mut self, words: &[Word], lists: bool) -> Vec<Word> {
        let made = self.makes_lists();
        let mut found = Vec::new();
        for word in words.iter().filter(|word| !word.list && !word.text.starts_with(['-', '+'])) {
            let Some((_, value)) = word.text.split_once('=') else {
                if lists && word.unknown() {
                    found.push(named(word));
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

    /// Whether any command of the line declares a list, which then may have any name.
    fn makes_lists(&self) -> bool {
        self.made.iter().any(|command| {
            let program = command.words.first().and_then(|word| program_of(&word.text));
            let flagged = |letters: [char; 2]| {
                command
                    .words
                    .iter()
                    .skip(1)
                    .any(|word| is_bundle(&word.text) && word.text.contains(letters))
            };
            match program.as_deref() {
                Some("declare" | "typeset" | "local" | "readonly" | "export") => {
                    flagged(['a', 'A'])
                }
                Some("read") => flagged(['a', 'a']),
                Some("mapfile" | "readarray") => true,
                _ => false,
            }
        })
    }

    /// Whether bash evaluates assignments to this variable as arithmetic: some of its own variables, and those
    /// declared as integers or namerefs.
    pub(super) fn calculates(&self, name: &str) -> bool {
        let name = name.trim_end_matches('+');
        let name = name.split('[').next().unwrap_or_default();
        if CALCULATED.contains(&name) {
            return true;
        }
        self.made.iter().any(|command| {
            let program = command.words.first().and_then(|word| program_of(&word.text));
            let declares = matches!(
                program.as_deref(),
                Some("declare" | "typeset" | "local" | "readonly" | "export")
            );
            let words = || command.words.iter().skip(1).map(|word| word.text.as_str());
            declares
                && words().any(|text| is_bundle(text) && text.contains(['i', 'n']))
                && words().any(|text| text.split(['=', '+', '[']).next() == Some(name))
        })
    }

    /// Input that is stored in such a variable is evaluated, and its text is unknown.
    fn calculates_input(&mut self, command: &SimpleCommand, program: &str, words: &[Word]) {
        if !matches!(program, "read" | "mapfile" | "readarray" | "printf") {
            return;
        }
        let into = |word: &&Word| {
            let name = word.text.strip_prefix("-v").unwrap_or(&word.text);
            is_name(name) && self.calculates(name)
        };
        let Some(word) = words.iter().find(into).cloned() else { return };
        let number = |word: &Word| is_number(&word.text) || word.text.starts_with('%');
        if program == "printf"
            && words.iter().all(|it| it.text.starts_with('-') || it.text == word.text || number(it))
        {
            return;
        }
        let reason = "bash calculates what is put into this variable, and runs the commands in it.";
        self.danger("evaluated-data", command.span(), reason);
    }
}

/// Marks a word as a variable name, which is never a plain number.
fn named(word: &Word) -> Word {
    Word { text: format!("v {}", word.text), ..word.clone() }
}

/// Whether a word is a group of short options.
fn is_bundle(text: &str) -> bool {
    text.starts_with(['-', '+']) && !text.starts_with("--") && text.len() > 1
}

fn is_plain_option(word: &Word) -> bool {
    word.text.starts_with('-') && word.text.len() <= 3 && !word.unknown()
}

fn names_in(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|name| is_name(name))
        .take(64)
}

pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Whether a text contains a substitution that bash runs when it evaluates the text.
fn hides_command(text: &str) -> bool {
    text.contains("$(") || text.contains('`') || text.contains("${") || text.contains("<(")
}

/// Whether a text consists of numbers and operators only.
fn is_number(text: &str) -> bool {
    let known =
        text.replace(&format!("{UNKNOWN}#{END}"), "0").replace(&format!("{UNKNOWN}?{END}"), "0");
    known
        .chars()
        .all(|c| c.is_ascii_digit() || c.is_ascii_whitespace() || "+-*/%<>=!&|^~?:,();".contains(c))
}
