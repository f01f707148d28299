//! The validation of the form for a new loop. Pure.

use super::form::{LoopForm, PlannerChoice};
use crate::plan::Destination;

/// The maximum number of attempts, as on the command line.
pub(super) const MAX_ATTEMPTS: u32 = 100;
/// The longest planner timeout, in seconds: a day.
pub(super) const MAX_TIMEOUT_S: u32 = 86_400;
/// The longest validity of a class, in minutes: a week.
pub(super) const MAX_CLASS_MINUTES: u32 = 7 * 24 * 60;

/// A field of the form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields by their names")]
pub enum Field {
    Goal,
    Planner,
    Workspace,
    Target,
    Attempts,
    Timeout,
    ClassTools,
    ClassPaths,
    ClassHosts,
    ClassAttempts,
    ClassMinutes,
}

impl LoopForm {
    /// What has to be entered before a loop can start, by field.
    pub fn missing(&self) -> impl Iterator<Item = (Field, &'static str)> {
        let planner = match self.planner {
            PlannerChoice::Replay => Some((&self.folder, "Enter the folder with the plans.")),
            PlannerChoice::Command => {
                Some((&self.command, "Enter the command that prints the plans."))
            }
            PlannerChoice::CargoFix
            | PlannerChoice::Model
            | PlannerChoice::Codex
            | PlannerChoice::Claude
            | PlannerChoice::Gemini => None,
        };
        let fields = [
            (Field::Goal, Some((&self.goal, "Enter a goal."))),
            (Field::Planner, planner),
            (Field::Workspace, Some((&self.workspace, "Enter the workspace folder."))),
        ];
        let fields = fields.into_iter().filter_map(|(field, needed)| Some((field, needed?)));
        let missing = fields.filter(|(_, (typed, _))| typed.trim().is_empty());
        missing.map(|(field, (_, text))| (field, text))
    }

    /// All faults, by field.
    pub fn faults(&self) -> Vec<(Field, String)> {
        let mut faults = Vec::new();
        let mut report = |field, text: &str| faults.push((field, text.to_owned()));
        self.missing().for_each(|(field, text)| report(field, text));
        if let Some(Err(error)) = self.host().map(Destination::parse) {
            report(Field::Target, &format!("Correct the host: {error}."));
        }
        let numbers = [
            (Field::Attempts, &self.max_attempts, MAX_ATTEMPTS),
            (Field::Timeout, &self.timeout_s, MAX_TIMEOUT_S),
        ];
        let class_numbers = [
            (Field::ClassAttempts, &self.class.max_attempts, MAX_ATTEMPTS),
            (Field::ClassMinutes, &self.class.minutes, MAX_CLASS_MINUTES),
        ];
        let class_numbers = class_numbers.into_iter().filter(|_| self.class.on);
        for (field, typed, max) in numbers.into_iter().chain(class_numbers) {
            if number(typed, max).is_none() {
                report(field, &format!("Enter a whole number from 1 to {max}."));
            }
        }
        if self.class.on {
            self.class_faults(&mut report);
        }
        faults
    }

    fn class_faults(&self, report: &mut impl FnMut(Field, &str)) {
        if self.class.tools.is_empty() {
            report(
                Field::ClassTools,
                "Choose at least one tool; without one the class allows nothing.",
            );
        }
        let paths = self.class.paths();
        if paths.is_empty() {
            report(Field::ClassPaths, "Enter at least one path; a dot is the whole workspace.");
        }
        for path in &paths {
            if path.starts_with('/') || path.contains('\\') || path.split('/').any(|it| it == "..")
            {
                report(Field::ClassPaths, &format!("{path} is not a path inside the workspace."));
            }
        }
    }

    /// The first fault of a field, if it should be shown: after an attempted start, or once a number or the paths have
    /// been entered.
    pub fn shown_fault(&self, field: Field) -> Option<String> {
        let typed = match field {
            Field::Target => &self.target,
            Field::Attempts => &self.max_attempts,
            Field::Timeout => &self.timeout_s,
            Field::ClassPaths => &self.class.paths,
            Field::ClassAttempts => &self.class.max_attempts,
            Field::ClassMinutes => &self.class.minutes,
            _ => "",
        };
        let fault = self.faults().into_iter().find(|(faulty, _)| *faulty == field);
        fault.filter(|_| self.start_attempted || !typed.trim().is_empty()).map(|(_, text)| text)
    }
}

/// Parses a number from 1 to `max`.
pub(super) fn number(text: &str, max: u32) -> Option<u32> {
    text.trim().parse().ok().filter(|number| (1..=max).contains(number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::loop_page::form::tests::filled;

    #[test]
    fn what_is_missing_is_told_in_order() {
        let form = LoopForm { planner: PlannerChoice::Replay, ..LoopForm::default() };
        let missing: Vec<_> = form.missing().map(|(field, _)| field).collect();
        assert_eq!(missing, [Field::Goal, Field::Planner, Field::Workspace]);
        assert_eq!(filled().missing().next(), None);
        let blank = LoopForm { goal: " \n".to_owned(), ..filled() };
        assert_eq!(blank.missing().next(), Some((Field::Goal, "Enter a goal.")));
    }

    #[test]
    fn missing_fields_are_reported_only_after_starting() {
        let mut form = LoopForm { planner: PlannerChoice::Replay, ..LoopForm::default() };
        assert!(form.shown_fault(Field::Goal).is_none() && form.settings(0).is_none());
        form.start_attempted = true;
        for field in [Field::Goal, Field::Planner, Field::Workspace] {
            assert!(form.shown_fault(field).is_some(), "{field:?}");
        }
        assert!(form.shown_fault(Field::Attempts).is_none());
    }

    #[test]
    fn invalid_number_is_reported_at_once() {
        for typed in ["0", "101", "-1", "x", "2.5"] {
            let form = LoopForm { max_attempts: typed.to_owned(), ..filled() };
            assert!(form.shown_fault(Field::Attempts).is_some(), "{typed}");
            assert!(form.settings(0).is_none());
        }
    }
}
