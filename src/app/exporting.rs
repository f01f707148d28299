//! Exports of the evidence: the choice in the dialog, and the one export that may be under way.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::App;
use super::evidence_page::EvidencePage;
use super::file_dialog::PickerRequest;
use super::shared::{Prompt, Shared};
use crate::plan::one_line;
use crate::run::{ExportFile, ExportFormat, RunSummary, SearchQuery};
use crate::ui::dialog::{ExportChoice, ExportOf, ExportView};
use crate::ui::evidence::parse;
use crate::ui::format::{count, counted};
use crate::ui::notice::Scope;
use crate::ui::{Page, Tone};
use crate::worker::{Export, ExportDone, ExportProgress, Wake};

/// What is exported, and how.
pub(super) struct ExportOrder {
    pub(super) query: SearchQuery,
    pub(super) kind: ExportFile,
}

/// The export under way.
#[derive(Debug)]
struct UnderWay {
    file: PathBuf,
    progress: Arc<ExportProgress>,
}

/// The choice in the dialog, and the export under way.
#[derive(Debug)]
pub(super) struct Exporting {
    choice: ExportChoice,
    under_way: Option<UnderWay>,
}

impl Default for Exporting {
    fn default() -> Self {
        let kind = ExportFile::Format(ExportFormat::Html);
        Self { choice: ExportChoice { of: ExportOf::Found, kind }, under_way: None }
    }
}

impl Exporting {
    /// How many executions the export under way has written.
    pub(super) fn executions(&self) -> Option<u64> {
        self.under_way.as_ref().map(|it| it.progress.executions())
    }

    pub(super) fn choose(&mut self, choice: ExportChoice) {
        self.choice = choice;
    }

    pub(super) fn stop(&self) {
        if let Some(under_way) = &self.under_way {
            under_way.progress.stop();
        }
    }
}

impl EvidencePage {
    /// Why nothing can be exported now; `None` if something can.
    pub(super) fn not_exportable(&self) -> Option<&'static str> {
        if self.exporting.under_way.is_some() {
            return Some("An export is under way.");
        }
        if self.shows_team() {
            return Some("It exports the evidence of this computer. Choose This computer first.");
        }
        let has_any = self.found().is_some() || self.run_to_export().is_some();
        if has_any {
            return None;
        }
        Some(match self.page.is_none() || self.question.is_some() {
            true => "Show the results of a search on the evidence page first.",
            false => "The search finds nothing that could be exported.",
        })
    }

    /// What can be exported, and what is chosen.
    pub(super) fn export_view(&self, shared: &Shared) -> ExportView {
        let run = self.run_to_export().map(|run| {
            let name = one_line(&run.plan_name).into_owned();
            (run.run_id, format!("{name}, {}", shared.now.minute(run.started_at_ms)))
        });
        ExportView { found: self.found(), run, choice: self.exporting.choice }
    }

    /// What the search finds, in words; `None` if it finds nothing, or its results are not shown.
    fn found(&self) -> Option<String> {
        let page = self.page.as_ref().filter(|_| self.question.is_none())?;
        let more = if page.counts.is_partial { "More than " } else { "" };
        let total = page.counts.total;
        let number = format!(
            "{more}{} {}",
            count(total),
            if total == 1 { "execution" } else { "executions" }
        );
        let text = self.text().trim();
        let of = if text.is_empty() {
            " of all runs".to_owned()
        } else {
            format!(": {}", one_line(text))
        };
        (total > 0).then(|| format!("{number}{of}"))
    }

    /// The run of the open execution, else the only run that the search names.
    fn run_to_export(&self) -> Option<&RunSummary> {
        if let Some(detail) = &self.detail {
            return Some(&detail.run);
        }
        let page = self.page.as_ref()?;
        let searched = self.searched_run()?;
        page.runs.iter().find(|run| run.run_id == searched)
    }

    /// The choice that fits what can be exported now.
    fn fit_choice(&mut self) {
        let run = self.run_to_export().map(|run| ExportOf::Run(run.run_id));
        let found = self.found().map(|_| ExportOf::Found);
        let of_one_run = self.exporting.choice.kind.is_of_one_run();
        let fitting = if of_one_run { run.or(found) } else { found.or(run) };
        self.exporting.choice.of = fitting.unwrap_or_default();
    }
}

