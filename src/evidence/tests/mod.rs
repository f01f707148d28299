//! Tests of the evidence through its public functions.

mod checkpoints;
mod contents;
pub(super) mod fixture;
mod formats;
mod hostile;
mod looking_back;
mod power_cut;
mod purge_histories;
mod purged_loops;
mod reading;
mod retention;
mod revised;
mod search_model;
mod second_program;
mod secrets;
mod streaming;
mod summary;
mod tampering;
#[cfg(target_os = "linux")]
mod writing;

/// Removes an index from a database, as another program could.
pub(crate) fn drop_index(location: &super::EvidenceLocation) {
    let [database, _] = location.database_files();
    let conn = rusqlite::Connection::open(database).unwrap();
    conn.execute_batch("DROP INDEX executions_by_tool").unwrap();
}
