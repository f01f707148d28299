//! The diagnostics page: a table of the diagnostics of a check, compared with an earlier check of the run, and the
//! selected diagnostic in full.
//!
//! A [`Listing`], computed outside of drawing, has the shown diagnostics in order. Only the visible rows are drawn.
//!
//! The evidence has the source lines of a diagnostic as the compiler read them. The page compares them with the file
//! before it marks anything, because a mark below a changed line would be wrong.

mod copy;
mod detail;
mod empty;
mod excerpt;
mod filter;
mod listing;
mod side;
mod table;
#[cfg(test)]
mod tests;

use egui::{Margin, TextEdit, Ui, vec2};

use super::action::DiagnosticsAction;
use super::notice::{Notice, notices_ui};
use super::splits::{Side, side_panel_ui, split_panel_ui};
use super::widgets::panel_frame;
use super::{
    Action, Command, Commands, Icon, Look, Text, Theme, Tone, controls, format, icon, narrow,
    theme, widgets,
};
use uuid::Uuid;

use crate::run::{BaselineState, DiagnosticArtifact, Level, MAX_DIAGNOSTICS, RunState};

pub(crate) use copy::written;
pub use copy::{copied, copied_all};
pub use excerpt::{Excerpt, excerpt, excerpt_lines};
pub(crate) use filter::filters_help;
pub use listing::{Check, Column, DiagnosticPosition, Facet, ListOptions, Listing, diagnostic};

/// All data of the page.
#[derive(Debug, Clone)]
pub struct DiagnosticsView<'a> {
    /// The run of the diagnostics.
    pub run: &'a RunState,
    /// Whether a step of the plan can report diagnostics: one that checks the code, or a command.
    pub may_report: bool,
    /// The shown diagnostics.
    pub listing: &'a Listing,
    /// The filter, the order and the selection.
    pub options: &'a ListOptions,
    /// The source of the selected diagnostic; `None` until it is read.
    pub excerpt: Option<&'a Excerpt>,
    /// The last run of the plan, while none is shown.
    pub last_run: Option<Uuid>,
    /// Whether to focus the filter field now.
    pub focus_filter: bool,
    /// Whether to scroll the list to the selected diagnostic now.
    pub scroll_to_selected: bool,
}

impl ListOptions {
    /// Applies an action; `listing` is the list that the person sees. Returns whether to scroll to the selected
    /// diagnostic.
    pub fn apply(&mut self, action: DiagnosticsAction, run: &RunState, listing: &Listing) -> bool {
        match action {
            DiagnosticsAction::Show(step) => {
                self.step = step;
                self.selected = None;
            }
            DiagnosticsAction::Filter(text) => self.filter = text,
            DiagnosticsAction::Toggle(facet) => self.toggle(facet),
            DiagnosticsAction::SortBy(column) => {
                // The selected row stays selected, at its new position.
                self.selected = listing.selected_entry().map(|entry| entry.position);
                self.sort_by(column);
                return true;
            }
            DiagnosticsAction::Select(position) => self.selected = Some(position),
            DiagnosticsAction::Pick(index) => {
                let Some(entry) = listing.selected_entry() else { return false };
                let mut picked = self.picked_of(run, entry.position);
                match picked.iter().position(|picked| *picked == index) {
                    Some(at) => drop(picked.remove(at)),
                    None => picked.push(index),
                }
                picked.sort_unstable();
                self.picked = Some((entry.position, picked));
            }
        }
        false
    }

    /// The picked suggestions of a diagnostic, by their index.
    pub fn picked_of(&self, run: &RunState, position: DiagnosticPosition) -> Vec<usize> {
        match &self.picked {
            Some((of, picked)) if *of == position => picked.clone(),
            _ => {
                diagnostic(run, position).map(DiagnosticArtifact::default_fixes).unwrap_or_default()
            }
        }
    }
}

