//! The evidence page: search field, facets, timeline, results or the answer to a query, and one execution in full.

mod answer;
mod bars;
mod below;
mod comparison;
pub mod detail;
mod durations;
mod facets;
mod file_history;
mod filters;
mod judged;
mod links;
mod player;
mod query;
mod record_tabs;
mod recurring;
mod rejections;
mod results;
mod signatures;
mod team;
#[cfg(test)]
mod tests;
mod time_span;
mod timeline;
mod times;

use egui::text::{CCursor, CCursorRange};
use egui::text_edit::TextEditState;
use egui::{Key, Margin, Modifiers, TextEdit, Ui, vec2};
use uuid::Uuid;

use super::action::{LoopAction, RecordTab};
use super::artifact::Contents;
use super::notice::{Notice, notices_ui};
use super::splits::{Side, side_panel_ui, split_panel_ui};
use super::widgets::panel_frame;
use super::{
    Action, Command, Commands, EvidenceAction, Look, Now, Text, Theme, Tone, artifact, format,
    icon, narrow, theme, widgets,
};
use crate::run::{
    Attempt, EvidenceAnswer, ExecutionDetail, Question, Reconciled, SearchPage, VerifyReport,
};

pub use detail::first_tab;
pub(crate) use facets::facet_item;
pub use facets::is_offered;
pub(crate) use filters::filters_help;
pub use filters::{Filter, unknown_tool};
pub(crate) use links::question_items_ui;
pub use player::PlayerView;
pub use query::{is_set, parse, toggle};
use query::{within, without_times};
pub use results::{ResultLine, result_lines};
pub use team::TeamView;
pub use timeline::TimelineView;

/// The state of the verification of the chain.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Verification {
    /// No verification was requested.
    #[default]
    NotRequested,
    /// The verification is in progress.
    UnderWay,
    /// The verification has finished.
    Done {
        /// The result.
        report: Box<VerifyReport>,
        /// The time of the result, in Unix milliseconds. Later records were not verified.
        at_ms: i64,
    },
}

/// All data of the page.
#[derive(Debug, Clone)]
pub struct EvidenceView<'a> {
    /// The text of the search, which the search field shows unless a question is open.
    pub text: &'a str,
    /// The texts of the searches that the person saved.
    pub saved: &'a [String],
    /// The parts of `text` that could not be parsed.
    pub problems: &'a [String],
    /// Remarks about `text` that are no errors.
    pub hints: &'a [String],
    /// Why the latest search or question failed; it then has no results.
    pub failure: Option<&'a str>,
    /// The latest search results; `None` until they are read.
    pub page: Option<&'a SearchPage>,
    /// The results over time.
    pub timeline: TimelineView<'a>,
    /// The state of the player of a recorded run.
    pub player: PlayerView,
    /// Whether a search is under way, whose results will replace `page`.
    pub is_searching: bool,
    /// The lines that show `page`, as made by [`result_lines`].
    pub lines: &'a [ResultLine],
    /// The query whose answer replaces the search results.
    pub question: Option<&'a Question>,
    /// The answer to that query; `None` until it is read.
    pub answer: Option<&'a EvidenceAnswer>,
    /// The execution that is open.
    pub selected: Option<Uuid>,
    /// The details of `selected`; `None` until they are read.
    pub detail: Option<&'a ExecutionDetail>,
    /// Why the record of `selected` cannot be shown; `None` if it can, or until it is read.
    pub unreadable: Option<&'a str>,
    /// The selected tab of the open execution.
    pub tab: RecordTab,
    /// The attempt of a bounded loop that the run of this execution belongs to.
    pub attempt: Option<Attempt>,
    /// The results of comparing the interrupted steps of this execution's run with the disk.
    pub reconciled: &'a [Reconciled],
    /// The states of the requested artifact contents.
    pub contents: &'a Contents,
    /// The state of the verification of the chain.
    pub verification: &'a Verification,
    /// The team whose evidence can be shown instead; `None` if the settings name none.
    pub team: Option<TeamView<'a>>,
    /// The number of executions that the export under way has written; `None` without one.
    pub exporting: Option<u64>,
    /// Whether to focus the search field now.
    pub focus_search: bool,
    /// Whether to scroll the list to the open result now.
    pub scroll_to_selected: bool,
    /// The current time.
    pub now: &'a Now,
}

