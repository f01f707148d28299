//! The plan page.

use std::path::PathBuf;

use crate::ui::action::PlanAction;
use crate::worker::Request;

use super::super::App;
use super::super::purpose::Purpose;

impl App {
    pub(super) fn apply_plan(&mut self, action: PlanAction) {
        match action {
            PlanAction::Open(path) => self.open(path, None),
            PlanAction::OpenRun(run_id) => {
                let is_it =
                    |session: &super::super::PlanSession| session.run.run_id == Some(run_id);
                if self.shown.as_ref().is_some_and(is_it) {
                    self.page = crate::ui::action::Page::Plan;
                } else if self.live.as_ref().is_some_and(is_it)
                    && let Some(live) = self.live.take()
                {
                    self.show_session(live);
                } else {
                    self.ask(Request::Replay { run_id }, Purpose::Replay);
                }
            }
            PlanAction::SelectStep(index) => {
                if let Some(session) = &mut self.shown {
                    session.selected = index;
                    session.follow = false;
                    session.ask_anew();
                }
            }
            PlanAction::ShowTab(tab) => {
                if let Some(session) = &mut self.shown {
                    session.tab = tab;
                    session.ask_anew();
                }
            }
        }
    }

    /// Asks for a plan file to be read and reviewed.
    pub(in super::super) fn open(&mut self, path: PathBuf, workspace: Option<PathBuf>) {
        let path = std::path::absolute(&path).unwrap_or(path);
        let request = Request::Open { path: path.clone(), workspace: workspace.clone() };
        self.ask(request, Purpose::Open { path, workspace });
    }

    /// Asks for the shown plan file to be read and reviewed again. `always` also when its run has
    /// used it up; by itself that happens only while it matters.
    pub(in super::super) fn review_again(&mut self, always: bool) {
        let Some(session) = &self.shown else { return };
        let Some(path) = session.path.clone() else { return };
        if session.run.is_active() && !always {
            return;
        }
        let request = Request::Open { path: path.clone(), workspace: session.workspace.clone() };
        self.ask(request, Purpose::Review(path));
    }
}
