//! A shell command of a plan, and its errors (SPEC §6, §7.2).

use std::time::Duration;

use serde_json::{Value, json};

use crate::plan::Code;
use crate::run::ErrorInfo;
use crate::tools::Context;
use crate::tools::tool::set_field;
use crate::workspace::Kind;

/// The timeout of a command for which the plan sets none.
const TIMEOUT: Duration = Duration::from_secs(120);

/// A shell command of a plan.
#[derive(Debug, Clone, Copy)]
pub(in crate::tools) struct Command<'a> {
    pub(in crate::tools) command: &'a str,
    /// The host on which the command runs; `None` for this computer.
    pub(in crate::tools) target: Option<&'a str>,
    /// The working directory, as the plan writes it.
    pub(in crate::tools) cwd: Option<&'a str>,
    pub(in crate::tools) timeout_seconds: Option<u32>,
}

impl Command<'_> {
    pub(super) fn timeout(&self) -> Duration {
        self.timeout_seconds.map_or(TIMEOUT, |seconds| Duration::from_secs(seconds.into()))
    }
}

/// The errors of a command other than those of its process.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum ShellError {
    #[error("cannot run in {path}: it is {kind}, not a folder")]
    NoFolder { path: String, kind: Kind },
    #[error("the command {status}")]
    Failed { status: String },
    #[error("the outcome on {host} is unknown: {why}")]
    OutcomeUnknown { host: String, why: String },
    #[error("cannot run on {host}: there is no connection to it")]
    NotConnected { host: String },
    #[error("the command needs a terminal, and there is none here")]
    NoTerminal,
}

impl ErrorInfo for ShellError {
    fn code(&self) -> Code {
        match self {
            Self::NoFolder { .. } | Self::Failed { .. } | Self::NoTerminal => Code::CommandFailed,
            Self::OutcomeUnknown { .. } | Self::NotConnected { .. } => Code::HostUnreachable,
        }
    }

    fn next(&self) -> String {
        match self {
            Self::NoFolder { .. } => "Create the folder first, or name another one.",
            Self::Failed { .. } => "Read the command's output, then correct the plan or the cause.",
            Self::OutcomeUnknown { .. } => {
                "Find out on the host what the command did before you run it again."
            }
            Self::NotConnected { .. } => "Run the plan again.",
            Self::NoTerminal => "Run the plan in the window, or at a terminal.",
        }
        .to_owned()
    }
}

/// Adds what is recorded of a terminal besides its output: its last size, and whether a person typed. What they typed is
/// not known here.
pub(super) fn with_terminal(mut result: Value, context: &Context<'_>) -> Value {
    if let Some(terminal) = context.terminal {
        let size = terminal.current_size();
        let record = json!({
            "columns": size.columns(), "rows": size.rows(), "typed": terminal.has_typed()
        });
        set_field(&mut result, "terminal", record);
    }
    result
}
