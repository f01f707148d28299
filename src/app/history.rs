//! Where the person was: the places of the window, and the way back and forward between them.
//!
//! [`History`] is pure. `visit` notes the place of the window after each action and each arrival of data; a place that
//! only became another state of itself, or that was reached by stepping through a list, replaces the current one. What
//! can no longer be shown is skipped and forgotten.

use std::path::PathBuf;

use uuid::Uuid;

use super::App;
use super::loop_page::LoopContent;
use super::plan_page::{PlanPage, PlanSession};
use super::shared::Shared;
use crate::plan::Digest;
use crate::run::Question;
use crate::ui::action::{DiagnosticsAction, EvidenceAction, LoopAction};
use crate::ui::diagnostics::DiagnosticPosition;
use crate::ui::{Page, Tone};
use crate::worker::OpenedPlan;

/// The maximum number of places in each direction; the oldest are dropped.
const MAX_PLACES: usize = 100;

/// The plan of a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PlanPlace {
    /// The plan's file; `None` for a plan without one.
    file: Option<PathBuf>,
    /// The run of the plan; `None` before it begins.
    run: Option<Uuid>,
    digest: Digest,
}

/// A page, and what was selected on it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Place {
    page: Page,
    /// The plan on the page; `None` on pages that show none, and where none is open.
    plan: Option<PlanPlace>,
    /// The open question of the evidence page.
    question: Option<Question>,
    /// Whether the evidence page shows the evidence of the team.
    team: bool,
    /// The open record of the evidence page, of this computer.
    execution: Option<Uuid>,
    /// The selected diagnostic of the diagnostics page.
    diagnostic: Option<DiagnosticPosition>,
    /// The loop on the loop page; `None` for the form.
    looping: Option<Uuid>,
}

impl Place {
    /// Whether `later` is the same place in another state: nobody went there.
    fn becomes(&self, later: &Self) -> bool {
        if self.page != later.page {
            return false;
        }
        let same_plan = match (&self.plan, &later.plan) {
            // A plan whose run has begun, or whose file was edited.
            (Some(old), Some(new)) => {
                let same_file = old.file.is_some() && old.file == new.file;
                (same_file || old.digest == new.digest) && (old.run.is_none() || old.run == new.run)
            }
            (old, new) => old == new,
        };
        match self.page {
            Page::Plan => same_plan,
            Page::Diagnostics => same_plan && self.diagnostic.is_none(),
            Page::Evidence | Page::Loop => false,
            Page::Agent | Page::Settings => true,
        }
    }
}

/// A direction in the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Back,
    Forward,
}

impl Direction {
    const fn opposite(self) -> Self {
        match self {
            Self::Back => Self::Forward,
            Self::Forward => Self::Back,
        }
    }
}

/// The places before and after the current one. The latest of each is at the end.
#[derive(Debug)]
pub(super) struct History<P> {
    back: Vec<P>,
    current: P,
    forward: Vec<P>,
}

impl<P: Default> Default for History<P> {
    fn default() -> Self {
        Self { back: Vec::new(), current: P::default(), forward: Vec::new() }
    }
}

impl<P: PartialEq> History<P> {
    /// Notes that the window shows `place`. With `replace` it takes the position of the current place.
    fn visit(&mut self, place: P, replace: bool) {
        if self.current == place {
            return;
        }
        let left = std::mem::replace(&mut self.current, place);
        if replace {
            return;
        }
        self.forward.clear();
        self.back.push(left);
        if self.back.len() > MAX_PLACES {
            self.back.remove(0);
        }
    }

    fn can_go(&self, direction: Direction, can_show: impl Fn(&P) -> bool) -> bool {
        self.places(direction).iter().any(can_show)
    }

    fn places(&self, direction: Direction) -> &[P] {
        match direction {
            Direction::Back => &self.back,
            Direction::Forward => &self.forward,
        }
    }

    /// Makes the nearest place that can be shown the current one, and forgets those that cannot. Returns it; `None`
    /// if there is none. With `keep` the place that is left can be returned to.
    fn go(
        &mut self,
        direction: Direction,
        keep: bool,
        can_show: impl Fn(&P) -> bool,
    ) -> Option<&P> {
        let (from, to) = match direction {
            Direction::Back => (&mut self.back, &mut self.forward),
            Direction::Forward => (&mut self.forward, &mut self.back),
        };
        while let Some(place) = from.pop() {
            if !can_show(&place) || place == self.current {
                continue;
            }
            let left = std::mem::replace(&mut self.current, place);
            if keep {
                to.push(left);
            }
            return Some(&self.current);
        }
        None
    }
}

/// The state of going back and forward.
#[derive(Debug, Default)]
pub(super) struct Way {
    history: History<Place>,
    /// The place that the window still shows while the plan of the current place is read.
    leaving: Option<Place>,
}

