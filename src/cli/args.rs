//! The types of the command line, parsed by clap. Doc comments of fields and commands are the text of `--help`.

mod acp;
mod bounded;
pub(super) mod evidence;
mod follow_up;
mod formats;
mod hook;
mod inbox;
mod inputs;
mod record_id;
mod retention;
mod review;
mod revise;
mod settings;
mod words;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub(super) use acp::Acp;
pub(super) use bounded::{Loop, Plan, Planner, Planning};
pub(super) use evidence::{
    AcceptHead, Attest, Case, Checkpoint, Compare, Durations, EvidenceCommand, Export, FileHistory,
    Key, OutFile, Prove, Push, Question, Search, Show, Span, TeamAddress, TeamSearch, Timeline,
    Times, Verify,
};
pub(super) use follow_up::{Continue, FromRecord, Reconcile, Revert};
pub(super) use formats::{Convert, Doctor, Explain, Risk, Schema};
pub(super) use hook::{AgentWord, Exec, Hook, HookAction, HookAnswer, HookInstall, HookPlace};
pub(super) use inbox::{InboxCommand, InboxRemove, Mcp, Propose};
pub(super) use inputs::{InputWord, Inputs};
pub(super) use record_id::{RecordId, given};
pub(super) use retention::{Backup, Part, Purge, Restore, Sizes};
pub(super) use review::{Review, ReviewRequest, SignReview};
pub(super) use revise::Revise;
pub(super) use settings::{ExportSettings, ImportSettings, Settings, SettingsCommand};
use words::{AllowWord, EngineWord, ModeWord, WallsWord};
pub(super) use words::{Confirm, DialectWord, LevelWord, PlannerWord, TargetWord};

use super::refusal::Refusal;
use super::{WindowOptions, opening};
use crate::authorization::{Grants, HostChoice, PlanChoices, RunChoices, WallSetting};
use crate::help::exits_text;
use crate::plan::{Digest, Mode};
use crate::risk::{EngineChoice, Policy};

/// Opens a machine-written plan, shows what it would do, and runs exactly what a person authorized.
///
/// Without a command, the window opens.
#[derive(Debug, Parser)]
#[command(name = "countersign", version, args_conflicts_with_subcommands = true, after_help = exits_text())]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) command: Option<Command>,
    /// The plan file to open in the window
    plan: Option<PathBuf>,
    #[command(flatten)]
    workspace: Workspace,
    #[command(flatten)]
    evidence: EvidenceFolder,
    /// How much is logged: what fails, is unusual, happens, or happens in detail; see docs/files.md [default: the settings']
    #[arg(long, global = true, value_enum, value_name = "LEVEL")]
    pub(super) log_level: Option<LevelWord>,
}