/// The icon, word and colour of a severity.
pub(crate) fn level_look(level: Level) -> (Icon, &'static str, Tone) {
    match level {
        Level::Error => (icon::FAILED, "error", Tone::Danger),
        Level::Warning => (icon::WARNING, "warning", Tone::Caution),
        Level::Info => (icon::INFO, "note", Tone::Accent),
    }
}

/// The icon, word and colour of a comparison result. New is not a bad result by itself; the severity shows how bad
/// the diagnostic is.
fn baseline_look(state: BaselineState) -> (Icon, &'static str, Tone) {
    match state {
        BaselineState::New => (icon::FILE_PLUS, "new", Tone::Accent),
        BaselineState::Unchanged => (icon::CLOCK, "unchanged", Tone::Dim),
        BaselineState::Gone => (icon::CHECK, "gone", Tone::Safe),
    }
}

/// A page with less height than this, in points, has no room for a diagnostic below the table.
const MIN_TWO_PANES: f32 = 320.0;
/// The pane with the selected diagnostic, in a small window.
const DETAIL_PANE: &str = "diagnostic";

/// Draws the page; `view` is `None` when no plan is open.
pub fn diagnostics_page_ui(
    ui: &mut Ui,
    view: Option<&DiagnosticsView<'_>>,
    notices: &[&Notice],
    commands: &mut Commands<'_>,
) {
    let empty = empty::empty(view);
    let Some(view) = view.filter(|view| view.listing.step.is_some()) else {
        notices_ui(ui, notices, commands.actions);
        widgets::main_panel_ui(ui, |ui| {
            if let Some(empty) = &empty {
                empty::empty_ui(ui, empty, commands);
            }
        });
        return;
    };
    side_panel_ui(ui, "checks", |ui| side::side_ui(ui, view, commands.actions));
    let is_one_pane =
        ui.available_width() < narrow::ONE_PANE || ui.available_height() < MIN_TWO_PANES;
    let is_selected = view.listing.selected_entry().is_some();
    if view.focus_filter {
        narrow::set_open(ui.ctx(), DETAIL_PANE, false);
    }
    if is_selected && is_one_pane && narrow::is_open(ui.ctx(), DETAIL_PANE) {
        notices_ui(ui, notices, commands.actions);
        widgets::main_panel_ui(ui, |ui| {
            widgets::margins(4, 0).show(ui, |ui| {
                ui.horizontal(|ui| {
                    let back = widgets::icon_button(ui, icon::LEFT, "Show all diagnostics");
                    if narrow::takes_over(ui.ctx(), DETAIL_PANE) {
                        back.request_focus();
                    }
                    if back.clicked() {
                        narrow::set_open(ui.ctx(), DETAIL_PANE, false);
                    }
                    widgets::heading(ui, "All diagnostics");
                });
            });
            detail::detail_ui(ui, view, commands);
        });
        return;
    }
    if is_selected && !is_one_pane {
        let height = ui.available_height();
        let range = 140.0..=(height - 180.0).max(140.0);
        let frame = panel_frame(Theme::of(ui).background, Margin::ZERO);
        split_panel_ui(
            ui,
            Side::Bottom,
            ("diagnostic", "Details"),
            height * 0.5,
            range,
            frame,
            |ui| {
                detail::detail_ui(ui, view, commands);
            },
        );
    }
    notices_ui(ui, notices, commands.actions);
    widgets::main_panel_ui(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        widgets::margins(12, 8).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 8.0;
            filter_ui(ui, view, commands);
            facets_ui(ui, view, commands.actions);
            if let Some(caution) = &view.listing.caution {
                widgets::remark(ui, icon::INFO, Tone::Caution, caution);
            }
            let counts = &view.listing.counts;
            if counts.errors + counts.warnings + counts.notes >= MAX_DIAGNOSTICS {
                let most = format::count(MAX_DIAGNOSTICS as u64);
                let text =
                    format!("Only the first {most} of a check are kept. Its result has the total.");
                widgets::remark(ui, icon::INFO, Tone::Caution, text);
            }
        });
        widgets::line_below(ui);
        if let Some(empty) = &empty {
            empty::empty_ui(ui, empty, commands);
        } else if view.listing.shown.is_empty() {
            let text = "All words and filters must match, and some diagnostics may be hidden.";
            let offer = (icon::DIAGNOSTICS, "Show all of them");
            if widgets::empty_state(ui, icon::SEARCH, ("Nothing matches", text), offer) {
                let all = DiagnosticsAction::Filter(String::new());
                let hidden = view.options.hidden.iter().cloned().map(DiagnosticsAction::Toggle);
                let actions = std::iter::once(all).chain(hidden).map(Action::Diagnostics);
                commands.actions.extend(actions);
            }
        } else {
            let before = commands.actions.len();
            table::table_ui(ui, view, commands.actions);
            let is_pick = |action: &Action| {
                matches!(action, Action::Diagnostics(DiagnosticsAction::Select(_)))
            };
            if is_one_pane && commands.actions.iter().skip(before).any(is_pick) {
                narrow::set_open(ui.ctx(), DETAIL_PANE, true);
                narrow::hand_over(ui.ctx(), DETAIL_PANE);
            }
        }
    });
}