impl App {
    /// The place that the window shows.
    fn place(&self) -> Place {
        let page = self.shared.page;
        let session = self.plan.shown.as_ref();
        let of_plan = session.filter(|_| matches!(page, Page::Plan | Page::Diagnostics));
        let diagnostic = of_plan.filter(|_| page == Page::Diagnostics);
        Place {
            page,
            plan: of_plan.map(PlanSession::place),
            question: self.evidence.question.clone().filter(|_| page == Page::Evidence),
            team: page == Page::Evidence && self.evidence.shows_team(),
            execution: self
                .evidence
                .selected
                .filter(|_| page == Page::Evidence && !self.evidence.shows_team()),
            diagnostic: diagnostic.and_then(|session| session.diagnostics.selected()),
            looping: match page {
                Page::Loop => self.loop_page.shown_state().and_then(|state| state.loop_id),
                _ => None,
            },
        }
    }

    /// Notes the place that the window shows now. With `stepping`, it was reached step by step through a list.
    pub(super) fn note_place(&mut self, stepping: bool) {
        let place = self.place();
        let is_reading = place.page == Page::Loop && self.loop_page.content == LoopContent::Reading;
        if is_reading || self.way.leaving.as_ref() == Some(&place) {
            return;
        }
        self.way.leaving = None;
        let current = &self.way.history.current;
        let replace = current.becomes(&place) || stepping && current.page == place.page;
        self.way.history.visit(place, replace);
    }

    /// Whether there is a place in this direction that can be shown.
    pub(super) fn can_go(&self, direction: Direction) -> bool {
        self.way.history.can_go(direction, |place| self.plan.can_show(place.plan.as_ref()))
    }

    /// Shows the nearest place in this direction.
    pub(super) fn go(&mut self, direction: Direction) {
        let _ = self.go_on(direction, true);
    }

    /// Shows the nearest place in this direction; its plan may have to be read first. Returns false, and does nothing, if no
    /// place is left. With `keep`, the place that is left can be returned to.
    fn go_on(&mut self, direction: Direction, keep: bool) -> bool {
        let from = self.place();
        let plan = &self.plan;
        let can_show = |place: &Place| plan.can_show(place.plan.as_ref());
        let found = self.way.history.go(direction, keep, can_show).cloned();
        let Some(place) = found else { return false };
        let shared = &mut self.shared;
        let is_known = match &place.plan {
            Some(wanted) => self.plan.show_known(wanted, shared),
            None => true,
        };
        let Some(wanted) = place.plan.as_ref().filter(|_| !is_known) else {
            self.arrive(&place);
            return true;
        };
        self.way.leaving = Some(from);
        match (wanted.run, wanted.file.clone()) {
            (Some(run_id), _) => {
                PlanPage::replay(run_id, shared, move |app| app.arrive_if_current(&place));
            }
            (None, Some(path)) => {
                let chosen = self.plan.chosen_for(&path);
                let query = chosen.clone().query(path);
                shared.query_latest(query, move |app, opened| {
                    if app.way.history.current != place {
                        return;
                    }
                    // A file that cannot be read has the digest of an empty one.
                    let is_readable = |opened: &OpenedPlan| opened.digest != Digest::of(&[]);
                    if opened.as_ref().is_ok_and(is_readable) {
                        app.show_opened(opened, chosen);
                        app.arrive(&place);
                    } else if !app.go_on(direction, false) {
                        app.stay(direction);
                    }
                });
            }
            (None, None) => {}
        }
        true
    }

    /// Makes the place that the window still shows the current one again, because none in this direction can be shown.
    fn stay(&mut self, direction: Direction) {
        if self.way.leaving.take().is_none() {
            return;
        }
        // `go_on` has put it there last.
        self.way.history.go(direction.opposite(), false, |_| true);
        let next = "Its file may have been moved or deleted.";
        self.shared.notify_here(Tone::Dim, "The plan of that place cannot be read.", "", next);
    }

    /// Completes the way to a place whose plan was read, unless the person has gone elsewhere meanwhile.
    fn arrive_if_current(&mut self, place: &Place) {
        self.way.leaving = None;
        if self.way.history.current == *place {
            self.arrive(place);
        }
    }

