//! The list of what is in the inbox, in the list of plans and runs.

use egui::{Key, Modifiers, Ui};

use super::rows_in_sight::rows_in_sight;
use super::session::{session_counts, session_name};
use super::sidebar::Entry;
use crate::plan::{drawable, one_line};
use crate::risk::RiskLevel;
use crate::run::{
    AgentSession, Failure, InboxEntry, InboxKind, InboxList, NO_DEADLINE_MS, SessionKey,
};
use crate::ui::action::{AgentsAction, InboxAction};
use crate::ui::one_stop::OneStop;
use crate::ui::{Action, Icon, Look, Now, PlanAction, Text, Tone, controls, format, icon, widgets};

/// The number of entries that are listed until the person asks for all.
const FEW: usize = 6;

/// The content of the inbox.
#[derive(Debug, Clone, Copy)]
pub struct InboxView<'a> {
    /// The sessions of agents whose calls this window knows.
    pub sessions: &'a [AgentSession],
    /// The one that the page is about.
    pub open_session: Option<SessionKey>,
    /// What else is in the folder, in the order in which it arrived.
    pub list: &'a InboxList,
    /// Whether each entry waits for the person: it is a plan that nobody has decided about.
    pub waits: &'a [bool],
    /// The number of those that wait.
    pub waiting: usize,
}

/// What can be said of an entry in one word, with its look.
fn state(entry: &InboxEntry, waits: bool) -> (Icon, Option<String>, Tone) {
    let plan = entry.plan.as_ref();
    match (&entry.kind, plan) {
        (InboxKind::Unusable(_), _) | (_, None) => {
            (icon::PROHIBIT, Some("not opened".to_owned()), Tone::Dim)
        }
        (_, Some(plan)) if plan.errors > 0 => {
            (icon::FAILED, Some(format::counted(plan.errors, "error")), Tone::Danger)
        }
        (_, Some(_)) if !waits => (icon::CHECK, Some("decided".to_owned()), Tone::Dim),
        (_, Some(plan)) => match plan.worst {
            Some(worst @ (RiskLevel::Dangerous | RiskLevel::Blocked)) => {
                (icon::ENVELOPE, Some(worst.as_str().to_owned()), Tone::Danger)
            }
            worst => {
                let word = worst.map(|worst| worst.as_str().to_owned());
                (icon::ENVELOPE, word, Tone::Accent)
            }
        },
    }
}

/// The name of an entry: of its plan, otherwise of its file.
fn title(entry: &InboxEntry) -> &str {
    let title = entry.plan.as_ref().and_then(|plan| plan.title.as_deref());
    title.unwrap_or(&entry.name)
}

