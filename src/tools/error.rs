//! Why a tool could not do its work: one variant per cause, with its code and what to do next
//! (SPEC §6).

use std::io;

use crate::authorization::FileState;
use crate::plan::{Code, ToolCall};
use crate::run::{Failure, Stream};

use super::facts::Kind;
use super::{
    BatchError, EngineError, HistoryError, ProgramError, RemoteError, SimulationError, SpliceError,
};

/// Most bytes of all the files together that a plan works on, which are looked at before anybody signs: 4 GiB.
pub const INPUT_BYTES: u64 = 4 << 30;

/// Whether a path was to be read or written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Access {
    Read,
    Write,
}

/// Why a tool could not do its work. Paths are as the plan gives them; the system's own words are
/// kept.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum ToolError {
    #[error("cannot open the folder {path}: {source}")]
    OpenRoot { path: String, source: io::Error },
    #[error("{what}")]
    Unsupported { what: String },
    #[error("{path:?} is no usable path: {reason}")]
    BadPath { path: String, reason: &'static str },
    #[error("{path} leads outside the workspace")]
    Outside { path: String },
    #[error("{path} leads into a folder of Countersign itself, which no tool reads or writes")]
    OwnFolder { path: String },
    #[error(
        "{path} changed while it was replaced, and {other} beside it holds what somebody else wrote: {why}"
    )]
    KeptBeside { path: String, other: String, why: String },
    #[error(
        "the files that this plan works on have more than {INPUT_BYTES} bytes together, the most that is looked at before anybody signs; {path} is one too many"
    )]
    TooMuchInput { path: String },
    #[error(
        "what is looked at before anybody signs has more than {limit} {what}, the most that is looked at"
    )]
    TooMuchToLookAt { what: &'static str, limit: u64 },
    #[error("the pattern {pattern:?} cannot be used: {message}")]
    BadPattern { pattern: String, message: String },
    #[error("cannot read {path}: it does not exist")]
    NotFound { path: String },
    #[error("cannot read {path}: {source}")]
    ReadFailed { path: String, source: io::Error },
    #[error("cannot write {path}: {source}")]
    WriteFailed { path: String, source: io::Error },
    #[error("{path} is {kind}, not a file")]
    NotAFile { path: String, kind: Kind, access: Access },
    #[error("{path} has more than {limit} bytes")]
    TooLarge { path: String, limit: u64, access: Access },
    #[error("cannot write {path}: its folder does not exist")]
    FolderMissing { path: String },
    #[error("cannot create {path}: it exists already")]
    AlreadyExists { path: String },
    #[error("{path} was {} when approved and is {now} now", approved_text(.approved))]
    Stale { path: String, approved: Option<FileState>, now: FileState },
    #[error("no Cargo.toml at {path} or above it in the workspace")]
    NoCargoProject { path: String },
    #[error("{program} is not {place}")]
    ProgramMissing { program: &'static str, place: String, code: Code },
    #[error("cannot start {program}: {source}")]
    NotStarted { program: &'static str, code: Code, source: io::Error },
    #[error("{program} was still running after {after} and was ended")]
    TimedOut { program: &'static str, after: String },
    #[error("{program} printed more than {limit} bytes to {} and was ended", stream_text(*.stream))]
    TooMuchOutput { program: &'static str, stream: Stream, limit: u64 },
    #[error("{what}")]
    StoppedByWall { what: String },
    #[error("what {program} printed could not be kept, and it was ended")]
    NotKept { program: &'static str },
    #[error("cargo check reported {errors} {}: {first}", if *errors == 1 { "error" } else { "errors, the first" })]
    CargoCheck { errors: usize, first: String },
    #[error("cargo check {how}\n{said}")]
    CargoFailed { how: String, said: String },
    #[error("cannot run in {path}: it is {kind}, not a folder")]
    NoFolder { path: String, kind: Kind },
    #[error("the command {how}")]
    CommandFailed { how: String },
    #[error("the outcome on {host} is unknown: {why}")]
    OutcomeUnknown { host: String, why: String },
    #[error("cannot run on {host}: there is no connection to it")]
    NotConnected { host: String },
    #[error("stopped before the end; nothing was changed")]
    Cancelled,
    #[error("the answer has more than {limit} bytes")]
    OutputLimit { limit: u64 },
    #[error("{source}")]
    Remote {
        #[from]
        source: RemoteError,
    },
    #[error("{source}")]
    Engine {
        #[from]
        source: EngineError,
    },
    #[error("{source}")]
    Splice {
        #[from]
        source: SpliceError,
    },
    #[error("{source}")]
    Batch {
        #[from]
        source: BatchError,
    },
    #[error("{source}")]
    Program {
        #[from]
        source: ProgramError,
    },
    #[error("{source}")]
    History {
        #[from]
        source: HistoryError,
    },
    #[error("{source}")]
    Simulation {
        #[from]
        source: SimulationError,
    },
}

fn stream_text(stream: Stream) -> &'static str {
    match stream {
        Stream::Stdout => "stdout",
        Stream::Stderr => "stderr",
    }
}

fn approved_text(approved: &Option<FileState>) -> String {
    approved.map_or_else(|| "not covered".to_owned(), |state| state.to_string())
}

impl ToolError {
    /// The stable code.
    pub fn code(&self) -> Code {
        match self {
            Self::BadPath { .. } | Self::BadPattern { .. } => Code::BadArgument,
            Self::Unsupported { .. } => Code::UnknownTool,
            Self::Outside { .. } | Self::OwnFolder { .. } => Code::OutsideWorkspace,
            Self::OpenRoot { .. } | Self::NotFound { .. } | Self::ReadFailed { .. } => {
                Code::ReadFailed
            }
            Self::NotAFile { access, .. } | Self::TooLarge { access, .. } => match access {
                Access::Read => Code::ReadFailed,
                Access::Write => Code::WriteFailed,
            },
            Self::WriteFailed { .. } | Self::FolderMissing { .. } | Self::AlreadyExists { .. } => {
                Code::WriteFailed
            }
            Self::Stale { .. } => Code::Stale,
            Self::KeptBeside { .. } => Code::Conflict,
            Self::TooMuchInput { .. } | Self::TooMuchToLookAt { .. } => Code::Limit,
            Self::Cancelled => Code::Cancelled,
            Self::OutputLimit { .. } | Self::TooMuchOutput { .. } => Code::OutputLimit,
            Self::NoCargoProject { .. } => Code::NoCargoProject,
            Self::ProgramMissing { code, .. } | Self::NotStarted { code, .. } => *code,
            Self::TimedOut { .. } => Code::TimedOut,
            Self::NoFolder { .. } | Self::CommandFailed { .. } => Code::CommandFailed,
            Self::OutcomeUnknown { .. } | Self::NotConnected { .. } => Code::HostUnreachable,
            Self::Remote { source } => source.code(),
            Self::StoppedByWall { .. } => Code::StoppedByWall,
            Self::NotKept { .. } => Code::EvidenceStore,
            Self::CargoCheck { .. } | Self::CargoFailed { .. } => Code::CargoCheck,
            Self::Engine { source } => source.code(),
            Self::Splice { source } => source.code(),
            Self::Batch { source } => source.code(),
            Self::Program { source } => source.code(),
            Self::History { source } => source.code(),
            Self::Simulation { source } => source.code(),
        }
    }

    /// Whether the plan itself is at fault, in whatever state the workspace is.
    pub fn is_about_the_plan(&self) -> bool {
        matches!(
            self,
            Self::BadPath { .. }
                | Self::Outside { .. }
                | Self::OwnFolder { .. }
                | Self::BadPattern { .. }
                | Self::Unsupported { .. }
        )
    }

    /// A tool of the whitelist that this version cannot call.
    pub(super) fn not_yet(call: &ToolCall) -> Self {
        Self::Unsupported { what: format!("{} is not available yet", call.tool().name()) }
    }

    /// What to do next, as a sentence.
    pub fn next(&self) -> String {
        match self {
            Self::OpenRoot { .. } => "Choose a workspace folder that exists and can be read.",
            Self::Unsupported { .. } => "Take it out of the plan.",
            Self::BadPath { .. } => "Correct the path in the plan.",
            Self::Outside { .. } => {
                "Use a path inside the workspace, or add its folder in the settings."
            }
            Self::OwnFolder { .. } => {
                "Use a path outside the folders of settings, key and evidence."
            }
            Self::KeptBeside { .. } => "Compare the two files, and keep what you want of each.",
            Self::TooMuchInput { .. } => "Make several plans of it.",
            Self::TooMuchToLookAt { .. } => {
                "Make several plans of it, name the file of each symbol, or choose a smaller workspace."
            }
            Self::BadPattern { .. } => "Correct the pattern in the plan.",
            Self::NotFound { .. } => "Check the path, or create the file first.",
            Self::ReadFailed { source, .. } => match source.kind() {
                io::ErrorKind::PermissionDenied => "Allow your user to read it.",
                _ => "Check that the file can be read.",
            },
            Self::WriteFailed { source, .. } => match source.kind() {
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    "Allow your user to write in its folder."
                }
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    "Free space where the file belongs."
                }
                _ => "Check that its folder can be written to.",
            },
            Self::NotAFile { .. } => "Name a regular file.",
            Self::TooLarge { .. } => "Use a smaller file.",
            Self::FolderMissing { .. } => "Create the folder first, or use file_create.",
            Self::NoFolder { .. } => "Create the folder first, or name another one.",
            Self::CommandFailed { .. } => {
                "Read what it printed; then correct the plan or its cause."
            }
            Self::OutcomeUnknown { .. } => {
                "Look on the host what became of the command before you run it again."
            }
            Self::NotConnected { .. } => "Run the plan again.",
            Self::Remote { source } => source.next(),
            Self::AlreadyExists { .. } => "Use file_write to replace it, or choose another path.",
            Self::Stale { .. } => "Look at the plan again and authorize it as things are now.",
            Self::Cancelled => "Run the plan again when you want it to be done.",
            Self::OutputLimit { .. } => "Narrow the pattern or the root.",
            Self::NoCargoProject { .. } => "Name a folder or a file of a Cargo project.",
            Self::ProgramMissing { program, .. } => {
                return format!("Install {program}, or add its folder to PATH.");
            }
            Self::NotStarted { .. } => "Check that the program can be run by your user.",
            Self::TimedOut { .. } => {
                "See what it printed last, and whether it waits for something that does not come."
            }
            Self::StoppedByWall { .. } => {
                "Sign the plan again with what it needs, if it may have that."
            }
            Self::NotKept { .. } => {
                "See that the evidence folder can be written to and that its disk has space."
            }
            Self::TooMuchOutput { .. } => "See in the output what is printed again and again.",
            Self::CargoCheck { .. } => "Correct the code, then run the plan again.",
            Self::CargoFailed { .. } => "Correct what cargo names, then run the plan again.",
            Self::Engine { source } => source.next(),
            Self::Splice { source } => source.next(),
            Self::Batch { source } => source.next(),
            Self::Program { source } => source.next(),
            Self::History { source } => source.next(),
            Self::Simulation { source } => return source.next(),
        }
        .to_owned()
    }

    /// The error as the records keep it.
    pub fn failure(&self) -> Failure {
        Failure { code: self.code(), message: self.to_string(), next: self.next() }
    }
}
