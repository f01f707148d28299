//! Purges of bounded loops: what goes, what stays, and that the chain stays sound.

use serde_json::json;
use uuid::Uuid;

use super::fixture::*;
use super::retention::{of_run, step};
use crate::authorization::{ForAttempt, PlanAuthorization};
use crate::evidence::*;
use crate::plan::Digest;
use crate::run::*;

/// A loop of the records.
pub(super) struct OldLoop {
    pub(super) loop_id: Uuid,
    /// Of each attempt the run of its plan.
    pub(super) runs: Vec<Uuid>,
    /// Of each attempt the digest of the planner's answer.
    answers: Vec<Digest>,
}

/// A loop about this word with two attempts of a run each, and a third one whose planner gave no plan. The loop ends unless
/// it was interrupted.
pub(super) fn old_loop(
    store: &mut EvidenceStore,
    word: &str,
    started_at_ms: i64,
    ends: bool,
) -> OldLoop {
    let loop_id = Uuid::new_v4();
    let goal = format!("the {word} is found");
    store
        .commit(&Entry::LoopStart(LoopStart {
            loop_id,
            goal: &goal,
            planner: "replay:plans",
            workspace: "/home/someone/project",
            max_attempts: 3,
            verify: "none",
            class_id: None,
            looks: LookScope::Workspace,
            target: None,
            started_at_ms,
        }))
        .unwrap();
    let mut told = OldLoop { loop_id, runs: Vec::new(), answers: Vec::new() };
    for number in 1..=3 {
        let at = started_at_ms + i64::from(number) * 10;
        let attempt_id = Uuid::new_v4();
        let max_attempts = 3;
        let start =
            AttemptStart { attempt_id, loop_id, attempt: number, max_attempts, started_at_ms: at };
        store.commit(&Entry::AttemptStart(start)).unwrap();
        let look = Look::Read { path: format!("{word}.txt"), lines: None };
        let text = format!("a {word} of attempt {number} ").repeat(500);
        let looked = [Looked {
            look,
            ok: true,
            text: Some(text),
            rows: None,
            truncated: false,
            error: None,
        }];
        let looks = PlannerLooks { attempt_id, round: 1, looked: &looked, timestamp_ms: at + 1 };
        store.commit(&Entry::PlannerLooks(looks)).unwrap();
        let plan = plan(vec![write_step(0, word, &number.to_string())]);
        let has_plan = number < 3;
        let answer = match has_plan {
            true => plan.source.to_vec(),
            false => format!("what is a {word}?").into_bytes(),
        };
        told.answers.push(Digest::of(&answer));
        let run_id = has_plan.then(|| {
            let for_attempt = ForAttempt {
                loop_id,
                goal: goal.clone(),
                attempt_id,
                attempt: number,
                class_id: None,
                max_risk: None,
                note: String::new(),
            };
            let authorization =
                PlanAuthorization { attempt: Some(Box::new(for_attempt)), ..authorization(&plan) };
            let mut run = Running::begin_with(store, plan.clone(), &authorization, at + 2);
            step(&mut run, 0, &format!("{word} {number}"), at + 3);
            let run_id = run.run_id;
            run.end_at(&RunEnding::Completed, at + 4);
            run_id
        });
        told.runs.extend(run_id);
        let message = (!has_plan).then(|| format!("which {word}?"));
        let record = AttemptRecord {
            attempt: number,
            max_attempts,
            planner: PlannerReport { message, ..PlannerReport::new(PlannerStatus::Accepted) },
            plan_digest: has_plan.then_some(plan.digest),
            run_id,
            actions: Vec::new(),
            verify: None,
            stop_reason: None,
            looks: Vec::new(),
            feedback: Some(format!("not this {word}")),
        };
        let request = format!("find the {word}").repeat(1_000).into_bytes();
        let trace = PlannerTrace { request, answer, ..PlannerTrace::default() };
        let end =
            AttemptEnd { attempt_id, record: &record, trace: Some(&trace), ended_at_ms: at + 5 };
        store.commit(&Entry::AttemptEnd(end)).unwrap();
    }
    if ends {
        let reason = StopReason {
            code: StopCode::RetryBudgetExhausted,
            message: format!("no {word} after 3 attempts"),
            detail: StopDetail { attempt: Some(3), ..StopDetail::default() },
        };
        let end = LoopEnd { loop_id, reason: &reason, ended_at_ms: started_at_ms + 50 };
        store.commit(&Entry::LoopEnd(end)).unwrap();
    }
    told
}

