//! Commands on several hosts, by ansible-core (SPEC §14).
//!
//! One `ansible-playbook` runs all steps of a plan, because `serial` takes the hosts of a batch through all steps before
//! the next batch begins. Playbook, inventory and settings are generated (`files.rs`); an approval covers their digest,
//! the version of ansible, the client's known hosts and its settings. Nothing else that ansible could read is read: the
//! environment is almost empty, every folder of ansible is a private one of the run, and `ssh` gets copies of its known
//! hosts and settings as they were authorized (`settings.rs`).
//!
//! ansible starts the system's `ssh` with the options that a connection to a single host has, so an unknown or changed
//! key is refused. Nobody is asked for passwords: keys come from the agent, or need no passphrase. A plugin of ours
//! (`assets/fleet`) reports what each host did, and waits before each task until the engine lets it begin, which is how a
//! run pauses and ends between steps.
//!
//! A run that is stopped ends ansible and its clients. A host on which a command ran at that moment may go on with it
//! until its time limit, which `timeout` keeps there.

mod files;
mod hosts;
mod program;
mod results;
mod run;
mod settings;
mod version;

use std::sync::Arc;

use crate::plan::{Code, Destination, Fleet, Plan};
use crate::risk::Policy;
use crate::run::{FleetReview, StopSignal};

pub use files::timeout_of;
pub use run::{FleetEnd, FleetReceiver, run};

use super::{RemoteError, SshClient};
use crate::authorization::FleetBinding;

/// How much a command may print on each host, in words.
pub const OUTPUT_LIMITS: &str = "16 MiB to stdout or 4 MiB to stderr";

/// Something that happened in a run on several hosts. Hosts and steps are counted from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FleetEvent {
    /// ansible has begun.
    Began {
        /// The version of ansible-core.
        ansible: String,
    },
    /// A step is about to begin on the hosts of a batch.
    Task {
        /// The step.
        step_index: usize,
    },
    /// A step begins on a host.
    Started {
        /// The host.
        host: usize,
        /// The step.
        step_index: usize,
    },
    /// A step ended on a host.
    Ended(Box<HostEnded>),
}

/// The end of a step on a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostEnded {
    /// The host.
    pub host: usize,
    /// The step.
    pub step_index: usize,
    /// How it ended.
    pub end: HostEnd,
    /// Everything that was printed to stdout.
    pub stdout: Vec<u8>,
    /// What the command printed to stderr; if it is not known to have begun, what `ssh` printed.
    pub stderr: Vec<u8>,
    /// How long it took, in milliseconds.
    pub duration_ms: i64,
}

/// How a step ended on a host.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "`message` is that of ansible and ssh, verbatim")]
pub enum HostEnd {
    /// The command ended with this exit status.
    Exited(i32),
    /// The command reached its time limit, and is over on the host or may still run there.
    TimedOut { is_over: bool },
    /// The command printed more than is taken from a host, and was ended.
    TooMuch,
    /// The host showed another key than the known one.
    ChangedKey { message: String },
    /// The host showed a key that is not known.
    UnknownKey { message: String },
    /// The host refused the login.
    Refused { message: String },
    /// There was no connection, so that nothing was sent.
    Unreachable { message: String },
    /// The host did not say how the command ended.
    Unknown { message: String },
}

impl HostEnd {
    /// The code and message of the error; `None` if the command succeeded.
    pub fn error(&self, limit: u32) -> Option<(Code, String)> {
        Some(match self {
            Self::Exited(0) => return None,
            Self::Exited(127) => (
                Code::CommandFailed,
                "the command ended with exit code 127: a program was not found".to_owned(),
            ),
            Self::Exited(status) => {
                (Code::CommandFailed, format!("the command ended with exit code {status}"))
            }
            Self::TimedOut { is_over: true } => (
                Code::TimedOut,
                format!("the command was still running after {limit} s and was ended"),
            ),
            Self::TimedOut { is_over: false } => (
                Code::TimedOut,
                format!(
                    "the host did not answer {limit} s after the command began; the outcome there is unknown"
                ),
            ),
            Self::TooMuch => (
                Code::OutputLimit,
                format!("the command printed more than {OUTPUT_LIMITS} and was ended"),
            ),
            Self::ChangedKey { message } => (
                Code::HostUnreachable,
                format!("the host shows another key than the one that ssh knows\n{message}"),
            ),
            Self::UnknownKey { message } => {
                (Code::HostUnreachable, format!("ssh does not know the key of the host\n{message}"))
            }
            Self::Refused { message } => {
                (Code::HostUnreachable, format!("the host refused the login\n{message}"))
            }
            Self::Unreachable { message } => {
                (Code::HostUnreachable, format!("the host cannot be reached\n{message}"))
            }
            Self::Unknown { message } => {
                (Code::HostUnreachable, format!("the outcome on the host is unknown\n{message}"))
            }
        })
    }

    /// Whether the command may have run.
    pub const fn may_have_run(&self) -> bool {
        matches!(
            self,
            Self::Exited(_) | Self::TimedOut { .. } | Self::TooMuch | Self::Unknown { .. }
        )
    }

    /// The exit status.
    pub const fn exit_code(&self) -> Option<i32> {
        match self {
            Self::Exited(status) => Some(*status),
            _ => None,
        }
    }
}

/// Everything that an approval of a plan for these hosts covers. Connects to no host.
///
/// # Errors
/// There is no `ssh` or no ansible, they cannot be run, a path cannot stand in ansible's settings, or a host cannot be
/// used.
pub fn review(
    plan: &Plan,
    fleet: &Fleet,
    hosts: Vec<Destination>,
    policy: &Policy,
    workspace: &std::path::Path,
    stop: &StopSignal,
) -> Result<FleetReview, RemoteError> {
    let client = SshClient::of_system(policy, workspace)?;
    let (program, ansible_version) = program::find(workspace, stop)?;
    let first = hosts
        .first()
        .ok_or_else(|| RemoteError::Ansible { messages: "the plan has no hosts".to_owned() })?;
    let read = settings::read(&client, first, stop)?;
    hosts::check(&client, &hosts, &read, stop)?;
    let arguments = SshClient::fleet_arguments(plan.steps.len() > 1);
    let ssh = files::Ssh {
        program: client.fleet_program()?,
        arguments: &arguments,
        settings: &read.settings,
        known_hosts: &read.known_hosts,
    };
    let files = files::generate(plan, fleet, &hosts, &ssh);
    let binding = FleetBinding {
        hosts: hosts.len(),
        ansible: format!("{} {ansible_version}", program.display()),
        files: files::digest(&files),
        known_hosts: read.known_hosts_digest,
        ssh_settings: read.settings_digest,
    };
    let (batches, ssh) = (fleet.batches(), Arc::new(read.files));
    let digest = binding.digest();
    Ok(FleetReview { hosts, batches, program, ansible_version, files, ssh, binding, digest })
}
