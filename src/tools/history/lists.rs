//! Lists recorded changes and checkpoints, the newest first.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use uuid::Uuid;

use crate::run::{Checkpoint, CheckpointName, History};

use crate::tools::CallResult;
use crate::tools::changes::changed_file;

/// The result of `list_entries`: the recorded changes.
pub(super) fn entries(history: &History, limit: usize) -> CallResult {
    let standing = history.in_effect();
    let mut undone_by: BTreeMap<Uuid, Uuid> = BTreeMap::new();
    for (entry, _) in history.entries.iter().zip(&standing).filter(|(_, stands)| **stands) {
        undone_by.extend(entry.reverses.iter().map(|undone| (*undone, entry.execution_id)));
    }
    let newest = history.entries.iter().zip(&standing).rev().take(limit);
    let mut text = String::new();
    let list: Vec<Value> = newest
        .map(|(entry, stands)| {
            let state = match (stands, entry.is_recorded) {
                (_, false) => "  (interrupted)",
                (false, true) => "  (undone)",
                (true, true) => "",
            };
            let name = CheckpointName::Execution(entry.execution_id);
            text.push_str(&format!("{name}  {} {}{state}\n", entry.tool_name, entry.about));
            let files = entry.files.iter();
            let files = files.map(|file| changed_file(&file.path, file.before, file.after));
            json!({
                "checkpoint": name.to_string(),
                "execution_id": entry.execution_id,
                "run_id": entry.run_id,
                "loop": entry.attempt.map(|attempt| CheckpointName::Attempt(attempt).to_string()),
                "step_id": entry.step_id,
                "tool": entry.tool_name,
                "about": entry.about,
                "timestamp_ms": entry.timestamp_ms,
                "files": files.collect::<Value>(),
                "undone": !stands,
                "undone_by": undone_by.get(&entry.execution_id),
                "took_back": entry.reverses,
                "interrupted": !entry.is_recorded,
            })
        })
        .collect();
    list_result("list_entries", "entries", list, history.entries.len(), text)
}

/// The result of `list_checkpoints`: the moments before the runs and attempts that changed files.
pub(super) fn checkpoints(history: &History, limit: usize) -> CallResult {
    let changed = |checkpoint: &&Checkpoint| {
        history.entries.iter().any(|entry| entry.is_part_of(&checkpoint.name))
    };
    let all: Vec<&Checkpoint> = history.checkpoints.iter().filter(changed).collect();
    let mut text = String::new();
    let list = all
        .iter()
        .rev()
        .take(limit)
        .map(|checkpoint| {
            let Checkpoint { name, timestamp_ms, title, .. } = checkpoint;
            text.push_str(&format!("{name}  before {title}\n"));
            json!({ "checkpoint": name.to_string(), "timestamp_ms": timestamp_ms, "before": title })
        })
        .collect();
    list_result("list_checkpoints", "checkpoints", list, all.len(), text)
}

fn list_result(
    operation: &str,
    name: &str,
    list: Vec<Value>,
    total: usize,
    text: String,
) -> CallResult {
    let result = json!({ "operation": operation, name: list, "total": total });
    CallResult { stdout: Some(text.into_bytes()), result, ..CallResult::default() }
}