impl Arguments {
    /// The options for opening the window.
    ///
    /// # Errors
    /// The message to print if the only argument is neither a command nor an existing file.
    pub(super) fn window(self) -> Result<WindowOptions, String> {
        if let Some(plan) = &self.plan
            && plan.extension().is_none()
            && plan.components().count() == 1
            && !plan.exists()
        {
            return Err(format!(
                "error: {:?} is neither a command nor a plan file\n\nFor more information, try '--help'.",
                plan.display().to_string()
            ));
        }
        Ok(WindowOptions {
            plan: self.plan,
            workspace: self.workspace.workspace,
            evidence: self.evidence.evidence,
        })
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Validate a plan and show what it would do; nothing is run
    Check(CheckPlan),
    /// Show the file changes of all steps of a plan as one diff; nothing is run
    Simulate(Check),
    /// Print the plan that a diff, a patch or edit blocks are opened as; nothing is run
    Convert(Convert),
    /// Print a plan with other arguments, without some steps, or with a part of what they change; nothing is run
    Revise(Revise),
    /// Write a request for another person's signature: the plan, what it would do, and what the approval would cover
    ReviewRequest(Box<ReviewRequest>),
    /// Show a request for a signature; nothing is run
    Review(Review),
    /// Sign a request with your SSH key, or refuse it with words; nothing is run
    Sign(SignReview),
    /// Check a plan and put it into the inbox, where it waits for a person; nothing is run
    Propose(Propose),
    /// List the inbox, or remove something from it
    #[command(subcommand)]
    Inbox(InboxCommand),
    /// Authorize a plan and run it
    Run(Run),
    /// Make a plan of the steps of a run that did not succeed, authorize it and run it
    Continue(Continue),
    /// Serve agents by the Model Context Protocol: they propose plans, ask what became of them, and search the evidence
    Mcp(Mcp),
    /// Answer an agent that wants to make a tool call: it is shown to a person in the window; see docs/agents.md
    Hook(Hook),
    /// Run what a ticket of `hook` stands for, in the window; the agent does that
    Exec(Exec),
    /// Start an agent, show each change that it wants to make, and write what is approved; see docs/agents.md
    Acp(Acp),
    /// Let a planner propose a plan for a goal; nothing is run
    Plan(Plan),
    /// Let a planner propose plans for a goal, in a limited number of attempts, and run those that are authorized
    Loop(Loop),
    /// Make a plan that reverts the file changes of a run, an execution or a loop, authorize it and run it
    Revert(Revert),
    /// Make a plan that rolls back or finishes the interrupted step of a run, authorize it and run it
    Reconcile(Reconcile),
    /// Search, show, verify and export the evidence
    #[command(subcommand)]
    Evidence(EvidenceCommand),
    /// Show the walls (the sandbox) of this computer, and grant access beyond them to every plan in a workspace
    Walls(WallsCommand),
    /// Show how dangerous a shell command is; nothing is run
    Risk(Risk),
    /// List the settings (with --json also what they cost and protect), export them, or import those of a file
    Settings(Settings),
    /// Say what an error code, a tool, a precondition, a rule, an exit code or a word means, and what to do
    Explain(Explain),
    /// Print what a report about a fault of the program needs: versions, system, settings, evidence and the end of the log,
    /// without secrets and without contents of plans
    #[command(visible_alias = "diagnostics")]
    Doctor(Doctor),
    /// Print the JSON Schema of a plan dialect
    Schema(Schema),
    /// Answer a request of the loop on stdin with a plan
    #[command(hide = true)]
    Planner(Planner),
}

impl Command {
    /// Whether the result is to be printed as JSON.
    pub(super) fn json(&self) -> bool {
        match self {
            Self::Check(check) => check.check.options.common.json,
            Self::Simulate(check) => check.options.common.json,
            Self::Convert(convert) => convert.common.json,
            Self::Revise(revise) => revise.common.json,
            Self::ReviewRequest(request) => request.check.options.common.json,
            Self::Review(review) => review.common.json,
            Self::Sign(sign) => sign.common.json,
            Self::Propose(propose) => propose.common.json,
            Self::Inbox(inbox) => inbox.common().json,
            Self::Run(run) => run.options.common.json,
            Self::Continue(rest) => rest.again.options.common.json,
            Self::Acp(acp) => acp.options.common.json,
            Self::Plan(plan) => plan.planning.options.common.json,
            Self::Loop(bounded) => bounded.planning.options.common.json,
            Self::Revert(revert) => revert.again.options.common.json,
            Self::Reconcile(reconcile) => reconcile.again.options.common.json,
            Self::Evidence(evidence) => evidence.common().json,
            Self::Walls(walls) => walls.common.json,
            Self::Risk(risk) => risk.common.json,
            Self::Settings(settings) => settings.common().json,
            Self::Explain(explain) => explain.common.json,
            Self::Schema(schema) => schema.common.json,
            Self::Doctor(doctor) => doctor.common.json,
            Self::Hook(hook) => hook.action.as_ref().is_some_and(|action| action.common().json),
            Self::Mcp(_) | Self::Planner(_) | Self::Exec(_) => false,
        }
    }
}

#[derive(Debug, Args)]
pub(super) struct Workspace {
    /// The folder the plan works in [default: the nearest folder above the plan with a Cargo.toml or
    /// .git, else the plan's own]
    #[arg(long, value_name = "DIR")]
    pub(super) workspace: Option<PathBuf>,
}

/// The grants to steps beyond their walls.
#[derive(Debug, Args)]
pub(super) struct Walls {
    /// Grant what the commands are known to need beyond their walls, as `check` proposes it
    #[arg(long)]
    grant_proposed: bool,
    /// Grant every step of the run something beyond its walls: `network`, or `write=PATH`
    #[arg(long, value_name = "GRANT")]
    allow: Vec<AllowWord>,
}

impl Walls {
    /// Adds the grants of this command line to the policy.
    pub(super) fn add_grants(&self, policy: Policy) -> Policy {
        let mut grants = Grants { proposed: self.grant_proposed, ..policy.grants };
        for allowed in &self.allow {
            match allowed {
                AllowWord::Network => grants.network = true,
                AllowWord::Write(path) => {
                    let named = path.to_string_lossy();
                    // A path that ends with a slash names a folder, which is created if it does not exist.
                    let end = if named.ends_with('/') { "/" } else { "" };
                    let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
                    let path = path.to_string_lossy();
                    grants.write.insert(format!("{}{end}", path.trim_end_matches('/')));
                }
            }
        }
        Policy { grants, ..policy }
    }
}

/// The grants to every plan in a workspace.
#[derive(Debug, Args)]
pub(super) struct WallsCommand {
    #[command(flatten)]
    pub(super) workspace: Workspace,
    #[command(flatten)]
    pub(super) walls: Walls,
    /// Revoke all grants to the plans in this workspace; without this flag, new grants add to earlier ones
    #[arg(long, conflicts_with_all = ["grant_proposed", "allow"])]
    pub(super) forget: bool,
    #[command(flatten)]
    pub(super) common: Common,
}

/// Where and how the commands of a command plan run.
#[derive(Debug, Default, Args)]
pub(super) struct CommandChoices {
    /// The host on which the plan's commands run, an SSH destination or `local` [default: the plan's]
    #[arg(long, value_name = "HOST")]
    target: Option<TargetWord>,
    /// How the plan's commands run [default: the plan's]
    #[arg(long, value_enum, value_name = "MODE")]
    mode: Option<ModeWord>,
}

impl CommandChoices {
    /// The option that was given, if one was; each applies only to command plans.
    pub(super) fn given(&self) -> Option<&'static str> {
        let target = self.target.as_ref().map(|_| "--target");
        target.or(self.mode.map(|_| "--mode"))
    }

