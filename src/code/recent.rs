//! What was read last: the steps of a plan often name the same file, and a text that is hard to read costs seconds
//! each time.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use sha2::{Digest as _, Sha256};
use tree_sitter::Tree;

use super::error::CodeError;
use super::language::Language;

/// A tree, and how many steps of the parser it took.
pub(super) type Read = Result<(Tree, u64), CodeError>;

/// So many texts are remembered.
const TEXTS: usize = 8;
/// Of longer texts no tree is kept, in bytes: it takes about ten times as many.
const KEPT: usize = 1 << 20;

static RECENT: Mutex<VecDeque<Remembered>> = Mutex::new(VecDeque::new());

struct Remembered {
    text: Text,
    read: Read,
}

/// Which text was read as what.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Text {
    language: Language,
    digest: [u8; 32],
}

/// What `read` gives for this text, from memory where it was read shortly before.
pub(super) fn or_read(language: Language, text: &str, read: impl FnOnce() -> Read) -> Read {
    let named = Text { language, digest: Sha256::digest(text).into() };
    let lock = || RECENT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = lock().iter().find(|it| it.text == named) {
        return known.read.clone();
    }
    // Not under the lock: others read meanwhile.
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
