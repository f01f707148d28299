//! Example data: a revert plan before it is authorized, and one that conflicts with later changes.

use countersign::authorization::FileState;
use countersign::plan::{Code, Digest, Finding, Severity, ShownPlan, parse, revert};
use countersign::run::{Diff, FileChange, Preview, Review};

use super::fixture;

pub fn plan() -> ShownPlan {
    let bytes = revert(&format!("run:{}", fixture::run_id()), "Saturate the parser's sums");
    parse(&bytes).into_shown().unwrap_or_else(fixture::plan)
}

pub fn findings() -> Vec<Finding> {
    let stays = "Step 4 ran a program: its effects beyond the files named here are not reverted: \
                 Check the workspace";
    vec![Finding::new(Severity::Warning, Code::FileNotFound, "", stays)]
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
    if conflicts {
        changes.truncate(1);
        let why = "src/lib.rs was changed later, by no recorded step";
        let notes = [
            "The difference shows the later work; no file would change.",
            "Undo the later changes first, or correct the files by hand.",
        ];
        let notes = notes.map(str::to_owned).to_vec();
        return Preview { changes, ..Preview::failure(why, notes) };
    }
    Preview::exact("Undoes what 2 steps did to 2 files, all or none.".into(), changes, vec![])
}

/// The preview of a revert that deletes the file which a step created, and restores another one.
pub fn deletion() -> Preview {
    let state = |text: &[u8]| FileState::Content(Digest::of(text));
    let change = |path: &str, before, after, added, removed| FileChange {
        path: path.to_owned(),
        before,
        after,
        diff: Diff::Text { lines: Vec::new(), added, removed },
    };
    let changes = vec![
        change("CHANGELOG.md", state(b"changes"), FileState::Absent, 0, 9),
        change("src/lib.rs", state(b"lib2"), state(b"lib"), 1, 3),
    ];
    Preview::exact("Undoes what 2 steps did to 2 files, all or none.".into(), changes, vec![])
}

/// Notes in the review of a revert that both files exist.
pub fn deletes(review: &mut Review) {
    review.impact.files = ["CHANGELOG.md", "src/lib.rs"].map(str::to_owned).to_vec();
    let files = review.impact.files.iter().cloned();
    let exists = FileState::Content(Digest::of(b"old"));
    review.binding.inputs = files.map(|path| (path, exists)).collect();
}
