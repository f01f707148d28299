//! The recent plans. All windows share one list, in the settings file.

use std::path::PathBuf;

use super::App;
use super::plan_page::PlanPage;
use crate::ui::plan::RecentPlan;

/// The maximum number of recent plans that are not pinned; older ones are dropped.
const MAX_RECENT: usize = 12;

/// A change of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RecentChange {
    /// A plan was opened.
    Opened(RecentPlan),
    /// The person pinned the plan of this file, or no longer.
    Pin(PathBuf, bool),
    /// The person rejected or authorized the plan of this file.
    Decided { path: PathBuf, rejected: bool },
    /// The person removed the plan of this file.
    Remove(PathBuf),
    /// None: another window may have changed the list.
    Refresh,
}

impl RecentChange {
    /// Changes the list. Pinned plans are first, and each group has the latest plan first.
    pub(super) fn apply(self, plans: &mut Vec<RecentPlan>) {
        match self {
            Self::Opened(opened) => {
                let known = plans.iter().position(|other| other.path == opened.path);
                let pinned = known.is_some_and(|index| plans.remove(index).pinned);
                plans.insert(0, RecentPlan { pinned, ..opened });
            }
            Self::Pin(path, pinned) => {
                if let Some(plan) = plans.iter_mut().find(|plan| plan.path == path) {
                    plan.pinned = pinned;
                }
            }
            Self::Decided { path, rejected } => {
                if let Some(plan) = plans.iter_mut().find(|plan| plan.path == path) {
                    plan.rejected = rejected;
                }
            }
            Self::Remove(path) => plans.retain(|plan| plan.path != path),
            Self::Refresh => return,
        }
        plans.sort_by_key(|plan| !plan.pinned);
        let mut kept = 0;
        plans.retain(|plan| {
            kept += usize::from(!plan.pinned);
            plan.pinned || kept <= MAX_RECENT
        });
    }
}

/// These plans in the order in which this window lists them: a plan stays where it is listed, so that no list moves under
/// the pointer that has just opened a plan, until the person leaves the page. Plans that are not listed yet come first.
pub(super) fn in_place(plans: &[RecentPlan], listed: &[RecentPlan]) -> Vec<RecentPlan> {
    let place = |plan: &RecentPlan| listed.iter().position(|it| it.path == plan.path);
    let mut plans = plans.to_vec();
    plans.sort_by_key(|plan| (!plan.pinned, place(plan)));
    plans
}

impl App {
    /// Pins the shown plan in the list of recent plans, or unpins it.
    pub(super) fn pin_shown(&mut self) {
        let Some(path) = self.shown_file() else { return };
        let is_pinned = self.plan.recent.iter().any(|plan| plan.path == path && plan.pinned);
        self.change_recent(RecentChange::Pin(path, !is_pinned));
    }

    /// Removes the shown plan from the list of recent plans.
    pub(super) fn forget_shown(&mut self) {
        if let Some(path) = self.shown_file() {
            self.change_recent(RecentChange::Remove(path));
        }
    }

    fn shown_file(&self) -> Option<PathBuf> {
        Some(self.plan.shown.as_ref()?.path()?.to_owned())
    }

    /// Changes the list of recent plans here and in the settings file, and takes over what other windows changed there.
    pub(super) fn change_recent(&mut self, change: RecentChange) {
        let mut plans = self.plan.recent.clone();
        let only_reads = matches!(change, RecentChange::Refresh);
        change.clone().apply(&mut plans);
        self.plan.take_recent(plans);
        self.change_saved_list(
            ("recent", only_reads),
            |plans| change.apply(plans),
            |app, plans| app.plan.take_recent(plans),
        );
    }
}

impl PlanPage {
    /// Lists the recent plans anew, the latest first. Call this when no list of them is in sight.
    pub(super) fn list_recent_anew(&mut self) {
        self.listed = in_place(&self.recent, &[]);
    }

    fn take_recent(&mut self, plans: Vec<RecentPlan>) {
        self.listed = in_place(&plans, &self.listed);
        self.recent = plans;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(path: &str) -> RecentPlan {
        RecentPlan {
            path: path.into(),
            name: path.into(),
            detail: String::new(),
            digest: None,
            pinned: false,
            rejected: false,
        }
    }

    fn paths(plans: &[RecentPlan]) -> Vec<&str> {
        plans.iter().map(|plan| plan.path.to_str().unwrap()).collect()
    }

    #[test]
    fn an_opened_plan_keeps_its_place_in_the_window() {
        let mut recent = Vec::new();
        for path in ["a", "b", "c"] {
            RecentChange::Opened(plan(path)).apply(&mut recent);
        }
        let listed = in_place(&recent, &[]);
        assert_eq!(paths(&listed), ["c", "b", "a"], "as at the start");
        RecentChange::Opened(plan("a")).apply(&mut recent);
        let listed = in_place(&recent, &listed);
        assert_eq!((paths(&recent)[0], paths(&listed)), ("a", vec!["c", "b", "a"]));
        RecentChange::Opened(plan("d")).apply(&mut recent);
        RecentChange::Pin("b".into(), true).apply(&mut recent);
        assert_eq!(paths(&in_place(&recent, &listed)), ["b", "d", "c", "a"]);
    }

    #[test]
    fn pinned_plans_stay_first_and_are_never_dropped() {
        let mut plans = Vec::new();
        for path in ["a", "b", "c"] {
            RecentChange::Opened(plan(path)).apply(&mut plans);
        }
        assert_eq!(paths(&plans), ["c", "b", "a"]);
        RecentChange::Pin("a".into(), true).apply(&mut plans);
        assert_eq!(paths(&plans), ["a", "c", "b"]);
        RecentChange::Opened(plan("b")).apply(&mut plans);
        assert_eq!(paths(&plans), ["a", "b", "c"], "a plan is listed once");
        RecentChange::Opened(plan("a")).apply(&mut plans);
        assert!(plans[0].pinned, "opening it again keeps it pinned");
        for index in 0..20 {
            RecentChange::Opened(plan(&format!("{index}"))).apply(&mut plans);
        }
        assert_eq!(paths(&plans)[..2], ["a", "19"]);
        assert_eq!(plans.len(), 1 + MAX_RECENT, "a pinned plan takes no place of another one");
        RecentChange::Remove("a".into()).apply(&mut plans);
        RecentChange::Pin("absent".into(), true).apply(&mut plans);
        assert_eq!(paths(&plans)[0], "19");
    }
}