impl App {
    pub(super) fn ask_to_export(&mut self) {
        self.show_page(Page::Evidence);
        self.evidence.fit_choice();
        self.shared.show_prompt(Some(Prompt::Export));
    }

    /// Lets the person choose the file for an export.
    pub(super) fn pick_export_file(&mut self, choice: ExportChoice) {
        self.shared.prompt = None;
        let view = self.evidence.export_view(&self.shared);
        let found = parse(self.evidence.text(), &self.shared.now).query;
        let (query, about) = match choice.of {
            ExportOf::Found => (found, "evidence".to_owned()),
            ExportOf::Run(run_id) => {
                let name = view.run.filter(|(id, _)| *id == run_id).map(|(_, name)| name);
                let query = SearchQuery { run_id: Some(run_id), ..SearchQuery::default() };
                (query, file_name(&name.unwrap_or_default()))
            }
        };
        let name = format!("{about}.{}", choice.kind.extension());
        let order = ExportOrder { query: SearchQuery { limit: 0, ..query }, kind: choice.kind };
        let opened = self.file_picker.start(PickerRequest::Export(name, Box::new(order)));
        let next = "Use the command line: countersign evidence export --help.";
        self.shared.report_io(opened, "The file picker cannot be opened.", next);
    }

    /// Starts an export, unless one is under way.
    pub(super) fn export(&mut self, file: PathBuf, order: ExportOrder) {
        if self.evidence.exporting.under_way.is_some() {
            return;
        }
        let progress = Arc::<ExportProgress>::default();
        let ExportOrder { query, kind } = order;
        let wake = Wake::clone(&self.shared.wake);
        let under_way = UnderWay { file: file.clone(), progress: Arc::clone(&progress) };
        let query = Export { query, kind, file, progress, wake };
        let sent = self.shared.query_each(query, |app, done, _| {
            let Some(under_way) = app.evidence.exporting.under_way.take() else { return };
            match done {
                Ok(done) => app.shared.tell_export(&under_way.file, done),
                Err(failed) => app.shared.report(failed),
            }
        });
        self.evidence.exporting.under_way = sent.then_some(under_way);
    }
}

impl Shared {
    pub(super) fn tell_export(&mut self, file: &Path, done: Option<ExportDone>) {
        let Some(ExportDone { exported, bytes: size }) = done else {
            let summary = "The export was stopped. Nothing is left of it.";
            self.notify_in(Scope::Window, Tone::Caution, summary, "", "");
            return;
        };
        let number = usize::try_from(exported.executions).unwrap_or(usize::MAX);
        let summary = format!("Exported {} to {}.", counted(number, "execution"), file.display());
        let runs = usize::try_from(exported.runs).unwrap_or(usize::MAX);
        let mut details = format!("{}, {} bytes.", counted(runs, "run"), count(size));
        if let Some(why) = &exported.not_proven {
            details += &format!(" No proof of its records is in it: {why}");
        }
        let (tone, next) = match exported.changed {
            0 => (Tone::Safe, String::new()),
            changed => {
                let next = format!(
                    "{} of these executions were changed after they were written: verify the evidence.",
                    count(changed)
                );
                (Tone::Danger, next)
            }
        };
        self.notify_in(Scope::Window, tone, summary, details, next);
    }
}

/// A name for a file about this: letters, digits and hyphens.
fn file_name(about: &str) -> String {
    let lower = about.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let name = words.collect::<Vec<_>>().join("-");
    let end = name.floor_char_boundary(60);
    let name = name.get(..end).unwrap_or_default().trim_matches('-');
    if name.is_empty() { "run".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_plain_words() {
        assert_eq!(file_name("Fix E0425: ../../etc, 22 Nov 14:06"), "fix-e0425-etc-22-nov-14-06");
        assert_eq!(file_name("///"), "run");
        assert!(file_name(&"é".repeat(200)).len() <= 60);
    }
}
