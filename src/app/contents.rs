//! Whole contents of artifacts that a person opened: prepared for display on a thread of their own, and cached up to
//! a limit.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};

use crate::plan::Digest;
use crate::ui::artifact::{self, LoadState, Prepared, Shape};
use crate::worker::{Content, Wake};

/// The digest of a content, and its expected shape.
pub(super) type Key = (Digest, Shape);

/// The maximum size of the cache in bytes. The latest content is kept even if it alone is larger.
const ROOM: usize = 128 << 20;

/// The contents that were requested, and those in the cache.
pub(super) struct Contents {
    wake: Wake,
    all: artifact::Contents,
    /// The contents that are cached or being prepared, with their sizes, the oldest first.
    ages: VecDeque<(Key, usize)>,
    preparing: Vec<(Key, Receiver<Prepared>)>,
    /// The content to copy to the clipboard once it has been prepared.
    to_copy: Option<Key>,
}

impl Contents {
    pub(super) fn new(wake: Wake) -> Self {
        Self {
            wake,
            all: artifact::Contents::new(),
            ages: VecDeque::new(),
            preparing: Vec::new(),
            to_copy: None,
        }
    }

    /// All requested contents with their states, for the views.
    pub(super) fn all(&self) -> &artifact::Contents {
        &self.all
    }

    /// Marks a content as requested. Returns whether it must be read.
    pub(super) fn ask(&mut self, key: Key, copy: bool) -> bool {
        if copy {
            self.to_copy = Some(key);
        }
        let known = matches!(self.all.get(&key), Some(LoadState::Requested | LoadState::Ready(_)));
        if !known {
            self.all.insert(key, LoadState::Requested);
        }
        !known
    }

    /// Starts preparing a content that was read from the evidence, or notes why there is none.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(super) fn arrived(&mut self, key: Key, content: Content) -> std::io::Result<()> {
        let why = match content {
            Content::Bytes(bytes) => return self.prepare(key, bytes),
            Content::Gone => {
                "The rest was removed from the evidence; only its digest is left.".to_owned()
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
        self.missing(key, why);
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
        self.ages.push_back((key, size));
        self.preparing.push((key, receiver));
        Ok(())
    }

    fn missing(&mut self, key: Key, why: String) {
        self.to_copy = self.to_copy.filter(|wanted| *wanted != key);
        self.all.insert(key, LoadState::Missing(why));
    }

    /// Removes a content, so that it can be requested again.
    pub(super) fn forget(&mut self, key: &Key) {
        self.to_copy = self.to_copy.filter(|wanted| wanted != key);
        self.all.remove(key);
    }

    /// Caches the contents that have been prepared. Returns the text for the clipboard if the content to copy is one
    /// of them.
    pub(super) fn take(&mut self) -> Option<String> {
        let mut prepared = Vec::new();
        self.preparing.retain(|(key, receiver)| match receiver.try_recv() {
            Err(TryRecvError::Empty) => true,
            ready => {
                prepared.push((*key, ready.ok()));
                false
            }
        });
        for (key, ready) in prepared {
            match ready {
                Some(ready) => {
                    self.all.insert(key, LoadState::Ready(Arc::new(ready)));
                    self.make_room();
                }
                None => {
                    let why = "The rest cannot be displayed; save it instead.";
                    self.missing(key, why.to_owned());
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
    fn make_room(&mut self) {
        let mut sum: usize = self.ages.iter().map(|(_, size)| size).sum();
        while sum > ROOM && self.ages.len() > 1 {
            if let Some((key, size)) = self.ages.pop_front() {
                self.all.remove(&key);
                sum -= size;
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
            assert!(contents.ask(key(name), false));
            assert!(!contents.ask(key(name), false), "it is on its way");
            contents.arrived(key(name), Content::Bytes(vec![b'x'; ROOM / 2])).unwrap();
            woken.recv().unwrap();
            assert_eq!(contents.take(), None);
        }
        let here = |contents: &Contents, name| {
            matches!(contents.all.get(&key(name)), Some(LoadState::Ready(_)))
        };
        assert_eq!(["one", "two", "three"].map(|name| here(&contents, name)), [false, true, true]);
        contents.ask(key("two"), true);
        assert_eq!(contents.take().unwrap().len(), ROOM / 2, "for the clipboard, once");
        assert_eq!(contents.take(), None);
    }
}
