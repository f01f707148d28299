//! `review-request`, `review` and `sign`: another person's signature under an approval. Nothing is run.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;

use super::args::RecordId;
use super::args::evidence::OutFile;
use super::evidence::signature::signing;
use super::inputs::Ask;
use super::opening::{ReadPlan, evidence_location, policy};
use super::output::{Output, say};
use super::passphrase::asks_at_terminal;
use super::refusal::Refusal;
use super::request_text::print;
use super::{Exit, args};
use crate::authorization::{Decided, PlanAuthorization, ReviewSignature, persons_needed};
use crate::engine::{Clock as _, FollowUp, Signer, SystemClock, WorkspaceChoice, person};
use crate::evidence::EvidenceStore;
use crate::plan::{Digest, Plan, is_valid, quoted};
use crate::risk::Policy;
use crate::run::{REQUEST_BYTES, ReviewRequest, StopSignal};
use crate::worker::{
    answers_in, default_folders, read_file_bytes, read_request as parse_request, review_request,
};

/// Reviews a plan and writes the request.
///
/// # Errors
/// When the plan is not valid as things are, there is no evidence and none can be made, or the file cannot be written.
pub(super) fn request(command: &args::ReviewRequest, out: &mut Output) -> Result<Exit, Refusal> {
    let check = &command.check;
    let mut policy = check.options.policy()?;
    let folder = &check.options.common.folder;
    let read = match command.follow_up {
        Some(word) => of_run(word.into(), check, &policy)?,
        None => {
            let workspace = check.workspace.workspace.as_deref();
            let inputs = (&check.inputs, Ask::AtTerminal);
            ReadPlan::file(&check.plan, workspace, &check.choices, inputs)?
        }
    };
    policy.secret_inputs = read.filled_in.secret_inputs.clone();
    let review = read.review(&mut policy, folder)?;
    let opened = read.with_review(review);
    let valid = opened.is_valid();
    let (Some(plan), Some(review), true) = (opened.plan, opened.review, valid) else {
        return Err(Refusal::invalid_plan(opened.findings));
    };
    let location = evidence_location(folder)?;
    let request = review_request(&plan, &review, &policy, &location, &Arc::default());
    let request = request.map_err(Refusal::no_request)?;
    let text = request.text().map_err(|why| {
        Refusal::usage(why, "Split the plan, or leave out steps with `countersign revise`.")
    })?;
    let file = written(&command.out, &text, out)?;
    if out.json() {
        out.document(&json!({
            "request_id": request.request_id,
            "plan_digest": request.plan_digest,
            "file": file,
            "text": file.is_none().then_some(text),
        }));
    }
    Ok(Exit::Done)
}

/// The plan that `continue`, `revert` or `reconcile` would make of a recorded run, whose id was given instead of a plan file.
fn of_run(follow_up: FollowUp, check: &args::Check, policy: &Policy) -> Result<ReadPlan, Refusal> {
    let id = check.plan.to_string_lossy().parse::<RecordId>();
    let id = id.map_err(|why| Refusal::usage(why, "Look the id up with `evidence search`."))?;
    let mut evidence = evidence_location(&check.options.common.folder)?.open()?;
    let id = match follow_up {
        FollowUp::Revert => id.any(&mut evidence)?,
        _ => id.run(&mut evidence)?,
    };
    let (run, bytes) = follow_up.plan(&mut evidence, id, policy)?;
    let workspace = match &check.workspace.workspace {
        Some(chosen) => WorkspaceChoice::chosen(chosen.clone()),
        None => WorkspaceChoice::of_run(&run),
    };
    ReadPlan::bytes(bytes, workspace, &check.inputs, Ask::AtTerminal)
}

/// The answers in the folder of the settings that count for this approval, one of each person. Of the others it is said why
/// not.
///
/// # Errors
/// The folder or the evidence cannot be read.
pub(super) fn answers(
    policy: &Policy,
    store: &EvidenceStore,
    authorization: &PlanAuthorization,
    plan: &Plan,
) -> Result<Vec<ReviewSignature>, Refusal> {
    let signing = policy.signing.as_ref();
    let reviewing = signing.and_then(|signing| signing.reviewing.as_ref());
    let folder = reviewing.and_then(|it| Some((it, it.folder.as_ref()?)));
    let needs_others = persons_needed(signing, plan.signatures_required) > 1;
    let Some((reviewing, folder)) = folder.filter(|_| needs_others) else { return Ok(Vec::new()) };
    let answers = answers_in(folder, &plan.digest).map_err(|error| {
        let message = format!("{} cannot be read: {error}", folder.display());
        Refusal::usage(message, "Correct signatures.folder in the settings.")
    })?;
    let (stop, clock) = (StopSignal::default(), SystemClock::default());
    let signer = Signer::checking(signing, &stop, &clock);
    let mut counted: Vec<ReviewSignature> = Vec::new();
    let mut withdrawn = Vec::new();
    for answer in answers {
        let why_not = signer.why_not(store, reviewing, &answer)?;
        let person = person(reviewing, &answer).ok().filter(|_| why_not.is_none());
        let why = match why_not.or_else(|| Signer::why_void(&answer, authorization)) {
            Some(why) => Some(why),
            None if person.is_some_and(|person| withdrawn.contains(&person)) => {
                Some(format!("{} has refused it since", answer.document.principal))
            }
            None => signer.why_same(reviewing, &answer, &counted.iter().collect::<Vec<_>>()),
        };
        if answer.document.decision == Decided::Refuse {
            withdrawn.extend(person);
        }
        match why {
            Some(why) => say(&quoted(&format!("{} does not count: {why}", answer.name))),
            None => counted.push(answer),
        }
    }
    Ok(counted)
}

