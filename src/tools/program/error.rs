//! Why the program was not verified, built or run (SPEC §6, §9).

use crate::plan::Code;
use crate::run::ErrorInfo;

/// The errors of `verify`, `compile` and `run`. Messages of other programs are kept verbatim.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum ProgramError {
    #[error(
        "the workspace folder has neither a command for {action} in countersign.toml nor a Cargo.toml"
    )]
    NoCommand { action: &'static str },
    #[error("{program} reported {errors} {}: {first}", if *errors == 1 { "error" } else { "errors, the first" })]
    Reported { program: String, errors: usize, first: String },
    #[error("{program} {status}{}{output}", if output.is_empty() { "" } else { "\n" })]
    Failed { program: String, status: String, output: String },
    #[error("no binary or example is named {name:?}; available: {}", list_names(known))]
    NoEntry { name: String, known: Vec<String> },
    #[error(
        "no binary, example or test is named {name:?}; available binaries and examples: {}",
        list_names(known)
    )]
    NoFunction { name: String, known: Vec<String> },
    #[error("no default binary is set; available: {}", list_names(known))]
    NoDefault { known: Vec<String> },
    #[error("{name:?} is in more than one package: {}", packages.join(", "))]
    Ambiguous { name: String, packages: Vec<String> },
    #[error("cargo built {name:?} but reported no path for it")]
    NoExecutablePath { name: String },
    #[error("the commands of countersign.toml are not trusted ({now}), so none of them is run")]
    NotTrusted { now: String },
    #[error("{first}{}", if *count == 1 { String::new() } else { format!(" (and {} more)", count - 1) })]
    BadCommands { count: usize, first: String },
    #[error("the run command of countersign.toml takes no arguments: it has no \"$@\"")]
    NoArguments,
    #[error("the program {status}")]
    ProgramFailed { status: String },
}

/// Maximum number of names in a message.
const MAX_NAMES: usize = 20;

fn list_names(names: &[String]) -> String {
    match names {
        [] => "none".to_owned(),
        names if names.len() > MAX_NAMES => {
            let some: Vec<_> = names.iter().take(MAX_NAMES).map(String::as_str).collect();
            format!("{} and {} more", some.join(", "), names.len() - MAX_NAMES)
        }
        names => names.join(", "),
    }
}

impl ErrorInfo for ProgramError {
    fn code(&self) -> Code {
        match self {
            Self::NoCommand { .. } => Code::NoCargoProject,
            Self::Reported { .. } | Self::Failed { .. } | Self::NoExecutablePath { .. } => {
                Code::CargoCheck
            }
            Self::NoEntry { .. }
            | Self::NoFunction { .. }
            | Self::NoDefault { .. }
            | Self::Ambiguous { .. } => Code::FileNotFound,
            Self::ProgramFailed { .. } => Code::CommandFailed,
            Self::NotTrusted { .. } => Code::NotAuthorized,
            Self::BadCommands { .. } => Code::BadValue,
            Self::NoArguments => Code::BadArgument,
        }
    }

    fn next(&self) -> String {
        match self {
            Self::NoCommand { .. } => {
                "Choose the folder of a Cargo project as the workspace, or name the command in a countersign.toml there."
            }
            Self::Reported { .. } => "Correct the reported errors, then run the plan again.",
            Self::Failed { .. } => "Correct the reported problem, then run the plan again.",
            Self::NoEntry { .. } => "Name one of the available binaries or examples.",
            Self::NoFunction { .. } => {
                "Name a binary, an example, or a test by its full path as cargo test prints it."
            }
            Self::NoDefault { .. } => {
                "Name the binary as entry_function, or set default-run in its Cargo.toml."
            }
            Self::Ambiguous { .. } => {
                "Give the binaries different names, or open one of the packages as the workspace."
            }
            Self::NotTrusted { .. } => {
                "Look at the commands and trust them, or remove countersign.toml."
            }
            Self::BadCommands { .. } => "Correct countersign.toml.",
            Self::NoArguments => {
                "Write \"$@\" into the command where the arguments belong, or remove the arguments from the plan."
            }
            Self::NoExecutablePath { .. } => "Read the output of cargo.",
            Self::ProgramFailed { .. } => {
                "Read the program's output, then correct the plan or the program."
            }
        }
        .to_owned()
    }
}
