//! A cache of recently parsed texts: steps of a plan often name the same file, and a text with many syntax
//! errors takes seconds to parse.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use sha2::{Digest as _, Sha256};
use tree_sitter::Tree;

use super::{CodeError, Language};

/// A tree and the number of parser steps for it.
pub(super) type Parsed = Result<(Tree, u64), CodeError>;

/// Maximum number of cached parse results.
const MAX_CACHED: usize = 8;
/// Maximum length of a text whose tree is cached, in bytes. A tree takes about ten times the memory of its text.
const MAX_CACHED_BYTES: usize = 1 << 20;

/// The language of a text and the digest of the text identify its parse result.
type Key = (Language, [u8; 32]);

static RECENT: Mutex<VecDeque<(Key, Parsed)>> = Mutex::new(VecDeque::new());

/// Returns the cached result for this text, or calls `parse` and caches its result. The trees of long texts and
/// stopped parses are not cached.
pub(super) fn get_or_parse(
    language: Language,
    text: &str,
    parse: impl FnOnce() -> Parsed,
) -> Parsed {
    let key: Key = (language, Sha256::digest(text).into());
    let lock = || RECENT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, parsed)) = lock().iter().find(|(known, _)| *known == key) {
        return parsed.clone();
    }
    // Parsed without the lock, so that other threads do not wait.
    let parsed = parse();
    let is_cached = match &parsed {
        Ok(_) => text.len() <= MAX_CACHED_BYTES,
        Err(error) => *error != CodeError::Stopped,
    };
    if is_cached {
        let mut recent = lock();
        recent.truncate(MAX_CACHED - 1);
        recent.push_front((key, parsed.clone()));
    }
    parsed
}
