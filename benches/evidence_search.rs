//! The first page of searches over 100,000 generated executions against the same FTS5 expressions on a plain FTS5 table
//! of the same texts, and filling the index against inserting these texts into that table: all in processor time.
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

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use countersign::evidence::EvidenceReader;
use countersign::run::{SearchQuery, StopSignal};
use generated::{Generated, PAGE, first_page, searches, time};
use rusqlite::Connection;
use support::{exit, holds, in_pairs};

const AT_MOST: f64 = 1.5;
/// A page that takes no longer than [`AT_MOST`] times this is fast enough in any case.
const FAST: Duration = Duration::from_millis(20);
const ROUNDS: usize = 5;

fn main() -> ExitCode {
    let made = Generated::large();
    let evidence = made.evidence();
    let _ = std::fs::remove_file(evidence.join("search_index.db"));
    let mut reader = made.reader();
    let plain_file = made.folder().join("plain.db");
    let _ = std::fs::remove_file(&plain_file);
    let plain = Connection::open(&plain_file).expect("a database");
    let bare = fill(&plain, &evidence);
    let ours = time(|| reader.catch_up_index().expect("an index"));
    let bytes = |file: &Path| std::fs::metadata(file).map_or(0, |it| it.len()) >> 20;
    println!(
        "the index has {} MiB, the plain table {} MiB",
        bytes(&evidence.join("search_index.db")),
        bytes(&plain_file)
    );
    let what = "filling the index against a plain FTS5 insert of the same texts";
    let mut all_hold = holds(what, AT_MOST, vec![ours], vec![bare]);
    for (name, query, expression) in searches() {
        let page = || first_page(&mut reader, &query);
        let (ours, theirs) = in_pairs(ROUNDS, page, || plain_page(&plain, &expression));
        let hits = reader.search(&SearchQuery { limit: 1, ..query.clone() }).expect("hits");
        let theirs_or_fast = theirs.iter().map(|it| (*it).max(FAST)).collect();
        println!("{name}: {} hits, plain {:.1?}", hits.counts.total, theirs);
        all_hold &= holds(&format!("  first page of {name}"), AT_MOST, ours, theirs_or_fast);
    }
    all_hold &= deep_page(&mut reader);
    let (ours, theirs) = in_pairs(
        3,
        || count(&mut reader, "the"),
        || {
            time(|| {
                plain
                    .query_row("SELECT count(*) FROM plain WHERE plain MATCH 'the'", [], |row| {
                        row.get::<_, i64>(0)
                    })
                    .expect("a count")
            })
        },
    );
    println!("counting a common word with all facets: {ours:.1?}, its rows alone {theirs:.1?}");
    exit(all_hold)
}

fn plain_page(plain: &Connection, expression: &str) -> Duration {
    let matching = if expression.is_empty() { "?1 IS NOT NULL" } else { "plain MATCH ?1" };
    let sql = format!("SELECT rowid FROM plain WHERE {matching} ORDER BY rowid DESC LIMIT {PAGE}");
    time(|| {
        let mut statement = plain.prepare_cached(&sql).expect("a statement");
        let rows = statement.query_map([expression], |row| row.get::<_, i64>(0)).expect("rows");
        rows.map(|row| row.expect("a row")).max()
    })
}

fn count(reader: &mut EvidenceReader, word: &str) -> Duration {
    let query = SearchQuery { words: format!("\"{word}\""), ..SearchQuery::default() };
    time(|| reader.count_hits(&query, &StopSignal::default()).expect("counts"))
}

/// The 50th page of a common word against the first.
fn deep_page(reader: &mut EvidenceReader) -> bool {
    let query = SearchQuery { words: "\"error\"".into(), limit: PAGE, ..SearchQuery::default() };
    let (now, stop) = (Duration::ZERO, StopSignal::default());
    let mut after = None;
    let mut read = |after| {
        let query = SearchQuery { after, ..query.clone() };
        reader.search_within(&query, now, now, &stop).expect("a page").expect("no stop").next
    };
    let second = read(None);
    for _ in 1..50 {
        after = read(after);
    }
    let read = std::cell::RefCell::new(read);
    let (deep, early) = in_pairs(
        ROUNDS,
        || time(|| read.borrow_mut()(after)),
        || time(|| read.borrow_mut()(second)),
    );
    let early = early.into_iter().map(|it| it.max(FAST)).collect();
    holds("the 51st page of a common word against the second", AT_MOST, deep, early)
}

/// Fills the plain table with the texts of all executions and one word for each fact. Returns the time of the inserts.
fn fill(plain: &Connection, evidence: &Path) -> Duration {
    plain
        .execute_batch(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536;
             CREATE VIRTUAL TABLE plain USING
             fts5(text, content = '', tokenize = 'unicode61 remove_diacritics 2');",
        )
        .expect("a table");
    let rows = Connection::open(evidence.join("execution_log.db")).expect("the evidence");
    let mut statement = rows
        .prepare(
            "SELECT x.tool_name || ' ' || x.arguments_json || ' ' || coalesce(x.error_message, '') || ' ' ||
                 (SELECT group_concat(a.content_json, ' ') FROM execution_artifacts AS a
                  WHERE a.execution_id = x.id),
                 x.tool_name, x.outcome, x.risk_level, x.host, r.plan_id, x.run_id, u.method,
                 (SELECT group_concat(d.code, ' ') FROM diagnostics AS d WHERE d.execution_id = x.id),
                 json_extract(x.arguments_json, '$.path')
             FROM executions AS x JOIN runs AS r ON r.id = x.run_id
             JOIN authorizations AS u ON u.id = r.authorization_id ORDER BY x.row",
        )
        .expect("a statement");
    let mut found = statement.query([]).expect("rows");
    let mut took = Duration::ZERO;
    let (mut rowid, mut texts) = (0_i64, Vec::new());
    plain.execute_batch("BEGIN").expect("a transaction");
    loop {
        let row = found.next().expect("a row");
        if let Some(row) = row {
            let text =
                |n: usize| row.get::<_, Option<String>>(n).expect("a text").unwrap_or_default();
            let word = |kind: &str, value: &str| {
                let value: String = value.chars().filter(char::is_ascii_alphanumeric).collect();
                format!(" x{kind}{value}")
            };
            let mut all = format!("{} xany", text(0));
            for (n, kind) in
                ["tool", "outcome", "risk", "host", "plan", "run", "method"].into_iter().enumerate()
            {
                all += &word(kind, &text(n + 1));
            }
            text(8).split(' ').for_each(|code| all += &word("code", code));
            let path = text(9);
            let words: Vec<_> = path.split(|c: char| !c.is_alphanumeric()).collect();
            all += &format!(" p{}", words.join(" p"));
            if text(1) == "file_write" && text(2) == "succeeded" {
                all += &format!(" xwrote q{}", words.join(" q"));
            }
            rowid += 1;
            texts.push((rowid, all));
        } else if texts.is_empty() {
            break;
        }
        if texts.len() == 2_000 || row.is_none() {
            took += time(|| {
                let mut insert = plain
                    .prepare_cached("INSERT INTO plain (rowid, text) VALUES (?1, ?2)")
                    .expect("a statement");
                for (rowid, text) in texts.drain(..) {
                    insert.execute((rowid, text)).expect("an insert");
                }
            });
        }
    }
    took += time(|| plain.execute_batch("COMMIT").expect("committed"));
    took
}
