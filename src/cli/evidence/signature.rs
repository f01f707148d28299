//! `evidence sign` and `evidence verify-signature`: signatures with the SSH keys of persons.

use std::path::PathBuf;

use serde::Serialize;
use serde_json::json;
use uuid::Uuid;

use super::telling;
use crate::authorization::{Signing, why_no_principal};
use crate::cli::Exit;
use crate::cli::args::evidence::{Sign, Subject, VerifySignature};
use crate::cli::opening::policy;
use crate::cli::output::{Output, name_in_line};
use crate::cli::passphrase::asks_at_terminal;
use crate::cli::refusal::Refusal;
use crate::cli::time::local_time;
use crate::engine::{Signer, SystemClock};
use crate::evidence::{
    EvidenceError, EvidenceLocation, EvidenceReader, SignaturesOf, verify_telling,
};
use crate::plan::quoted;
use crate::run::{RecordKind, SignatureKind, SignatureRecord, StopSignal};
use crate::signing::{AllowedSigners, SignatureState, SshKeygen, Verdict};

/// Signs the head of the evidence, or the end of a run.
///
/// # Errors
/// When there is no key, it is not signed or recorded, or the evidence was changed.
pub(super) fn sign(
    command: &Sign,
    location: &EvidenceLocation,
    out: &mut Output,
) -> Result<Exit, Refusal> {
    let signing = signing((command.key.as_ref(), command.principal.as_ref()))?;
    let mut reader = location.open()?;
    let run = match &command.subject {
        Subject::Head => None,
        Subject::Record(id) => match id.run(&mut reader)? {
            run if reader.authorization_of(run)?.is_some_and(|(_, has_end)| has_end) => Some(run),
            run => {
                let message = format!("the evidence has no end of a run {run}");
                return Err(Refusal::usage(message, "Look the id up with `evidence search`."));
            }
        },
    };
    // A signature says that the signer stands for it.
    let report = verify_telling(&location.evidence, &location.user_folders, None, &mut telling())?;
    if !report.ok {
        let difference = report.first_bad.unwrap_or_default();
        return Err(EvidenceError::Unsound { difference }.into());
    }
    let (stop, ask) = (StopSignal::default(), asks_at_terminal());
    let signer = Signer {
        signing: Some(&signing),
        workspace: None,
        ask: ask.as_ref(),
        stop: &stop,
        clock: &SystemClock::default(),
        reviews: &[],
    };
    let mut store = location.store()?;
    match run {
        None => signer.record_head(&mut store, &signing)?,
        Some(run) => signer.record_run_end(&mut store, &signing, run)?,
    }
    drop(store);
    let of = run.map_or(SignaturesOf::Head, SignaturesOf::Run);
    let made = location.open()?.signatures(of)?.pop();
    if out.json() {
        out.document(&json!({ "signature": made }));
    } else if let Some(made) = made {
        let SignatureRecord { seq, kind, principal, fingerprint, .. } = made;
        out.line(&quoted(&format!(
            "Record {seq}: the {} is signed by {principal} with {fingerprint}.",
            kind.label()
        )));
    }
    Ok(Exit::Done)
}

/// The key of the options, or that of the settings.
pub(in crate::cli) fn signing(
    (key, principal): (Option<&PathBuf>, Option<&String>),
) -> Result<Signing, Refusal> {
    let of_settings = policy()?.signing;
    let (Some(key), Some(principal)) = (key, principal) else {
        let next =
            "Name it in the table [signatures] of the settings, or with --key and --principal.";
        return of_settings
            .ok_or_else(|| Refusal::usage("there is no key that signs".to_owned(), next));
    };
    if let Some(why) = why_no_principal(principal) {
        let message = format!("--principal cannot name who signs: {why}");
        return Err(Refusal::usage(message, "Give an e-mail address or a name."));
    }
    let key = std::path::absolute(key).unwrap_or_else(|_| key.clone());
    let seconds = of_settings.map_or(60, |signing| signing.seconds);
    Ok(Signing {
        key,
        principal: principal.clone(),
        sign: Default::default(),
        seconds,
        reviewing: None,
    })
}

/// A signature with what was found about it, or that there is none.
#[derive(Debug, Serialize)]
struct Checked {
    kind: SignatureKind,
    authorization_id: Option<Uuid>,
    run_id: Option<Uuid>,
    seq: Option<i64>,
    principal: Option<String>,
    fingerprint: Option<String>,
    signed_at_ms: Option<i64>,
    #[serde(flatten)]
    verdict: Verdict,
}

impl Checked {
    fn unsigned(kind: SignatureKind, authorization_id: Option<Uuid>, run_id: Option<Uuid>) -> Self {
        let of = match (authorization_id, run_id) {
            (Some(id), _) => format!(" {id}"),
            (None, Some(id)) => format!(" of run {id}"),
            (None, None) => String::new(),
        };
        let why = match kind {
            SignatureKind::RunEnd => format!("the end{of} is not signed"),
            _ => format!("the {}{of} is not signed", kind.label()),
        };
        Self {
            kind,
            authorization_id,
            run_id,
            seq: None,
            principal: None,
            fingerprint: None,
            signed_at_ms: None,
            verdict: Verdict::because(SignatureState::Unsigned, why),
        }
    }

