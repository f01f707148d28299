//! `loop`: runs a bounded loop whose plans are authorized by flags of the command line.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use uuid::Uuid;

use super::args::TargetWord;
use super::confirmation::CommandLine;
use super::evidence::say_note;
use super::opening::{current_folder, evidence_location, warn_of_other_runs, workspace};
use super::output::{Output, quoted_in_line, say};
use super::planner::check_model;
use super::progress::Progress;
use super::refusal::Refusal;
use super::run::{index_briefly, is_terminal};
use super::signals::stop_at_interrupt;
use super::trust::trust;
use super::{Exit, args, check};
use crate::authorization::{AuthorizationClass, CLASS_BYTES, Method};
use crate::autonomy::{
    AuthorizationRequest, BoundedLoop, LoopDeps, LoopOrder, LoopOutcome, LoopSetup, PlanAuthorizer,
    PlanDecision, default_timeout, needs_of, planner_limits, resolve,
};
use crate::engine::{
    Clock as _, ConfirmationCallback, ControlHandle, ProgressCallback, SystemClock,
    workspace_commands,
};
use crate::plan::quoted;
use crate::risk::{PlannerNeeds, Policy};
use crate::run::{
    AttemptRecord, CommandsReview, LookRecord, LookScope, PlannerReport, PlannerStatus, RunEvent,
    StopCode, VERIFY_GATE, default_verify, failure_words, text,
};
use crate::tools::{PlannerProgram, Toolbox};

/// Runs a loop, or revokes an authorization class.
pub(super) fn bounded(command: &args::Loop, out: &mut Output) -> Result<Exit, Refusal> {
    if let Some(class_id) = command.revoke_class {
        return revoke(class_id, command, out);
    }
    let (Some(goal), Some(planner)) = (&command.goal, &command.planner) else {
        return Err(Refusal::usage("a goal and a planner are missing", ""));
    };
    let confirmation = CommandLine::new(command.confirm, is_terminal())?;
    let mut setup = setup(&command.planning, goal, planner)?;
    let (location, policy) = (&setup.location, &setup.policy);
    let class = command.authorize_class.as_deref().map(read_class).transpose()?;
    if let Some(digest) = command.trust_commands {
        let (folder, commands) = workspace_commands(&setup.order.workspace.folder, policy)?;
        trust(&folder.to_string_lossy(), commands.as_ref(), digest, location)?;
    }
    let verify = match command.verify {
        Some(word) => word.into(),
        None => default_verify(setup.order.target.as_deref()),
    };
    setup.order = LoopOrder { class, verify, ..setup.order };
    let authorizer = FlagAuthorizer { yes: command.yes };
    let outcome = run(&setup, confirmation, authorizer, out)?;
    if out.json() {
        out.document(&outcome);
    } else {
        print_outcome(&outcome, out);
    }
    Ok(exit(&outcome))
}

/// Runs the loop, and prints before it what the planner is asked and what it may do. Ctrl-C stops the loop.
pub(super) fn run(
    setup: &LoopSetup,
    confirmation: impl ConfirmationCallback + 'static,
    authorizer: impl PlanAuthorizer + 'static,
    out: &Output,
) -> Result<LoopOutcome, Refusal> {
    let control = ControlHandle::default();
    stop_at_interrupt(&control).map_err(|error| {
        Refusal::usage(format!("interrupts (Ctrl+C) cannot be handled: {error}"), "Try again.")
    })?;
    // An error here is ignored, because evidence that cannot be read makes the loop itself fail.
    say_note(setup.location.reader().head_report().unwrap_or_default().note.as_deref());
    if !out.json() {
        print_header(setup);
    }
    // Recorded runs name their workspace without links. If the folder cannot be found, the loop itself fails.
    let workspace = setup.order.workspace.folder.canonicalize().ok();
    if let Some(workspace) = workspace.filter(|_| !setup.order.plan_only) {
        warn_of_other_runs(&setup.location, &workspace);
    }
    let deps = LoopDeps {
        clock: Arc::new(SystemClock::default()),
        confirmation: Box::new(confirmation),
        progress: Arc::new(LoopProgress(Progress::new(None, out.json()))),
        control,
        authorizer: Box::new(authorizer),
        terminal: None,
        secrets: None,
        passphrase: super::passphrase::asks_at_terminal(),
    };
    let outcome = BoundedLoop::run(setup, deps);
    index_briefly(&setup.location);
    Ok(outcome?)
}

