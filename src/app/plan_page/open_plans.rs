//! The plan files that are open in this window. Each keeps its review, choices and authorization while another one is
//! shown: what stays of it is in [`PlanPage::left`] and [`PlanPage::set_aside`], and its file is read and reviewed again
//! when it is shown.

use std::path::{Path, PathBuf};

use super::{PlanPage, PlanSession};
use crate::app::shared::Shared;
use crate::ui::plan::{Approval, OpenPlan, OpenState};
use crate::ui::{Command, Page, Tone};

/// The maximum number of open plans. Beyond it, the one that was opened first and has nothing under way is closed.
const MAX_OPEN: usize = 50;

/// An open plan file, with its name when it was last shown.
#[derive(Debug, Clone)]
pub(super) struct OpenFile {
    path: PathBuf,
    /// The file that a revision was made from; the file itself if it is none.
    base: PathBuf,
    name: String,
}

/// Whether a plan waits in the queue or its run is under way.
fn is_under_way(state: OpenState) -> bool {
    matches!(state, OpenState::Queued(_) | OpenState::Running | OpenState::Asks)
}

impl PlanPage {
    /// Notes that the plan on the page is open, by its present name.
    pub(super) fn note_open(&mut self) {
        let Some(session) = &self.shown else { return };
        let Some(path) = session.path() else { return };
        let file = OpenFile {
            path: path.to_owned(),
            base: session.opened.base().to_owned(),
            name: session.name().to_owned(),
        };
        match self.open_files.iter_mut().find(|it| it.path == file.path) {
            Some(known) => *known = file,
            None => self.open_files.push(file),
        }
        if self.open_files.len() > MAX_OPEN {
            let idle = self.open_files.iter().position(|it| self.can_close(&it.path));
            idle.map(|index| self.open_files.remove(index));
        }
    }

    /// Notes that these files are open, which were dropped on the window together. Each is read when it is shown. A single one
    /// is noted by its plan once it is read.
    pub fn note_dropped(&mut self, paths: impl Iterator<Item = PathBuf>) {
        let paths: Vec<_> = paths.take(MAX_OPEN).collect();
        for path in paths.iter().filter(|_| paths.len() > 1) {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if self.open_files.len() < MAX_OPEN && self.open_files.iter().all(|it| it.path != path)
            {
                self.open_files.push(OpenFile { base: path.clone(), path, name });
            }
        }
    }

    /// Puts a revision in the place of the file that it was made from, or the file in that of a revision that was
    /// discarded.
    pub(super) fn take_place(&mut self, old: &Path, new: PathBuf) {
        self.set_aside.remove(&new);
        self.left.remove(&new);
        if old == new {
            return;
        }
        // What was authorized was not this.
        self.set_aside.remove(old);
        self.open_files.retain(|it| it.path != new);
        if let Some(file) = self.open_files.iter_mut().find(|it| it.path == old) {
            file.path = new;
        }
    }

    /// Whether nothing of this plan is under way, queued or shown.
    fn can_close(&self, path: &Path) -> bool {
        self.queue.place_of(path).is_none() && self.sessions().all(|it| it.path() != Some(path))
    }

    /// Whether this plan, or a revision of it, waits in the queue or its run is under way.
    pub fn is_queued_or_runs(&self, base: &Path) -> bool {
        self.states_of(base).any(is_under_way)
    }

    /// Whether this plan, or a revision of it, is authorized here and was not run to its end.
    pub fn is_to_run(&self, base: &Path) -> bool {
        self.is_queued_or_runs(base) || self.states_of(base).any(|it| it == OpenState::Authorized)
    }

    /// The states of a file and of its revisions.
    fn states_of<'a>(&'a self, base: &'a Path) -> impl Iterator<Item = OpenState> + 'a {
        let revisions = self.open_files.iter().filter(move |it| it.base == base);
        std::iter::once(base).chain(revisions.map(|it| &*it.path)).map(|path| self.open_state(path))
    }

    /// The name of an open plan when it was last shown.
    pub(super) fn open_name(&self, path: &Path) -> Option<String> {
        self.open_files.iter().find(|it| it.path == path).map(|it| it.name.clone())
    }

    /// The number of open plans.
    pub fn open_count(&self) -> usize {
        self.open_files.len()
    }