/// The facts about an entry, the most important first.
fn facts(entry: &InboxEntry, waits: bool, now: &Now) -> Vec<String> {
    let plan = entry.plan.as_ref();
    let warnings = plan.map_or(0, |plan| plan.warnings);
    // A request for a signature runs nowhere here.
    let is_review = plan.and_then(|plan| plan.format).is_some_and(|it| it.starts_with("review_"));
    let has_no_place = entry.can_be_opened() && entry.workspace.is_none() && !is_review;
    let folder = entry.workspace.as_ref().and_then(|it| it.file_name());
    [
        entry
            .asked_until_ms
            .filter(|it| waits && *it != NO_DEADLINE_MS)
            .map(|it| format!("until {}", now.second(it))),
        state(entry, waits).1,
        (warnings > 0).then(|| format::counted(warnings, "warning")),
        entry.from.as_ref().map(|from| format!("from {}", one_line(from))),
        has_no_place.then(|| "no workspace yet".to_owned()),
        folder.map(|folder| format!("in {}", one_line(&folder.to_string_lossy()))),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// What is said about an entry beside the list.
fn tooltip(entry: &InboxEntry, now: &Now) -> String {
    let mut lines = vec![drawable(title(entry)).into_owned()];
    if let InboxKind::Unusable(reason) = &entry.kind {
        lines.push(format!("It is not opened: {}.", drawable(reason)));
    }
    if let Some(plan) = &entry.plan {
        let worst = plan.worst.map(|worst| format!(", {}", worst.as_str())).unwrap_or_default();
        if plan.digest.is_some() {
            lines.push(format!("{}{worst}", format::counted(plan.steps, "step")));
        }
        let error = plan.first_error.as_ref();
        lines.extend(error.map(|error| drawable(error).into_owned()));
    }
    let from = entry.from.as_ref();
    lines.extend(from.map(|from| format!("from {}, as it says itself", one_line(from))));
    lines.push(format!("arrived {}", now.full(entry.at_ms)));
    if let Some(workspace) = &entry.workspace {
        lines.push(format!("for {}", drawable(&workspace.display().to_string())));
    }
    lines.push(drawable(&entry.path.display().to_string()).into_owned());
    lines.join("\n")
}

/// Draws the list, if there is anything in it.
pub(super) fn inbox_ui(
    ui: &mut Ui,
    view: &InboxView<'_>,
    open: Option<&std::path::Path>,
    now: &Now,
    actions: &mut Vec<Action>,
) {
    let InboxList { entries, omitted, fault } = view.list;
    if entries.is_empty() && view.sessions.is_empty() && *omitted == 0 && fault.is_none() {
        return;
    }
    let heading = match view.waiting {
        0 => "Inbox".to_owned(),
        waiting => format!("Inbox ({waiting})"),
    };
    widgets::list_heading(ui, &heading);
    if let Some(fault) = fault {
        fault_ui(ui, fault);
    }
    sessions_ui(ui, view, now, actions);
    let all_id = ui.scope_id().with("the whole inbox");
    let is_whole = ui.data(|data| data.get_temp(all_id).unwrap_or(false));
    let count = if is_whole { entries.len() } else { entries.len().min(FEW) };
    let shown = rows_shown(view, open, count);
    rows_ui(ui, &shown, open, now, actions);
    if entries.len() > FEW {
        let text = match is_whole {
            true => "Show fewer".to_owned(),
            false => format!("Show all {}", entries.len()),
        };
        if widgets::button(ui, Look::Bare, None, &text, true).clicked() {
            ui.data_mut(|data| data.insert_temp(all_id, !is_whole));
        }
    }
    if *omitted > 0 {
        let text = format!("{omitted} more are not listed: the inbox has too many.");
        widgets::paragraph(ui, text, Text::Small, Tone::Caution);
    }
    ui.add_space(14.0);
}

fn fault_ui(ui: &mut Ui, fault: &Failure) {
    let text = format!("{} {}", drawable(&format::sentence(&fault.message)), fault.next);
    widgets::remark(ui, icon::WARNING, Tone::Caution, text);
}

/// This many entries, and whether each waits, in the order of the list: the open one and those that wait are always among
/// them, as long as there is room.
fn rows_shown<'a>(
    view: &InboxView<'a>,
    open: Option<&std::path::Path>,
    count: usize,
) -> Vec<(&'a InboxEntry, bool)> {
    let waits = view.waits.iter().copied().chain(std::iter::repeat(false));
    let mut rows: Vec<_> = view.list.entries.iter().zip(waits).enumerate().collect();
    rows.sort_by_key(|(_, (entry, waits))| (open != Some(entry.path.as_path()), !waits));
    rows.truncate(count);
    rows.sort_by_key(|(place, _)| *place);
    rows.into_iter().map(|(_, row)| row).collect()
}

/// Draws the entries.
fn rows_ui(
    ui: &mut Ui,
    entries: &[(&InboxEntry, bool)],
    open: Option<&std::path::Path>,
    now: &Now,
    actions: &mut Vec<Action>,
) {
    let selected = entries.iter().position(|(entry, _)| open == Some(entry.path.as_path()));
    let list = OneStop::new(ui, "inbox", entries.iter().map(|(entry, _)| &entry.id), selected);
    rows_in_sight(ui, &list, entries.len(), Entry::HEIGHT, |ui, index| {
        let Some((entry, waits)) = entries.get(index).copied() else { return };
        row_ui(ui, entry, waits, (&list, index, selected == Some(index)), now, actions);
    });
}

/// Draws the sessions of agents, each as one entry.
fn sessions_ui(ui: &mut Ui, view: &InboxView<'_>, now: &Now, actions: &mut Vec<Action>) {
    let sessions = view.sessions;
    let selected = sessions.iter().position(|it| Some(it.key) == view.open_session);
    let list = OneStop::new(ui, "agents", sessions.iter().map(|it| it.key.0), selected);
    for (index, session) in sessions.iter().enumerate() {
        let name = session_name(session);
        let until = session.waiting().map(|it| it.call.until_ms).min();
        let until = until.filter(|it| *it != NO_DEADLINE_MS);
        let folder = session.workspace.file_name();
        let folder = folder.map(|it| format!("in {}", one_line(&it.to_string_lossy())));
        // The deadline is the last thing that a narrow list cuts.
        let until = until.map(|it| format!("until {}", now.second(it)));
        let facts = [until, Some(session_counts(session)), folder];
        let facts: Vec<String> = facts.into_iter().flatten().collect();
        let (icon, tone) = match session.waiting().next() {
            Some(_) => (icon::HAND, Tone::Caution),
            None => (icon::ENVELOPE, Tone::Dim),
        };
        let said = facts.join(", ");
        let response = Entry {
            look: Some((icon, tone)),
            title: &name,
            second_line: &facts.join(" · "),
            time: "",
            name: format!("Calls of {name}: {said}"),
            tooltip: format!(
                "{}\n{}\n{said}\n{}",
                drawable(&session.agent),
                drawable(&session.session),
                drawable(&session.workspace.display().to_string())
            ),
        }
        .response(ui, (&list, index, selected == Some(index)));
        let act = |action| Action::Plan(PlanAction::Agents(action));
        if response.clicked() {
            actions.push(act(AgentsAction::Open(session.key)));
        }
        let is_over = session.calls.iter().all(|it| it.state.is_over());
        let delete =
            |ui: &Ui| ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Delete));
        if is_over && response.has_focus() && delete(ui) {
            actions.push(act(AgentsAction::Forget(session.key)));
        }
        controls::row_menu(ui, &response, |ui| {
            if controls::menu_item(ui, "Open") {
                actions.push(act(AgentsAction::Open(session.key)));
            }
            let why_not = (!is_over).then_some("A call of the session is not over yet.");
            if controls::menu_item_unless(ui, "Take off the list", why_not) {
                actions.push(act(AgentsAction::Forget(session.key)));
            }
        });
    }
}

