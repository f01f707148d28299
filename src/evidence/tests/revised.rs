//! That a plan is a person's revision of another one.

use std::collections::BTreeSet;

use super::fixture::*;
use crate::authorization::PlanAuthorization;
use crate::evidence::*;
use crate::plan::{Plan, RevisedPart, RevisedWhat};
use crate::run::{PurgeRule, RunEnding};

const WORKSPACE: &str = "/home/someone/project";

fn part(name: &str, after: &str) -> RevisedPart {
    RevisedPart {
        step_index: 0,
        step_id: "step_1".to_owned(),
        tool: "file_write".to_owned(),
        what: RevisedWhat::Argument {
            name: name.to_owned(),
            before: Some("\"one\"".to_owned()),
            after: Some(format!("{after:?}")),
        },
    }
}

/// Records that a revision of `base` was authorized or rejected.
fn record(store: &mut EvidenceStore, base: &Plan, revised: &Plan, it: &PlanAuthorization) {
    let parts = [part("contents", "two"), part("path", &"long ".repeat(2_000))];
    let revision = RevisionRecord { base, parts: &parts };
    store.record_revised(it, revised, Some(&revision)).unwrap();
}

fn plans() -> [Plan; 2] {
    ["one", "two"].map(|contents| plan(vec![write_step(0, "a", contents)]))
}

#[test]
fn a_run_of_a_revision_names_its_base_and_what_differs() {
    let home = Home::new();
    let mut store = home.store();
    let [base, revised] = plans();
    let authorization = authorization(&revised);
    record(&mut store, &base, &revised, &authorization);
    let at_ms = authorization.decided_at_ms;
    let run_id = start(&mut store, &revised, authorization);
    let found = home.reader().revision_of(run_id).unwrap().unwrap();
    assert_eq!((found.base_digest, found.changes.len(), found.omitted), (base.digest, 2, 0));
    assert_eq!(found.changes[0]["after"], "\"two\"");
    assert!(found.changes[1]["after"].as_str().unwrap().len() < 200, "it is shortened");
    let difference = found.difference.unwrap();
    assert!(difference.contains("-{\"plan_id\"") && difference.contains("two"), "{difference}");
    let decisions = home.reader().decisions_of_run(run_id).unwrap();
    let words: Vec<_> = decisions.iter().map(|it| it.record.decision.as_str()).collect();
    assert_eq!(words, ["revise", "authorize"]);
    assert!(decisions[0].record.note.starts_with(&format!("2 changes to {}", base.digest)));

    // Who proposed the base learns what became of it.
    let asked = BTreeSet::from([base.digest]);
    let decided = home.reader().decided_plans(&asked, at_ms).unwrap();
    assert_eq!(decided.len(), 1);
    assert_eq!((decided[0].plan, decided[0].workspace.as_str()), (base.digest, WORKSPACE));
    let state = home.reader().plan_state(&base.digest, WORKSPACE, at_ms).unwrap();
    assert_eq!(state.revised, Some(revised.digest));
    assert!(state.decision.unwrap().is_approved);
    assert_eq!(state.run.unwrap().run_id, run_id);
    let elsewhere = home.reader().plan_state(&base.digest, "/elsewhere", at_ms).unwrap();
    assert_eq!(elsewhere.revised, None);

    // A case file has both plans.
    let mut plans = Vec::new();
    let each = |record: LedgerRecord| {
        plans.extend((record.table == "plans").then_some(record.entry));
        Ok::<_, EvidenceError>(())
    };
    home.reader().ledger_of(RecordsOf::Run(run_id), each).unwrap();
    for digest in [base.digest, revised.digest] {
        assert_eq!(plans.iter().filter(|entry| entry.contains(&digest.hex())).count(), 1);
    }
    assert_eq!(home.verify().first_bad, None);
}

#[test]
fn a_plan_that_was_not_revised_has_no_base() {
    let home = Home::new();
    let mut store = home.store();
    let [base, _] = plans();
    let authorization = authorization(&base);
    store.record_revised(&authorization, &base, None).unwrap();
    let run_id = start(&mut store, &base, authorization);
    assert_eq!(home.reader().revision_of(run_id).unwrap(), None);
}

#[test]
fn a_later_decision_about_the_base_itself_counts() {
    let home = Home::new();
    let mut store = home.store();
    let [base, revised] = plans();
    let first = authorization(&revised);
    record(&mut store, &base, &revised, &first);
    let later = first.decided_at_ms + 1;
    let rejected = authorization(&base).reject(later, "not that one either");
    store.record_authorization(&rejected, &base).unwrap();
    let state = home.reader().plan_state(&base.digest, WORKSPACE, 0).unwrap();
    assert_eq!((state.revised, state.decision.unwrap().is_approved), (None, false));
}

#[test]
fn a_purge_of_the_run_takes_the_base_unless_another_run_needs_it() {
    let home = Home::new();
    let mut store = home.store();
    let [base, revised] = plans();
    let mut runs = Vec::new();
    for _ in 0..2 {
        let authorization = authorization(&revised);
        record(&mut store, &base, &revised, &authorization);
        runs.push(start(&mut store, &revised, authorization));
    }
    let is_kept = |home: &Home| {
        let found = home.reader().stored_content(&base.digest).unwrap();
        matches!(found, StoredContent::Content(_))
    };
    for (run, kept) in runs.iter().zip([true, false]) {
        let rule = PurgeRule { run: Some(*run), ..PurgeRule::default() };
        home.store().purge(&rule, "", i64::MAX).unwrap();
        assert_eq!(is_kept(&home), kept);
    }
    assert_eq!(home.verify().first_bad, None);
}

/// A run of this plan that has ended.
fn start(store: &mut EvidenceStore, plan: &Plan, authorization: PlanAuthorization) -> uuid::Uuid {
    let run = Running::begin_with(store, plan.clone(), &authorization, 2_000);
    let run_id = run.run_id;
    run.end(&RunEnding::Completed);
    run_id
}
