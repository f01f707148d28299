//! The command line of what proves evidence to others: `evidence key`, `checkpoint`, `prove` and `attest`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::super::Common;
use super::super::record_id::RecordId;
use crate::export::Predicate;
use crate::proof::VerifierKey;

/// Where a result is written.
#[derive(Debug, Args)]
pub(in crate::cli) struct OutFile {
    /// The file to write, readable by you alone [default: stdout]
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) out: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long, requires = "out")]
    pub(in crate::cli) force: bool,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Key {
    /// Print it as a PEM file, for programs that check attestations
    #[arg(long)]
    pub(in crate::cli) pem: bool,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Checkpoint {
    #[command(flatten)]
    pub(in crate::cli) out: OutFile,
    /// Compare the evidence with this earlier checkpoint instead
    #[arg(long, value_name = "FILE", conflicts_with = "out")]
    pub(in crate::cli) verify: Option<PathBuf>,
    /// The key that has signed it, as `evidence key` printed it [default: the key on this computer]
    #[arg(long, value_name = "KEY", requires = "verify")]
    pub(in crate::cli) key: Option<VerifierKey>,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Prove {
    /// The id of an execution or of a run, or its beginning of 8 or more characters
    #[arg(required_unless_present_any = ["record", "verifier"])]
    pub(in crate::cli) id: Option<RecordId>,
    /// The record with this number in the ledger, such as a decision of a case file
    #[arg(long, value_name = "NUMBER", conflicts_with = "id", value_parser = clap::value_parser!(i64).range(1..))]
    pub(in crate::cli) record: Option<i64>,
    /// A checkpoint of this evidence, which others may have signed, too [default: a new one]
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) checkpoint: Option<PathBuf>,
    /// Prove also that the checkpoint continues this earlier one
    #[arg(long, value_name = "CHECKPOINT")]
    pub(in crate::cli) since: Option<PathBuf>,
    /// Print the program in Python that checks proofs instead
    #[arg(long, conflicts_with_all = ["id", "record", "checkpoint", "since", "out"])]
    pub(in crate::cli) verifier: bool,
    #[command(flatten)]
    pub(in crate::cli) out: OutFile,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Attest {
    /// The run
    pub(in crate::cli) run: RecordId,
    /// What is stated about it
    #[arg(long, value_name = "WHAT", default_value = "run")]
    pub(in crate::cli) predicate: PredicateWord,
    /// A checkpoint of this evidence, which others may have signed, too [default: a new one]
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) checkpoint: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) out: OutFile,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

/// The value of `--predicate`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum PredicateWord {
    /// How it was approved, what it did, and which files it wrote
    Run,
    /// Whether its verifications passed, as in-toto's test result
    TestResult,
}

impl From<PredicateWord> for Predicate {
    fn from(word: PredicateWord) -> Self {
        match word {
            PredicateWord::Run => Self::Run,
            PredicateWord::TestResult => Self::TestResult,
        }
    }
}
