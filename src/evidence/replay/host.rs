//! Rebuilds the host that a recorded run reached from the results of its steps.

use uuid::Uuid;

use super::super::error::Result;
use super::super::queries;
use super::super::queries::full_content;
use super::super::source::Source;
use super::super::write_run::split_host_keys;
use crate::run::Host;

/// The host of a run; `None` if no step recorded a result from a remote host.
pub(super) fn reached(source: &Source<'_>, run_id: Uuid) -> Result<Option<Host>> {
    let sql = "SELECT x.id, r.host_key FROM executions x JOIN runs r ON r.id = x.run_id
         WHERE x.run_id = ?1 AND x.host IS NOT NULL ORDER BY x.row";
    let on_host: Vec<(String, Option<String>)> =
        source.all(sql, [run_id.to_string()], |row| Ok(row.try_into()?))?;
    for (execution, approved) in on_host {
        let artifacts = queries::artifacts(source, &execution)?;
        let Some(result) = artifacts.iter().find(|artifact| artifact.artifact_type == "result")
        else {
            continue;
        };
        let host_keys = split_host_keys(approved.as_deref().unwrap_or_default());
        if let Some(host) = Host::from_result(&full_content(source, result)?, host_keys) {
            return Ok(Some(host));
        }
    }
    Ok(None)
}
