//! The parsed form of a command line, as far as it is known without running it.

use std::ops::Range;

use super::listed::listed;
use super::program::program_of;

/// Starts an unknown part of a word. The name of a variable follows; nothing, for the output of a command.
pub(super) const UNKNOWN: char = '\u{E000}';
/// Ends an unknown part of a word.
pub(super) const END: char = '\u{E001}';

/// Builtins that declare variables.
pub(super) const DECLARING: &str = "declare typeset local readonly export";

/// A word that is the output of a command.
pub(super) const OUTPUT: &str = "\u{E000}\u{E001}";
/// An argument that `xargs`, `find` or a similar program adds when it runs the command.
pub(super) const ARGUMENT: &str = "\u{E000}ARG\u{E001}";

/// The mark of an unknown part, usually the value of the variable `name`.
pub(super) fn unknown(name: &str) -> String {
    format!("{UNKNOWN}{name}{END}")
}

/// The element before an index.
pub(super) fn before<T>(all: &[T], index: usize) -> Option<&T> {
    all.get(index.checked_sub(1)?)
}

/// The length of the variable name with which a text starts.
pub(super) fn name_length(text: &str) -> usize {
    text.bytes().take_while(|it| it.is_ascii_alphanumeric() || *it == b'_').count()
}

/// One word after quote removal. Parts whose text is not known before the shell runs are marked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Word {
    /// The text, with unknown parts marked.
    pub(super) text: String,
    /// The range in the text of the whole command, in bytes.
    pub(super) span: Range<usize>,
    /// Whether the word has a glob pattern outside quotes.
    pub(super) glob: bool,
    /// Whether the word was written with escapes in `$'..'`.
    pub(super) escaped: bool,
    /// The indices of the commands in the word's command and process substitutions.
    pub(super) inner: Option<Range<usize>>,
    /// Whether the word is `name=(..)` after a declaring builtin. `text` contains only the first value, because each
    /// value was parsed separately.
    pub(super) list: bool,
}

impl Word {
    /// The text, if all of it is known.
    pub fn known(&self) -> Option<&str> {
        (!self.has_unknown() && !self.glob).then_some(self.text.as_str())
    }

    /// The range in the text of the whole command, in bytes.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Appends an unknown part.
    pub(super) fn mark(&mut self, name: &str) {
        self.text.push(UNKNOWN);
        self.text.push_str(name);
        self.text.push(END);
    }

    pub(super) fn has_unknown(&self) -> bool {
        self.text.contains(UNKNOWN)
    }

    pub(super) fn literal(text: &str, span: Range<usize>) -> Self {
        Self { text: text.to_owned(), span, ..Self::default() }
    }
}

/// A redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Redirect {
    /// The operator without its file descriptor.
    pub(super) operator: &'static str,
    /// Whether no other descriptor than that of the standard output or input is written before the operator.
    pub(super) is_standard: bool,
    /// The file, or the text of a here-document or here-string.
    pub(super) target: Word,
}

impl Redirect {
    /// Whether it sends the standard output to a file.
    pub(super) fn takes_output(&self) -> bool {
        self.is_standard && self.writes()
    }

    pub(super) fn writes(&self) -> bool {
        match self.operator {
            ">&" => !self.target.text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-'),
            operator => operator.contains('>'),
        }
    }
}

/// A simple command that may run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SimpleCommand {
    /// Assignments before the program.
    pub(super) assignments: Vec<(String, Word)>,
    /// Program and arguments.
    pub(super) words: Vec<Word>,
    pub(super) redirects: Vec<Redirect>,
    /// The range in the text of the whole command, in bytes.
    pub(super) span: Range<usize>,
    /// The indices of the commands whose output is piped into this one; `None` without a pipe. Empty if commands
    /// outside the pipe write the input, as for a coprocess.
    pub(super) input: Option<Range<usize>>,
    /// Whether the command runs on another host or in a container.
    pub(super) remote: bool,
    /// Whether the command runs in the background.
    pub(super) background: bool,
    /// Whether the command was parsed from a nested text. All its spans are then the span of this text.
    pub(super) nested: bool,
    /// Whether the command runs with raised privileges.
    pub(super) raised: bool,
}

impl SimpleCommand {
    /// Program and arguments.
    pub fn words(&self) -> &[Word] {
        &self.words
    }

    /// The range in the text of the whole command, in bytes.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// The arguments.
    pub(super) fn arguments(&self) -> &[Word] {
        self.words.get(1..).unwrap_or_default()
    }

    /// The canonical name of the program; `None` if its path is not one of the usual ones.
    pub(super) fn program(&self) -> Option<String> {
        self.words.first().and_then(|word| program_of(&word.text))
    }

    /// Whether the program, as it is written, is on a list.
    pub(super) fn starts(&self, list: &str) -> bool {
        self.words.first().is_some_and(|word| listed(list, &word.text))
    }

    /// The call with another program name.
    pub(super) fn calling(&self, program: String) -> Self {
        let mut call = self.clone();
        if let Some(first) = call.words.first_mut() {
            first.text = program;
        }
        call
    }

    /// The words, the assigned values and the files of redirections.
    pub(super) fn all_words(&self) -> impl Iterator<Item = &Word> {
        let assigned = self.assignments.iter().map(|(_, word)| word);
        let redirected = self.redirects.iter().map(|redirect| &redirect.target);
        self.words.iter().chain(assigned).chain(redirected)
    }

    /// As [`Self::all_words`].
    pub(super) fn all_words_mut(&mut self) -> impl Iterator<Item = &mut Word> {
        let assigned = self.assignments.iter_mut().map(|(_, word)| word);
        let redirected = self.redirects.iter_mut().map(|redirect| &mut redirect.target);
        self.words.iter_mut().chain(assigned).chain(redirected)
    }
}

/// A function with the indices of the commands in its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) body: Range<usize>,
    pub(super) span: Range<usize>,
}

/// All commands that a command line may run.
#[derive(Debug, Clone, Default)]
pub(super) struct Script {
    pub(super) commands: Vec<SimpleCommand>,
    pub(super) functions: Vec<Function>,
    /// Loop variables with their values.
    pub(super) loops: Vec<(String, Vec<Word>)>,
    /// Endless and very long loops that start background processes without waiting for any.
    pub(super) endless: Vec<Range<usize>>,
    /// Whether the command line uses syntax beyond POSIX.
    pub(super) bash_only: bool,
    /// Words that bash evaluates again after their expansion: arithmetic, subscripts, variable names.
    pub(super) evaluated: Vec<Word>,
    /// A word whose brace expansion reaches the limit.
    pub(super) overflow: Option<Range<usize>>,
}

/// Why a command line could not be parsed: the position in bytes, and the message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ParseError {
    pub(super) position: usize,
    pub(super) what: &'static str,
}