fn older_than(before_ms: i64) -> PurgeRule {
    PurgeRule { before_ms: Some(before_ms), ..PurgeRule::default() }
}

/// The files of the evidence folder that have this word.
fn with_word(home: &Home, word: &str) -> Vec<String> {
    let entries = std::fs::read_dir(&home.evidence).unwrap();
    let files = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    let has = |bytes: &[u8]| memchr::memmem::find(bytes, word.as_bytes()).is_some();
    files
        .filter(|path| has(&std::fs::read(path).unwrap()))
        .map(|path| path.display().to_string())
        .collect()
}

/// What can be read of a loop.
fn observed(home: &Home, told: &OldLoop) -> String {
    let mut reader = home.reader();
    let contents: Vec<_> =
        told.answers.iter().map(|digest| reader.stored_content(digest).unwrap()).collect();
    format!(
        "{:?}\n{:?}\n{:?}\n{contents:?}",
        reader.bounded_loop(told.loop_id).unwrap(),
        reader.replay_loop(told.loop_id).unwrap(),
        reader.changed_after_written(told.loop_id).unwrap(),
    )
}

fn foreign_keys(home: &Home) -> i64 {
    let sql = "SELECT count(*) FROM pragma_foreign_key_check";
    home.raw().query_row(sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn old_loops_go_with_their_runs() {
    let home = Home::new();
    let mut store = home.store();
    let old = old_loop(&mut store, "wombat", 2_000, true);
    let kept = old_loop(&mut store, "quokka", 3_000, true);
    drop(store);
    home.reader().catch_up_index().unwrap();
    let before = observed(&home, &kept);
    assert_eq!(home.reader().purge_preview(&older_than(2_050), 9_000).unwrap().loops, 0);

    let rule = older_than(2_051);
    let preview = home.reader().purge_preview(&rule, 9_000).unwrap();
    assert_eq!((preview.runs, preview.loops, preview.attempts), (2, 1, 3));
    assert_eq!((preview.first_ms, preview.last_ms), (Some(2_000), Some(2_022)));
    let report = home.store().purge(&rule, "old", 9_000).unwrap();
    assert_eq!(report.taken, preview, "the preview is what is purged");
    let verified = home.verify();
    assert_eq!((verified.first_bad, verified.purged), (None, preview.rows));
    assert_eq!(foreign_keys(&home), 0, "no row refers to one that is gone");
    assert_eq!(observed(&home, &kept), before);
    // The words are in no file any more. Before it is made smaller, a page of the database may have an older copy of a row.
    home.store().compact().unwrap();
    assert_eq!(with_word(&home, "wombat"), Vec::<String>::new());
    assert!(!with_word(&home, "quokka").is_empty(), "it is stored in clear");

    let mut reader = home.reader();
    let found = reader.bounded_loop(old.loop_id).unwrap().unwrap();
    let summary = &found.summary;
    assert_eq!((summary.goal.as_str(), summary.planner.as_str()), (PURGED_TEXT, "replay:plans"));
    assert_eq!((summary.started_at_ms, summary.ended_at_ms), (2_000, Some(2_050)));
    assert_eq!(summary.fate, LoopFate::Ended(StopCode::RetryBudgetExhausted));
    assert_eq!(summary.purged.as_ref().unwrap().reason, "old");
    assert_eq!((summary.attempts_begun, found.attempts.len()), (3, 3));
    for attempt in &found.attempts {
        assert_eq!((&attempt.record, attempt.looks.len()), (&None, 0));
        assert_eq!(attempt.purged.as_ref().unwrap().reason, "old");
        assert!(attempt.runs.iter().all(|run| run.purged.is_some()));
    }
    for answer in &old.answers {
        let stored = reader.stored_content(answer).unwrap();
        assert!(!matches!(stored, StoredContent::Content(_)), "{stored:?}");
    }
    assert_eq!(reader.loops(10).unwrap().len(), 2);
    assert!(!reader.replay_loop(old.loop_id).unwrap().is_empty());
    assert_eq!(reader.changed_after_written(old.loop_id).unwrap(), Vec::<String>::new());
    // A second purge finds nothing.
    assert_eq!(home.store().purge(&rule, "again", 9_500).unwrap().purge_id, None);
}

#[test]
fn a_run_takes_what_its_attempt_recorded() {
    let home = Home::new();
    let told = old_loop(&mut home.store(), "wombat", 2_000, true);
    let report = home.store().purge(&of_run(told.runs[0]), "one", 9_000).unwrap();
    assert_eq!((report.taken.runs, report.taken.attempts, report.taken.loops), (1, 1, 0));
    let found = home.reader().bounded_loop(told.loop_id).unwrap().unwrap();
    assert_eq!(found.summary.goal, "the wombat is found", "the loop has other attempts");
    assert_eq!(found.summary.purged, None);
    let [first, second, third] = found.attempts.as_slice() else { panic!("{found:?}") };
    assert_eq!((&first.record, first.purged.as_ref().unwrap().reason.as_str()), (&None, "one"));
    for attempt in [second, third] {
        assert!(attempt.record.is_some() && attempt.purged.is_none());
    }
    // The planner's answer is the plan.
    let mut reader = home.reader();
    assert_eq!(reader.stored_content(&told.answers[0]).unwrap(), StoredContent::Purged);
    assert!(matches!(reader.stored_content(&told.answers[1]).unwrap(), StoredContent::Content(_)));
    assert_eq!((home.verify().first_bad, foreign_keys(&home)), (None, 0));

    let rule = PurgeRule { bounded_loop: Some(told.loop_id), ..PurgeRule::default() };
    let report = home.store().purge(&rule, "all", 9_500).unwrap();
    assert_eq!((report.taken.runs, report.taken.attempts, report.taken.loops), (1, 2, 1));
    let found = home.reader().bounded_loop(told.loop_id).unwrap().unwrap();
    assert_eq!(found.summary.purged.unwrap().reason, "all");
    drop(reader);
    home.store().compact().unwrap();
    assert_eq!(with_word(&home, "wombat"), Vec::<String>::new());
    assert_eq!((home.verify().first_bad, foreign_keys(&home)), (None, 0));
}

/// An interrupted loop counts from the last that was recorded of it; one under way is kept with its runs.
#[test]
fn open_loops_go_only_if_interrupted() {
    let home = Home::new();
    let mut store = home.store();
    let told = old_loop(&mut store, "wombat", 2_000, false);
    let taken = home.store().purge(&older_than(i64::MAX), "", 9_000).unwrap().taken;
    assert_eq!((taken.loops, taken.loops_under_way, taken.runs, taken.under_way), (0, 1, 0, 2));
    assert!(taken.is_empty());
    // Its process ends.
    drop(store);
    let preview = |before_ms| home.reader().purge_preview(&older_than(before_ms), 9_000).unwrap();
    assert_eq!((preview(2_035).loops, preview(2_036).loops), (0, 1));
    let taken = home.store().purge(&older_than(2_036), "", 9_000).unwrap().taken;
    assert_eq!((taken.loops, taken.attempts, taken.runs), (1, 3, 2));
    let summary = home.reader().bounded_loop(told.loop_id).unwrap().unwrap().summary;
    assert_eq!((summary.fate, summary.goal.as_str()), (LoopFate::Interrupted, PURGED_TEXT));
    assert_eq!(home.verify().first_bad, None);
}

#[test]
fn large_contents_of_planners_go_by_size() {
    let home = Home::new();
    let told = old_loop(&mut home.store(), "wombat", 2_000, true);
    let rule = PurgeRule { larger_than: Some(9_000), ..PurgeRule::default() };
    let taken = home.store().purge(&rule, "", 9_000).unwrap().taken;
    // Of each attempt the request and what the planner looked at.
    assert_eq!((taken.contents >= 4, taken.loops, taken.attempts), (true, 0, 0), "{taken:?}");
    let found = home.reader().bounded_loop(told.loop_id).unwrap().unwrap();
    assert!(found.attempts.iter().all(|it| it.record.is_some() && it.purged.is_none()));
    assert_eq!(home.verify().first_bad, None);
}

/// A loop that was changed after it was written is not purged, so that this does not hide the change.
#[test]
fn a_changed_loop_is_not_purged() {
    let home = Home::new();
    old_loop(&mut home.store(), "wombat", 2_000, true);
    super::tampering::rewrite(&home, "loops", "UPDATE loops SET goal = 'another'");
    let error = home.store().purge(&older_than(9_000), "", 9_500).unwrap_err();
    assert!(matches!(error, EvidenceError::Changed { .. }), "{error}");
    assert!(home.verify().first_bad.unwrap().contains("of loops"));
}

/// The steps of a run that was purged as a whole are still known by their ids.
#[test]
fn a_step_of_a_purged_run_is_known() {
    let home = Home::new();
    let mut store = home.store();
    let steps = vec![write_step(0, "a", "one"), write_step(1, "a", "two")];
    let mut run = Running::begin(&mut store, plan(steps), 2_000);
    let run_id = run.run_id;
    let ids = ["one", "two"].map(|content| {
        let index = run.results.len();
        step(&mut run, index, content, 2_001)
    });
    run.end(&RunEnding::Completed);
    store.purge(&of_run(run_id), "asked for", 3_000).unwrap();
    let mut reader = home.reader();
    for id in ids {
        let (of, note) = reader.purge_of_step(id).unwrap().unwrap();
        assert_eq!((of, note.whole, note.reason.as_str()), (run_id, true, "asked for"));
    }
    // The bytes of two ids that stand beside each other are no third one.
    let [one, two] = ids.map(Uuid::into_bytes);
    let across = [&one[8..], &two[..8]].concat();
    let across = Uuid::from_slice(&across).unwrap();
    assert_eq!(reader.purge_of_step(across).unwrap(), None);
    assert_eq!(reader.purge_of_step(Uuid::new_v4()).unwrap(), None);
}

/// The copies of the database that migrations made are deleted after the purge, if the rule says so.
#[test]
fn old_backups_go_if_the_rule_says_so() {
    let home = Home::new();
    let mut store = home.store();
    let told = old_loop(&mut store, "wombat", 2_000, true);
    for name in ["execution_log.v4.bak", "execution_log.v5.1.bak"] {
        std::fs::write(home.evidence.join(name), "a wombat").unwrap();
    }
    let others = ["execution_log.v4.bak.txt", "my.bak"];
    for name in others {
        std::fs::write(home.evidence.join(name), "something else").unwrap();
    }
    let report = store.purge(&of_run(told.runs[0]), "", 9_000).unwrap();
    let listed = json!({ "execution_log.v4.bak": 8, "execution_log.v5.1.bak": 8 });
    assert_eq!(json!(report.taken.old_backups), listed);
    assert!(report.deleted_backups.is_empty());
    let copies = with_word(&home, "a wombat").into_iter().filter(|path| path.ends_with(".bak"));
    assert_eq!(copies.count(), 2);

    let rule = PurgeRule {
        bounded_loop: Some(told.loop_id),
        with_old_backups: true,
        ..PurgeRule::default()
    };
    let report = store.purge(&rule, "", 9_500).unwrap();
    assert_eq!(json!(report.deleted_backups), listed);
    assert!(report.kept_backups.is_empty());
    store.compact().unwrap();
    assert_eq!(with_word(&home, "wombat"), Vec::<String>::new());
    assert!(others.iter().all(|name| home.evidence.join(name).exists()));
    let rule = home.reader().purges().unwrap().pop().unwrap().rule;
    assert_eq!(rule["with_old_backups"], true, "it is recorded");

    // The copies alone can be deleted, and one that cannot be deleted is named.
    std::fs::create_dir(home.evidence.join("execution_log.v6.bak")).unwrap();
    std::fs::write(home.evidence.join("execution_log.v4.bak"), "more").unwrap();
    let rule = PurgeRule { with_old_backups: true, ..PurgeRule::default() };
    let report = store.purge(&rule, "", 9_600).unwrap();
    assert_eq!(report.deleted_backups.keys().collect::<Vec<_>>(), ["execution_log.v4.bak"]);
    assert_eq!(report.kept_backups.keys().collect::<Vec<_>>(), ["execution_log.v6.bak"]);
    assert!(report.purge_id.is_some() && report.taken.is_empty());
    assert_eq!(home.verify().first_bad, None);
}
