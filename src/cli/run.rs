//! `run`: reads a plan once, authorizes exactly what was read, and runs it.

use std::borrow::Cow;
use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use uuid::Uuid;

use super::args::Confirm;
use super::confirmation::CommandLine;
use super::evidence::say_note;
use super::fleet::{fleet_header, print_hosts};
use super::inputs::{Ask, lines};
use super::opening::{OpenedPlan, ReadPlan, evidence_location, warn_of_other_runs};
use super::output::{Output, quoted_in_line, say};
use super::progress::{Progress, print_result, print_rollback_commands, print_steps};
use super::refusal::Refusal;
use super::signals::stop_at_interrupt;
use super::trust::trust;
use super::{Exit, args};
use crate::authorization::{ApprovedPlan, Method, PlanAuthorization};
use crate::engine::{
    Clock as _, ControlHandle, ExecutionError, Executor, ExecutorDeps, SystemClock,
};
use crate::evidence::{EvidenceLocation, RevisionRecord};
use crate::plan::{Digest, Plan, ShownPlan, Step, quoted, rollback};
use crate::risk::Policy;
use crate::run::text::capitalized;
use crate::run::{ExecutionResult, Review, RunStatus, StopSignal, hosts_to_roll_back};
use crate::tools::remove_abandoned_simulations;

/// How long the end of a run waits for its records to be indexed, about.
const INDEX_AT_MOST: Duration = Duration::from_millis(200);

/// Authorizes and runs a plan file. With `--trust-commands`, first records the trust in the workspace's commands.
pub(super) fn run(command: &args::Run, out: &mut Output) -> Result<Exit, Refusal> {
    // Checked before the plan is read, because it does not depend on the plan.
    let confirmation = CommandLine::new(command.consent.confirm, is_terminal())?;
    let mut policy = command.options.policy()?;
    policy.review_signatures = super::review::signatures(&command.consent.signature)?;
    let workspace = command.workspace.workspace.as_deref();
    let folder = &command.options.common.folder;
    let inputs = (&command.inputs, Ask::AtTerminal);
    let read = ReadPlan::file(&command.plan, workspace, &command.choices, inputs)?;
    policy.secret_inputs = read.filled_in.secret_inputs.clone();
    let mut review = read.review(&mut policy, folder)?;
    let method = authorizing_flag(&command.consent, read.digest)?;
    authorizes_hosts(&command.consent, review.as_ref())?;
    let location = evidence_location(folder)?;
    if let Some(digest) = command.trust_commands {
        let workspace = review.as_ref().map_or("", |review| &review.binding.workspace);
        let commands = review.as_ref().and_then(|review| review.workspace_commands.as_ref());
        trust(workspace, commands, digest, &location)?;
        review = read.review(&mut policy, folder)?;
    }
    let opened = read.with_review(review);
    let file = std::path::absolute(&command.plan).ok();
    let start = Start { opened, file, method, parent_run: None, policy, confirmation, location };
    start.run(out)
}

/// A reviewed plan and everything that is needed to authorize and run it.
pub(super) struct Start {
    pub(super) opened: OpenedPlan,
    /// The plan file; `None` for a follow-up plan, which has no file.
    pub(super) file: Option<PathBuf>,
    /// The flag that authorizes the plan; `None` if no flag does.
    pub(super) method: Option<Method>,
    /// The run that this plan follows up.
    pub(super) parent_run: Option<Uuid>,
    pub(super) policy: Policy,
    pub(super) confirmation: CommandLine,
    pub(super) location: EvidenceLocation,
}

