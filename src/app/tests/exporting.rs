//! Exports from the evidence page.

use std::sync::Arc;

use super::*;
use crate::app::exporting::ExportOrder;
use crate::run::{ExportFile, ExportFormat, SearchQuery};
use crate::ui::dialog::{ExportChoice, ExportOf};
use crate::worker::{Export, ExportProgress};

/// A window with a run whose two records are on the evidence page.
fn recorded() -> Bench {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(1);
    bench.act(Action::Do(Command::StopNow));
    bench.wait_for_end();
    bench.act(Action::Do(Command::GoEvidence));
    bench.wait_until("the records", |app| !app.evidence.listed().is_empty());
    bench
}

fn of_found(kind: ExportFile) -> ExportOrder {
    ExportOrder { query: SearchQuery::default(), kind }
}

#[test]
fn the_dialog_offers_what_is_found_and_the_run_that_is_open() {
    let mut bench = recorded();
    bench.act(Action::Do(Command::Export));
    let view = |bench: &Bench| match bench.app.view().dialog.unwrap().question {
        Question::Export(view) => view,
        other => panic!("{other:?}"),
    };
    let shown = view(&bench);
    assert!(shown.found.unwrap().ends_with(" of all runs"));
    assert_eq!(shown.run, None);
    bench.act(Action::Dialog(DialogAction::LeaveUndecided));
    let id = bench.app.evidence.listed()[0];
    bench.act(Action::Evidence(EvidenceAction::Open(id)));
    bench.wait_until("the record", |app| app.evidence.detail.is_some());
    let run_id = bench.app.evidence.detail.as_ref().unwrap().row.run_id;
    let choice = ExportChoice { of: ExportOf::Found, kind: ExportFile::Case };
    bench.act(Action::Evidence(EvidenceAction::ChooseExport(choice)));
    bench.act(Action::Do(Command::Export));
    let shown = view(&bench);
    // A case file is of one run, so the open one is chosen.
    assert_eq!(shown.choice.of, ExportOf::Run(run_id));
    assert_eq!(shown.fault(), None);
}

#[test]
fn nothing_found_is_not_exported() {
    let mut bench = recorded();
    bench.act(Action::Evidence(EvidenceAction::Search("zzz-no-such-word".into())));
    bench.wait_until("no hit", |app| {
        app.evidence.page.as_ref().is_some_and(|page| page.hits.is_empty())
    });
    bench.act(Action::Do(Command::Export));
    assert!(bench.app.view().dialog.is_none());
    assert!(bench.app.view().situation.not_exportable.is_some());
}

#[test]
fn an_export_is_written_and_told() {
    let mut bench = recorded();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("found.jsonl");
    std::fs::write(&file, "older").unwrap();
    bench.app.export(file.clone(), of_found(ExportFile::Format(ExportFormat::JsonLines)));
    assert_eq!(bench.app.view().situation.not_exportable, Some("An export is under way."));
    bench.wait_until("the end of the export", |app| app.evidence.exporting.executions().is_none());
    let notice = bench.app.shared.notices.last().unwrap();
    assert!(notice.summary.starts_with("Exported ") && notice.summary.contains("found.jsonl"));
    let text = std::fs::read_to_string(&file).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), bench.app.evidence.listed().len());
    for line in lines {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(value["execution_id"].is_string(), "{value}");
    }
}

#[test]
fn an_export_that_fails_is_told_and_leaves_no_file() {
    let mut bench = recorded();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("gone").join("found.csv");
    bench.app.export(file.clone(), of_found(ExportFile::Format(ExportFormat::Csv)));
    bench.wait_until("the end of the export", |app| app.evidence.exporting.executions().is_none());
    let notice = bench.app.shared.notices.last().unwrap();
    assert!(notice.summary.starts_with("The evidence could not be exported."), "{notice:?}");
    assert!(!file.exists());
}

#[test]
fn an_export_that_is_stopped_leaves_nothing() {
    let mut bench = recorded();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("found.html");
    let progress = Arc::<ExportProgress>::default();
    // Before it begins, so that it cannot be complete before.
    progress.stop();
    let query = Export {
        query: SearchQuery::default(),
        kind: ExportFile::Format(ExportFormat::Html),
        file: file.clone(),
        progress,
        wake: Arc::new(|| {}),
    };
    bench.app.shared.query_each(query, move |app, done, _| {
        app.shared.tell_export(&file, done.unwrap());
    });
    bench.wait_until("the end of the export", |app| {
        app.shared.notices.iter().any(|it| it.summary.starts_with("The export was stopped."))
    });
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
