//! Parses the `needs` of a command in `countersign.toml` (SPEC §7.5). A person grants them by trusting the file.

use super::parser::{Field, Parser};
use crate::plan::{Needs, limits};

/// Parses the needs; adds a fault for every part that is invalid.
pub(super) fn parse(parser: &mut Parser<'_>, value: &Field<'_>) -> Needs {
    let mut needs = Needs::default();
    let Some(table) = parser.table("needs", value) else { return needs };
    for (key, value) in table {
        let name = key.get_ref().as_ref();
        let flag = match name {
            "network" => &mut needs.network,
            "open" => &mut needs.open,
            "write" => {
                needs.write = paths(parser, value);
                continue;
            }
            "terminal" => {
                let message = "a command of a workspace has no terminal";
                parser.fault(key.span().start, message.to_owned());
                continue;
            }
            other => {
                let known = "network, write and open";
                let message = format!("there is no need {other:?}; there are {known}");
                parser.fault(key.span().start, message);
                continue;
            }
        };
        match value.get_ref().as_bool() {
            Some(value) => *flag = value,
            None => parser.fault(value.span().start, format!("{name} must be true or false")),
        }
    }
    needs
}

fn paths(parser: &mut Parser<'_>, value: &Field<'_>) -> Vec<String> {
    let Some(items) = value.get_ref().as_array() else {
        parser.fault(value.span().start, "write must be an array of paths".to_owned());
        return Vec::new();
    };
    if items.len() > limits::WRITES {
        let message = format!("write has more than {} paths", limits::WRITES);
        parser.fault(value.span().start, message);
    }
    let items = items.iter().take(limits::WRITES);
    items.filter_map(|item| parser.string("a path of write", item, limits::PATH_BYTES)).collect()
}
