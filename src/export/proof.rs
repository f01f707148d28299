//! The proof of records (SPEC §14): each with its link and with the hashes that lead from it to a checkpoint, as JSON.
//!
//! `verify_proof.py` checks it. C2SP's `tlog-proof` is for one leaf; the records of a step are several, and what they say is
//! beside them.

use std::io::Write;

use serde_json::{Value, json};

use super::{ExportError, Result};
use crate::evidence::{EvidenceReader, LedgerRecord, RecordsOf};
use crate::plan::Digest;
use crate::proof::{SignedCheckpoint, Tree, base64};

/// A program in Python that checks a proof without this one.
pub const PROOF_VERIFIER: &str = include_str!("../../assets/verifier/verify_proof.py");

/// The format of proofs that this version writes.
const FORMAT: u32 = 1;

/// What a proof has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Proven {
    /// The number of records.
    pub records: u64,
    /// The number of records that are later than the checkpoint, and so are not in the proof.
    pub later: u64,
}

/// Writes the proof that records are among those of a checkpoint; with `since`, also that the checkpoint continues this
/// earlier one.
///
/// # Errors
/// When there are no such records, one was changed, or all are later than the checkpoint; when one of the checkpoints is not
/// of this evidence; when the evidence cannot be read or the proof not be written.
pub fn write_proof(
    reader: &mut EvidenceReader,
    records: RecordsOf,
    checkpoint: &SignedCheckpoint,
    since: Option<&SignedCheckpoint>,
    out: &mut dyn Write,
) -> Result<Proven> {
    reader.lock_secrets();
    reader.in_snapshot(|reader| write_within(reader, records, checkpoint, since, out))
}

/// As [`write_proof`], within a snapshot.
pub(super) fn write_within(
    reader: &mut EvidenceReader,
    records: RecordsOf,
    checkpoint: &SignedCheckpoint,
    since: Option<&SignedCheckpoint>,
    out: &mut dyn Write,
) -> Result<Proven> {
    let size = checkpoint.checkpoint.size;
    let (mut numbers, mut later) = (Vec::new(), 0);
    for number in reader.ledger_numbers(records)? {
        match u64::try_from(number).ok().and_then(|number| number.checked_sub(1)) {
            Some(index) if index < size => numbers.push(index),
            _ => later += 1,
        }
    }
    if numbers.is_empty() {
        return Err(if later > 0 { ExportError::Later(size) } else { ExportError::NoRecord });
    }
    let tree = tree(reader, &numbers, checkpoint, since)?;
    // Before anything is written. Of a purged record only the link is left, which says nothing.
    let mut is_there = false;
    reader.ledger_of(records, |record| {
        is_there |= record.seq.unsigned_abs() <= size && is_subject(records, &record);
        sound(&record)
    })?;
    // A checkpoint may have records of it that are older than itself, such as the plan.
    if !is_there {
        return Err(ExportError::Later(size));
    }
    let head = head(records, checkpoint, since, &tree, later)?;
    // The records are written one by one: they may be many, and some are large.
    let head = head.to_string();
    write!(out, "{},\"records\":[", head.strip_suffix('}').unwrap_or(&head))?;
    let mut count = 0;
    reader.ledger_of(records, |record| {
        let index = record.seq.unsigned_abs().saturating_sub(1);
        if index < size {
            let separator = if count == 0 { "" } else { "," };
            write!(out, "{separator}{}", proven(&record, index, size, &tree)?)?;
            count += 1;
        }
        Ok::<_, ExportError>(())
    })?;
    writeln!(out, "]}}")?;
    out.flush()?;
    Ok(Proven { records: count, later })
}

/// Whether a record is that of what the proof is about, and not only one of its parts.
fn is_subject(records: RecordsOf, record: &LedgerRecord) -> bool {
    match records {
        RecordsOf::Run(_) => record.table == "runs",
        RecordsOf::Execution(_) => matches!(record.table.as_str(), "executions" | "intents"),
        RecordsOf::Record(_) => true,
    }
}

/// Reads the hashes for these leaves, and compares both checkpoints with the evidence.
pub(super) fn tree(
    reader: &mut EvidenceReader,
    leaves: &[u64],
    checkpoint: &SignedCheckpoint,
    since: Option<&SignedCheckpoint>,
) -> Result<Tree> {
    let size = checkpoint.checkpoint.size;
    let mut tree = Tree::default();
    leaves.iter().for_each(|index| tree.want_inclusion(*index, size));
    tree.want_root(size);
    if let Some(since) = since {
        tree.want_root(since.checkpoint.size);
        tree.want_consistency(since.checkpoint.size, size);
    }
    reader.read_tree(size, &mut tree)?;
    for checkpoint in [Some(checkpoint), since].into_iter().flatten() {
        let checkpoint = &checkpoint.checkpoint;
        if tree.root_at(checkpoint.size) != Some(checkpoint.root) {
            return Err(ExportError::OtherCheckpoint(checkpoint.size));
        }
    }
    Ok(tree)
}

/// The proof without its records.
fn head(
    records: RecordsOf,
    checkpoint: &SignedCheckpoint,
    since: Option<&SignedCheckpoint>,
    tree: &Tree,
    later: u64,
) -> Result<Value> {
    let (kind, id) = match records {
        RecordsOf::Run(id) => ("run", id.to_string()),
        RecordsOf::Execution(id) => ("execution", id.to_string()),
        RecordsOf::Record(number) => ("record", number.to_string()),
    };
    let size = checkpoint.checkpoint.size;
    let since = match since {
        Some(since) => {
            let before = since.checkpoint.size;
            let proof = tree.consistency_proof(before, size);
            json!({ "checkpoint": since.note.to_string(), "consistency_proof": hashes(proof)? })
        }
        None => Value::Null,
    };
    Ok(json!({
        "format": FORMAT,
        "program": concat!("countersign ", env!("CARGO_PKG_VERSION")),
        "about": { "kind": kind, "id": id },
        "checkpoint": checkpoint.note.to_string(),
        "since": since,
        "later": later,
    }))
}

/// # Errors
/// When the record was purged or changed.
pub(super) fn sound(record: &LedgerRecord) -> Result<()> {
    match record.entry.as_str() {
        "" => Err(ExportError::NoRecord),
        _ if record.is_unchanged() => Ok(()),
        _ => Err(ExportError::Changed(record.seq)),
    }
}

fn proven(record: &LedgerRecord, index: u64, size: u64, tree: &Tree) -> Result<Value> {
    Ok(json!({
        "seq": record.seq,
        "table": record.table,
        "previous": record.previous,
        "digest": record.digest,
        "entry": record.entry,
        "inclusion_proof": hashes(tree.inclusion_proof(index, size))?,
    }))
}

/// The hashes of a proof in base64. They are there, because they were asked for and the tree is as large as its checkpoint.
fn hashes(proof: Option<Vec<Digest>>) -> Result<Vec<String>> {
    let proof = proof.ok_or(ExportError::NoRecord)?;
    Ok(proof.iter().map(|hash| base64(hash.as_bytes())).collect())
}
