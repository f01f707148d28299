//! Inputs of a plan that a command gets as variables (SPEC §13): whether a value may be run as code, or become several
//! words.
//!
//! A closed world. An input may stand, as `"$input_x"` or `"${input_x}"`, in a word of a simple command, in a
//! variable that is set for one program, and in a here-document; the shell assigns it to nothing, and the program takes no
//! code in that place. Everything else is dangerous, whatever the value is.

use std::ops::Range;

use super::classifier::Classifier;
use super::lazy_regex::LazyRegex;
use super::listed::listed;
use super::program::program_of;
use super::syntax::{Redirect, Script, name_length, unknown};
use super::table::{Wrapper, WrapperKind};
use super::{SimpleCommand, Word};
use crate::plan::CommandInput;

/// Builtins of the shell. Many evaluate their words, or keep them.
const BUILTINS: &str = ". : [ [[ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown echo \
    enable eval exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd \
    pwd read readarray readonly return set shift shopt source suspend test times trap true type typeset ulimit umask \
    unalias unset wait";

/// Builtins that evaluate no word, apart from what [`plain_builtin`] checks.
const PLAIN_BUILTINS: &str = "echo printf cd test [ true false :";

/// Builtins that run another program with their words.
const PASSING: &str = "command builtin exec";

/// Commands that make words or code of what they read.
const READING: &str = "read mapfile readarray source . eval xargs parallel";

/// Programs whose first operand is a program in a language that can run commands or write files.
const SCRIPTED: &str = "sed gsed awk gawk mawk nawk";

/// Options with statements for a database.
const STATEMENTS: &str = "-c -e --command --execute";

impl Classifier<'_> {
    /// Rates a command that has inputs as dangerous, if a value may be run as code or become several words.
    pub(super) fn rate_inputs(&mut self, script: &Script, inputs: &[CommandInput]) {
        static INDIRECT: LazyRegex = LazyRegex::new(
            r"\$\{!|\$_\b|\$\{_\b|\bBASH_(ARGV|EXECUTION_STRING|COMMAND|ENV)|\bcompgen\b",
        );
        if inputs.is_empty() {
            return;
        }
        let whole = 0..self.source.len();
        if INDIRECT.is_match(self.source) {
            return self.add_input_danger(
                whole,
                "a variable is read by a name or place that may be its own",
            );
        }
        let check = InputCheck {
            classifier: self,
            script,
            variables: inputs
                .iter()
                .map(|input| (input.variable(), unknown(&input.variable()), input.value.is_some()))
                .collect(),
        };
        let mut faults = check.places();
        faults.extend(
            script
                .commands
                .iter()
                .filter_map(|command| Some((command.span(), check.fault_of(command)?))),
        );
        faults.extend(check.leaving());
        if let Some((span, why)) = faults.into_iter().next() {
            self.add_input_danger(span, why);
        }
    }

    fn add_input_danger(&mut self, span: Range<usize>, why: &str) {
        let reason =
            format!("The value of an input may be run as code, or become several words: {why}.");
        self.add_danger("input-as-code", span, &reason);
    }
}

/// The inputs of one command line.
struct InputCheck<'c, 's> {
    classifier: &'c Classifier<'s>,
    script: &'c Script,
    /// The name of each variable, its mark in words, and whether the value is known.
    variables: Vec<(String, String, bool)>,
}

impl InputCheck<'_, '_> {
    fn is_tainted(&self, word: &Word) -> bool {
        self.variables.iter().any(|(_, mark, _)| word.text.contains(mark))
    }

    /// Whether a word has an input whose value is not known, so that the rules cannot judge it as text.
    fn is_unknown(&self, word: &Word) -> bool {
        self.variables.iter().any(|(_, mark, known)| !known && word.text.contains(mark))
    }

    fn is_any_tainted(&self, command: &SimpleCommand) -> bool {
        command.all_words().any(|word| self.is_tainted(word))
    }