impl EvidenceView<'_> {
    /// The team, if its evidence is shown.
    fn of_team(&self) -> Option<&TeamView<'_>> {
        self.team.as_ref().filter(|team| team.is_shown)
    }

    /// The text to show in the search field: none beside the answer to a question, to which the search does not apply.
    fn shown_text(&self) -> &str {
        if self.question.is_none() { self.text } else { "" }
    }
}

/// Handles Escape, which closes the open execution or else the answer to a query, unless a text field or a viewer has
/// the focus or a menu is open.
pub(super) fn take_keys(ui: &Ui, view: &EvidenceView<'_>, actions: &mut Vec<Action>) {
    let close = match (view.selected, view.question) {
        (Some(_), _) => EvidenceAction::CloseDetail,
        (None, Some(_)) => EvidenceAction::CloseAnswer,
        (None, None) => return,
    };
    if !ui.ctx().text_edit_focused()
        && !egui::Popup::is_any_open(ui.ctx())
        && !artifact::has_keyboard(ui.ctx())
        && ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape))
    {
        actions.push(Action::Evidence(close));
    }
}

/// Draws the page.
pub fn evidence_page_ui(
    ui: &mut Ui,
    view: &EvidenceView<'_>,
    notices: &[&Notice],
    commands: &mut Commands<'_>,
) {
    let theme = Theme::of(ui);
    side_panel_ui(ui, "facets", |ui| facets::facets_ui(ui, view, commands));
    let actions = &mut *commands.actions;
    let width = ui.available_width();
    let is_narrow = width < narrow::ONE_PANE;
    if view.selected.is_some() && is_narrow && view.focus_search {
        // The field is on the list, which has the record's place from now on.
        actions.push(Action::Evidence(EvidenceAction::CloseDetail));
    } else if view.selected.is_some() && is_narrow {
        notices_ui(ui, notices, actions);
        below::verification_ui(ui, view.verification, view.now);
        below::exporting_ui(ui, view.exporting, actions);
        widgets::main_panel_ui(ui, |ui| detail::detail_ui(ui, view, true, actions));
        return;
    } else if view.selected.is_some() {
        let (default, range) =
            (theme::INSPECTOR.min(width * 0.5), 260.0..=(width - 300.0).max(260.0));
        let frame = panel_frame(theme.background, Margin::ZERO);
        split_panel_ui(ui, Side::Right, ("execution", "Details"), default, range, frame, |ui| {
            detail::detail_ui(ui, view, false, actions);
        });
    }
    notices_ui(ui, notices, actions);
    below::verification_ui(ui, view.verification, view.now);
    below::exporting_ui(ui, view.exporting, actions);
    widgets::main_panel_ui(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        widgets::margins(16, 8).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 6.0;
            team::source_ui(ui, view, actions);
            search_field_ui(ui, view, actions);
            if view.question.is_none() {
                for problem in view.problems {
                    widgets::remark(ui, icon::WARNING, Tone::Caution, problem);
                }
                for hint in view.hints {
                    widgets::remark(ui, icon::INFO, Tone::Dim, hint);
                }
            }
            if let Some(difference) = view.page.and_then(|page| page.read_only.as_deref()) {
                let text = format!(
                    "This evidence is read-only, and nothing can be run with it: {difference}. If you know the \
                     reason, accept it with: countersign evidence accept-head --reason TEXT"
                );
                widgets::remark(ui, icon::WARNING, Tone::Danger, text);
            }
            if let Some(note) = view.page.and_then(|page| page.note.as_deref()) {
                widgets::remark(ui, icon::WARNING, Tone::Caution, format!("Note: {note}."));
            }
            if let Some(number) = view.page.map(|page| page.not_indexed).filter(|it| *it > 0) {
                let text = format!(
                    "{} records are still being indexed, and are not found yet.",
                    format::count(number)
                );
                widgets::remark(ui, icon::CLOCK, Tone::Dim, text);
            }
            loop_ui(ui, view, actions);
            rejections::found_ui(ui, view, actions);
            // The results come before the picture of them.
            let has_room = ui.available_height() > MIN_BELOW_SEARCH;
            let has_times = view.page.is_some() && view.of_team().is_none();
            if has_times && view.question.is_none() && has_room {
                timeline::timeline_ui(ui, view, actions);
            }
        });
        if let Some(team) = view.of_team()
            && team::state_ui(ui, team, view, actions)
        {
            return;
        }
        if let Some(failure) = view.failure {
            widgets::line_below(ui);
            let texts = ("The evidence cannot be searched", failure);
            if widgets::empty_state(ui, icon::WARNING, texts, (icon::AGAIN, "Try again")) {
                actions.push(Action::Evidence(EvidenceAction::TryAgain));
            }
            return;
        }
        if let Some(question) = view.question {
            answer::answer_ui(ui, question, view, actions);
            return;
        }
        widgets::line_below(ui);
        match view.page {
            None => widgets::reading_state(ui, icon::DATABASE, "Reading the evidence", ""),
            Some(page) if page.hits.is_empty() && page.next.is_none() => {
                nothing_ui(ui, view, page, actions);
            }
            Some(_) => {
                let before = actions.len();
                results::results_ui(ui, view, actions);
                let opens = |it: &Action| {
                    matches!(
                        it,
                        Action::Evidence(EvidenceAction::Open(_) | EvidenceAction::OpenHit(_))
                    )
                };
                if is_narrow && actions.iter().skip(before).any(opens) {
                    narrow::hand_over(ui.ctx(), PANE);
                }
            }
        }
    });
}

