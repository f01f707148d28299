//! The changes that the earlier steps of a plan would make, so that a later step can be previewed.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::run::HistoryEntry;

use super::{Kind, Place};

/// The changes that the earlier steps of a plan would make.
#[derive(Debug, Clone, Default)]
pub struct Overlay {
    /// The changed files, by canonical path; `None` for an absent file.
    files: BTreeMap<String, Option<Arc<[u8]>>>,
    /// The entries that the `history` steps among the earlier steps would record.
    pub(crate) history: Vec<HistoryEntry>,
    /// Whether any other step that can change files is among the earlier steps.
    pub(crate) edited: bool,
}

impl Overlay {
    /// The overlay without changes, as before the first step.
    pub fn empty() -> &'static Self {
        static EMPTY: Overlay =
            Overlay { files: BTreeMap::new(), history: Vec::new(), edited: false };
        &EMPTY
    }

    /// Whether an earlier step changes the file at this canonical path.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.files.contains_key(key)
    }

    /// Sets the content that an earlier step would leave at this canonical path; `None` for an absent file.
    pub(crate) fn insert(&mut self, key: String, content: Option<Arc<[u8]>>) {
        self.files.insert(key, content);
    }

    /// The changed files, by canonical path.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, Option<&[u8]>)> {
        self.files.iter().map(|(key, content)| (key.as_str(), content.as_deref()))
    }

    /// Whether no earlier step changes a file.
    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The content that an earlier step leaves at this canonical path, or `Some(None)` if it leaves no file there;
    /// `None` if no step changes it.
    pub(crate) fn get(&self, key: &str) -> Option<Option<&Arc<[u8]>>> {
        self.files.get(key).map(Option::as_ref)
    }

    /// The kind of `place` after the earlier steps.
    pub(crate) fn kind(&self, place: &Place<'_>) -> Kind {
        match self.files.get(&place.key) {
            Some(Some(_)) => Kind::File,
            Some(None) => Kind::Absent,
            None if place.kind == Kind::Absent && self.has_below(&place.key) => Kind::Folder,
            None => place.kind,
        }
    }

    /// Whether an earlier step leaves a file below this folder.
    pub(crate) fn has_below(&self, folder: &str) -> bool {
        let prefix = format!("{folder}/");
        self.files
            .range(prefix.clone()..)
            .take_while(|(key, _)| key.starts_with(&prefix))
            .any(|(_, content)| content.is_some())
    }

    /// Whether an earlier step leaves a file where the path to `key` needs a folder.
    pub(crate) fn blocks(&self, key: &str) -> bool {
        key.match_indices('/').any(|(end, _)| {
            key.get(..end).is_some_and(|folder| matches!(self.files.get(folder), Some(Some(_))))
        })
    }
}
