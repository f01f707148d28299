//! The plans that are open in the window, and those that wait for the worker, in the list of plans and runs.

use std::path::{Path, PathBuf};

use egui::{Key, Modifiers, Response, Ui};

use super::sidebar::{Entry, Place};
use crate::plan::{drawable, one_line};
use crate::ui::action::QueueAction;
use crate::ui::one_stop::OneStop;
use crate::ui::{Action, Command, Icon, Look, PlanAction, Tone, controls, icon, widgets};

/// A plan that is open in the window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenPlan<'a> {
    /// Its file.
    pub path: &'a Path,
    /// Its name.
    pub name: &'a str,
    /// What became of it.
    pub state: OpenState,
}

/// The state of an open plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenState {
    /// Nobody has decided about it here.
    Undecided,
    /// It is authorized and was not run.
    Authorized,
    /// It was rejected here.
    Rejected,
    /// It waits for the worker; this many others are before it.
    Queued(usize),
    /// Its run is under way.
    Running,
    /// Its run waits for the person.
    Asks,
    /// Its run is over.
    Ended,
}

/// An authorized plan that waits for the worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedPlan {
    /// Its file.
    pub path: PathBuf,
    /// Its name.
    pub name: String,
}

/// The plans that wait for the worker.
#[derive(Debug, Clone, Copy)]
pub struct QueueView<'a> {
    /// The plans, the next one first.
    pub plans: &'a [QueuedPlan],
    /// Why the next one does not begin by itself; `None` if it does.
    pub held: Option<&'a str>,
}

/// The place in the queue in words, with this many plans before it.
pub(super) fn queue_place(before: usize) -> String {
    match before {
        0 => "next".to_owned(),
        before => format!("number {}", before + 1),
    }
}

impl OpenState {
    fn look(self) -> (Icon, String, Tone) {
        let look = |icon, word: &str, tone| (icon, word.to_owned(), tone);
        match self {
            Self::Undecided => look(icon::PLAN, "not authorized", Tone::Dim),
            Self::Authorized => look(icon::SIGNATURE, "authorized", Tone::Safe),
            Self::Rejected => look(icon::PROHIBIT, "rejected", Tone::Danger),
            Self::Queued(before) => {
                (icon::QUEUE, format!("queued, {}", queue_place(before)), Tone::Safe)
            }
            Self::Running => look(icon::RUNNING, "under way", Tone::Accent),
            Self::Asks => look(icon::HAND, "waits for you", Tone::Caution),
            Self::Ended => look(icon::CHECK, "its run is over", Tone::Dim),
        }
    }
}

/// Draws the queue, if there is one.
pub(super) fn queue_ui(
    ui: &mut Ui,
    view: &QueueView<'_>,
    open: Option<&Path>,
    actions: &mut Vec<Action>,
) {
    let QueueView { plans, held } = view;
    if plans.is_empty() {
        return;
    }
    widgets::list_heading(ui, &format!("Queue ({})", plans.len()));
    if let Some(why) = held {
        widgets::remark(ui, icon::PAUSE, Tone::Caution, drawable(why));
    }
    let selected = plans.iter().position(|plan| open == Some(plan.path.as_path()));
    let list = OneStop::new(ui, "queue", plans.iter().map(|plan| &plan.path), selected);
    for (index, plan) in plans.iter().enumerate() {
        let place = queue_place(index);
        let name = one_line(&plan.name);
        let response = Entry {
            look: Some(match held {
                Some(_) => (icon::PAUSE, Tone::Caution),
                None => (icon::QUEUE, Tone::Safe),
            }),
            title: &name,
            second_line: &place,
            time: "",
            name: format!("Queued: {name}, {place}{}", if held.is_some() { ", held" } else { "" }),
            tooltip: format!("{name}\n{}", drawable(&plan.path.display().to_string())),
        }
        .response(ui, (&list, index, selected == Some(index)));
        let queue = |action| Action::Plan(PlanAction::Queue(action));
        let remove = || queue(QueueAction::Remove(plan.path.clone()));
        if response.clicked() {
            actions.push(Action::Plan(PlanAction::ShowOpen(plan.path.clone())));
        }
        if response.has_focus()
            && ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Delete))
        {
            actions.push(remove());
        }
        controls::row_menu(ui, &response, |ui| {
            let is_first = (index == 0).then_some("It is the next one.");
            let is_last = (index + 1 == plans.len()).then_some("It is the last one.");
            for (text, by, why_not) in [("Run earlier", -1, is_first), ("Run later", 1, is_last)] {
                if controls::menu_item_unless(ui, text, why_not) {
                    actions.push(queue(QueueAction::Move(plan.path.clone(), by)));
                }
            }
            if controls::menu_item(ui, "Take out of the queue") {
                actions.push(remove());
            }
        });
    }
    let mut command = |ui: &mut Ui, command: Command| {
        let spec = command.spec();
        let button = widgets::button(ui, Look::Bare, None, spec.text, true);
        if button.on_hover_text(spec.tooltip).clicked() {
            actions.push(Action::Do(command));
        }
    };
    if held.is_some() {
        command(ui, Command::GoOnQueue);
    }
    command(ui, Command::EmptyQueue);
    ui.add_space(14.0);
}