/// The pane with the open record, in a narrow window.
const PANE: &str = "execution";

/// Why the search has no results, and what to do about it.
fn nothing_ui(ui: &mut Ui, view: &EvidenceView<'_>, page: &SearchPage, actions: &mut Vec<Action>) {
    let all = EvidenceAction::Search(String::new());
    // Nothing is searched, and so nothing is known, while a filter is faulty.
    let (icon, texts, offer, action) = if page.of == 0 && view.problems.is_empty() {
        let text = "Every step that runs, is skipped or is denied leaves a record here: what was done, when, its outcome and \
                    output, and who decided. Later changes of a record are detected.";
        let offer = (icon::BOOKMARK, Command::OpenTour.spec().text);
        let tour = Action::Do(Command::OpenTour);
        (icon::DATABASE, ("Nothing has been run yet", text), offer, tour)
    } else if is_set(view.text, Filter::Outcome, "interrupted") {
        let text = "A run that ended between two steps has no interrupted step.";
        let offer = (icon::SEARCH, "List the runs without an end");
        let runs = Action::Evidence(EvidenceAction::RunQuery(Question::InterruptedRuns));
        (icon::SEARCH, ("No interrupted step", text), offer, runs)
    } else {
        let some = page.rejections > 0;
        let title = if some { "No execution matches" } else { "Nothing matches" };
        let text = "All words and filters must match. Take one away, or look for part of a word. The help lists the \
                    filters.";
        (icon::SEARCH, (title, text), (icon::DATABASE, "List everything"), Action::Evidence(all))
    };
    if widgets::empty_state(ui, icon, texts, offer) {
        actions.push(action);
    }
}

/// If the search is for the records of one loop, a button that shows that loop.
fn loop_ui(ui: &mut Ui, view: &EvidenceView<'_>, actions: &mut Vec<Action>) {
    let Some(loop_id) = parse(view.shown_text(), view.now).query.loop_id else { return };
    let spec = Command::GoLoop.spec();
    let hint = "Show its goal, its attempts and why it ended.";
    if widgets::tooltip_button(ui, Look::Plain, spec.icon, "Show the loop", hint) {
        actions.push(Action::Do(Command::GoLoop));
        actions.push(Action::Loop(LoopAction::Show(loop_id)));
    }
}

/// Below this height for the timeline and the results, in points, there is no timeline.
const MIN_BELOW_SEARCH: f32 = 220.0;

