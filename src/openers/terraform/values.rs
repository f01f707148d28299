//! Values before and after, without those that are secret.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::super::json::At;
use crate::plan::Finding;

/// The shown values by their names. The second part is compared, and never shown.
pub(super) type Values<'v> = BTreeMap<String, (String, Option<&'v Value>)>;

/// The values of a field, of which those in the first mask are secret and those in the second not known yet.
///
/// # Errors
/// A mask has another shape than the values. What is secret would not be known.
pub(super) fn masked<'v>(
    change: &At<'v>,
    name: &str,
    sensitive: &str,
    unknown: Option<&str>,
) -> Result<Values<'v>, Finding> {
    let mask = |name: &str| change.value.get(name).unwrap_or(NULL);
    let mut values = Values::new();
    let value = change.value.get(name).unwrap_or(NULL);
    let unknown = unknown.map_or(NULL, mask);
    if collect("", value, mask(sensitive), unknown, &mut values) {
        return Ok(values);
    }
    Err(change.error(format!(
        "\"{sensitive}\" does not fit to \"{name}\", so what is secret is not known"
    )))
}

/// A line for each value that differs.
pub(super) fn differences(before: &Values<'_>, after: &Values<'_>) -> Vec<String> {
    let mut names: Vec<&String> = before.keys().chain(after.keys()).collect();
    names.sort();
    names.dedup();
    let mut lines = Vec::new();
    for name in names {
        let shown = if name.is_empty() { "value" } else { name };
        lines.push(match (before.get(name), after.get(name)) {
            (Some(old), Some(new)) if old == new => continue,
            (Some((old, _)), Some((new, _))) => format!("{shown}: {old} → {new}"),
            (None, Some((new, _))) => format!("{shown}: {new}"),
            (Some((old, _)), None) => format!("{shown}: {old} → removed"),
            (None, None) => continue,
        });
    }
    lines
}

/// Collects the values below a name; false if a mask does not fit.
fn collect<'v>(
    name: &str,
    value: &'v Value,
    sensitive: &Value,
    unknown: &Value,
    values: &mut Values<'v>,
) -> bool {
    let is_nothing = |mask: &Value| matches!(mask, Value::Null | Value::Bool(false));
    if sensitive == &Value::Bool(true) {
        values.insert(name.to_owned(), ("(secret)".to_owned(), Some(value)));
        return true;
    }
    if unknown == &Value::Bool(true) {
        values.insert(name.to_owned(), ("known after apply".to_owned(), None));
        return true;
    }
    match value {
        Value::Object(fields)
            if !fields.is_empty() || unknown.as_object().is_some_and(|it| !it.is_empty()) =>
        {
            if !(sensitive.is_object() || is_nothing(sensitive)) {
                return false;
            }
            let more = unknown.as_object().into_iter().flat_map(|it| it.keys());
            let names: BTreeSet<&String> = fields.keys().chain(more).collect();
            names.into_iter().all(|field| {
                let inner = fields.get(field);
                // What is not known yet has no value.
                let is_unknown = unknown.get(field) == Some(&Value::Bool(true));
                if inner.is_none() && !is_unknown {
                    return true;
                }
                let name = if name.is_empty() { field.clone() } else { format!("{name}.{field}") };
                collect(
                    &name,
                    inner.unwrap_or(NULL),
                    sensitive.get(field).unwrap_or(NULL),
                    unknown.get(field).unwrap_or(NULL),
                    values,
                )
            })
        }
        Value::Array(list) if !list.is_empty() => {
            if !(sensitive.is_array() || is_nothing(sensitive)) {
                return false;
            }
            list.iter().enumerate().all(|(index, inner)| {
                let (sensitive, unknown) =
                    (sensitive.get(index).unwrap_or(NULL), unknown.get(index).unwrap_or(NULL));
                collect(&format!("{name}[{index}]"), inner, sensitive, unknown, values)
            })
        }
        Value::Null => true,
        scalar => {
            // A mask with fields for a value without any.
            let fits = is_nothing(sensitive)
                || sensitive.as_object().is_some_and(serde_json::Map::is_empty)
                || sensitive.as_array().is_some_and(Vec::is_empty);
            values.insert(name.to_owned(), (scalar.to_string(), None));
            fits
        }
    }
}

/// A value that is not there.
const NULL: &Value = &Value::Null;