fn exit(outcome: &LoopOutcome) -> Exit {
    match outcome.stop_reason.code {
        _ if outcome.not_recorded.is_some() => Exit::Evidence,
        StopCode::Completed => Exit::Done,
        StopCode::NotAuthorized => Exit::NotAuthorized,
        _ => Exit::Failed,
    }
}

/// What the options order, without a class and without a verification.
pub(super) fn setup(
    command: &args::Planning,
    goal: &str,
    planner: &str,
) -> Result<LoopSetup, Refusal> {
    let current = current_folder()?;
    if goal.trim().is_empty() {
        return Err(Refusal::usage("the goal is empty", "Describe the goal in words."));
    }
    let program = resolve(planner, &current)
        .map_err(|why| Refusal::usage(why, "Name a planner with --planner."))?;
    let mut location = evidence_location(&command.options.common.folder)?;
    if let Ok(absolute) = std::path::absolute(&location.evidence) {
        location.evidence = absolute;
    }
    let workspace = workspace(command.workspace.as_deref(), &current);
    if workspace.folder.canonicalize().is_ok_and(|folder| folder.parent().is_none()) {
        return Err(Refusal::usage(
            "the workspace is /: a loop reads and changes everything in its workspace",
            "Name a folder in it with --workspace.",
        ));
    }
    let mut policy = command.options.policy()?;
    if matches!(program, PlannerProgram::Program { has_key: true, .. }) {
        check_model(&policy)?;
    }
    if command.planner_network {
        let needs = PlannerNeeds { network: true, ..needs_of(planner, &policy) };
        policy.planners.insert(planner.trim().to_owned(), needs);
    }
    let order = LoopOrder {
        goal: goal.to_owned(),
        planner: planner.to_owned(),
        planner_timeout: match command.planner_timeout {
            Some(seconds) => Duration::from_secs(seconds.into()),
            None => default_timeout(planner),
        },
        max_attempts: command.max_attempts,
        verify: None,
        workspace,
        class: None,
        looks: command.looks.into(),
        target: match &command.target {
            Some(TargetWord::Host(host)) => Some(host.to_string()),
            Some(TargetWord::Local) | None => None,
        },
        plan_only: false,
    };
    Ok(LoopSetup { order, program, method: Method::CommandLine, location, policy })
}

/// Reads the authorization class in a file.
fn read_class(file: &Path) -> Result<AuthorizationClass, Refusal> {
    let refuse = |message: String| {
        Refusal::usage(format!("{}: {message}", file.display()), "Correct the class file.")
    };
    let mut bytes = Vec::new();
    std::fs::File::open(file)
        .and_then(|file| file.take(CLASS_BYTES as u64 + 1).read_to_end(&mut bytes))
        .map_err(|error| refuse(format!("cannot be read: {error}")))?;
    AuthorizationClass::read(&bytes).map_err(|error| refuse(error.to_string()))
}

fn revoke(class_id: Uuid, command: &args::Loop, out: &mut Output) -> Result<Exit, Refusal> {
    let location = evidence_location(&command.planning.options.common.folder)?;
    let mut store = location.store()?;
    let revoked = store.revoke_class(class_id, SystemClock::default().now_ms())?;
    if !revoked {
        return Err(Refusal::usage(
            format!("the evidence has no valid authorization class {class_id}"),
            "Look at the loop with `evidence show`.",
        ));
    }
    if out.json() {
        out.document(&json!({ "class_id": class_id, "revoked": true }));
    } else {
        out.line(&format!("Revoked: {class_id} authorizes nothing any more."));
    }
    Ok(Exit::Done)
}

/// Authorizes plans by the flags of the command line. A plan that no flag covers is rejected without a question.
struct FlagAuthorizer {
    yes: bool,
}