    /// Mentions of the variables that are no plain references in a word of a simple command.
    fn places(&self) -> Vec<(Range<usize>, &'static str)> {
        let source = self.classifier.source;
        let mut faults = Vec::new();
        for (name, ..) in &self.variables {
            for (at, _) in source.match_indices(name.as_str()) {
                let before = source.get(..at).unwrap_or_default();
                let rest = source.get(at..).unwrap_or_default();
                let is_part = before.ends_with(|it: char| it.is_ascii_alphanumeric() || it == '_');
                if is_part || name_length(rest) != name.len() {
                    continue;
                }
                let span = at..at + name.len();
                if let Some(why) = self.fault_of_mention(&span) {
                    faults.push((span, why));
                }
            }
        }
        faults
    }

    fn fault_of_mention(&self, at: &Range<usize>) -> Option<&'static str> {
        let source = self.classifier.source;
        let holds = |word: &&Word| word.span.contains(&at.start);
        let mut is_in_word = false;
        for command in &self.script.commands {
            for redirect in &command.redirects {
                let document = redirect.operator.starts_with("<<") && redirect.operator != "<<<";
                if holds(&&redirect.target) || document && self.is_tainted(&redirect.target) {
                    is_in_word = true;
                }
            }
            for word in command.all_words().filter(holds) {
                is_in_word = true;
                let text = source.get(word.span()).unwrap_or_default();
                let inside = at.start - word.span.start;
                let document = command.redirects.iter().any(|redirect| {
                    redirect.target.span == word.span && redirect.operator.starts_with("<<")
                });
                let place = if document { Place::Quoted } else { place_in(text, inside) };
                let before = text.get(..inside).unwrap_or_default();
                let is_reference = before.ends_with('$') || before.ends_with("${");
                let is_closed = !before.ends_with('{')
                    || text.get(inside + at.len()..).is_some_and(|it| it.starts_with('}'));
                match place {
                    Place::Unclear => return Some("it is expanded inside of another expansion"),
                    Place::Quoted if is_reference && is_closed => {}
                    _ if is_reference || before.trim_end_matches(['!', '#']).ends_with("${") => {
                        return Some("it is expanded outside of double quotes, or not as it is");
                    }
                    // The name alone, such as `printenv input_x`.
                    _ => {
                        let program = command.words.first().map(|it| it.text.as_str());
                        if program
                            .is_none_or(|it| listed(BUILTINS, it) && !listed("echo printf", it))
                        {
                            return Some("the shell may assign or evaluate the variable");
                        }
                    }
                }
            }
        }
        (!is_in_word).then_some("it stands outside of the words of a simple command")
    }

    /// Why a simple command may run an input as code.
    fn fault_of(&self, command: &SimpleCommand) -> Option<&'static str> {
        let set = command.assignments.iter().any(|(_, value)| self.is_tainted(value));
        let words = command.words.as_slice();
        let Some(first) = words.first() else {
            return set.then_some("it is assigned to another variable");
        };
        if !set && !words.iter().any(|word| self.is_tainted(word)) {
            return None;
        }
        if self.is_tainted(first) {
            return Some("it names the program");
        }
        let name = first.text.as_str();
        if self.script.functions.iter().any(|function| function.name == name) {
            return Some("a function gets it");
        }
        if listed(BUILTINS, name) && !listed(PASSING, name) {
            if set {
                return Some("it is assigned to another variable");
            }
            if !listed(PLAIN_BUILTINS, name) || !self.is_plain_builtin(words) {
                return Some("a command of the shell may evaluate or keep it");
            }
        }
        (0..words.len()).find_map(|index| self.fault_of_call(words.get(index..)?, set))
    }

    /// Whether a builtin of `PLAIN_BUILTINS` only prints or compares its words.
    fn is_plain_builtin(&self, words: &[Word]) -> bool {
        let texts = || words.iter().skip(1).map(|word| word.text.as_str());
        match words.first().map(|it| it.text.as_str()) {
            // The value could be `-v` with a subscript.
            Some("printf") => words
                .get(1)
                .is_some_and(|format| !self.is_tainted(format) && !format.text.starts_with('-')),
            Some("test" | "[") => {
                texts().any(|it| {
                    listed("= == != -n -z -e -f -d -r -w -x -s -L -h -eq -ne -lt -le -gt -ge", it)
                }) && !texts().any(|it| matches!(it, "-v" | "-R"))
            }
            _ => true,
        }
    }

    /// Why the program that these words call may run an input as code. `set`: a variable is set to one for the call.
    fn fault_of_call(&self, words: &[Word], set: bool) -> Option<&'static str> {
        const CODE: Option<&str> = Some("the program takes code in its place");
        let (first, arguments) = words.split_first()?;
        let program = program_of(&first.text)?;
        let tainted = |word: &Word| self.is_tainted(word);
        let any = arguments.iter().any(tainted);
        for wrapper in self.classifier.table.wrappers_of(&program, arguments) {
            let has_script = arguments.iter().any(|word| is_script_option(wrapper, &word.text));
            let gives_script = arguments.iter().enumerate().any(|(index, word)| {
                let before = index.checked_sub(1).and_then(|index| arguments.get(index));
                let glued =
                    wrapper.scripts.iter().any(|option| word.text.starts_with(option.as_str()));
                tainted(word)
                    && (glued || before.is_some_and(|it| is_script_option(wrapper, &it.text)))
            });
            let operand = arguments.iter().position(|word| !word.text.starts_with('-'));
            let file_first = operand.is_some_and(|at| {
                arguments.iter().position(tainted).is_none_or(|input| at < input)
            });
            let runs = match wrapper.kind {
                WrapperKind::Shell | WrapperKind::Interpreter => {
                    has_script && (any || set) || any && !file_first
                }
                WrapperKind::Joined | WrapperKind::Each => any,
                WrapperKind::Argv => gives_script || any && !file_first,
                WrapperKind::Find | WrapperKind::Options => gives_script,
            };
            if runs {
                return CODE;
            }
        }
        let unknown = |word: &&Word| self.is_unknown(word);
        if listed(SCRIPTED, &program) && arguments.iter().any(|it| self.is_unknown(it)) {
            let is_value = |index: usize| {
                let before = index.checked_sub(1).and_then(|index| arguments.get(index));
                before.is_some_and(|it| matches!(it.text.as_str(), "-v" | "-F" | "--assign"))
            };
            let operand = (0..arguments.len()).find(|index| {
                arguments.get(*index).is_some_and(|it| !it.text.starts_with('-'))
                    && !is_value(*index)
            });
            let is_script = |index: usize, word: &Word| {
                self.is_unknown(word)
                    && (Some(index) == operand
                        || word.text.starts_with("-e")
                        || word.text.starts_with("--")
                        || index.checked_sub(1).and_then(|index| arguments.get(index)).is_some_and(
                            |it| {
                                matches!(it.text.as_str(), "-e" | "-f" | "--expression" | "--file")
                            },
                        ))
            };
            if arguments.iter().enumerate().any(|(index, word)| is_script(index, word)) {
                return CODE;
            }
        }
        if listed("psql mysql mariadb", &program) {
            let pairs = arguments.iter().zip(arguments.iter().skip(1));
            let given = pairs.filter(|(option, _)| listed(STATEMENTS, &option.text));
            let mut statements =
                given.map(|(_, value)| value).chain(arguments.iter().filter(|it| {
                    STATEMENTS.split_whitespace().any(|option| it.text.starts_with(option))
                }));
            if statements.any(|it| unknown(&it)) {
                return CODE;
            }
        }
        None
    }

    /// Whether a value may come back from another program or a file as words or code.
    fn leaving(&self) -> Option<(Range<usize>, &'static str)> {
        let commands = &self.script.commands;
        let piped = commands.iter().any(|command| {
            let from = command.input.clone().and_then(|input| commands.get(input));
            from.unwrap_or_default().iter().any(|it| self.is_any_tainted(it))
        });
        let given = |redirect: &Redirect| {
            redirect.operator.starts_with("<<") && self.is_tainted(&redirect.target)
        };
        let written = |command: &SimpleCommand| {
            let keeps = |redirect: &Redirect| {
                redirect.writes()
                    && redirect.target.text != "/dev/null"
                    && redirect.operator != ">&"
            };
            self.is_any_tainted(command)
                && (command.redirects.iter().any(keeps) || command.starts("tee"))
        };
        let leaves =
            piped || commands.iter().any(|it| it.redirects.iter().any(given) || written(it));
        let reader = commands.iter().find(|it| self.reads_as_code(it)).filter(|_| leaves)?;
        Some((reader.span(), "a later command makes words or code of what has it"))
    }

    /// Whether a command makes words or code of its input or of a file.
    fn reads_as_code(&self, command: &SimpleCommand) -> bool {
        command.all_words().any(|word| word.inner.is_some())
            || command.words.iter().enumerate().any(|(index, word)| {
                let Some(program) = program_of(&word.text) else { return false };
                let rest = command.words.get(index + 1..).unwrap_or_default();
                let has_file = rest.iter().any(|it| !it.text.starts_with('-'));
                listed(READING, &program)
                    || self.classifier.table.wrappers_of(&program, rest).any(
                        |wrapper| match wrapper.kind {
                            WrapperKind::Shell | WrapperKind::Interpreter => !has_file,
                            _ => wrapper.more,
                        },
                    )
            })
    }
}

