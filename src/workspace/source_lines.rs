//! Reads the source lines that are shown with diagnostics.

use std::io::{BufRead as _, BufReader, Read as _};
use std::ops::RangeInclusive;

use crate::run::{SourceLine, shown_line};

use super::{Access, Last, Workspace, WorkspaceError};

/// Maximum number of bytes of a file that are read; lines after them are not shown.
const MAX_BYTES: u64 = 64 << 20;

impl Workspace {
    /// The lines of the file at `path` whose numbers, from 1, are in one of these ranges. Numbers beyond its
    /// end are skipped.
    ///
    /// # Errors
    /// The path cannot be used or leads outside, or the file does not exist or cannot be read.
    pub fn source_lines(
        &self,
        path: &str,
        wanted: &[RangeInclusive<usize>],
    ) -> Result<Vec<SourceLine>, WorkspaceError> {
        let place = self.resolve(path, Last::Follow)?;
        let Some((file, _)) = place.open(path, Access::Read)? else {
            return Err(WorkspaceError::NotFound { path: path.to_owned() });
        };
        let last = wanted.iter().map(|range| *range.end()).max().unwrap_or(0);
        let mut lines = Vec::new();
        let split = BufReader::new(file.take(MAX_BYTES)).split(b'\n');
        for (number, bytes) in (1..=last).zip(split) {
            let bytes = bytes
                .map_err(|source| WorkspaceError::ReadFailed { path: path.to_owned(), source })?;
            if wanted.iter().any(|range| range.contains(&number)) {
                let text = shown_line(&String::from_utf8_lossy(&bytes));
                lines.push(SourceLine { number, text });
            }
        }
        Ok(lines)
    }
}
