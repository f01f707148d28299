//! The hosts of a command plan that runs on several of them, and how they are taken in batches (SPEC §14).

use std::fmt;

use super::Destination;

/// The hosts of a plan, and the batches in which its steps run on them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fleet {
    /// The hosts.
    pub hosts: FleetHosts,
    /// The sizes of the batches, in their order; the last one repeats. Empty for one batch of all hosts.
    pub serial: Vec<BatchSize>,
    /// The share of a batch that may fail, in percent, before the run stops; `None` if the run only stops when every host
    /// of a batch has failed.
    pub max_fail_percentage: Option<u8>,
}

/// The hosts of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FleetHosts {
    /// The destinations that the plan names, each once.
    Named(Vec<Destination>),
    /// Those in an inventory file of ansible, whose path is relative to the workspace.
    Inventory(String),
}

/// The number of hosts of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchSize {
    /// So many hosts.
    Hosts(u32),
    /// So many percent of all hosts.
    Percent(u8),
}

impl Fleet {
    /// The hosts in a few words, in the place of a destination. No destination contains a space, so that neither can be
    /// taken for the other.
    pub fn label(&self) -> String {
        match &self.hosts {
            FleetHosts::Named(hosts) if hosts.len() == 1 => "1 host".to_owned(),
            FleetHosts::Named(hosts) => format!("{} hosts", hosts.len()),
            FleetHosts::Inventory(path) => format!("the hosts of {path}"),
        }
    }

    /// Whether a recorded target of a run is the label of a fleet, and no destination.
    pub fn is_label(target: &str) -> bool {
        target.contains(' ')
    }

    /// The batches and the limit in a line; `None` if the plan states neither.
    pub fn batches(&self) -> Option<String> {
        let sizes: Vec<String> = self.serial.iter().map(ToString::to_string).collect();
        let sizes = (!sizes.is_empty()).then(|| format!("in batches of {}", sizes.join(", then ")));
        let limit = self.max_fail_percentage.map(|percent| {
            format!("stops when more than {percent} % of a batch, or all of it, have failed")
        });
        match (sizes, limit) {
            (None, None) => None,
            (sizes, limit) => Some(sizes.into_iter().chain(limit).collect::<Vec<_>>().join("; ")),
        }
    }
}

impl fmt::Display for BatchSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hosts(1) => f.write_str("1 host"),
            Self::Hosts(count) => write!(f, "{count} hosts"),
            Self::Percent(percent) => write!(f, "{percent} % of the hosts"),
        }
    }
}
