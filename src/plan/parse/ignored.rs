//! Ignored fields, in which another program stores the state of its own run (SPEC §1.2).

use super::context::ParseContext;
use super::fields::Fields;
use crate::plan::{Code, Finding, Severity};

/// Collects the ignored fields, so that each gets one note, at its first position: a plan that another program ran has
/// them in every step, and thousands of notes would hide other findings.
#[derive(Default)]
pub(super) struct Ignored {
    /// For each field: whether it is in a step, its name, the pointer to its first occurrence, and the number of
    /// further occurrences.
    found: Vec<(bool, &'static str, String, usize)>,
}

impl Ignored {
    /// Takes these fields out of an object and records them.
    pub(super) fn take(&mut self, fields: &mut Fields<'_>, names: &[&'static str]) {
        let of_step = !fields.is_root();
        for name in names {
            if fields.take(name).is_none() {
                continue;
            }
            let mut found = self.found.iter_mut();
            let known = found.find(|(in_step, field, ..)| (*in_step, *field) == (of_step, *name));
            match known {
                Some((_, _, _, more)) => *more += 1,
                None => self.found.push((of_step, name, fields.pointer_to(name), 0)),
            }
        }
    }

    /// Adds a note for each field.
    pub(super) fn report(self, context: &ParseContext<'_>) {
        for (_, name, pointer, more) in self.found {
            let others = match more {
                0 => String::new(),
                1 => ", here and in 1 more step".to_owned(),
                more => format!(", here and in {more} more steps"),
            };
            let message =
                format!("{name:?} is the state of another program's run; it is ignored{others}");
            context.push(Finding::new(Severity::Note, Code::UnknownField, pointer, message));
        }
    }
}
