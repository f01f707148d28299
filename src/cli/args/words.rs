//! The values that options accept, as written on the command line.

use std::path::PathBuf;
use std::str::FromStr;

use clap::ValueEnum;

use crate::authorization::{HostChoice, WallSetting};
use crate::plan::{Destination, DestinationError, Mode, VerifyScope};
use crate::risk::EngineChoice;
use crate::run::LookScope;

/// An engine as it is named on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum EngineWord {
    /// The external engine if there is a codegraph.db newer than the sources, else the embedded engine
    Auto,
    /// The built-in grammars
    Embedded,
    /// magellan's codegraph.db and the program splice
    External,
}

impl From<EngineWord> for EngineChoice {
    fn from(word: EngineWord) -> Self {
        match word {
            EngineWord::Auto => Self::Auto,
            EngineWord::Embedded => Self::Embedded,
            EngineWord::External => Self::External,
        }
    }
}

/// A level of the log as it is named on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum LevelWord {
    /// Nothing is logged
    Off,
    /// What failed
    Error,
    /// What is unusual, too
    Warn,
    /// What happened, too
    Info,
    /// Details, too: steps, slow frames
    Debug,
}

impl From<LevelWord> for log::LevelFilter {
    fn from(word: LevelWord) -> Self {
        match word {
            LevelWord::Off => Self::Off,
            LevelWord::Error => Self::Error,
            LevelWord::Warn => Self::Warn,
            LevelWord::Info => Self::Info,
            LevelWord::Debug => Self::Debug,
        }
    }
}

/// The value of `--target`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) enum TargetWord {
    /// This computer.
    Local,
    /// Another host.
    Host(Destination),
}

impl FromStr for TargetWord {
    type Err = DestinationError;

    fn from_str(text: &str) -> Result<Self, DestinationError> {
        if text == "local" { Ok(Self::Local) } else { Destination::parse(text).map(Self::Host) }
    }
}

impl From<&TargetWord> for HostChoice {
    fn from(word: &TargetWord) -> Self {
        match word {
            TargetWord::Local => Self::Local,
            TargetWord::Host(host) => Self::Host(host.clone()),
        }
    }
}

/// The value of `--mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ModeWord {
    /// Each command starts after the one before it; confirmations still pause the run
    Automatic,
    /// Each command waits for you
    Guided,
}

impl From<ModeWord> for Mode {
    fn from(word: ModeWord) -> Self {
        match word {
            ModeWord::Automatic => Self::Automatic,
            ModeWord::Guided => Self::Guided,
        }
    }
}

/// The value of `--walls`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum WallsWord {
    /// The strongest walls, or the plan cannot run
    Required,
    /// The strongest walls that this computer has
    Preferred,
    /// No walls; steps rated caution ask
    Off,
}

impl From<WallsWord> for WallSetting {
    fn from(word: WallsWord) -> Self {
        match word {
            WallsWord::Required => Self::Required,
            WallsWord::Preferred => Self::Preferred,
            WallsWord::Off => Self::Off,
        }
    }
}

/// Who answers confirmations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Confirm {
    /// Run the step
    Approve,
    /// Approve a step that asks only because it has no walls and whose risk is at most caution; about any
    /// other step ask on a terminal, and without a terminal deny it
    Caution,
    /// Skip the step and go on with the next one
    Skip,
    /// Deny the step, which ends the run
    Cancel,
    /// Ask on the terminal
    Ask,
}

/// The value of `--allow`: a grant to every step of a run beyond its walls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) enum AllowWord {
    /// The network of this computer.
    Network,
    /// Writing to this folder or file.
    Write(PathBuf),
}

impl FromStr for AllowWord {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            None if text == "network" => Ok(Self::Network),
            Some(("write", path)) if !path.is_empty() => Ok(Self::Write(path.into())),
            _ => Err("grant `network`, or `write=PATH` with a path".to_owned()),
        }
    }
}

