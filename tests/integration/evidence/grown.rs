//! Generated evidence of any size: what searches, pages, counts and a purge of half of it say agrees with the rows.
//!
//! The variable `EVIDENCE_EXECUTIONS` sets the number of executions; `test.sh --long` sets a million.

use std::collections::HashSet;
use std::time::Duration;

use countersign::evidence::{EvidenceReader, EvidenceStore};
use countersign::run::{SearchCounts, SearchQuery, StopSignal};
use rusqlite::Connection;

use super::generate;
use crate::harness::home::Home;

const FEWEST: usize = 2_000;

#[test]
fn searches_and_a_purge_of_half_agree_with_the_rows() {
    let number = std::env::var("EVIDENCE_EXECUTIONS").map_or(FEWEST, |it| it.parse().unwrap());
    let home = Home::new();
    let keys = home.path().join(".config/countersign");
    let mut store = EvidenceStore::open(&home.evidence(), &*keys).unwrap();
    generate::generate(&mut store, number, 7, |_| {});
    drop(store);

    let mut reader = EvidenceReader::open(&home.evidence(), &*keys).unwrap();
    assert_eq!(check_searches(&home.sql(), &mut reader), number as u64);
    drop(reader);
    let before = home.json(["evidence", "verify"]).exits(0).document();
    let bytes = || std::fs::metadata(home.database()).unwrap().len();
    let bytes_before = bytes();

    let half = "SELECT timestamp FROM executions ORDER BY timestamp LIMIT 1 OFFSET ?1";
    let half: i64 = home.sql().query_row(half, [number as i64 / 2], |row| row.get(0)).unwrap();
    let time = home.sql().query_row(
        "SELECT strftime('%Y-%m-%dT%H:%M:%SZ', ?1 / 1000, 'unixepoch')",
        [half],
        |row| row.get::<_, String>(0),
    );
    let purge = ["evidence", "purge", "--older-than", &time.unwrap(), "--yes", "--reason", "old"];
    let done = home.json(purge).exits(0).document();
    let steps = done["steps"].as_u64().unwrap();
    assert!(steps.abs_diff(number as u64 / 2) < number as u64 / 20, "{done}");

    let after = home.json(["evidence", "verify"]).exits(0).document();
    assert_eq!(after["purged"], done["rows"]);
    assert!(after["rows"].as_u64() > before["rows"].as_u64(), "the links stay");
    let freed = bytes_before - bytes();
    println!("{number} executions: {steps} purged, {freed} of {bytes_before} bytes given back");
    assert!(freed > done["bytes"].as_u64().unwrap() * 4 / 5, "{freed}: {done}");
    let mut reader = EvidenceReader::open(&home.evidence(), &*keys).unwrap();
    // Filled in many commits, as large evidence is: the purge is at its end, and must not make each of them begin anew.
    let (stop, mut rounds) = (StopSignal::default(), 0);
    while reader.catch_up_index_within(Duration::ZERO, &stop, &mut |_, _| {}).unwrap() > 0 {
        rounds += 1;
        assert!(rounds < number);
    }
    assert!(rounds > 0);
    assert_eq!(check_searches(&home.sql(), &mut reader), number as u64 - steps);
}