fn row_ui(
    ui: &mut Ui,
    entry: &InboxEntry,
    waits: bool,
    place: super::Place<'_>,
    now: &Now,
    actions: &mut Vec<Action>,
) {
    let (icon, _, tone) = state(entry, waits);
    let (facts, time) = (facts(entry, waits, now), now.short(entry.at_ms));
    let name = one_line(title(entry)).into_owned();
    let said = facts.iter().map(|fact| format!(", {fact}")).collect::<String>();
    let response = Entry {
        look: Some((icon, tone)),
        title: &name,
        second_line: &facts.join(" · "),
        time: &time,
        name: format!("In the inbox: {name}{said}, {time}"),
        tooltip: tooltip(entry, now),
    }
    .response(ui, place);
    let remove = || Action::Plan(PlanAction::Inbox(InboxAction::Remove(entry.id.clone())));
    let open = || Action::Plan(PlanAction::Open(entry.path.clone()));
    if response.clicked() && entry.can_be_opened() {
        actions.push(open());
    }
    let delete = |ui: &Ui| ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Delete));
    if response.has_focus() && delete(ui) {
        actions.push(remove());
    }
    controls::row_menu(ui, &response, |ui| {
        let why_not = (!entry.can_be_opened()).then_some("It is not a plan that can be opened.");
        if controls::menu_item_unless(ui, "Open", why_not) {
            actions.push(open());
        }
        if controls::menu_item(ui, "Remove from the inbox") {
            actions.push(remove());
        }
    });
}

