//! The case file of a run (SPEC §14): a zip with everything that the evidence has of the run, and a program that checks
//! it without Countersign.
//!
//! The ledger in it has the rows of this run alone, each with the digest before it: rows of other runs, which may stand
//! in between, do not leave the machine with it. `verify.py` recomputes every link, and `verify_documents.py` compares the
//! documents with the rows. The same evidence gives the same bytes: members have a fixed order and no time.
//!
//! Behind a gap, a link binds no record before it. So a case file has the proof that its records are in the tree of the
//! evidence, with the signed checkpoint of as many records as its last one has before it: whatever is recorded later, it is
//! the same. Evidence that is not sound, or whose key cannot be used, makes a case file without a proof.

mod members;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Seek, Write};

use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::walk::Walk;
use super::{ExportError, Exported, PROOF_VERIFIER, Progress, Result, html, json_lines, proof};
use crate::evidence::{EvidenceError, EvidenceReader, LedgerRecord, RecordsOf, VERIFIER};
use crate::plan::Digest;
use crate::proof::SignedCheckpoint;
use crate::run::{RunSummary, SearchQuery};
use members::Members;

/// The format of case files that this version writes.
const FORMAT: u32 = 1;

/// The tables whose rows say who decided what about the run.
const DECISION_TABLES: [&str; 3] = ["authorization_classes", "authorizations", "decisions"];

/// Content that is not in the case file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
struct LeftOut {
    /// In 64 hex digits.
    digest: String,
    reason: &'static str,
}

/// What the ledger of a run says.
#[derive(Default)]
struct Ledger {
    /// The rows about decisions, as they are in `decisions.json`.
    decisions: Vec<Value>,
    /// The digests of the contents that are not encrypted.
    contents: BTreeSet<String>,
    left_out: BTreeSet<LeftOut>,
    /// The names of the members with what was signed and with the signatures, and their texts.
    signed: Vec<(String, String)>,
    last: Option<LedgerRecord>,
}

/// Writes the case file of a run.
///
/// # Errors
/// When there is no such run, the evidence cannot be read or the file not be written, or when `progress` stops it.
pub fn case_file(
    reader: &mut EvidenceReader,
    run_id: Uuid,
    out: impl Write + Seek,
    progress: Progress<'_>,
) -> Result<Exported> {
    reader.lock_secrets();
    reader.in_snapshot(|reader| {
        let run = reader.run(run_id)?.ok_or(ExportError::NoRun(run_id))?;
        write(reader, &run, out, progress)
    })
}

fn write(
    reader: &mut EvidenceReader,
    run: &RunSummary,
    out: impl Write + Seek,
    progress: Progress<'_>,
) -> Result<Exported> {
    let checkpoint = checkpoint(reader, run.run_id, &mut *progress)?;
    let mut members = Members::new(out);
    members.text("README.txt", &readme(run))?;
    members.text("verify.py", VERIFIER)?;
    members.text("verify_documents.py", DOCUMENTS_VERIFIER)?;
    members.text("verify_proof.py", PROOF_VERIFIER)?;
    members.text("verify_signatures.py", SIGNATURE_VERIFIER)?;

    let query = SearchQuery { run_id: Some(run.run_id), ..SearchQuery::default() };
    let mut walk = Walk::new(reader, &query, None, &mut *progress);
    members.add("executions.jsonl", false, |out| json_lines::write(&mut walk, out))?;
    let mut exported = std::mem::take(&mut walk.exported);
    members.add("report.html", false, |out| html::write(&mut walk, out))?;

    let mut ledger = Ledger::default();
    members.add("ledger.jsonl", false, |out| {
        reader.ledger_of(RecordsOf::Run(run.run_id), |record| {
            serde_json::to_writer(&mut *out, &line(&record)).map_err(std::io::Error::from)?;
            out.write_all(b"\n")?;
            if !progress(exported.executions) {
                return Err(ExportError::Stopped);
            }
            ledger.add(record);
            Ok(())
        })
    })?;
    match checkpoint {
        Ok(checkpoint) => members.add("proof.json", false, |out| {
            proof::write_within(reader, RecordsOf::Run(run.run_id), &checkpoint, None, out)
                .map(drop)
        })?,
        Err(why) => exported.not_proven = Some(why),
    }
    // What was recorded again after a purge is there.
    ledger.left_out.retain(|it| it.reason != "purged" || !ledger.contents.contains(&it.digest));
    let decisions = serde_json::to_string_pretty(&ledger.decisions).unwrap_or_default();
    members.text("decisions.json", &format!("{decisions}\n"))?;
    for (name, text) in &ledger.signed {
        members.text(name, text)?;
    }
    // The plan is a content, too, under its own name.
    let plan = run.plan_digest.hex();
    if ledger.contents.remove(&plan) {
        content(reader, &plan, "plan.json", &mut members)?;
    }
    for digest in &ledger.contents {
        content(reader, digest, &format!("artifacts/{digest}"), &mut members)?;
        if !progress(exported.executions) {
            return Err(ExportError::Stopped);
        }
    }
    let manifest = manifest(run, &ledger, &members.listed);
    members.text("manifest.json", &format!("{}\n", pretty(&manifest)))?;
    members.finish()?;
    Ok(exported)
}

