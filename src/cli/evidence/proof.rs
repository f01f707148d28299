//! `evidence key`, `checkpoint`, `prove` and `attest`: what proves evidence to somebody who does not have it.

use std::fs::File;
use std::io::{BufWriter, Read as _, Write};
use std::path::Path;

use serde_json::json;

use super::telling;
use crate::cli::output::{Output, say};
use crate::cli::refusal::Refusal;
use crate::cli::{Exit, args};
use crate::evidence::{CheckpointReport, EvidenceLocation, RecordsOf};
use crate::export::{
    ExportError, PROOF_VERIFIER, Predicate, attestation, write_proof, write_to_file,
};
use crate::plan::quoted;
use crate::proof::{NoteError, SignedCheckpoint, VerifierKey};
use crate::run::RecordKind;

/// The maximum size of a file with a checkpoint, in bytes. A larger one is no note.
const MAX_CHECKPOINT: u64 = 1_000_000;

/// Prints the public key.
///
/// # Errors
/// When there is no evidence, or the key cannot be used or created.
pub(super) fn key(
    command: &args::Key,
    location: &EvidenceLocation,
    out: &mut Output,
) -> Result<Exit, Refusal> {
    let origin = location.open()?.origin()?;
    let key = location.signing_key()?;
    let verifier = key.verifier_key(&origin).map(|key| key.to_string()).unwrap_or_default();
    if out.json() {
        let pem = key.public_pem();
        out.document(&json!({ "origin": origin, "key": verifier, "key_id": key.id(), "pem": pem }));
    } else if command.pem {
        out.exact(key.public_pem().as_bytes());
    } else {
        out.line(&verifier);
        say("Whoever checks your checkpoints needs this line, from you and not from the evidence.");
    }
    Ok(Exit::Done)
}

/// Signs a checkpoint, or compares the evidence with an earlier one.
///
/// # Errors
/// When there is no evidence or it cannot be read; when it was changed and is to be signed; when a file or the key cannot be
/// used.
pub(super) fn checkpoint(
    command: &args::Checkpoint,
    location: &EvidenceLocation,
    out: &mut Output,
) -> Result<Exit, Refusal> {
    if let Some(path) = &command.verify {
        return verify(path, command.key.as_ref(), location, out);
    }
    let signed = location.sign_checkpoint(&mut telling())?;
    let note = signed.note.to_string();
    let written = to_file(&command.out, location, |out| Ok(out.write_all(note.as_bytes())?))?;
    let SignedCheckpoint { checkpoint, .. } = signed;
    if out.json() {
        out.document(&json!({
            "origin": checkpoint.origin,
            "size": checkpoint.size,
            "root": checkpoint.root_text(),
            "note": note,
            "file": written.as_ref().map(|(_, file)| file.path.as_str()),
        }));
    } else {
        match written {
            None => out.exact(note.as_bytes()),
            Some((_, file)) => out.line(&format!(
                "The checkpoint of {} records is in {}.",
                checkpoint.size,
                quoted(&file.path)
            )),
        }
    }
    Ok(Exit::Done)
}

fn verify(
    path: &Path,
    key: Option<&VerifierKey>,
    location: &EvidenceLocation,
    out: &mut Output,
) -> Result<Exit, Refusal> {
    let bytes = read(path)?;
    let key = match key {
        Some(key) => key.clone(),
        None => own_key(location)?,
    };
    let signed = SignedCheckpoint::parse(&bytes, &key);
    let report = match &signed {
        Ok(signed) => location.verify_checkpoint(&signed.checkpoint, &mut telling())?,
        Err(error) => {
            let difference = Some(format!("the checkpoint cannot be used: {error}"));
            CheckpointReport { ok: false, rows: 0, difference }
        }
    };
    let checkpoint = signed.as_ref().ok().map(|signed| &signed.checkpoint);
    if out.json() {
        let signers = signed.as_ref().ok().map(|it| it.note.signers().collect::<Vec<_>>());
        out.document(&json!({
            "ok": report.ok,
            "origin": checkpoint.map(|it| &it.origin),
            "size": checkpoint.map(|it| it.size),
            "root": checkpoint.map(|it| it.root_text()),
            "signers": signers,
            "rows": report.rows,
            "difference": report.difference,
        }));
    } else if let Some(difference) = &report.difference {
        out.line(&format!("The checkpoint does not hold: {}", quoted(difference)));
    } else {
        let size = checkpoint.map_or(0, |it| it.size);
        let later = report.rows.saturating_sub(size);
        out.line(&format!(
            "All {} records are unchanged; the first {size} are those of the checkpoint, and {later} were added since.",
            report.rows
        ));
    }
    Ok(if report.ok { Exit::Done } else { Exit::Tampered })
}

