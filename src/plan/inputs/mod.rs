//! The inputs of a plan (SPEC §13, *Revisions*): values that a person gives before signing.
//!
//! Filling in makes a revision whose bytes have the values; the parser puts them into arguments. A command
//! gets a value as a variable of its environment, whose name begins with [`VARIABLE_PREFIX`], and never inside its words:
//! [`refer`] replaces the templates of a command by references to the variables. The value of a secret input is in no plan.

mod command;
mod template;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::Serialize;

pub(super) use command::{CommandFault, refer};
pub use template::VARIABLE_PREFIX;
pub(super) use template::{Part, fill, is_name, parts};

/// What the arguments of a step have in place of the value of a secret.
const SECRET: &str = "(secret)";

/// The minimum length of a secret that is recognised in output, in bytes. Shorter ones would be found in ordinary text.
pub const MIN_SECRET_BYTES: usize = 4;

/// An input of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct PlanInput {
    /// The name: lower-case letters, digits and `_`.
    pub name: String,
    /// A short display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The value that is proposed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// The accepted values; any value if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// Whether the value is in no plan and no record.
    pub secret: bool,
    /// The value; `None` if it is not filled in yet, and for a secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The indexes of the steps that use it, in order.
    pub used_by: Vec<usize>,
}

impl PlanInput {
    /// The title, or the name if there is none.
    pub fn label(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }

    /// Whether it must be filled in before the plan can be authorized. A secret never is: it is given apart from the plan.
    pub fn is_missing(&self) -> bool {
        !self.secret && self.value.is_none()
    }

    /// The name of the variable in which a command gets the value.
    pub fn variable(&self) -> String {
        format!("{VARIABLE_PREFIX}{}", self.name)
    }

    /// Why this cannot be the value; `None` if it can.
    pub fn refuses(&self, value: &str) -> Option<String> {
        let length = value.len();
        if length > crate::plan::limits::INPUT_BYTES {
            let limit = crate::plan::limits::INPUT_BYTES;
            return Some(format!("it is {length} bytes long; the limit is {limit}"));
        }
        if value.contains('\0') {
            return Some("it contains a NUL character".to_owned());
        }
        if value == SECRET {
            return Some(format!("{SECRET} is what records have in place of a secret"));
        }
        if self.secret && length < MIN_SECRET_BYTES {
            return Some(format!(
                "a secret has at least {MIN_SECRET_BYTES} bytes, because a shorter one could not be recognised in output"
            ));
        }
        let is_choice = self.choices.is_empty() || self.choices.iter().any(|it| it == value);
        (!is_choice).then(|| format!("it is none of {}", quoted_list(&self.choices)))
    }
}

/// An input as a command gets it: the value of a variable of its environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandInput {
    /// The name of the input.
    pub name: String,
    /// The value; `None` if it is not in the plan: it is a secret, or not filled in yet.
    pub value: Option<String>,
    /// Whether the input is a secret.
    pub secret: bool,
}

impl CommandInput {
    /// The name of the variable.
    pub fn variable(&self) -> String {
        format!("{VARIABLE_PREFIX}{}", self.name)
    }

    /// The inputs of a command, from the arguments of its step.
    pub fn of_arguments(arguments: &BTreeMap<String, String>) -> Vec<Self> {
        let input = |(variable, value): (&String, &String)| {
            let secret = value == SECRET;
            let name = variable.strip_prefix(VARIABLE_PREFIX)?.to_owned();
            Some(Self { name, value: Some(value.clone()).filter(|_| !secret), secret })
        };
        arguments.iter().filter_map(input).collect()
    }

    /// What the arguments of the step have in place of the value; `None` for an input that is not filled in yet.
    pub(super) fn argument(&self) -> Option<String> {
        if self.secret { Some(SECRET.to_owned()) } else { self.value.clone() }
    }

    /// Whether a command may give the variable another value: it names the variable other than by expanding it.
    pub fn may_change_in(&self, command: &str) -> bool {
        command::may_assign(command, &self.name)
    }
}

/// The inputs of a plan for a person: each with its name and its value, or what is known instead of one.
pub fn shown_inputs(inputs: &[PlanInput]) -> Vec<(String, String)> {
    let shown = |input: &PlanInput| {
        let value = match (&input.value, &input.default) {
            _ if input.secret => "a secret".to_owned(),
            (Some(value), _) => value.clone(),
            (None, Some(default)) => format!("not filled in, {default} by default"),
            (None, None) => "not filled in".to_owned(),
        };
        (input.name.clone(), value)
    };
    inputs.iter().map(shown).collect()
}

/// A command in which the templates of these inputs are references to variables; `None` if one cannot be.
pub fn with_references(command: &str, inputs: &[PlanInput]) -> Option<String> {
    let found = refer(command, &|name| inputs.iter().any(|input| input.name == name));
    found.faults.is_empty().then_some(found.text)
}

/// The inputs that a command gets, whose templates are references already.
pub(super) fn of_command(command: &str, inputs: &[PlanInput]) -> Vec<CommandInput> {
    if inputs.is_empty() {
        return Vec::new();
    }
    let found = refer(command, &|name| inputs.iter().any(|input| input.name == name));
    of_names(&found.used, inputs)
}

/// The inputs with these names, as a command gets them, in the order of the plan.
pub(super) fn of_names(names: &[String], inputs: &[PlanInput]) -> Vec<CommandInput> {
    let of_command = |input: &PlanInput| CommandInput {
        name: input.name.clone(),
        value: input.value.clone().filter(|_| !input.secret),
        secret: input.secret,
    };
    inputs.iter().filter(|input| names.contains(&input.name)).map(of_command).collect()
}

/// A list for a message.
pub(super) fn quoted_list(texts: &[String]) -> String {
    texts.iter().map(|text| format!("{text:?}")).collect::<Vec<_>>().join(", ")
}
