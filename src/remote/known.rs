//! Finds out about a destination without connecting: the user, host and port in the client's settings, and
//! the host keys that the client has for that host (SPEC §2, §7.3).
//!
//! Uses `ssh -G` and `ssh-keygen -F`. Keys from a `KnownHostsCommand` in the person's settings are not
//! included.

use std::path::{Path, PathBuf};

use super::client::{Call, SshClient};
use super::{LOOK, RemoteError};
use crate::authorization::Target;
use crate::plan::Destination;
use crate::run::StopSignal;

/// The default port, which names in `known_hosts` omit.
const PORT: u16 = 22;

/// The user, host and port of a destination, and the host keys that the client has for it. Does not connect.
/// It is not an error if the client has no key.
///
/// # Errors
/// There is no client, or it cannot read its settings.
pub fn known_target(
    client: &SshClient,
    destination: &Destination,
    stop: &StopSignal,
) -> Result<Target, RemoteError> {
    let call = Call {
        options: vec!["-G"],
        destination,
        command: None,
        input: None,
        folder: Path::new("/"),
        timeout: Some(LOOK),
        output_limit: None,
    };
    let finished = client.run(&call, stop, &|_, _| {})?;
    let text = String::from_utf8_lossy(&finished.stdout);
    let find = |name: &str| {
        let value = |line: &str| line.strip_prefix(name)?.strip_prefix(' ').map(str::to_owned);
        text.lines().find_map(value)
    };
    let port = find("port").and_then(|port| port.parse().ok());
    let (Some(user), Some(host), Some(port)) = (find("user"), find("hostname"), port) else {
        let said = String::from_utf8_lossy(&finished.stderr).trim_end().to_owned();
        return Err(RemoteError::Unreachable { destination: destination.to_string(), said });
    };
    let named = ["userknownhostsfile", "globalknownhostsfile"];
    let files: Vec<PathBuf> =
        named.into_iter().filter_map(find).flat_map(|paths| files(&paths)).collect();
    let name = match find("hostkeyalias") {
        Some(alias) => alias,
        None if port == PORT => host.clone(),
        None => format!("[{host}]:{port}"),
    };
    let mut host_keys = client.known_keys(&name, &files, stop)?;
    if host_keys.is_empty() && name.starts_with('[') {
        // The client does the same: a key stored for the host without a port is valid at every port.
        host_keys = client.known_keys(&host, &files, stop)?;
    }
    host_keys.sort();
    host_keys.dedup();
    Ok(Target { destination: destination.to_string(), user, host, port, host_keys })
}

/// The files in a setting that lists several paths, separated by spaces.
fn files(paths: &str) -> Vec<PathBuf> {
    let home = std::env::home_dir();
    let expand = |path: &str| match path.strip_prefix("~/").or_else(|| path.strip_prefix("%d/")) {
        Some(rest) => home.as_ref().map(|home| home.join(rest)),
        None => Some(PathBuf::from(path)).filter(|path| path.is_absolute()),
    };
    paths.split(' ').filter_map(expand).collect()
}

/// Parses the output of `ssh-keygen -l -F` into `keys`: for each entry a comment with its place and marker,
/// then a line with name, key type and fingerprint.
pub(super) fn read(said: &str, keys: &mut Vec<String>) {
    let mut sort = "";
    for line in said.lines() {
        if line.starts_with("# Host ") {
            sort = line.rsplit(' ').next().unwrap_or_default();
            continue;
        }
        let mut words = line.split(' ').skip(1);
        let (Some(kind), Some(fingerprint)) = (words.next(), words.next()) else { continue };
        match sort {
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
        let said = "# Host build found: line 1 \nbuild ED25519 SHA256:a ada@build\n\
                    # Host build found: line 2 CA\nbuild RSA SHA256:b\n\
                    # Host build found: line 3 REVOKED\nbuild ECDSA SHA256:c\n\
                    # Host build found: line 4 \nbuild ECDSA SHA256:d\n";
        let mut keys = Vec::new();
        read(said, &mut keys);
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
