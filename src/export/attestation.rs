//! Attestations of a run (SPEC §14): statements of in-toto about its plan and the files that it wrote, as envelopes (DSSE)
//! that this user's key has signed. Everything in them is taken from records, each named with its number and its link.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use uuid::Uuid;

use super::proof::{sound, tree};
use super::time::rfc3339;
use super::{ExportError, Result};
use crate::evidence::{EvidenceReader, LedgerRecord, RecordsOf};
use crate::proof::{SignedCheckpoint, SigningKey, envelope};
use crate::run::RunFate;

const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";
const STATEMENT_TYPE: &str = "https://in-toto.io/Statement/v1";
const RUN_TYPE: &str = "urn:countersign:attestation:run:1";
const TEST_RESULT_TYPE: &str = "https://in-toto.io/attestation/test-result/v0.1";
/// The tool whose executions verify the workspace.
const VERIFY_TOOL: &str = "verify";

/// What an attestation says of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Predicate {
    /// How it was approved and what it did.
    Run,
    /// Whether its verifications passed.
    TestResult,
}

/// The signed envelope with the statement about a run.
///
/// # Errors
/// When there is no such run, it is under way, a record of it was changed, or it is later than the checkpoint; when the
/// checkpoint is not one of this evidence; when a result of tests is wanted and the
/// run has none; when the evidence cannot be read.
pub fn attestation(
    reader: &mut EvidenceReader,
    run_id: Uuid,
    predicate: Predicate,
    checkpoint: &SignedCheckpoint,
    key: &SigningKey,
) -> Result<Value> {
    reader.lock_secrets();
    let size = checkpoint.checkpoint.size;
    let (records, fate) = reader.in_snapshot(|reader| {
        let run = reader.run(run_id)?.ok_or(ExportError::NoRun(run_id))?;
        // That the checkpoint is one of this evidence.
        tree(reader, &[], checkpoint, None)?;
        let mut records = Records::default();
        reader.ledger_of(RecordsOf::Run(run_id), |record| {
            sound(&record)?;
            match record.seq.unsigned_abs() <= size {
                true => records.add(record),
                false => return Err(ExportError::Later(size)),
            }
            Ok(())
        })?;
        Ok::<_, ExportError>((records, run.fate))
    })?;
    if fate == RunFate::Active {
        return Err(ExportError::UnderWay(run_id));
    }
    let (predicate_type, predicate) = match predicate {
        Predicate::Run => (RUN_TYPE, records.run(run_id, checkpoint)),
        Predicate::TestResult => {
            let result = records.test_result().ok_or(ExportError::NoVerification(run_id))?;
            (TEST_RESULT_TYPE, result)
        }
    };
    let statement = json!({
        "_type": STATEMENT_TYPE,
        "subject": records.subjects(),
        "predicateType": predicate_type,
        "predicate": predicate,
    });
    Ok(envelope(PAYLOAD_TYPE, statement.to_string().as_bytes(), key))
}

/// The columns of a row, with its number and its link.
struct Row {
    columns: Value,
    record: Value,
}

impl Row {
    /// A column; null if the row has none of this name.
    fn get(&self, name: &str) -> &Value {
        self.columns.get(name).unwrap_or(&Value::Null)
    }

    fn text(&self, name: &str) -> &str {
        self.get(name).as_str().unwrap_or_default()
    }

    fn time(&self, name: &str) -> Value {
        self.get(name).as_i64().map(rfc3339).into()
    }

    /// A column with a digest, as in-toto has it; null if the row has none.
    fn digest(&self, name: &str) -> Value {
        digest_set(self.get(name))
    }
}

/// A digest in hex digits as in-toto has it; null for null.
fn digest_set(hex: &Value) -> Value {
    if hex.is_null() { Value::Null } else { json!({ "sha256": hex }) }
}

/// What the statement needs of the records of a run.
#[derive(Default)]
struct Records {
    run: Option<Row>,
    /// By their digests.
    plans: BTreeMap<String, Row>,
    authorization: Option<Row>,
    end: Option<Row>,
    decisions: Vec<Value>,
    executions: Vec<Value>,
    /// Whether each verification passed, by the id of its step.
    verifications: Vec<(String, bool)>,
    /// The digest of each changed file before the run and after it, by its path.
    files: BTreeMap<String, (Value, Value)>,
    /// Whether records of the run were purged.
    is_purged: bool,
}

impl Records {
    fn add(&mut self, record: LedgerRecord) {
        let LedgerRecord { seq, table, digest, entry, .. } = record;
        let mut entry: Value = serde_json::from_str(&entry).unwrap_or_default();
        let columns = entry.get_mut("columns").map(Value::take).unwrap_or_default();
        let record = json!({ "number": seq, "digest": { "sha256": digest } });
        let row = Row { columns, record };
        match table.as_str() {
            "runs" => self.run = Some(row),
            // Of a revised plan, the records also have the plan that it was made from.
            "plans" => drop(self.plans.insert(row.text("id").to_owned(), row)),
            "authorizations" => self.authorization = Some(row),
            "run_ends" => self.end = Some(row),
            "decisions" => self.decisions.push(json!({
                "decision": row.get("decision"),
                "by": row.get("decided_by"),
                "user": row.get("user_name"),
                "step_id": row.get("step_id"),
                "at": row.time("timestamp"),
                "record": row.record,
            })),
            "executions" => self.execution(&row),
            "file_contents" if row.text("phase") == "actual" => {
                let [before, after] = ["before_digest", "after_digest"].map(|it| row.digest(it));
                let file = self.files.entry(row.text("path").to_owned());
                file.or_insert((before, Value::Null)).1 = after;
            }
            "purged_subjects" => self.is_purged = true,
            _ => {}
        }
    }

