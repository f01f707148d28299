//! Example data: a batch of many files, before its run and after its process was killed.

use std::collections::BTreeMap;

use countersign::authorization::FileState;
use countersign::plan::{Digest, Edit, MutateBatch, ShownPlan, ToolCall};
use countersign::run::{
    Diff, DiffLine, DiskState, FileChange, LineKind, Preview, Reconciled, RunState,
};
use uuid::Uuid;

use super::fixture;

const FILES: usize = 96;

fn path(index: usize) -> String {
    format!("src/{}/module_{index}.rs", ["lexer", "parser", "printer"][index % 3])
}

/// The plan of the fixture, with a batch as its third step.
pub fn plan() -> ShownPlan {
    let mut plan = fixture::plan();
    let write = |index| Edit::Replace {
        path: path(index),
        old: "old_function".into(),
        new: "new_function".into(),
    };
    let edits = (0..FILES).map(write).collect();
    let batch = MutateBatch { edits, expected_hashes: BTreeMap::new(), dry_run: false };
    let step = &mut plan.steps[2];
    step.tool_name = "mutate_batch".into();
    step.title = None;
    step.reason = Some("Every caller takes the new name at once, or none does.".into());
    step.call = Some(ToolCall::MutateBatch(batch));
    plan
}

fn state(text: &str) -> FileState {
    FileState::Content(Digest::of(text.as_bytes()))
}

pub fn preview() -> Preview {
    let line = |kind, before, after, text: &str| DiffLine {
        kind,
        before,
        after,
        text: text.into(),
        missing_newline: false,
    };
    let change = |index: usize| {
        let lines = vec![
            line(LineKind::Context, Some(11), Some(11), "fn caller() -> u32 {"),
            line(LineKind::Removed, Some(12), None, "    old_function(7)"),
            line(LineKind::Added, None, Some(12), "    new_function(7)"),
            line(LineKind::Context, Some(13), Some(13), "}"),
        ];
        FileChange {
            path: path(index),
            before: if index == 4 { FileState::Absent } else { state("old") },
            after: if index == 6 { FileState::Absent } else { state("new") },
            diff: if index == 6 {
                Diff::Binary { before_bytes: Some(20_480), after_bytes: None }
            } else {
                Diff::Text { lines, added: 1, removed: 1 }
            },
        }
    };
    Preview::exact(
        "Creates 1 file, changes 94 files and deletes 1 file, all or none.".into(),
        (0..FILES).map(change).collect(),
        vec!["src/lexer/module_3.rs is executable and stays so.".into()],
    )
}

/// A run whose process was killed during its third step.
pub fn interrupted(plan: &ShownPlan) -> RunState {
    let mut run = fixture::running(plan);
    run.interrupt();
    run
}

pub fn reconciled() -> Vec<Reconciled> {
    let row = |index: usize| Reconciled {
        execution_id: Uuid::nil(),
        step_id: "step_3".into(),
        step_index: 2,
        tool_name: "mutate_batch".into(),
        path: Some(path(index)),
        before: Some(state("old")),
        after: Some(state("new")),
        now: Some(state("old")),
        finding: match index {
            0..40 => DiskState::AsAfter,
            77 => DiskState::Neither,
            _ => DiskState::AsBefore,
        },
        leftover: (index < 2).then(|| ".countersign-x".into()),
    };
    (0..FILES).map(row).collect()
}
