//! The command line of `evidence`.

mod proof;
mod questions;
mod signature;
mod team;

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};

pub(in crate::cli) use proof::{Attest, Checkpoint, Key, OutFile, Prove};
pub(in crate::cli) use questions::Question;
use questions::recorded_path;
pub(in crate::cli) use signature::{Sign, Subject, VerifySignature};
pub(in crate::cli) use team::{Push, TeamAddress, TeamSearch, TeamShow};

use super::Common;
use super::record_id::RecordId;
use super::retention::{Backup, Compact, Purge, Restore, Secrets, Sizes};
use crate::cli::time::parse_time;
use crate::plan::Digest;
use crate::risk::RiskLevel;
use crate::run::{ExportFormat, Known};

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum EvidenceCommand {
    /// Find executions by words in their tool, arguments, errors and output
    Search(Box<TeamSearch>),
    /// Show one execution, run or loop in full
    Show(TeamShow),
    /// Ask one of the prepared questions
    #[command(subcommand)]
    Query(Question),
    /// Show when each step of a run began, waited for a person, and worked
    Times(Times),
    /// Show what differs between two runs: plans, approved files, outcomes, outputs and times
    Compare(Compare),
    /// List every recorded change of a file with its difference, oldest first
    File(FileHistory),
    /// Show how long the step of an execution took in each run
    Durations(Durations),
    /// List the past commands whose risk is another one by the present rules
    Judge(Judge),
    /// Count executions over time, with the words and filters of `evidence search`
    Timeline(Box<Timeline>),
    /// Count executions by outcome, tool, file and so on, with the words and filters of `evidence search`
    Counts(Box<Search>),
    /// Recompute the hash chain of all records
    Verify(Verify),
    /// Write executions to a file in a common format: JSON Lines, CSV, SARIF, JUnit, asciicast or HTML
    Export(Box<Export>),
    /// Write everything about a run into one file that can be checked without Countersign
    Case(Case),
    /// Print the public key with which others check your checkpoints
    Key(Key),
    /// Sign the state of all records, or compare them with an earlier checkpoint
    Checkpoint(Checkpoint),
    /// Write the records of an execution or a run with the proof that they are among those of a checkpoint
    Prove(Prove),
    /// Write a signed statement about a run: its plan, its approval, what it did, and which files it wrote
    Attest(Attest),
    /// Sign the head of the evidence or the end of a run with your SSH key
    Sign(Sign),
    /// Say whether allowed signers have signed a run, an authorization or the head
    VerifySignature(VerifySignature),
    /// Copy the verified records that it lacks to the PostgreSQL server of a team
    Push(Push),
    /// Accept a database that was replaced or truncated, and record why
    AcceptHead(AcceptHead),
    /// Say how large and how old the evidence is, and what could be given back
    Sizes(Sizes),
    /// Delete old, large or named records for ever, and record that and why. The chain stays verifiable
    Purge(Purge),
    /// Give the space of purged records back to the disk
    Compact(Compact),
    /// List records that have a secret in clear by the present rules, without the secret
    Secrets(Secrets),
    /// Write all records into one file and verify it. The key that protects secrets is not in it
    Backup(Backup),
    /// Replace the evidence by a backup, and record why. What is here now is moved aside
    Restore(Restore),
}

impl EvidenceCommand {
    pub(in crate::cli) fn common(&self) -> &Common {
        match self {
            Self::Search(search) => &search.search.common,
            Self::Show(show) => &show.show.common,
            Self::Query(question) => question.common(),
            Self::Times(times) => &times.common,
            Self::Compare(compare) => &compare.common,
            Self::File(file) => &file.common,
            Self::Durations(durations) => &durations.common,
            Self::Judge(judge) => &judge.common,
            Self::Timeline(timeline) => &timeline.search.common,
            Self::Counts(search) => &search.common,
            Self::Verify(verify) => &verify.common,
            Self::Export(export) => &export.search.common,
            Self::Case(case) => &case.common,
            Self::Key(key) => &key.common,
            Self::Checkpoint(checkpoint) => &checkpoint.common,
            Self::Prove(prove) => &prove.common,
            Self::Attest(attest) => &attest.common,
            Self::Sign(sign) => &sign.common,
            Self::VerifySignature(verify) => &verify.common,
            Self::Push(push) => &push.common,
            Self::AcceptHead(accept) => &accept.common,
            Self::Sizes(sizes) => &sizes.common,
            Self::Purge(purge) => &purge.common,
            Self::Compact(compact) => &compact.common,
            Self::Secrets(secrets) => &secrets.common,
            Self::Backup(backup) => &backup.common,
            Self::Restore(restore) => &restore.common,
        }
    }
}

