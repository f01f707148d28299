//! The word that a person types to approve a dangerous step. It is about this step, so that typing it proves a look at
//! the step and does not become a habit.

use std::borrow::Cow;

use super::ConfirmationRequest;
use crate::plan::{quoted, visible};

/// The longest word that a person is asked to type out of a command, in characters.
const MAX_TYPED: usize = 32;

/// What the word is that a person types to approve a dangerous step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamedTarget {
    /// The host on which the step runs.
    Host,
    /// A word of the part of a command that determines its risk.
    DangerousPart,
    /// The program that a command runs.
    Program,
    /// The number of files that the step changes.
    Files,
    /// The file that the step changes or takes as an argument.
    File,
    /// The folder that the step takes as an argument.
    Root,
    /// The tool.
    Tool,
}

impl NamedTarget {
    /// What the word is, to follow "takes".
    pub const fn as_words(self) -> &'static str {
        match self {
            Self::Host => "the name of the host on which it runs",
            Self::DangerousPart => "a word of its dangerous part",
            Self::Program => "the name of the program that it runs",
            Self::Files => "the number of files that it changes",
            Self::File => "the name of the file it is about",
            Self::Root => "the name of the folder it is about",
            Self::Tool => "the name of the tool it calls",
        }
    }
}

impl ConfirmationRequest {
    /// The word that a person types to approve a dangerous step. It is about this step, see [`Self::target_kind`].
    pub fn target_word(&self) -> Cow<'_, str> {
        self.named_target().1
    }

    /// What the word is.
    pub fn target_kind(&self) -> NamedTarget {
        self.named_target().0
    }

    /// The host without its user; else for a command, a word of what makes it dangerous, or its program; else how many
    /// files the step changes; else the file or folder that it is about; else the tool. Of a path, only the last part.
    fn named_target(&self) -> (NamedTarget, Cow<'_, str>) {
        if let Some(target) = &self.target {
            return (NamedTarget::Host, target.rsplit('@').next().unwrap_or(target).into());
        }
        if let Some(command) = self.command() {
            let part = self.risk.span.clone().and_then(|span| command.get(span));
            let named = part.and_then(named_in).map(|word| (NamedTarget::DangerousPart, word));
            let program = || Some((NamedTarget::Program, program_of(command)?));
            let (kind, word) =
                named.or_else(program).unwrap_or((NamedTarget::Tool, self.tool.as_str()));
            return (kind, word.into());
        }
        let changed = match self.preview.changes.as_slice() {
            [] => None,
            [one] => Some((NamedTarget::File, one.path.as_str())),
            several => return (NamedTarget::Files, format!("{} files", several.len()).into()),
        };
        let argument = [
            ("path", NamedTarget::File),
            ("file", NamedTarget::File),
            ("file_path", NamedTarget::File),
            ("plan_file", NamedTarget::File),
            ("root", NamedTarget::Root),
        ];
        let argument = || {
            let path = |(name, kind): (&str, _)| Some((kind, self.arguments.get(name)?.as_str()));
            argument.into_iter().find_map(path)
        };
        let named = changed.or_else(argument).and_then(|(kind, path)| {
            let name = path.rsplit(['/', '\\']).find(|part| !part.trim().is_empty())?;
            Some((kind, name))
        });
        let (kind, name) = named.unwrap_or((NamedTarget::Tool, &self.tool));
        (kind, name.into())
    }

    /// Whether the typed text is [`Self::target_word`]. The word is accepted as it is and as it is shown, because
    /// hidden characters of a name can be neither seen nor typed. Surrounding whitespace is ignored.
    pub fn names_target(&self, typed: &str) -> bool {
        let (typed, word) = (typed.trim(), self.target_word());
        typed == word.trim() || typed == visible(&word).trim() || typed == quoted(&word).trim()
    }

    /// Whether the typed text is the beginning of what [`Self::names_target`] accepts.
    pub fn begins_target(&self, typed: &str) -> bool {
        let (typed, word) = (typed.trim(), self.target_word());
        let begins = |word: &str| word.trim().starts_with(typed);
        begins(&word) || begins(&visible(&word)) || begins(&quoted(&word))
    }
}

/// The last word of a part of a command that names what the part is about, rather than an option or where output goes;
/// `None` if nothing in it can be typed easily.
fn named_in(part: &str) -> Option<&str> {
    let mut named = None;
    for token in part.split(is_between_words).filter(|token| !token.is_empty()) {
        let (word, is_redirected) = match token.split_once(['<', '>']) {
            Some((before, _)) => (before, true),
            None => (token, false),
        };
        let is_stream = is_redirected && word.bytes().all(|byte| byte.is_ascii_digit());
        if !word.starts_with('-') && !is_stream {
            named = typeable(word).or(named);
        }
        if is_redirected {
            break;
        }
    }
    named
}

/// The name of the program of a command; `None` if it cannot be typed easily.
fn program_of(command: &str) -> Option<&str> {
    let mut words = command.split(is_between_words).filter(|word| !word.is_empty());
    typeable(words.find(|word| !word.contains('='))?)
}

fn is_between_words(letter: char) -> bool {
    letter.is_whitespace() || "\"'`;|&()".contains(letter)
}

/// The last part of a path or of an assignment, if it has letters and is short enough to type.
fn typeable(word: &str) -> Option<&str> {
    let name = word.rsplit(['/', '\\', '=']).find(|part| !part.is_empty())?;
    let is_easy = name.chars().any(char::is_alphanumeric) && name.chars().count() <= MAX_TYPED;
    is_easy.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dangerous_part_is_named_by_its_last_operand() {
        for (part, word) in [
            ("rm -rf build", "build"),
            ("rm -rf ~/work/parser/", "parser"),
            ("rm -rf 'old files' 2>/dev/null", "files"),
            ("rm -rf cache2>log", "cache2"),
            ("dd if=/dev/zero of=/dev/sda", "sda"),
            ("curl https://example.org/install.sh | sh", "sh"),
            ("git push --force", "push"),
            ("rm -rf /", "rm"),
            ("/etc/passwd", "passwd"),
            ("kill -9 1234", "1234"),
        ] {
            assert_eq!(named_in(part), Some(word), "{part}");
        }
        assert_eq!(named_in("-- / *"), None);
        let long = format!("rm {}", "a".repeat(MAX_TYPED + 1));
        assert_eq!(named_in(&long), Some("rm"), "too long to type");
    }

    #[test]
    fn a_program_follows_what_is_set_for_it() {
        assert_eq!(program_of("LC_ALL=C /usr/bin/make -j2 all"), Some("make"));
        assert_eq!(program_of("((1))"), Some("1"));
        assert_eq!(program_of("*"), None);
    }
}
