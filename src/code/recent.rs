//! A cache of recently parsed texts: steps of a plan often name the same file, and a hard text takes seconds to
//! parse.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use sha2::{Digest as _, Sha256};
use tree_sitter::Tree;

use super::error::CodeError;
use super::language::Language;

/// A tree and the number of parser steps for it.
pub(super) type Read = Result<(Tree, u64), CodeError>;

/// Number of cached texts.
const TEXTS: usize = 8;
/// Trees of longer texts are not cached, in bytes. A tree takes about ten times as many.
const KEPT: usize = 1 << 20;

static RECENT: Mutex<VecDeque<Remembered>> = Mutex::new(VecDeque::new());

struct Remembered {
    text: Text,
    read: Read,
}

/// The key of a cached text.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Text {
    language: Language,
    digest: [u8; 32],
}

/// The result of `read` for this text, cached if possible.
pub(super) fn or_read(language: Language, text: &str, read: impl FnOnce() -> Read) -> Read {
    let named = Text { language, digest: Sha256::digest(text).into() };
    let lock = || RECENT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = lock().iter().find(|it| it.text == named) {
        return known.read.clone();
    }
    // Parsed without the lock, so that other threads can go on.
    let read = read();
    let is_kept = match &read {
        Ok(_) => text.len() <= KEPT,
        Err(error) => *error != CodeError::Stopped,
    };
    if is_kept {
        let mut recent = lock();
        recent.truncate(TEXTS - 1);
        recent.push_front(Remembered { text: named, read: read.clone() });
    }
    read
}
