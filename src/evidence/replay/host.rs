//! Rebuilds the host that a recorded run reached from the results of its steps.

use serde_json::Value;
use uuid::Uuid;

use super::super::error::Result;
use super::super::queries::{self, full_content};
use super::super::source::Source;
use crate::authorization::Target;
use crate::run::Host;

/// The host of a run; `None` if no step recorded a result from a remote host.
pub(super) fn reached(source: &Source<'_>, run_id: Uuid) -> Result<Option<Host>> {
    let mut statement = source.conn.prepare_cached(
        "SELECT x.id, r.host_key FROM executions x JOIN runs r ON r.id = x.run_id
         WHERE x.run_id = ?1 AND x.host IS NOT NULL ORDER BY x.row",
    )?;
    let mut rows = statement.query([run_id.to_string()])?;
    while let Some(row) = rows.next()? {
        let execution: String = row.get(0)?;
        let approved: Option<String> = row.get(1)?;
        let artifacts = queries::artifacts(source, &execution)?;
        let Some(result) = artifacts.iter().find(|artifact| artifact.artifact_type == "result")
        else {
            continue;
        };
        if let Some(host) = host(&full_content(source, result)?, approved.as_deref()) {
            return Ok(Some(host));
        }
    }
    Ok(None)
}

/// The host in the result of a step, with the approved host keys; `None` if a field is missing.
fn host(result: &Value, approved: Option<&str>) -> Option<Host> {
    let host = result.get("host")?;
    let string =
        |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let text = |name: &str| string(host, name);
    let keys = approved.unwrap_or_default().split(", ").filter(|key| !key.is_empty());
    Some(Host {
        target: Target {
            destination: text("destination")?,
            user: text("user")?,
            host: text("host")?,
            port: host.get("port").and_then(Value::as_u64)?.try_into().ok()?,
            host_keys: keys.map(str::to_owned).collect(),
        },
        host_key: text("host_key")?,
        system: text("system")?,
        bash: string(result, "shell")?,
        bash_version: string(result, "shell_version")?,
        home: text("home")?,
        said: text("said")?,
    })
}