impl PlanAuthorizer for FlagAuthorizer {
    fn authorize(&mut self, request: &AuthorizationRequest<'_>) -> PlanDecision {
        if self.yes {
            let note = "--yes authorizes every attempt".to_owned();
            return PlanDecision::Approve { method: Method::CommandLineYes, note };
        }
        let (digest, outside) = (request.plan.digest, request.outside.join("; "));
        let reason = if outside.is_empty() {
            format!("neither --authorize-class nor --yes was given for the plan {digest}")
        } else {
            format!("the plan {digest} is outside the authorization class: {outside}")
        };
        PlanDecision::Reject { method: Method::CommandLine, reason, replan: false }
    }
}

/// The commands in the workspace's countersign.toml, with which the loop may verify. `None` if there are none or they
/// cannot be read.
fn commands(setup: &LoopSetup) -> Option<CommandsReview> {
    let trusted = setup.location.open().and_then(|mut evidence| evidence.trusted_commands());
    // If the evidence cannot be read, nothing is trusted; the loop itself reports that error.
    let trusted_commands = trusted.unwrap_or_default();
    let policy = Policy { trusted_commands, ..setup.policy.clone() };
    workspace_commands(&setup.order.workspace.folder, &policy).ok()?.1
}

/// Prints what a planner is asked, and what it may do.
fn print_header(setup: &LoopSetup) {
    say(&format!("Goal {}", quoted_in_line(&setup.order.goal)));
    let folder = setup.order.workspace.folder.display().to_string();
    let reason = &setup.order.workspace.reason;
    say(&format!("Workspace {}. {}", quoted(&folder), quoted(reason)));
    // If the workspace cannot be opened, the loop itself fails with that error.
    if let Ok(toolbox) = Toolbox::open(&setup.order.workspace.folder, &setup.policy) {
        let LoopOrder { planner, looks, .. } = &setup.order;
        let limits = planner_limits(planner, *looks, &toolbox, &setup.policy);
        let (Ok(limits) | Err(limits)) = limits;
        say(&quoted(&format!("Planner {}: {limits}", setup.order.planner)));
    }
    say(match setup.order.looks {
        LookScope::None => "The planner may not look into the workspace.",
        LookScope::Workspace => {
            "The planner may look at files of the workspace, except sensitive ones; it is not shown secrets."
        }
    });
    if let Some(target) = &setup.order.target {
        say(&quoted(&format!("Host {target}")));
    }
    if let Some(commands) = commands(setup) {
        check::workspace_commands(&commands, "loop").iter().for_each(|line| say(line));
    }
    let Some(class) = &setup.order.class else { return };
    let hosts =
        if class.hosts.is_empty() { "this computer".to_owned() } else { class.hosts.join(", ") };
    say(&quoted(&format!(
        "Authorized in advance: {} in {}, on {hosts}, up to {}, {} attempts, until {}",
        class.tools.join(", "),
        class.paths.join(", "),
        class.max_risk.as_str(),
        class.max_attempts,
        class.expires_at
    )));
}

/// Prints the progress of a loop to stderr.
struct LoopProgress(Progress);

impl ProgressCallback for LoopProgress {
    fn on_event(&self, event: &RunEvent) {
        if self.0.silent {
            return;
        }
        if let RunEvent::PlannerOutput { chunk } = event {
            return self.0.output.say(chunk);
        }
        if !matches!(event, RunEvent::StepOutput { .. }) {
            self.0.output.end_line();
        }
        match event {
            RunEvent::LoopStarted { loop_id, class_id, .. } => {
                say(&format!("Loop {loop_id}"));
                if let Some(class_id) = class_id {
                    say(&format!("`loop --revoke-class {class_id}` revokes the class."));
                }
            }
            RunEvent::AttemptStarted { attempt, max_attempts, .. } => {
                say(&format!("Attempt {attempt} of {max_attempts}"));
            }
            RunEvent::PlannerStarted { planner } => {
                say(&format!("Asking the planner: {}", quoted(planner)));
            }
            RunEvent::PlannerLooked { looks, .. } => {
                looks.iter().for_each(|look| say(&quoted(&look_line(look))));
            }
            RunEvent::PlannerAsked { question, .. } => {
                say(&quoted_in_line(&format!("The planner asks: {question}")));
            }
            RunEvent::PlannerAnswered { report, plan_digest } => {
                let digest = plan_digest.map_or_else(String::new, |it| format!(", {it}"));
                say(&quoted_in_line(&format!("The planner gave {}", answer(report, &digest))));
            }
            RunEvent::PlanRevised { difference, .. } => {
                say(&quoted(&difference.sentence()));
            }
            RunEvent::NoProgress { failed_in } => {
                say(&format!("The plan repeats the steps that failed in attempt {failed_in}."));
            }
            RunEvent::AuthorizationDecided { approved, how } => {
                let decided = if *approved { "Authorized" } else { "Not authorized" };
                say(&quoted_in_line(&format!("{decided}: {how}")));
            }
            RunEvent::VerifyStarted => say("Verifying"),
            RunEvent::BudgetWarning { attempts_left } => {
                say(&format!("Attempts left: {attempts_left}"));
            }
            other => self.0.on_event(other),
        }
    }
}

