//! A shell command of a plan, and its errors (SPEC §6, §7.2).

use std::time::Duration;

use serde_json::{Value, json};

use crate::plan::{Code, CommandInput};
use crate::process::HiddenTexts;
use crate::run::ErrorInfo;
use crate::tools::tool::set_field;
use crate::tools::{Context, Toolbox};
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
    /// The inputs of the plan that the command gets, as variables of its environment.
    pub(in crate::tools) inputs: &'a [CommandInput],
}

impl Command<'_> {
    pub(super) fn timeout(&self) -> Duration {
        self.timeout_seconds.map_or(TIMEOUT, |seconds| Duration::from_secs(seconds.into()))
    }

    /// The variables with the inputs: each with its name and its value.
    ///
    /// # Errors
    /// One of them has no value here.
    pub(super) fn variables<'v>(
        &'v self,
        toolbox: &'v Toolbox,
    ) -> Result<Vec<(String, &'v str)>, ShellError> {
        let variable = |input: &'v CommandInput| {
            let missing = || ShellError::NoInput { name: input.name.clone() };
            let value = match &input.value {
                Some(value) => value.as_str(),
                None => {
                    let secret = toolbox.secret_inputs.get(&input.name).ok_or_else(missing)?;
                    std::str::from_utf8(secret.bytes()).map_err(|_| missing())?
                }
            };
            Ok((input.variable(), value))
        };
        self.inputs.iter().map(variable).collect()
    }
}

/// The secret inputs of the run, which are hidden in output. Also those that a command does not get: an earlier one may
/// have left them anywhere.
pub(super) fn hidden(toolbox: &Toolbox) -> HiddenTexts {
    let mut hidden = HiddenTexts::default();
    for (name, secret) in toolbox.secret_inputs.iter() {
        let digest = toolbox.secret_inputs.digest(name).unwrap_or_default();
        let digest = digest.rsplit(':').next().and_then(|hex| hex.get(..8)).unwrap_or_default();
        // The same form as that of the secrets which the evidence recognises.
        hidden.add(secret.bytes(), &format!("[secret:input:{digest}]"));
    }
    hidden
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
    #[error("the command needs the input {name}, and it is not given")]
    NoInput { name: String },
    #[error(
        "a command with inputs cannot run in a terminal on another host: their values would be arguments of ssh there"
    )]
    InputsInTerminal,
}

impl ErrorInfo for ShellError {
    fn code(&self) -> Code {
        match self {
            Self::NoFolder { .. }
            | Self::Failed { .. }
            | Self::NoTerminal
            | Self::InputsInTerminal => Code::CommandFailed,
            Self::NoInput { .. } => Code::Stale,
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
            Self::NoInput { .. } => "Give the input, and authorize the plan again.",
            Self::InputsInTerminal => "Take the terminal out of the step's needs.",
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