    /// The chosen host and mode.
    pub(super) fn choices(&self) -> PlanChoices {
        let host = self.target.as_ref().map(HostChoice::from).unwrap_or_default();
        PlanChoices { host, mode: self.mode.map(Mode::from), ..PlanChoices::default() }
    }
}

#[derive(Debug, Args)]
pub(super) struct EvidenceFolder {
    /// The evidence folder [default: the user's own]
    #[arg(long, value_name = "DIR")]
    pub(super) evidence: Option<PathBuf>,
}

/// The options of every headless command.
#[derive(Debug, Args)]
pub(super) struct Common {
    #[command(flatten)]
    pub(super) folder: EvidenceFolder,
    /// Print JSON on stdout
    #[arg(long)]
    pub(super) json: bool,
}

/// The options of every command that reviews or runs a plan.
#[derive(Debug, Args)]
pub(super) struct RunOptions {
    /// The code engine, which finds symbols and replaces definitions [default: the settings']
    #[arg(long, value_enum, value_name = "ENGINE")]
    engine: Option<EngineWord>,
    /// Ask before every step
    #[arg(long)]
    ask_every_step: bool,
    /// The walls (the sandbox) of this run; where the settings require walls, it cannot have others
    /// [default: the settings']
    #[arg(long = "walls", value_enum, value_name = "WALLS")]
    wall_setting: Option<WallsWord>,
    #[command(flatten)]
    walls: Walls,
    #[command(flatten)]
    pub(super) common: Common,
}

impl RunOptions {
    /// The policy of the settings, with the engine, the choices and the grants of this command line.
    ///
    /// # Errors
    /// The settings file cannot be used.
    pub(super) fn policy(&self) -> Result<Policy, Refusal> {
        let policy = opening::policy()?;
        let engine = self.engine.map_or(policy.engine, EngineChoice::from);
        let choices = RunChoices {
            ask_every_step: self.ask_every_step,
            walls: self.wall_setting.map(WallSetting::from),
        };
        Ok(self.walls.add_grants(Policy { engine, choices, ..policy }))
    }
}

#[derive(Debug, Args)]
pub(super) struct CheckPlan {
    #[command(flatten)]
    pub(super) check: Check,
    /// Revoke the trust in the commands of the workspace's countersign.toml that has this digest
    #[arg(long, value_name = "DIGEST")]
    pub(super) revoke_commands: Option<Digest>,
    /// Connect to the plan's host, to see whether commands can run there; none is sent
    #[arg(long)]
    pub(super) connect: bool,
}

#[derive(Debug, Args)]
pub(super) struct Check {
    /// The plan file
    pub(super) plan: PathBuf,
    #[command(flatten)]
    pub(super) choices: CommandChoices,
    #[command(flatten)]
    pub(super) inputs: Inputs,
    #[command(flatten)]
    pub(super) workspace: Workspace,
    #[command(flatten)]
    pub(super) options: RunOptions,
}

#[derive(Debug, Args)]
pub(super) struct Run {
    /// The plan file
    pub(super) plan: PathBuf,
    #[command(flatten)]
    pub(super) choices: CommandChoices,
    #[command(flatten)]
    pub(super) inputs: Inputs,
    #[command(flatten)]
    pub(super) consent: Consent,
    /// Trust the commands of the workspace's countersign.toml if this is its digest, as `check` printed it
    #[arg(long, value_name = "DIGEST")]
    pub(super) trust_commands: Option<Digest>,
    #[command(flatten)]
    pub(super) workspace: Workspace,
    #[command(flatten)]
    pub(super) options: RunOptions,
}

/// How a plan is authorized, and how its confirmations are answered.
#[derive(Debug, Args)]
pub(super) struct Consent {
    /// Authorize the plan if this is its digest, as `check` printed it
    #[arg(long, value_name = "DIGEST", conflicts_with = "yes")]
    pub(super) authorize: Option<Digest>,
    /// With --authorize and a plan for several hosts: authorize these hosts and what ansible and ssh read, if this is the
    /// digest that `check` printed of them
    #[arg(long, value_name = "DIGEST", requires = "authorize")]
    pub(super) hosts: Option<Digest>,
    /// Authorize the plan, whatever its digest is; this confirms no step
    #[arg(long)]
    pub(super) yes: bool,
    /// How to answer steps that ask for a confirmation; `approve` approves dangerous ones too, `caution` those
    /// that ask only because they have no walls [default: ask on a terminal, else cancel]
    #[arg(long, value_enum)]
    pub(super) confirm: Option<Confirm>,
    /// The signature of another person, as `sign` wrote it; repeat it for more persons [default: those in the folder that
    /// the settings name]
    #[arg(long, value_name = "FILE")]
    pub(super) signature: Vec<PathBuf>,
}
