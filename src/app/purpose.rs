//! What each question to the desk was for, so that a late answer is not taken for the latest.

use std::collections::BTreeMap;
use std::mem::discriminant;
use std::path::PathBuf;

use uuid::Uuid;

use crate::authorization::PlanAuthorization;
use crate::plan::Digest;
use crate::run::Question;
use crate::ui::artifact::Shape;
use crate::ui::diagnostics::Place;
use crate::worker::Ticket;

/// What a question was for.
#[derive(Debug)]
pub(super) enum Purpose {
    /// To show a plan file.
    Open {
        /// The file.
        path: PathBuf,
        /// The workspace that was chosen for it.
        workspace: Option<PathBuf>,
    },
    /// To look at the shown plan file again.
    Review(PathBuf),
    /// To show what a step would do.
    Preview(Digest, usize),
    /// To show what all steps would do together.
    Simulate(Digest),
    /// To write an answer to a plan down.
    Record(Box<PlanAuthorization>),
    /// To write down whether commands are trusted.
    Trust,
    /// To list the runs.
    Runs,
    /// To show a recorded run.
    Replay,
    /// To show the plan of an old run, or of its rest.
    FollowUp,
    /// To compare the interrupted steps of a run with the disk.
    Reconcile,
    /// To search.
    Search,
    /// To show an execution.
    Execution(Uuid),
    /// To show a whole artifact.
    Blob(Digest, Shape),
    /// To write an artifact to this file.
    Save(PathBuf),
    /// To answer a question about one thing.
    Ask(Question),
    /// To show the source of a diagnostic of this run.
    Source(Option<Uuid>, Place),
    /// To tell how a host answers.
    Host,
    /// To show a place in an editor.
    Edit,
    /// To recompute the chain.
    Verify,
    /// To save the settings.
    Settings,
    /// To tell what is at the place of a loop that is to start.
    Place,
    /// To list the bounded loops.
    Loops,
    /// To show a recorded loop.
    Loop,
    /// To take an authorization class back.
    RevokeClass,
}

impl Purpose {
    /// What could not be done, for a notice.
    pub(super) fn failure(&self) -> String {
        match self {
            Self::Open { path, .. } | Self::Review(path) => {
                format!("{} cannot be opened.", path.display())
            }
            Self::Preview(_, step) => format!("What step {} would do is not known.", step + 1),
            Self::Simulate(_) => "The plan cannot be simulated.".into(),
            Self::Record(_) => {
                "Your answer could not be written down; nothing is authorized.".into()
            }
            Self::Trust => "Your decision could not be written down; nothing has changed.".into(),
            Self::Runs => "The runs cannot be listed.".into(),
            Self::Replay => "The run cannot be shown.".into(),
            Self::FollowUp => "The run cannot be followed up.".into(),
            Self::Reconcile => "The run cannot be compared with the disk.".into(),
            Self::Search => "The evidence cannot be searched.".into(),
            Self::Execution(_) => "The record cannot be read.".into(),
            Self::Blob(..) => "The artifact cannot be read.".into(),
            Self::Save(_) => "The artifact could not be saved.".into(),
            Self::Ask(_) => "The question cannot be answered.".into(),
            Self::Source(..) => "The source cannot be read.".into(),
            Self::Host => "The connection could not be tried.".into(),
            Self::Edit => "The editor cannot be opened.".into(),
            Self::Verify => "The evidence could not be verified.".into(),
            Self::Settings => "The settings could not be saved.".into(),
            Self::Place => "The folders of the form cannot be looked at.".into(),
            Self::Loops => "The loops cannot be listed.".into(),
            Self::Loop => "The loop cannot be shown.".into(),
            Self::RevokeClass => "The class could not be taken back; it still holds.".into(),
        }
    }
}

/// The questions that are still open.
#[derive(Debug, Default)]
pub(super) struct Purposes {
    open: BTreeMap<Ticket, Purpose>,
}

impl Purposes {
    /// Notes a question.
    pub(super) fn insert(&mut self, ticket: Ticket, purpose: Purpose) {
        self.open.insert(ticket, purpose);
    }

    /// The purpose of an answer, and whether no later question of its kind is open.
    pub(super) fn take(&mut self, ticket: Ticket) -> Option<(Purpose, bool)> {
        let purpose = self.open.remove(&ticket)?;
        // A page shows one plan, be it opened or replayed.
        let kind = |purpose: &Purpose| match purpose {
            Purpose::Open { .. } | Purpose::Review(_) | Purpose::Replay | Purpose::FollowUp => None,
            other => Some(discriminant(other)),
        };
        let latest = !self.open.range(ticket..).any(|(_, other)| kind(other) == kind(&purpose));
        Some((purpose, latest))
    }

    /// Whether a question of this kind is open.
    pub(super) fn any(&self, wanted: impl Fn(&Purpose) -> bool) -> bool {
        self.open.values().any(wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_latest_of_a_kind_counts() {
        let mut purposes = Purposes::default();
        purposes.insert(Ticket(1), Purpose::Search);
        purposes.insert(Ticket(2), Purpose::Runs);
        purposes.insert(Ticket(3), Purpose::Search);
        assert!(matches!(purposes.take(Ticket(1)), Some((Purpose::Search, false))));
        assert!(matches!(purposes.take(Ticket(2)), Some((Purpose::Runs, true))));
        assert!(matches!(purposes.take(Ticket(3)), Some((Purpose::Search, true))));
        assert!(purposes.take(Ticket(3)).is_none());
    }

    #[test]
    fn a_replay_overtakes_an_opening() {
        let mut purposes = Purposes::default();
        purposes.insert(Ticket(1), Purpose::Open { path: "p.json".into(), workspace: None });
        purposes.insert(Ticket(2), Purpose::Replay);
        assert!(matches!(purposes.take(Ticket(1)), Some((_, false))));
    }
}
