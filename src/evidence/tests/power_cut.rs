//! What a power cut takes: the part of the log that was not flushed.

use std::fs;

use super::fixture::*;
use crate::run::*;

const LOG: &str = "execution_log.db-wal";

fn log_length(home: &Home) -> u64 {
    fs::metadata(home.evidence.join(LOG)).unwrap().len()
}

/// The ids of the intents and of the executions after a power cut that left this many bytes of the log. The chain must
/// verify, and the evidence must still be writable.
fn left_after(home: &Home, length: u64) -> [Vec<String>; 2] {
    let after = Home::with_key_of(home);
    fs::create_dir(&after.evidence).unwrap();
    for name in ["execution_log.db", LOG] {
        fs::copy(home.evidence.join(name), after.evidence.join(name)).unwrap();
    }
    fs::File::options()
        .write(true)
        .open(after.evidence.join(LOG))
        .unwrap()
        .set_len(length)
        .unwrap();
    let report = after.verify();
    assert!(report.ok, "{report:?}");
    let conn = after.raw();
    let ids = |table: &str| -> Vec<String> {
        let mut query = conn.prepare(&format!("SELECT id FROM {table} ORDER BY row")).unwrap();
        query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    [ids("intents"), ids("executions")]
}

/// Each length is that of the log after the commit that is named, which is all that a power cut leaves if no later byte
/// had reached the disk.
#[test]
fn a_power_cut_takes_looks_at_the_end_and_leaves_every_intent() {
    let home = Home::new();
    let mut store = home.store();
    let steps = vec![
        read_step(0, "a.txt"),
        write_step(1, "b.txt", "b"),
        write_step(2, "c.txt", "c"),
        read_step(3, "b.txt"),
    ];
    let mut run = Running::begin(&mut store, plan(steps), 1_000);
    let begun = log_length(&home);
    let results: Vec<_> = run
        .plan
        .steps
        .iter()
        .zip(1_001..)
        .map(|(step, at)| result_of(step, Outcome::Succeeded, at))
        .collect();
    let id = |index: usize| results[index].execution_id.to_string();
    let ids = |indices: &[usize]| indices.iter().map(|index| id(*index)).collect::<Vec<_>>();
    run.record(results[0].clone(), Extra::default());
    run.intend(&results[1], &[effect("b.txt", None, Some(b"b"))]);
    let first = log_length(&home);
    run.record(results[1].clone(), Extra::default());
    run.intend(&results[2], &[effect("c.txt", None, Some(b"c"))]);
    let second = log_length(&home);
    run.record(results[2].clone(), Extra::default());
    // As before a step without an intent.
    run.store.flush().unwrap();
    let flushed = log_length(&home);
    run.record(results[3].clone(), Extra::default());
    let all = log_length(&home);

    assert_eq!(left_after(&home, begun), [ids(&[]), ids(&[])]);
    assert_eq!(left_after(&home, first), [ids(&[1]), ids(&[0])], "the intent brings the look");
    assert_eq!(left_after(&home, second), [ids(&[1, 2]), ids(&[0, 1])]);
    assert_eq!(left_after(&home, flushed), [ids(&[1, 2]), ids(&[0, 1, 2])]);
    assert_eq!(left_after(&home, all), [ids(&[1, 2]), ids(&[0, 1, 2, 3])]);
    // A commit that was written in part is none.
    assert_eq!(left_after(&home, all - 1), left_after(&home, flushed));
}
