//! The command line as types (SPEC §11).

mod words;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use uuid::Uuid;

use words::EngineWord;
pub(super) use words::{Confirm, DialectWord};

use super::WindowOptions;
use super::time::parse_time;
use crate::plan::Digest;
use crate::risk::{EngineChoice, Policy};

/// Opens a machine-written plan, shows what it would do, and runs exactly what a person authorized.
///
/// Without a command, the window opens.
#[derive(Debug, Parser)]
#[command(name = "countersign", version, args_conflicts_with_subcommands = true, after_help = EXITS)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) command: Option<Command>,
    /// The plan file to open in the window
    plan: Option<PathBuf>,
    #[command(flatten)]
    workspace: Workspace,
    #[command(flatten)]
    evidence: EvidenceFolder,
}

const EXITS: &str = "\
Exit codes:
  0  done
  1  the run failed or was cancelled
  2  the plan is invalid, or its file cannot be read
  3  not authorized, or something approved has changed
  4  the evidence could not be written or read
  5  the command line cannot be followed
  6  verification found tampering";

impl Arguments {
    /// What is wanted of the window.
    ///
    /// # Errors
    /// The message for a word that is neither a command nor a file.
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
    Check(Check),
    /// Show what a plan would do to files, all its steps together; nothing is run
    Simulate(Check),
    /// Authorize a plan and run it
    Run(Run),
    /// Make a plan of what a run left undone, authorize it and run it
    Continue(Continue),
    /// Look into the evidence
    Evidence(Evidence),
    /// Say how dangerous a shell command is; nothing is run
    Risk(Risk),
    /// Print the JSON Schema of a plan dialect
    Schema(Schema),
}

