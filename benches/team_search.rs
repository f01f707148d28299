//! Searches of a team's PostgreSQL database with 100,000 generated executions, by the program and by `psql` with the same
//! question in SQL: from the start of the process to its end.
//!
//! `support/generated.rs` describes the evidence.

#![allow(
    missing_docs,
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a bench that meets the unexpected should stop"
)]
#![allow(dead_code, reason = "each bench uses its part of the support")]

#[path = "support/generated.rs"]
mod generated;
#[cfg(target_os = "linux")]
#[path = "../tests/integration/harness/postgres.rs"]
mod postgres;
mod support;

use std::process::ExitCode;

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    println!("the server of this bench is started on Linux only");
    ExitCode::SUCCESS
}

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    use std::process::Stdio;
    use std::time::{Duration, Instant};

    use countersign::evidence::{EvidenceLocation, UserFolders};
    use support::{exit, holds, in_pairs, time};

    const AT_MOST: f64 = 1.5;
    const ROUNDS: usize = 7;

    let made = generated::Generated::large();
    let server = postgres::Postgres::start();
    let socket = |login: &str| {
        let (host, port) = (server.socket(), server.port());
        format!("postgres://{login}@/team%20evidence?host={host}&port={port}")
    };
    let writer = socket("writer").parse().expect("an address");
    let location = EvidenceLocation::new(made.evidence(), UserFolders::from(&*made.keys()));
    let begun = Instant::now();
    let report = countersign::team::push(&location, &writer, &mut |_, _, _| {}).expect("a push");
    println!("{} records pushed in {:.1?}", report.pushed, begun.elapsed());
    server.sql("VACUUM ANALYZE");

    let steps = "(SELECT origin, sequence, id, timestamp, run_id, tool_name, outcome FROM countersign.executions
                  UNION ALL
                  SELECT origin, sequence, id, timestamp, run_id, tool_name, 'interrupted' FROM countersign.intents AS i
                  WHERE NOT EXISTS (SELECT FROM countersign.executions AS x WHERE x.id = i.id AND x.origin = i.origin)) AS s";
    let has = |word: &str| {
        format!("EXISTS (SELECT FROM countersign.texts AS t WHERE t.origin = s.origin AND t.execution_id = s.id
                         AND t.words @@ to_tsquery('simple', '{word}'))")
    };
    let rare = generated::word_of_few();
    let searches = [
        ("everything", vec![], "true".to_owned(), String::new()),
        ("a common word", vec!["\"error\""], has("error"), "error".to_owned()),
        ("a rare word", vec![rare.as_str()], has(&format!("{rare}:*")), format!("{rare}:*")),
        (
            "two common words",
            vec!["error", "\"warning\""],
            format!("{} AND {}", has("error"), has("warning")),
            "error | warning".to_owned(),
        ),
        (
            "a tool and an outcome",
            vec!["--tool", "shell", "--outcome", "failed"],
            "tool_name = 'shell' AND outcome = 'failed'".to_owned(),
            String::new(),
        ),
    ];
    let program = std::env::var("COUNTERSIGN")
        .unwrap_or_else(|_| env!("CARGO_BIN_EXE_countersign").to_owned());
    let mut all_hold = true;
    for (name, line, condition, marked) in searches {
        let ours = || -> Duration {
            let mut command = std::process::Command::new(&program);
            command.args(["evidence", "search", "--json", "--team", &socket("reader")]).args(&line);
            command.stdout(Stdio::null()).stderr(Stdio::null());
            time(|| assert!(command.status().expect("the program").success()))
        };
        // The newest hits with their records; how many there are; and the texts around their words.
        let newest = format!(
            "SELECT * FROM {steps} WHERE {condition} ORDER BY timestamp DESC, origin DESC, sequence DESC LIMIT 201"
        );
        let page = format!(
            "SELECT s.*, l.entry, l.hash, p.hash, r.plan_id FROM ({newest}) AS s
             JOIN countersign.ledger AS l USING (origin, sequence)
             LEFT JOIN countersign.ledger AS p ON p.origin = s.origin AND p.sequence = s.sequence - 1
             LEFT JOIN countersign.runs AS r ON r.origin = s.origin AND r.id = s.run_id
             ORDER BY s.timestamp DESC, origin DESC, sequence DESC"
        );
        let count = format!(
            "SELECT count(*) FROM (SELECT FROM {steps} WHERE {condition} LIMIT 10001) AS counted"
        );
        let texts = format!(
            "SELECT t.execution_id, t.field, t.text FROM countersign.texts AS t
             WHERE t.execution_id = ANY (ARRAY(SELECT id FROM ({newest}) AS found))
               AND t.words @@ to_tsquery('simple', '{marked}')"
        );
        let theirs = || -> Duration {
            let mut command = server.client("reader");
            command.args(["--command", &page, "--command", &count]);
            if !marked.is_empty() {
                command.args(["--command", &texts]);
            }
            command.stdout(Stdio::null());
            time(|| assert!(command.status().expect("psql").success()))
        };
        let (ours, theirs) = in_pairs(ROUNDS, ours, theirs);
        all_hold &= holds(&format!("a search for {name} against psql"), AT_MOST, ours, theirs);
    }
    exit(all_hold)
}