impl Start {
    /// Authorizes the plan and runs it.
    ///
    /// # Errors
    /// The plan is invalid (E001), no flag authorizes it (E002), a step needs a terminal (E305), or the executor returns an error.
    pub(super) fn run(self, out: &mut Output) -> Result<Exit, Refusal> {
        let Self { opened, file, method, parent_run, mut policy, confirmation, location } = self;
        let valid = opened.is_valid();
        let (findings, filled_in) = (opened.findings, opened.filled_in);
        let plan = opened.plan.and_then(ShownPlan::complete).filter(|_| valid);
        let (Some(plan), Some(review)) = (plan, opened.review) else {
            return Err(Refusal::invalid_plan(findings));
        };
        let Some(method) = method else { return Err(unauthorized(plan.digest).into()) };
        let needs_terminal = |step: &&Step| step.needs.as_ref().is_some_and(|it| it.terminal);
        if let Some(step) = plan.steps.iter().find(needs_terminal) {
            return Err(Refusal::needs_terminal(step.step_index + 1));
        }
        let clock = Arc::new(SystemClock::default());
        let authorization =
            PlanAuthorization::pending(&plan, review.binding.clone(), method, clock.now_ms())
                .with_parent_run(parent_run)
                .approve(clock.now_ms(), policy.authorization_ttl_ms)
                .with_boot_time(clock.since_boot());
        if !out.json() {
            print_header(&plan, &review, &findings, parent_run);
        }

        // Removes folders that earlier simulations left behind. Those that cannot be removed now are left for a later
        // start.
        let _ = remove_abandoned_simulations();
        let store = location.store()?;
        say_note(store.note());
        if policy.review_signatures.is_empty() {
            policy.review_signatures =
                super::review::answers(&policy, &store, &authorization, &plan)?;
        }
        warn_of_other_runs(&location, &review.workspace);
        // The base may be faulty; its bytes are recorded all the same.
        let base = filled_in.base.as_ref().map(|(base, parts)| (base.valid_steps(), parts));
        let revision = base.as_ref().map(|(base, parts)| RevisionRecord { base, parts });
        let control = ControlHandle::default();
        // What still runs on hosts is recorded. A run on this computer ends with this process.
        if plan.fleet.is_some() {
            stop_at_interrupt(&control).map_err(|error| {
                Refusal::usage(
                    format!("interrupts (Ctrl+C) cannot be handled: {error}"),
                    "Try again.",
                )
            })?;
        }
        let deps = ExecutorDeps {
            policy,
            clock,
            confirmation: Box::new(confirmation),
            progress: Arc::new(Progress::new(Some(plan.steps.len()), out.json())),
            control,
            terminal: None,
            secrets: None,
            passphrase: super::passphrase::asks_at_terminal(),
        };
        let mut executor = Executor::new(store, deps).with_plan_file(file);
        executor
            .record_authorization(&authorization, &plan, revision.as_ref())
            .map_err(ExecutionError::from)?;
        let approved = ApprovedPlan { plan: plan.clone(), authorization };
        let result = executor.execute(approved).inspect_err(|error| {
            // If the evidence fails, the results of the steps done so far exist only here.
            if let ExecutionError::EvidenceStore { step_results, .. } = error
                && !out.json()
            {
                print_steps(&plan, step_results, out);
            }
        })?;
        if let Some(why) = result.not_signed.as_ref().filter(|_| !out.json()) {
            say(&quoted(&format!("The end of the run is not signed: {why}")));
        }
        let failed = result.status != RunStatus::Completed;
        let hosts = hosts_to_roll_back(&result.host_results);
        let rollback_plan = rollback(&plan, result.run_id, &hosts).filter(|_| failed);
        if out.json() {
            let rollback_plan = rollback_plan.as_deref().map(String::from_utf8_lossy);
            out.document(&RunDocument { result: &result, rollback_plan });
        } else {
            print_hosts(&plan, &result.host_results, out);
            print_result(&plan, &result, out);
            if rollback_plan.is_some() {
                print_rollback_commands(&plan, out);
            }
        }
        index_briefly(&location);
        Ok(if failed { Exit::Failed } else { Exit::Done })
    }
}

/// Indexes what was recorded, for so short a time that nobody waits. Another process indexes what is left, and a failure
/// is reported by the search.
pub(super) fn index_briefly(location: &EvidenceLocation) {
    // A writer that closes the database last removes its log, which a reader alone would leave behind.
    let _store = location.store();
    let stop = StopSignal::default();
    let _ = location.reader().catch_up_index_within(INDEX_AT_MOST, &stop, &mut |_, _| {});
}