    fn of(record: SignatureRecord, verdict: Verdict) -> Self {
        Self {
            kind: record.kind,
            authorization_id: record.authorization_id,
            run_id: record.run_id,
            seq: Some(record.seq),
            principal: Some(record.principal),
            fingerprint: Some(record.fingerprint),
            signed_at_ms: Some(record.signed_at_ms),
            verdict,
        }
    }

    fn cells(&self) -> Vec<String> {
        let shown = |text: &Option<String>| name_in_line(text.as_deref().unwrap_or_default());
        vec![
            self.kind.label().to_owned(),
            self.verdict.state.as_str().replace('_', " "),
            shown(&self.principal),
            shown(&self.fingerprint),
            self.signed_at_ms.map_or_else(String::new, local_time),
        ]
    }
}

/// Says whether allowed signers have made the signatures. What they are about is verified before: a signature says nothing
/// about records that were changed or removed beside it.
///
/// # Errors
/// When there is no evidence or no such record, the list or `ssh-keygen` cannot be used, or the evidence cannot be read.
pub(super) fn verify(
    command: &VerifySignature,
    location: &EvidenceLocation,
    reader: &mut EvidenceReader,
    out: &mut Output,
) -> Result<Exit, Refusal> {
    let keygen = SshKeygen::of_system(None)?;
    let allowed =
        AllowedSigners { file: command.allowed_signers.clone(), revoked: command.revoked.clone() };
    match reader.origin() {
        // Older evidence has none, and no signatures.
        Ok(_) | Err(EvidenceError::NoId { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    let (of, expected) = subjects(command, reader)?;
    let difference = location.first_difference(&mut telling())?;
    let mut checked = Vec::new();
    for record in reader.signatures(of)? {
        checked.push(check(&keygen, &allowed, record)?);
    }
    let is_signed = |it: &Checked| {
        let id = |it: &Checked| (it.kind, it.authorization_id, it.run_id);
        checked.iter().any(|found| id(found) == id(it))
    };
    let missing: Vec<_> = expected.into_iter().filter(|it| !is_signed(it)).collect();
    checked.extend(missing);
    let all_valid = checked.iter().all(|it| it.verdict.state == SignatureState::Valid);
    let ok = difference.is_none() && !checked.is_empty() && all_valid;
    if out.json() {
        out.document(&json!({ "ok": ok, "difference": difference, "signatures": checked }));
    } else {
        if let Some(difference) = &difference {
            out.line(&format!(
                "The evidence was changed. First difference: {}",
                quoted(difference)
            ));
        }
        out.columns(checked.iter().map(Checked::cells));
        for why in checked.iter().filter_map(|it| it.verdict.why.as_ref()) {
            out.line(&quoted(why));
        }
        if checked.is_empty() {
            out.line("There is no signature.");
        }
    }
    Ok(if ok { Exit::Done } else { Exit::Tampered })
}

/// Which signatures are asked for, and what must be signed at least.
fn subjects(
    command: &VerifySignature,
    reader: &mut EvidenceReader,
) -> Result<(SignaturesOf, Vec<Checked>), Refusal> {
    let id = match &command.subject {
        None => {
            let unsigned = reader.unsigned()?.into_iter().map(|(kind, id)| match kind {
                SignatureKind::RunEnd => Checked::unsigned(kind, None, Some(id)),
                _ => Checked::unsigned(kind, Some(id), None),
            });
            return Ok((SignaturesOf::All, unsigned.collect()));
        }
        Some(Subject::Head) => {
            let expected = vec![Checked::unsigned(SignatureKind::Head, None, None)];
            return Ok((SignaturesOf::Head, expected));
        }
        Some(Subject::Record(id)) => id.find(reader, &[RecordKind::Run])?,
    };
    let of_authorization = |id| Checked::unsigned(SignatureKind::Authorization, Some(id), None);
    if let Some((authorization, _)) = reader.authorization_of(id)? {
        let end = Checked::unsigned(SignatureKind::RunEnd, None, Some(id));
        return Ok((SignaturesOf::Run(id), vec![of_authorization(authorization), end]));
    }
    if reader.has_authorization(id)? {
        return Ok((SignaturesOf::Authorization(id), vec![of_authorization(id)]));
    }
    let message = format!("the evidence has no run or authorization {id}");
    Err(Refusal::usage(message, "`evidence show RUN` names the authorization of a run."))
}

fn check(
    keygen: &SshKeygen,
    allowed: &AllowedSigners,
    record: SignatureRecord,
) -> Result<Checked, Refusal> {
    let verdict = match &record.difference {
        Some(difference) => Verdict::because(SignatureState::BytesDiffer, difference),
        None => keygen.verify(
            allowed,
            (record.document.as_bytes(), &record.signature),
            &record.principal,
            record.signed_at_ms,
            &StopSignal::default(),
        )?,
    };
    Ok(Checked::of(record, verdict))
}
