//! The hosts of a command plan that runs on several of them (SPEC §14).

use std::collections::HashSet;

use super::fields::Fields;
use super::inputs::Inputs;
use super::json::Json;
use crate::plan::fleet::{BatchSize, Fleet, FleetHosts};
use crate::plan::{Code, Destination, Finding, limits};

/// Reads the fields about several hosts; `None` if the plan has no such hosts.
pub(super) fn read(fields: &mut Fields<'_>, inputs: &Inputs<'_>) -> Option<Fleet> {
    let has_hosts = fields.has("targets") || fields.has("inventory");
    for name in ["serial", "max_fail_percentage"] {
        if fields.has(name) && !has_hosts {
            let message = format!("{name:?} is about several hosts: name them in \"targets\"");
            fields.error(Code::BadValue, name, message);
        }
    }
    if fields.has("targets") && fields.has("inventory") {
        let message = "the plan has \"targets\" already; name the hosts in one of the two";
        fields.error(Code::BadValue, "inventory", message);
    }
    if has_hosts && fields.has("target") {
        let message = "the plan names several hosts; leave \"target\" out";
        fields.error(Code::BadValue, "target", message);
    }
    if has_hosts && !inputs.all.is_empty() {
        let message =
            "a plan for several hosts cannot have inputs: write the values into its commands";
        fields.error(Code::BadValue, "inputs", message);
    }
    let targets = targets(fields);
    let inventory = inventory(fields);
    let serial = serial(fields);
    let max_fail_percentage = fields.whole_number("max_fail_percentage", 0..=100);
    Some(Fleet {
        hosts: targets.map(FleetHosts::Named).or(inventory.map(FleetHosts::Inventory))?,
        serial,
        max_fail_percentage: max_fail_percentage.and_then(|percent| percent.try_into().ok()),
    })
}

fn targets(fields: &mut Fields<'_>) -> Option<Vec<Destination>> {
    if !fields.has("targets") {
        return None;
    }
    let (context, pointer) = (fields.context, fields.pointer_to("targets"));
    let texts = fields.texts("targets");
    if texts.is_empty() {
        let message = "\"targets\" names no host; a host is written as host, user@host or ssh://user@host:port";
        fields.error(Code::Missing, "targets", message);
    }
    if texts.len() > limits::TARGETS {
        let message = format!("there are {} hosts; the limit is {}", texts.len(), limits::TARGETS);
        fields.error(Code::Limit, "targets", message);
    }
    let (mut hosts, mut seen) = (Vec::new(), HashSet::new());
    for (index, text) in texts.into_iter().take(limits::TARGETS) {
        let error = |message: String| {
            let pointer = format!("{pointer}/{index}");
            context.error_with(|| Finding::error(Code::BadValue, pointer, message));
        };
        match Destination::parse(&text) {
            Err(why) => error(format!("{text:?} is no SSH destination: {why}")),
            Ok(_) if text == "local" => {
                error("\"local\" is this computer: run the plan here with \"target\"".to_owned());
            }
            Ok(host) if seen.insert(text.clone()) => hosts.push(host),
            Ok(_) => error(format!("{text:?} is named twice")),
        }
    }
    Some(hosts)
}

fn inventory(fields: &mut Fields<'_>) -> Option<String> {
    let path = fields.text("inventory")?;
    if path.trim().is_empty() {
        fields.error(
            Code::Missing,
            "inventory",
            "\"inventory\" is empty; it is the path of a file",
        );
    } else if path.chars().any(char::is_control) {
        let message = "\"inventory\" contains a control character";
        fields.error(Code::BadValue, "inventory", message);
    } else if path.len() > limits::PATH_BYTES {
        let message = format!("\"inventory\" is longer than {} bytes", limits::PATH_BYTES);
        fields.error(Code::Limit, "inventory", message);
    }
    Some(path)
}

/// One size of a batch, or several.
fn serial(fields: &mut Fields<'_>) -> Vec<BatchSize> {
    let Some(json) = fields.take("serial") else { return Vec::new() };
    let items = match json {
        Json::Array(items) => items,
        item => vec![item],
    };
    if items.is_empty() || items.len() > limits::BATCHES {
        let message = format!("\"serial\" has from 1 to {} sizes of batches", limits::BATCHES);
        fields.error(Code::BadValue, "serial", message);
        return Vec::new();
    }
    let sizes: Option<Vec<_>> = items.iter().map(size).collect();
    sizes.unwrap_or_else(|| {
        let message =
            "\"serial\" is a number of hosts from 1, a share such as \"30%\", or an array of them";
        fields.error(Code::BadValue, "serial", message);
        Vec::new()
    })
}

fn size(item: &Json) -> Option<BatchSize> {
    match item {
        Json::Number(number) => {
            let count =
                number.as_u64().filter(|count| (1..=limits::TARGETS as u64).contains(count));
            count?.try_into().ok().map(BatchSize::Hosts)
        }
        Json::String(text) => {
            let percent = text.strip_suffix('%').filter(|digits| !digits.starts_with(['0', '+']));
            let percent = percent?.parse().ok().filter(|percent| (1..=100).contains(percent));
            percent.map(BatchSize::Percent)
        }
        _ => None,
    }
}
