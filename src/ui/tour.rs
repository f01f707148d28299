//! The guide of the tour: a strip below the top bar that names the next thing to do.
//!
//! It takes its room from the page, never the focus, and covers nothing. Which station is the next one follows from what
//! the window has observed; no button goes on.

use egui::{Align, Frame, Id, Layout, Margin, Panel, Stroke, Ui, vec2};

use super::action::WindowAction;
use super::widgets::panel_frame;
use super::{Action, Command, Look, Text, Theme, Tone, icon, narrow, widgets};

/// A station of the tour: something that the person does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "each station is described by its texts")]
pub enum Station {
    LookAt,
    Authorize,
    Run,
    Approve,
    Deny,
    OpenSecond,
    RunSecond,
    Reconcile,
    Search,
    Record,
    Verify,
    Revert,
    RunRevert,
}

/// What the guide shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TourView {
    /// The next station; `None` at the end of the tour.
    pub next: Option<Station>,
    /// Whether the person has denied a step, as the tour asks.
    pub denied: bool,
}

impl Station {
    /// Every station, in the order of the tour.
    pub const ALL: [Self; 13] = [
        Self::LookAt,
        Self::Authorize,
        Self::Run,
        Self::Approve,
        Self::Deny,
        Self::OpenSecond,
        Self::RunSecond,
        Self::Reconcile,
        Self::Search,
        Self::Record,
        Self::Verify,
        Self::Revert,
        Self::RunRevert,
    ];

    /// What to do, and the command whose key the guide names.
    pub const fn instruction(self) -> (&'static str, Option<Command>) {
        match self {
            Self::LookAt => ("Look at the steps: Next unseen", Some(Command::NextUnseen)),
            Self::Authorize => ("Authorize the plan", Some(Command::Authorize)),
            Self::Run => ("Run the plan", Some(Command::Run)),
            Self::Approve => ("Approve step 4 when it asks", Some(Command::AnswerStep)),
            Self::Deny => ("Deny step 6 when it asks", Some(Command::AnswerStep)),
            Self::OpenSecond => ("Open the second plan of the tour", None),
            Self::RunSecond => ("Authorize and run the second plan", Some(Command::Authorize)),
            Self::Reconcile => ("Reconcile what was cut off", Some(Command::Reconcile)),
            Self::Search => ("Search the evidence for “lantern”", Some(Command::FocusSearch)),
            Self::Record => ("Open one of the results", Some(Command::NextStep)),
            Self::Verify => ("Verify the evidence", Some(Command::Verify)),
            Self::Revert => ("Take the first run back: Revert…", Some(Command::Revert)),
            Self::RunRevert => ("Authorize and run the revert", Some(Command::Authorize)),
        }
    }

    /// What happens there, and why.
    const fn explanation(self, denied: bool) -> &'static str {
        match self {
            Self::LookAt => {
                "Nothing runs yet. Each step shows what it would do to which file; those that ask must be seen to their ends."
            }
            Self::Authorize => {
                "You sign exactly these bytes, this folder and the present content of the files. If one of them changes, \
                 the authorization is void."
            }
            Self::Run => {
                "The steps run in order, one at a time. Two of them stop and ask you first."
            }
            Self::Approve => {
                "Its dialog shows the whole change. Closing the dialog decides nothing: the step waits."
            }
            Self::Deny => {
                "A denial ends the run: the step does nothing, and no later one runs. What was done before stays, and your \
                 reason is recorded."
            }
            Self::OpenSecond if denied => {
                "You denied a step: the run has failed there, the steps before it stay done, those after it were not reached. \
                 Continue from here… would make a plan of the rest. Next comes a run that is cut off."
            }
            Self::OpenSecond => {
                "The first run is over without a denial, which would have ended it as failed before the denied step. Next \
                 comes a run that is cut off."
            }
            Self::RunSecond => {
                "The tour cuts this run off in the middle of step 2, as a power cut would: the step has begun, and its result \
                 is never recorded."
            }
            Self::Reconcile => {
                "The records alone do not say whether step 2 has changed its file. Reconcile compares the file with what \
                 the step was to write; it runs nothing."
            }
            Self::Search => {
                "Where step 2 has changed its file, Roll back the files… makes a plan that restores it. All of this is in the \
                 evidence: find it by its words."
            }
            Self::Record => {
                "A record has what ran, what it changed, what came out, and who decided it, when and why."
            }
            Self::Verify => {
                "All records are in one chain of hashes. Verifying recomputes it and names the first record that was changed."
            }
            Self::Revert => {
                "A revert is a plan like any other. It restores what the run has changed, and refuses where somebody has \
                 changed a file since."
            }
            Self::RunRevert => {
                "It is shown, signed, run and recorded like any other plan, and could be taken back itself."
            }
        }
    }

    /// The button of the guide, where nothing else in the window leads on.
    const fn button(self) -> Option<(&'static str, WindowAction)> {
        match self {
            Self::OpenSecond => Some(("Open the second plan", WindowAction::OpenSecondPlan)),
            Self::Revert => Some(("Show the first run", WindowAction::ShowFirstRun)),
            _ => None,
        }
    }
}

/// What the guide says at the end.
const END: &str =
    "You have signed, run, searched and verified. The help explains every key, code and word.";

/// The name of the button that hides the guide.
const HIDE: &str = "Hide the guide of the tour";

