//! Applies the actions on artifacts: their whole contents are loaded and saved.

use super::App;
use super::file_dialog::PickerRequest;
use crate::ui::action::{ArtifactAction, SavedContent};
use crate::ui::artifact::Shape;
use crate::ui::{Page, Tone};
use crate::worker::SaveSource;

impl App {
    pub(super) fn apply_artifact(&mut self, action: ArtifactAction) {
        let of_team = self.shared.page == Page::Evidence && self.evidence.shows_team();
        let shared = &mut self.shared;
        match action {
            ArtifactAction::Load { digest, shape, copy } if of_team => {
                self.evidence.load_team_content((digest, shape), copy, shared);
            }
            ArtifactAction::Load { digest, shape, copy } => {
                shared.load_content((digest, shape), copy);
            }
            ArtifactAction::Save { name, content } => {
                let content = match content {
                    // What this computer does not have is saved as it was read from the server.
                    SavedContent::Stored { digest, shape } if of_team => {
                        match shared.contents.whole(&(digest, shape)) {
                            Some(whole) => whole,
                            None => {
                                let summary = "The whole is not read from the server yet.";
                                let next = "Show all of it, then save it.";
                                return shared.notify_here(Tone::Caution, summary, "", next);
                            }
                        }
                    }
                    content => content,
                };
                let opened =
                    self.file_picker.start(PickerRequest::SaveAs(name, None, save_source(content)));
                let next = "Copy the content instead.";
                shared.report_io(opened, "The file picker cannot be opened.", next);
            }
        }
    }
}

/// Converts the content to save from the type of the views to that of the query.
pub(super) fn save_source(content: SavedContent) -> SaveSource {
    match content {
        SavedContent::Text(text) => SaveSource::Text(text),
        SavedContent::Bytes(bytes) => SaveSource::Bytes(bytes),
        // A diff is stored as a JSON string.
        SavedContent::Stored { digest, shape } => {
            SaveSource::Stored { digest, is_json_string: shape == Shape::Diff }
        }
    }
}