/// Writes the proof of records.
///
/// # Errors
/// When there are no such records; when the evidence was changed and a new checkpoint is needed; when a checkpoint is not one
/// of this evidence; when a file cannot be used.
pub(super) fn prove(
    command: &args::Prove,
    location: &EvidenceLocation,
    out: &mut Output,
) -> Result<Exit, Refusal> {
    if command.verifier {
        out.exact(PROOF_VERIFIER.as_bytes());
        return Ok(Exit::Done);
    }
    let mut reader = location.open()?;
    let records = match (&command.id, command.record) {
        (Some(id), _) => {
            let id = id.find(&mut reader, &[RecordKind::Execution, RecordKind::Run])?;
            if reader.run(id)?.is_some() { RecordsOf::Run(id) } else { RecordsOf::Execution(id) }
        }
        (None, number) => RecordsOf::Record(number.unwrap_or_default()),
    };
    let since = command.since.as_deref().map(|path| own_checkpoint(path, location)).transpose()?;
    let checkpoint = checkpoint_of(command.checkpoint.as_deref(), location)?;
    let mut write =
        |out: &mut dyn Write| write_proof(&mut reader, records, &checkpoint, since.as_ref(), out);
    let proven = match to_file(&command.out, location, &mut write)? {
        None => write(out.stream())?,
        Some((proven, file)) if out.json() => {
            out.document(&json!({
                "file": file.path,
                "records": proven.records,
                "later": proven.later,
                "size": checkpoint.checkpoint.size,
                "bytes": file.bytes,
            }));
            proven
        }
        Some((proven, file)) => {
            let path = quoted(&file.path).into_owned();
            out.line(&format!("The proof of {} records is in {path}.", proven.records));
            say(
                "Check it with `python3 verify_proof.py FILE`, which `countersign evidence prove --verifier` prints.",
            );
            proven
        }
    };
    if proven.later > 0 {
        say(&format!(
            "{} later records are not in it, because they are not in the checkpoint.",
            proven.later
        ));
    }
    Ok(Exit::Done)
}

/// Writes the attestation of a run.
///
/// # Errors
/// When there is no such run, it is under way or later than the checkpoint, or has no verification that is asked for; when the
/// evidence was changed and a new checkpoint is needed; when a file or the key cannot be used.
pub(super) fn attest(
    command: &args::Attest,
    location: &EvidenceLocation,
    out: &mut Output,
) -> Result<Exit, Refusal> {
    let mut reader = location.open()?;
    let run_id = command.run.run(&mut reader)?;
    if reader.run(run_id)?.is_none() {
        return Err(ExportError::NoRun(run_id).into());
    }
    let checkpoint = checkpoint_of(command.checkpoint.as_deref(), location)?;
    let (predicate, key) = (Predicate::from(command.predicate), location.signing_key()?);
    let envelope = attestation(&mut reader, run_id, predicate, &checkpoint, &key)?;
    let line = format!("{envelope}\n");
    match to_file(&command.out, location, |out| Ok(out.write_all(line.as_bytes())?))? {
        None => out.exact(line.as_bytes()),
        Some((_, file)) if out.json() => {
            out.document(&json!({ "file": file.path, "bytes": file.bytes }));
        }
        Some((_, file)) => {
            out.line(&format!("The attestation is in {}.", quoted(&file.path)));
        }
    }
    Ok(Exit::Done)
}

/// The checkpoint in this file, or a new one.
fn checkpoint_of(
    path: Option<&Path>,
    location: &EvidenceLocation,
) -> Result<SignedCheckpoint, Refusal> {
    match path {
        Some(path) => own_checkpoint(path, location),
        None => Ok(location.sign_checkpoint(&mut telling())?),
    }
}

/// The checkpoint in this file, signed by the key on this computer.
fn own_checkpoint(path: &Path, location: &EvidenceLocation) -> Result<SignedCheckpoint, Refusal> {
    let (bytes, key) = (read(path)?, own_key(location)?);
    SignedCheckpoint::parse(&bytes, &key).map_err(|error: NoteError| {
        let message = format!("the checkpoint in {} cannot be used: {error}", path.display());
        Refusal::usage(message, "Name a checkpoint that this computer made of this evidence.")
    })
}

/// The public part of the key on this computer, as the key of this evidence.
fn own_key(location: &EvidenceLocation) -> Result<VerifierKey, Refusal> {
    let origin = location.open()?.origin()?;
    let key = location.existing_signing_key()?.and_then(|key| key.verifier_key(&origin));
    let none = || {
        let message = "no checkpoint was signed on this computer so far";
        Refusal::usage(message, "Name the key that has signed it with --key.")
    };
    key.ok_or_else(none)
}

fn read(path: &Path) -> Result<Vec<u8>, Refusal> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_CHECKPOINT + 1).read_to_end(&mut bytes))
        .map_err(|error| {
            let message = format!("{} cannot be read: {error}", path.display());
            Refusal::usage(message, "Name a file with a checkpoint.")
        })?;
    Ok(bytes)
}

/// A file that was written.
struct Written {
    path: String,
    bytes: u64,
}

/// Writes to the file, if one is named.
fn to_file<T>(
    named: &args::OutFile,
    location: &EvidenceLocation,
    write: impl FnOnce(&mut dyn Write) -> Result<T, ExportError>,
) -> Result<Option<(T, Written)>, Refusal> {
    let Some(path) = &named.out else { return Ok(None) };
    let (written, bytes) = write_to_file(path, named.force, location.folders(), |file| {
        let mut buffered = BufWriter::new(file);
        let written = write(&mut buffered)?;
        buffered.flush()?;
        Ok(written)
    })?;
    Ok(Some((written, Written { path: path.to_string_lossy().into_owned(), bytes })))
}