/// Draws the open plans, if there are several.
pub(super) fn open_plans_ui(
    ui: &mut Ui,
    plans: &[OpenPlan<'_>],
    open: Option<&Path>,
    actions: &mut Vec<Action>,
) {
    if plans.len() < 2 {
        return;
    }
    // Those that wait are listed in the queue.
    let is_queued = |plan: &&OpenPlan<'_>| matches!(plan.state, OpenState::Queued(_));
    let plans: Vec<_> = plans.iter().filter(|plan| !is_queued(plan)).collect();
    if plans.is_empty() {
        return;
    }
    widgets::list_heading(ui, "Open");
    let selected = plans.iter().position(|plan| open == Some(plan.path));
    let list = OneStop::new(ui, "open plans", plans.iter().map(|plan| plan.path), selected);
    // Another plan may be shown by a key, while its row is out of sight.
    let shown = open.map(Path::to_owned);
    let id = ui.scope_id().with("the open plan");
    let before = ui.data_mut(|data| {
        std::mem::replace(data.get_temp_mut_or_default::<Option<PathBuf>>(id), shown.clone())
    });
    let is_new = before != shown;
    for (index, plan) in plans.iter().enumerate() {
        let response = row_ui(ui, plan, (&list, index, selected == Some(index)), actions);
        if is_new && selected == Some(index) {
            response.scroll_to_me(None);
        }
    }
    ui.add_space(14.0);
}

fn row_ui(
    ui: &mut Ui,
    plan: &OpenPlan<'_>,
    place: Place<'_>,
    actions: &mut Vec<Action>,
) -> Response {
    let (icon, word, tone) = plan.state.look();
    let name = one_line(plan.name);
    let response = Entry {
        look: Some((icon, tone)),
        title: &name,
        second_line: &word,
        time: "",
        name: format!("Open plan {name}, {word}"),
        tooltip: format!("{name}\n{}", drawable(&plan.path.display().to_string())),
    }
    .response(ui, place);
    let close = || Action::Plan(PlanAction::CloseOpen(plan.path.to_owned()));
    if response.clicked() {
        actions.push(Action::Plan(PlanAction::ShowOpen(plan.path.to_owned())));
    }
    if response.has_focus() && ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Delete))
    {
        actions.push(close());
    }
    controls::row_menu(ui, &response, |ui| {
        let why_not = match plan.state {
            OpenState::Queued(_) => Some("It is queued."),
            OpenState::Running | OpenState::Asks => Some("Its run is under way."),
            _ => None,
        };
        if controls::menu_item_unless(ui, "Close", why_not) {
            actions.push(close());
        }
    });
    response
}
