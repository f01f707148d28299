//! A source file for a code engine, with its path, content and language.

use std::fs::File;
use std::sync::Arc;

use super::SymbolsError;
use crate::authorization::FileState;
use crate::code::{CodeError, Language, MAX_SOURCE_BYTES};
use crate::run::FileMode;
use crate::workspace::{Access, Last, Place, Projected, WorkspaceError, file};

/// Reads a source file. A file over the limit is refused, because several files are in memory at once.
///
/// # Errors
/// The file is too large or cannot be read.
pub(crate) fn read(file: File, path: &str) -> Result<Vec<u8>, SymbolsError> {
    let bytes = file.metadata().map_or(0, |metadata| metadata.len());
    match file::read_up_to(file, path, Access::Read, MAX_SOURCE_BYTES as u64) {
        Err(WorkspaceError::TooLarge { .. }) => {
            let bytes = usize::try_from(bytes).unwrap_or(usize::MAX).max(MAX_SOURCE_BYTES + 1);
            let source = CodeError::TooLarge { bytes, limit: MAX_SOURCE_BYTES };
            Err(SymbolsError::Code { path: path.to_owned(), source })
        }
        read => Ok(read?),
    }
}

/// One source file, read completely.
pub(crate) struct SourceFile<'a> {
    pub(crate) place: Place<'a>,
    /// The content of the file.
    pub(crate) bytes: Arc<[u8]>,
    /// The mode of the file; `None` if an earlier step writes it.
    pub(crate) mode: Option<FileMode>,
}

impl<'a> SourceFile<'a> {
    /// Reads the file as the earlier steps leave it.
    ///
    /// # Errors
    /// The path cannot be used, or the file does not exist, is too large or cannot be read.
    pub(crate) fn read(at: Projected<'a>, path: &str) -> Result<Self, SymbolsError> {
        let place = at.workspace.resolve(path, Last::Follow)?;
        let found = match at.overlay.get(&place.key) {
            Some(content) => content.cloned().map(|bytes| (bytes, None)),
            None => match place.open(path, Access::Read)? {
                Some((file, metadata)) => {
                    Some((Arc::from(read(file, &place.key)?), Some(file::mode(&metadata))))
                }
                None => None,
            },
        };
        let (bytes, mode) =
            found.ok_or_else(|| WorkspaceError::NotFound { path: path.to_owned() })?;
        Ok(Self { place, bytes, mode })
    }

    /// The canonical path of the file.
    pub(crate) fn key(&self) -> &str {
        &self.place.key
    }

    /// The state of the file with this content, as an approval records it.
    pub(crate) fn state(&self) -> FileState {
        file::state_of_bytes(Some(&self.bytes))
    }

    /// The content as text.
    ///
    /// # Errors
    /// The content is not UTF-8.
    pub(crate) fn text(&self) -> Result<&str, SymbolsError> {
        std::str::from_utf8(&self.bytes)
            .map_err(|_| SymbolsError::NotText { path: self.key().to_owned() })
    }

    /// The language of the file, by its file name extension.
    ///
    /// # Errors
    /// There is no grammar for the file name extension.
    pub(crate) fn language(&self) -> Result<Language, SymbolsError> {
        Language::of_path(&self.place.relative)
            .ok_or_else(|| SymbolsError::NoGrammar { path: self.key().to_owned() })
    }
}
