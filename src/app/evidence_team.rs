//! The evidence of a team on the evidence page: its search, its records, and the way between it and this computer's.
//!
//! The page has one list and one open record, of the source that is shown. An answer for the other one comes too late.

use super::contents::Key;
use super::evidence_page::{EvidencePage, PAGE};
use super::shared::Shared;
use crate::run::{SearchCounts, SearchHit, SearchPage, SearchQuery};
use crate::ui::evidence::TeamView;
use crate::worker::{
    Query as _, ReadTeamContent, ReadTeamExecution, SearchTeam, TeamPage, TeamPlace, TeamQuery,
    TeamServer,
};

/// The team of the settings, and what is shown of its evidence.
#[derive(Debug, Default)]
pub(super) struct Team {
    /// The server; `None` if the settings name none.
    server: Option<TeamServer>,
    /// The server's address for the person, without a password.
    name: String,
    /// Whether the page shows the evidence of the team.
    is_shown: bool,
    /// The origin of each hit of the page.
    origins: Vec<String>,
    /// Where the next page of hits begins.
    next: Option<TeamPlace>,
    /// The records that cannot be read: the first one in words, and how many there are.
    unreadable: Option<(String, usize)>,
    /// The origin of the open execution.
    origin: Option<String>,
}

impl Team {
    pub(super) fn new(server: Option<TeamServer>) -> Self {
        let name = server.as_ref().map(ToString::to_string).unwrap_or_default();
        Self { server, name, ..Self::default() }
    }

    /// Whether the settings name a team.
    pub(super) fn is_set(&self) -> bool {
        self.server.is_some()
    }

    pub(super) fn is_shown(&self) -> bool {
        self.is_shown
    }

    fn forget_origins(&mut self) {
        self.origins.clear();
        (self.next, self.unreadable) = (None, None);
    }

    /// The hits of a page, whose origins are kept, and whether there are more, as [`SearchPage::next`] says it.
    fn take(&mut self, found: TeamPage) -> (Vec<SearchHit>, Option<i64>) {
        let next = found.next.is_some().then_some(0);
        self.next = found.next;
        for (origin, number) in found.unreadable {
            let first = || (format!("record {number} of {origin}"), 0);
            self.unreadable.get_or_insert_with(first).1 += 1;
        }
        let hits = found.hits.into_iter().map(|it| {
            self.origins.push(it.origin);
            it.hit
        });
        (hits.collect(), next)
    }

    /// What is said of records that cannot be read.
    fn note(&self) -> Option<String> {
        let (first, count) = self.unreadable.as_ref()?;
        let others = if *count > 1 { format!(", and {} more", count - 1) } else { String::new() };
        Some(format!("{first}{others} cannot be read, because this program has not written it"))
    }
}

impl EvidencePage {
    /// Whether the page shows the evidence of the team.
    pub(super) fn shows_team(&self) -> bool {
        self.team.is_shown
    }

    /// Shows the evidence of the team or of this computer, with the same search.
    pub(super) fn show_team(&mut self, team: bool, shared: &mut Shared) {
        if self.set_source(team && self.team.is_set(), shared) {
            self.search(shared);
        }
    }

    /// Shows the evidence of this computer, because what is asked for is there.
    pub(super) fn leave_team(&mut self, shared: &mut Shared) {
        self.show_team(false, shared);
    }

    /// Chooses a source. Returns whether it was another one, of which nothing is read yet.
    fn set_source(&mut self, team: bool, shared: &mut Shared) -> bool {
        if self.team.is_shown == team {
            return false;
        }
        self.team.is_shown = team;
        self.team.forget_origins();
        self.team.origin = None;
        self.forget_results();
        // The other evidence may have what this one has not.
        shared.contents.forget_missing();
        shared.queries.stop_latest(SearchTeam::topic());
        shared.queries.stop_latest(ReadTeamExecution::topic());
        true
    }

    /// Searches the team's evidence again, or reads the open record again.
    pub(super) fn try_again(&mut self, shared: &mut Shared) {
        match self.why_unreadable() {
            Some(_) => {
                if let Some(index) = self.open_index() {
                    self.open_hit(index, shared);
                }
            }
            None => {
                self.failure = None;
                self.search(shared);
            }
        }
    }

    /// Sends the search to the server; with `after`, for the next page.
    pub(super) fn search_team(
        &mut self,
        query: SearchQuery,
        after: Option<TeamPlace>,
        shared: &mut Shared,
    ) -> bool {
        let Some(server) = self.team.server.clone() else { return false };
        let is_more = after.is_some();
        let query = TeamQuery { query, origin: None, after };
        shared.query_latest(SearchTeam { server, query }, move |app, answer| {
            let page = &mut app.evidence;
            match answer {
                _ if !page.shows_team() => {}
                Ok(Some((found, _))) if is_more => page.take_more_of_team(found),
                Ok(Some((found, took_us))) => page.take_team_page(found, took_us),
                // Another search has stopped this one.
                Ok(None) => {}
                Err(failed) => page.fail(failed, &mut app.shared),
            }
        })
    }

    /// Reads the next page of hits.
    pub(super) fn read_more_of_team(&mut self, shared: &mut Shared) -> bool {
        let Some(after) = self.team.next.clone() else { return false };
        let query = SearchQuery { limit: PAGE, ..self.query().clone() };
        self.search_team(query, Some(after), shared)
    }

    fn take_team_page(&mut self, found: TeamPage, took_us: u64) {
        let (total, is_partial) = (found.total, found.is_partial);
        self.team.forget_origins();
        let (hits, next) = self.team.take(found);
        let note = self.team.note();
        let counts = SearchCounts { total, is_partial, ..SearchCounts::default() };
        self.show_results(SearchPage {
            hits,
            counts,
            next,
            of: total,
            took_us,
            note,
            ..SearchPage::default()
        });
    }

