//! Reads the hosts of an inventory file of ansible in the INI form. ansible itself does not read the file: an inventory
//! may be a program, or have templates and plugins, none of which may run before a person has authorized the plan. So
//! only names, ranges of numbers, groups, `ansible_host`, `ansible_port` and `ansible_user` are understood, and
//! everything else is an error.

use std::collections::BTreeMap;

use crate::plan::{Destination, limits};
use crate::tools::Toolbox;

/// The maximum size of an inventory, in bytes.
const BYTES: usize = 1 << 20;

/// The hosts of the file at this path in the workspace.
///
/// # Errors
/// Why the file cannot be used, as a sentence.
pub(super) fn hosts(path: &str, toolbox: &Toolbox) -> Result<Vec<Destination>, String> {
    let content = toolbox.content_of(path).map_err(|error| error.to_string())?;
    let content = content.ok_or_else(|| format!("the inventory {path} does not exist"))?;
    if content.len() > BYTES {
        return Err(format!("the inventory {path} is larger than {BYTES} bytes"));
    }
    let text = std::str::from_utf8(&content).map_err(|_| format!("{path} is not UTF-8"))?;
    hosts_in(text).map_err(|(line, why)| format!("{path}:{line}: {why}"))
}

/// The hosts of an inventory, in their order.
///
/// # Errors
/// The number of the first line that is not understood, and why.
fn hosts_in(text: &str) -> Result<Vec<Destination>, (usize, String)> {
    let (mut hosts, mut known) = (Vec::new(), BTreeMap::new());
    let mut has_hosts = true;
    for (number, line) in (1..).zip(text.lines()) {
        let fault = |why: String| (number, why);
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(group) = line.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
            has_hosts = match group.rsplit_once(':') {
                None => true,
                Some((_, "children")) => false,
                Some((_, kind)) => {
                    return Err(fault(format!(
                        "variables of groups (`:{kind}`) are not supported"
                    )));
                }
            };
            continue;
        }
        if !has_hosts {
            continue;
        }
        if line.ends_with(':') || line.starts_with(['-', '{']) {
            return Err(fault("this is no host: an inventory is read in the INI form".to_owned()));
        }
        let mut words = line.split_whitespace();
        let variables = words.clone().skip(1).map(str::to_owned).collect::<Vec<_>>().join(" ");
        for name in names(words.next().unwrap_or_default()).map_err(fault)? {
            match known.get(&name) {
                Some(earlier) if variables.is_empty() || *earlier == variables => continue,
                Some(_) => {
                    return Err(fault(format!("{name} has other variables on an earlier line")));
                }
                None => {}
            }
            let host = destination(&name, words.clone()).map_err(fault)?;
            if hosts.contains(&host) {
                return Err(fault(format!("{host} is on an earlier line under another name")));
            }
            hosts.push(host);
            known.insert(name, variables.clone());
            if hosts.len() > limits::TARGETS {
                return Err(fault(format!("there are more than {} hosts", limits::TARGETS)));
            }
        }
    }
    if hosts.is_empty() { Err((1, "the inventory names no host".to_owned())) } else { Ok(hosts) }
}

/// The names that a name with ranges such as `web[01:20]` stands for.
fn names(pattern: &str) -> Result<Vec<String>, String> {
    let Some((head, rest)) = pattern.split_once('[') else { return Ok(vec![pattern.to_owned()]) };
    let range = rest.split_once(']').and_then(|(range, tail)| {
        let (first, last) = range.split_once(':')?;
        Some((first, first.parse::<u32>().ok()?, last.parse::<u32>().ok()?, tail))
    });
    let (first, from, to, tail) = range.filter(|(_, from, to, _)| from <= to).ok_or_else(|| {
        format!("{pattern:?} is no name: a range is one of numbers, as in web[01:20]")
    })?;
    if (to - from) as usize >= limits::TARGETS {
        return Err(format!("{pattern:?} stands for more than {} hosts", limits::TARGETS));
    }
    let width = first.len();
    let mut all = Vec::new();
    for tail in names(tail)? {
        all.extend((from..=to).map(|number| format!("{head}{number:0width$}{tail}")));
        if all.len() > limits::TARGETS {
            return Err(format!("{pattern:?} stands for more than {} hosts", limits::TARGETS));
        }
    }
    Ok(all)
}

