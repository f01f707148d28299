//! The inbox in the window: what waits in it, and what was decided about.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use super::App;
use super::plan_page::PlanPage;
use super::recent::RecentChange;
use super::shared::Shared;
use crate::plan::Digest;
use crate::run::{InboxEntry, InboxList};
use crate::ui::action::InboxAction;
use crate::ui::format::counted;
use crate::ui::plan::InboxView;
use crate::ui::{Page, Tone};
use crate::worker::inbox::{DecidedPlans, InboxWatch, RemoveFromInbox};

/// What is known about the inbox.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    /// `None` if the system could not start its thread.
    watch: Option<InboxWatch>,
    list: Arc<InboxList>,
    /// The time of the latest decision about each plan, in Unix milliseconds.
    decided: BTreeMap<Digest, i64>,
    /// Whether each entry of the list waits for the person.
    waits: Vec<bool>,
    waiting: usize,
}

impl Inbox {
    /// Starts to watch the inbox of this setup. A failure becomes a notice.
    pub(super) fn start(shared: &mut Shared) -> Self {
        let (inbox, policy) = (shared.setup.inbox.clone(), shared.setup.policy.clone());
        let started = InboxWatch::start(inbox, policy, shared.wake.clone());
        let watch = started
            .map_err(|error| {
                let summary = "The inbox cannot be watched.";
                shared.notify(Tone::Caution, summary, error.to_string(), "");
            })
            .ok();
        Self { watch, ..Self::default() }
    }

    pub(super) fn view(&self) -> InboxView<'_> {
        InboxView { list: &self.list, waits: &self.waits, waiting: self.waiting }
    }

    /// The number of plans that wait for the person.
    pub(super) fn waiting(&self) -> usize {
        self.waiting
    }

    /// Lists the inbox again. The system may not tell of every change.
    pub(super) fn refresh(&self) {
        if let Some(watch) = &self.watch {
            watch.refresh();
        }
    }

    fn count(&mut self) {
        let waits = |entry: &InboxEntry| {
            let decided = entry.digest().and_then(|digest| self.decided.get(&digest));
            entry.can_be_opened() && decided.is_none_or(|at_ms| *at_ms < entry.at_ms)
        };
        self.waits = self.list.entries.iter().map(waits).collect();
        self.waiting = self.waits.iter().filter(|waits| **waits).count();
    }

    /// The first entry that waits, after the one with this file if that is in the list.
    fn next_waiting(&self, after: Option<&std::path::Path>) -> Option<&InboxEntry> {
        let entries = &self.list.entries;
        let shown = entries.iter().position(|entry| Some(entry.path.as_path()) == after);
        let waiting = |range: std::ops::Range<usize>| {
            let mut all = range.filter(|index| self.waits.get(*index) == Some(&true));
            all.next().and_then(|index| entries.get(index))
        };
        let begin = shown.map_or(0, |index| index + 1);
        waiting(begin..entries.len()).or_else(|| waiting(0..begin))
    }

    /// The ids of the plans that were decided about.
    fn decided_ids(&self) -> Vec<String> {
        let entries = self.list.entries.iter().zip(&self.waits);
        let decided = entries.filter(|(entry, waits)| entry.can_be_opened() && !**waits);
        decided.map(|(entry, _)| entry.id.clone()).collect()
    }
}

impl App {
    /// Takes the newest list of the inbox, if there is one.
    pub(super) fn take_inbox(&mut self) {
        let Some(list) = self.inbox.watch.as_ref().and_then(InboxWatch::take) else { return };
        self.inbox.list = list;
        self.inbox.count();
        self.note_decided();
    }

    /// Finds out which plans of the inbox were decided about, here or elsewhere.
    pub(super) fn note_decided(&mut self) {
        let entries = &self.inbox.list.entries;
        let plans: BTreeSet<Digest> = entries.iter().filter_map(InboxEntry::digest).collect();
        let Some(since_ms) = entries.iter().map(|entry| entry.at_ms).min() else { return };
        self.shared.query(DecidedPlans { plans, since_ms }, |app, decided| {
            app.inbox.decided = decided;
            app.inbox.count();
        });
    }

    pub(super) fn apply_inbox(&mut self, action: InboxAction) {
        match action {
            InboxAction::Remove(id) => self.remove_from_inbox(vec![id]),
        }
    }

    /// Opens the plan in the inbox that waits longest; if the page shows it, the next one.
    pub(super) fn open_waiting(&mut self) {
        let shown = self.plan.shown.as_ref().and_then(|session| session.path());
        let Some(entry) = self.inbox.next_waiting(shown) else { return };
        let path = entry.path.clone();
        self.show_page(Page::Plan);
        self.plan.open(path, None, &mut self.shared);
    }

    /// The id of the shown plan in the inbox.
    pub(super) fn shown_in_inbox(&self) -> Option<&str> {
        let path = self.plan.shown.as_ref()?.path()?;
        let mut entries = self.inbox.list.entries.iter();
        Some(&entries.find(|entry| entry.path == path)?.id)
    }

    /// Removes the shown plan from the inbox.
    pub(super) fn remove_shown_from_inbox(&mut self) {
        if let Some(id) = self.shown_in_inbox().map(str::to_owned) {
            self.remove_from_inbox(vec![id]);
        }
    }

    /// Removes the plans from the inbox that were decided about.
    pub(super) fn remove_decided_from_inbox(&mut self) {
        let ids = self.inbox.decided_ids();
        if !ids.is_empty() {
            self.remove_from_inbox(ids);
        }
    }

    /// Whether a plan of the inbox was decided about.
    pub(super) fn has_decided_in_inbox(&self) -> bool {
        let entries = self.inbox.list.entries.iter().zip(&self.inbox.waits);
        entries.into_iter().any(|(entry, waits)| entry.can_be_opened() && !waits)
    }

    fn remove_from_inbox(&mut self, ids: Vec<String>) {
        let entries = self.inbox.list.entries.iter();
        let paths: Vec<_> = entries
            .filter(|entry| ids.contains(&entry.id))
            .map(|entry| entry.path.clone())
            .collect();
        self.shared.query_each(RemoveFromInbox { ids }, |app, removed, _| match removed {
            Ok(count) => {
                for path in paths {
                    app.plan.close_file(&path, &mut app.shared);
                    app.plan.forget_open(&path);
                    app.change_recent(RecentChange::Remove(path));
                }
                let summary = format!("{} removed from the inbox.", counted(count, "entry"));
                let folder = app.shared.setup.inbox.join("removed");
                let next = "What was removed can be deleted there, or moved back.";
                let details = folder.display().to_string();
                app.shared.notify_here(Tone::Dim, summary, details, next);
                app.inbox.refresh();
            }
            Err(failed) => {
                app.shared.report(failed);
                app.inbox.refresh();
            }
        });
    }
}

impl PlanPage {
    /// Closes the plan with this file if the page shows it, unless its run is under way.
    pub(super) fn close_file(&mut self, path: &Path, shared: &mut Shared) {
        let shown = self.shown.as_ref();
        if shown.is_some_and(|it| it.path() == Some(path) && !it.run.is_active()) {
            self.close(shared);
        }
    }
}
