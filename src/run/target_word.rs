//! The word that a person types to approve a dangerous step. It is about this step, so that typing it proves a look at
//! the step and does not become a habit.

mod kind;
mod of_command;

use std::borrow::Cow;

use kind::NamedTarget;

use super::ConfirmationRequest;
use crate::plan::{quoted, visible};

impl ConfirmationRequest {
    /// The word that a person types to approve a dangerous step. [`Self::target_meaning`] says what it is.
    pub fn target_word(&self) -> Cow<'_, str> {
        let word = self.named_target().1;
        match self.host_name() {
            Some(host) => format!("{word} on {host}").into(),
            None => word,
        }
    }

    /// What the word is, to follow "takes".
    pub fn target_meaning(&self) -> String {
        let and_host = self.host_name().map_or("", |_| ", and the host on which it runs");
        format!("{}{and_host}", self.named_target().0.as_words())
    }

    /// The host on which the step runs, without its user.
    fn host_name(&self) -> Option<&str> {
        self.target.as_ref()?.rsplit('@').next()
    }

    /// For a command, what makes it dangerous, or its program; else how many files the step changes; else the file or
    /// folder that it is about; else the tool. Of the path of a file, only the last part.
    fn named_target(&self) -> (NamedTarget, Cow<'_, str>) {
        if let Some(command) = self.command() {
            let named = of_command::word_of(command, &self.risk.parts);
            return named.unwrap_or((NamedTarget::Tool, self.tool.as_str().into()));
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
