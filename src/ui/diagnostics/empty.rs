//! What the page shows in place of a table: what diagnostics are, why there are none, and how to get some.

use egui::Ui;

use super::DiagnosticsView;
use super::listing::CHECK;
use crate::ui::action::{PlanAction, Tab};
use crate::ui::{Action, Command, Commands, Icon, icon, widgets};

const WHAT: &str = "Diagnostics are the errors, warnings and notes that a compiler or another checker reports about the \
                    code.";

/// An empty page.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Empty {
    icon: Icon,
    title: &'static str,
    /// Why there are no diagnostics, and how to get some.
    why: String,
    /// Whether something has checked the code. Otherwise the page explains what diagnostics are.
    was_checked: bool,
    /// The button below.
    button: Offer,
}

/// What the button offers: its icon, its text, and what it does.
type Offer = (Icon, &'static str, Vec<Action>);

/// Why the page has no table; `None` if there are diagnostics to show. `view` is `None` when no plan is open.
pub(super) fn empty(view: Option<&DiagnosticsView<'_>>) -> Option<Empty> {
    let to_plan = |text| (icon::PLAN, text, vec![Action::Do(Command::GoPlan)]);
    let Some(view) = view else {
        let why = format!(
            "No plan is open. They come from the steps of a plan that check the code ({CHECK}), once you \
             have run it. An earlier run still has its own: open it on the plan page."
        );
        return Some(Empty::unchecked("No plan is open", why, to_plan("Plans and runs")));
    };
    if let Some(check) = view.listing.checks.iter().find(|it| Some(it.step) == view.listing.step) {
        if view.listing.total > 0 {
            return None;
        }
        let number = check.step + 1;
        return Some(match check.has_verdict {
            true => Empty {
                icon: icon::DONE,
                title: "Nothing was reported",
                why: format!(
                    "Step {number} has checked the code, and found no errors, warnings or notes."
                ),
                was_checked: true,
                button: to_plan("Show the run"),
            },
            false => Empty {
                icon: icon::WARNING,
                title: "The check did not finish",
                why: format!(
                    "So nobody knows whether the code has errors. The output of step {number} says why."
                ),
                was_checked: true,
                button: (
                    icon::TERMINAL,
                    "Show its output",
                    vec![
                        Action::Do(Command::GoPlan),
                        Action::Plan(PlanAction::SelectStep(check.step)),
                        Action::Plan(PlanAction::ShowTab(Tab::Output)),
                    ],
                ),
            },
        });
    }
    Some(if view.run.is_active() {
        let why = "They appear here as soon as a step of this run has checked the code.";
        Empty::unchecked("No check has finished yet", why.to_owned(), to_plan("Show the run"))
    } else if view.run.run_id.is_some() {
        let why = format!(
            "Nothing was reported, because no step of this run checked the code. To get them, run a plan \
             with the step {CHECK}: once before the change, and once after it, to see what is new."
        );
        Empty::unchecked("No check ran in this run", why, to_plan("Show the run"))
    } else if !view.may_report {
        let why = format!(
            "No step of this plan checks the code. To get diagnostics, run a plan with the step {CHECK}: once before \
             the change, and once after it, to see what is new."
        );
        Empty::unchecked("This plan checks no code", why, to_plan("Show the plan"))
    } else if let Some(run_id) = view.last_run {
        let why = "The page shows the plan as it would run now. The record of its last run has the diagnostics of that run.";
        let show = vec![Action::Plan(PlanAction::OpenRun(run_id))];
        let button = (icon::CLOCK, "Show the last run", show);
        Empty::unchecked("No run is shown", why.to_owned(), button)
    } else {
        let why = format!(
            "They appear here once you have run the plan, if it has a step that checks the code \
             ({CHECK})."
        );
        Empty::unchecked("Nothing has run yet", why, to_plan("Show the plan"))
    })
}

impl Empty {
    fn unchecked(title: &'static str, why: String, button: Offer) -> Self {
        Self { icon: icon::DIAGNOSTICS, title, why, was_checked: false, button }
    }
}

/// Draws the empty page.
pub(super) fn empty_ui(ui: &mut Ui, empty: &Empty, commands: &mut Commands<'_>) {
    let text = match empty.was_checked {
        true => empty.why.clone(),
        false => format!("{WHAT}\n\n{}", empty.why),
    };
    let (icon, offer, actions) = &empty.button;
    if widgets::empty_state(ui, empty.icon, (empty.title, &text), (*icon, offer)) {
        commands.actions.extend(actions.iter().cloned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::RunState;
    use crate::ui::diagnostics::listing::Counts;
    use crate::ui::diagnostics::{Check, ListOptions, Listing};

    fn of(run: &RunState, checks: Vec<Check>) -> Option<Empty> {
        of_plan(run, checks, true)
    }

    fn of_plan(run: &RunState, checks: Vec<Check>, may_report: bool) -> Option<Empty> {
        let step = checks.last().map(|check| check.step);
        let listing = Listing { checks, step, ..Listing::default() };
        empty(Some(&DiagnosticsView {
            run,
            may_report,
            listing: &listing,
            options: &ListOptions::default(),
            excerpt: None,
            last_run: None,
            focus_filter: false,
            scroll_to_selected: false,
        }))
    }

    fn check(has_verdict: bool) -> Check {
        let (tool, subject) = (CHECK.to_owned(), ".".to_owned());
        Check { step: 3, tool, subject, counts: Counts::default(), has_verdict }
    }

    /// A check mark stands only for code that was checked.
    #[test]
    fn what_ran_decides_what_an_empty_page_says() {
        let idle = RunState::default();
        let over = RunState { run_id: Some(uuid::Uuid::nil()), ..RunState::default() };
        let passed = of(&over, vec![check(true)]).unwrap();
        assert_eq!((passed.title, passed.icon), ("Nothing was reported", icon::DONE));
        assert!(passed.why.starts_with("Step 4 "), "{}", passed.why);
        let unfinished = of(&over, vec![check(false)]).unwrap();
        assert_eq!(unfinished.icon, icon::WARNING);
        let (_, _, actions) = unfinished.button;
        assert!(actions.contains(&Action::Plan(PlanAction::SelectStep(3))));
        let without_check = of_plan(&idle, vec![], false);
        let unchecked = [empty(None), of(&idle, vec![]), of(&over, vec![]), without_check];
        let unchecked = unchecked.map(Option::unwrap);
        let titles = unchecked.each_ref().map(|it| it.title);
        let [no_plan, nothing_ran] = ["No plan is open", "Nothing has run yet"];
        let no_check = ["No check ran in this run", "This plan checks no code"];
        assert_eq!(titles, [no_plan, nothing_ran, no_check[0], no_check[1]]);
        let again = empty(Some(&DiagnosticsView {
            run: &idle,
            may_report: true,
            listing: &Listing::default(),
            options: &ListOptions::default(),
            excerpt: None,
            last_run: Some(uuid::Uuid::nil()),
            focus_filter: false,
            scroll_to_selected: false,
        }));
        let (_, _, actions) = again.unwrap().button;
        assert_eq!(actions, [Action::Plan(PlanAction::OpenRun(uuid::Uuid::nil()))]);
        for it in unchecked {
            assert!(!it.was_checked && it.icon == icon::DIAGNOSTICS, "{it:?}");
            assert!(it.why.contains(CHECK) && !it.why.contains("list"), "{it:?}");
        }
    }
}
