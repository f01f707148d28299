//! What a command line says, as far as it is known without running it.

use std::ops::Range;

/// Where an unknown part of a word begins: a variable's name follows, or nothing.
pub(super) const UNKNOWN: char = '\u{E000}';
/// Where an unknown part of a word ends.
pub(super) const END: char = '\u{E001}';

/// One word after the removal of quotes; what only a running shell knows stands between marks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Word {
    /// The text; unknown parts are marked.
    pub(super) text: String,
    /// The bytes of the command that it came from.
    pub(super) span: Range<usize>,
    /// It has a pattern outside quotes.
    pub(super) glob: bool,
    /// Its text was hidden behind `$'..'` escapes.
    pub(super) escaped: bool,
    /// It is a process substitution or has a command substitution: the commands inside.
    pub(super) inner: Option<Range<usize>>,
    /// It is the list of `name=(..)` behind a builtin that declares, read here word by word.
    pub(super) list: bool,
}

impl Word {
    /// The word as text, when all of it is known.
    pub fn known(&self) -> Option<&str> {
        (!self.text.contains(UNKNOWN) && !self.glob).then_some(self.text.as_str())
    }

    /// The bytes of the command that it came from.
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
    /// The bytes of the command that it came from.
    pub(super) span: Range<usize>,
    /// The commands whose output it reads through a pipe.
    pub(super) input: Option<Range<usize>>,
    /// It runs on another host or in a container.
    pub(super) remote: bool,
    /// Nobody waits for it.
    pub(super) background: bool,
    /// It was read from a text of its own, so that its places are those of that text as a whole.
    pub(super) adopted: bool,
    /// It runs with raised privileges.
    pub(super) raised: bool,
}

impl SimpleCommand {
    /// Program and arguments.
    pub fn words(&self) -> &[Word] {
        &self.words
    }

    /// The bytes of the command that it came from.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }
}

/// A function and the commands of its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) body: Range<usize>,
    pub(super) span: Range<usize>,
}

/// Everything that a command line may run.
#[derive(Debug, Clone, Default)]
pub(super) struct Script {
    pub(super) commands: Vec<SimpleCommand>,
    pub(super) functions: Vec<Function>,
    /// Values of `for` variables.
    pub(super) loops: Vec<(String, Vec<Word>)>,
    /// Loops without an end that start something in the background each time.
    pub(super) endless: Vec<Range<usize>>,
    /// A construct outside POSIX.
    pub(super) bash_only: bool,
    /// Words that bash evaluates once more after their expansion: arithmetic, subscripts.
    pub(super) evaluated: Vec<Word>,
    /// A word whose braces make more words than are followed.
    pub(super) overflow: Option<Range<usize>>,
}

/// Why a command line could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unreadable {
    pub(super) at: usize,
    pub(super) what: &'static str,
}
