//! The evidence page: the search results or the answer to a question, and one complete record.

use uuid::Uuid;

use super::evidence_player::Player;
use super::evidence_team::Team;
use super::evidence_timeline::Timeline;
use super::exporting::Exporting;
use super::pending::FailedQuery;
use super::shared::Shared;
use crate::run::{EvidenceAnswer, ExecutionDetail, Question, SearchPage, SearchQuery};
use crate::ui::action::RecordTab;
use crate::ui::evidence::{EvidenceView, ResultLine, Verification, first_tab, parse, unknown_tool};
use crate::ui::{EvidenceAction, Page};
use crate::worker::{FollowUp, Query as _, Search, SearchTeam, TeamServer, Verify};

/// The time without typing before a search, in milliseconds.
const TYPING_DEBOUNCE_MS: i64 = 150;

/// The number of hits that are read at a time.
pub(super) const PAGE: usize = 100;

/// The time without typing before a search of the team's server, in milliseconds: each logs in there.
const TEAM_DEBOUNCE_MS: i64 = 400;

/// The state of the page.
#[derive(Debug, Default)]
pub(super) struct EvidencePage {
    /// The text in the search field.
    text: String,
    /// The texts of the searches that the person saved.
    pub(super) saved: Vec<String>,
    /// The errors in the text of the latest search.
    problems: Vec<String>,
    /// Remarks about that text that are no errors.
    hints: Vec<String>,
    pub(super) page: Option<SearchPage>,
    pub(super) timeline: Timeline,
    pub(super) player: Player,
    /// The lines that show `page`.
    pub(super) lines: Vec<ResultLine>,
    /// Whether a search is under way.
    pub(super) is_searching: bool,
    /// Whether records are being indexed that a search has missed.
    pub(super) is_indexing: bool,
    /// The search of `page`.
    pub(super) query: SearchQuery,
    /// How often the person has asked for more hits of this search.
    pub(super) more: usize,
    /// Why the latest search or question failed.
    pub(super) failure: Option<String>,
    /// The question whose answer is shown instead of the search results.
    pub(super) question: Option<Question>,
    pub(super) answer: Option<EvidenceAnswer>,
    /// The execution that was open beside the search results. It is opened again when the question is left.
    beside_search: Option<Uuid>,
    /// The execution whose record is open.
    pub(super) selected: Option<Uuid>,
    /// The open record, once it was read.
    pub(super) detail: Option<ExecutionDetail>,
    /// The execution whose record could not be read, and why.
    pub(super) unreadable: Option<(Uuid, String)>,
    /// The tab that the person chose; `None` for the first one of each record.
    tab: Option<RecordTab>,
    verification: Verification,
    pub(super) focus_search: bool,
    pub(super) scroll_to_selected: bool,
    pub(super) exporting: Exporting,
    pub(super) team: Team,
    /// The time at which to search for the edited text, in Unix milliseconds.
    search_at_ms: Option<i64>,
}

impl EvidencePage {
    pub(super) fn new(saved: Vec<String>, team: Option<TeamServer>) -> Self {
        Self { saved, team: Team::new(team), ..Self::default() }
    }

    /// The text in the search field, which is empty beside the answer to a question.
    pub(super) fn text(&self) -> &str {
        if self.question.is_none() { &self.text } else { "" }
    }