/// Draws the guide.
pub(super) fn tour_ui(ui: &mut Ui, view: TourView, actions: &mut Vec<Action>) {
    let theme = Theme::of(ui);
    let height_id = Id::unique("height of the guide");
    let height = ui.data(|data| data.get_temp(height_id)).unwrap_or(0.0_f32);
    // The lowest windows have room for the instruction alone.
    let is_low = ui.ctx().content_rect().height() < narrow::LOW + 60.0;
    let frame = panel_frame(theme.chip(Tone::Accent, theme.panel), Margin::ZERO);
    let panel = Panel::top("tour").exact_size(height).resizable(false).frame(frame);
    let content = panel.show(ui, |ui| {
        let frame = Frame::NONE.inner_margin(Margin::symmetric(14, 5));
        let response = frame.show(ui, |ui| {
            ui.horizontal_top(|ui| guide_ui(ui, view, is_low, actions));
        });
        let rect = response.response.rect;
        ui.painter().hline(
            ui.max_rect().x_range(),
            rect.bottom() - 0.5,
            Stroke::new(1.0, theme.line),
        );
        rect.height()
    });
    if (content.inner - height).abs() > 0.5 {
        ui.data_mut(|data| data.insert_temp(height_id, content.inner));
        ui.ctx().request_discard("the height of the guide has changed");
    }
}

fn guide_ui(ui: &mut Ui, view: TourView, is_low: bool, actions: &mut Vec<Action>) {
    let theme = Theme::of(ui);
    widgets::icon_ui(ui, vec2(18.0, 24.0), icon::BOOKMARK, 16.0, theme.chip_text(Tone::Accent));
    ui.with_layout(Layout::right_to_left(Align::Min), |ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        if widgets::icon_button(ui, icon::CLOSE, HIDE).clicked() {
            actions.push(Action::Do(Command::TourGuide));
        }
        if let Some((text, action)) = view.next.and_then(Station::button)
            && widgets::button(ui, Look::Plain, None, text, true).clicked()
        {
            actions.push(Action::Window(action));
        }
        ui.add_space(8.0);
        ui.with_layout(Layout::top_down(Align::Min), |ui| {
            ui.spacing_mut().item_spacing.y = 1.0;
            // Centres one line beside the buttons.
            ui.add_space(3.0);
            let explanation = match view.next {
                Some(station) => station.explanation(view.denied),
                None => END,
            };
            widgets::paragraph(ui, title(ui, view.next), Text::Strong, Tone::Plain)
                .on_hover_text(explanation);
            if !is_low {
                widgets::paragraph(ui, explanation, Text::Meta, Tone::Plain);
            }
        });
    });
}

/// The place in the tour, and what to do with which key.
fn title(ui: &Ui, next: Option<Station>) -> String {
    let key = |command: Command| {
        command.spec().shortcut_text(ui).map(|key| format!(" ({key})")).unwrap_or_default()
    };
    let Some(station) = next else {
        return format!("That was the tour. Help{}", key(Command::Help));
    };
    let number = Station::ALL.iter().position(|it| *it == station).map_or(0, |index| index + 1);
    let (text, command) = station.instruction();
    let key = command.map(key).unwrap_or_default();
    format!("Tour, {number} of {}: {text}{key}", Station::ALL.len())
}

#[cfg(test)]
mod tests {
    use egui::Key;
    use egui_kittest::kittest::Queryable as _;

    use super::*;
    use crate::ui::tests::window;

    #[test]
    fn stations_are_in_the_order_of_the_tour() {
        assert!(Station::ALL.is_sorted());
        for station in Station::ALL {
            for denied in [false, true] {
                assert!(station.explanation(denied).ends_with('.'), "{station:?}");
            }
            assert!(!station.instruction().0.ends_with('.'), "{station:?}");
        }
    }

    #[test]
    fn the_guide_names_what_to_do_and_its_key() {
        for size in [[1280.0, 800.0], [900.0, 600.0], [720.0, 480.0], [360.0, 240.0]] {
            let harness = window("tour", size);
            let title = "Tour, 1 of 13: Look at the steps: Next unseen (F4)";
            assert!(harness.query_by_label(title).is_some(), "at {size:?}");
            let explained = harness.query_by_label_contains("Nothing runs yet.").is_some();
            assert_eq!(explained, size[1] > 420.0, "at {size:?}");
        }
        let harness = window("tour-end", [1280.0, 800.0]);
        assert!(harness.query_by_label("That was the tour. Help (F1)").is_some());
    }

    /// The guide takes room from the page, and neither covers anything nor has the focus.
    #[test]
    fn the_guide_moves_the_page_and_takes_no_focus() {
        for size in [[1280.0, 800.0], [900.0, 600.0], [720.0, 480.0]] {
            let (plain, guided) = (window("plan", size), window("tour", size));
            let guide = guided.get_by_label_contains("Tour, 1 of 13").rect();
            for label in ["Arguments", "Authorize…"] {
                let rect = guided.get_by_label(label).rect();
                assert!(rect.top() >= guide.bottom(), "{label} at {size:?}");
            }
            let bar = |it: &egui_kittest::Harness<'_, _>| it.get_by_label("Authorize…").rect();
            assert_eq!(bar(&plain), bar(&guided), "at {size:?}");
            assert!(guide.height() < size[1] * 0.2, "{guide} at {size:?}");
            assert!(guided.query_by(|node| node.is_focused()).is_none(), "at {size:?}");
        }
    }

    #[test]
    fn the_guide_is_used_by_keyboard() {
        for (scene, name, action) in [
            ("tour", HIDE, Action::Do(Command::TourGuide)),
            ("tour-second", "Open the second plan", Action::Window(WindowAction::OpenSecondPlan)),
        ] {
            let mut harness = window(scene, [900.0, 600.0]);
            harness.get_by_label(name).focus();
            harness.run_ok();
            harness.key_press(Key::Enter);
            harness.run_ok();
            assert!(harness.state().actions.contains(&action), "{name}");
        }
    }
}
