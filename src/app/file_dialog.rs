//! The native file picker, on a thread of its own, so that no frame waits for it. The tour is copied on such a thread
//! too.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};

use super::tour;
use crate::ui::action::FolderFor;
use crate::worker::{ToSave, Wake};

/// The result of a file picker or of copying the tour.
pub(super) enum Chosen {
    /// A plan file to open.
    Plan(PathBuf),
    /// The file to write to, and what to write.
    SaveAs(PathBuf, ToSave),
    /// A folder for a field of the loop form.
    Folder(PathBuf, FolderFor),
}

/// `None` if nothing was chosen.
type Choice = Option<std::io::Result<Chosen>>;

/// The open file picker, if any.
pub(super) struct Picked {
    wake: Wake,
    open: Option<Receiver<Choice>>,
}

impl Picked {
    pub(super) fn new(wake: Wake) -> Self {
        Self { wake, open: None }
    }

    /// Lets the person choose a plan file, starting in `folder`. Does nothing while a picker is open.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(super) fn open(&mut self, folder: Option<PathBuf>) -> std::io::Result<()> {
        self.start("file-dialog", move || pick(folder).map(Chosen::Plan).map(Ok))
    }

    /// Copies the tour. The result is its plan file. Does nothing while a picker is open.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(super) fn tour(&mut self) -> std::io::Result<()> {
        self.start("tour", || Some(tour::copy().map(Chosen::Plan)))
    }

    /// Lets the person choose where to save a content; `name` is the proposed file name. Does nothing while a picker
    /// is open.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(super) fn save(&mut self, name: String, what: ToSave) -> std::io::Result<()> {
        self.start("file-dialog", move || {
            let file = dialog("Save as", None).set_file_name(name).save_file();
            file.map(|file| Ok(Chosen::SaveAs(file, what)))
        })
    }

    /// Lets the person choose a folder, starting in `from`. Does nothing while a picker is open.
    ///
    /// # Errors
    /// The thread cannot be started.
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
            // The window may be closed already.
            let _ = sender.send(choose());
            wake();
        })?;
        self.open = Some(receiver);
        Ok(())
    }

    /// The choice that was made since the last call, if any.
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
