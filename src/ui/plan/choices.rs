//! The row of choices in the header of the plan page: where and how the plan runs. Each opens a small menu.

#[cfg(test)]
mod tests;

use egui::containers::menu::{MenuButton, MenuConfig};
use egui::{Align, Button, Frame, Label, Layout, PopupCloseBehavior, Role, Ui, WidgetInfo, vec2};

use super::PlanView;
use crate::authorization::{HostChoice, PlanChoices, WallSetting};
use crate::plan::{Destination, Digest, Mode, drawable, visible_name};
use crate::run::Review;
use crate::ui::access::Reason as _;
use crate::ui::action::{PlanChoice, PlanFolder};
use crate::ui::widgets::{focus_ring, rich};
use crate::ui::{Action, Look, PlanAction, Text, Theme, Tone, icon, theme, widgets};

/// The choices of a person for the plan on the page.
#[derive(Debug, Clone, Copy)]
pub struct ChoicesView<'a> {
    /// What was chosen.
    pub chosen: &'a PlanChoices,
    /// Whether the workspace was chosen; else it is the default one.
    pub chose_workspace: bool,
    /// The walls of the settings.
    pub default_walls: WallSetting,
}

/// The value of each choice, in the order of the row.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(test, derive(serde::Serialize))]
pub(super) struct Chosen {
    pub(super) workspace: String,
    /// Only a command plan has a host and a mode.
    pub(super) host_and_mode: Option<(String, &'static str)>,
    pub(super) asks: &'static str,
    /// Only a plan that starts a process here has walls.
    pub(super) walls: Option<String>,
}

/// The present values; `None` if there is nothing to choose.
pub(super) fn chosen(view: &PlanView<'_>) -> Option<Chosen> {
    let (plan, review, choices) = (view.plan?, view.review?, view.choices?);
    let folder = review.workspace.file_name();
    let folder = folder.map_or_else(
        || review.workspace.display().to_string(),
        |name| name.to_string_lossy().into_owned(),
    );
    let host_and_mode = PlanChoices::has_host_and_mode(plan).then(|| {
        let host = plan.target.as_deref().map(visible_name);
        let host = host.map_or("this computer".to_owned(), std::borrow::Cow::into_owned);
        (host, plan.mode.as_str())
    });
    let asks = if choices.chosen.run.ask_every_step { "at every step" } else { "when needed" };
    Some(Chosen {
        workspace: visible_name(&folder).into_owned(),
        host_and_mode,
        asks,
        walls: walls_value(review, choices.chosen),
    })
}

fn walls_value(review: &Review, chosen: &PlanChoices) -> Option<String> {
    let walls = review.walls.as_ref().filter(|walls| walls.concerns_any())?;
    let (network, paths) = (chosen.grants.network, chosen.grants.write.len());
    let mut text = walls.setting.as_str().to_owned();
    if network {
        text.push_str(", network");
    }
    match paths {
        0 => {}
        1 => text.push_str(", 1 path"),
        _ => text.push_str(&format!(", {paths} paths")),
    }
    Some(text)
}

/// Shows the choices as parts of a row. While a run is under way or the simulation is shown, they are facts, because
/// nothing can be chosen then; the row stays, so that the list below it does not move.
pub(super) fn choices_ui(ui: &mut Ui, view: &PlanView<'_>, actions: &mut Vec<Action>) {
    let (Some(values), Some(review), Some(choices)) = (chosen(view), view.review, view.choices)
    else {
        return;
    };
    let mut choose = |choice| actions.push(Action::Plan(PlanAction::Choose(choice)));
    let run = choices.chosen.run;
    ui.spacing_mut().item_spacing = vec2(12.0, 0.0);
    ui.spacing_mut().button_padding = vec2(0.0, 2.0);
    ui.spacing_mut().interact_size.y = 20.0;
    let is_fact = view.run.is_active() || view.simulation.is_some();
    let choice = |ui: &mut Ui, texts: (&str, &str), is_chosen, menu: &mut dyn FnMut(&mut Ui)| {
        if is_fact {
            fact_ui(ui, texts);
        } else {
            choice_ui(ui, texts, is_chosen, menu);
        }
    };
    let is_chosen = choices.chose_workspace;
    choice(ui, ("In", &values.workspace), is_chosen, &mut |ui| {
        workspace_menu(ui, review, choices.chose_workspace, &mut choose);
    });
    if let Some((host, mode)) = &values.host_and_mode {
        let is_chosen = choices.chosen.host != HostChoice::OfPlan;
        choice(ui, ("on", host), is_chosen, &mut |ui| {
            host_menu(ui, view.digest, &choices.chosen.host, &mut choose);
        });
        let is_chosen = choices.chosen.mode.is_some();
        choice(ui, ("runs", mode), is_chosen, &mut |ui| {
            mode_menu(ui, choices.chosen.mode, &mut choose);
        });
    }
    choice(ui, ("asks", values.asks), run.ask_every_step, &mut |ui| {
        title(ui, "Asks before a step runs");
        let rows = [
            (false, "When needed", "If the plan, your settings or the risk ask for it."),
            (true, "At every step", "In addition to that. No step runs before you answer."),
        ];
        for (value, name, text) in rows {
            if item(ui, run.ask_every_step == value, name, text) {
                choose(PlanChoice::AskEveryStep(value));
            }
        }
    });
    if let Some(walls) = &values.walls {
        let grants = &choices.chosen.grants;
        let is_chosen = run.walls.is_some() || grants.network || !grants.write.is_empty();
        choice(ui, ("walls", walls), is_chosen, &mut |ui| {
            walls_menu(ui, &choices, &mut choose);
        });
    }
}

/// A choice as a fact: the same text without the arrow of a menu, so that nothing moves when a run begins.
fn fact_ui(ui: &mut Ui, (name, value): (&str, &str)) {
    let theme = Theme::of(ui);
    let text = widgets::styled_text(&[
        (name, Text::Meta, theme.dim),
        (" ", Text::Meta, theme.dim),
        (&widgets::beginning(value), Text::Meta, theme.text),
    ]);
    ui.add(Label::new(text).truncate());
}

/// A text that shows a choice and opens its menu. What the person has chosen stands out.
fn choice_ui(
    ui: &mut Ui,
    (name, value): (&str, &str),
    is_chosen: bool,
    menu: impl FnOnce(&mut Ui),
) {
    let theme = Theme::of(ui);
    let color = if is_chosen { theme.accent } else { theme.text };
    let value = widgets::beginning(value);
    let button = Button::new((
        rich(name, Text::Meta, theme.dim),
        rich(&*value, Text::Meta, color),
        icon::DOWN.text(11.0).color(theme.dim),
    ))
    .gap(4.0)
    .frame(false)
    .truncate();
    // A text field in a menu must not close it.
    let config = MenuConfig::new().close_behavior(PopupCloseBehavior::CloseOnClickOutside);
    let (response, _) = MenuButton::from_button(button).config(config).ui(ui, |ui| {
        ui.reset_style();
        ui.spacing_mut().item_spacing.y = 4.0;
        // The layout of a menu would stretch its buttons.
        let left = Layout::top_down(Align::Min);
        Frame::NONE.inner_margin(6.0).show(ui, |ui| {
            ui.with_layout(left, |ui| {
                ui.set_width(MENU);
                menu(ui);
            });
        });
    });
    response
        .widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("{name} {value}, choose")));
    focus_ring(ui, &response);
}

