//! Purges by a rule: what goes, what stays, and that the chain stays sound.

use std::fmt::Write as _;

use uuid::Uuid;

use super::fixture::*;
use crate::evidence::*;
use crate::plan::Digest;
use crate::run::*;

/// A run of one step that writes `content` and prints it.
fn one_run(home: &Home, content: &str, started_at_ms: i64) -> (Uuid, Uuid) {
    let mut store = home.store();
    let plan = plan(vec![write_step(0, "a", content)]);
    let mut run = Running::begin(&mut store, plan, started_at_ms);
    let ids = (run.run_id, step(&mut run, 0, content, started_at_ms + 1));
    run.end(&RunEnding::Completed);
    ids
}

/// Records a step with an intent, a changed file, a diagnostic and output.
pub(super) fn step(run: &mut Running<'_>, index: usize, content: &str, timestamp_ms: i64) -> Uuid {
    let mut result = result_of(&run.plan.steps[index].clone(), Outcome::Succeeded, timestamp_ms);
    result.diagnostic_artifacts.push(diagnostic("E0425", "a"));
    let files = [effect("a", Some(b"before"), Some(content.as_bytes()))];
    let edges =
        [Edge { edge_type: EdgeType::Affected, target_kind: TargetKind::File, target: "a".into() }];
    run.intend(&result, &files);
    let id = result.execution_id;
    run.record(
        result,
        Extra {
            stdout: Some(content.as_bytes()),
            files: &files,
            edges: &edges,
            ..Extra::default()
        },
    );
    id
}

pub(super) fn of_run(run: Uuid) -> PurgeRule {
    PurgeRule { run: Some(run), ..PurgeRule::default() }
}

fn count(home: &Home, sql: &str) -> i64 {
    home.raw().query_row(sql, [], |row| row.get(0)).unwrap()
}

/// Everything that can be read of a run.
pub(super) fn observed(home: &Home, run_id: Uuid, executions: &[Uuid]) -> String {
    let mut reader = home.reader();
    let mut text = String::new();
    let mut add = |it: &dyn std::fmt::Debug| writeln!(text, "{it:?}").unwrap();
    add(&reader.run(run_id).unwrap());
    add(&reader.replay(run_id).unwrap());
    add(&reader.plan_of_run(run_id).unwrap());
    add(&reader.changed_after_written(run_id).unwrap());
    for id in executions {
        let detail = reader.execution(*id).unwrap();
        for artifact in detail.iter().flat_map(|detail| &detail.artifacts) {
            add(&reader.artifact_value(artifact).unwrap());
        }
        add(&detail);
        for file in reader.file_changes(*id).unwrap() {
            for state in [file.before, file.after] {
                if let crate::authorization::FileState::Content(digest) = state {
                    add(&reader.stored_content(&digest).unwrap());
                }
            }
            add(&file);
        }
    }
    text
}