/// Whether an option of a wrapper takes code.
fn is_script_option(wrapper: &Wrapper, text: &str) -> bool {
    let is_short = |option: &str| option.len() == 2 && option.starts_with('-');
    let in_group = |option: &String| {
        is_short(option)
            && text.starts_with('-')
            && !text.starts_with("--")
            && option.chars().nth(1).is_some_and(|letter| text.contains(letter))
    };
    let options = wrapper.scripts.iter();
    let named = options.into_iter().any(|option| text == option || in_group(option));
    named || wrapper.kind == WrapperKind::Shell && text.starts_with('-') && text.contains('c')
}

/// Where in a word a mention stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In double quotes.
    Quoted,
    /// Outside of double quotes, as far as the shell expands there, or in single quotes.
    Plain,
    /// Inside of a substitution, or where the quotes are not followed.
    Unclear,
}

fn place_in(word: &str, at: usize) -> Place {
    let mut in_quotes = false;
    let mut index = 0;
    while index < at {
        let rest = word.get(index..).unwrap_or_default();
        let Some(next) = rest.chars().next() else { return Place::Unclear };
        index += match next {
            '\\' => 1 + rest.chars().nth(1).map_or(0, char::len_utf8),
            '"' => {
                in_quotes = !in_quotes;
                1
            }
            '\'' if !in_quotes => match rest.get(1..).and_then(|it| it.find('\'')) {
                Some(end) if index + end + 2 > at => return Place::Plain,
                Some(end) => end + 2,
                None => return Place::Unclear,
            },
            '`' => return Place::Unclear,
            '$' if rest.starts_with("$(") || rest.starts_with("$'") || rest.starts_with("$\"") => {
                return Place::Unclear;
            }
            '$' if rest.starts_with("${") && rest.find('}').is_none_or(|end| index + end > at) => {
                // The mention is in this expansion, and has to be all of it.
                return match index + 2 == at {
                    true if in_quotes => Place::Quoted,
                    _ => Place::Unclear,
                };
            }
            '<' | '>' if !in_quotes => return Place::Unclear,
            _ => next.len_utf8(),
        };
    }
    if in_quotes { Place::Quoted } else { Place::Plain }
}