/// A dialect as it is named on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(in crate::cli) enum DialectWord {
    /// Steps that name tools
    #[value(alias = "step-plan", alias = "step")]
    StepPlan,
    /// Commands of a shell
    #[value(alias = "command-plan", alias = "command")]
    CommandPlan,
    /// Actions on the program
    #[value(alias = "action-plan", alias = "action")]
    ActionPlan,
    /// The request that a planner gets; not a dialect of plans
    #[value(alias = "planner-request")]
    PlannerRequest,
    /// The manifest of a case file; not a dialect of plans
    #[value(alias = "case-manifest")]
    CaseManifest,
    /// The proof that `evidence prove` writes; not a dialect of plans
    Proof,
    /// The statement about a run that `evidence attest` signs; not a dialect of plans
    #[value(alias = "run-attestation")]
    RunAttestation,
    /// The output of `acp` with `--json`
    Acp,
    /// The output of `propose` with `--json`
    Propose,
    /// The output of `revise` with `--json`
    Revise,
    /// The output of `explain` with `--json`
    Explain,
    /// The output of `doctor` with `--json`
    Doctor,
    /// The output of `inbox list` with `--json`
    #[value(alias = "inbox-list")]
    InboxList,
    /// The output of `inbox remove` with `--json`
    #[value(alias = "inbox-remove")]
    InboxRemove,
    /// The output of `settings` with `--json`
    Settings,
    /// The output of `settings export` with `--json`
    #[value(alias = "settings-export")]
    SettingsExport,
    /// The output of `settings import` with `--json`
    #[value(alias = "settings-import")]
    SettingsImport,
    /// The output of `evidence search` with `--json`
    #[value(alias = "evidence-search")]
    EvidenceSearch,
    /// The output of `evidence show` with `--json`
    #[value(alias = "evidence-show")]
    EvidenceShow,
    /// The output of `evidence query` with `--json`
    #[value(alias = "evidence-query")]
    EvidenceQuery,
    /// The output of `evidence times` with `--json`
    #[value(alias = "evidence-times")]
    EvidenceTimes,
    /// The output of `evidence compare` with `--json`
    #[value(alias = "evidence-compare")]
    EvidenceCompare,
    /// The output of `evidence file` with `--json`
    #[value(alias = "evidence-file")]
    EvidenceFile,
    /// The output of `evidence durations` with `--json`
    #[value(alias = "evidence-durations")]
    EvidenceDurations,
    /// The output of `evidence judge` with `--json`
    #[value(alias = "evidence-judge")]
    EvidenceJudge,
    /// The output of `evidence timeline` with `--json`
    #[value(alias = "evidence-timeline")]
    EvidenceTimeline,
    /// The output of `evidence counts` with `--json`
    #[value(alias = "evidence-counts")]
    EvidenceCounts,
    /// The output of `evidence verify` with `--json`
    #[value(alias = "evidence-verify")]
    EvidenceVerify,
    /// The output of `evidence case` and `evidence export --out` with `--json`
    #[value(alias = "evidence-export")]
    EvidenceExport,
    /// The output of `evidence accept-head` with `--json`
    #[value(alias = "evidence-accept-head")]
    EvidenceAcceptHead,
    /// The output of `evidence key` with `--json`
    #[value(alias = "evidence-key")]
    EvidenceKey,
    /// The output of `evidence checkpoint` with `--json`
    #[value(alias = "evidence-checkpoint")]
    EvidenceCheckpoint,
    /// The output of `evidence prove --out` with `--json`
    #[value(alias = "evidence-prove")]
    EvidenceProve,
    /// The output of `evidence attest` with `--json`
    #[value(alias = "evidence-attest")]
    EvidenceAttest,
    /// The output of `evidence sign` with `--json`
    #[value(alias = "evidence-sign")]
    EvidenceSign,
    /// The output of `evidence verify-signature` with `--json`
    #[value(alias = "evidence-verify-signature")]
    EvidenceVerifySignature,
    /// A request for another person's signature, as `review-request` writes it
    #[value(alias = "review-request")]
    ReviewRequest,
    /// An answer to such a request, as `sign` writes it
    #[value(alias = "review-signature")]
    ReviewSignature,
    /// The output of `review-request` with `--json`
    #[value(alias = "review-request-made")]
    ReviewRequestMade,
    /// The output of `sign` with `--json`
    Sign,
    /// What a person signs with an SSH key
    #[value(alias = "signed-document")]
    SignedDocument,
    /// The output of `evidence sizes` with `--json`
    #[value(alias = "evidence-sizes")]
    EvidenceSizes,
    /// The output of `evidence purge` with `--json`
    #[value(alias = "evidence-purge")]
    EvidencePurge,
    /// The output of `evidence push` with `--json`
    #[value(alias = "evidence-push")]
    EvidencePush,
    /// The output of `evidence compact` with `--json`
    #[value(alias = "evidence-compact")]
    EvidenceCompact,
    /// The output of `evidence secrets` with `--json`
    #[value(alias = "evidence-secrets")]
    EvidenceSecrets,
    /// The output of `evidence backup` with `--json`
    #[value(alias = "evidence-backup")]
    EvidenceBackup,
    /// The output of `evidence restore` with `--json`
    #[value(alias = "evidence-restore")]
    EvidenceRestore,
}

/// What a planner may look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum LooksWord {
    /// Nothing beyond what each request contains
    None,
    /// The workspace's files except sensitive ones, and the facts of the goal's host
    Workspace,
}

impl From<LooksWord> for LookScope {
    fn from(word: LooksWord) -> Self {
        match word {
            LooksWord::None => Self::None,
            LooksWord::Workspace => Self::Workspace,
        }
    }
}

/// What a loop verifies by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum VerifyWord {
    /// The workspace's quick verification
    Local,
    /// The workspace's full verification, with tests
    Full,
    /// Nothing; a completed loop is then marked as not verified
    None,
}

impl From<VerifyWord> for Option<VerifyScope> {
    fn from(word: VerifyWord) -> Self {
        match word {
            VerifyWord::Local => Some(VerifyScope::Local),
            VerifyWord::Full => Some(VerifyScope::Full),
            VerifyWord::None => None,
        }
    }
}

/// A planner that ships, as it is named on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum PlannerWord {
    /// Proposes the plans of a folder, in the order of their names
    Replay,
    /// Applies the suggestions of the compiler
    CargoFix,
    /// Asks a model behind the chat completions interface
    OpenaiCompatible,
    /// Lets Codex plan, in its read-only mode
    Codex,
    /// Lets Claude Code plan, in its read-only mode
    Claude,
    /// Lets Gemini CLI plan, in its read-only mode
    Gemini,
}