    pub(super) fn apply(&mut self, action: EvidenceAction, shared: &mut Shared) {
        match action {
            EvidenceAction::Edit(text) => {
                self.text = text;
                self.more = 0;
                self.close_answer();
                let wait = if self.shows_team() { TEAM_DEBOUNCE_MS } else { TYPING_DEBOUNCE_MS };
                self.search_at_ms = Some(shared.now.ms + wait);
            }
            EvidenceAction::Search(text) => {
                // Other pages show what ran here.
                if shared.page != Page::Evidence {
                    self.leave_team(shared);
                }
                self.text = text;
                self.more = 0;
                self.close_answer();
                shared.page = Page::Evidence;
                self.search(shared);
            }
            EvidenceAction::RunQuery(question) => {
                self.leave_team(shared);
                if self.question.is_none() {
                    self.beside_search = self.selected;
                }
                self.close_detail();
                (self.answer, self.failure) = (None, None);
                self.player = Player::default();
                self.question = Some(question);
                shared.clear_view_panic();
                shared.page = Page::Evidence;
                self.search(shared);
            }
            EvidenceAction::ShowTeam(team) => self.show_team(team, shared),
            EvidenceAction::TryAgain => self.try_again(shared),
            EvidenceAction::OpenHit(index) => self.open_hit(index, shared),
            EvidenceAction::More => self.read_more(shared),
            EvidenceAction::ChooseExport(choice) => self.exporting.choose(choice),
            EvidenceAction::StopExport => self.exporting.stop(),
            EvidenceAction::ShowTimes(span) => self.show_times(span, shared),
            EvidenceAction::Play(action) => self.play(action, shared.now.ms),
            EvidenceAction::StopJudging => self.stop_judging(),
            EvidenceAction::CloseAnswer => {
                let beside_search = self.beside_search;
                self.close_answer();
                match beside_search {
                    Some(id) => self.apply(EvidenceAction::Open(id), shared),
                    None => self.close_detail(),
                }
                if self.failure.take().is_some() {
                    self.search(shared);
                }
            }
            EvidenceAction::Open(id) => {
                self.leave_team(shared);
                self.selected = Some(id);
                self.detail = None;
                shared.read_execution(id);
            }
            EvidenceAction::ShowTab(tab) => {
                let first = self.detail.as_ref().map(first_tab);
                self.tab = Some(tab).filter(|_| first != Some(tab));
            }
            EvidenceAction::CloseDetail => self.close_detail(),
            EvidenceAction::Reconcile(run_id) => shared.reconcile(run_id),
            EvidenceAction::Settle(run_id, way) => shared.follow_up(run_id, FollowUp::Settle(way)),
            EvidenceAction::Revert(id) => shared.follow_up(id, FollowUp::Revert),
        }
    }

    /// Closes the answer, so that the search results are shown.
    pub(super) fn close_answer(&mut self) {
        self.question = None;
        self.answer = None;
        self.beside_search = None;
    }

    /// The run to which the search is restricted.
    pub(super) fn searched_run(&self) -> Option<Uuid> {
        self.query.run_id
    }

    /// Whether the evidence was verified in this window and found sound.
    pub(super) fn is_verified(&self) -> bool {
        matches!(&self.verification, Verification::Done { report, .. } if report.ok)
    }

    pub(super) fn close_detail(&mut self) {
        self.selected = None;
        self.detail = None;
    }

    /// The search of the results.
    pub(super) fn query(&self) -> &SearchQuery {
        &self.query
    }

    /// If this page is shown, sends the open question, if any, and the search for the text in the search field.
    pub(super) fn search(&mut self, shared: &mut Shared) {
        self.search_at_ms = None;
        if shared.page != Page::Evidence {
            return;
        }
        if self.question == Some(Question::JudgedAgain) {
            self.begin_judging(shared);
        } else if let Some(question) = self.question.clone() {
            shared.query_each(question.clone(), move |app, answer, latest| match answer {
                Ok(answer) if app.evidence.question.as_ref() == Some(&question) => {
                    app.evidence.failure = None;
                    app.evidence.answer = Some(answer);
                }
                Err(failed) if latest => app.evidence.fail(failed, &mut app.shared),
                _ => {}
            });
        }
        let parsed = parse(&self.text, &shared.now);
        (self.problems, self.hints) = (parsed.problems, parsed.hints);
        if !self.problems.is_empty() {
            // All executions would look like the answer, and so would that of an earlier search.
            shared.queries.stop_latest(Search::topic());
            shared.queries.stop_latest(SearchTeam::topic());
            self.failure = None;
            let of = self.page.as_ref().map_or(0, |page| page.of);
            self.is_searching = false;
            self.lines.clear();
            self.timeline = Timeline::default();
            self.page = Some(SearchPage { of, ..SearchPage::default() });
            return;
        }
        // As many as are shown, so that a search for new executions keeps them.
        let query = SearchQuery { limit: PAGE * (1 + self.more), ..parsed.query };
        self.query.clone_from(&query);
        if self.shows_team() {
            self.is_searching = self.search_team(query, None, shared);
            return;
        }
        self.is_searching = shared.query_latest(Search(query), |app, page| match page {
            _ if app.evidence.shows_team() => {}
            Ok(Some(page)) => app.evidence.take_page(page, &mut app.shared),
            // Another search has stopped this one.
            Ok(None) => {}
            Err(failed) => app.evidence.fail(failed, &mut app.shared),
        });
    }

