//! Looks up a destination without connecting: the user, host and port in the client's settings, and the host keys that
//! the client has for that host (SPEC §2, §7.3).
//!
//! Uses `ssh -G` and `ssh-keygen -F`. Keys from a `KnownHostsCommand` in the person's settings are not
//! included.

use std::path::{Path, PathBuf};

use super::client::Call;
use super::{LOOKUP_TIMEOUT, RemoteError, SshClient};
use crate::authorization::Target;
use crate::plan::Destination;
use crate::run::StopSignal;

/// The default port, which names in `known_hosts` omit.
const DEFAULT_PORT: u16 = 22;

/// The user, host and port of a destination, and the host keys that the client has for it; these may be none. Does not
/// connect.
///
/// # Errors
/// When the client or `ssh-keygen` is missing, or the client cannot read its settings.
pub fn known_target(
    client: &SshClient,
    destination: &Destination,
    stop: &StopSignal,
) -> Result<Target, RemoteError> {
    let call = Call::new(vec!["-G"], destination, Path::new("/"));
    let call = Call { timeout: LOOKUP_TIMEOUT, ..call };
    let address = Address::of(client, &call, stop)?;
    let host_keys = address.host_keys(client, stop)?;
    let Address { user, host, port, .. } = address;
    Ok(Target { destination: destination.to_string(), user, host, port, host_keys })
}

/// Where a destination leads, by the settings of the client.
pub(super) struct Address {
    user: String,
    host: String,
    port: u16,
    /// The name of the host in lists of known hosts, if it is none of its own.
    alias: Option<String>,
    /// The programs and hosts through which the client connects.
    through: String,
    /// The files of known hosts.
    files: Vec<PathBuf>,
}

impl Address {
    /// Asks the client by this call with `-G`.
    ///
    /// # Errors
    /// When the client is missing or cannot read its settings.
    pub(super) fn of(
        client: &SshClient,
        call: &Call<'_>,
        stop: &StopSignal,
    ) -> Result<Self, RemoteError> {
        let finished = client.run(call, stop, &|_, _| {})?;
        let text = String::from_utf8_lossy(&finished.stdout);
        let find = |name: &str| {
            let value = |line: &str| line.strip_prefix(name)?.strip_prefix(' ').map(str::to_owned);
            text.lines().find_map(value)
        };
        let port = find("port").and_then(|port| port.parse().ok());
        let (Some(user), Some(host), Some(port)) = (find("user"), find("hostname"), port) else {
            let messages = String::from_utf8_lossy(&finished.stderr).trim_end().to_owned();
            let destination = call.destination.to_string();
            return Err(RemoteError::Unreachable { destination, messages });
        };
        let settings = ["userknownhostsfile", "globalknownhostsfile"];
        let files = settings.into_iter().filter_map(find).flat_map(|paths| files(&paths)).collect();
        let through = ["proxyjump", "proxycommand"].map(|name| find(name).unwrap_or_default());
        let (alias, through) = (find("hostkeyalias"), through.join("\0"));
        Ok(Self { user, host, port, alias, through, files })
    }

    /// The names of the host in lists of known hosts. As in the client, a key stored for a host without a port is valid
    /// at every port.
    pub(super) fn names(&self) -> Vec<String> {
        match &self.alias {
            Some(alias) => vec![alias.clone()],
            None if self.port == DEFAULT_PORT => vec![self.host.clone()],
            None => vec![format!("[{}]:{}", self.host, self.port), self.host.clone()],
        }
    }

    /// The host keys that the client has; these may be none.
    ///
    /// # Errors
    /// When `ssh-keygen` is missing.
    pub(super) fn host_keys(
        &self,
        client: &SshClient,
        stop: &StopSignal,
    ) -> Result<Vec<String>, RemoteError> {
        let mut host_keys = Vec::new();
        for name in self.names() {
            if host_keys.is_empty() {
                host_keys = client.known_keys(&name, &self.files, stop)?;
            }
        }
        host_keys.sort();
        host_keys.dedup();
        Ok(host_keys)
    }

    /// What is equal for two destinations that are the same user of the same host.
    pub(super) fn way(&self) -> String {
        let Self { user, host, port, through, .. } = self;
        format!("{user}\0{}\0{port}\0{through}", host.to_lowercase())
    }
}

/// The files in a setting that lists paths separated by spaces. `~` and `%d` mean the home folder; other relative paths
/// are omitted.
pub(super) fn files(paths: &str) -> Vec<PathBuf> {
    let home = std::env::home_dir();
    let expand = |path: &str| match path.strip_prefix("~/").or_else(|| path.strip_prefix("%d/")) {
        Some(rest) => home.as_ref().map(|home| home.join(rest)),
        None => Some(PathBuf::from(path)).filter(|path| path.is_absolute()),
    };
    paths.split(' ').filter_map(expand).collect()
}

/// Adds the keys in the output of `ssh-keygen -l -F`, which has two lines for each: a comment with its line number and
/// marker, then name, key type and fingerprint. Revoked keys are omitted.
pub(super) fn add_keys(output: &str, keys: &mut Vec<String>) {
    let mut marker = "";
    for line in output.lines() {
        if line.starts_with("# Host ") {
            marker = line.rsplit(' ').next().unwrap_or_default();
            continue;
        }
        let mut words = line.split(' ').skip(1);
        let (Some(kind), Some(fingerprint)) = (words.next(), words.next()) else { continue };
        match marker {
            "REVOKED" => {}
            "CA" => keys.push(format!("authority {kind} {fingerprint}")),
            _ => keys.push(format!("{kind} {fingerprint}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unrevoked_keys_and_authorities_are_read() {
        let output = "# Host build found: line 1 \nbuild ED25519 SHA256:a ada@build\n\
                    # Host build found: line 2 CA\nbuild RSA SHA256:b\n\
                    # Host build found: line 3 REVOKED\nbuild ECDSA SHA256:c\n\
                    # Host build found: line 4 \nbuild ECDSA SHA256:d\n";
        let mut keys = Vec::new();
        add_keys(output, &mut keys);
        assert_eq!(keys, ["ED25519 SHA256:a", "authority RSA SHA256:b", "ECDSA SHA256:d"]);
        let target = Target {
            destination: "build".to_owned(),
            user: "ada".to_owned(),
            host: "build".to_owned(),
            port: 22,
            host_keys: keys,
        };
        assert!(target.covers("ssh-ed25519 SHA256:a", None));
        assert!(target.covers("ssh-rsa-cert-v01@openssh.com SHA256:x", Some("ssh-rsa SHA256:b")));
        assert!(!target.covers("ssh-rsa SHA256:b", None), "an authority is no key of a host");
        assert!(!target.covers("ssh-ed25519 SHA256:x", Some("ssh-ed25519 SHA256:a")));
        assert!(!target.covers("ssh-ed25519 SHA256:c", None));
    }
}