    /// Shows the page of a place and what was selected on it. Its plan is shown already.
    fn arrive(&mut self, place: &Place) {
        self.way.leaving = None;
        if place.page == Page::Plan && place.plan.is_none() {
            self.plan.close(&mut self.shared);
        }
        self.show_page(place.page);
        let shared = &mut self.shared;
        match place.page {
            Page::Evidence if place.team => self.evidence.show_team(true, shared),
            Page::Evidence => {
                self.evidence.show_team(false, shared);
                if place.question != self.evidence.question {
                    let question = place.question.clone();
                    let action =
                        question.map_or(EvidenceAction::CloseAnswer, EvidenceAction::RunQuery);
                    self.evidence.apply(action, shared);
                }
                if place.execution != self.evidence.selected {
                    let action =
                        place.execution.map_or(EvidenceAction::CloseDetail, EvidenceAction::Open);
                    self.evidence.apply(action, shared);
                }
            }
            Page::Diagnostics => {
                self.update_lists();
                self.plan.with_shown(|session| {
                    if let Some(position) = place.diagnostic {
                        session
                            .diagnostics
                            .apply(DiagnosticsAction::Select(position), &session.run);
                    }
                });
                self.update_lists();
            }
            Page::Loop => match place.looping {
                Some(loop_id) => self.loop_page.apply(LoopAction::Show(loop_id), shared),
                None => self.loop_page.show_form(shared),
            },
            Page::Plan | Page::Agent | Page::Settings => {}
        }
    }
}

impl PlanSession {
    fn place(&self) -> PlanPlace {
        PlanPlace {
            file: self.path().map(Into::into),
            run: self.run.run_id,
            digest: self.opened.digest,
        }
    }
}

impl PlanPlace {
    /// Whether a session shows this plan. A run that has begun since is another state of it.
    fn is_of(&self, session: &PlanSession) -> bool {
        let place = session.place();
        let same_file = self.file.is_some() && self.file == place.file;
        match self.run {
            Some(run_id) => place.run == Some(run_id),
            None => same_file || self.digest == place.digest && place.run.is_none(),
        }
    }
}

impl PlanPage {
    /// Shows the plan of a place if the page or the live session has it. Returns whether one has.
    fn show_known(&mut self, plan: &PlanPlace, shared: &mut Shared) -> bool {
        self.shown.as_ref().is_some_and(|session| plan.is_of(session))
            || self.show_live(|session| plan.is_of(session), shared)
    }

    /// Closes the shown plan; a live session is kept.
    pub(super) fn close(&mut self, shared: &mut Shared) {
        self.leave_shown(shared);
        self.list_recent_anew();
        self.watch_files(shared);
    }

    /// Whether the plan of a place can be shown: one without a file and a run is gone once its session is closed.
    fn can_show(&self, plan: Option<&PlanPlace>) -> bool {
        plan.is_none_or(|plan| {
            plan.file.is_some() || plan.run.is_some() || self.sessions().any(|it| plan.is_of(it))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Direction::{Back, Forward};
    use super::*;

    fn visited(places: &str) -> History<char> {
        let mut history = History { back: Vec::new(), current: '-', forward: Vec::new() };
        places.chars().for_each(|place| history.visit(place, false));
        history
    }

    fn go(history: &mut History<char>, direction: Direction) -> Option<char> {
        history.go(direction, true, |place| !place.is_uppercase()).copied()
    }

    #[test]
    fn back_and_forward_lead_through_the_visited_places() {
        let mut history = visited("aabc");
        assert_eq!([go(&mut history, Back), go(&mut history, Back)], [Some('b'), Some('a')]);
        assert_eq!([go(&mut history, Forward), go(&mut history, Forward)], [Some('b'), Some('c')]);
        assert_eq!(go(&mut history, Forward), None);
        assert_eq!(history.current, 'c');
    }

    #[test]
    fn another_place_ends_the_way_forward() {
        let mut history = visited("abc");
        go(&mut history, Back);
        history.visit('b', false);
        assert!(history.can_go(Forward, |_| true), "it shows that place already");
        history.visit('d', false);
        assert!(!history.can_go(Forward, |_| true));
        assert_eq!([go(&mut history, Back), go(&mut history, Back)], [Some('b'), Some('a')]);
    }

    #[test]
    fn vanished_places_are_skipped_and_forgotten() {
        let mut history = visited("aXYb");
        assert_eq!(go(&mut history, Back), Some('a'));
        assert_eq!(go(&mut history, Forward), Some('b'));
        let only_vanished = visited("X");
        assert!(!History { back: vec!['Y'], ..only_vanished }.can_go(Back, |it| *it != 'Y'));
        // A place that turns out to be gone is not returned to.
        let mut history = visited("abc");
        go(&mut history, Back);
        assert_eq!(history.go(Back, false, |_| true), Some(&'a'));
        assert_eq!(go(&mut history, Forward), Some('c'));
        // Both sides of a forgotten place may be equal.
        let mut history = visited("aXa");
        assert_eq!(go(&mut history, Back), Some('-'));
    }

    #[test]
    fn a_replaced_place_is_not_returned_to() {
        let mut history = visited("ab");
        history.visit('c', true);
        assert_eq!(go(&mut history, Back), Some('a'));
        assert_eq!(go(&mut history, Forward), Some('c'));
    }

    #[test]
    fn the_history_has_a_limit() {
        let mut history = visited("a");
        for _ in 0..MAX_PLACES {
            history.visit('b', false);
            history.visit('c', false);
        }
        assert_eq!(history.back.len(), MAX_PLACES);
    }
}
