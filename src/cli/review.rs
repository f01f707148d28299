//! `review-request`, `review` and `sign`: another person's signature under an approval. Nothing is run.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;

use super::args::RecordId;
use super::args::evidence::OutFile;
use super::evidence::signature::signing;
use super::inputs::Ask;
use super::opening::{ReadPlan, evidence_location};
use super::output::{Output, quoted_in_line, say};
use super::passphrase::asks_at_terminal;
use super::refusal::Refusal;
use super::time::local_time;
use super::{Exit, args};
use crate::authorization::{PlanAuthorization, ReviewSignature, persons_needed};
use crate::engine::{Clock as _, FollowUp, Signer, SystemClock, WorkspaceChoice};
use crate::evidence::EvidenceStore;
use crate::plan::{Destination, Fleet, FleetHosts, Plan, quoted};
use crate::risk::Policy;
use crate::run::{FileChange, REQUEST_BYTES, Review, ReviewRequest, StopSignal};
use crate::signing::SshKeygen;
use crate::worker::{answers_in, default_folders, review_request};

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
        }));
    }
    Ok(Exit::Done)
}

/// The plan that a command makes from the recorded run whose id is in the place of the plan file.
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
    for answer in answers {
        let why = match signer.why_not_for(store, reviewing, &answer, authorization)? {
            Some(why) => Some(why),
            None => signer.why_same(reviewing, &answer, &counted.iter().collect::<Vec<_>>()),
        };
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

fn read(path: &Path, limit: usize) -> Result<String, Refusal> {
    let mut text = String::new();
    let limit = u64::try_from(limit).unwrap_or(u64::MAX);
    let read = File::open(path).and_then(|file| file.take(limit + 1).read_to_string(&mut text));
    match read {
        Ok(count) if count as u64 > limit => {
            let message = format!("{} has more than {limit} bytes", path.display());
            Err(Refusal::usage(message, "Name a file that `review-request` or `sign` wrote."))
        }
        Ok(_) => Ok(text),
        Err(error) => {
            let message = format!("{} cannot be read: {error}", path.display());
            Err(Refusal::usage(message, "Name a file that `review-request` or `sign` wrote."))
        }
    }
}

fn read_request(path: &Path) -> Result<(ReviewRequest, Plan), Refusal> {
    ReviewRequest::parse(&read(path, REQUEST_BYTES)?).map_err(|why| {
        let message = format!("{} is no request for a signature: {why}", path.display());
        Refusal::usage(message, "Name a file that `review-request` wrote.")
    })
}

/// The signatures in these files.
///
/// # Errors
/// When a file cannot be read or has no signature.
pub(super) fn signatures(files: &[PathBuf]) -> Result<Vec<ReviewSignature>, Refusal> {
    let signature = |path: &PathBuf| {
        let name = path.display().to_string();
        ReviewSignature::parse(&name, &read(path, REQUEST_BYTES)?).map_err(|why| {
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
    let (request, plan) = read_request(&command.request)?;
    if out.json() {
        out.document(&request);
        return Ok(Exit::Done);
    }
    print(&request, &plan, out);
    Ok(Exit::Done)
}

/// The hosts of a plan. Those of an inventory are what the computer says that asks.
fn hosts_of(fleet: &Fleet, said: &Review) -> String {
    let joined =
        |hosts: &[Destination]| hosts.iter().map(Destination::as_str).collect::<Vec<_>>().join(" ");
    match (&fleet.hosts, &said.fleet) {
        (FleetHosts::Named(hosts), _) => joined(hosts),
        (FleetHosts::Inventory(path), Some(said)) => {
            format!("{}, which that computer read in {path}", joined(&said.hosts))
        }
        (FleetHosts::Inventory(path), None) => format!("the hosts of {path}"),
    }
}

fn print(request: &ReviewRequest, plan: &Plan, out: &mut Output) {
    let (policy, binding) = (Policy::default(), &request.review.binding);
    let (review, raised) = request.rated(plan, &policy);
    let target = binding.target.as_ref();
    let runs_on = match (target, &plan.fleet) {
        (Some(target), _) => Some(target.to_string()),
        (None, Some(fleet)) => Some(hosts_of(fleet, &request.review)),
        (None, None) => None,
    };
    out.fields([
        ("Request", request.request_id.to_string()),
        ("Asked", local_time(request.requested_at_ms)),
        ("Asked by", request.requested_by.clone()),
        ("Plan", format!("{} ({})", plan.name(), plan.plan_id)),
        ("Digest", request.plan_digest.to_string()),
        ("Workspace", binding.workspace.clone()),
        ("Runs on", runs_on.unwrap_or_else(|| "that computer".to_owned())),
        ("Mode", binding.mode.as_str().to_owned()),
        ("Granted", format!("{}; {}", binding.grants, binding.choices)),
        ("Evidence", request.evidence.clone()),
    ]);
    if let Some(fleet) = &binding.fleet {
        out.line(&quoted_in_line(&format!("On {} hosts by {}", fleet.hosts, fleet.line())));
    }
    if let Some(batches) = plan.fleet.as_ref().and_then(Fleet::batches) {
        out.line(&format!("The hosts run {batches}"));
    }
    for (path, state) in &binding.inputs {
        out.line(&quoted_in_line(&format!("File {path}: {state}")));
    }
    out.line("");
    // The steps are those of the bytes; what they would do is what the other computer says.
    for (step, risk) in plan.steps.iter().zip(&review.risks) {
        let (number, level) = (step.step_index + 1, risk.level.as_str());
        let here = if raised.contains(&step.step_index) { ", as rated here" } else { "" };
        let line = format!("{number:>3}  {}  ({level}{here}: {})", step.tool_name, risk.reason);
        out.line(&quoted_in_line(&line));
        for (name, value) in &step.arguments {
            for (number, line) in value.lines().enumerate() {
                let name = if number == 0 { format!("{name}:") } else { String::new() };
                out.line(&quoted_in_line(&format!("       {name:<10} {line}")));
            }
        }
    }
    out.line("");
    out.line("What the other computer says that it would do:");
    for (step, preview) in plan.steps.iter().zip(request.previews()) {
        out.line(&quoted_in_line(&format!("{:>3}  {}", step.step_index + 1, preview.summary)));
        let diff: String = preview.changes.iter().map(FileChange::unified).collect();
        diff.lines().for_each(|line| out.line(&quoted(line)));
    }
}

/// Signs a request, or refuses it.
///
/// # Errors
/// When the request cannot be read, it is not signed, or the file cannot be written.
pub(super) fn sign(command: &args::SignReview, out: &mut Output) -> Result<Exit, Refusal> {
    let (request, plan) = read_request(&command.request)?;
    let signing = signing((command.key.as_ref(), command.principal.as_ref()))?;
    let refusal = command.refuse.as_deref();
    let now_ms = SystemClock::default().now_ms();
    let document = request.document(&signing.principal, refusal, now_ms).text();
    let (verb, ask) = (if refusal.is_some() { "Refusing" } else { "Signing" }, asks_at_terminal());
    say(&quoted(&format!(
        "{verb} the plan {} with the digest {}",
        plan.name(),
        request.plan_digest
    )));
    let keygen = SshKeygen::of_system(None)?;
    let what = "your answer about a plan";
    let stop = StopSignal::default();
    let signature = keygen.sign(&signing, document.as_bytes(), what, ask.as_ref(), &stop)?;
    let file = written(&command.out, &ReviewSignature::file(&document, &signature), out)?;
    if out.json() {
        out.document(&json!({
            "request_id": request.request_id,
            "plan_digest": request.plan_digest,
            "decision": if refusal.is_some() { "refuse" } else { "sign" },
            "principal": signing.principal,
            "fingerprint": signature.fingerprint,
            "file": file,
        }));
    }
    Ok(Exit::Done)
}
