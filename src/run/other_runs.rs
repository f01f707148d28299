//! Runs of other windows and commands in the same workspace. Pure.

use std::path::Path;

use uuid::Uuid;

use super::{RunFate, RunSummary};

/// The runs under way in this workspace, or in a folder that contains it or that it contains, except the run `own`.
pub fn other_runs<'r>(
    runs: &'r [RunSummary],
    workspace: &Path,
    own: Option<Uuid>,
) -> Vec<&'r RunSummary> {
    let is_beside = |run: &&RunSummary| {
        let folder = Path::new(&run.workspace);
        run.fate == RunFate::Active
            && Some(run.run_id) != own
            && (folder.starts_with(workspace) || workspace.starts_with(folder))
    };
    runs.iter().filter(is_beside).collect()
}

/// The warning about other runs, as a sentence; `None` without any.
pub fn other_runs_warning(runs: &[&RunSummary]) -> Option<String> {
    let (first, others) = runs.split_first()?;
    let what = match others.len() {
        0 => "Another run is".to_owned(),
        others => format!("{} other runs are", others + 1),
    };
    let name = &first.plan_name;
    Some(format!("{what} under way in this workspace ({name}), and may change the same files."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Digest, Mode};
    use crate::run::RunStatus;

    fn run(number: u128, workspace: &str, fate: RunFate) -> RunSummary {
        RunSummary {
            run_id: Uuid::from_u128(number),
            plan_id: "p".to_owned(),
            plan_name: format!("plan {number}"),
            plan_digest: Digest::of(b""),
            workspace: workspace.to_owned(),
            target: None,
            parent_run: None,
            mode: Mode::Automatic,
            step_count: 1,
            steps_recorded: 0,
            started_at_ms: 0,
            ended_at_ms: None,
            fate,
            tally: Default::default(),
            purged: None,
        }
    }

    #[test]
    fn only_runs_under_way_in_the_same_files_count() {
        let runs = [
            run(1, "/a/b", RunFate::Active),
            run(2, "/a", RunFate::Active),
            run(3, "/a/b/c", RunFate::Active),
            run(4, "/a/bc", RunFate::Active),
            run(5, "/a/b", RunFate::Ended(RunStatus::Completed)),
            run(6, "/a/b", RunFate::Interrupted),
            run(7, "/a/b", RunFate::Active),
        ];
        let others = other_runs(&runs, Path::new("/a/b"), Some(Uuid::from_u128(7)));
        let ids: Vec<_> = others.iter().map(|run| run.run_id.as_u128()).collect();
        assert_eq!(ids, [1, 2, 3]);
        let warning = other_runs_warning(&others).unwrap();
        assert!(warning.starts_with("3 other runs are under way"), "{warning}");
        let warning = other_runs_warning(&others[..1]).unwrap();
        assert!(warning.starts_with("Another run is under way in this workspace (plan 1)"));
        assert_eq!(other_runs_warning(&[]), None);
    }
}
