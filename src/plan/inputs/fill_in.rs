//! Filling in: a revision of a plan's bytes that only adds the values of its inputs.

use std::collections::BTreeMap;
use std::ops::Range;

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions};

use super::PlanInput;
use crate::plan::{Digest, limits};

/// Why a plan cannot be filled in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum FillInError {
    #[error("the plan has no input {name:?}{names}")]
    Unknown { name: String, names: String },
    #[error("the input {name:?} is a secret, whose value is in no plan")]
    Secret { name: String },
    #[error("the value of {name:?} is refused: {why}")]
    Refused { name: String, why: String },
    #[error("with these values the plan has more than {} bytes, which is the limit", limits::PLAN_BYTES)]
    TooLarge,
    #[error("the bytes {digest} are no plan with inputs")]
    NoPlan { digest: Digest },
}

/// The bytes of a plan with values of its inputs, by name. Everything else keeps its text.
///
/// # Errors
/// A value that the plan does not accept, or that is too long for a plan file.
pub fn fill_in(
    source: &[u8],
    inputs: &[PlanInput],
    values: &BTreeMap<String, String>,
) -> Result<Vec<u8>, FillInError> {
    let no_plan = || FillInError::NoPlan { digest: Digest::of(source) };
    let text = std::str::from_utf8(source).map_err(|_| no_plan())?;
    let parsed =
        jsonc_parser::parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
    let root = parsed.ok().and_then(|parsed| parsed.value).ok_or_else(no_plan)?;
    let objects = root.as_object().and_then(|root| root.get_array("inputs"));
    let mut changes: Vec<(Range<usize>, String)> = Vec::new();
    for (name, value) in values {
        let known = inputs.iter().position(|input| input.name == *name);
        let Some((index, input)) = known.and_then(|index| Some((index, inputs.get(index)?))) else {
            return Err(FillInError::Unknown { name: name.clone(), names: names(inputs) });
        };
        let name = || name.clone();
        if input.secret {
            return Err(FillInError::Secret { name: name() });
        }
        if let Some(why) = input.refuses(value) {
            return Err(FillInError::Refused { name: name(), why });
        }
        if input.value.as_ref() == Some(value) {
            continue;
        }
        let object = objects.and_then(|it| it.elements.get(index)).and_then(Value::as_object);
        changes.push(change(object.ok_or_else(no_plan)?, value).ok_or_else(no_plan)?);
    }
    changes.sort_by_key(|(range, _)| range.start);
    let mut filled = String::with_capacity(text.len() + 256);
    let mut end = 0;
    for (range, written) in changes {
        filled.push_str(text.get(end..range.start).ok_or_else(no_plan)?);
        filled.push_str(&written);
        end = range.end;
    }
    filled.push_str(text.get(end..).ok_or_else(no_plan)?);
    if filled.len() > limits::PLAN_BYTES {
        return Err(FillInError::TooLarge);
    }
    Ok(filled.into_bytes())
}

/// The range that is replaced, and its new text: a present value, or the end of the last member.
fn change(object: &Object<'_>, value: &str) -> Option<(Range<usize>, String)> {
    let written = serde_json::Value::from(value).to_string();
    if let Some(present) = object.get("value") {
        let range = present.value.range();
        return Some((range.start..range.end, written));
    }
    let end = object.properties.last()?.value.range().end;
    Some((end..end, format!(", \"value\": {written}")))
}

fn names(inputs: &[PlanInput]) -> String {
    match inputs {
        [] => "; it has none at all".to_owned(),
        inputs => {
            let names = inputs.iter().map(|input| input.name.clone()).collect::<Vec<_>>();
            format!("; it has {}", super::quoted_list(&names))
        }
    }
}