/// Writes to the file, or to stdout. Returns the path of the file.
fn written(named: &OutFile, text: &str, out: &mut Output) -> Result<Option<String>, Refusal> {
    let Some(path) = &named.out else {
        if !out.json() {
            out.exact(text.as_bytes());
        }
        return Ok(None);
    };
    let folders = default_folders();
    let none = Path::new("/nonexistent");
    let own = folders.as_ref().map_or([none; 3], |it| [&it.evidence, &it.secrets, &it.state]);
    crate::export::write_to_file(path, named.force, own, |file| {
        Ok(file.write_all(text.as_bytes())?)
    })?;
    Ok(Some(path.to_string_lossy().into_owned()))
}

fn read(path: &Path) -> Result<String, Refusal> {
    let next = "Name a file that `review-request` or `sign` wrote.";
    let unusable = |why: String| Refusal::usage(why, next);
    if path == Path::new("-") || path == Path::new("/dev/stdin") {
        let mut text = String::new();
        let limit = u64::try_from(REQUEST_BYTES).unwrap_or(u64::MAX) + 1;
        let read = std::io::stdin().take(limit).read_to_string(&mut text);
        return read
            .map(|_| text)
            .map_err(|error| unusable(format!("stdin cannot be read: {error}")));
    }
    let bytes = read_file_bytes(path).map_err(|finding| unusable(finding.message))?;
    String::from_utf8(bytes).map_err(|_| unusable(format!("{} is not UTF-8", path.display())))
}

/// A request, its plan, and the digest of its file.
fn read_request(path: &Path) -> Result<(ReviewRequest, Plan, Digest), Refusal> {
    let text = read(path)?;
    let (request, plan) = parse_request(&text).map_err(|why| {
        let message = format!("{} is no request for a signature: {why}", path.display());
        Refusal::usage(message, "Name a file that `review-request` wrote.")
    })?;
    Ok((request, plan, Digest::of(text.as_bytes())))
}

/// The signatures in these files.
///
/// # Errors
/// When a file cannot be read or has no signature.
pub(super) fn signatures(files: &[PathBuf]) -> Result<Vec<ReviewSignature>, Refusal> {
    let signature = |path: &PathBuf| {
        let name = path.display().to_string();
        ReviewSignature::parse(&name, &read(path)?).map_err(|why| {
            let message = format!("{name} has no signature of a request: {why}");
            Refusal::usage(message, "Name a file that `sign` wrote.")
        })
    };
    files.iter().map(signature).collect()
}

/// Shows a request.
///
/// # Errors
/// When the file cannot be read or is no request.
pub(super) fn show(command: &args::Review, out: &mut Output) -> Result<Exit, Refusal> {
    let (request, plan, digest) = read_request(&command.request)?;
    match out.json() {
        true => out.document(&request),
        false => print(&request, plan, digest, out)?,
    }
    Ok(Exit::Done)
}

/// Signs a request, or refuses it.
///
/// # Errors
/// When the request cannot be read, it is not signed, or the file cannot be written.
pub(super) fn sign(command: &args::SignReview, out: &mut Output) -> Result<Exit, Refusal> {
    let (request, plan, digest) = read_request(&command.request)?;
    if let Some(wanted) = command.digest.filter(|wanted| *wanted != digest) {
        let message = format!("the request has the digest {digest}, and not {wanted}");
        return Err(Refusal::usage(message, "Look at it again with `countersign review`."));
    }
    let signing = signing((command.key.as_ref(), command.principal.as_ref()))?;
    let refusal = command.refuse.as_deref();
    let review = request.rated(&plan, &policy()?);
    if refusal.is_none() && !is_valid(&review.findings) {
        return Err(Refusal::invalid_plan(review.findings));
    }
    let now_ms = SystemClock::default().now_ms();
    let document = request.document(&signing.principal, refusal, now_ms).text();
    let (verb, ask) = (if refusal.is_some() { "Refusing" } else { "Signing" }, asks_at_terminal());
    say(&quoted(&format!(
        "{verb} the plan {} with the digest {}",
        plan.name(),
        request.plan_digest
    )));
    let (stop, clock) = (StopSignal::default(), SystemClock::default());
    let signer = Signer::checking(Some(&signing), &stop, &clock);
    let signature = Signer { ask: ask.as_ref(), ..signer }.answer(&signing, &document)?;
    let text = ReviewSignature::file(&document, &signature);
    let file = written(&command.out, &text, out)?;
    if out.json() {
        out.document(&json!({
            "request_id": request.request_id,
            "plan_digest": request.plan_digest,
            "decision": if refusal.is_some() { "refuse" } else { "sign" },
            "principal": signing.principal,
            "fingerprint": signature.fingerprint,
            "file": file,
            "text": file.is_none().then_some(text),
        }));
    }
    Ok(Exit::Done)
}