    fn execution(&mut self, row: &Row) {
        let outcome = row.text("outcome");
        if row.text("tool_name") == VERIFY_TOOL && matches!(outcome, "succeeded" | "failed") {
            self.verifications.push((row.text("step_id").to_owned(), outcome == "succeeded"));
        }
        self.executions.push(json!({
            "id": row.get("id"),
            "step_id": row.get("step_id"),
            "step_index": row.get("step_index"),
            "tool": row.get("tool_name"),
            "about": row.get("about"),
            "outcome": outcome,
            "exit_code": row.get("exit_code"),
            "error_code": row.get("error_code"),
            "risk": row.get("risk_level"),
            "started_at": row.time("timestamp"),
            "duration_ms": row.get("duration_ms"),
            "record": row.record,
        }));
    }

    /// The plan, and each file that the run wrote and left there.
    fn subjects(&self) -> Vec<Value> {
        let plan = self.run.iter().map(|run| {
            let name = format!("plan:{}", run.text("plan_id"));
            json!({ "name": name, "digest": run.digest("plan_digest") })
        });
        let is_there = |(_, (_, after)): &(&String, &(Value, Value))| !after.is_null();
        let files = self.files.iter().filter(is_there);
        let files = files.map(|(path, (_, after))| json!({ "name": path, "digest": after }));
        plan.chain(files).collect()
    }

    fn run(&self, run_id: Uuid, checkpoint: &SignedCheckpoint) -> Value {
        let of = |row: Option<&Row>, name: &str| row.map(|row| row.get(name).clone());
        let time = |row: Option<&Row>, name: &str| row.map(|row| row.time(name));
        let digest = |row: Option<&Row>, name: &str| row.map(|row| row.digest(name));
        let record = |row: Option<&Row>| row.map(|row| row.record.clone());
        let (own, authorization) = (self.run.as_ref(), self.authorization.as_ref());
        let plan = own.and_then(|own| self.plans.get(own.text("plan_digest")));
        let inputs: BTreeMap<String, Value> = authorization
            .and_then(|row| serde_json::from_str(row.text("inputs_json")).ok())
            .unwrap_or_default();
        let inputs =
            inputs.iter().map(|(path, hex)| json!({ "path": path, "digest": digest_set(hex) }));
        let files = self.files.iter().map(
            |(path, (before, after))| json!({ "path": path, "before": before, "after": after }),
        );
        json!({
            "run": {
                "id": run_id,
                "program": format!("countersign {}", own.map_or("", |own| own.text("program_version"))),
                "user": of(own, "user_name"),
                "target": of(own, "target"),
                "started_at": time(own, "timestamp"),
                "ended_at": time(self.end.as_ref(), "timestamp"),
                // Without an end, the run was interrupted.
                "status": self.end.as_ref().map_or("interrupted", |end| end.text("status")),
                "record": record(own),
                "complete": !self.is_purged,
            },
            "plan": {
                "id": of(own, "plan_id"),
                "digest": digest(own, "plan_digest"),
                "dialect": of(plan, "dialect"),
                "title": of(plan, "title"),
            },
            "approval": {
                "id": of(authorization, "id"),
                "method": of(authorization, "method"),
                "user": of(authorization, "user_name"),
                "at": time(authorization, "timestamp"),
                "expires_at": time(authorization, "expires_at"),
                "record": record(authorization),
            },
            "binding": {
                "mode": of(authorization, "mode"),
                "policy": digest(authorization, "policy_digest"),
                "host_key": of(authorization, "host_key"),
                "walls": of(authorization, "walls_level"),
                "inputs": inputs.collect::<Vec<_>>(),
            },
            "decisions": self.decisions,
            "executions": self.executions,
            "files": files.collect::<Vec<_>>(),
            "checkpoint": checkpoint.note.to_string(),
        })
    }

    /// The result of the verifications of the run; `None` if it has none.
    fn test_result(&self) -> Option<Value> {
        let (passed, failed): (Vec<_>, Vec<_>) =
            self.verifications.iter().partition(|(_, passed)| *passed);
        if passed.is_empty() && failed.is_empty() {
            return None;
        }
        let names = |steps: Vec<&(String, bool)>| -> Vec<String> {
            steps.into_iter().map(|(step_id, _)| format!("{VERIFY_TOOL} {step_id}")).collect()
        };
        let plan = self.run.as_ref()?;
        Some(json!({
            "result": if failed.is_empty() { "PASSED" } else { "FAILED" },
            "configuration": [{ "name": "plan", "digest": plan.digest("plan_digest") }],
            "passedTests": names(passed),
            "failedTests": names(failed),
        }))
    }
}
