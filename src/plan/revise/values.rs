//! The values of arguments: where they are in a plan, and how a person's text becomes JSON.

use jsonc_parser::ast::{Object, Value};
use serde::de::IgnoredAny;

use std::collections::BTreeMap;

use super::error::RevisionError;
use super::source::{step_of, text_of};
use super::splices::{Document, Splices, elements, json_text, member};
use crate::plan::{ShownPlan, ShownStep, StepPlace};

/// The arguments of actions that are no texts.
const JSON_ARGUMENTS: [&str; 10] = [
    "edits",
    "steps",
    "expected_hashes",
    "dry_run",
    "inputs",
    "args",
    "trace_enabled",
    "debug_symbols",
    "max_results",
    "limit",
];

/// A value that a person gives an argument.
pub(super) enum NewValue {
    /// It has this value in the base.
    Same,
    /// JSON, or `None` for an argument that is taken away.
    Other(Option<String>),
}

/// The name of an argument in the file.
fn name_in_file<'n>(step: &ShownStep, name: &'n str) -> Result<&'n str, RevisionError> {
    let number = step.step_index + 1;
    match (step.place, name) {
        (StepPlace::Step(_) | StepPlace::Action(_), name) => Ok(name),
        (_, "target") => Err(RevisionError::Target),
        (StepPlace::Command(_), "command" | "cwd") => Ok(name),
        (StepPlace::Command(_), "timeout_seconds") => Ok("timeoutSeconds"),
        (StepPlace::Verification(_), "command") => Ok("verificationCommand"),
        (StepPlace::Verification(_), "cwd" | "timeout_seconds") => Err(RevisionError::OfTheCommand),
        _ => Err(RevisionError::NoArgument { number, name: name.to_owned() }),
    }
}

/// The entry of a step in its plan file.
pub(super) fn entry<'s, 'a>(
    document: &'s Document<'a>,
    step: &ShownStep,
) -> Result<&'s Object<'a>, RevisionError> {
    let (list, index) = match step.place {
        StepPlace::Step(at) | StepPlace::Command(at) | StepPlace::Verification(at) => ("steps", at),
        StepPlace::Action(at) => ("actions", at),
    };
    let list = elements(document.root(), list);
    let entry = list.and_then(|list| list.elements.get(index)?.as_object());
    entry.ok_or(RevisionError::NoStep { number: step.step_index + 1 })
}

/// The member of an entry with the arguments; `None` if the entry itself has them.
fn arguments_name(step: &ShownStep) -> Option<&'static str> {
    match step.place {
        StepPlace::Step(_) => Some("arguments"),
        StepPlace::Action(_) => Some("request"),
        StepPlace::Command(_) | StepPlace::Verification(_) => None,
    }
}

/// The value of an argument in the file; `None` if the file has none.
pub(super) fn in_file<'s, 'a>(
    document: &'s Document<'a>,
    step: &ShownStep,
    name: &str,
) -> Result<Option<&'s Value<'a>>, RevisionError> {
    let (entry, name) = (entry(document, step)?, name_in_file(step, name)?);
    let named = |object: &'s Object<'a>, name: &str| {
        object.properties.iter().rev().find(|it| it.name.as_str() == name).map(|it| &it.value)
    };
    Ok(match arguments_name(step) {
        Some(arguments) => named(entry, arguments).and_then(|it| Some(&member(it, name)?.value)),
        None => named(entry, name),
    })
}

/// The value that a person gives an argument, in the form of the file.
pub(super) fn value(
    base: &ShownPlan,
    step: usize,
    name: &str,
    text: Option<&str>,
) -> Result<NewValue, RevisionError> {
    let step = step_of(base, step)?;
    let document = Document::new(text_of(base)?).ok_or(RevisionError::NotJson)?;
    let old = in_file(&document, step, name)?;
    let Some(text) = text else {
        return Ok(if old.is_some() { NewValue::Other(None) } else { NewValue::Same });
    };
    if old.and_then(Value::as_string_lit).is_some_and(|old| old.value == text) {
        return Ok(NewValue::Same);
    }
    if text.contains('\0') {
        let (number, name) = (step.step_index + 1, name.to_owned());
        return Err(RevisionError::Nul { number, name });
    }
    let value = json(step, name, old, text)?;
    let is_same = old.is_some_and(|old| document.text_of(old) == value);
    Ok(if is_same { NewValue::Same } else { NewValue::Other(Some(value)) })
}

