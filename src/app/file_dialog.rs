//! The native file picker, on its own thread, so that no frame waits for it. The tour is also copied on such a thread.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};

use super::tour;
use crate::ui::action::FolderFor;
use crate::worker::{SaveSource, Wake};

/// A choice for the person in a file picker, or copying the tour.
pub(super) enum PickerRequest {
    /// A plan file, starting in this folder.
    Plan(Option<PathBuf>),
    /// The file to which a content is saved, with the suggested file name.
    SaveAs(String, SaveSource),
    /// A folder for a field of the loop form, starting in this folder.
    Folder(FolderFor, Option<PathBuf>),
    /// Copies the tour. Its plan file is the result.
    Tour,
}

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

    /// Carries out a request. Does nothing while a picker is open.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(super) fn start(&mut self, request: PickerRequest) -> std::io::Result<()> {
        if self.open.is_some() {
            return Ok(());
        }
        let (sender, receiver) = sync_channel(1);
        let wake = Wake::clone(&self.wake);
        std::thread::Builder::new().name("file-dialog".to_owned()).spawn(move || {
            // The window may be closed already.
            let _ = sender.send(pick(request));
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

fn pick(request: PickerRequest) -> Picked {
    Some(Ok(match request {
        PickerRequest::Plan(folder) => {
            let filters = dialog("Open plan", folder).add_filter("Plans (JSON)", &["json"]);
            PickerResult::Plan(filters.add_filter("All files", &["*"]).pick_file()?)
        }
        PickerRequest::SaveAs(name, source) => {
            let file = dialog("Save as", None).set_file_name(name).save_file()?;
            PickerResult::SaveAs(file, source)
        }
        PickerRequest::Folder(field, start) => {
            let title = match field {
                FolderFor::Plans => "Folder with the plans",
                FolderFor::Workspace => "Workspace of the loop",
            };
            PickerResult::Folder(dialog(title, start).pick_folder()?, field)
        }
        PickerRequest::Tour => return Some(tour::copy().map(PickerResult::Plan)),
    }))
}

#[expect(clippy::disallowed_methods, reason = "the one place for file dialogs, on its own thread")]
fn dialog(title: &str, folder: Option<PathBuf>) -> rfd::FileDialog {
    let dialog = rfd::FileDialog::new().set_title(title);
    match folder {
        Some(folder) => dialog.set_directory(folder),
        None => dialog,
    }
}
