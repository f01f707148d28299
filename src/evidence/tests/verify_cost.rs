//! What a verification costs, measured when asked for.

use std::time::{Duration, Instant};

use super::super::ledger;
use crate::evidence::verify;

/// The time that this thread has used of a processor.
fn used() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(text.split(' ').next().unwrap().parse().unwrap())
}

/// Compares the verification of the evidence in the folder `EVIDENCE` with hashing the same rows alone, whose text is in
/// memory already.
#[test]
#[ignore = "measures the evidence in the folder EVIDENCE"]
fn a_verification_costs_little_more_than_hashing() {
    let folder = std::path::PathBuf::from(std::env::var("EVIDENCE").unwrap());
    let conn = rusqlite::Connection::open(folder.join("execution_log.db")).unwrap();
    let mut links = conn.prepare("SELECT seq, table_name FROM ledger ORDER BY seq").unwrap();
    let links: Vec<(i64, String)> =
        links.query_map([], |row| row.try_into()).unwrap().collect::<Result<_, _>>().unwrap();
    let mut entries = Vec::new();
    for (seq, table) in &links {
        let sql = format!("SELECT * FROM {table} WHERE rowid = ?1");
        let mut reader = conn.prepare_cached(&sql).unwrap();
        entries.extend(ledger::entry_of(&mut reader, table, *seq).unwrap());
    }
    let bytes: usize = entries.iter().map(String::len).sum();
    let began = used();
    let mut head = ledger::GENESIS;
    for entry in &entries {
        head = ledger::link(&head, entry);
    }
    let hashing = used() - began;
    let (began, at) = (used(), Instant::now());
    let report = verify(&folder, None).unwrap();
    let (verifying, took) = (used() - began, at.elapsed());
    assert_eq!(report.first_bad, None);
    let check = "PRAGMA integrity_check(1)";
    let began = used();
    conn.query_row(check, [], |_| Ok(())).unwrap();
    let integrity = used() - began;
    println!(
        "{} rows, {bytes} bytes: hashing {hashing:?}, verification {verifying:?} ({took:?} by the clock), of which \
         the integrity check {integrity:?}; {:.2} times, without the check {:.2} times",
        report.rows,
        verifying.as_secs_f64() / hashing.as_secs_f64(),
        verifying.saturating_sub(integrity).as_secs_f64() / hashing.as_secs_f64()
    );
}
