//! The rows of the list of hosts: hosts that ended in the same way and printed the same are one row that unfolds.

use std::collections::{BTreeSet, HashMap};

use crate::run::{HostKind, HostState};

/// A group that can be unfolded: its kind, and what its hosts printed in common.
pub(super) type GroupKey = (HostKind, String);

/// A row of the list.
pub(super) enum Entry<'a> {
    /// Several hosts in the same state.
    Group {
        /// The key, to unfold it.
        key: GroupKey,
        /// The state of the first of them.
        state: &'a HostState,
        /// The hosts.
        hosts: Vec<&'a str>,
        /// Whether its hosts have rows below.
        is_open: bool,
    },
    /// One host, and whether it is below the row of its group.
    Host {
        /// The destination.
        host: &'a str,
        /// Its state.
        state: &'a HostState,
        /// Whether it is below the row of its group.
        is_indented: bool,
    },
}

/// The rows of these hosts. Groups are in the order of [`HostKind`], then of their first host, so that they keep their
/// places while hosts end. A host of which there is no second is a row of its own.
pub(super) fn entries<'a>(
    hosts: &[(&'a str, &'a HostState)],
    open: &BTreeSet<GroupKey>,
) -> Vec<Entry<'a>> {
    type Group<'a> = (HostKind, &'a str, Vec<(&'a str, &'a HostState)>);
    let mut groups: Vec<Group<'a>> = Vec::new();
    let mut indices: HashMap<(HostKind, &str), usize> = HashMap::new();
    for &(host, state) in hosts {
        let (kind, group) = (state.kind(), group_of(state));
        let index = *indices.entry((kind, group)).or_insert(groups.len());
        match groups.get_mut(index) {
            Some((_, _, hosts)) => hosts.push((host, state)),
            None => groups.push((kind, group, vec![(host, state)])),
        }
    }
    groups.sort_by_key(|(kind, ..)| *kind);
    let mut entries = Vec::new();
    for (kind, group, hosts) in groups {
        let key = (kind, group.to_owned());
        let is_open = open.contains(&key);
        let Some((_, first)) = hosts.first().filter(|_| hosts.len() > 1) else {
            let rows = hosts.into_iter();
            entries.extend(rows.map(|(host, state)| Entry::Host {
                host,
                state,
                is_indented: false,
            }));
            continue;
        };
        let names = hosts.iter().map(|(host, _)| *host).collect();
        entries.push(Entry::Group { key, state: first, hosts: names, is_open });
        if is_open {
            let rows = hosts.into_iter();
            entries.extend(rows.map(|(host, state)| Entry::Host {
                host,
                state,
                is_indented: true,
            }));
        }
    }
    entries
}

fn group_of(state: &HostState) -> &str {
    match state {
        HostState::Done(result) => &result.group,
        HostState::Waiting | HostState::Running => "",
    }
}
