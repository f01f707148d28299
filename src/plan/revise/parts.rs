//! What a revision changes, as a list for a person.

use serde::Serialize;

use super::error::RevisionError;
use super::revision::Revision;
use super::source::{step_of, text_of};
use super::splices::Document;
use super::values;
use crate::plan::{ShownPlan, ShownStep, one_line};

/// The length up to which a value is written out in a sentence, in bytes.
const SHORT: usize = 80;

/// One change of a revision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RevisedPart {
    /// The step of the base, counted from 0.
    pub step_index: usize,
    /// Its id.
    pub step_id: String,
    /// Its tool.
    pub tool: String,
    /// What was changed.
    #[serde(flatten)]
    pub what: RevisedWhat,
}

/// What a change of a revision is. The step of a filled-in input is the first one that uses it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum RevisedWhat {
    /// The step is left out.
    LeftOut,
    /// An input has a value.
    FilledIn {
        /// The template of the input, by which the change is undone.
        template: String,
        /// The value.
        value: String,
    },
    /// An argument has another value.
    Argument {
        /// The name of the argument.
        name: String,
        /// The value in the base as it is written there; `None` if it has none.
        before: Option<String>,
        /// The new value as JSON; `None` if it has none.
        after: Option<String>,
    },
}

impl RevisedPart {
    /// The argument that was changed, or the template of the input; `None` if the step is left out.
    pub fn argument(&self) -> Option<&str> {
        match &self.what {
            RevisedWhat::LeftOut => None,
            RevisedWhat::FilledIn { template, .. } => Some(template),
            RevisedWhat::Argument { name, .. } => Some(name),
        }
    }

    /// The change as a sentence without a full stop. Its words may contain any character of the plan.
    pub fn sentence(&self) -> String {
        let step = format!("Step {} ({})", self.step_index + 1, one_line(&self.step_id));
        let value_of = |value: &str| match value.len() {
            0..=SHORT => one_line(value).into_owned(),
            bytes => format!("{bytes} bytes"),
        };
        match &self.what {
            RevisedWhat::FilledIn { template, value } => {
                format!(
                    "{template} is {}",
                    if value.is_empty() { "empty".to_owned() } else { value_of(value) }
                )
            }
            RevisedWhat::LeftOut => format!("{step}: {} left out", self.tool),
            RevisedWhat::Argument { name, before, after } => {
                let short = |value: &Option<String>| match value {
                    None => String::new(),
                    // The value itself and not how JSON writes it, as far as it is a text.
                    Some(value) => match serde_json::from_str::<String>(value) {
                        Ok(text) if text.len() > SHORT => value_of(&text),
                        _ => value_of(value),
                    },
                };
                let name = one_line(name);
                match (before, after) {
                    (None, _) => format!("{step}: {name} added, {}", short(after)),
                    (_, None) => format!("{step}: {name} taken away, it was {}", short(before)),
                    _ => format!("{step}: {name} was {} and is {}", short(before), short(after)),
                }
            }
        }
    }
}

impl Revision {
    /// Every change, in the order of the steps.
    ///
    /// # Errors
    /// The revision is not about this plan.
    pub fn parts(&self, base: &ShownPlan) -> Result<Vec<RevisedPart>, RevisionError> {
        let document = Document::new(text_of(base)?).ok_or(RevisionError::NotJson)?;
        let part = |step: &ShownStep, what| RevisedPart {
            step_index: step.step_index,
            step_id: step.step_id.clone(),
            tool: step.tool_name.clone(),
            what,
        };
        let mut parts = Vec::new();
        for index in &self.left_out {
            let step = step_of(base, *index)?;
            // A verification goes with its command, and is not listed beside it.
            let is_with_command = step.is_verification()
                && index.checked_sub(1).is_some_and(|it| self.left_out.contains(&it));
            if !is_with_command {
                parts.push(part(step, RevisedWhat::LeftOut));
            }
        }
        for (index, arguments) in &self.arguments {
            let step = step_of(base, *index)?;
            for (name, after) in arguments {
                let before = values::in_file(&document, step, name)?;
                let before = before.map(|it| document.text_of(it).to_owned());
                let (name, after) = (name.clone(), after.clone());
                parts.push(part(step, RevisedWhat::Argument { name, before, after }));
            }
        }
        parts.sort_by_key(|part| part.step_index);
        let filled_in = self.inputs.iter().filter_map(|(name, value)| {
            let input = base.inputs.iter().find(|input| input.name == *name)?;
            let first = input.used_by.first().copied().unwrap_or_default();
            let step = base.steps.iter().find(|step| step.step_index == first)?;
            let (template, value) = (format!("{{{{{name}}}}}"), value.clone());
            Some(part(step, RevisedWhat::FilledIn { template, value }))
        });
        Ok(filled_in.chain(parts).collect())
    }
}