fn print_outcome(outcome: &LoopOutcome, out: &mut Output) {
    for attempt in &outcome.attempts {
        print_attempt(attempt, out);
    }
    let reason = &outcome.stop_reason;
    out.line(&quoted_in_line(&format!("{}: {}", reason.code.as_str(), reason.message)));
    out.line(reason.code.meaning());
    out.line(reason.code.next());
    outcome.shortcomings().iter().for_each(|it| out.line(&quoted_in_line(it)));
    out.line(&format!("Loop {}", outcome.loop_id));
}

/// What a planner looked at, in one line.
fn look_line(record: &LookRecord) -> String {
    let (verb, about) = record.look.headline();
    let found = match (&record.error, record.ok) {
        (Some(why), true) => format!("{} ({why})", text::size(record.bytes as u64)),
        (None, true) => text::size(record.bytes as u64),
        (why, false) => format!("refused: {}", why.as_deref().unwrap_or_default()),
    };
    format!("    {verb} {about}: {found}")
}

fn steps(count: usize) -> String {
    format!("{count} {}", if count == 1 { "step" } else { "steps" })
}

/// A planner's answer in a few words; `suffix` is appended if the answer is a plan.
fn answer(report: &PlannerReport, suffix: &str) -> String {
    match report.status {
        PlannerStatus::Accepted => format!("a plan of {}{suffix}", steps(report.action_count)),
        PlannerStatus::Failed => {
            let why = report.failure_code.as_deref().map_or("no answer", failure_words);
            let message = report.message.as_deref().unwrap_or_default();
            format!("no plan, {why}: {message}")
        }
    }
}

/// Prints what a planner looked at, one look in a line.
pub(super) fn print_looks(looks: &[LookRecord], out: &mut Output) {
    for look in looks {
        out.line(&quoted(&look_line(look)));
    }
}

/// Prints one attempt for people. `evidence show` uses it too.
pub(super) fn print_attempt(attempt: &AttemptRecord, out: &mut Output) {
    let AttemptRecord { attempt: number, max_attempts, planner, .. } = attempt;
    let run = attempt.run_id.map_or_else(String::new, |run| format!(", run {run}"));
    let answer = answer(planner, &run);
    out.line(&quoted_in_line(&format!("Attempt {number} of {max_attempts}: {answer}")));
    print_looks(&attempt.looks, out);
    for finding in &planner.findings {
        let place = format!("{}:{}", finding.line, finding.column);
        let text = format!("{place}: {} {}: {}", finding.severity, finding.code, finding.message);
        out.line(&quoted_in_line(&format!("    {text}")));
    }
    let rows = attempt.actions.iter().map(|action| {
        let kind = if action.kind == VERIFY_GATE { "verify" } else { &action.kind };
        let error = action.error.as_ref();
        let error =
            error.map_or_else(String::new, |it| format!("{}: {}", it.code.as_str(), it.message));
        [
            format!("    {:>3}", action.action_index + 1),
            if action.was_denied() { "denied" } else { action.status.as_str() }.to_owned(),
            quoted(kind).into_owned(),
            quoted(&action.summary).into_owned(),
            quoted_in_line(&error),
        ]
    });
    out.columns(rows);
    if let Some(words) = &attempt.feedback {
        out.line(&quoted_in_line(&format!("    Words for the planner: {words}")));
    }
}