/// Compares each search with a query of the rows, and its pages with its count. Returns the number of all executions.
fn check_searches(rows: &Connection, reader: &mut EvidenceReader) -> u64 {
    let all = SearchQuery::default;
    let text = |text: &str| Some(text.to_owned());
    let middle = "SELECT (min(timestamp) + max(timestamp)) / 2 FROM executions";
    let middle: i64 = rows.query_row(middle, [], |row| row.get(0)).unwrap();
    let searches = [
        (all(), "true".to_owned()),
        (SearchQuery { outcome: text("failed"), ..all() }, "outcome = 'failed'".to_owned()),
        (SearchQuery { tool: text("shell"), ..all() }, "tool_name = 'shell'".to_owned()),
        (SearchQuery { risk: text("dangerous"), ..all() }, "risk_level = 'dangerous'".to_owned()),
        (SearchQuery { host: text("db.internal"), ..all() }, "host = 'db.internal'".to_owned()),
        (
            SearchQuery { plan_id: text("plan-7"), ..all() },
            "run_id IN (SELECT id FROM runs WHERE plan_id = 'plan-7')".to_owned(),
        ),
        (
            SearchQuery { code: text("E0308"), ..all() },
            "id IN (SELECT execution_id FROM diagnostics WHERE code = 'E0308')".to_owned(),
        ),
        (
            SearchQuery { wrote: text("*"), ..all() },
            "id IN (SELECT execution_id FROM edges WHERE edge_type = 'AFFECTED')".to_owned(),
        ),
        (
            SearchQuery { since_ms: Some(middle), tool: text("file_read"), ..all() },
            format!("timestamp >= {middle} AND tool_name = 'file_read'"),
        ),
        (
            SearchQuery { until_ms: Some(middle), outcome: text("skipped"), ..all() },
            format!("timestamp <= {middle} AND outcome = 'skipped'"),
        ),
    ];
    let mut numbers = Vec::new();
    for (query, condition) in searches {
        let sql = format!("SELECT count(*) FROM executions WHERE {condition}");
        let expected: i64 = rows.query_row(&sql, [], |row| row.get(0)).unwrap();
        let counted = counts(reader, &query).total;
        assert_eq!(counted, expected.unsigned_abs(), "{condition}");
        numbers.push(counted);
    }
    // A word, its beginning, and everything without it.
    let words = |words: &str| SearchQuery { words: words.into(), ..all() };
    let with = counts(reader, &words("\"error\"")).total;
    let without = counts(reader, &words("-error")).total;
    assert_eq!((with > 0, with + without), (true, numbers[0]));
    assert!(counts(reader, &words("erro")).total >= with);
    pages(reader, &words("\"error\" -warning"));
    pages(reader, &SearchQuery { outcome: text("failed"), ..all() });
    let facets = counts(reader, &all()).facets;
    for (code, number) in facets.code.into_iter().take(3) {
        let query = SearchQuery { code: Some(code), ..all() };
        assert_eq!(counts(reader, &query).total, number, "{query:?}");
    }
    let touched = "SELECT count(DISTINCT execution_id) FROM edges
                   WHERE target_kind = 'file' AND target = ?1";
    for (path, number) in facets.path.into_iter().take(3) {
        let expected: i64 = rows.query_row(touched, [&path], |row| row.get(0)).unwrap();
        assert_eq!(number, expected.unsigned_abs(), "{path}");
    }
    numbers[0]
}

fn counts(reader: &mut EvidenceReader, query: &SearchQuery) -> SearchCounts {
    let page = reader.search(&SearchQuery { limit: 1, ..query.clone() }).unwrap();
    let counted = reader.count_hits(query, &StopSignal::default()).unwrap().unwrap();
    assert_eq!(page.counts, counted);
    let by_outcome: u64 = counted.facets.outcome.iter().map(|(_, number)| number).sum();
    let over_time: u64 = counted.timeline.iter().map(|bar| bar.fine + bar.bad).sum();
    assert_eq!((by_outcome, over_time), (counted.total, counted.total));
    counted
}

/// The pages have every hit once, newest first.
fn pages(reader: &mut EvidenceReader, query: &SearchQuery) {
    let total = reader.search(query).unwrap().counts.total;
    let (mut seen, mut last, mut after) = (HashSet::new(), i64::MAX, None);
    loop {
        let page = reader.search(&SearchQuery { limit: 1_000, after, ..query.clone() }).unwrap();
        for hit in &page.hits {
            let row = &hit.listed.row;
            assert!(seen.insert(row.execution_id) && row.timestamp_ms <= last);
            last = row.timestamp_ms;
        }
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(seen.len() as u64, total, "{query:?}");
}