/// The width of a menu, in points.
const MENU: f32 = 340.0;

fn title(ui: &mut Ui, text: &str) {
    widgets::heading(ui, text);
}

/// One of several values, with a sentence about it. Returns whether it was chosen; choosing it closes the menu.
fn item(ui: &mut Ui, selected: bool, name: &str, text: &str) -> bool {
    let theme = Theme::of(ui);
    let mark = if selected { icon::DONE } else { icon::WAITING };
    let tone = if selected { theme.accent } else { theme.dim };
    let button = Button::new((mark.text(15.0).color(tone), rich(name, Text::Body, theme.text)))
        .min_size(vec2(MENU, theme::BUTTON))
        .gap(6.0)
        .frame_when_inactive(false);
    let enabled = ui.is_enabled();
    let response = ui.add(button);
    response.widget_info(|| WidgetInfo::selected(Role::MenuItemRadio, enabled, selected, name));
    focus_ring(ui, &response);
    let response = response.or_why(text);
    indented_text(ui, text);
    let chosen = response.clicked();
    if chosen {
        ui.close();
    }
    chosen && !selected
}

fn indented_text(ui: &mut Ui, text: &str) {
    ui.horizontal_top(|ui| {
        ui.add_space(24.0);
        widgets::paragraph(ui, text, Text::Meta, Tone::Dim);
    });
}

fn button(ui: &mut Ui, text: &str) -> bool {
    let clicked = widgets::button(ui, Look::Plain, None, text, true).clicked();
    if clicked {
        ui.close();
    }
    clicked
}

fn workspace_menu(
    ui: &mut Ui,
    review: &Review,
    is_chosen: bool,
    choose: &mut impl FnMut(PlanChoice),
) {
    title(ui, "The folder the plan works in");
    widgets::paragraph(ui, review.workspace.to_string_lossy(), Text::Mono, Tone::Plain);
    widgets::paragraph(ui, &review.workspace_reason, Text::Meta, Tone::Dim);
    ui.horizontal(|ui| {
        if button(ui, "Choose a folder…") {
            choose(PlanChoice::PickFolder(PlanFolder::Workspace));
        }
        if is_chosen && button(ui, "Use the default") {
            choose(PlanChoice::DefaultWorkspace);
        }
    });
}

