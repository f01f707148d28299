//! The changes of a person to a plan, and the bytes that they make of it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::error::RevisionError;
use super::leave_out::{LeftOut, leaving_out};
use super::source::{step_of, text_of};
use super::splices::{Document, Splices};
use super::{leave_out, values, values_of_inputs};
use crate::plan::ShownPlan;
use crate::plan::patch;

/// The changes of a person to a plan, its base. Steps are counted as in the base, from 0.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Revision {
    /// New values of arguments, by step and name: JSON, or `None` for an argument that is taken away.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) arguments: BTreeMap<usize, BTreeMap<String, Option<String>>>,
    /// The steps that are left out.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) left_out: BTreeSet<usize>,
    /// The values of inputs, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) inputs: BTreeMap<String, String>,
}

impl Revision {
    /// Whether nothing is changed.
    pub fn is_empty(&self) -> bool {
        self.arguments.is_empty() && self.left_out.is_empty() && self.inputs.is_empty()
    }

    /// The index in the base of a step of the revised plan; `None` if there is no such step.
    pub fn step_of_base(&self, base: &ShownPlan, index: usize) -> Option<usize> {
        let mut steps = base.steps.iter().map(|step| step.step_index);
        // The revised plan counts its entries anew, but not those of a faulty base that are no steps.
        let skipped = |at: usize| self.left_out.range(..at).count();
        steps.find(|at| !self.left_out.contains(at) && at.saturating_sub(skipped(*at)) == index)
    }

    /// Gives an argument of a step of the base this value, as a person writes it, or takes it away. What is text in the
    /// plan is text here; everything else is JSON.
    ///
    /// # Errors
    /// The step has no such argument, or the text is not the JSON that it has to be.
    pub fn set_argument(
        &mut self,
        base: &ShownPlan,
        step: usize,
        name: &str,
        text: Option<&str>,
    ) -> Result<(), RevisionError> {
        let value = values::value(base, step, name, text)?;
        let of_step = self.arguments.entry(step).or_default();
        match value {
            values::NewValue::Same => {
                of_step.remove(name);
            }
            values::NewValue::Other(value) => {
                of_step.insert(name.to_owned(), value);
            }
        }
        if of_step.is_empty() {
            self.arguments.remove(&step);
        }
        Ok(())
    }

    /// Fills inputs in, in addition to those that are filled in already.
    ///
    /// # Errors
    /// The plan has no such input, or the input does not accept the value. Then nothing is changed.
    pub fn fill_in(
        &mut self,
        base: &ShownPlan,
        values: &BTreeMap<String, String>,
    ) -> Result<(), RevisionError> {
        values_of_inputs::check(base, values)?;
        for (name, value) in values {
            let of_base = base.inputs.iter().find(|input| input.name == *name);
            match of_base.and_then(|input| input.value.as_ref()) {
                Some(same) if same == value => drop(self.inputs.remove(name)),
                _ => drop(self.inputs.insert(name.clone(), value.clone())),
            }
        }
        Ok(())
    }

    /// Leaves steps of the base out, and those that need them. Returns what goes with them.
    ///
    /// # Errors
    /// No step would be left.
    pub fn leave_out(
        &mut self,
        base: &ShownPlan,
        steps: &BTreeSet<usize>,
    ) -> Result<Vec<LeftOut>, RevisionError> {
        let wanted: BTreeSet<usize> = self.left_out.union(steps).copied().collect();
        let all = leaving_out(base, &wanted);
        let left_out: BTreeSet<usize> = all.iter().map(|it| it.step).collect();
        if base.steps.iter().all(|step| left_out.contains(&step.step_index)) {
            return Err(RevisionError::NothingLeft);
        }
        let is_new = |it: &LeftOut| !self.left_out.contains(&it.step) && !steps.contains(&it.step);
        let more = all.into_iter().filter(is_new).collect();
        self.arguments.retain(|step, _| !left_out.contains(step));
        self.left_out = left_out;
        Ok(more)
    }

    /// Undoes the changes of one argument, or takes a step in again, with the steps that it needs.
    pub fn undo(&mut self, base: &ShownPlan, step: usize, argument: Option<&str>) {
        match argument {
            Some(name) if values_of_inputs::of_template(name).is_some() => {
                values_of_inputs::of_template(name).map(|name| self.inputs.remove(name));
            }
            Some(name) => {
                if let Some(of_step) = self.arguments.get_mut(&step) {
                    of_step.remove(name);
                    if of_step.is_empty() {
                        self.arguments.remove(&step);
                    }
                }
            }
            None => leave_out::take_in(base, &mut self.left_out, step),
        }
    }

    /// The bytes of the revised plan.
    ///
    /// # Errors
    /// The base is no plan, or a change is not about it.
    pub fn apply(&self, base: &ShownPlan) -> Result<Vec<u8>, RevisionError> {
        if self.is_empty() {
            return Ok(base.source.to_vec());
        }
        let text = text_of(base)?;
        let document = Document::new(text).ok_or(RevisionError::NotJson)?;
        let mut splices = Splices::new(&document);
        for (step, arguments) in &self.arguments {
            let step = step_of(base, *step)?;
            values::splice(&document, &mut splices, step, arguments)?;
        }
        leave_out::splice(&document, &mut splices, base, &self.left_out)?;
        values_of_inputs::splice(&document, &mut splices, base, &self.inputs)?;
        Ok(splices.apply().into_bytes())
    }

    /// The difference between the texts of two plans in the format of `diff -u`.
    pub fn text_difference(base: &[u8], revised: &[u8]) -> String {
        let [base, revised] = [base, revised].map(String::from_utf8_lossy);
        patch::patch("plan.json", &base, &revised)
    }
}
