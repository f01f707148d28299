//! Watches the inbox on a thread of its own, which lists it anew after each change.
//!
//! The thread gives the window only its newest list, so that any number of arrivals costs the window one list.

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use super::{InboxError, InboxFolder, InboxReader};
use crate::plan::Code;
use crate::risk::Policy;
use crate::run::{Failure, InboxList};
use crate::worker::Wake;

/// How long nothing must have changed before the inbox is listed.
const QUIET: Duration = Duration::from_millis(80);
/// The number of changes within [`QUIET`] of each other after which it is listed anyway.
const MAX_WAITS: usize = 12;

/// The newest of something, until it is taken.
type Slot<T> = Arc<Mutex<Option<T>>>;

fn taken<T>(slot: &Slot<T>) -> Option<T> {
    slot.lock().unwrap_or_else(PoisonError::into_inner).take()
}

fn put<T>(slot: &Slot<T>, new: T) {
    *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(new);
}

/// The window's handle of the thread that watches the inbox. The thread ends with it.
#[derive(Debug)]
pub struct InboxWatch {
    newest: Slot<Arc<InboxList>>,
    policy: Slot<Policy>,
    changed: SyncSender<()>,
    closed: Arc<AtomicBool>,
}

impl InboxWatch {
    /// Starts the thread, which creates the folder if it does not exist and lists it.
    ///
    /// # Errors
    /// When the system cannot start a thread.
    pub fn start(inbox: PathBuf, policy: Policy, wake: Wake) -> io::Result<Self> {
        let newest = Slot::default();
        let other_policy = Slot::default();
        // One waiting signal is enough: the list is made after it was taken.
        let (changed, changes) = sync_channel(1);
        let closed = Arc::new(AtomicBool::new(false));
        let watching = Watching {
            closed: Arc::clone(&closed),
            inbox,
            reader: InboxReader::new(policy),
            policy: Arc::clone(&other_policy),
            watched: None,
            changed: changed.clone(),
            newest: Arc::clone(&newest),
            wake,
        };
        std::thread::Builder::new()
            .name("countersign-inbox".to_owned())
            .spawn(move || watching.serve(&changes))?;
        let watch = Self { newest, policy: other_policy, changed, closed };
        watch.refresh();
        Ok(watch)
    }

    /// Lists the inbox again. Changes are noticed without this, where the system can tell of them.
    pub fn refresh(&self) {
        // A full channel means that it is going to be listed.
        let _ = self.changed.try_send(());
    }

    /// Lists the inbox again, and judges what is in it by this policy from now on.
    pub fn use_policy(&self, policy: Policy) {
        put(&self.policy, policy);
        self.refresh();
    }

    /// The newest list, once.
    pub fn take(&self) -> Option<Arc<InboxList>> {
        taken(&self.newest)
    }
}

impl Drop for InboxWatch {
    fn drop(&mut self) {
        // The watcher of the thread holds a sender, so the channel does not close by itself.
        self.closed.store(true, Ordering::Release);
        let _ = self.changed.try_send(());
    }
}

/// The state of the thread.
struct Watching {
    /// Whether the window was closed.
    closed: Arc<AtomicBool>,
    inbox: PathBuf,
    reader: InboxReader,
    /// The policy that takes the place of that of the reader.
    policy: Slot<Policy>,
    watched: Option<Watched>,
    changed: SyncSender<()>,
    newest: Slot<Arc<InboxList>>,
    wake: Wake,
}

struct Watched {
    _watcher: RecommendedWatcher,
    /// The device and inode of the folder.
    identity: (u64, u64),
    /// Open, so that no other folder can get this inode.
    _folder: OwnedFd,
}

impl Watching {
    fn serve(mut self, changes: &Receiver<()>) {
        while changes.recv().is_ok() {
            for _ in 0..MAX_WAITS {
                if changes.recv_timeout(QUIET) == Err(RecvTimeoutError::Timeout) {
                    break;
                }
            }
            if self.closed.load(Ordering::Acquire) {
                break;
            }
            if let Some(policy) = taken(&self.policy) {
                self.reader = InboxReader::new(policy);
            }
            let list = self.list().unwrap_or_else(|error| InboxList {
                fault: Some(error.failure()),
                ..InboxList::default()
            });
            put(&self.newest, Arc::new(list));
            (self.wake)();
        }
    }

    fn list(&mut self) -> Result<InboxList, InboxError> {
        let folder = InboxFolder::open(&self.inbox)?;
        // Watched before it is listed, so that nothing arrives unseen between the two.
        let fault = self.watch(&folder).err().map(|error| Failure {
            code: Code::ReadFailed,
            message: format!("the inbox cannot be watched: {error}"),
            next: "What arrives is listed when the window gets the focus.".to_owned(),
        });
        let list = self.reader.list(&folder)?;
        Ok(InboxList { fault, ..list })
    }

    /// Watches the folder, unless it is watched already. Another folder may have taken its place.
    fn watch(&mut self, folder: &InboxFolder) -> notify::Result<()> {
        let identity = folder.identity().map_err(notify::Error::io)?;
        if self.watched.as_ref().is_some_and(|it| it.identity == identity) {
            return Ok(());
        }
        self.watched = None;
        let changed = self.changed.clone();
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            if event.is_ok_and(|event| is_change(&event)) {
                let _ = changed.try_send(());
            }
        })?;
        watcher.watch(folder.path(), RecursiveMode::NonRecursive)?;
        let open = folder.handle().try_clone_to_owned().map_err(notify::Error::io)?;
        self.watched = Some(Watched { _watcher: watcher, identity, _folder: open });
        Ok(())
    }
}

/// Whether an event reports a change. Reads do not count, because listing reads the files.
fn is_change(event: &Event) -> bool {
    !matches!(event.kind, EventKind::Access(_)) || event.need_rescan()
}
