//! Leaves steps out of a plan, with those that cannot run without them. The ids of the others stay the same.

use std::collections::{BTreeSet, HashSet};

use super::error::RevisionError;
use super::source::step_of;
use super::splices::{Document, Splices, elements, json_text};
use super::values::entry;
use crate::plan::{Dialect, Precondition, ShownPlan, ShownStep, StepPlace};

/// A step that is left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The step of the base, counted from 0.
    pub step: usize,
    /// The id of the step without which it cannot run; `None` if a person left it out.
    pub needs: Option<String>,
}

/// The steps that are left out if these are: verifications of commands, and steps whose precondition names one of them.
pub fn leaving_out(base: &ShownPlan, steps: &BTreeSet<usize>) -> Vec<LeftOut> {
    let mut all = Vec::new();
    let (mut gone, mut kept) = (HashSet::new(), HashSet::new());
    let mut command: Option<&ShownStep> = None;
    for step in &base.steps {
        let verified = command.filter(|_| step.is_verification());
        let needs = match &step.precondition {
            _ if steps.contains(&step.step_index) => None,
            _ if verified.is_some() => verified.map(|it| it.step_id.clone()),
            Precondition::StepSucceeded(id) if gone.contains(id) && !kept.contains(id) => {
                Some(id.clone())
            }
            _ => {
                kept.insert(&step.step_id);
                command = None;
                continue;
            }
        };
        gone.insert(&step.step_id);
        command = Some(step);
        all.push(LeftOut { step: step.step_index, needs });
    }
    all
}

/// Takes a step in again, with its verification and the steps that it needs.
pub(super) fn take_in(base: &ShownPlan, left_out: &mut BTreeSet<usize>, step: usize) {
    let mut waiting = vec![step];
    while let Some(index) = waiting.pop() {
        if !left_out.remove(&index) {
            continue;
        }
        let Ok(step) = step_of(base, index) else { continue };
        let follows = |other: &usize| step_of(base, *other).is_ok_and(ShownStep::is_verification);
        if step.is_verification() {
            waiting.extend(index.checked_sub(1));
        } else {
            waiting.extend(Some(index + 1).filter(follows));
        }
        if let Precondition::StepSucceeded(id) = &step.precondition {
            let needed = base.steps.iter().find(|it| it.step_id == *id);
            waiting.extend(needed.map(|it| it.step_index).filter(|it| *it < index));
        }
    }
}

/// Takes the entries of these steps out of the file. An id that was derived from the place of a later step is written
/// out, because the place changes; of an action plan, whose actions have no ids, it changes.
pub(super) fn splice<'a>(
    document: &Document<'a>,
    splices: &mut Splices<'_, 'a>,
    base: &ShownPlan,
    left_out: &BTreeSet<usize>,
) -> Result<(), RevisionError> {
    let mut entries = HashSet::new();
    for step in left_out {
        let step = step_of(base, *step)?;
        match step.place {
            StepPlace::Step(at) | StepPlace::Command(at) | StepPlace::Action(at) => {
                entries.insert(at);
            }
            StepPlace::Verification(_) => {
                splices.remove_members(entry(document, step)?, &["verificationCommand"]);
            }
        }
    }
    let (list, id_name) = match base.dialect {
        Dialect::StepPlan => ("steps", Some("step_id")),
        Dialect::CommandPlan => ("steps", Some("id")),
        Dialect::ActionPlan => ("actions", None),
    };
    let Some(list) = elements(document.root(), list) else { return Ok(()) };
    splices.remove_elements(list, |index| entries.contains(&index));
    let mut before = 0;
    for (index, entry) in list.elements.iter().enumerate() {
        if entries.contains(&index) {
            before += 1;
            continue;
        }
        let (Some(entry), Some(id_name), 1..) = (entry.as_object(), id_name, before) else {
            continue;
        };
        let named = |name: &str| entry.properties.iter().find(|it| it.name.as_str() == name);
        if named(id_name).is_none() {
            let id = json_text(&format!("step_{}", index + 1));
            splices.add_members(entry, &[(id_name, id)], true);
        }
        // The author's count of the commands goes on without a gap, from 0 or from 1 as before.
        if base.dialect == Dialect::CommandPlan
            && let Some(number) = named("index")
            && let Some(old) = number.value.as_number_lit()
            && let Ok(old) = old.value.parse::<usize>()
            && (old == index || old == index + 1)
        {
            splices.replace(&number.value, (old - before).to_string());
        }
    }
    Ok(())
}
