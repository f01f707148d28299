//! The parsed form of a command line, as far as it is known without running it.

use std::ops::Range;

/// Starts an unknown part of a word. The name of a variable follows, or nothing.
pub(super) const UNKNOWN: char = '\u{E000}';
/// Ends an unknown part of a word.
pub(super) const END: char = '\u{E001}';

/// One word after quote removal. Parts that only a running shell knows are marked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Word {
    /// The text, with unknown parts marked.
    pub(super) text: String,
    /// The span in the command.
    pub(super) span: Range<usize>,
    /// It has a glob pattern outside quotes.
    pub(super) glob: bool,
    /// It was written with `$'..'` escapes.
    pub(super) escaped: bool,
    /// The commands in its command or process substitutions, as indices.
    pub(super) inner: Option<Range<usize>>,
    /// It is `name=(..)` after a declaring builtin, parsed word by word.
    pub(super) list: bool,
}

impl Word {
    /// The text, if all of it is known.
    pub fn known(&self) -> Option<&str> {
        (!self.text.contains(UNKNOWN) && !self.glob).then_some(self.text.as_str())
    }

    /// The span in the command.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    pub(super) fn unknown(&self) -> bool {
        self.text.contains(UNKNOWN)
    }

    pub(super) fn literal(text: &str, span: Range<usize>) -> Self {
        Self { text: text.to_owned(), span, ..Self::default() }
    }
}

/// A redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Redirect {
    /// The operator without its number.
    pub(super) operator: &'static str,
    /// The file, or the text of a here-document or here-string.
    pub(super) target: Word,
}

impl Redirect {
    pub(super) fn writes(&self) -> bool {
        match self.operator {
            ">&" => !self.target.text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-'),
            operator => operator.contains('>'),
        }
    }
}

/// One simple command that may run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SimpleCommand {
    /// Assignments before the program.
    pub(super) assignments: Vec<(String, Word)>,
    /// Program and arguments.
    pub(super) words: Vec<Word>,
    pub(super) redirects: Vec<Redirect>,
    /// The span in the command.
    pub(super) span: Range<usize>,
    /// The commands whose output is piped into it, as indices.
    pub(super) input: Option<Range<usize>>,
    /// It runs on another host or in a container.
    pub(super) remote: bool,
    /// It runs in the background.
    pub(super) background: bool,
    /// It was parsed from a nested text, so that all its spans are that of the whole text.
    pub(super) adopted: bool,
    /// It runs with raised privileges.
    pub(super) raised: bool,
}

impl SimpleCommand {
    /// Program and arguments.
    pub fn words(&self) -> &[Word] {
        &self.words
    }

    /// The span in the command.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
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
    /// Endless loops that start a background process in each round.
    pub(super) endless: Vec<Range<usize>>,
    /// Whether it uses syntax beyond POSIX.
    pub(super) bash_only: bool,
    /// Words that bash evaluates again after their expansion: arithmetic, subscripts.
    pub(super) evaluated: Vec<Word>,
    /// A word whose braces expand to more words than the limit.
    pub(super) overflow: Option<Range<usize>>,
}

/// Why a command line could not be parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ParseError {
    pub(super) at: usize,
    pub(super) what: &'static str,
}