fn filter_ui(ui: &mut Ui, view: &DiagnosticsView<'_>, commands: &mut Commands<'_>) {
    let theme = Theme::of(ui);
    let mut text = view.options.filter.clone();
    let (shown, total) = (view.listing.shown.len(), view.listing.total);
    let count = format!("{} of {}", format::count(shown as u64), format::count(total as u64));
    let copy = "Copy all shown";
    ui.horizontal(|ui| {
        let width = ui.available_width() - controls::button_width(ui, copy, true) - 8.0;
        let edit = TextEdit::singleline(&mut text)
            .id(egui::Id::unique("diagnostics filter"))
            .prefix(icon::SEARCH.text(16.0).color(theme.dim))
            .suffix(widgets::rich(count, Text::Meta, theme.dim))
            .hint_text("Words, code:E0308, file:src/lib.rs")
            .margin(Margin::symmetric(10, 6))
            .align(egui::Align2::LEFT_CENTER)
            .desired_width(width.max(120.0))
            .min_size(vec2(0.0, theme::BUTTON));
        let response = ui.add(edit).accessible_name("Filter diagnostics");
        if view.focus_filter {
            response.request_focus();
        }
        if response.changed() {
            commands.actions.push(Action::Diagnostics(DiagnosticsAction::Filter(text)));
        }
        commands.button(ui, Command::CopyDiagnostics, Look::Plain, Some(copy));
    });
}

/// The groups that can be hidden, with their counts.
fn facets_ui(ui: &mut Ui, view: &DiagnosticsView<'_>, actions: &mut Vec<Action>) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(6.0, 6.0);
        for level in [Level::Error, Level::Warning, Level::Info] {
            facet_ui(ui, view, Facet::Level(level), actions);
        }
        if view.listing.base.is_none() {
            return;
        }
        ui.add_space(10.0);
        for state in [BaselineState::New, BaselineState::Unchanged, BaselineState::Gone] {
            facet_ui(ui, view, Facet::BaselineState(state), actions);
        }
    });
}

fn facet_ui(ui: &mut Ui, view: &DiagnosticsView<'_>, facet: Facet, actions: &mut Vec<Action>) {
    let count = view.listing.counts.of(facet);
    let ((icon, word, tone), is_noun) = match facet {
        Facet::Level(level) => (level_look(level), true),
        Facet::BaselineState(state) => (baseline_look(state), false),
    };
    let text = if is_noun {
        format::counted(count, word)
    } else {
        format!("{} {word}", format::count(count as u64))
    };
    // Empty groups stay visible but dimmed, so that nothing moves.
    let tone = if count == 0 { Tone::Dim } else { tone };
    let shown = !view.options.hidden.contains(&facet);
    let tip = if shown { "Click to hide these." } else { "Click to show these." };
    if controls::toggle(ui, icon, &text, tone, shown).on_hover_text(tip).clicked() {
        actions.push(Action::Diagnostics(DiagnosticsAction::Toggle(facet)));
    }
}
