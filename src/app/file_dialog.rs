//! The native file picker, on its own thread, so that no frame waits for it. The tour is copied on such a thread too.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};

use super::tour;
use crate::ui::action::FolderFor;
use crate::worker::{ToSave, Wake};

/// What a person chose.
pub(super) enum Chosen {
    /// A plan file to open.
    Plan(PathBuf),
    /// A file, and what to write to it.
    SaveAs(PathBuf, ToSave),
    /// A folder, and what it is for.
    Folder(PathBuf, FolderFor),
}

/// The result of a choice; `None` when nothing was chosen.
type Choice = Option<std::io::Result<Chosen>>;

/// The picker, while one is open, and what was picked.
pub(super) struct Picked {
    wake: Wake,
    open: Option<Receiver<Choice>>,
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
        self.start("file-dialog", move || pick(folder).map(Chosen::Plan).map(Ok))
    }

    /// Copies the tour and chooses its plan.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub(super) fn tour(&mut self) -> std::io::Result<()> {
        self.start("tour", || Some(tour::copy().map(Chosen::Plan)))
    }

    /// Lets the person choose where to write a content; `name` is what the file is called at first.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub(super) fn save(&mut self, name: String, what: ToSave) -> std::io::Result<()> {
        self.start("file-dialog", move || {
            let file = dialog("Save as", None).set_file_name(name).save_file();
            file.map(|file| Ok(Chosen::SaveAs(file, what)))
        })
    }

    /// Lets the person choose a folder; `from` is where the picker begins.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub(super) fn folder(&mut self, what: FolderFor, from: Option<PathBuf>) -> std::io::Result<()> {
        self.start("file-dialog", move || {
            pick_folder(what, from).map(|folder| Ok(Chosen::Folder(folder, what)))
        })
    }

    fn start(
        &mut self,
        name: &str,
        choose: impl FnOnce() -> Choice + Send + 'static,
    ) -> std::io::Result<()> {
        if self.open.is_some() {
            return Ok(());
        }
        let (sender, receiver) = sync_channel(1);
        let wake = Wake::clone(&self.wake);
        std::thread::Builder::new().name(name.to_owned()).spawn(move || {
            // The window may be gone by now.
            let _ = sender.send(choose());
            wake();
        })?;
        self.open = Some(receiver);
        Ok(())
    }

    /// What was chosen since the last time, if anything.
    pub(super) fn take(&mut self) -> Choice {
        let chosen = match self.open.as_ref()?.try_recv() {
            Ok(chosen) => chosen,
            Err(TryRecvError::Empty) => return None,
            Err(TryRecvError::Disconnected) => None,
        };
        self.open = None;
        chosen
    }
}

fn pick(folder: Option<PathBuf>) -> Option<PathBuf> {
    let filters = dialog("Open plan", folder).add_filter("Plans (JSON)", &["json"]);
    filters.add_filter("All files", &["*"]).pick_file()
}

fn pick_folder(what: FolderFor, from: Option<PathBuf>) -> Option<PathBuf> {
    let title = match what {
        FolderFor::Plans => "Folder with the plans",
        FolderFor::Workspace => "Workspace of the loop",
    };
    dialog(title, from).pick_folder()
}

#[expect(clippy::disallowed_methods, reason = "the one place for file dialogs, on its own thread")]
fn dialog(title: &str, folder: Option<PathBuf>) -> rfd::FileDialog {
    let dialog = rfd::FileDialog::new().set_title(title);
    match folder {
        Some(folder) => dialog.set_directory(folder),
        None => dialog,
    }
}
