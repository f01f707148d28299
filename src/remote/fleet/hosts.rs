//! Looks up the hosts of a plan before it is authorized, without connecting: the client must know a key of each, and no
//! two may be the same host. For several hosts at the same time, because each lookup starts the client.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::super::client::Call;
use super::super::known::Address;
use super::super::{LOOKUP_TIMEOUT, RemoteError, SshClient};
use super::settings::Read;
use crate::plan::{Destination, Digest};
use crate::run::StopSignal;

/// Maximum number of lookups at the same time.
const THREADS: usize = 8;
/// Maximum number of hosts that a message names.
const NAMED: usize = 20;

/// What the last successful check was of. The settings and known hosts decide the answers, and a plan is reviewed often.
static CHECKED: Mutex<Option<Digest>> = Mutex::new(None);

/// Checks the hosts with these settings and known hosts.
///
/// # Errors
/// The client has no key of some hosts, or two destinations are the same host; or the client does not work.
pub(super) fn check(
    client: &SshClient,
    hosts: &[Destination],
    read: &Read,
    stop: &StopSignal,
) -> Result<(), RemoteError> {
    let mut all = format!("{:?}\0{:?}\0", client.program_path(), client.settings());
    all += &format!("{}\0{}\0", read.settings_digest, read.known_hosts_digest);
    hosts.iter().for_each(|host| all += &format!("{host}\0"));
    let these = Digest::of(all.as_bytes());
    let mut checked = CHECKED.lock().unwrap_or_else(PoisonError::into_inner);
    if *checked == Some(these) {
        return Ok(());
    }
    let addresses = addresses(client, hosts, stop)?;
    let mut same: HashMap<String, &Destination> = HashMap::new();
    for (host, address) in hosts.iter().zip(&addresses) {
        if let Some(other) = same.insert(address.way(), host) {
            let (other, host) = (other.to_string(), host.to_string());
            return Err(RemoteError::SameHost { other, host });
        }
    }
    let known = PlainNames::of(&read.files.known_hosts);
    let mut unknown = Vec::new();
    for (host, address) in hosts.iter().zip(&addresses) {
        let is_plain = address.names().iter().any(|name| known.has(name));
        if !is_plain && address.host_keys(client, stop)?.is_empty() {
            unknown.push(host.as_str());
        }
    }
    if unknown.is_empty() {
        *checked = Some(these);
        return Ok(());
    }
    let mut names = unknown.iter().take(NAMED).copied().collect::<Vec<_>>().join(" ");
    if unknown.len() > NAMED {
        names += &format!(" and {} more", unknown.len() - NAMED);
    }
    Err(RemoteError::UnknownKeys { hosts: names })
}

/// The address of each host, in their order.
fn addresses(
    client: &SshClient,
    hosts: &[Destination],
    stop: &StopSignal,
) -> Result<Vec<Address>, RemoteError> {
    let next = AtomicUsize::new(0);
    let found: Mutex<Vec<(usize, Result<Address, RemoteError>)>> = Mutex::default();
    let work = || {
        while let Some((index, host)) = {
            let index = next.fetch_add(1, Ordering::Relaxed);
            hosts.get(index).map(|host| (index, host))
        } {
            let call = Call::new(vec!["-G"], host, Path::new("/"));
            let call = Call { timeout: LOOKUP_TIMEOUT, ..call };
            let address = Address::of(client, &call, stop);
            found.lock().unwrap_or_else(PoisonError::into_inner).push((index, address));
        }
    };
    let count = thread::available_parallelism().map_or(1, usize::from).min(THREADS);
    thread::scope(|scope| {
        for _ in 1..count.min(hosts.len()) {
            let builder = thread::Builder::new().name("countersign-hosts".to_owned());
            // This thread does what another one would.
            let _ = builder.spawn_scoped(scope, work);
        }
        work();
    });
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_by_key(|(index, _)| *index);
    found.into_iter().map(|(_, address)| address).collect()
}

/// The names in a list of known hosts that are neither hashed nor patterns. To ask `ssh-keygen` for each host would take
/// as long as the run of a short command.
struct PlainNames<'a>(std::collections::HashSet<&'a str>);

impl<'a> PlainNames<'a> {
    fn of(known_hosts: &'a [u8]) -> Self {
        let text = known_hosts.split(|byte| *byte == b'\n');
        let lines = text.filter_map(|line| std::str::from_utf8(line).ok());
        let names = lines.flat_map(|line| {
            let mut words = line.split_whitespace();
            let first = words.next().filter(|word| !word.starts_with(['#', '@', '|']));
            // A negation takes the host out of the whole line.
            let names = first.filter(|names| !names.contains(['!', '*', '?']));
            let is_key = words.next().is_some() && words.next().is_some();
            names.filter(|_| is_key).into_iter().flat_map(|names| names.split(','))
        });
        Self(names.collect())
    }

    fn has(&self, name: &str) -> bool {
        self.0.contains(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_names_are_taken_from_known_hosts() {
        let text = b"# web\nweb,10.0.0.1 ssh-ed25519 AAAA comment\n[web]:2222 ssh-rsa AAAA\n\
                     |1|abc|def ssh-rsa AAAA\n*.net,x ssh-rsa AAAA\n!no,yes ssh-rsa AAAA\n\
                     @revoked bad ssh-rsa AAAA\nnokey ssh-rsa\n";
        let names = PlainNames::of(text);
        for name in ["web", "10.0.0.1", "[web]:2222"] {
            assert!(names.has(name), "{name}");
        }
        for name in ["x", "yes", "no", "bad", "@revoked", "nokey", "|1|abc|def", "#"] {
            assert!(!names.has(name), "{name}");
        }
    }
}
