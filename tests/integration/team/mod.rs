//! Evidence of a team in a real PostgreSQL server (SPEC §14).
//!
//! The variable `EVIDENCE_EXECUTIONS` sets the number of executions of each origin.

mod hostile;
mod login;
mod neighbours;
mod push;
mod search;
mod waiting;

use std::path::PathBuf;

use countersign::evidence::EvidenceStore;
use serde_json::Value;

use crate::evidence::generate;
use crate::harness::home::{Done, Home};
use crate::harness::postgres::{PASSWORD, Postgres};
use crate::harness::schemas;

/// The number of executions of each origin.
fn executions() -> usize {
    std::env::var("EVIDENCE_EXECUTIONS").map_or(300, |it| it.parse().unwrap())
}

fn keys(home: &Home) -> PathBuf {
    home.path().join(".config/countersign")
}

/// Adds executions to the evidence of a home.
fn add_executions(home: &Home, number: usize, seed: u64) {
    let mut store = EvidenceStore::open(&home.evidence(), &*keys(home)).unwrap();
    generate::generate(&mut store, number, seed, |_| {});
}

/// A home with this many executions.
fn origin(number: usize, seed: u64) -> Home {
    let home = Home::new();
    add_executions(&home, number, seed);
    home
}

/// Pushes the evidence of a home. Returns the document.
fn push(postgres: &Postgres, home: &Home) -> Value {
    with_password(home, &["evidence", "push", &postgres.url("writer", "")]).exits(0).document()
}

/// The number of records of a home.
fn records(home: &Home) -> u64 {
    home.sql().query_row("SELECT max(seq) FROM ledger", [], |row| row.get::<_, i64>(0)).unwrap()
        as u64
}

/// The name of the evidence of a home.
fn name(home: &Home) -> String {
    let sql = "SELECT 'countersign/evidence/' || id FROM database_ids";
    home.sql().query_row(sql, [], |row| row.get(0)).unwrap()
}

/// Runs the program with the password of the team's logins in its environment, and `--json`.
fn with_password(home: &Home, arguments: &[&str]) -> Done {
    let mut command = home.command();
    command.env("PGPASSWORD", PASSWORD).args(arguments).arg("--evidence").arg(home.evidence());
    let done = Done::of(command.arg("--json"));
    assert!(!format!("{done:?}").contains(PASSWORD), "{done:#?}");
    schemas::check(arguments, &done);
    done
}
