//! Applies what a person chooses for a plan before it is authorized. Each choice is part of the next review, and makes
//! an approval under another choice void.

use std::path::{Path, PathBuf};

use super::{PlanPage, PlanSession};
use crate::app::shared::Shared;
use crate::authorization::PlanChoices;
use crate::plan::Digest;
use crate::ui::Tone;
use crate::ui::action::{PlanChoice, PlanFolder};
use crate::worker::OpenPlan;

/// What the person chose for a plan file. It is kept with the file while the window is open.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chosen {
    /// The workspace; `None` for the default one.
    pub workspace: Option<PathBuf>,
    pub choices: PlanChoices,
    /// The digest of the version of the file for which it was chosen; `None` if no version was shown.
    pub version: Option<Digest>,
}

impl Chosen {
    /// The query that reads and reviews the plan file `path` with these choices.
    pub fn query(self, path: PathBuf) -> OpenPlan {
        let Self { workspace, choices, version } = self;
        OpenPlan { path, workspace, choices, chosen_for: version }
    }
}

impl PlanSession {
    pub(super) fn chosen(&self) -> Chosen {
        Chosen {
            workspace: self.workspace.clone(),
            choices: self.choices.clone(),
            version: Some(self.opened.digest),
        }
    }

    /// Whether the person can choose where and how the plan runs. The plan of a loop, a recorded run and a
    /// request of somebody else have no choice.
    pub fn can_choose(&self) -> bool {
        self.path().is_some() && self.attempt.is_none() && self.opened.request.is_none()
    }
}

impl PlanPage {
    /// What the person has chosen for this plan file.
    pub(in crate::app) fn chosen_for(&self, path: &Path) -> Chosen {
        let here = self.sessions().find(|it| it.path() == Some(path) && it.can_choose());
        let left = || self.left.get(path).map(|left| left.chosen.clone());
        here.map(PlanSession::chosen).or_else(left).unwrap_or_default()
    }

    /// Applies a choice, and reviews the plan again. The choices that need a folder are made by
    /// [`Self::choose_folder`].
    pub(super) fn choose(&mut self, choice: PlanChoice, shared: &mut Shared) {
        self.with_choosing_session(shared, |session| {
            let choices = &mut session.choices;
            match choice {
                PlanChoice::DefaultWorkspace => session.workspace = None,
                PlanChoice::Host(host) => choices.host = host,
                PlanChoice::Mode(mode) => choices.mode = mode,
                PlanChoice::AskEveryStep(always) => choices.run.ask_every_step = always,
                PlanChoice::Walls(walls) => choices.run.walls = walls,
                PlanChoice::Network(granted) => choices.grants.network = granted,
                PlanChoice::NotWritable(path) => drop(choices.grants.write.remove(&path)),
                PlanChoice::PickFolder(_) => {}
            }
        });
    }

    /// Applies the choice of a folder in a folder dialog that was opened for the plan with the file `plan`. If another
    /// plan is shown by now, shows a notice instead.
    pub fn choose_folder(
        &mut self,
        plan: &Path,
        folder: PathBuf,
        purpose: PlanFolder,
        shared: &mut Shared,
    ) {
        if self.shown.as_ref().and_then(PlanSession::path) != Some(plan) {
            let summary =
                "The folder was not used: you chose it for a plan that is no longer shown.";
            shared.notify_here(Tone::Caution, summary, plan.display().to_string(), "");
            return;
        }
        self.with_choosing_session(shared, |session| match purpose {
            PlanFolder::Workspace => session.workspace = Some(folder),
            PlanFolder::Writable => {
                session.choices.grants.write.insert(folder.to_string_lossy().into_owned());
            }
        });
    }

    /// Changes the choices of the shown plan, and reviews it again; does nothing while they cannot be changed.
    fn with_choosing_session(
        &mut self,
        shared: &mut Shared,
        change: impl FnOnce(&mut PlanSession),
    ) {
        let shown = self.shown.as_mut();
        let Some(session) = shown.filter(|it| it.can_choose() && !it.run.is_active()) else {
            return;
        };
        session.change_choices(change);
        self.review_again(false, shared);
    }
}