impl Command {
    /// Whether the result is wanted as JSON.
    pub(super) fn json(&self) -> bool {
        match self {
            Self::Check(check) | Self::Simulate(check) => check.common.json,
            Self::Run(run) => run.common.json,
            Self::Continue(rest) => rest.common.json,
            Self::Evidence(evidence) => evidence.common().json,
            Self::Risk(risk) => risk.common.json,
            Self::Schema(schema) => schema.common.json,
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

/// Which engine reads symbols and replaces definitions.
#[derive(Debug, Args)]
pub(super) struct Engine {
    /// Who reads symbols and replaces definitions [default: the settings']
    #[arg(long, value_enum, value_name = "ENGINE")]
    engine: Option<EngineWord>,
}

impl Engine {
    /// The policy with this engine, where one was named.
    pub(super) fn settle(&self, policy: Policy) -> Policy {
        let engine = self.engine.map_or(policy.engine, EngineChoice::from);
        Policy { engine, ..policy }
    }
}

#[derive(Debug, Args)]
pub(super) struct EvidenceFolder {
    /// The evidence folder [default: the user's own]
    #[arg(long, value_name = "DIR")]
    pub(super) evidence: Option<PathBuf>,
}

/// What every headless command takes.
#[derive(Debug, Args)]
pub(super) struct Common {
    #[command(flatten)]
    pub(super) folder: EvidenceFolder,
    /// Print JSON on stdout
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct Check {
    /// The plan file
    pub(super) plan: PathBuf,
    #[command(flatten)]
    pub(super) workspace: Workspace,
    #[command(flatten)]
    pub(super) engine: Engine,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Debug, Args)]
pub(super) struct Run {
    /// The plan file
    pub(super) plan: PathBuf,
    #[command(flatten)]
    pub(super) consent: Consent,
    #[command(flatten)]
    pub(super) workspace: Workspace,
    #[command(flatten)]
    pub(super) engine: Engine,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Debug, Args)]
pub(super) struct Continue {
    /// The run whose rest is to be done
    pub(super) run: Uuid,
    #[command(flatten)]
    pub(super) consent: Consent,
    /// The folder the plan works in [default: the run's]
    #[arg(long, value_name = "DIR")]
    pub(super) workspace: Option<PathBuf>,
    #[command(flatten)]
    pub(super) engine: Engine,
    #[command(flatten)]
    pub(super) common: Common,
}

/// Under which authorization a plan runs, and who answers its questions.
#[derive(Debug, Args)]
pub(super) struct Consent {
    /// Authorize the plan if this is its digest, as `check` printed it
    #[arg(long, value_name = "DIGEST", conflicts_with = "yes")]
    pub(super) authorize: Option<Digest>,
    /// Authorize whatever was just read; answers no confirmation
    #[arg(long)]
    pub(super) yes: bool,
    /// How steps that need a confirmation are answered; `approve` also answers dangerous ones
    /// [default: ask on a terminal, else cancel]
    #[arg(long, value_enum)]
    pub(super) confirm: Option<Confirm>,
}

#[derive(Debug, Args)]
pub(super) struct Risk {
    /// Read one command a line and print one verdict a line
    #[arg(long, conflicts_with = "command")]
    pub(super) stdin: bool,
    /// The command
    #[arg(required_unless_present = "stdin", last = true)]
    pub(super) command: Vec<String>,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Debug, Args)]
pub(super) struct Schema {
    /// The dialect
    #[arg(value_enum, default_value = "step_plan")]
    pub(super) dialect: DialectWord,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(super) struct Evidence {
    #[command(subcommand)]
    pub(super) command: EvidenceCommand,
}

impl Evidence {
    pub(super) fn common(&self) -> &Common {
        match &self.command {
            EvidenceCommand::Search(search) => &search.common,
            EvidenceCommand::Show(show) => &show.common,
            EvidenceCommand::Query(query) => query.question.common(),
            EvidenceCommand::Verify(verify) => &verify.common,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum EvidenceCommand {
    /// Find executions by words in their tool, arguments, errors and output
    Search(Search),
    /// Show one execution or one run in full
    Show(Show),
    /// Ask one of the eight questions
    Query(Query),
    /// Recompute the chain of all records
    Verify(Verify),
}

/// A span of time and a number of rows.
#[derive(Debug, Args)]
pub(super) struct Span {
    /// Only what started then or later: a date, a time (RFC 3339, or local), or Unix milliseconds
    #[arg(long, value_name = "TIME", value_parser = parse_time, allow_negative_numbers = true)]
    pub(super) since: Option<i64>,
    /// Only what started then or earlier
    #[arg(long, value_name = "TIME", value_parser = parse_time, allow_negative_numbers = true)]
    pub(super) until: Option<i64>,
    /// At most this many rows
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) limit: Option<u32>,
}

#[derive(Debug, Args)]
pub(super) struct Search {
    /// Words that must all occur; none finds everything
    pub(super) words: Vec<String>,
    /// Only this run
    #[arg(long, value_name = "ID")]
    pub(super) run: Option<Uuid>,
    /// Only this plan
    #[arg(long, value_name = "ID")]
    pub(super) plan: Option<String>,
    /// Only this tool
    #[arg(long)]
    pub(super) tool: Option<String>,
    /// Only this outcome, for instance succeeded, failed, denied or interrupted
    #[arg(long)]
    pub(super) outcome: Option<String>,
    /// Only this risk: safe, caution or dangerous
    #[arg(long, value_name = "LEVEL")]
    pub(super) risk: Option<String>,
    /// Only what touched this file
    #[arg(long, value_name = "FILE")]
    pub(super) path: Option<String>,
    /// Only what has a diagnostic of this code
    #[arg(long)]
    pub(super) code: Option<String>,
    #[command(flatten)]
    pub(super) span: Span,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Debug, Args)]
pub(super) struct Show {
    /// The id of an execution or of a run
    pub(super) id: Uuid,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Debug, Args)]
pub(super) struct Verify {
    /// A head that was copied out earlier: it must still be part of the chain
    #[arg(long, value_name = "DIGEST")]
    pub(super) head: Option<Digest>,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Debug, Args)]
pub(super) struct Query {
    #[command(subcommand)]
    pub(super) question: Question,
}

/// The eight questions (SPEC §8).
#[derive(Debug, Subcommand)]
pub(super) enum Question {
    /// Executions of a tool, oldest first
    Q1(AboutTool),
    /// Failures of a tool, newest first
    Q2(AboutTool),
    /// Executions with a diagnostic of this code
    Q3(AboutCode),
    /// Executions that touched a file, and how
    Q4(AboutFile),
    /// One execution in full
    Q5(Show),
    /// The latest execution that worked on a file
    Q6(LatestOfFile),
    /// Diagnostics that were seen again and again, most frequent first
    Q7(Recurring),
    /// Changes of a file that occurred after a diagnostic in it
    Q8(AfterDiagnostic),
}

impl Question {
    fn common(&self) -> &Common {
        match self {
            Self::Q1(about) | Self::Q2(about) => &about.common,
            Self::Q3(about) => &about.common,
            Self::Q4(about) => &about.common,
            Self::Q5(show) => &show.common,
            Self::Q6(about) => &about.common,
            Self::Q7(about) => &about.common,
            Self::Q8(about) => &about.common,
        }
    }
}

macro_rules! question {
    ($name:ident { $($(#[$doc:meta])+ $field:ident: $type:ty,)* }) => {
        #[derive(Debug, Args)]
        pub(super) struct $name {
            $($(#[$doc])+ pub(super) $field: $type,)*
            #[command(flatten)]
            pub(super) span: Span,
            #[command(flatten)]
            pub(super) common: Common,
        }
    };
}

question!(AboutTool {
    /// The tool
    tool: String,
});
question!(AboutCode {
    /// The code of the diagnostic, for instance E0425
    code: String,
});
question!(AboutFile {
    /// The file, by its path inside its workspace
    file: String,
});
question!(Recurring {
    /// How often at least
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..))]
    threshold: u64,
});
question!(AfterDiagnostic {
    /// The code of the diagnostic
    code: String,
    /// Only diagnostics in this file
    file: Option<String>,
});

#[derive(Debug, Args)]
pub(super) struct LatestOfFile {
    /// The file, by its path inside its workspace
    pub(super) file: String,
    #[command(flatten)]
    pub(super) common: Common,
}
