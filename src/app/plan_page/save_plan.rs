//! Saves the bytes of the shown plan as a file (SPEC §13 *Revisions*).

use std::path::Path;

use crate::app::App;
use crate::app::file_dialog::PickerRequest;
use crate::worker::SaveSource;

impl App {
    /// Lets the person choose a file for the bytes of the shown plan.
    pub(in crate::app) fn save_plan(&mut self) {
        let Some(session) = &self.plan.shown else { return };
        let Some(plan) = &session.opened.plan else { return };
        let file =
            session.opened.base().file_name().map(|name| name.to_string_lossy().into_owned());
        let proposed = session.opened.held.as_ref().and_then(|held| held.name.clone());
        let name = proposed.or(file).unwrap_or_else(|| "plan.json".to_owned());
        // A file of another program was opened as a plan, which is JSON.
        let is_json = Path::new(&name)
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
        let name = if is_json { name } else { format!("{name}.plan.json") };
        // Beside the file that was opened, but not in the inbox.
        let base = session.opened.base();
        let is_own = session.opened.held.is_none();
        let base = is_own.then(|| std::path::absolute(base).ok()).flatten();
        let folder = base.as_deref().and_then(Path::parent).map(Path::to_owned);
        let request = PickerRequest::SaveAs(name, folder, SaveSource::Bytes(plan.source.clone()));
        let opened = self.file_picker.start(request);
        let next = "Use `countersign convert` or `countersign revise` on the command line.";
        self.shared.report_io(opened, "The file picker cannot be opened.", next);
    }
}
