//! Prints what concerns plans for several hosts: what is generated for ansible, and how the hosts ended.

use super::output::{Output, quoted_in_line};
use crate::plan::{Plan, quoted_lines};
use crate::run::{FleetReview, HostResult, groups_of_hosts};

/// Hosts, batches, and the version and files that an authorization covers.
pub(super) fn fleet_header(fleet: &FleetReview) -> Vec<String> {
    let hosts: Vec<&str> = fleet.hosts.iter().map(|host| host.as_str()).collect();
    let batches = fleet.batches.as_ref().map(|batches| format!("Hosts run {batches}"));
    let binding = &fleet.binding;
    let covered = [
        format!("Hosts: {}", hosts.join(" ")),
        format!("By ansible-core {}, {}", fleet.ansible_version, fleet.program.display()),
        format!("Playbook, inventory and settings {}", binding.files),
        format!("Known hosts of ssh {}", binding.known_hosts),
    ];
    let [hosts, rest @ ..] = covered;
    [Some(hosts), batches].into_iter().flatten().chain(rest).collect()
}

/// The generated files, line by line.
pub(super) fn fleet_files(fleet: &FleetReview) -> Vec<String> {
    let files = &fleet.files;
    let named = [
        ("Playbook", &files.playbook),
        ("Inventory", &files.inventory),
        ("Settings of ansible", &files.config),
    ];
    let file = |(name, text): (&str, &String)| {
        let text = quoted_lines(text);
        let lines: Vec<String> = text.lines().map(|line| format!("    {line}")).collect();
        [format!("{name}:")].into_iter().chain(lines)
    };
    named.into_iter().flat_map(file).collect()
}

/// Prints, for each step, the hosts that ended in the same way and printed the same.
pub(super) fn print_hosts(plan: &Plan, results: &[HostResult], out: &mut Output) {
    for step in &plan.steps {
        let of_step = results.iter().filter(|it| it.step_index == step.step_index);
        let groups = groups_of_hosts(of_step);
        if groups.is_empty() {
            continue;
        }
        let (_, about) = step.call.headline();
        out.line(&quoted_in_line(&format!("Step {}: {about}", step.step_index + 1)));
        for line in groups.iter().flat_map(|group| group.lines()) {
            out.line(&quoted_in_line(&format!("    {line}")));
        }
    }
}