/// `digest` is that of the plan, so that a host typed for another plan is not offered for this one.
fn host_menu(
    ui: &mut Ui,
    digest: Digest,
    chosen: &HostChoice,
    choose: &mut impl FnMut(PlanChoice),
) {
    title(ui, "Where the commands run");
    let plan = "The host that the plan names, or this computer.";
    if item(ui, *chosen == HostChoice::OfPlan, "As the plan says", plan) {
        choose(PlanChoice::Host(HostChoice::OfPlan));
    }
    let local = "All commands of the plan, behind walls if there are any.";
    if item(ui, *chosen == HostChoice::Local, "This computer", local) {
        choose(PlanChoice::Host(HostChoice::Local));
    }
    ui.add_space(4.0);
    title(ui, "Another host, as for ssh");
    let id = ui.scope_id().with(("host", digest));
    let known = match chosen {
        HostChoice::Host(host) => host.as_str().to_owned(),
        HostChoice::OfPlan | HostChoice::Local => String::new(),
    };
    let mut text = ui.data(|data| data.get_temp::<String>(id)).unwrap_or(known);
    let field = widgets::code_field(&mut text, id.with("field"), MENU).hint_text("user@host");
    let field = ui.add(field).accessible_name("Another host");
    let entered = field.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
    let parsed = Destination::parse(&text);
    if let (Err(error), false) = (&parsed, text.is_empty()) {
        widgets::remark(ui, icon::WARNING, Tone::Caution, error.to_string());
    }
    let why_not = match &parsed {
        Err(error) if !text.is_empty() => error.to_string(),
        _ => "Type the host first.".to_owned(),
    };
    let button = widgets::button(ui, Look::Plain, None, "Use this host", parsed.is_ok());
    let clicked = button.or_why(&why_not).clicked();
    if let (Ok(host), true) = (parsed, clicked || entered) {
        choose(PlanChoice::Host(HostChoice::Host(host)));
        ui.data_mut(|data| data.remove::<String>(id));
        ui.close();
    } else {
        ui.data_mut(|data| data.insert_temp(id, text));
    }
    let keys = "Its key must be in your known hosts. An unknown or changed key ends the run before anything is sent.";
    widgets::paragraph(ui, keys, Text::Meta, Tone::Dim);
}

fn mode_menu(ui: &mut Ui, chosen: Option<Mode>, choose: &mut impl FnMut(PlanChoice)) {
    title(ui, "How the commands run");
    let rows = [
        (None, "As the plan says", "The mode that the author asks for."),
        (
            Some(Mode::Automatic),
            "Automatic",
            "Each command starts after the one before it, unless it must ask.",
        ),
        (Some(Mode::Guided), "Guided", "You start each command, do it by hand, or leave it out."),
    ];
    for (mode, name, text) in rows {
        if item(ui, chosen == mode, name, text) {
            choose(PlanChoice::Mode(mode));
        }
    }
}

fn walls_menu(ui: &mut Ui, choices: &ChoicesView<'_>, choose: &mut impl FnMut(PlanChoice)) {
    title(ui, "Walls around the processes of this run");
    let default = format!("As in your settings: {}.", choices.default_walls.as_str());
    let chosen = choices.chosen.run.walls;
    let rows = [
        (None, "As in the settings", default.as_str()),
        (Some(WallSetting::Required), "Required", "The strongest walls, or the plan cannot run."),
        (Some(WallSetting::Preferred), "Preferred", "The strongest walls that this computer has."),
        (Some(WallSetting::Off), "Off", "No walls. Steps rated caution ask before they run."),
    ];
    for (setting, name, text) in rows {
        let weaker = matches!(setting, Some(WallSetting::Preferred | WallSetting::Off));
        let barred = weaker && choices.default_walls == WallSetting::Required;
        let text = if barred { "Your settings require walls." } else { text };
        ui.add_enabled_ui(!barred, |ui| {
            if item(ui, chosen == setting, name, text) {
                choose(PlanChoice::Walls(setting));
            }
        });
    }
    ui.add_space(4.0);
    title(ui, "What every step gets beyond them");
    let grants = &choices.chosen.grants;
    let mut network = grants.network;
    if ui.checkbox(&mut network, rich("The network", Text::Body, Theme::of(ui).text)).changed() {
        choose(PlanChoice::Network(network));
    }
    for path in &grants.write {
        ui.horizontal(|ui| {
            if widgets::icon_button(
                ui,
                icon::CLOSE,
                &format!("Do not let steps write {}", drawable(path)),
            )
            .clicked()
            {
                choose(PlanChoice::NotWritable(path.clone()));
            }
            widgets::line(ui, format!("writes {path}"), Text::Mono, Tone::Plain);
        });
    }
    if button(ui, "Let steps write a folder…") {
        choose(PlanChoice::PickFolder(PlanFolder::Writable));
    }
}
