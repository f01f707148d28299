//! The side panel of the evidence page: the verification, filter values of the results, queries, and saved searches.

use egui::{Response, ScrollArea, Sense, Ui, pos2, vec2};

use super::{EvidenceView, Filter, is_set, parse, toggle};
use crate::plan::{drawable, visible_name};
use crate::run::{Question, TargetKind};
use crate::ui::action::WindowAction;
use crate::ui::{
    Action, Command, Commands, EvidenceAction, Look, Text, Theme, Tone, controls, format, rows,
    widgets,
};

/// The searches that are always offered: a name and the text for the search field.
const OFFERED: [(&str, &str); 6] = [
    ("Everything", ""),
    ("Failures", "outcome:failed"),
    ("Denied", "outcome:denied"),
    ("Interrupted steps", "outcome:interrupted"),
    ("Files written", "wrote:*"),
    ("Dangerous steps", "risk:dangerous"),
];

/// The maximum number of values that are listed of each facet: the most frequent ones.
const MAX_VALUES: usize = 20;
/// The maximum length of a path in the panel, in characters.
const MAX_PATH: usize = 24;

pub(super) fn facets_ui(ui: &mut Ui, view: &EvidenceView<'_>, commands: &mut Commands<'_>) {
    commands.button(ui, Command::Verify, Look::Plain, None);
    ui.add_space(4.0);
    commands.button(ui, Command::Export, Look::Plain, None);
    let actions = &mut *commands.actions;
    ui.add_space(8.0);
    ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        widgets::list_heading(ui, "Saved searches");
        for (name, text) in OFFERED {
            if facet_item(ui, name, "", view.question.is_none() && view.text == text) {
                actions.push(Action::Evidence(EvidenceAction::Search(text.to_owned())));
            }
        }
        for text in view.saved {
            saved_ui(ui, text, view.question.is_none() && view.text.trim() == text, actions);
        }
        ui.add_space(14.0);
        widgets::list_heading(ui, "When");
        for (name, value) in [("Today", "today"), ("Last 7 days", "7d"), ("Last 30 days", "30d")] {
            let text = toggle(view.shown_text(), Filter::After, value);
            if facet_item(ui, name, "", is_set(view.shown_text(), Filter::After, value)) {
                actions.push(Action::Evidence(EvidenceAction::Search(text)));
            }
        }
        ui.add_space(14.0);
        widgets::list_heading(ui, "Queries");
        if view.of_team().is_some() {
            let text = "They read the evidence of this computer.";
            widgets::paragraph(ui, text, Text::Small, Tone::Dim);
        }
        for question in questions(view).into_iter().filter(|_| view.of_team().is_none()) {
            let selected = view.question == Some(&question);
            if facet_item(ui, &question.title(), "", selected) {
                actions.push(Action::Evidence(EvidenceAction::RunQuery(question)));
            }
        }
        ui.add_space(14.0);
        if let Some(page) = view.page.filter(|_| view.question.is_none()) {
            for (title, filter, values) in [
                ("Outcome", Filter::Outcome, &page.counts.facets.outcome),
                ("Tool", Filter::Tool, &page.counts.facets.tool),
                ("Risk", Filter::Risk, &page.counts.facets.risk),
                ("Host", Filter::Host, &page.counts.facets.host),
                ("Plan", Filter::Plan, &page.counts.facets.plan),
                ("Decided by", Filter::By, &page.counts.facets.by),
                ("File", Filter::Path, &page.counts.facets.path),
                ("Code", Filter::Code, &page.counts.facets.code),
            ] {
                // One plan or person is all there is.
                let is_all = matches!(filter, Filter::Plan | Filter::By) && values.len() == 1;
                if values.is_empty() || is_all {
                    continue;
                }
                widgets::list_heading(ui, title);
                for (value, number) in values.iter().take(MAX_VALUES) {
                    let text = toggle(view.text, filter, value);
                    let is_set = is_set(view.text, filter, value);
                    let more = if page.counts.is_partial { "+" } else { "" };
                    let number = format!("{}{more}", format::count(*number));
                    let name = match filter {
                        Filter::Outcome => value.replace('_', " "),
                        Filter::Path => visible_name(value).into_owned(),
                        _ => value.clone(),
                    };
                    let shown = match filter {
                        Filter::Path => format::short_path(&name, MAX_PATH),
                        _ => name.clone(),
                    };
                    if item_response(ui, (&name, &shown), &number, is_set).clicked() {
                        actions.push(Action::Evidence(EvidenceAction::Search(text)));
                    }
                }
                ui.add_space(14.0);
            }
        }
    });
}

/// The queries that are always offered, those that apply to the filters of the search, and the open one.
fn questions(view: &EvidenceView<'_>) -> Vec<Question> {
    let parsed = parse(view.text, view.now).query;
    let mut questions = vec![
        Question::Recurring,
        Question::Rejected { words: String::new() },
        Question::InterruptedRuns,
        Question::JudgedAgain,
    ];
    if let Some(code) = parsed.code {
        questions.push(Question::WithCode(code.clone()));
        questions.push(Question::ChangesAfter { code, file: parsed.path.clone() });
    }
    if let Some(target) = parsed.path {
        questions.push(Question::Latest(target.clone()));
        questions.push(Question::Touched { kind: TargetKind::File, target });
    }
    if let Some(open) = view.question.filter(|open| !questions.contains(open)) {
        questions.push(open.clone());
    }
    questions
}

/// Whether the list always offers a search for this text.
pub fn is_offered(text: &str) -> bool {
    OFFERED.iter().any(|(_, offered)| *offered == text.trim())
}

/// A search that the person saved.
fn saved_ui(ui: &mut Ui, text: &str, selected: bool, actions: &mut Vec<Action>) {
    let response = item_response(ui, (text, text), "", selected);
    if response.clicked() {
        actions.push(Action::Evidence(EvidenceAction::Search(text.to_owned())));
    }
    controls::row_menu(ui, &response, |ui| {
        if controls::menu_item(ui, "Remove from the list") {
            actions.push(Action::Window(WindowAction::ToggleSearch(text.to_owned())));
        }
    });
}

/// An item in a list of filters, with its count. Returns whether it was clicked.
pub(crate) fn facet_item(ui: &mut Ui, name: &str, count: &str, selected: bool) -> bool {
    item_response(ui, (name, name), count, selected).clicked()
}

/// An item with this name, of which a part may be shown.
fn item_response(
    ui: &mut Ui,
    (name, shown): (&str, &str),
    count: &str,
    selected: bool,
) -> Response {
    let theme = Theme::of(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), 24.0), Sense::click());
    rows::item_background(ui, &response, selected);
    let middle = rect.center().y;
    // The scroll bar lies on the right edge.
    let right = pos2(rect.right() - 12.0, middle);
    let count_width = widgets::paint_right(ui, right, (count, Text::SmallMono, theme.dim));
    let width = (rect.width() - count_width - 24.0).max(0.0);
    let parts = [(shown, Text::Body, theme.text)];
    let (_, truncated) = widgets::paint_parts(ui, pos2(rect.left() + 6.0, middle), width, &parts);
    controls::selectable(ui, &response, selected, || {
        format!("{} {count}", drawable(name)).trim().to_owned()
    });
    if truncated || shown != name {
        rows::row_tooltip(&response, true, drawable(name));
    }
    response
}
