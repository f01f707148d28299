//! The inbox in the window: what waits in it, and what was decided about.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::App;
use super::plan_page::{PlanPage, PlanSession};
use super::recent::RecentChange;
use super::shared::Shared;
use crate::plan::Digest;
use crate::risk::Policy;
use crate::run::{DecidedPlan, InboxEntry, InboxList};
use crate::ui::action::InboxAction;
use crate::ui::notice::Scope;
use crate::ui::plan::InboxView;
use crate::ui::{Page, Tone, terminal};
use crate::worker::Query as _;
use crate::worker::inbox::{DecidedPlans, InboxWatch, KeepPasted, RemoveFromInbox};

/// What is known about the inbox.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    /// `None` if the system could not start its thread.
    watch: Option<InboxWatch>,
    pub(super) list: Arc<InboxList>,
    /// The decisions about the plans of the list.
    decided: Vec<DecidedPlan>,
    /// Whether each entry of the list waits for the person.
    pub(super) waits: Vec<bool>,
    waiting: usize,
    /// The list without the calls of agents that are listed in their sessions.
    pub(super) others: InboxList,
    /// Whether each entry of `others` waits for the person.
    pub(super) others_wait: Vec<bool>,
    /// The frame in which the person asked for the text of the clipboard as a plan, until that text has come.
    pub(super) pastes_since: Option<u64>,
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
        InboxView {
            sessions: &[],
            open_session: None,
            list: &self.others,
            waits: &self.others_wait,
            waiting: self.waiting,
        }
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

    /// Judges what is in the inbox by this policy from now on.
    pub(super) fn use_policy(&self, policy: &Policy) {
        if let Some(watch) = &self.watch {
            watch.use_policy(policy.clone());
        }
    }

    fn count(&mut self) {
        self.waits = self.list.waits(&self.decided);
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
}

impl App {
    /// Takes the newest list of the inbox, if there is one.
    pub(super) fn take_inbox(&mut self) {
        let Some(list) = self.inbox.watch.as_ref().and_then(InboxWatch::take) else { return };
        self.inbox.list = list;
        self.inbox.count();
        self.list_inbox();
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
            app.list_inbox();
        });
    }

    pub(super) fn apply_inbox(&mut self, action: InboxAction) {
        match action {
            InboxAction::Remove(id) => self.remove_from_inbox(vec![id]),
        }
    }

    /// Opens the plan in the inbox that waits longest; if the page shows it, the next one.
    pub(super) fn open_waiting(&mut self) {
        let shown = self.plan.shown.as_ref().map(|session| session.opened.base());
        let Some(entry) = self.inbox.next_waiting(shown) else { return };
        let path = entry.path.clone();
        self.show_page(Page::Plan);
        self.plan.open(path, None, &mut self.shared);
    }

    /// The id of the shown plan in the inbox.
    pub(super) fn shown_in_inbox(&self) -> Option<&str> {
        let path = self.plan.shown.as_ref()?.opened.base();
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
        let ids: Vec<_> = self.decided_in_inbox().map(|entry| entry.id.clone()).collect();
        if !ids.is_empty() {
            self.remove_from_inbox(ids);
        }
    }

    /// The entries that were decided about and whose files are not needed any more: what is authorized here is still to
    /// run.
    pub(super) fn decided_in_inbox(&self) -> impl Iterator<Item = &InboxEntry> {
        let entries = self.inbox.list.entries.iter().zip(&self.inbox.waits);
        let decided = entries.filter(|(entry, waits)| entry.can_be_opened() && !**waits);
        decided.map(|(entry, _)| entry).filter(|entry| !self.plan.is_to_run(&entry.path))
    }

    /// Keeps a text that was pasted where no control takes it, and opens it as a plan of the workspace that is shown.
    pub(super) fn open_pasted_text(&mut self, ctx: &egui::Context) {
        let pasted = ctx.input(|input| {
            input.events.iter().rev().find_map(|event| match event {
                egui::Event::Paste(text) => Some(text.clone()),
                _ => None,
            })
        });
        // A question is never about the text of a plan, and may ask for a secret; a key that is chosen may be this one.
        let is_covered = self.dialog().is_some()
            || self.overlay.is_some()
            || self.settings_page.takes_next_key();
        let Some(text) = pasted else { return self.wait_for_pasted(is_covered, ctx) };
        let is_typing = ctx.text_edit_focused() || terminal::has_keyboard(ctx);
        let was_asked_for = self.inbox.pastes_since.take().is_some();
        if is_covered || is_typing && !was_asked_for {
            return;
        }
        let workspace = self.plan.shown.as_ref().and_then(|session| session.reviewed_workspace());
        self.shared.query_each(KeepPasted { text }, |app, kept, _| match kept {
            Ok(path) => {
                app.plan.open(path, workspace, &mut app.shared);
                app.inbox.refresh();
            }
            Err(failed) => app.shared.report(failed),
        });
    }

    /// Waits some frames for the text of the clipboard, which may have none.
    fn wait_for_pasted(&mut self, is_covered: bool, ctx: &egui::Context) {
        const FRAMES: u64 = 4;
        let Some(since) = self.inbox.pastes_since else { return };
        if ctx.cumulative_frame_nr() <= since + FRAMES && !is_covered {
            return ctx.request_repaint();
        }
        self.inbox.pastes_since = None;
        if is_covered {
            return;
        }
        let next = "Copy a plan, then paste it again.";
        self.shared.notify_here(Tone::Dim, "The clipboard has no text.", "", next);
    }

    fn remove_from_inbox(&mut self, ids: Vec<String>) {
        let entries = self.inbox.list.entries.iter();
        let wanted: Vec<_> = entries
            .filter(|entry| ids.contains(&entry.id))
            .map(|entry| (entry.id.clone(), entry.path.clone()))
            .collect();
        if wanted.iter().any(|(_, path)| self.plan.is_queued_or_runs(path)) {
            let summary = "The plan stays in the inbox: it is queued or under way.";
            let next = "Take it out of the queue or stop it first.";
            return self.shared.notify_here(Tone::Dim, summary, "", next);
        }
        self.shared.query_each(RemoveFromInbox { ids }, |app, removed, _| match removed {
            Ok((gone, failure)) => {
                let count = gone.len();
                for (_, path) in wanted.into_iter().filter(|(id, _)| gone.contains(id)) {
                    app.plan.close_file(&path, &mut app.shared);
                    app.plan.forget_open(&path);
                    app.change_recent(RecentChange::Remove(path));
                }
                let summary = match count {
                    1 => "Removed from the inbox.".to_owned(),
                    count => format!("{count} entries were removed from the inbox."),
                };
                let folder = app.shared.setup.inbox.join("removed");
                let next = "What was removed is in this folder: delete it there, or move it back.";
                let details = folder.display().to_string();
                app.shared.notify_here(Tone::Dim, summary, details, next);
                if let Some(failure) = failure {
                    app.shared.report_failure(Scope::Window, RemoveFromInbox::FAILURE, &failure);
                }
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
    /// Closes the plan with this file, or a revision of it, if the page shows it, unless its run is under way. One that is
    /// over is shown from the records.
    pub(super) fn close_file(&mut self, path: &Path, shared: &mut Shared) {
        let is_it = |it: &&PlanSession| it.path().is_some() && it.opened.base() == path;
        let shown = self.shown.as_ref().filter(is_it);
        let Some(session) = shown.filter(|it| !it.run.is_active()) else { return };
        let run_id = session.run.run_id;
        self.close(shared);
        if let Some(run_id) = run_id {
            Self::replay(run_id, shared, |_| {});
        }
    }
}