#[test]
fn a_purged_run_leaves_that_it_happened() {
    let home = Home::new();
    let large = "x".repeat(10_000);
    let (run, execution) = one_run(&home, &large, 2_000);
    let (kept, other) = one_run(&home, "kept", 3_000);
    let before = observed(&home, kept, &[other]);
    home.reader().catch_up_index().unwrap();
    let preview = home.reader().purge_preview(&of_run(run), 10_000).unwrap();
    let report = home.store().purge(&of_run(run), "asked for", 10_000).unwrap();
    assert_eq!(report.taken, preview, "the preview is what is purged");
    assert_eq!((preview.runs, preview.steps, preview.contents), (1, 1, 2));
    assert_eq!((preview.first_ms, preview.last_ms), (Some(2_000), Some(2_000)));
    let verified = home.verify();
    assert_eq!((verified.first_bad, verified.purged), (None, preview.rows));
    assert_eq!(observed(&home, kept, &[other]), before);

    let mut reader = home.reader();
    assert_eq!(reader.execution(execution).unwrap(), None);
    let summary = reader.run(run).unwrap().unwrap();
    let note = summary.purged.unwrap();
    assert_eq!((note.reason.as_str(), note.whole, note.steps), ("asked for", true, 1));
    assert_eq!(summary.tally.succeeded, 1, "the number of steps is still known");
    assert_eq!(summary.fate, RunFate::Ended(RunStatus::Completed));
    assert_eq!(reader.replay(run).unwrap().len(), 2, "its start and its end");
    assert_eq!(reader.plan_of_run(run).unwrap(), None);
    assert_eq!(reader.purged_runs().unwrap(), 1);
    let ids: Vec<_> = reader.q1("file_write", Range::default()).unwrap();
    assert_eq!(ids.iter().map(|it| it.row.execution_id).collect::<Vec<_>>(), [other]);
    for words in ["xxx*", "kept"] {
        let query = SearchQuery { words: words.into(), limit: 10, ..SearchQuery::default() };
        let hits = reader.search(&query).unwrap().hits.len();
        assert_eq!(hits, usize::from(words == "kept"), "{words}");
    }
    // A content of both runs is still there.
    let stored = reader.stored_content(&Digest::of(b"before")).unwrap();
    assert_eq!(stored, StoredContent::Content(b"before".to_vec()));
    let foreign = "SELECT count(*) FROM pragma_foreign_key_check";
    assert_eq!(count(&home, foreign), 0, "no row refers to one that is gone");
    // A second purge finds nothing.
    let again = home.store().purge(&of_run(run), "again", 11_000).unwrap();
    assert_eq!(again.purge_id, None);
    // The same content is stored again.
    let (later, _) = one_run(&home, &large, 12_000);
    let stored = home.reader().stored_content(&Digest::of(large.as_bytes())).unwrap();
    assert_eq!(stored, StoredContent::Content(large.into_bytes()));
    assert!(home.reader().plan_of_run(later).unwrap().is_some());
    assert_eq!(home.verify().first_bad, None);
}

#[test]
fn a_purge_leaves_no_text_in_the_files() {
    let home = Home::new();
    let (run, _) = one_run(&home, "the wombat digs", 2_000);
    one_run(&home, "kept", 3_000);
    home.reader().catch_up_index().unwrap();
    home.store().purge(&of_run(run), "asked for", 10_000).unwrap();
    for entry in std::fs::read_dir(&home.evidence).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let bytes = std::fs::read(&path).unwrap();
            assert!(memchr::memmem::find(&bytes, b"wombat").is_none(), "{}", path.display());
        }
    }
}

#[test]
fn a_run_under_way_and_the_plan_of_an_approval_are_kept() {
    let home = Home::new();
    let mut store = home.store();
    let mut run = Running::begin(&mut store, plan(vec![write_step(0, "a", "x")]), 2_000);
    let (id, execution) = (run.run_id, step(&mut run, 0, "x", 2_001));
    let everything = PurgeRule { before_ms: Some(i64::MAX), ..PurgeRule::default() };
    let taken = home.store().purge(&everything, "", 10_000).unwrap().taken;
    assert_eq!((taken.runs, taken.rows, taken.under_way), (0, 0, 1));
    assert!(home.reader().execution(execution).unwrap().is_some());
    let plan = run.plan.clone();
    run.end(&RunEnding::Completed);
    // Approved again: until the approval expires, its plan stays.
    store.record_authorization(&authorization(&plan), &plan).unwrap();
    let taken = store.purge(&everything, "", 50_000).unwrap().taken;
    assert_eq!((taken.runs, taken.steps), (1, 1));
    assert!(home.reader().plan_of_run(id).unwrap().is_some());
    assert_eq!(home.verify().first_bad, None);
    let none = home.store().purge(&PurgeRule::default(), "", 10_000).unwrap();
    assert_eq!(none, PurgeReport::default(), "an empty rule is not a rule about everything");
}

