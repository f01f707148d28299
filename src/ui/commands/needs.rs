//! Why commands are not available: the reasons that several commands share.

use super::Situation;
use crate::ui::Page;

/// A decision about a plan needs the plan in sight.
pub(super) fn needs_plan_page(state: &Situation) -> Option<&'static str> {
    (state.page != Page::Plan).then_some("Look at the plan first, on its page.")
}

pub(super) fn needs_plan(state: &Situation) -> Option<&'static str> {
    (!state.plan_open).then_some("Open a plan first.")
}

pub(super) fn needs_rows(state: &Situation) -> Option<&'static str> {
    let rows = match state.page {
        Page::Plan => state.steps,
        Page::Evidence => state.results,
        Page::Diagnostics => state.diagnostics,
        Page::Loop | Page::Agent | Page::Settings => 0,
    };
    (rows == 0).then_some("There is nothing to select.")
}

pub(super) fn needs_diagnostics(state: &Situation) -> Option<&'static str> {
    let shown = state.page == Page::Diagnostics && state.diagnostics > 0;
    (!shown).then_some("The diagnostics page shows no diagnostics.")
}

/// Why nothing in this window decides about the shown run.
pub const RUNS_ELSEWHERE: &str = "It runs in another window, which alone controls it.";

/// Why a run on several hosts is not continued.
pub(super) const ON_HOSTS: &str =
    "The hosts are at different steps. Roll back, or run it again on all hosts.";

pub(super) fn needs_run(state: &Situation) -> Option<&'static str> {
    let why_not = if state.runs_elsewhere { RUNS_ELSEWHERE } else { "No run is under way." };
    (!state.running).then_some(why_not)
}

pub(super) fn needs_queued(state: &Situation) -> Option<&'static str> {
    state.queue_place.is_none().then_some("The shown plan is not queued.")
}

pub(super) fn needs_plans(state: &Situation) -> Option<&'static str> {
    (state.open_plans < 2 && (state.plan_open || state.open_plans == 0))
        .then_some("No other plan is open.")
}

pub(super) fn needs_no_run(state: &Situation) -> Option<&'static str> {
    state.running.then_some("A run is under way.")
}

pub(super) fn needs_no_loop(state: &Situation) -> Option<&'static str> {
    state.looping.then_some("A loop is under way.")
}

pub(super) fn needs_ended_run(
    state: &Situation,
    shown: bool,
    why_not: &'static str,
) -> Option<&'static str> {
    needs_no_run(state).or((!shown).then_some(why_not))
}

pub(super) fn needs_revisable(state: &Situation) -> Option<&'static str> {
    needs_plan(state).or(needs_plan_page(state)).or(state.not_revisable)
}

pub(super) fn needs_revision(state: &Situation) -> Option<&'static str> {
    needs_plan(state).or((!state.revised).then_some("You have changed nothing in the plan."))
}

pub(super) fn needs_tour(state: &Situation) -> Option<&'static str> {
    (!state.tour).then_some("The tour is not open.")
}

pub(super) fn needs_team(state: &Situation) -> Option<&'static str> {
    (!state.team_set).then_some("No team is set: name its database as team in the settings file.")
}

pub(super) fn needs_own_evidence(state: &Situation) -> Option<&'static str> {
    (state.page == Page::Evidence && state.team_shown).then_some(
        "It verifies the evidence of this computer; for the team: countersign evidence verify --team",
    )
}

pub(super) fn needs_own_search(state: &Situation) -> Option<&'static str> {
    let text = "Search the evidence for something of your own first.";
    (state.page != Page::Evidence || state.search_offered).then_some(text)
}
