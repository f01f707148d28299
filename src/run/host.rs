//! A remote host as it is displayed, approved and recorded (SPEC §7.3).

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

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

    /// The members of a step's result that name the host.
    pub fn result_members(&self) -> [(&'static str, Value); 3] {
        let host = json!({
            "destination": self.target.destination,
            "user": self.target.user,
            "host": self.target.host,
            "port": self.target.port,
            "host_key": self.host_key,
            "system": self.system,
            "home": self.home,
            "said": self.said,
        });
        [("host", host), ("shell", json!(self.bash)), ("shell_version", json!(self.bash_version))]
    }

    /// The host that the members of [`Self::result_members`] name in a step's result. The approved `host_keys` are
    /// not among them.
    pub fn from_result(result: &Value, host_keys: Vec<String>) -> Option<Self> {
        let host = result.get("host")?;
        let of =
            |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let text = |name: &str| of(host, name);
        Some(Self {
            target: Target {
                destination: text("destination")?,
                user: text("user")?,
                host: text("host")?,
                port: host.get("port").and_then(Value::as_u64)?.try_into().ok()?,
                host_keys,
            },
            host_key: text("host_key")?,
            system: text("system")?,
            bash: of(result, "shell")?,
            bash_version: of(result, "shell_version")?,
            home: text("home")?,
            said: text("said")?,
        })
    }
}

/// Whether a destination can be used. Checked before a run, at a person's request.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_host_is_read_back() {
        let host = Host {
            target: Target {
                destination: "web".to_owned(),
                user: "ada".to_owned(),
                host: "web.example.org".to_owned(),
                port: 2_222,
                host_keys: vec!["ED25519 SHA256:one".to_owned()],
            },
            host_key: "ssh-ed25519 SHA256:one".to_owned(),
            system: "Linux 6.1 x86_64".to_owned(),
            bash: "/bin/bash".to_owned(),
            bash_version: "5.2".to_owned(),
            home: "/home/ada".to_owned(),
            said: "Welcome".to_owned(),
        };
        let mut result = json!({ "command": "true" });
        host.result_members().into_iter().for_each(|(name, member)| result[name] = member);
        assert_eq!(Host::from_result(&result, host.target.host_keys.clone()), Some(host));
        assert_eq!(Host::from_result(&json!({ "command": "true" }), Vec::new()), None);
    }
}