/// The signed checkpoint that ends with the last record of the run, or why there is none.
///
/// # Errors
/// When the evidence cannot be read, or `progress` stops it.
fn checkpoint(
    reader: &mut EvidenceReader,
    run_id: Uuid,
    progress: Progress<'_>,
) -> Result<Result<SignedCheckpoint, String>> {
    let last = reader.ledger_numbers(RecordsOf::Run(run_id))?.pop().unwrap_or_default();
    let mut goes_on = true;
    let signed = reader.sign_first(last.unsigned_abs(), &mut |_, _| goes_on = progress(0));
    if !goes_on {
        return Err(ExportError::Stopped);
    }
    match signed {
        Ok(signed) => Ok(Ok(signed)),
        Err(
            error @ (EvidenceError::Unsound { .. }
            | EvidenceError::NoId { .. }
            | EvidenceError::Key { .. }
            | EvidenceError::SigningKey { .. }),
        ) => Ok(Err(error.to_string())),
        Err(error) => Err(error.into()),
    }
}

fn line(record: &LedgerRecord) -> BTreeMap<&'static str, Value> {
    [
        ("seq", record.seq.into()),
        ("table", record.table.as_str().into()),
        ("previous", record.previous.as_str().into()),
        ("digest", record.digest.as_str().into()),
        ("entry", record.entry.as_str().into()),
    ]
    .into()
}

impl Ledger {
    fn add(&mut self, record: LedgerRecord) {
        let entry: Value = serde_json::from_str(&record.entry).unwrap_or_default();
        let columns = entry.get("columns").cloned().unwrap_or_default();
        let digest = columns.get("digest").and_then(Value::as_str).unwrap_or_default();
        let left_out = |reason| LeftOut { digest: digest.to_owned(), reason };
        match record.table.as_str() {
            "blobs" if columns.get("encoding").and_then(Value::as_str) == Some("zstd") => {
                self.contents.insert(digest.to_owned());
            }
            "blobs" => {
                self.left_out.insert(left_out("encrypted"));
            }
            "purges" => {
                self.left_out.insert(left_out("purged"));
            }
            "purged_subjects" => {
                let content = columns.get("content").and_then(Value::as_str).map(str::to_owned);
                let purged = content.map(|digest| LeftOut { digest, reason: "purged" });
                self.left_out.extend(purged);
            }
            "signatures" => {
                let text = |name| columns.get(name).and_then(Value::as_str).unwrap_or_default();
                let name = format!("signatures/{}-{}", text("kind"), record.seq);
                for (end, column) in [("json", "document"), ("sig", "signature")] {
                    self.signed.push((format!("{name}.{end}"), text(column).to_owned()));
                }
            }
            table if DECISION_TABLES.contains(&table) => self
                .decisions
                .push(json!({ "columns": columns, "seq": record.seq, "table": record.table })),
            _ => {}
        }
        self.last = Some(record);
    }
}

/// Adds a content under this name.
fn content<W: Write + Seek>(
    reader: &mut EvidenceReader,
    digest: &str,
    name: &str,
    members: &mut Members<W>,
) -> Result<()> {
    let Ok(digest) = digest.parse::<Digest>() else { return Ok(()) };
    let is_large = reader.blob_size(&digest)? >= u64::from(u32::MAX) / 2;
    members.add(name, is_large, |out| {
        let mut failure = None;
        let read = reader.blob_parts(&digest, |part| {
            if failure.is_none() {
                failure = out.write_all(part).err();
            }
            Ok(())
        });
        match (failure, read) {
            (Some(error), _) => Err(error.into()),
            (None, Err(error)) => Err(error.into()),
            (None, Ok(_)) => Ok(()),
        }
    })
}

fn manifest(run: &RunSummary, ledger: &Ledger, members: &[members::Listed]) -> Value {
    let last = ledger.last.as_ref();
    json!({
        "format": FORMAT,
        "program": concat!("countersign ", env!("CARGO_PKG_VERSION")),
        "run_id": run.run_id,
        "plan_id": run.plan_id,
        "plan_digest": run.plan_digest.hex(),
        "head": {
            "seq": last.map_or(0, |last| last.seq),
            "digest": last.map(|last| last.digest.as_str()),
        },
        "left_out": ledger.left_out,
        "members": members,
    })
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

fn readme(run: &RunSummary) -> String {
    README.replace("{run}", &run.run_id.to_string())
}

/// Compares the documents of a case file with its records, called by `verify.py`.
const DOCUMENTS_VERIFIER: &str = include_str!("../../../assets/verifier/verify_documents.py");
/// Checks the signatures of a case file, called by `verify.py`.
const SIGNATURE_VERIFIER: &str = include_str!("../../../assets/verifier/verify_signatures.py");

const README: &str = include_str!("readme.txt");
