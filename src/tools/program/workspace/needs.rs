//! Parses `needs` of a command in `countersign.toml` (SPEC §7.5). A person grants the needs by trusting the
//! file.

use super::reader::{Field, Reader};
use crate::plan::{Needs, limits};

/// Parses the needs; adds a fault for every part that is invalid.
pub(super) fn read(reader: &mut Reader<'_>, value: &Field<'_>) -> Needs {
    let mut needs = Needs::default();
    let Some(table) = reader.table("needs", value) else { return needs };
    for (key, value) in table {
        let name = key.get_ref().as_ref();
        let flag = match name {
            "network" => &mut needs.network,
            "open" => &mut needs.open,
            "write" => {
                needs.write = paths(reader, value);
                continue;
            }
            "terminal" => {
                let message = "a command of a workspace has no terminal";
                reader.fault(key.span().start, message.to_owned());
                continue;
            }
            other => {
                let known = "network, write and open";
                let message = format!("there is no need {other:?}; there are {known}");
                reader.fault(key.span().start, message);
                continue;
            }
        };
        match value.get_ref().as_bool() {
            Some(wanted) => *flag = wanted,
            None => reader.fault(value.span().start, format!("{name} must be true or false")),
        }
    }
    needs
}

fn paths(reader: &mut Reader<'_>, value: &Field<'_>) -> Vec<String> {
    let Some(items) = value.get_ref().as_array() else {
        reader.fault(value.span().start, "write must be an array of paths".to_owned());
        return Vec::new();
    };
    if items.len() > limits::WRITES {
        let message = format!("write has more than {} paths", limits::WRITES);
        reader.fault(value.span().start, message);
    }
    let items = items.iter().take(limits::WRITES);
    items.filter_map(|item| reader.text_of("a path of write", item, limits::PATH_BYTES)).collect()
}
