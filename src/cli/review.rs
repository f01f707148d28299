//! `review-request`, `review` and `sign`: another person's signature under an approval. Nothing is run.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;

use super::args::evidence::OutFile;
use super::evidence::signature::signing;
use super::inputs::Ask;
use super::opening::{ReadPlan, evidence_location};
use super::output::{Output, quoted_in_line, say};
use super::passphrase::asks_at_terminal;
use super::refusal::Refusal;
use super::time::local_time;
use super::{Exit, args};
use crate::authorization::{ReviewRequest, ReviewSignature};
use crate::engine::{Clock as _, SystemClock, simulate_shown};
use crate::plan::{Destination, Fleet, FleetHosts, ShownPlan, limits, parse, quoted};
use crate::run::{FileChange, StopSignal};
use crate::signing::SshKeygen;
use crate::worker::default_folders;

/// The largest request, in bytes: a plan as text in JSON, and as much again for what it would do.
const REQUEST_BYTES: usize = 4 * limits::PLAN_BYTES;

/// Reviews a plan and writes the request.
///
/// # Errors
/// When the plan is not valid as things are, there is no evidence and none can be made, or the file cannot be written.
pub(super) fn request(command: &args::ReviewRequest, out: &mut Output) -> Result<Exit, Refusal> {
    let check = &command.check;
    let mut policy = check.options.policy()?;
    let folder = &check.options.common.folder;
    let workspace = check.workspace.workspace.as_deref();
    let inputs = (&check.inputs, Ask::AtTerminal);
    let read = ReadPlan::file(&check.plan, workspace, &check.choices, inputs)?;
    policy.secret_inputs = read.filled_in.secret_inputs.clone();
    let review = read.review(&mut policy, folder)?;
    let opened = read.with_review(review);
    let valid = opened.is_valid();
    let (Some(plan), Some(review), true) = (opened.plan, opened.review, valid) else {
        return Err(Refusal::invalid_plan(opened.findings));
    };
    if !review.binding.secret_inputs.is_empty() {
        let message = "the plan has secret inputs, and what is given there is not the same twice";
        return Err(Refusal::usage(message.to_owned(), "Take the secret inputs out of the plan."));
    }
    let location = evidence_location(folder)?;
    // Makes the evidence if there is none yet: its name is in what is signed.
    let origin = location.store()?.origin();
    let text = String::from_utf8_lossy(&plan.source).into_owned();
    let now_ms = SystemClock::default().now_ms();
    let mut request = ReviewRequest::new(origin, text, review.binding.clone(), now_ms);
    let shown =
        simulate_shown(&plan, &review.workspace, &policy, Some(&location), &Arc::default())?;
    request.steps = steps(&plan, shown.previews.iter().map(|it| it.summary.as_str()));
    request.diff = shown.changes.iter().map(FileChange::unified).collect();
    let text = serde_json::to_string_pretty(&request).unwrap_or_default() + "\n";
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

/// What each step would do, in a line each.
fn steps<'a>(plan: &ShownPlan, previews: impl Iterator<Item = &'a str>) -> Vec<String> {
    let names = plan.steps.iter().map(|step| {
        let about = step.call.as_ref().map(|call| call.headline().1).unwrap_or_default();
        format!("{} {about}", step.tool_name)
    });
    let previews = previews.map(str::to_owned).chain(std::iter::repeat(String::new()));
    names.zip(previews).map(|(name, preview)| format!("{name}: {preview}")).collect()
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

fn read_request(path: &Path) -> Result<(ReviewRequest, ShownPlan), Refusal> {
    let wrong = |why: String| {
        let message = format!("{} is no request for a signature: {why}", path.display());
        Refusal::usage(message, "Name a file that `review-request` wrote.")
    };
    let request = ReviewRequest::parse(&read(path, REQUEST_BYTES)?).map_err(wrong)?;
    let plan = parse(request.plan.as_bytes()).into_shown();
    let plan = plan.ok_or_else(|| wrong("it has no plan".to_owned()))?;
    Ok((request, plan))
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

/// The hosts of a plan. Those of an inventory are known to the computer that asks.
fn hosts_of(fleet: &Fleet) -> String {
    match &fleet.hosts {
        FleetHosts::Named(hosts) => {
            let hosts: Vec<&str> = hosts.iter().map(Destination::as_str).collect();
            hosts.join(" ")
        }
        FleetHosts::Inventory(path) => {
            format!("the hosts of {path}; compare the file, whose digest is below")
        }
    }
}

fn print(request: &ReviewRequest, plan: &ShownPlan, out: &mut Output) {
    let binding = &request.binding;
    let target = binding.target.as_ref();
    let runs_on = match (target, &plan.fleet) {
        (Some(target), _) => Some(target.to_string()),
        (None, Some(fleet)) => Some(hosts_of(fleet)),
        (None, None) => None,
    };
    out.fields([
        ("Request", request.request_id.to_string()),
        ("Asked", local_time(request.requested_at_ms)),
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
    for step in &plan.steps {
        out.line(&quoted_in_line(&format!("{:>3}  {}", step.step_index + 1, step.tool_name)));
        for (name, value) in &step.arguments {
            for (number, line) in value.lines().enumerate() {
                let name = if number == 0 { format!("{name}:") } else { String::new() };
                out.line(&quoted_in_line(&format!("       {name:<10} {line}")));
            }
        }
    }
    out.line("");
    out.line("What the other computer says that it would do:");
    request.steps.iter().for_each(|line| out.line(&quoted_in_line(line)));
    request.diff.lines().for_each(|line| out.line(&quoted(line)));
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
