//! The searches of the evidence that the person saved. All windows share one list, in the settings file.

use super::App;
use crate::ui::evidence::is_offered;

/// The maximum number of saved searches; the oldest one beyond it is dropped.
const MAX_SEARCHES: usize = 50;

/// A change of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SearchesChange {
    /// The person saved this search, or removed it if it was saved.
    Toggle(String),
    /// None: another window may have changed the list.
    Refresh,
}

impl SearchesChange {
    fn apply(self, searches: &mut Vec<String>) {
        let Self::Toggle(text) = self else { return };
        match searches.iter().position(|other| *other == text) {
            Some(index) => drop(searches.remove(index)),
            None => searches.push(text),
        }
        let excess = searches.len().saturating_sub(MAX_SEARCHES);
        searches.drain(..excess);
    }
}

impl App {
    /// Saves the search of the evidence page, or removes it from the saved ones.
    pub(super) fn toggle_saved_search(&mut self) {
        let text = self.evidence.text().trim();
        if !is_offered(text) {
            self.change_searches(SearchesChange::Toggle(text.to_owned()));
        }
    }

    /// Changes the saved searches here and in the settings file, and takes over what other windows changed there.
    pub(super) fn change_searches(&mut self, change: SearchesChange) {
        let only_reads = matches!(change, SearchesChange::Refresh);
        change.clone().apply(&mut self.evidence.saved);
        self.change_saved_list(
            ("searches", only_reads),
            |searches| change.apply(searches),
            |app, searches| app.evidence.saved = searches,
        );
    }
}