/// The room that the search field keeps for its text beside the number of results, in points.
const MIN_SEARCH_TEXT: f32 = 160.0;

fn search_field_ui(ui: &mut Ui, view: &EvidenceView<'_>, actions: &mut Vec<Action>) {
    let theme = Theme::of(ui);
    let shown = view.shown_text();
    let mut text = shown.to_owned();
    // The count is that of the search results, which an answer replaces.
    let is_answered = view.question.is_none() && view.problems.is_empty();
    let count = view.page.filter(|_| is_answered).map(|page| {
        let ms = page.took_us.div_ceil(1_000);
        let (total, of) = (format::count(page.counts.total), format::count(page.of));
        let more = if page.counts.is_partial { "more than " } else { "" };
        match view.of_team() {
            Some(_) if page.counts.total == 1 => format!("1 execution in {ms} ms"),
            Some(_) => format!("{more}{total} executions in {ms} ms"),
            None => format!("{more}{total} of {of} executions in {ms} ms"),
        }
    });
    // The old count would look like the answer.
    let count = if view.is_searching { Some("searching…".to_owned()) } else { count };
    let count = count.unwrap_or_default();
    let can_clear = !shown.is_empty();
    // The two buttons have their room even while only one is shown, so that the field keeps its width.
    let width = ui.available_width() - if can_clear { 72.0 } else { 0.0 };
    // The text has no room beside the count in a narrow field, and would be covered by it.
    let of_text = Text::Body.width_of(ui, shown).max(MIN_SEARCH_TEXT);
    let is_beside = of_text + Text::Meta.width_of(ui, &count) + 80.0 <= width;
    let suffix = if is_beside { count.as_str() } else { "" };
    let suffix = widgets::rich(suffix, Text::Meta, theme.dim);
    let edit = TextEdit::singleline(&mut text)
        .id(egui::Id::unique("evidence search"))
        .prefix(icon::SEARCH.text(16.0).color(theme.dim))
        .suffix(suffix)
        .hint_text("Words, or filters such as outcome:failed tool:file_write after:7d")
        .margin(Margin::symmetric(12, 9))
        .align(egui::Align2::LEFT_CENTER)
        .min_size(vec2(0.0, 38.0));
    // A field of one line has no use for this key, which leads to the results.
    let id = egui::Id::unique("evidence search");
    let goes_down = ui.memory(|memory| memory.has_focus(id))
        && ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::ArrowDown));
    if goes_down && view.page.is_some_and(|page| !page.hits.is_empty()) {
        narrow::hand_over(ui.ctx(), PANE);
        ui.memory_mut(|memory| memory.surrender_focus(id));
        actions.push(Action::Do(Command::NextStep));
    }
    let row = ui.horizontal(|ui| {
        let response = ui.add(edit.desired_width(width)).accessible_name("Search evidence");
        if can_clear && widgets::icon_button(ui, icon::CLOSE, "Clear the search").clicked() {
            actions.push(Action::Evidence(EvidenceAction::Search(String::new())));
        }
        if !is_offered(shown) {
            let is_saved = view.saved.iter().any(|saved| saved == shown.trim());
            let name = if is_saved { "Remove this search" } else { "Save this search" };
            if widgets::icon_button(ui, icon::BOOKMARK, name).clicked() {
                actions.push(Action::Do(Command::SaveSearch));
            }
        }
        response
    });
    if !is_beside && !count.is_empty() {
        widgets::line(ui, count, Text::Meta, Tone::Dim);
    }
    let response = row.inner;
    if view.focus_search {
        response.request_focus();
        // What is typed next replaces the last search.
        let mut state = TextEditState::load(ui.ctx(), response.id).unwrap_or_default();
        let all = CCursorRange::two(CCursor::new(0), CCursor::new(shown.chars().count()));
        state.cursor.set_char_range(Some(all));
        state.store(ui.ctx(), response.id);
    }
    if response.changed() {
        actions.push(Action::Evidence(EvidenceAction::Edit(text.clone())));
    }
    if response.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter)) {
        actions.push(Action::Evidence(EvidenceAction::Search(text)));
    }
}