#[test]
fn rules_hold_together() {
    let home = Home::new();
    let runs = ["a", "b", "c"].map(|content| one_run(&home, content, 2_000));
    let preview = |rule: PurgeRule| home.reader().purge_preview(&rule, 100_000).unwrap();
    let old = PurgeRule { before_ms: Some(9_000), ..PurgeRule::default() };
    assert_eq!(preview(old.clone()).runs, 0, "a run counts from its end");
    let old = PurgeRule { before_ms: Some(9_001), ..old };
    assert_eq!(preview(old.clone()).runs, 3);
    assert_eq!(preview(PurgeRule { run: Some(runs[0].0), ..old.clone() }).runs, 1);
    assert_eq!(preview(PurgeRule { plan: Some("p".into()), ..old.clone() }).runs, 3);
    assert_eq!(preview(PurgeRule { plan: Some("q".into()), ..old.clone() }).runs, 0);
    let step = PurgeRule { executions: vec![runs[1].1], ..old.clone() };
    assert_eq!((preview(step.clone()).steps, preview(step.clone()).runs), (1, 1));
    assert_eq!(preview(PurgeRule { run: Some(runs[0].0), ..step }).steps, 0);
    let large = PurgeRule { larger_than: Some(6), ..old };
    // `before`, which all three runs name.
    assert_eq!((preview(large.clone()).contents, preview(large.clone()).rows), (1, 1));
    assert_eq!(preview(PurgeRule { run: Some(runs[0].0), ..large }).contents, 0);
}

#[test]
fn a_purged_step_leaves_the_others() {
    let home = Home::new();
    let mut store = home.store();
    let steps = vec![write_step(0, "a", "one"), write_step(1, "a", "two")];
    let mut run = Running::begin(&mut store, plan(steps), 2_000);
    let id = run.run_id;
    let [first, second] = ["one", "two"].map(|content| {
        let index = run.results.len();
        step(&mut run, index, content, 2_001)
    });
    run.end(&RunEnding::Completed);
    let before = observed(&home, id, &[second]);
    let rule = PurgeRule { executions: vec![first], ..PurgeRule::default() };
    store.purge(&rule, "a name in it", 3_000).unwrap();
    let mut reader = home.reader();
    assert_eq!(reader.execution(first).unwrap(), None);
    let (of, note) = reader.purge_of_step(first).unwrap().unwrap();
    assert_eq!((of, note.whole, note.reason.as_str()), (id, false, "a name in it"));
    let summary = reader.run(id).unwrap().unwrap();
    assert_eq!((summary.tally.succeeded, summary.purged.unwrap().steps), (2, 1));
    assert!(reader.plan_of_run(id).unwrap().is_some(), "the plan is that of the whole run");
    let detail = reader.execution(second).unwrap().unwrap();
    assert!(before.contains(&format!("{:?}", detail.artifacts)));
    assert_eq!(home.verify().first_bad, None);
    store.purge(&of_run(id), "the rest", 4_000).unwrap();
    let summary = home.reader().run(id).unwrap().unwrap();
    let note = summary.purged.unwrap();
    assert_eq!((summary.tally.succeeded, note.steps, note.whole), (2, 2, true));
    assert_eq!(home.verify().first_bad, None);
}

#[test]
fn a_changed_row_is_not_purged() {
    let home = Home::new();
    let (run, execution) = one_run(&home, "x", 2_000);
    let sql = format!("UPDATE executions SET about = 'y' WHERE id = '{execution}'");
    super::tampering::rewrite(&home, "executions", &sql);
    let length = count(&home, "SELECT count(*) FROM ledger");
    let error = home.store().purge(&of_run(run), "", 3_000).unwrap_err();
    assert!(matches!(error, EvidenceError::Changed { .. }), "{error}");
    assert_eq!(count(&home, "SELECT count(*) FROM ledger"), length, "nothing was recorded");
    assert!(home.verify().first_bad.unwrap().contains("of executions"));
}

