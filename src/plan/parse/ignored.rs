//! Fields that are no part of a plan because another program keeps its own run there (SPEC §1.2).

use super::fields::Fields;
use super::reading::Reading;
use crate::plan::{Code, Finding, Severity};

/// The ignored fields found, with their first position. One note for each: a plan that ran elsewhere has them
/// in every step, and thousands of notes would hide other findings.
#[derive(Default)]
pub(super) struct Ignored {
    /// Whether of a step, the name, the first place, and how many more there were.
    met: Vec<(bool, &'static str, String, usize)>,
}

impl Ignored {
    /// Takes these fields out of an object.
    pub(super) fn take(&mut self, fields: &mut Fields<'_>, names: &[&'static str]) {
        let of_step = !fields.is_root();
        for name in names {
            if fields.take(name).is_none() {
                continue;
            }
            let known = self.met.iter_mut().find(|it| (it.0, it.1) == (of_step, *name));
            match known {
                Some((_, _, _, more)) => *more += 1,
                None => self.met.push((of_step, name, fields.pointer_to(name), 0)),
            }
        }
    }

    /// A note for each.
    pub(super) fn tell(self, reading: &Reading<'_>) {
        for (_, name, pointer, more) in self.met {
            let others = match more {
                0 => String::new(),
                1 => ", here and in 1 more step".to_owned(),
                more => format!(", here and in {more} more steps"),
            };
            let message =
                format!("{name:?} is the state of another program's run; it is ignored{others}");
            reading.push(Finding::new(Severity::Note, Code::UnknownField, pointer, message));
        }
    }
}
