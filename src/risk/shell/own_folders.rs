//! Commands that name a folder of this program (SPEC §4).

use super::classifier::Classifier;
use super::{SimpleCommand, elsewhere, path_kind};
use crate::risk::sensitive;

impl Classifier<'_> {
    /// Rates a command as dangerous if a word, an assigned value or a redirection names one of this program's folders.
    pub(super) fn check_own_folders(&mut self, command: &SimpleCommand) {
        // The folders are on this computer.
        if self.surroundings.own_folders.is_empty() || command.remote {
            return;
        }
        for word in command.all_words() {
            let texts = self.resolve(&word.text, &word.span).unwrap_or_default();
            if texts.iter().any(|text| self.names_own_folder(text)) {
                let reason = "Names a folder with this program's settings, keys or evidence.";
                self.add_danger("own-folder", word.span(), reason);
            }
        }
    }

    fn names_own_folder(&self, text: &str) -> bool {
        let pieces = text.split(['=', ':', ',', '@', '\'', '"', '(', ')', ' ', '\n']);
        let named = elsewhere::paths(text).into_iter().chain(pieces.map(str::to_owned));
        std::iter::once(text.to_owned()).chain(named).any(|path| {
            sensitive::names_own_folder(
                &path_kind::normalize(&path, &self.folder),
                self.surroundings.own_folders,
            )
        })
    }
}