    fn take_more_of_team(&mut self, found: TeamPage) {
        let (hits, next) = self.team.take(found);
        if let Some(mut page) = self.page.take() {
            page.hits.extend(hits);
            page.next = next;
            page.note = self.team.note();
            self.show_results(page);
        }
    }

    /// Opens the hit with this index.
    pub(super) fn open_hit(&mut self, index: usize, shared: &mut Shared) {
        let hit = self.page.as_ref().and_then(|page| page.hits.get(index));
        let found = hit.map(|hit| hit.listed.row.execution_id);
        let (Some(id), Some(origin), Some(server)) =
            (found, self.team.origins.get(index).cloned(), self.team.server.clone())
        else {
            return;
        };
        (self.selected, self.detail, self.unreadable) = (Some(id), None, None);
        self.team.origin = Some(origin.clone());
        let query = ReadTeamExecution { server, id, origin: origin.clone() };
        shared.query_latest(query, move |app, found| {
            let page = &mut app.evidence;
            let is_open = page.selected == Some(id) && page.team.origin.as_ref() == Some(&origin);
            if !page.shows_team() || !is_open {
                return;
            }
            match found {
                Ok(Some(Some(detail))) => page.detail = Some(detail),
                Ok(Some(None)) => {
                    page.unreadable =
                        Some((id, "The server has no whole record of it.".to_owned()));
                }
                // Another record was opened.
                Ok(None) => {}
                Err(failed) => match failed.into_failure() {
                    Ok(it) => {
                        page.unreadable =
                            Some((id, format!("{} {}\n{}", it.code, it.message, it.next)));
                    }
                    Err(failed) => app.shared.report(failed),
                },
            }
        });
    }

    /// The index of the open hit. Two computers may have an execution with the same id.
    fn open_index(&self) -> Option<usize> {
        let hits = &self.page.as_ref()?.hits;
        let is_open = |(hit, origin): (&SearchHit, &String)| {
            Some(hit.listed.row.execution_id) == self.selected
                && Some(origin) == self.team.origin.as_ref()
        };
        hits.iter().zip(&self.team.origins).position(is_open)
    }

    /// Opens the hit `by` rows below the open one. If none is open, opens the first.
    pub(super) fn move_in_team(&mut self, by: isize, shared: &mut Shared) {
        let last = self.team.origins.len().saturating_sub(1);
        let index = self.open_index().map_or(0, |it| it.saturating_add_signed(by).min(last));
        self.open_hit(index, shared);
        self.scroll_to_selected = true;
    }

    /// Reads a content from the server, unless it is known or being read.
    pub(super) fn load_team_content(&self, key: Key, copy: bool, shared: &mut Shared) {
        let Some(server) = self.team.server.clone() else { return };
        if !shared.contents.request(key, copy) {
            return;
        }
        shared.query_each(ReadTeamContent { server, digest: key.0 }, move |app, content, _| {
            let shared = &mut app.shared;
            match content {
                Ok(content) => {
                    let started = shared.contents.receive(key, content);
                    shared.report_io(started, ReadTeamContent::FAILURE, "Try again in a moment.");
                }
                Err(failed) => {
                    shared.contents.forget(&key);
                    shared.report(failed);
                }
            }
        });
    }

    /// The team as it is drawn; `None` if the settings name none.
    pub(super) fn team_view(&self) -> Option<TeamView<'_>> {
        self.team.server.as_ref()?;
        Some(TeamView {
            server: &self.team.name,
            is_shown: self.team.is_shown,
            origins: &self.team.origins,
            open: self.open_index(),
            origin: self.team.origin.as_deref().filter(|_| self.selected.is_some()),
        })
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::run::{Execution, Known, ListedExecution, Outcome};
    use crate::worker::TeamHit;

    fn hit(id: u128, origin: &str) -> TeamHit {
        let row = Execution {
            execution_id: Uuid::from_u128(id),
            run_id: Uuid::from_u128(1),
            plan_id: "p".to_owned(),
            step_id: "s".to_owned(),
            step_index: 0,
            tool_name: "shell".to_owned(),
            about: String::new(),
            timestamp_ms: 0,
            duration_ms: None,
            known: Known::Outcome(Outcome::Succeeded),
            risk: None,
            walls: None,
            exit_code: None,
            error_code: None,
            error_message: None,
        };
        let listed = ListedExecution { row, changed: false };
        let hit = SearchHit {
            listed,
            found_in: String::new(),
            excerpt: String::new(),
            marks: Vec::new(),
        };
        TeamHit { hit, origin: origin.to_owned() }
    }

    /// Somebody who may write to the server can push an execution with the id of another one.
    #[test]
    fn executions_with_the_same_id_are_told_apart() {
        let mut page = EvidencePage::default();
        let found = TeamPage {
            hits: vec![hit(7, "a"), hit(7, "b"), hit(8, "b")],
            total: 3,
            ..TeamPage::default()
        };
        page.take_team_page(found, 1);
        page.selected = Some(Uuid::from_u128(7));
        page.team.origin = Some("b".to_owned());
        assert_eq!(page.open_index(), Some(1));
        page.take_more_of_team(TeamPage { hits: vec![hit(9, "c")], ..TeamPage::default() });
        assert_eq!(page.team.origins, ["a", "b", "b", "c"]);
        let shown = page.page.as_ref().unwrap();
        assert_eq!((shown.hits.len(), shown.counts.total, shown.next), (4, 3, None));
    }
}