/// A span of time and a number of rows.
#[derive(Debug, Args)]
pub(in crate::cli) struct Span {
    /// Only what started then or later: a date, a time (RFC 3339, or local), `yesterday`, an age such as 7d, or Unix
    /// milliseconds
    #[arg(long, value_name = "TIME", value_parser = parse_time, allow_negative_numbers = true)]
    pub(in crate::cli) since: Option<i64>,
    /// Only what started then or earlier
    #[arg(long, value_name = "TIME", value_parser = parse_time, allow_negative_numbers = true)]
    pub(in crate::cli) until: Option<i64>,
    /// At most this many rows
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(in crate::cli) limit: Option<u32>,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Search {
    /// Words that must all occur; without words, everything is found. "several words" are a phrase, word* is the
    /// beginning of a word, and -word must not occur (after `--`)
    pub(in crate::cli) words: Vec<String>,
    /// Only this run
    #[arg(long, value_name = "ID")]
    pub(in crate::cli) run: Option<RecordId>,
    /// Only the runs of this bounded loop
    #[arg(long = "loop", value_name = "ID")]
    pub(in crate::cli) bounded_loop: Option<RecordId>,
    /// Only this plan
    #[arg(long, value_name = "ID")]
    pub(in crate::cli) plan: Option<String>,
    /// Only this tool
    #[arg(long)]
    pub(in crate::cli) tool: Option<String>,
    /// Only this outcome
    #[arg(long, value_parser = PossibleValuesParser::new(Known::words()))]
    pub(in crate::cli) outcome: Option<String>,
    /// Only this risk
    #[arg(long, value_name = "LEVEL", value_parser = PossibleValuesParser::new(RiskLevel::WORDS.iter().map(|(word, _)| word)))]
    pub(in crate::cli) risk: Option<String>,
    /// Only what ran on this host, as its plan names it
    #[arg(long)]
    pub(in crate::cli) host: Option<String>,
    /// Only what touched a file with these words in its path, in their order; `*` for any file
    #[arg(long, value_name = "FILE", visible_alias = "file")]
    pub(in crate::cli) path: Option<String>,
    /// Only what wrote such a file; `*` for any file
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) wrote: Option<String>,
    /// Only what has a diagnostic of this code
    #[arg(long)]
    pub(in crate::cli) code: Option<String>,
    /// Only what this user decided about, or what was decided there, for instance `window`
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) by: Option<String>,
    #[command(flatten)]
    pub(in crate::cli) span: Span,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Export {
    /// The format: jsonl, csv, sarif (2.1.0), junit, asciicast (v3, of one run) or html
    #[arg(long, value_name = "FORMAT", value_parser = export_format)]
    pub(in crate::cli) format: ExportFormat,
    #[command(flatten)]
    pub(in crate::cli) search: Search,
    /// The file to write, readable by you alone [default: stdout]
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) out: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long, requires = "out")]
    pub(in crate::cli) force: bool,
}

fn export_format(text: &str) -> Result<ExportFormat, String> {
    let found = ExportFormat::WORDS.iter().find(|(word, _)| *word == text);
    let words = || ExportFormat::WORDS.map(|(word, _)| word).join(", ");
    found.map(|(_, format)| *format).ok_or_else(|| format!("a format is one of {}", words()))
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Case {
    /// The run
    pub(in crate::cli) run: RecordId,
    /// The zip file to write, readable by you alone
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) out: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    pub(in crate::cli) force: bool,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Show {
    /// The id of an execution, of a run or of a loop, or its beginning of 8 or more characters
    pub(in crate::cli) id: RecordId,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Times {
    /// The run
    pub(in crate::cli) run: RecordId,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Compare {
    /// The first run
    #[arg(value_name = "RUN")]
    pub(in crate::cli) before: RecordId,
    /// The second run
    #[arg(value_name = "OTHER_RUN")]
    pub(in crate::cli) after: RecordId,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct FileHistory {
    /// The file, by its path inside its workspace
    #[arg(value_parser = recorded_path)]
    pub(in crate::cli) path: String,
    /// Only the file of this workspace [default: the file of this path in every workspace]
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) workspace: Option<PathBuf>,
    /// At most this many changes, the newest ones
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(in crate::cli) limit: Option<u32>,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Durations {
    /// The execution: of which step
    pub(in crate::cli) execution: RecordId,
    /// At most this many executions, the newest ones
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(in crate::cli) limit: Option<u32>,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Judge {
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Timeline {
    /// At most this many intervals of equal length
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(in crate::cli) intervals: u32,
    #[command(flatten)]
    pub(in crate::cli) search: Search,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Verify {
    /// A head that was copied earlier; it must still be part of the chain
    #[arg(long, value_name = "DIGEST")]
    pub(in crate::cli) head: Option<Digest>,
    /// The chains of every evidence on the server of a team, instead of the evidence here; without a URL, that of the setting
    /// `team`
    #[arg(long, value_name = "URL", num_args = 0..=1, conflicts_with = "head")]
    pub(in crate::cli) team: Option<Option<TeamAddress>>,
    /// Only the chain of this evidence there: its name or the id in it, as `evidence key` prints it
    #[arg(long, value_name = "NAME", requires = "team")]
    pub(in crate::cli) origin: Option<String>,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct AcceptHead {
    /// Why the database is accepted as it is
    #[arg(long, value_name = "TEXT", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(in crate::cli) reason: String,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}