#[cfg(test)]
mod tests {
    use egui_kittest::Harness;
    use egui_kittest::kittest::{NodeT as _, Queryable as _};

    use super::*;
    use crate::ui::tests::{Window, window};

    fn listed(harness: &Harness<'_, Window>) -> Vec<String> {
        let nodes = harness.root().children_recursive();
        let names = nodes.filter_map(|node| node.accesskit_node().label());
        names.filter(|name| name.starts_with("In the inbox: ")).collect()
    }

    #[test]
    fn each_entry_says_what_it_is() {
        let mut harness = window("inbox", [1280.0, 1_000.0]);
        let few = listed(&harness);
        assert_eq!(few.len(), FEW);
        assert!(
            !few.iter().any(|name| name.contains("decided")),
            "what waits comes first: {few:?}"
        );
        harness.get_by_label_contains("Show all").click_accesskit();
        harness.run_ok();
        let names = listed(&harness);
        assert_eq!(
            names
                .iter()
                .take(6)
                .map(|it| it.trim_start_matches("In the inbox: "))
                .collect::<Vec<_>>(),
            [
                "Update the lock file, caution, 1 warning, from nightly build, in parser, 12:36",
                "Rename Config to Settings, decided, from codex, in parser, 13:06",
                "Delete old logs, dangerous, from codex, in parser, 13:21",
                "Burn the files, 2 errors, in parser, 13:36",
                "Apply a diff: 3 files, caution, no workspace yet, 13:46",
                "f.json, not opened, 13:56",
            ]
        );
        harness.get_by_label_contains("Delete old logs").click_accesskit();
        harness.run_ok();
        let opens = |it: &Action| matches!(it, Action::Plan(PlanAction::Open(path)) if path.ends_with("c/plan"));
        assert!(harness.state().actions.iter().any(opens), "{:?}", harness.state().actions);
        let before = harness.state().actions.len();
        harness.get_by_label_contains("f.json, not opened").click_accesskit();
        harness.run_ok();
        assert_eq!(harness.state().actions.len(), before, "it is not opened");
    }

    #[test]
    fn everything_is_reached_by_the_keyboard() {
        let mut harness = window("inbox", [1280.0, 1_000.0]);
        harness.get_by_label("Open plan…").focus();
        harness.run_ok();
        for key in [Key::Tab, Key::ArrowDown, Key::ArrowDown, Key::Delete] {
            harness.key_press(key);
            harness.run_ok();
        }
        let removed = Action::Plan(PlanAction::Inbox(InboxAction::Remove("d".to_owned())));
        assert_eq!(harness.state().actions, [removed]);
        harness.key_press(Key::Enter);
        harness.run_ok();
        assert!(matches!(harness.state().actions[1..], [Action::Plan(PlanAction::Open(_))]));
    }

    /// However many there are, only those in sight are drawn, and the keyboard reaches the last one.
    #[test]
    fn a_thousand_entries_are_drawn_as_few_as_are_in_sight() {
        let mut harness = window("inbox-many", [1280.0, 800.0]);
        assert_eq!(listed(&harness).len(), FEW);
        harness.get_by_label("Show all 1000").click_accesskit();
        harness.run_ok();
        let drawn = listed(&harness).len();
        assert!((10..25).contains(&drawn), "{drawn}");
        harness.get_by_label("Open plan…").focus();
        harness.run_ok();
        for key in [Key::Tab, Key::End] {
            harness.key_press(key);
            harness.run_ok();
        }
        let nodes = harness.root().children_recursive();
        let mut focused = nodes.filter(|node| node.accesskit_node().is_focused());
        let name = focused.next().unwrap().accesskit_node().label().unwrap();
        assert!(name.contains("Proposal 999"), "{name}");
        let drawn = listed(&harness).len();
        assert!((5..25).contains(&drawn), "{drawn}");
    }
}
