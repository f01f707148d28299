//! Example data: a revert plan before it is authorized, and one that conflicts with later changes.

use countersign::plan::{Code, Finding, Severity, ShownPlan, parse, revert};
use countersign::run::{Diff, FileChange, Predicted, Preview};

use super::fixture;

pub fn plan() -> ShownPlan {
    let bytes = revert(&format!("run:{}", fixture::run_id()), "Saturate the parser's sums");
    parse(&bytes).into_shown().unwrap_or_else(fixture::plan)
}

pub fn findings() -> Vec<Finding> {
    let stays = "step 4 ran a program: whatever that did beside the files named here stays: \
                 Check ., cargo check";
    vec![Finding::new(Severity::Warning, Code::FileNotFound, "/actions/0", stays)]
}

/// The preview of the revert of two files that the run changed.
pub fn preview(conflicts: bool) -> Preview {
    let reverted = fixture::plan();
    let mut changes: Vec<FileChange> =
        [2, 3].into_iter().flat_map(|step| fixture::preview(&reverted, step).changes).collect();
    for change in &mut changes {
        std::mem::swap(&mut change.before, &mut change.after);
        if let Diff::Text { lines, added, removed } = &mut change.diff {
            std::mem::swap(added, removed);
            for line in lines {
                std::mem::swap(&mut line.before, &mut line.after);
                line.kind = match line.kind {
                    countersign::run::LineKind::Added => countersign::run::LineKind::Removed,
                    countersign::run::LineKind::Removed => countersign::run::LineKind::Added,
                    kind => kind,
                };
            }
        }
    }
    let (summary, notes) = if conflicts {
        changes.truncate(1);
        let summary = "Would fail: src/lib.rs was changed later, by no recorded step.";
        let notes = [
            "The difference shows the later work; no file would change.",
            "Take the later changes back first, or put the files right by hand.",
        ];
        (summary, notes.to_vec())
    } else {
        ("Takes back what 2 steps did to 2 files, all or none.", Vec::new())
    };
    Preview {
        predicted: Predicted::Exact,
        summary: summary.to_owned(),
        changes,
        notes: notes.into_iter().map(str::to_owned).collect(),
    }
}
