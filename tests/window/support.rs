//! Helpers of several tests: authorizing a plan, reading the evidence, and unwrapping an [`Outcome`].

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::harness::Desktop;
use super::screen::Outcome;

/// The value of an outcome. An error fails the test.
#[track_caller]
pub fn passes<T>(outcome: Outcome<T>) -> T {
    outcome.unwrap_or_else(|error| panic!("{error}"))
}

/// Authorizes the plan by mouse; nothing runs yet.
pub fn authorize(desktop: &mut Desktop) -> Outcome {
    desktop.look_at_steps()?;
    desktop.click("Authorize…")?;
    desktop.click("Authorize")?;
    desktop.wait_for_control("Run")
}

/// Authorizes the call of an agent by mouse, which then runs it.
pub fn authorize_call(desktop: &mut Desktop) -> Outcome {
    desktop.look_at_steps()?;
    desktop.click("Authorize…")?;
    desktop.click("Authorize")?;
    desktop.wait_until_gone("Authorize…")
}

/// Authorizes the plan by the keyboard, and runs it.
pub fn sign(desktop: &mut Desktop) -> Outcome {
    desktop.look_at_steps()?;
    desktop.key("ctrl+Return")?;
    desktop.press("Authorize")?;
    desktop.wait_for_control("Run")?;
    desktop.key("F5")
}

/// Types the word that approves a dangerous step. Its field has the keyboard, and takes text once answers count.
pub fn type_word(desktop: &mut Desktop, word: &str) -> Outcome {
    desktop.wait_until("the field for the word has the keyboard", |desktop| {
        let tree = desktop.tree()?;
        let label = format!(", type “{word}”");
        let focused = tree.focused.as_deref().is_some_and(|name| name.ends_with(&label));
        let counts = tree.control("Deny and stop").is_some_and(|button| !button.disabled);
        Ok((focused && counts).then_some(()))
    })?;
    desktop.type_text(word)
}

/// The rows of a query of the evidence.
pub fn read<T>(
    evidence: &Path,
    sql: &str,
    row: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
) -> Vec<T> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the database is read past the program, as anyone could"
    )]
    let database = Connection::open_with_flags(
        evidence.join("execution_log.db"),
        OpenFlags::SQLITE_OPEN_READ_ONLY,
    )
    .expect("the evidence database");
    let mut statement = database.prepare(sql).expect("a statement");
    let rows = statement.query_map([], row).expect("a query");
    rows.collect::<Result<_, _>>().expect("rows")
}

/// One recorded execution.
#[derive(Debug, PartialEq, Eq)]
pub struct Recorded {
    pub tool: String,
    pub success: bool,
    pub outcome: String,
}

/// The recorded executions, in order.
pub fn recorded(evidence: &Path) -> Vec<Recorded> {
    let sql = "SELECT tool_name, success, outcome FROM executions ORDER BY timestamp, rowid";
    read(evidence, sql, |row| {
        Ok(Recorded { tool: row.get(0)?, success: row.get(1)?, outcome: row.get(2)? })
    })
}