    /// Searches again after something was recorded here, unless the evidence of the team is shown.
    pub(super) fn refresh(&mut self, shared: &mut Shared) {
        if !self.shows_team() {
            self.search(shared);
        }
    }

    /// Shows in place of the results why a search or question failed. The earlier results are no answer to it.
    pub(super) fn fail(&mut self, failed: FailedQuery, shared: &mut Shared) {
        self.is_searching = false;
        self.page = None;
        self.lines.clear();
        self.timeline = Timeline::default();
        self.answer = None;
        match failed.into_failure() {
            Ok(it) => self.failure = Some(format!("{} {}\n{}", it.code, it.message, it.next)),
            // A crash is no fault of the search.
            Err(failed) => {
                self.failure = Some("The query thread crashed.".to_owned());
                shared.report(failed);
            }
        }
    }

    /// Shows the results. Closes an open execution that is certainly not among them.
    fn take_page(&mut self, page: SearchPage, shared: &mut Shared) {
        let tool = self.query.tool.as_deref().filter(|_| page.unknown_tool);
        self.problems.extend(tool.map(unknown_tool));
        let is_whole = page.next.is_none();
        self.show_results(page);
        let is_listed = self.selected.is_none_or(|id| self.listed().contains(&id));
        if self.question.is_none() && is_whole && !is_listed {
            self.close_detail();
        }
        self.count(shared);
        self.count_times(shared);
        self.index(shared);
    }

    /// Searches for the edited text once the time without typing is over. Returns the milliseconds left until then;
    /// `None` if no search is due or the search was sent.
    pub(super) fn search_when_due(&mut self, shared: &mut Shared) -> Option<i64> {
        let left = self.search_at_ms? - shared.now.ms;
        if left > 0 {
            return Some(left);
        }
        self.search(shared);
        None
    }

    /// Verifies the evidence on the query thread.
    pub(super) fn verify(&mut self, shared: &mut Shared) {
        self.verification = Verification::UnderWay;
        shared.query_latest(Verify, |app, report| match report {
            Ok(report) => {
                let at_ms = app.shared.now.ms;
                app.evidence.verification = Verification::Done { report: Box::new(report), at_ms };
            }
            Err(failed) => {
                app.evidence.verification = Verification::NotRequested;
                app.shared.report(failed);
            }
        });
    }

    /// Resets the flags that apply to one frame only.
    pub(super) fn reset_frame_flags(&mut self) {
        self.focus_search = false;
        self.scroll_to_selected = false;
    }

    /// The ids of the listed executions, in the order of the page.
    pub(super) fn listed(&self) -> Vec<Uuid> {
        match (&self.question, &self.answer, &self.page) {
            (Some(_), Some(answer), _) => {
                let id = |index| answer.execution(index).map(|row| row.execution_id);
                (0..answer.len()).filter_map(id).collect()
            }
            (None, _, Some(page)) => {
                page.hits.iter().map(|hit| hit.listed.row.execution_id).collect()
            }
            _ => Vec::new(),
        }
    }

    pub(super) fn view<'a>(&'a self, shared: &'a Shared) -> EvidenceView<'a> {
        let run_id = self.detail.as_ref().map(|it| it.row.run_id);
        EvidenceView {
            text: &self.text,
            saved: &self.saved,
            problems: &self.problems,
            hints: &self.hints,
            failure: self.failure.as_deref(),
            page: self.page.as_ref(),
            timeline: self.timeline_view(),
            player: self.player_view(shared.now.ms),
            is_searching: self.is_searching,
            lines: &self.lines,
            question: self.question.as_ref(),
            answer: self.answer.as_ref(),
            selected: self.selected,
            detail: self.detail.as_ref(),
            unreadable: self.why_unreadable(),
            tab: self.tab.or_else(|| self.detail.as_ref().map(first_tab)).unwrap_or_default(),
            reconciled: shared.reconciled_in(run_id.filter(|_| !self.shows_team())),
            attempt: shared.attempt_of(run_id.filter(|_| !self.shows_team())),
            contents: shared.contents.all(),
            verification: &self.verification,
            team: self.team_view(),
            exporting: self.exporting.executions(),
            focus_search: self.focus_search,
            scroll_to_selected: self.scroll_to_selected,
            now: &shared.now,
        }
    }
}
