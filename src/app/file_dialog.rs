//! The native file picker, on a thread of its own, so that no frame waits for it.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};

use crate::worker::Wake;

/// The picker, while one is open, and what was picked.
pub(super) struct Picked {
    wake: Wake,
    open: Option<Receiver<Option<PathBuf>>>,
}

impl Picked {
    pub(super) fn new(wake: Wake) -> Self {
        Self { wake, open: None }
    }

    /// Opens the picker, unless it is open. `folder` is where it begins.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub(super) fn open(&mut self, folder: Option<PathBuf>) -> std::io::Result<()> {
        if self.open.is_some() {
            return Ok(());
        }
        let (sender, receiver) = sync_channel(1);
        let wake = self.wake.clone();
        std::thread::Builder::new()
            .name("file-dialog".to_owned())
            .spawn(move || pick(folder, &sender, &wake))?;
        self.open = Some(receiver);
        Ok(())
    }

    /// What was picked since the last time, if anything.
    pub(super) fn take(&mut self) -> Option<PathBuf> {
        match self.open.as_ref()?.try_recv() {
            Ok(picked) => {
                self.open = None;
                picked
            }
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => {
                self.open = None;
                None
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place for file dialogs, on its own thread")]
fn pick(folder: Option<PathBuf>, sender: &SyncSender<Option<PathBuf>>, wake: &Wake) {
    let mut dialog = rfd::FileDialog::new()
        .set_title("Open plan")
        .add_filter("Plans (JSON)", &["json"])
        .add_filter("All files", &["*"]);
    if let Some(folder) = folder {
        dialog = dialog.set_directory(folder);
    }
    // The window may be gone by now; then nobody needs the answer.
    let _ = sender.send(dialog.pick_file());
    wake();
}
