//! Plans of Terraform and OpenTofu, as `show -json` prints them. The JSON is only what people can read: what is applied is
//! the binary plan beside it. So the digests of both become part of the step, which compares them before it applies a
//! copy of the binary plan.

mod changes;
mod values;

use super::files::{Beside, Files};
use super::json::{At, located, read};
use super::written::Commands;
use crate::plan::{Code, Digest, Finding, ProposedCommand, limits};
use changes::Changes;

/// Endings of the binary plan, in place of `.json`.
const ENDINGS: [&str; 5] = ["", ".tfplan", ".plan", ".out", ".bin"];

/// Top-level fields whose meaning is known.
const FIELDS: [&str; 20] = [
    "format_version",
    "terraform_version",
    "variables",
    "planned_values",
    "proposed_unknown",
    "prior_state",
    "resource_changes",
    "resource_drift",
    "output_changes",
    "configuration",
    "relevant_attributes",
    "checks",
    "condition_results",
    "timestamp",
    "errored",
    "applyable",
    "complete",
    "deferred_changes",
    "action_invocations",
    "deferred_action_invocations",
];

/// The one step that applies the binary plan. Its explanation is the review.
///
/// # Errors
/// The JSON cannot be shown as a whole, it changes nothing, or the binary plan is not beside it.
pub(super) fn commands(
    text: &str,
    bytes: &[u8],
    files: &dyn Files,
) -> Result<Commands, Vec<Finding>> {
    let value = read(text)?;
    let root = At::root(&value);
    let mut findings = Vec::new();
    let step =
        step(&root, bytes, files, &mut findings).map_err(|error| located(text, vec![error]))?;
    Ok(Commands {
        title: step.description.clone(),
        commands: vec![step],
        findings: located(text, findings),
        ..Commands::default()
    })
}

fn step(
    root: &At<'_>,
    bytes: &[u8],
    files: &dyn Files,
    findings: &mut Vec<Finding>,
) -> Result<ProposedCommand, Finding> {
    let version = root.must("format_version")?;
    if !["0", "1"].contains(&version.split('.').next().unwrap_or_default()) {
        return Err(root.error(format!("format_version {version:?} is not known here")));
    }
    if root.flag("errored")? {
        return Err(root.error("planning ended with an error, so this plan is not complete"));
    }
    if root.get("applyable").is_some() && !root.flag("applyable")? {
        return Err(root.error("its program says that it cannot be applied"));
    }
    if root.get("complete").is_some() && !root.flag("complete")? {
        findings.push(root.warning("it is not complete: another plan has to follow"));
    }
    for name in root.object()?.keys().filter(|name| !FIELDS.contains(&name.as_str())) {
        findings
            .push(root.warning(format!("the field \"{name}\" is not known here, and not shown")));
    }
    for name in ["deferred_changes", "action_invocations", "deferred_action_invocations"] {
        let number = root.list(name)?.len();
        if number > 0 {
            findings.push(root.warning(format!("{number} entries in \"{name}\" are not shown")));
        }
    }
    let changes = Changes::read(root)?;
    if changes.lines.is_empty() {
        return Err(Finding::error(Code::Missing, "", "it changes nothing"));
    }
    if changes.lines.len() > limits::ARGUMENT_BYTES {
        let message =
            "what it changes is longer than a plan can show, and what is not shown is not signed";
        return Err(Finding::error(Code::Limit, "", message));
    }
    let (name, program) = program(root)?;
    let binary = binary(root, files)?;
    let summary = changes.summary();
    let mut description = format!("Apply the {name} plan {}: {summary}", binary.name);
    description.truncate(description.floor_char_boundary(limits::ID_BYTES));
    Ok(ProposedCommand {
        command: command(program, &binary, Digest::of(bytes)),
        description: Some(description),
        explanation: Some(changes.lines),
        cwd: Some(binary.folder).filter(|folder| !folder.is_empty()),
        timeout_seconds: Some(limits::TIMEOUT_SECONDS.min(60 * 60)),
        network: true,
        warning: Some(format!("It changes real infrastructure: {summary}.")),
        ..ProposedCommand::default()
    })
}

/// The name of the program that made the plan, and how it is called. The JSON does not say it; the registry of its
/// providers does.
fn program(root: &At<'_>) -> Result<(&'static str, &'static str), Finding> {
    let mut providers = Vec::new();
    for change in root.list("resource_changes")? {
        providers.extend(change.text("provider_name")?);
    }
    if let Some(configured) = root.get("configuration").and_then(|it| it.get("provider_config")) {
        for name in configured.object()?.keys() {
            let provider = configured.get(name);
            providers.extend(provider.map(|it| it.text("full_name")).transpose()?.flatten());
        }
    }
    let has = |registry: &str| providers.iter().any(|it| it.starts_with(registry));
    match (has("registry.terraform.io/"), has("registry.opentofu.org/")) {
        (true, false) => Ok(("Terraform", "terraform")),
        (false, true) => Ok(("OpenTofu", "tofu")),
        _ => Err(root.error(
            "whether Terraform or OpenTofu made it cannot be told from its providers: apply it by its own program",
        )),
    }
}

fn binary(root: &At<'_>, files: &dyn Files) -> Result<Beside, Finding> {
    for ending in ENDINGS {
        match files.beside(ending) {
            Ok(Some(binary)) => return Ok(binary),
            Ok(None) => {}
            Err(error) => return Err(root.error(error)),
        }
    }
    Err(root.error(
        "the binary plan is not beside it. If this file is NAME.json, the binary plan must be NAME, NAME.tfplan, \
         NAME.plan, NAME.out or NAME.bin in the same folder",
    ))
}

/// Compares a copy of the binary plan and what is shown of it with what was signed, and applies the copy.
fn command(program: &str, binary: &Beside, shown: Digest) -> String {
    let name = binary.name.replace('\'', "'\\''");
    let (signed, shown) = (binary.digest.hex(), shown.hex());
    format!(
        "plan=$(mktemp) && cp -- '{name}' \"$plan\" || exit\n\
         [ \"$(sha256sum < \"$plan\")\" = '{signed}  -' ] || {{ echo 'the binary plan is not the signed one' >&2; exit 1; }}\n\
         [ \"$({program} show -json \"$plan\" | sha256sum)\" = '{shown}  -' ] || {{ echo 'the binary plan is not what was shown' >&2; exit 1; }}\n\
         {program} apply -input=false \"$plan\"\n"
    )
}
