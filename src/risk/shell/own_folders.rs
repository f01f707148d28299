//! Commands that name a folder of this program (SPEC §4).

use super::elsewhere;
use super::judge::Judge;
use super::place;
use super::syntax::SimpleCommand;
use crate::risk::sensitive;

impl Judge<'_> {
    /// Checks every word, value and file of a command.
    pub(super) fn own_folder(&mut self, command: &SimpleCommand) {
        if self.own.is_empty() || command.remote {
            return;
        }
        for word in command.all_words() {
            let texts = self.resolve(&word.text, &word.span).unwrap_or_default();
            if texts.iter().any(|text| self.names_own(text)) {
                let reason = "Names a folder with this program's settings, keys or evidence.";
                self.danger("own-folder", word.span(), reason);
            }
        }
    }

    fn names_own(&self, text: &str) -> bool {
        let pieces = text.split(['=', ':', ',', '@', '\'', '"', '(', ')', ' ', '\n']);
        let named = elsewhere::paths(text).into_iter().chain(pieces.map(str::to_owned));
        std::iter::once(text.to_owned()).chain(named).any(|path| {
            sensitive::names_own_folder(&place::normalize(&path, &self.folder), self.own)
        })
    }
}
