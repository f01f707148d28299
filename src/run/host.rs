//! A remote host as it is displayed, approved and recorded (SPEC §7.3).

use serde::{Deserialize, Serialize};

use crate::authorization::Target;

/// A host that the SSH client has reached, and what was read there once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// User, address and keys of the host: what an approval covers.
    pub target: Target,
    /// The kind and fingerprint of the key that the host presented, for instance `ssh-ed25519 SHA256:…`.
    pub host_key: String,
    /// The operating system, its release and the machine, as `uname` prints them.
    pub system: String,
    /// The path of bash on the host.
    pub bash: String,
    /// The version of that bash.
    pub bash_version: String,
    /// The folder in which a command runs if it names none.
    pub home: String,
    /// What the client and the host printed while connecting, verbatim: banners and warnings. Mostly empty.
    pub said: String,
}

impl Host {
    /// User, address and key of the host in one line.
    pub fn line(&self) -> String {
        let Self { target, host_key, .. } = self;
        format!("{} ({}) with key {host_key}", target.destination, target.address())
    }
}

/// Whether a destination can be used, checked when a person asks before a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum TargetState {
    /// The host is reached, and the client knows its key.
    Reachable {
        /// The host.
        host: Box<Host>,
    },
    /// The client knows no key of the destination, so it may be the wrong host.
    UnknownKey {
        /// The key that the host presented.
        host_key: Option<String>,
        /// The client's output.
        said: String,
    },
    /// The host presented another key than the one that the client knows.
    ChangedKey {
        /// The key that the host presented.
        host_key: Option<String>,
        /// The client's output.
        said: String,
    },
    /// The host does not let this user log in.
    Refused {
        /// The client's output.
        said: String,
    },
    /// The host cannot be reached.
    Unreachable {
        /// The client's output.
        said: String,
    },
    /// The host is reached, but commands cannot run there or cannot be started from this computer.
    Unusable {
        /// The reason.
        said: String,
    },
}

impl TargetState {
    /// Whether commands can run there.
    pub const fn is_reachable(&self) -> bool {
        matches!(self, Self::Reachable { .. })
    }

    /// The state in a few words.
    pub const fn title(&self) -> &'static str {
        match self {
            Self::Reachable { .. } => "reachable",
            Self::UnknownKey { .. } => "its key is unknown",
            Self::ChangedKey { .. } => "its key has changed",
            Self::Refused { .. } => "it refused the login",
            Self::Unreachable { .. } => "not reachable",
            Self::Unusable { .. } => "reachable, but not usable",
        }
    }
}
