//! Other edits in a batch, as the new text of its list of edits.

use std::collections::BTreeMap;

use jsonc_parser::ast::Object;

use super::error::RevisionError;
use super::source::{step_of, text_of};
use super::splices::{Document, Splices, json_text, member};
use super::values;
use crate::plan::{Edit, ShownPlan};

/// The list of edits of a batch with other edits at these indexes, or without those that become `None`. At least one
/// must stay. The others keep their text.
///
/// # Errors
/// The step has no list of edits.
pub fn edits_text(
    plan: &ShownPlan,
    step: usize,
    changes: &BTreeMap<usize, Option<Edit>>,
) -> Result<String, RevisionError> {
    let step = step_of(plan, step)?;
    let document = Document::new(text_of(plan)?).ok_or(RevisionError::NotJson)?;
    let list = values::in_file(&document, step, "edits")?;
    let missing =
        || RevisionError::NoArgument { number: step.step_index + 1, name: "edits".to_owned() };
    let text = list.map(|list| document.text_of(list)).ok_or_else(missing)?;
    let document = Document::new(text).ok_or(RevisionError::NotJson)?;
    let list = document.root().as_array().ok_or_else(missing)?;
    let mut splices = Splices::new(&document);
    splices.remove_elements(list, |index| matches!(changes.get(&index), Some(None)));
    for (index, element) in list.elements.iter().enumerate() {
        let Some(Some(edit)) = changes.get(&index) else { continue };
        match element.as_object().and_then(|old| Some((old, text_member(old, edit)?))) {
            Some((old, (name, new))) => match member(element, name) {
                Some(old) => splices.replace(&old.value, json_text(new)),
                None => splices.add_members(old, &[(name, json_text(new))], false),
            },
            None => splices.replace(element, serde_json::json!(edit).to_string()),
        }
    }
    Ok(splices.apply())
}

/// The member with the text of an edit, if the edit in the file is of the same kind and about the same file.
fn text_member<'e>(old: &Object<'_>, edit: &'e Edit) -> Option<(&'static str, &'e str)> {
    let is = |name: &str, value: &str| {
        let found = old.properties.iter().rev().find(|it| it.name.as_str() == name);
        let text = found.and_then(|it| it.value.as_string_lit());
        text.is_some_and(|text| text.value == value)
    };
    let (path, member) = match edit {
        Edit::Write { path, contents } | Edit::Create { path, contents } => {
            (path, ("contents", contents))
        }
        Edit::Patch { path, diff } => (path, ("diff", diff)),
        _ => return None,
    };
    (is("op", edit.op()) && is("path", path)).then_some((member.0, member.1.as_str()))
}