fn destination<'a>(
    name: &str,
    variables: impl Iterator<Item = &'a str>,
) -> Result<Destination, String> {
    let (mut host, mut user, mut port) = (name, None, None);
    for variable in variables {
        match variable.split_once('=') {
            Some(("ansible_host", value)) => host = value,
            Some(("ansible_user", value)) => user = Some(value),
            Some(("ansible_port", value)) => port = Some(value),
            _ => {
                return Err(format!(
                    "{variable:?} is not supported: a host has ansible_host, ansible_user and ansible_port"
                ));
            }
        }
    }
    if host == "local" {
        return Err("\"local\" is this computer: run the plan here with \"target\"".to_owned());
    }
    // For ansible the number is a port, and in a destination it would be a part of the name.
    if let Some((name, _)) = host.split_once(':').filter(|(_, rest)| !rest.contains(':')) {
        return Err(format!("write the port of {name} as ansible_port"));
    }
    let (at, user) = (if user.is_some() { "@" } else { "" }, user.unwrap_or_default());
    let text = match port {
        Some(port) if port.parse::<u16>().is_err() => return Err(format!("{port:?} is no port")),
        Some(port) if host.contains(':') => format!("ssh://{user}{at}[{host}]:{port}"),
        Some(port) => format!("ssh://{user}{at}{host}:{port}"),
        None => format!("{user}{at}{host}"),
    };
    Destination::parse(&text).map_err(|why| format!("{text:?} is no SSH destination: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        hosts_in(text).unwrap().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn names_groups_ranges_and_variables_are_read() {
        let text = "# ours\nalone\n[web]\nweb[08:10] ansible_user=ada\n\
                    [db]\ndb1 ansible_host=10.0.0.1 ansible_port=2222 ansible_user=root\nalone\n\
                    [all_of_them:children]\nweb\ndb\n";
        let expected = ["alone", "ada@web08", "ada@web09", "ada@web10", "ssh://root@10.0.0.1:2222"];
        assert_eq!(texts(text), expected);
        assert_eq!(texts("a ansible_host=::1 ansible_port=22"), ["ssh://[::1]:22"]);
        assert_eq!(texts("r[1:2]h[1:2]"), ["r1h1", "r2h1", "r1h2", "r2h2"]);
    }

    #[test]
    fn everything_else_is_an_error() {
        for (text, why) in [
            ("", "no host"),
            ("[web]\n[web:vars]\na=b", "variables of groups"),
            ("web ansible_ssh_common_args=-oProxyCommand=x", "not supported"),
            ("web ansible_host={{ x }}", "not supported"),
            ("web ansible_host={{x}}", "SSH destination"),
            ("web[a:c]", "range"),
            ("web[1:99999]", "stands for more"),
            ("web[5:1]", "range"),
            ("web ansible_port=x", "no port"),
            ("all:\n  hosts:\n    web:", "INI form"),
            ("#!/bin/sh\necho hosts", "not supported"),
            ("web ansible_user=a\nweb ansible_user=b", "other variables"),
            ("-oProxyCommand=x", "INI form"),
            ("h1:2222", "ansible_port"),
            ("local", "this computer"),
            ("h1 ansible_host=h2\nh2", "under another name"),
            ("a ansible_host=h1\nb ansible_host=h1", "under another name"),
        ] {
            let (_, message) = hosts_in(text).unwrap_err();
            assert!(message.contains(why), "{text:?}: {message}");
        }
    }
}
