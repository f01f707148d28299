//! What many records cost: the first page of each search and the append of a run in large evidence against evidence of
//! 10,000 executions, and the verification of the large one against hashing the same rows alone; all in processor time.
//!
//! `support/generated.rs` describes the evidence.

#![allow(
    missing_docs,
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a bench that meets the unexpected should stop"
)]
#![allow(dead_code, reason = "each bench uses its part of the support")]

#[path = "support/generated.rs"]
mod generated;
mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use countersign::evidence::verify;
use countersign::plan::{Digest, Plan};
use generated::{Generated, first_page, searches, time};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Statement};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use support::{Bench, exit, holds, in_pairs, plan};

const SMALL: usize = 10_000;
const ROUNDS: usize = 5;
/// The rows whose texts are in memory at a time.
const ROWS: i64 = 200_000;

fn main() -> ExitCode {
    let (large, small) = (Generated::large(), Generated::of(SMALL));
    let mut all_hold = all_searches(&large, &small);
    all_hold &= append(&large, &small);
    all_hold &= verification(&large.evidence());
    exit(all_hold)
}

fn all_searches(large: &Generated, small: &Generated) -> bool {
    let (mut of_large, mut of_small) = (large.reader(), small.reader());
    of_large.catch_up_index().expect("an index");
    of_small.catch_up_index().expect("an index");
    let mut all_hold = true;
    for (name, query, _) in searches() {
        let (many, few) = in_pairs(
            ROUNDS,
            || first_page(&mut of_large, &query),
            || first_page(&mut of_small, &query),
        );
        all_hold &= holds(&format!("first page of {name}, large against small"), 3.0, many, few);
    }
    all_hold
}

/// A recorded run of 20 steps that write and read.
fn append(large: &Generated, small: &Generated) -> bool {
    let step = |n: usize| match n % 2 {
        0 => {
            json!({"tool": "file_write", "arguments": {"path": format!("{n}.txt"), "contents": "a line of text\n"}})
        }
        _ => json!({"tool": "file_read", "arguments": {"path": format!("{}.txt", n - 1)}}),
    };
    let plan: Plan = plan((0..20).map(step).collect());
    let mut large = Bench::at(large.folder().to_owned());
    let mut small = Bench::at(small.folder().to_owned());
    let (ours, theirs) = in_pairs(31, || time(|| large.run(&plan)), || time(|| small.run(&plan)));
    holds("a run of 20 steps, large evidence against small", 1.2, ours, theirs)
}

/// The rows are written as text here anew, so the head of the chain also shows that both write the same.
fn verification(evidence: &Path) -> bool {
    let conn = Connection::open(evidence.join("execution_log.db")).expect("the evidence");
    let sql = "SELECT seq, table_name FROM ledger WHERE seq > ?1 AND seq <= ?2 ORDER BY seq";
    let mut links = conn.prepare(sql).expect("a statement");
    let (mut head, mut hashing, mut bytes, mut from) = ([0; 32], Duration::ZERO, 0, 0);
    loop {
        let rows = links.query_map([from, from + ROWS], |row| <(i64, String)>::try_from(row));
        let rows: Vec<_> = rows.expect("rows").map(|row| row.expect("a link")).collect();
        if rows.is_empty() {
            break;
        }
        let texts: Vec<_> = rows.iter().map(|(seq, table)| entry(&conn, table, *seq)).collect();
        bytes += texts.iter().map(String::len).sum::<usize>();
        hashing += time(|| {
            for text in &texts {
                let mut hash = Sha256::new();
                hash.update(head);
                hash.update(text.as_bytes());
                head = hash.finalize().into();
            }
        });
        from += ROWS;
    }
    let mut report = None;
    let verifying = time(|| report = Some(verify(evidence, None).expect("a report")));
    let report = report.expect("a report");
    assert_eq!((report.first_bad, report.head), (None, Digest::from_bytes(head)));
    let integrity = time(|| {
        conn.query_row("PRAGMA integrity_check(1)", [], |row| row.get::<_, String>(0))
            .expect("a check")
    });
    println!(
        "{} rows of {} MiB; SQLite's integrity check takes {integrity:.1?} of it",
        report.rows,
        bytes >> 20
    );
    holds("the verification against hashing the same rows", 1.5, vec![verifying], vec![hashing])
}

/// The canonical text of a row.
fn entry(conn: &Connection, table: &str, seq: i64) -> String {
    let sql = format!("SELECT * FROM {table} WHERE rowid = ?1");
    let mut statement = conn.prepare_cached(&sql).expect("a table");
    let names = columns(&statement);
    let columns = statement.query_row([seq], |row| {
        let mut columns = BTreeMap::new();
        for (n, name) in names.iter().enumerate() {
            let value = match row.get_ref(n)? {
                ValueRef::Integer(number) => json!(number),
                ValueRef::Text(_) => json!(row.get::<_, String>(n)?),
                ValueRef::Blob(bytes) => json!({"sha256": Digest::of(bytes).hex()}),
                ValueRef::Null | ValueRef::Real(_) => continue,
            };
            columns.insert(name.as_str(), value);
        }
        Ok(columns)
    });
    let columns: BTreeMap<&str, Value> = columns.expect("a row");
    json!({"columns": columns, "table": table}).to_string()
}

fn columns(statement: &Statement<'_>) -> Vec<String> {
    statement.column_names().map(str::to_owned).collect()
}
