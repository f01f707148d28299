use uuid::Uuid;

use super::fixture::*;
use crate::evidence::{EvidenceStore, Range};
use crate::run::*;

const OWN: &str = "/home/someone/project";

/// Records a run whose steps each report E0425 in a file and change it, from this time on. Returns the executions.
fn record(store: &mut EvidenceStore, workspace: &str, steps: usize, from_ms: i64) -> Vec<Uuid> {
    let plan = plan((0..steps).map(|index| write_step(index, "src/lib.rs", "x")).collect());
    let mut authorization = authorization(&plan);
    workspace.clone_into(&mut authorization.binding.workspace);
    let mut run = Running::begin_with(store, plan, &authorization, from_ms);
    let edges = [Edge::new(EdgeType::Affected, TargetKind::File, "src/lib.rs")];
    for (step, at_ms) in run.plan.steps.clone().iter().zip(from_ms..) {
        let mut result = result_of(step, Outcome::Failed, at_ms);
        result.diagnostic_artifacts = vec![diagnostic("E0425", "src/lib.rs")];
        run.record(result, Extra { edges: &edges, ..Extra::default() });
    }
    run.results.iter().map(|result| result.execution_id).collect()
}

fn focus() -> Focus {
    let (codes, files) = (vec!["E0425".to_owned()], vec!["src/lib.rs".to_owned()]);
    Focus { codes, files, executions: Vec::new() }
}

#[test]
fn other_workspaces_do_not_count() {
    let home = Home::new();
    let mut store = home.store();
    record(&mut store, "/home/someone/other", 3, 1_000);
    let own = record(&mut store, OWN, 2, 2_000);
    record(&mut store, "/home/someone/other", 3, 3_000);
    let mut reader = home.reader();
    let recurring = reader.q7(2, Range::default()).unwrap();
    let of_each: Vec<_> = recurring.iter().map(|it| (it.workspace.as_str(), it.count)).collect();
    assert_eq!(of_each, [("/home/someone/other", 6), (OWN, 2)], "the same path is two files");
    assert_eq!(recurring[1].execution_ids, own);
    let later = reader.q8("E0425", None, Range::default()).unwrap();
    assert_eq!(later.len(), 1 + 5 + 4 + 3 + 2 + 1, "no change in the other workspace counts");
    let summary = reader.summary(OWN, &focus()).unwrap();
    let [seen] = summary.q7.as_slice() else { panic!("{:?}", summary.q7) };
    assert_eq!((seen.count, seen.first_seen_ms, seen.last_seen_ms), (2, 2_000, 2_001));
    assert_eq!(seen.execution_ids, own);
    let [later] = summary.q8.as_slice() else { panic!("{:?}", summary.q8) };
    assert_eq!((later.diagnostic_execution_id, later.listed.row.execution_id), (own[0], own[1]));
    let ids = |rows: &[ListedExecution]| -> Vec<_> {
        rows.iter().map(|it| it.row.execution_id).collect()
    };
    assert_eq!((ids(&summary.q1), ids(&summary.q3)), (own.clone(), own.clone()));
    assert_eq!(ids(&summary.q6), [own[1]]);
    assert_eq!(summary.q4.len(), 2);
    assert!(summary.cut.is_empty(), "{:?}", summary.cut);
}

/// Seventy changes have more than two thousand pairs of a diagnostic and a later change.
#[test]
fn the_newest_of_many_rows_are_kept() {
    let home = Home::new();
    let own = record(&mut home.store(), OWN, 70, 1_000);
    let summary = home.reader().summary(OWN, &focus()).unwrap();
    let newest = own.last().copied();
    let [q3, q4, q8] = [
        summary.q3.last().map(|it| it.row.execution_id),
        summary.q4.last().map(|it| it.listed.row.execution_id),
        summary.q8.last().map(|it| it.listed.row.execution_id),
    ];
    assert_eq!([q3, q4, q8], [newest; 3]);
    // The newest diagnostic before the change, and in ascending order.
    let diagnostics: Vec<_> = summary.q8.iter().map(|it| it.diagnostic_execution_id).collect();
    assert_eq!(diagnostics, own[own.len() - 21..own.len() - 1]);
    assert_eq!([summary.q3.len(), summary.q4.len(), summary.q8.len()], [20; 3]);
    assert_eq!(summary.cut, ["q1", "q2", "q3", "q4", "q8"]);
}