    /// The open plans, in the order in which they were opened.
    pub fn open_plans(&self) -> Vec<OpenPlan<'_>> {
        let state = |path: &Path| self.open_state(path);
        let view = |it: &'_ OpenFile| state(&it.path);
        let with_state = self.open_files.iter().map(|it| (it, view(it)));
        with_state.map(|(it, state)| OpenPlan { path: &it.path, name: &it.name, state }).collect()
    }

    fn open_state(&self, path: &Path) -> OpenState {
        let session = self.sessions().find(|it| it.path() == Some(path));
        if let Some(session) = session.filter(|it| it.runs_here()) {
            return match session.request() {
                Some(_) => OpenState::Asks,
                None => OpenState::Running,
            };
        }
        if let Some(before) = self.queue.place_of(path) {
            return OpenState::Queued(before);
        }
        match session {
            Some(it) if matches!(it.approval, Approval::Approved { .. }) => OpenState::Authorized,
            Some(it) if matches!(it.approval, Approval::Rejected(_)) => OpenState::Rejected,
            Some(it) if it.run.is_over() => OpenState::Ended,
            Some(_) => OpenState::Undecided,
            None if self.set_aside.contains_key(path) => OpenState::Authorized,
            None => OpenState::Undecided,
        }
    }

    /// Shows an open plan: the session of a run under way, otherwise the file, read and reviewed again.
    pub fn show_open(&mut self, path: &Path, shared: &mut Shared) {
        let is_it = |session: &PlanSession| session.path() == Some(path);
        if self.shown.as_ref().is_some_and(is_it) {
            shared.page = Page::Plan;
        } else if !self.show_live(is_it, shared) {
            self.open(path.to_owned(), None, shared);
        }
    }

    /// Shows the open plan this many places after the shown one, and goes on at the other end.
    pub fn show_neighbour(&mut self, by: isize, shared: &mut Shared) {
        let shown = self.shown.as_ref().and_then(PlanSession::path);
        let at = self.open_files.iter().position(|it| Some(it.path.as_path()) == shown);
        let count = self.open_files.len() as isize;
        let next = match at {
            _ if count == 0 => return,
            Some(at) => (at as isize + by).rem_euclid(count),
            None if by < 0 => count - 1,
            None => 0,
        };
        let file = usize::try_from(next).ok().and_then(|next| self.open_files.get(next));
        if let Some(path) = file.map(|it| it.path.clone()) {
            self.show_open(&path, shared);
        }
    }

    /// Closes an open plan, and shows another one if it was shown. One that is queued or under way stays open. Closing is no
    /// decision: an unused authorization ends.
    pub fn close_open(&mut self, path: &Path, shared: &mut Shared) {
        if is_under_way(self.open_state(path)) {
            let summary = "The plan stays open: it is queued or under way.";
            shared.notify_here(
                Tone::Dim,
                summary,
                "",
                "Take it out of the queue or stop it first.",
            );
            return;
        }
        let shown = self.shown.as_mut().filter(|it| it.path() == Some(path));
        let left = self.left.get_mut(path).map(|left| &mut left.revising);
        if let Some(revising) = shown.map(|it| &mut it.revising).or(left)
            && let Some(why_not) = revising.unfinished()
            && !std::mem::replace(&mut revising.told, true)
        {
            let next = "Close it again to drop that.";
            return shared.notify_here(Tone::Caution, "The plan stays open.", why_not, next);
        }
        let at = self.open_files.iter().position(|it| it.path == path);
        let is_shown = self.shown.as_ref().is_some_and(|it| it.path() == Some(path));
        self.open_files.retain(|it| it.path != path);
        if is_shown {
            self.close(shared);
            let next = at.unwrap_or_default().min(self.open_files.len().saturating_sub(1));
            if let Some(path) = self.open_files.get(next).map(|it| it.path.clone()) {
                self.show_open(&path, shared);
            }
        }
        self.forget_secrets(path);
        if self.set_aside.remove(path).is_some() {
            let summary = "The authorization of the closed plan was not used and no longer counts.";
            shared.notify_here(Tone::Dim, summary, path.display().to_string(), "");
        }
    }

    /// Applies a command about the open plans or the queue.
    pub fn apply_to_open(&mut self, command: Command, shared: &mut Shared) {
        let shown = self.shown.as_ref().and_then(PlanSession::path).map(Path::to_path_buf);
        match (command, shown) {
            (Command::NextPlan, _) => self.show_neighbour(1, shared),
            (Command::PreviousPlan, _) => self.show_neighbour(-1, shared),
            (Command::EmptyQueue, _) => self.empty_queue(),
            (Command::ClosePlan, Some(path)) => self.close_open(&path, shared),
            (Command::ClosePlan, None) => self.close(shared),
            (Command::Unqueue, Some(path)) => self.unqueue(&path),
            (Command::RunEarlier, Some(path)) => self.move_queued(&path, -1),
            (Command::RunLater, Some(path)) => self.move_queued(&path, 1),
            _ => {}
        }
    }

    /// Forgets that this plan, or a revision of it, is open: its file has gone.
    pub fn forget_open(&mut self, base: &Path) {
        self.set_aside.remove(base);
        for file in self.open_files.extract_if(.., |it| it.path == base || it.base == base) {
            self.set_aside.remove(&file.path);
        }
    }
}