#[test]
fn a_purge_in_an_older_format_migrates_first() {
    let home = Home::new();
    let (run, _) = one_run(&home, "x", 2_000);
    one_run(&home, "y", 3_000);
    super::formats::to_the_first_format(&home);
    assert_eq!(home.reader().purge_preview(&of_run(run), 10_000).unwrap().runs, 1);
    let report = home.store().purge(&of_run(run), "", 10_000).unwrap();
    assert_eq!(report.taken.runs, 1);
    assert!(home.evidence.join("execution_log.v1.bak").exists());
    let verified = home.verify();
    assert_eq!((verified.first_bad, verified.purged), (None, report.taken.rows));
}

#[test]
fn a_purge_keeps_grants_and_a_forged_one_does_not() {
    let home = Home::new();
    let (workspace, by) = ("/home/someone/project", AnsweredBy::Window);
    let digest = Digest::of(b"commands");
    let trust =
        TrustDecision { workspace, digest, trusted: true, shown: None, by, timestamp_ms: 1 };
    home.store().record_trust(&trust).unwrap();
    let mut store = home.store();
    let run = Running::begin(&mut store, plan(vec![read_step(0, "a")]), 2_000);
    let id = run.run_id;
    let control = ControlRecord { run_id: id, control: Control::Pause, by, timestamp_ms: 2_001 };
    run.store.commit(&Entry::Control(control)).unwrap();
    run.end(&RunEnding::Completed);
    store.purge(&of_run(id), "", 3_000).unwrap();
    assert!(
        count(
            &home,
            "SELECT count(*) FROM ledger WHERE table_name = 'decisions'
                  AND seq NOT IN (SELECT id FROM decisions)"
        ) > 0
    );
    let trusted = || home.reader().trusted_commands().unwrap().len();
    assert_eq!(trusted(), 1);
    super::tampering::rewrite(&home, "purged_rows", "UPDATE purged_rows SET grant_digest = 'x'");
    assert_eq!(trusted(), 1, "no revocation is missing");
    // Then only the ledger says whether a revocation is missing, and it misses rows that this user did not purge.
    home.forget_heads();
    assert_eq!(trusted(), 0);
}

/// Whoever can write the database can record a purge that fits the chain, but not with this user's key.
#[test]
fn a_purge_of_another_program_is_told() {
    use rusqlite::types::ValueRef::{Integer, Text};

    use crate::evidence::chain::Chain;
    use crate::evidence::purge::ranges::LinkRange;

    let home = Home::new();
    let (own, _) = one_run(&home, "heron", 1_000);
    let _ = one_run(&home, "egret", 2_000);
    home.store().purge(&of_run(own), "", 3_000).unwrap();
    let keyed = || verify_with_kept_head(&home.evidence, &home.secrets, None).unwrap();
    assert_eq!(keyed().first_bad, None);

    let conn = home.raw();
    let sql =
        "SELECT seq, digest FROM ledger WHERE table_name = 'execution_artifacts' ORDER BY seq DESC";
    let (row, digest): (i64, String) = conn.query_row(sql, [], |row| row.try_into()).unwrap();
    let links = LinkRange::of(row, "execution_artifacts", &digest).digest().hex();
    let mut chain = Chain::of(&conn).unwrap();
    let purge = [
        ("id", Text(b"a purge")),
        ("rule_json", Text(b"{}")),
        ("reason", Text(b"")),
        ("row_count", Integer(1)),
        ("timestamp", Integer(4_000)),
    ];
    chain.append(&conn, "record_purges", &purge).unwrap();
    let forged = "0".repeat(64);
    let range = [
        ("purge_id", Text(b"a purge")),
        ("first_row", Integer(row)),
        ("last_row", Integer(row)),
        ("links_digest", Text(links.as_bytes())),
        ("grant_digest", Text(forged.as_bytes())),
    ];
    chain.append(&conn, "purged_rows", &range).unwrap();
    conn.execute("DELETE FROM execution_artifacts WHERE id = ?1", [row]).unwrap();
    assert_eq!(home.verify().first_bad, None, "the chain alone is sound");
    let bad = keyed().first_bad.unwrap();
    assert!(bad.ends_with("another program purged"), "{bad}");
}
