//! The native file picker, on its own thread, so that no frame waits for it. Examples are also copied on such a thread.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};

use super::examples::{self, Example};
use super::exporting::ExportOrder;
use super::settings_page::PickedSetting;
use crate::run::settings::row_of;
use crate::ui::action::{FolderFor, PlanFolder};
use crate::worker::{SaveSource, Wake};

/// A choice for the person in a file picker, or copying an example.
pub(super) enum PickerRequest {
    /// A plan file, starting in this folder.
    Plan(Option<PathBuf>),
    /// The file to which a content is saved, with the suggested file name, starting in this folder.
    SaveAs(String, Option<PathBuf>, SaveSource),
    /// The file for an export, with the suggested file name.
    Export(String, Box<ExportOrder>),
    /// A folder for a field of the loop form, starting in this folder.
    Folder(FolderFor, Option<PathBuf>),
    /// A folder for the plan with this file, starting in `start`.
    PlanFolder { purpose: PlanFolder, plan: PathBuf, start: Option<PathBuf> },
    /// A file or folder for this key of the settings, starting in `start`.
    Setting { key: String, folder: bool, add: bool, start: Option<PathBuf> },
    /// The file to which the settings are exported.
    ExportSettings,
    /// A file with settings to import.
    ImportSettings,
    /// Copies an example. The result is its plan file, or the workspace of a loop.
    Example(Example),
}

/// The result of a file picker or of copying an example.
pub(super) enum PickerResult {
    /// A plan file to open.
    Plan(PathBuf),
    /// The workspace of the example loop.
    LoopExample(PathBuf),
    /// The file to write, and the source of its content.
    SaveAs(PathBuf, SaveSource),
    /// The file to write, and what is exported.
    Export(PathBuf, Box<ExportOrder>),
    /// A folder for a field of the loop form.
    Folder(PathBuf, FolderFor),
    /// A folder for the plan with this file. Another plan may be shown by now.
    PlanFolder { folder: PathBuf, purpose: PlanFolder, plan: PathBuf },
    /// What was chosen on the settings page.
    Settings(PickedSetting),
}

/// `None` if the person closed the picker without a choice. Only copying an example can fail.
type Picked = Option<std::io::Result<PickerResult>>;

/// The file picker, of which at most one is open.
pub(super) struct FilePicker {
    wake: Wake,
    /// Receives the result of the open picker.
    open: Option<Receiver<Picked>>,
    /// A dialog without title and folder, which belongs to the window once that is open.
    empty_dialog: rfd::FileDialog,
    has_parent: bool,
    /// The folder that was used last.
    last_folder: Option<PathBuf>,
}

impl FilePicker {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place for file dialogs, shown on their own thread"
    )]
    pub(super) fn new(wake: Wake) -> Self {
        let empty_dialog = rfd::FileDialog::new();
        Self { wake, open: None, empty_dialog, has_parent: false, last_folder: None }
    }

    /// Makes the dialogs belong to the window, so that they stay in front of it.
    pub(super) fn set_parent(&mut self, window: &eframe::Frame) {
        if !self.has_parent {
            self.empty_dialog = self.empty_dialog.clone().set_parent(window);
            self.has_parent = true;
        }
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
        let dialogs =
            Dialogs { empty: self.empty_dialog.clone(), last_folder: self.last_folder.clone() };
        let wake = Wake::clone(&self.wake);
        std::thread::Builder::new().name("file-dialog".to_owned()).spawn(move || {
            // The window may be closed already.
            let _ = sender.send(dialogs.pick(request));
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
        if let Some(Ok(result)) = &picked
            && let Some(folder) = result.folder()
        {
            self.last_folder = Some(folder.to_owned());
        }
        picked
    }
}

impl PickerResult {
    /// The folder in which the next picker starts.
    fn folder(&self) -> Option<&Path> {
        match self {
            Self::Plan(path) | Self::SaveAs(path, _) | Self::Export(path, _) => path.parent(),
            Self::Folder(path, _) | Self::PlanFolder { folder: path, .. } => Some(path),
            Self::Settings(
                PickedSetting::Path { path, .. }
                | PickedSetting::Export(path)
                | PickedSetting::Import(path),
            ) => path.parent(),
            Self::LoopExample(_) => None,
        }
    }
}

/// What the thread of a picker needs.
struct Dialogs {
    empty: rfd::FileDialog,
    last_folder: Option<PathBuf>,
}

impl Dialogs {
    fn pick(self, request: PickerRequest) -> Picked {
        Some(Ok(match request {
            PickerRequest::Plan(folder) => {
                let dialog = self.dialog("Open plan", folder);
                let filters =
                    dialog.add_filter("Plans, diffs and patches", &["json", "diff", "patch"]);
                PickerResult::Plan(filters.add_filter("All files", &["*"]).pick_file()?)
            }
            PickerRequest::SaveAs(name, folder, source) => {
                let file = self.dialog("Save as", folder).set_file_name(name).save_file()?;
                PickerResult::SaveAs(file, source)
            }
            PickerRequest::Export(name, order) => {
                let file = self.dialog("Export as", None).set_file_name(name).save_file()?;
                PickerResult::Export(file, order)
            }
            PickerRequest::Folder(field, start) => {
                let title = match field {
                    FolderFor::Plans => "Folder with the plans",
                    FolderFor::Workspace => "Workspace of the loop",
                    FolderFor::Agent => "Workspace of the agent",
                };
                PickerResult::Folder(self.dialog(title, start).pick_folder()?, field)
            }
            PickerRequest::PlanFolder { purpose, plan, start } => {
                let title = match purpose {
                    PlanFolder::Workspace => "Workspace of the plan",
                    PlanFolder::Writable => "A folder that steps may write",
                };
                let folder = self.dialog(title, start).pick_folder()?;
                PickerResult::PlanFolder { folder, purpose, plan }
            }
            PickerRequest::Setting { key, folder, add, start } => {
                let title = row_of(&key).map_or("Setting", |row| row.name);
                let dialog = self.dialog(title, start);
                let path = if folder { dialog.pick_folder()? } else { dialog.pick_file()? };
                PickerResult::Settings(PickedSetting::Path { key, path, add })
            }
            PickerRequest::ExportSettings => {
                let dialog = self.dialog("Export settings", None);
                let file = dialog.set_file_name("countersign-settings.toml").save_file()?;
                PickerResult::Settings(PickedSetting::Export(file))
            }
            PickerRequest::ImportSettings => {
                let dialog = self.dialog("Import settings", None).add_filter("Settings", &["toml"]);
                let file = dialog.add_filter("All files", &["*"]).pick_file()?;
                PickerResult::Settings(PickedSetting::Import(file))
            }
            PickerRequest::Example(example) => {
                return Some(examples::copy(example).map(|copied| match example {
                    Example::Loop => PickerResult::LoopExample(copied),
                    _ => PickerResult::Plan(copied),
                }));
            }
        }))
    }

    /// A dialog that starts in `folder`, else in the folder that was used last.
    fn dialog(self, title: &str, folder: Option<PathBuf>) -> rfd::FileDialog {
        let dialog = self.empty.set_title(title);
        match folder.or(self.last_folder) {
            Some(folder) => {
                // zenity, which stands in for a missing portal, gets its folder from the file name alone.
                let beginning = format!("{}/", folder.display());
                dialog.set_directory(folder).set_file_name(beginning)
            }
            None => dialog,
        }
    }
}
