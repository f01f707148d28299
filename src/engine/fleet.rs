//! Reviews a plan for several hosts: its hosts, and what is generated for ansible (SPEC §14).

mod inventory;

use std::collections::BTreeMap;

use crate::authorization::FileState;
use crate::plan::{Code, Destination, Finding, FleetHosts, Mode, Plan};
use crate::remote::fleet;
use crate::risk::Policy;
use crate::run::{ErrorInfo as _, FleetReview, StopSignal};
use crate::tools::Toolbox;

/// What an approval would cover, and what is wrong. Adds the inventory to the covered files. Without `starts_processes` only the findings about the plan.
pub(super) fn review(
    plan: &Plan,
    toolbox: &Toolbox,
    policy: &Policy,
    starts_processes: bool,
    inputs: &mut BTreeMap<String, FileState>,
) -> (Option<FleetReview>, Vec<Finding>) {
    let Some(fleet) = &plan.fleet else { return (None, Vec::new()) };
    let mut findings = Vec::new();
    if plan.mode == Mode::Guided {
        let message =
            "a plan for several hosts cannot run in guided mode: its steps run on batches of hosts";
        findings.push(Finding::error(Code::BadValue, "/mode", message));
    }
    let hosts: Result<Vec<Destination>, String> = match &fleet.hosts {
        FleetHosts::Named(hosts) => Ok(hosts.clone()),
        FleetHosts::Inventory(path) => {
            if let (Ok(key), Ok(state)) = (toolbox.key_of(path), toolbox.digest_of(path)) {
                inputs.insert(key, state);
            }
            inventory::hosts(path, toolbox)
        }
    };
    let hosts = match hosts {
        Ok(hosts) => hosts,
        Err(why) => {
            findings.push(Finding::error(Code::BadValue, "/inventory", why));
            return (None, findings);
        }
    };
    if !starts_processes {
        return (None, findings);
    }
    let stop = StopSignal::default();
    let reviewed = fleet::review(plan, fleet, hosts, policy, toolbox.workspace(), &stop);
    match reviewed {
        Ok(review) => (Some(review), findings),
        Err(error) => {
            let message = format!("{error}. {}", error.next());
            findings.push(Finding::error(error.code(), "/targets", message));
            (None, findings)
        }
    }
}
