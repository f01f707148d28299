//! The native file picker, on its own thread, so that no frame waits for it. The tour is also copied on such a thread.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};

use super::tour;
use crate::ui::action::FolderFor;
use crate::worker::{SaveSource, Wake};

/// The result of a file picker or of copying the tour.
pub(super) enum PickerResult {
    /// A plan file to open.
    Plan(PathBuf),
    /// The file to write, and the source of its content.
    SaveAs(PathBuf, SaveSource),
    /// A folder for a field of the loop form.
    Folder(PathBuf, FolderFor),
}

/// `None` if the person closed the picker without a choice. Only copying the tour can fail.
type Picked = Option<std::io::Result<PickerResult>>;

/// The file picker, of which at most one is open.
pub(super) struct FilePicker {
    wake: Wake,
    /// Receives the result of the open picker.
    open: Option<Receiver<Picked>>,
}

impl FilePicker {
    pub(super) fn new(wake: Wake) -> Self {
        Self { wake, open: None }
    }

    /// Lets the person choose a plan file, starting in `folder`. Does nothing while a picker is open.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(super) fn pick_plan(&mut self, folder: Option<PathBuf>) -> std::io::Result<()> {
        self.start("file-dialog", move || plan_dialog(folder).map(PickerResult::Plan).map(Ok))
    }

    /// Copies the tour. Its plan file is the result. Does nothing while a picker is open.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(super) fn copy_tour(&mut self) -> std::io::Result<()> {
        self.start("tour", || Some(tour::copy().map(PickerResult::Plan)))
    }

    /// Lets the person choose the file to which a content is saved; `name` is the suggested file name. Does nothing
    /// while a picker is open.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(super) fn pick_save_target(
        &mut self,
        name: String,
        source: SaveSource,
    ) -> std::io::Result<()> {
        self.start("file-dialog", move || {
            let file = dialog("Save as", None).set_file_name(name).save_file();
            file.map(|file| Ok(PickerResult::SaveAs(file, source)))
        })
    }

    /// Lets the person choose a folder for a field of the loop form, starting in `start`. Does nothing while a picker
    /// is open.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(super) fn pick_folder(
        &mut self,
        field: FolderFor,
        start: Option<PathBuf>,
    ) -> std::io::Result<()> {
        self.start("file-dialog", move || {
            folder_dialog(field, start).map(|folder| Ok(PickerResult::Folder(folder, field)))
        })
    }

    fn start(
        &mut self,
        name: &str,
        pick: impl FnOnce() -> Picked + Send + 'static,
    ) -> std::io::Result<()> {
        if self.open.is_some() {
            return Ok(());
        }
        let (sender, receiver) = sync_channel(1);
        let wake = Wake::clone(&self.wake);
        std::thread::Builder::new().name(name.to_owned()).spawn(move || {
            // The window may be closed already.
            let _ = sender.send(pick());
            wake();
        })?;
        self.open = Some(receiver);
        Ok(())
    }

    /// The result that has arrived since the last call, if any.
    pub(super) fn take_result(&mut self) -> Picked {
        let picked = match self.open.as_ref()?.try_recv() {
            Ok(picked) => picked,
            Err(TryRecvError::Empty) => return None,
            Err(TryRecvError::Disconnected) => None,
        };
        self.open = None;
        picked
    }
}

fn plan_dialog(folder: Option<PathBuf>) -> Option<PathBuf> {
    let filters = dialog("Open plan", folder).add_filter("Plans (JSON)", &["json"]);
    filters.add_filter("All files", &["*"]).pick_file()
}

fn folder_dialog(field: FolderFor, start: Option<PathBuf>) -> Option<PathBuf> {
    let title = match field {
        FolderFor::Plans => "Folder with the plans",
        FolderFor::Workspace => "Workspace of the loop",
    };
    dialog(title, start).pick_folder()
}

#[expect(clippy::disallowed_methods, reason = "the one place for file dialogs, on its own thread")]
fn dialog(title: &str, folder: Option<PathBuf>) -> rfd::FileDialog {
    let dialog = rfd::FileDialog::new().set_title(title);
    match folder {
        Some(folder) => dialog.set_directory(folder),
        None => dialog,
    }
}
