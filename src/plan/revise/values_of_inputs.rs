//! Values of inputs: the revision only adds them, so that its difference is small.

use std::collections::BTreeMap;

use super::error::RevisionError;
use super::splices::{Document, Splices, elements, json_text, member};
use crate::plan::ShownPlan;
use crate::plan::inputs::quoted_list;

/// The name in a template, by which a change of an input is named.
pub(super) fn of_template(text: &str) -> Option<&str> {
    text.strip_prefix("{{")?.strip_suffix("}}")
}

/// Checks that the plan has these inputs and accepts the values.
pub(super) fn check(
    base: &ShownPlan,
    values: &BTreeMap<String, String>,
) -> Result<(), RevisionError> {
    for (name, value) in values {
        let refused = |why: String| RevisionError::Input { name: name.clone(), why };
        let Some(input) = base.inputs.iter().find(|input| input.name == *name) else {
            let names: Vec<_> = base.inputs.iter().map(|input| input.name.clone()).collect();
            return Err(refused(match names.as_slice() {
                [] => "the plan has no inputs".to_owned(),
                names => format!("the plan has no such input, only {}", quoted_list(names)),
            }));
        };
        if input.secret {
            return Err(refused("it is a secret, whose value is in no plan".to_owned()));
        }
        if let Some(why) = input.refuses(value) {
            return Err(refused(why));
        }
    }
    Ok(())
}

/// Writes the values.
pub(super) fn splice(
    document: &Document<'_>,
    splices: &mut Splices<'_, '_>,
    base: &ShownPlan,
    values: &BTreeMap<String, String>,
) -> Result<(), RevisionError> {
    check(base, values)?;
    for (name, value) in values {
        let missing =
            || RevisionError::Input { name: name.clone(), why: "it is not in the file".to_owned() };
        let index = base.inputs.iter().position(|input| input.name == *name).ok_or_else(missing)?;
        let list = elements(document.root(), "inputs").ok_or_else(missing)?;
        let input = list.elements.get(index).ok_or_else(missing)?;
        match member(input, "value") {
            Some(present) => splices.replace(&present.value, json_text(value)),
            None => {
                let object = input.as_object().ok_or_else(missing)?;
                splices.add_members(object, &[("value", json_text(value))], false);
            }
        }
    }
    Ok(())
}
