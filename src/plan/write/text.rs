//! Shared by the writers of all dialects: derived ids and titles, and serialization.

use serde::Serialize;
use uuid::Uuid;

use crate::plan::{PlanInput, limits};

/// The text in the id of a continued plan before the shortened id of the run.
const ID_MARK: &str = ".continues-";

/// The end of a continued plan's title.
pub const CONTINUED: &str = " (continued)";

/// The plan that continues a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Continuation {
    /// The bytes of a plan in the same dialect, with the steps that did not succeed.
    Plan(Vec<u8>),
    /// No step is left.
    NothingLeft,
    /// The plan exceeds the size limit of a plan file, because derived ids and default values are written out.
    TooLarge,
}

impl Continuation {
    /// The plan with this text.
    pub(super) fn of(plan: &impl Serialize) -> Self {
        serialize(plan).map_or(Self::TooLarge, Self::Plan)
    }
}

/// An input as a plan has it. Fields with default values are left out.
#[derive(Serialize)]
pub(super) struct InputText<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    choices: &'a [String],
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    secret: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'a str>,
}

impl<'a> InputText<'a> {
    /// The input with its value, if it has one.
    pub(super) fn of(input: &'a PlanInput) -> Self {
        Self {
            name: &input.name,
            title: input.title.as_deref(),
            default: input.default.as_deref(),
            choices: &input.choices,
            secret: input.secret,
            value: input.value.as_deref(),
        }
    }
}

/// Whether a number says nothing and is left out.
pub(super) fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// Serializes a plan; `None` if it exceeds the size limit of a plan file.
pub(super) fn serialize(plan: &impl Serialize) -> Option<Vec<u8>> {
    // A large plan may fit only without whitespace.
    let within_limit = |text: serde_json::Result<Vec<u8>>| {
        text.ok().filter(|bytes| bytes.len() < limits::PLAN_BYTES)
    };
    let mut bytes = within_limit(serde_json::to_vec_pretty(plan))
        .or_else(|| within_limit(serde_json::to_vec(plan)))?;
    bytes.push(b'\n');
    Some(bytes)
}

/// The first 8 digits of a run's id, for names. Runs must never be compared by them.
pub(super) fn short(run_id: Uuid) -> String {
    let mut text = run_id.simple().to_string();
    text.truncate(8);
    text
}

/// The id of a continued plan. If `plan_id` already refers to an earlier run, the reference is replaced.
pub(super) fn continued_id(plan_id: &str, run: &str) -> String {
    let original = match plan_id.rsplit_once(ID_MARK) {
        Some((id, earlier)) if earlier.len() == run.len() && !id.trim().is_empty() => id,
        _ => plan_id,
    };
    derived_id(original, ID_MARK, run)
}

/// An id made of the plan's id, a mark and the shortened id of the run. The plan's id is cut to keep the limit for ids.
pub(super) fn derived_id(plan_id: &str, mark: &str, run: &str) -> String {
    let end = plan_id.floor_char_boundary(limits::ID_BYTES - mark.len() - run.len());
    format!("{}{mark}{run}", plan_id.get(..end).unwrap_or_default())
}

/// The title of a continued plan: marked once, and unchanged if it would become too long.
pub(super) fn continued_title(title: &str) -> String {
    if title.ends_with(CONTINUED) || title.len() + CONTINUED.len() > limits::ARGUMENT_BYTES {
        title.to_owned()
    } else {
        format!("{title}{CONTINUED}")
    }
}
