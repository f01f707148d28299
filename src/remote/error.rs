//! Why a host cannot be used (SPEC §6, §7.3).

use crate::authorization::Target;
use crate::plan::{Code, DestinationError};
use crate::run::{ErrorInfo, TargetState};

/// Why a host cannot be used. The messages of the SSH client are kept verbatim.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum RemoteError {
    #[error("{0}")]
    Destination(#[from] DestinationError),
    #[error("ssh is not on PATH")]
    NoClient,
    #[error("cannot start ssh: {0}")]
    NotStarted(std::io::Error),
    #[error("ssh does not know the key of {destination}{}\n{messages}", key_text(host_key))]
    UnknownKey { destination: String, host_key: Option<String>, messages: String },
    #[error(
        "{destination} shows another key than the one that ssh knows{}\n{messages}",
        key_text(host_key)
    )]
    ChangedKey { destination: String, host_key: Option<String>, messages: String },
    #[error("{destination} refused the login\n{messages}")]
    Refused { destination: String, messages: String },
    #[error(
        "the login to {destination} was given up: a question of ssh was not answered\n{messages}"
    )]
    Declined { destination: String, messages: String },
    #[error("{destination} cannot be reached\n{messages}")]
    Unreachable { destination: String, messages: String },
    #[error("{destination} did not answer within {after}\n{messages}")]
    Silent { destination: String, after: String, messages: String },
    #[error(
        "no command can run on {destination}: it has no bash, or its login shell did not start it\n{messages}"
    )]
    NoBash { destination: String, messages: String },
    #[error("the target was {approved} when authorized and is {now} now")]
    NotApproved { approved: Box<Target>, now: String },
    #[error("ansible-playbook is not {searched}, and a plan for several hosts needs it")]
    NoAnsible { searched: String },
    #[error("cannot start ansible-playbook: {0}")]
    AnsibleNotStarted(std::io::Error),
    #[error("ansible-playbook does not work\n{messages}")]
    Ansible { messages: String },
    #[error("{} cannot stand in the settings of ansible", .path.display())]
    PathForAnsible { path: std::path::PathBuf },
    #[error("the settings of ssh cannot be covered by an authorization: {}: {why}", .path.display())]
    SshSettings { path: std::path::PathBuf, why: String },
    #[error("ssh knows no key of {hosts}")]
    UnknownKeys { hosts: String },
    #[error("{other} and {host} are the same user of the same host")]
    SameHost { other: String, host: String },
    #[error("{message}")]
    OnHosts { code: Code, message: String },
    #[error("stopped before {destination} was reached")]
    Cancelled { destination: String },
}

/// The key at the end of a message; empty if it is not known.
fn key_text(host_key: &Option<String>) -> String {
    host_key.as_ref().map_or_else(String::new, |key| format!(": {key}"))
}

impl ErrorInfo for RemoteError {
    fn code(&self) -> Code {
        match self {
            Self::OnHosts { code, .. } => *code,
            Self::Destination(_) | Self::SameHost { .. } => Code::BadArgument,
            Self::NoAnsible { .. } | Self::AnsibleNotStarted(_) | Self::Ansible { .. } => {
                Code::CommandFailed
            }
            Self::Cancelled { .. } => Code::Cancelled,
            Self::NotApproved { .. } => Code::Stale,
            _ => Code::HostUnreachable,
        }
    }

    fn next(&self) -> String {
        match self {
            Self::Destination(_) => "Correct the target in the plan.",
            Self::NoClient => "Install OpenSSH's client, or add its folder to PATH.",
            Self::OnHosts { .. } => {
                "Read what the hosts printed, then correct the plan or the cause."
            }
            Self::NoAnsible { .. } => {
                "Install the package ansible-core, or add its folder to PATH."
            }
            Self::AnsibleNotStarted(_) | Self::Ansible { .. } => {
                "Check that `ansible-playbook --version` works, or install the package ansible-core anew."
            }
            Self::PathForAnsible { .. } => {
                "Move the file to a path of letters, digits and the characters / . _ - + , @ = : ~."
            }
            Self::SshSettings { .. } => {
                "In an `Include`, name files by plain paths, with the wildcards * and ? only in the last part."
            }
            Self::UnknownKeys { .. } => {
                "Compare the keys with those that the hosts' owner names, then connect to each once with ssh to accept it."
            }
            Self::SameHost { .. } => "Leave out one of them: it would get each command twice.",
            Self::NotStarted(_) => "Check that ssh can be run by your user.",
            Self::UnknownKey { .. } => {
                "Compare the key with the one that the host's owner names, then connect once with ssh to accept it."
            }
            Self::ChangedKey { .. } => {
                "Ask the host's owner whether its key was replaced before you accept another one."
            }
            Self::Refused { .. } => {
                "Check the user's name and what you typed. Without a window nothing is asked: your key must be in the agent or \
                 need no passphrase."
            }
            Self::Declined { .. } => "Run the plan again, and answer what ssh asks.",
            Self::Unreachable { .. } | Self::Silent { .. } => {
                "Check the host's name, the network, and that `ssh` reaches it."
            }
            Self::NoBash { .. } => "Install bash on the host.",
            Self::NotApproved { .. } => "Look at the plan as it is now and authorize it again.",
            Self::Cancelled { .. } => "Run the plan again when you want it to be done.",
        }
        .to_owned()
    }
}

impl RemoteError {
    /// The error as the result of a target check.
    pub(super) fn state(self) -> TargetState {
        match self {
            Self::UnknownKey { host_key, messages, .. } => {
                TargetState::UnknownKey { host_key, said: messages }
            }
            Self::ChangedKey { host_key, messages, .. } => {
                TargetState::ChangedKey { host_key, said: messages }
            }
            Self::Refused { messages, .. } | Self::Declined { messages, .. } => {
                TargetState::Refused { said: messages }
            }
            Self::Unreachable { messages, .. } => TargetState::Unreachable { said: messages },
            Self::NoBash { messages, .. } => TargetState::Unusable { said: messages },
            other => TargetState::Unreachable { said: other.to_string() },
        }
    }
}
