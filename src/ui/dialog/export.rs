//! The dialog that asks what of the evidence is written to a file, and in which format.

use egui::Ui;
use uuid::Uuid;

use super::{Answer, Answers, DialogShape, PromptId, question_ui};
use crate::run::{ExportFile, ExportFormat};
use crate::ui::action::EvidenceAction;
use crate::ui::controls::{Choice, choices_ui};
use crate::ui::plan::indented;
use crate::ui::{Action, DialogAction, Text, Tone, icon, widgets};

/// The executions of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExportOf {
    /// Those that the search finds.
    #[default]
    Found,
    /// Those of one run.
    Run(Uuid),
}

/// What is exported, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExportChoice {
    /// The executions.
    pub of: ExportOf,
    /// The kind of file.
    pub kind: ExportFile,
}

/// What can be exported, and what is chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportView {
    /// What the search finds, in words; `None` if it finds nothing.
    pub found: Option<String>,
    /// The run of the search or of the open execution, with its name.
    pub run: Option<(Uuid, String)>,
    /// The choice.
    pub choice: ExportChoice,
}

impl ExportView {
    /// Why there can be no such file; `None` if there can.
    pub fn fault(&self) -> Option<&'static str> {
        match self.choice.of {
            ExportOf::Run(_) => None,
            ExportOf::Found if !self.choice.kind.is_of_one_run() => None,
            ExportOf::Found if self.run.is_some() => {
                Some("This is a file of one run: choose the run.")
            }
            ExportOf::Found => {
                Some("This is a file of one run: close this, and open one of its executions first.")
            }
        }
    }
}

const KINDS: [Choice<ExportFile>; 7] = [
    (
        ExportFile::Format(ExportFormat::Html),
        icon::FILE_TEXT,
        "Report",
        "One HTML file to read and to print, without scripts: runs, steps, decisions, differences and output.",
    ),
    (
        ExportFile::Case,
        icon::SEAL,
        "Case file",
        "Everything about one run in one zip, with a program that checks it without Countersign.",
    ),
    (
        ExportFile::Format(ExportFormat::JsonLines),
        icon::LIST,
        "JSON Lines",
        "Each execution on a line, with all that is recorded about it.",
    ),
    (
        ExportFile::Format(ExportFormat::Csv),
        icon::FILES,
        "CSV",
        "A table with a row for each execution, for a spreadsheet.",
    ),
    (
        ExportFile::Format(ExportFormat::Sarif),
        icon::DIAGNOSTICS,
        "SARIF",
        "The diagnostics, for code scanners and editors (SARIF 2.1.0).",
    ),
    (
        ExportFile::Format(ExportFormat::Junit),
        icon::CHECK,
        "JUnit",
        "Runs as test suites and steps as test cases, for servers that show test results.",
    ),
    (
        ExportFile::Format(ExportFormat::Asciicast),
        icon::TERMINAL,
        "Recording",
        "The output of one run as it appeared, for a terminal player (asciicast v3).",
    ),
];

pub(super) fn export_ui(
    ui: &mut Ui,
    prompt: PromptId,
    view: &ExportView,
    actions: &mut Vec<Action>,
) {
    let shape = DialogShape {
        title: "Export evidence",
        risk: None,
        chip_prefix: "",
        width: 680.0,
        subject: None,
        word: None,
    };
    let fault = view.fault();
    let action = DialogAction::Export(view.choice);
    let export =
        Answer::safe(Some(icon::EXPORT), "Choose a file…", fault.unwrap_or_default(), action);
    let answers = Answers {
        safe: vec![Answer::safe(
            None,
            "Not now",
            "Close this dialog.",
            DialogAction::LeaveUndecided,
        )],
        approve: Some(Answer { look: crate::ui::Look::Primary, ready: fault.is_none(), ..export }),
    };
    let mut choice = view.choice;
    question_ui(
        ui,
        prompt,
        &shape,
        actions,
        |_| answers,
        |ui, _, _, _| indented(ui, |ui| body_ui(ui, view, &mut choice)),
    );
    if choice != view.choice {
        actions.push(Action::Evidence(EvidenceAction::ChooseExport(choice)));
    }
}

fn body_ui(ui: &mut Ui, view: &ExportView, choice: &mut ExportChoice) {
    widgets::heading(ui, "Executions");
    let found =
        view.found.as_ref().map(|_| (ExportOf::Found, icon::SEARCH, "What the search finds", ""));
    let run = view.run.as_ref().map(|(id, _)| (ExportOf::Run(*id), icon::PLAY, "One run", ""));
    let offered: Vec<_> = found.into_iter().chain(run).collect();
    choices_ui(ui, &mut choice.of, &offered);
    let chosen = match choice.of {
        ExportOf::Found => view.found.as_deref(),
        ExportOf::Run(_) => view.run.as_ref().map(|(_, name)| &**name),
    };
    widgets::paragraph(ui, chosen.unwrap_or_default(), Text::Body, Tone::Plain);
    ui.add_space(8.0);
    widgets::heading(ui, "File");
    let before = choice.kind;
    choices_ui(ui, &mut choice.kind, &KINDS);
    // Who picks a file of one run means the run.
    if choice.kind != before
        && choice.kind.is_of_one_run()
        && let Some((id, _)) = view.run
    {
        choice.of = ExportOf::Run(id);
    }
    let shown = ExportView { choice: *choice, ..view.clone() };
    if let Some(fault) = shown.fault() {
        widgets::remark(ui, icon::WARNING, Tone::Caution, fault);
    }
    ui.add_space(4.0);
    let text = "Secrets stay out: what the evidence keeps only encrypted is left out, and the file says so.";
    widgets::paragraph(ui, text, Text::Meta, Tone::Dim);
}

#[cfg(test)]
mod tests {
    use egui_kittest::kittest::Queryable as _;

    use super::*;
    use crate::ui::tests::window;

    #[test]
    fn a_file_of_one_run_needs_a_run() {
        let choice =
            ExportChoice { of: ExportOf::Found, kind: ExportFile::Format(ExportFormat::Csv) };
        let run = Some((Uuid::nil(), "a run".to_owned()));
        let view = ExportView { found: Some("3 executions".to_owned()), run, choice };
        assert_eq!(view.fault(), None);
        for kind in [ExportFile::Case, ExportFile::Format(ExportFormat::Asciicast)] {
            let of = |of| ExportView { choice: ExportChoice { of, kind }, ..view.clone() };
            assert!(of(ExportOf::Found).fault().unwrap().contains("choose the run"));
            assert_eq!(of(ExportOf::Run(Uuid::nil())).fault(), None);
            let none = ExportView { run: None, ..of(ExportOf::Found) };
            assert!(none.fault().unwrap().contains("open one of its executions"));
        }
    }

    #[test]
    fn each_kind_of_file_is_offered_once() {
        let kinds: std::collections::HashSet<_> = KINDS.iter().map(|it| it.0).collect();
        assert_eq!(kinds.len(), ExportFormat::WORDS.len() + 1);
    }

    #[test]
    fn picking_a_case_file_chooses_the_run() {
        let mut harness = window("export", [1280.0, 800.0]);
        harness.get_by_label("Case file").click();
        harness.run_ok();
        harness.run_steps(4);
        harness.get_by_label("Choose a file…").click();
        harness.run_ok();
        let exported = harness.state().actions.iter().find_map(|action| match action {
            Action::Dialog(DialogAction::Export(choice)) => Some(*choice),
            _ => None,
        });
        let exported = exported.expect("an export");
        assert_eq!(exported.kind, ExportFile::Case);
        assert!(matches!(exported.of, ExportOf::Run(_)));
    }
}