/// The JSON result of a run.
#[derive(Serialize)]
struct RunDocument<'a> {
    #[serde(flatten)]
    result: &'a ExecutionResult,
    /// The text of the rollback plan after a failure, if the plan has rollback commands. It must be reviewed,
    /// authorized and run like any other plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    rollback_plan: Option<Cow<'a, str>>,
}

/// Whether a person can be asked: stdin and stderr are both terminals.
pub(super) fn is_terminal() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// The flag that authorizes the plan, if any does. If the file could not be read completely, `digest` is `None` and
/// the findings state the reason.
///
/// # Errors
/// The digest of `--authorize` is not that of the plan.
pub(super) fn authorizing_flag(
    command: &args::Consent,
    digest: Option<Digest>,
) -> Result<Option<Method>, Refusal> {
    match (command.authorize, digest) {
        (Some(approved), Some(now)) if approved != now => {
            Err(ExecutionError::stale("plan bytes", approved, now).into())
        }
        (Some(_), _) => Ok(Some(Method::CommandLineDigest)),
        (None, _) => Ok(command.yes.then_some(Method::CommandLineYes)),
    }
}

/// Checks that the digest on the command line covers also the hosts. That of the plan does not cover an inventory, known
/// hosts or settings.
///
/// # Errors
/// The plan is for several hosts, `--authorize` was given, and `--hosts` was not given or is another digest.
pub(super) fn authorizes_hosts(
    command: &args::Consent,
    review: Option<&Review>,
) -> Result<(), Refusal> {
    let Some(fleet) = review.and_then(|review| review.fleet.as_ref()) else { return Ok(()) };
    match (command.authorize, command.hosts) {
        (None, _) => Ok(()),
        (Some(_), Some(approved)) if approved == fleet.digest => Ok(()),
        (Some(_), Some(approved)) => {
            let what = "hosts and what ansible and ssh read";
            Err(ExecutionError::stale(what, approved, fleet.digest).into())
        }
        (Some(_), None) => {
            let reason = format!(
                "the digest of the plan does not cover its hosts; `--hosts {}` does",
                fleet.digest
            );
            Err(ExecutionError::NotAuthorized { reason }.into())
        }
    }
}

pub(super) fn unauthorized(digest: Digest) -> ExecutionError {
    ExecutionError::NotAuthorized {
        reason: format!(
            "neither --authorize nor --yes was given; `--authorize {digest}` authorizes this plan"
        ),
    }
}

fn print_header(
    plan: &Plan,
    review: &Review,
    findings: &[crate::plan::Finding],
    parent_run: Option<Uuid>,
) {
    say(&format!("Plan {}", quoted(plan.name())));
    if !plan.inputs.is_empty() {
        // The digest of the file does not cover what was filled in.
        say(&format!("Filled in, with the digest {}", plan.digest));
        lines(&plan.inputs).iter().for_each(|line| say(&quoted_in_line(&format!("  {line}"))));
    }
    if let Some(parent_run) = parent_run {
        say(&quoted(&capitalized(&plan.relation(parent_run, None))));
    }
    let workspace = review.workspace.display().to_string();
    say(&format!("Workspace {}. {}", quoted(&workspace), quoted(&review.workspace_reason)));
    if let Some(target) = &review.binding.target {
        say(&format!("Commands run on {}", quoted(&target.to_string())));
    }
    if let Some(fleet) = &review.fleet {
        fleet_header(fleet).iter().for_each(|line| say(&quoted(line)));
    }
    // The digest on the command line does not cover grants, so they are printed.
    if !review.binding.grants.is_empty() {
        let grants = &review.binding.grants;
        say(&quoted(&format!("Granted to the steps beyond their walls: {grants}")));
    }
    if !review.binding.choices.is_default() {
        say(&quoted(&format!("Chosen for this run: {}", review.binding.choices)));
    }
    // Also those of a file of another program, which say what is no part of the plan.
    for finding in findings {
        say(&super::documents::finding_line(finding));
    }
}

impl Confirm {
    /// The default of `--confirm`.
    pub(super) const fn default_for(is_terminal: bool) -> Self {
        if is_terminal { Self::Ask } else { Self::Cancel }
    }
}