/// The person's text as JSON of the kind that the argument has.
fn json(
    step: &ShownStep,
    name: &str,
    old: Option<&Value<'_>>,
    text: &str,
) -> Result<String, RevisionError> {
    let is_number = matches!(old, Some(Value::NumberLit(_)));
    let parsed = || {
        let error = serde_json::from_str::<IgnoredAny>(text).err();
        error.map_or(Ok(text.trim().to_owned()), |error| Err(error.to_string()))
    };
    let number =
        || serde_json::from_str::<serde_json::Number>(text).map(|_| text.trim().to_owned());
    let failed = |message: String| RevisionError::Value {
        number: step.step_index + 1,
        name: name.to_owned(),
        message,
    };
    match step.place {
        StepPlace::Action(_) => {
            let is_text = matches!(old, None | Some(Value::StringLit(_)));
            let is_json = JSON_ARGUMENTS.contains(&name) || !is_text;
            if is_json { parsed().map_err(failed) } else { Ok(json_text(text)) }
        }
        StepPlace::Command(_) if name == "timeout_seconds" => {
            number().map_err(|_| failed("it is a number of seconds".to_owned()))
        }
        // A number keeps its form as long as it is one.
        StepPlace::Step(_) if is_number => Ok(number().unwrap_or_else(|_| json_text(text))),
        _ => Ok(json_text(text)),
    }
}

/// Gives arguments of a step their new values.
pub(super) fn splice<'a>(
    document: &Document<'a>,
    splices: &mut Splices<'_, 'a>,
    step: &ShownStep,
    arguments: &BTreeMap<String, Option<String>>,
) -> Result<(), RevisionError> {
    let entry = entry(document, step)?;
    let (mut added, mut removed) = (Vec::new(), Vec::new());
    for (name, value) in arguments {
        let in_file_name = name_in_file(step, name)?;
        match (in_file(document, step, name)?, value) {
            (Some(old), Some(value)) => splices.replace(old, value.as_str()),
            (Some(_), None) => removed.push(in_file_name),
            (None, Some(value)) => added.push((in_file_name, value.clone())),
            (None, None) => {}
        }
    }
    let object = match arguments_name(step) {
        None => entry,
        Some(arguments) => {
            let found = entry.properties.iter().rev().find(|it| it.name.as_str() == arguments);
            match found.map(|found| found.value.as_object()) {
                Some(Some(object)) => object,
                // A faulty step, whose arguments are no object or not there at all.
                Some(None) if added.is_empty() => return Ok(()),
                Some(None) => {
                    let name = added.first().map(|(name, _)| (*name).to_owned());
                    let (number, name) = (step.step_index + 1, name.unwrap_or_default());
                    return Err(RevisionError::NoArgument { number, name });
                }
                None if added.is_empty() => return Ok(()),
                None => {
                    let pairs = added.iter().map(|(name, it)| format!("{}: {it}", json_text(name)));
                    let all = format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "));
                    splices.add_members(entry, &[(arguments, all)], false);
                    return Ok(());
                }
            }
        }
    };
    splices.change_members(object, &removed, &added);
    Ok(())
}

/// The text of an argument for a person to edit: a text itself, anything else as it is written. `None` if the step has no
/// such argument.
///
/// # Errors
/// The argument cannot be changed.
pub fn argument_source(
    plan: &ShownPlan,
    step: usize,
    name: &str,
) -> Result<Option<String>, RevisionError> {
    let step = step_of(plan, step)?;
    let document = Document::new(text_of(plan)?).ok_or(RevisionError::NotJson)?;
    Ok(in_file(&document, step, name)?.map(|value| match value {
        Value::StringLit(text) => text.value.clone().into_owned(),
        other => document.text_of(other).to_owned(),
    }))
}
