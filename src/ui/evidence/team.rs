//! The evidence of a team: where the person chooses it, what its server answers, and what it does not have.

use egui::Ui;

use super::EvidenceView;
use crate::plan::drawable;
use crate::ui::tabs::tabs_ui;
use crate::ui::{Action, EvidenceAction, Text, Theme, Tone, icon, widgets};

/// The team of the settings, and where its hits come from.
#[derive(Debug, Clone, Copy)]
pub struct TeamView<'a> {
    /// The address of the server, without a password.
    pub server: &'a str,
    /// Whether the page shows the evidence of the team.
    pub is_shown: bool,
    /// Where each hit of the page comes from, by its index.
    pub origins: &'a [String],
    /// The index of the open hit.
    pub open: Option<usize>,
    /// Where the open record comes from.
    pub origin: Option<&'a str>,
}

/// Why something cannot be done with a record of the team.
pub(super) const ELSEWHERE: &str =
    "It is on the computer that ran it. For what ran here, choose This computer.";

/// The two sources, if there is a choice, and the server of the team.
pub(super) fn source_ui(ui: &mut Ui, view: &EvidenceView<'_>, actions: &mut Vec<Action>) {
    let Some(team) = &view.team else { return };
    ui.horizontal(|ui| {
        let sources = [(false, "This computer"), (true, "Team")];
        if let Some(of_team) = tabs_ui(ui, &sources, team.is_shown) {
            actions.push(Action::Evidence(EvidenceAction::ShowTeam(of_team)));
        }
        if team.is_shown {
            ui.add_space(8.0);
            widgets::line(ui, drawable(team.server), Text::Small, Tone::Dim);
        }
    });
}

/// Shows why there are no hits of the team. Returns whether there are none.
pub(super) fn state_ui(
    ui: &mut Ui,
    team: &TeamView<'_>,
    view: &EvidenceView<'_>,
    actions: &mut Vec<Action>,
) -> bool {
    let again = ((icon::AGAIN, "Try again"), EvidenceAction::TryAgain);
    let (icon, texts, (offer, action)) = match (view.failure, view.page) {
        (Some(why), _) => (icon::WARNING, ("The team's evidence cannot be read", why), again),
        (None, None) => {
            widgets::line_below(ui);
            let title = "Connecting to the team's server";
            widgets::reading_state(ui, icon::DATABASE, title, team.server);
            return true;
        }
        // A page of records that cannot be read has no hits, but others may follow.
        (None, Some(page)) if !page.hits.is_empty() || page.next.is_some() => return false,
        (None, Some(_)) if view.text.trim().is_empty() => {
            let text = "Each computer of the team copies its evidence there with: countersign evidence push";
            (icon::DATABASE, ("Nothing was pushed yet", text), again)
        }
        (None, Some(_)) => {
            let text = "All words and filters must match, in what was pushed. Take one away, or look for part of a word. The \
                        help lists the filters.";
            let all = EvidenceAction::Search(String::new());
            (icon::SEARCH, ("Nothing matches", text), ((icon::DATABASE, "List everything"), all))
        }
    };
    widgets::line_below(ui);
    if widgets::empty_state(ui, icon, texts, offer) {
        actions.push(Action::Evidence(action));
    }
    true
}

/// The end of the name of an origin that a person can compare, with a mark for where it is cut.
pub(super) fn short_origin(origin: &str) -> String {
    let id = origin.rsplit('/').next().unwrap_or(origin);
    id.chars().take(8).collect()
}

/// Where an open record comes from, and what the server does not have of it.
pub(super) fn origin_ui(ui: &mut Ui, team: &TeamView<'_>) {
    let theme = Theme::of(ui);
    let Some(origin) = team.origin else { return };
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        ui.label(widgets::rich("From the evidence", Text::Small, theme.dim));
        widgets::copyable(ui, &drawable(&short_origin(origin)), origin, "the name of the evidence");
        let text = "of the team. Plans, contents of files, signatures and output that is not text stay on the computer that \
                    ran it.";
        ui.label(widgets::rich(text, Text::Small, theme.dim));
    });
}
