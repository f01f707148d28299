//! The plan page.

use std::path::PathBuf;

use uuid::Uuid;

use crate::authorization::Grants;
use crate::plan::Digest;
use crate::run::Failure;
use crate::ui::action::PlanAction;
use crate::worker::{
    FollowUp, OpenFollowUp, OpenPlan, QueryError, RememberWalls, ReplayRun, Simulate, Simulation,
};

use super::super::pending::Unanswered;
use super::super::session::{PlanSession, Simulated};
use super::super::{App, Prompt};

impl App {
    pub(super) fn apply_plan(&mut self, action: PlanAction) {
        match action {
            PlanAction::Open(path) => self.open(path, None),
            PlanAction::OpenRun(run_id) => {
                let is_it = |session: &PlanSession| session.run.run_id == Some(run_id);
                if self.shown.as_ref().is_some_and(is_it) {
                    self.page = crate::ui::action::Page::Plan;
                } else if self.live.as_ref().is_some_and(is_it)
                    && let Some(live) = self.live.take()
                {
                    self.show_session(live);
                } else {
                    self.ask(ReplayRun(run_id), move |app, replayed| {
                        app.attempts.extend(replayed.attempt.map(|attempt| (run_id, attempt)));
                        app.show_session(PlanSession::replayed(replayed));
                    });
                }
            }
            PlanAction::SelectStep(index) => {
                if let Some(session) = &mut self.shown {
                    session.selected = index;
                    session.follow = false;
                    session.ask_anew();
                }
            }
            PlanAction::CloseSimulation => {
                if let Some(session) = &mut self.shown {
                    session.shows_simulation = false;
                }
            }
            PlanAction::LookAtCommands => self.show_prompt(Some(Prompt::Trust)),
            PlanAction::GrantProposed(proposed) => {
                if let Some(session) = &mut self.shown {
                    session.grants.proposed = proposed;
                }
                self.review_again(true);
            }
            PlanAction::RememberWalls(remember) => {
                let Some(review) = self.shown.as_ref().and_then(|it| it.review.as_deref()) else {
                    return;
                };
                let binding = &review.binding;
                // By its id a step is known in this plan alone.
                let grants = remember
                    .then(|| Grants { proposed_for: Default::default(), ..binding.grants.clone() });
                let query = RememberWalls { workspace: binding.workspace.clone(), grants };
                self.ask_each(query, |app, recorded, _| app.trust_changed(recorded));
            }
            PlanAction::RunAgainWithNetwork => {
                if let Some(session) = &mut self.shown {
                    session.grants.network = true;
                }
                self.run_again();
            }
            PlanAction::RunAgainWithWrite(path) => {
                if let Some(session) = &mut self.shown {
                    session.grants.write.insert(path);
                }
                self.run_again();
            }
            PlanAction::AskInFront => self.ask_in_front(),
            PlanAction::CopyOutput => {
                if let Some(session) = &self.shown {
                    self.to_copy = Some(session.transcript.text());
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
        let query = OpenPlan { path, workspace: workspace.clone(), grants: Grants::default() };
        self.ask_latest(query, |app, opened| match opened {
            Ok(opened) => app.show_opened(opened, workspace),
            Err(unanswered) => app.not_opened(unanswered),
        });
    }

    /// Asks for a plan that is made from an old run, or from one execution.
    pub(super) fn follow_up(&mut self, id: Uuid, follow_up: FollowUp) {
        self.ask_latest(OpenFollowUp { id, follow_up }, |app, opened| match opened {
            Ok(opened) => app.show_opened(opened, None),
            Err(unanswered) => app.not_opened(unanswered),
        });
    }

    fn not_opened(&mut self, unanswered: Unanswered) {
        self.to_authorize = None;
        self.report(unanswered);
    }

    /// Reviews again what depends on what is trusted and remembered.
    pub(super) fn trust_changed(&mut self, recorded: Result<(), Unanswered>) {
        match recorded {
            Ok(()) => {
                self.review_again(true);
                self.look_at_place(0);
            }
            Err(unanswered) => self.report(unanswered),
        }
    }

    /// Asks what all steps of the shown plan would do together, and shows that.
    pub(super) fn simulate(&mut self) {
        self.page = crate::ui::action::Page::Plan;
        let Some(session) = &mut self.shown else { return };
        let (Some(plan), Some(review)) = (session.plan.clone(), &session.review) else { return };
        let (digest, workspace) = (session.digest, review.workspace.clone());
        session.simulation = Some(Simulated { outcome: None, stale: false });
        session.shows_simulation = true;
        self.ask_each(
            Simulate { plan, workspace },
            move |app, simulated, latest| match simulated {
                Ok(simulation) => app.take_simulation(digest, Ok(simulation)),
                Err(Unanswered { error: QueryError::Failed(failure), .. }) => {
                    app.take_simulation(digest, Err(failure));
                }
                Err(unanswered) => {
                    if let Some(session) = app.shown.as_mut().filter(|it| it.digest == digest) {
                        session.simulation = None;
                        session.shows_simulation = false;
                    }
                    if latest {
                        app.report(unanswered);
                    }
                }
            },
        );
    }

    /// Takes in what would become of the plan with this digest; of the latest question alone.
    fn take_simulation(&mut self, digest: Digest, outcome: Result<Simulation, Failure>) {
        let Some(session) = &mut self.shown else { return };
        if let Some(simulated) = session.simulation.as_mut().filter(|it| it.outcome.is_none()) {
            simulated.stale |= session.digest != digest;
            simulated.outcome = Some(outcome);
        }
    }

    /// Asks for the shown plan file to be read and reviewed again. `always` also when its run has
    /// used it up; by itself that happens only while it matters.
    pub(in super::super) fn review_again(&mut self, always: bool) {
        let Some(session) = &self.shown else { return };
        let Some(path) = session.path.clone() else { return };
        if session.run.is_active() && !always {
            return;
        }
        let (workspace, grants) = (session.workspace.clone(), session.grants.clone());
        self.ask_latest(OpenPlan { path, workspace, grants }, |app, opened| match opened {
            Ok(opened) => app.take_review(opened),
            Err(unanswered) => app.not_opened(unanswered),
        });
    }
}
