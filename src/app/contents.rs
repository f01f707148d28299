//! The complete contents of artifacts that the person opened. They are prepared for display on separate threads, and
//! cached up to a limit.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};

use crate::plan::Digest;
use crate::ui::action::SavedContent;
use crate::ui::artifact;
use crate::ui::artifact::{Form, LoadState, Prepared, Shape};
use crate::worker::{Content, Wake};

/// The digest of a content, and its expected shape.
pub(super) type Key = (Digest, Shape);

/// The maximum size of the cached contents, in bytes. The latest content is kept even if it alone is larger.
const MAX_CACHED: usize = 128 << 20;

/// The contents that were requested, and those in the cache.
pub(super) struct Contents {
    wake: Wake,
    all: artifact::Contents,
    /// The contents that are cached or being prepared, with their sizes in bytes, the oldest first.
    by_age: VecDeque<(Key, usize)>,
    preparing: Vec<(Key, Receiver<Prepared>)>,
    /// The content to copy to the clipboard once it has been prepared.
    to_copy: Option<Key>,
}

impl Contents {
    pub(super) fn new(wake: Wake) -> Self {
        Self {
            wake,
            all: artifact::Contents::new(),
            by_age: VecDeque::new(),
            preparing: Vec::new(),
            to_copy: None,
        }
    }

    /// All requested contents with their states, for the views.
    pub(super) fn all(&self) -> &artifact::Contents {
        &self.all
    }

    /// A content that was read whole, to be saved.
    pub(super) fn whole(&self, key: &Key) -> Option<SavedContent> {
        let Some(LoadState::Ready(prepared)) = self.all.get(key) else { return None };
        Some(match &prepared.form {
            Form::Hex(bytes) => SavedContent::Bytes(Arc::clone(bytes)),
            _ => SavedContent::Text(Arc::clone(prepared.text.original())),
        })
    }

    /// Marks a content as requested, and with `copy` as the one to copy. Returns whether the content must be read.
    pub(super) fn request(&mut self, key: Key, copy: bool) -> bool {
        if copy {
            self.to_copy = Some(key);
        }
        let known = matches!(self.all.get(&key), Some(LoadState::Requested | LoadState::Ready(_)));
        if !known {
            self.all.insert(key, LoadState::Requested);
        }
        !known
    }

    /// Starts to prepare a content that was read from the evidence, or stores why it is missing.
    ///
    /// # Errors
    /// The thread cannot be started. The content can then be requested again.
    pub(super) fn receive(&mut self, key: Key, content: Content) -> std::io::Result<()> {
        let why = match content {
            Content::Bytes(bytes) => return self.prepare(key, bytes),
            Content::Gone => {
                "The rest was removed from the evidence; only its digest is left.".to_owned()
            }
            Content::NotOnServer => {
                "The rest is on the computer that ran it: the server of the team has text of up to 1 MiB, without secrets."
                    .to_owned()
            }
            Content::TooLarge(size) => {
                let size = crate::ui::format::size(size);
                format!("The whole content ({size}) is too large for the window; save it instead.")
            }
            Content::Sealed => {
                "The rest holds a secret and is encrypted; its key is not available here."
                    .to_owned()
            }
        };
        self.set_missing(key, why);
        Ok(())
    }

    fn prepare(&mut self, key: Key, bytes: Vec<u8>) -> std::io::Result<()> {
        let (sender, receiver) = sync_channel(1);
        let wake = Wake::clone(&self.wake);
        let size = bytes.len();
        let started = std::thread::Builder::new().name("artifact".to_owned()).spawn(move || {
            // The window may be closed already.
            let _ = sender.send(Prepared::of_bytes(key.1, bytes));
            wake();
        });
        if let Err(error) = started {
            self.forget(&key);
            return Err(error);
        }
        self.by_age.push_back((key, size));
        self.preparing.push((key, receiver));
        Ok(())
    }

    fn set_missing(&mut self, key: Key, why: String) {
        self.to_copy = self.to_copy.filter(|wanted| *wanted != key);
        self.all.insert(key, LoadState::Missing(why));
    }

    /// Forgets which contents are missing: another evidence may have them.
    pub(super) fn forget_missing(&mut self) {
        self.all.retain(|_, state| !matches!(state, LoadState::Missing(_)));
    }

    /// Removes a content, so that it can be requested again.
    pub(super) fn forget(&mut self, key: &Key) {
        self.to_copy = self.to_copy.filter(|wanted| wanted != key);
        self.all.remove(key);
    }

    /// Caches the contents that have been prepared. Returns the text for the clipboard, once, if the content to copy is
    /// in the cache.
    pub(super) fn take_prepared(&mut self) -> Option<String> {
        let mut finished = Vec::new();
        self.preparing.retain(|(key, receiver)| match receiver.try_recv() {
            Err(TryRecvError::Empty) => true,
            result => {
                finished.push((*key, result.ok()));
                false
            }
        });
        for (key, prepared) in finished {
            match prepared {
                Some(prepared) => {
                    self.all.insert(key, LoadState::Ready(Arc::new(prepared)));
                    self.evict();
                }
                // The thread panicked.
                None => {
                    let why = "The rest cannot be displayed; save it instead.";
                    self.set_missing(key, why.to_owned());
                }
            }
        }
        let LoadState::Ready(prepared) = self.all.get(&self.to_copy?)? else { return None };
        self.to_copy = None;
        Some(match &prepared.form {
            artifact::Form::Hex(bytes) => artifact::hex_text(bytes),
            _ => prepared.text.text().to_string(),
        })
    }

    /// Removes the oldest contents while the cache is too large.
    fn evict(&mut self) {
        let mut total: usize = self.by_age.iter().map(|(_, size)| size).sum();
        while total > MAX_CACHED && self.by_age.len() > 1 {
            if let Some((key, size)) = self.by_age.pop_front() {
                self.all.remove(&key);
                total -= size;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oldest_contents_are_dropped_at_the_limit() {
        let (sender, woken) = sync_channel(8);
        let wake: Wake = Arc::new(move || sender.try_send(()).unwrap());
        let mut contents = Contents::new(wake);
        let key = |name: &str| (Digest::of(name.as_bytes()), Shape::Text);
        for name in ["one", "two", "three"] {
            assert!(contents.request(key(name), false));
            assert!(!contents.request(key(name), false), "the content is already requested");
            contents.receive(key(name), Content::Bytes(vec![b'x'; MAX_CACHED / 2])).unwrap();
            woken.recv().unwrap();
            assert_eq!(contents.take_prepared(), None);
        }
        let is_cached = |contents: &Contents, name| {
            matches!(contents.all.get(&key(name)), Some(LoadState::Ready(_)))
        };
        let cached = ["one", "two", "three"].map(|name| is_cached(&contents, name));
        assert_eq!(cached, [false, true, true]);
        contents.request(key("two"), true);
        assert_eq!(contents.take_prepared().unwrap().len(), MAX_CACHED / 2);
        assert_eq!(contents.take_prepared(), None, "a content is copied once");
    }
}
