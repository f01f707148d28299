//! Splits a stream into chunks without splitting a secret (SPEC §8).

use std::borrow::Cow;
use std::ops::Range;

use super::redact::{KnownSecrets, redact_ranges};
use super::secrets;
use super::secrets::Match;
use super::vault::Vault;

/// The minimum size of the text that is held back until more text arrives, in bytes. A secret of at most this size is
/// never split.
const HELD_BACK: usize = 64 << 10;
/// The maximum size of the text that is held back because of a match, in bytes. Longer text becomes a chunk, even if
/// the match may continue.
const MAX_HELD: usize = 8 << 20;
/// The maximum distance at which a line or word boundary is searched for, in bytes.
const MAX_BOUNDARY_DISTANCE: usize = 4 << 10;

/// The text that is held back.
#[derive(Default)]
pub(super) struct Chunks {
    text: String,
}

/// A chunk that contains its secrets completely, with their ranges.
pub(super) struct Chunk {
    text: String,
    matches: Vec<Match>,
    known: Vec<(Range<usize>, &'static str)>,
}

impl Chunk {
    /// Adds the secrets that rules found in the chunk to the known ones. Returns whether there are any.
    pub(super) fn learn(&self, known: &mut KnownSecrets) -> bool {
        for found in &self.matches {
            known.learn_match(&self.text, found);
        }
        !self.matches.is_empty()
    }

    /// The chunk with a marker in place of each secret.
    pub(super) fn redacted(self, vault: &Vault) -> String {
        let matches = self.matches.into_iter().map(|found| (found.secret, found.kind));
        match redact_ranges(vault, &self.text, matches.chain(self.known).collect()) {
            Cow::Borrowed(_) => self.text,
            Cow::Owned(redacted) => redacted,
        }
    }
}

impl Chunks {
    /// Appends a piece of the text.
    pub(super) fn push(&mut self, piece: &str) {
        self.text.push_str(piece);
    }

    /// Takes the next chunk, which may be empty; with `is_last`, all of the rest.
    pub(super) fn take(&mut self, known: &KnownSecrets, is_last: bool) -> Chunk {
        let mut matches = secrets::find(&self.text);
        let mut known_ranges = known.ranges(&self.text);
        let spans = matches.iter().map(|found| found.span.clone());
        let spans = spans.chain(known_ranges.iter().map(|(range, _)| range.clone())).collect();
        let hold = HELD_BACK.max(known.longest());
        let cut = if is_last { self.text.len() } else { cut(&self.text, spans, hold) };
        matches.retain(|found| found.span.end <= cut);
        known_ranges.retain(|(range, _)| range.end <= cut);
        let rest = self.text.split_off(cut);
        Chunk { text: std::mem::replace(&mut self.text, rest), matches, known: known_ranges }
    }
}

/// The last index that has `hold` bytes after it and is in none of these spans. If that is 0 and the text is longer
/// than [`MAX_HELD`], the end of the text.
fn cut(text: &str, mut spans: Vec<Range<usize>>, hold: usize) -> usize {
    let mut cut = word_boundary(text, text.len().saturating_sub(hold));
    // From the last span to the first, because the start of one span may be inside an earlier one.
    spans.sort_unstable_by_key(|span| std::cmp::Reverse(span.start));
    for span in spans {
        if span.start < cut && cut < span.end {
            // A rule examines the whole line of a name: its indentation decides where a block ends.
            cut = word_boundary(text, span.start);
        }
    }
    if cut == 0 && text.len() > MAX_HELD { text.len() } else { cut }
}

/// The last start of a line at or before `limit`, otherwise of a line whose break is escaped, otherwise of a word,
/// otherwise `limit`. A rule that examines the text before a word then examines the same text as without the cut.
fn word_boundary(text: &str, limit: usize) -> usize {
    let limit = text.floor_char_boundary(limit);
    let from = text.floor_char_boundary(limit.saturating_sub(MAX_BOUNDARY_DISTANCE));
    let near = text.get(from..limit).unwrap_or_default();
    let after = |end: Option<usize>, length| end.map(|index| from + index + length);
    after(near.rfind('\n'), 1)
        .or_else(|| after(near.rfind("\\n"), 2))
        // The text begins at such a boundary.
        .or_else(|| (from == 0).then_some(0))
        .or_else(|| after(near.rfind(|c: char| c.is_ascii_whitespace()), 1))
        .unwrap_or(limit)
}

#[cfg(test)]
mod tests;
