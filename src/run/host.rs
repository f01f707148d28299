//! A remote host as it is shown, approved and recorded (SPEC §7.3).

use serde::{Deserialize, Serialize};

use crate::authorization::Target;

/// A host that the SSH client has reached, and what was read there once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// Who, where and by which keys; what an approval covers.
    pub target: Target,
    /// The kind and fingerprint of the key that it showed, for instance `ssh-ed25519 SHA256:…`.
    pub host_key: String,
    /// The operating system, its release and the machine, in `uname`'s words.
    pub system: String,
    /// The path of its bash.
    pub bash: String,
    /// That bash's version.
    pub bash_version: String,
    /// The folder in which commands run that name none.
    pub home: String,
    /// What the client and the host said on the way, verbatim: banners, warnings. Mostly empty.
    pub said: String,
}

impl Host {
    /// Who, where and by which key, in one line.
    pub fn line(&self) -> String {
        let Self { target, host_key, .. } = self;
        format!("{} ({}) with key {host_key}", target.destination, target.address())
    }
}

/// How a destination answers, for a person who asks before anything runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum TargetState {
    /// It is reached, by a key that the client knows.
    Reachable {
        /// What it is.
        host: Box<Host>,
    },
    /// The client knows no key of it; nobody has said that this is the right host.
    UnknownKey {
        /// The key that it showed.
        host_key: Option<String>,
        /// The client's own words.
        said: String,
    },
    /// It shows another key than the one that the client knows.
    ChangedKey {
        /// The key that it showed.
        host_key: Option<String>,
        /// The client's own words.
        said: String,
    },
    /// It does not let this user in.
    Refused {
        /// The client's own words.
        said: String,
    },
    /// It is not reached.
    Unreachable {
        /// The client's own words.
        said: String,
    },
    /// It is reached, and commands cannot run there or not from here.
    Unusable {
        /// Why.
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
            Self::Refused { .. } => "it refused your key",
            Self::Unreachable { .. } => "not reachable",
            Self::Unusable { .. } => "reachable, but not usable",
        }
    }
}
