//! The list of plans and runs.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use egui::{Response, ScrollArea, Ui, pos2, vec2};
use uuid::Uuid;

use super::inbox::{InboxView, inbox_ui};
use super::open_plans::{OpenPlan, QueueView, open_plans_ui, queue_ui};
use super::outcome_look;
use crate::plan::{CONTINUED, Digest, drawable};
use crate::run::text::capitalized;
use crate::run::{LoopSummary, Outcome, RunFate, RunStatus, RunSummary, RunTally};
use crate::ui::action::WindowAction;
use crate::ui::loop_page::model::StateLook;
use crate::ui::one_stop::OneStop;
use crate::ui::{
    Action, Icon, Now, PlanAction, Text, Theme, Tone, controls, format, icon, rows, widgets,
};

/// A recently opened plan file.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecentPlan {
    /// The path of the file.
    pub path: PathBuf,
    /// The plan's name when it was last opened.
    pub name: String,
    /// The text of the second line.
    #[serde(default)]
    pub detail: String,
    /// The digest of the plan when it was last opened; `None` in lists of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// Whether the person pinned the plan.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// Whether the plan was rejected and not authorized since, as far as this list knows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rejected: bool,
}

/// The content of the list.
#[derive(Debug, Clone)]
pub struct SidebarView<'a> {
    /// What others propose.
    pub inbox: InboxView<'a>,
    /// The authorized plans that wait for the worker.
    pub queue: QueueView<'a>,
    /// The plans that are open in the window.
    pub open_plans: Vec<OpenPlan<'a>>,
    /// Plans: pinned ones first, else the latest first.
    pub plans: &'a [RecentPlan],
    /// The file of the open plan.
    pub open: Option<&'a std::path::Path>,
    /// Runs, latest first.
    pub runs: &'a [RunSummary],
    /// Bounded loops, latest first.
    pub loops: &'a [LoopSummary],
    /// The run that is shown.
    pub run: Option<Uuid>,
    /// The current time.
    pub now: &'a Now,
}

/// The icon, word and colour of a run's outcome. A denial and a run in which nothing ran have their own, although the
/// evidence records them as failed and completed.
pub(crate) fn fate_look(fate: RunFate, tally: RunTally) -> StateLook {
    match fate {
        RunFate::Ended(RunStatus::Completed) if tally.nothing_ran() => {
            (icon::SKIP, "completed, nothing ran", Tone::Dim)
        }
        RunFate::Ended(RunStatus::Completed) => (icon::DONE, "completed", Tone::Safe),
        RunFate::Ended(RunStatus::Failed) if tally.denied > 0 => outcome_look(Outcome::Denied),
        RunFate::Ended(RunStatus::Failed) => (icon::FAILED, "failed", Tone::Danger),
        RunFate::Ended(RunStatus::Cancelled) => (icon::CANCELLED, "cancelled", Tone::Caution),
        RunFate::Active => (icon::RUNNING, "under way", Tone::Accent),
        RunFate::Interrupted if tally.unknown == 0 => {
            (icon::WARNING, "interrupted between steps", Tone::Caution)
        }
        RunFate::Interrupted => (icon::WARNING, "interrupted", Tone::Danger),
    }
}

/// The look of a listed run.
pub(crate) fn run_look(run: &RunSummary) -> StateLook {
    fate_look(run.fate, run.tally)
}

/// Draws the list.
pub fn sidebar_ui(ui: &mut Ui, view: &SidebarView<'_>, actions: &mut Vec<Action>) {
    ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        // A plan is highlighted once: where it is open, otherwise where it waits, otherwise among all plans.
        let is_it = |path: &Path| view.open == Some(path);
        let is_listed_open =
            view.open_plans.len() > 1 && view.open_plans.iter().any(|it| is_it(it.path));
        let in_inbox = view.open.filter(|_| !is_listed_open);
        let waits = view.inbox.list.entries.iter().any(|it| is_it(&it.path));
        let among_plans = !is_listed_open && !waits && view.inbox.open_session.is_none();
        inbox_ui(ui, &view.inbox, in_inbox, view.now, actions);
        queue_ui(ui, &view.queue, view.open, actions);
        open_plans_ui(ui, &view.open_plans, view.open, actions);
        widgets::list_heading(ui, "Plans");
        if view.plans.is_empty() {
            widgets::paragraph(ui, "Plans you open are listed here.", Text::Small, Tone::Dim);
        }
        let is_open = |plan: &RecentPlan| view.open == Some(plan.path.as_path());
        let open = view.plans.iter().position(is_open);
        let list = OneStop::new(ui, "plans", view.plans.iter().map(|plan| &plan.path), open);
        for (index, plan) in view.plans.iter().enumerate() {
            let place = (&list, index, among_plans && open == Some(index));
            let state = plan_state(plan, view.runs);
            plan_ui(ui, plan, (state, distinction(plan, view.plans)), place, actions);
        }
        ui.add_space(14.0);
        widgets::list_heading(ui, "Runs");
        if view.runs.is_empty() {
            widgets::paragraph(ui, "Every run leaves its record here.", Text::Small, Tone::Dim);
        }
        let shown = view.runs.iter().position(|run| view.run == Some(run.run_id));
        let list = OneStop::new(ui, "runs", view.runs.iter().map(|run| run.run_id), shown);
        for (index, run) in view.runs.iter().enumerate() {
            run_ui(ui, run, (&list, index, shown == Some(index)), view.now, actions);
        }
    });
}

/// What became of the plan, as it was when it was last opened: a rejection, otherwise the fate of its last run.
fn plan_state(plan: &RecentPlan, runs: &[RunSummary]) -> Option<&'static str> {
    let last = runs.iter().find(|run| plan.digest == Some(run.plan_digest));
    match plan.rejected {
        true => Some("rejected"),
        false => last.map(|run| run_look(run).1),
    }
}

/// The name of a plan with what tells it from its original in front, where it is not cut.
fn listed_name(name: &str) -> Cow<'_, str> {
    match name.strip_suffix(CONTINUED) {
        Some(original) => Cow::Owned(format!("Continued: {original}")),
        None => Cow::Borrowed(name),
    }
}

/// Whether a path is that of a proposal in the inbox, whose folder and file say nothing to a person.
fn is_proposal(path: &Path) -> bool {
    let folder = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    path.file_name().is_some_and(|name| name == "plan")
        && folder.is_some_and(|name| Uuid::parse_str(name).is_ok())
}

/// Whether a path is that of a revision, whose folder says nothing to a person.
fn is_revision(path: &Path) -> bool {
    let folder = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    folder.is_some_and(|name| name.starts_with("revised-"))
}

/// What tells the plan from others of the same name: the part of its path that differs. `None` if its name is unique, or
/// it is a proposal or a revision, whose detail names it.
pub(super) fn distinction(plan: &RecentPlan, plans: &[RecentPlan]) -> Option<String> {
    if is_proposal(&plan.path) || is_revision(&plan.path) {
        return None;
    }
    let twins = plans.iter().filter(|other| other.name == plan.name && other.path != plan.path);
    let twins: Vec<_> = twins.map(|other| other.path.as_path()).collect();
    if twins.is_empty() {
        return None;
    }
    // The name of the file or of the closest folder that no twin has in the same position.
    let name_of = |path: &Path, up: usize| {
        path.ancestors().nth(up).and_then(Path::file_name).map(|name| name.display().to_string())
    };
    let is_unique = |up: &usize| {
        let own = name_of(&plan.path, *up);
        own.is_some() && twins.iter().all(|twin| name_of(twin, *up) != own)
    };
    let unique = (0..plan.path.components().count()).find(is_unique);
    Some(
        unique
            .and_then(|up| name_of(&plan.path, up))
            .unwrap_or_else(|| plan.path.display().to_string()),
    )
}

fn plan_ui(
    ui: &mut Ui,
    plan: &RecentPlan,
    (state, distinction): (Option<&str>, Option<String>),
    place_in_list: Place<'_>,
    actions: &mut Vec<Action>,
) {
    let (name, path) = (drawable(&plan.name), plan.path.display().to_string());
    let pinned = if plan.pinned { ", pinned" } else { "" };
    let with_comma = |it: &str| format!(", {it}");
    let said = state.map(with_comma).unwrap_or_default();
    let place = distinction.as_ref().map(|it| format!(", {}", drawable(it))).unwrap_or_default();
    let parts = [state.map(str::to_owned), distinction, Some(plan.detail.clone())];
    let second_line = parts.into_iter().flatten().collect::<Vec<_>>().join(" · ");
    let entry = Entry {
        look: plan.pinned.then_some((icon::BOOKMARK, Tone::Accent)),
        title: &listed_name(&plan.name),
        second_line: &second_line,
        time: "",
        name: format!("Plan {name}{place}{pinned}{said}"),
        tooltip: format!("{name}\n{}", drawable(&path)),
    };
    let response = entry.response(ui, place_in_list);
    if response.clicked() {
        actions.push(Action::Plan(PlanAction::Open(plan.path.clone())));
    }
    controls::row_menu(ui, &response, |ui| {
        let pin = if plan.pinned { "Unpin" } else { "Pin" };
        if controls::menu_item(ui, pin) {
            actions.push(Action::Window(WindowAction::PinRecent(plan.path.clone(), !plan.pinned)));
        }
        if controls::menu_item(ui, "Remove from the list") {
            actions.push(Action::Window(WindowAction::RemoveRecent(plan.path.clone())));
        }
    });
}

fn run_ui(
    ui: &mut Ui,
    run: &RunSummary,
    place_in_list: Place<'_>,
    now: &Now,
    actions: &mut Vec<Action>,
) {
    let (icon, word, tone) = run_look(run);
    let (name, time) = (drawable(&run.plan_name), now.short(run.started_at_ms));
    let on = run.target.as_ref().map(|host| format!(" on {}", drawable(host))).unwrap_or_default();
    let place = Entry::place(ui, &run.workspace);
    let second_line = format!("{place}{on}");
    let purged = run.purged.as_ref();
    let purged_note = purged.map(|note| format!("\n{}", drawable(&capitalized(&note.sentence()))));
    let entry = Entry {
        look: Some((icon, tone)),
        title: &run.plan_name,
        second_line: &second_line,
        time: &time,
        name: format!("Run of {name}, {word}, {place}{on}, {time}"),
        tooltip: format!(
            "{name}\n{}\n{} of {} recorded\nstarted {}\nin {}{on}{}",
            fate_text(run),
            run.steps_recorded,
            format::counted(run.step_count, "step"),
            now.full(run.started_at_ms),
            drawable(&run.workspace),
            purged_note.unwrap_or_default(),
        ),
    };
    let response = entry.response(ui, place_in_list);
    if response.clicked() {
        actions.push(Action::Plan(PlanAction::OpenRun(run.run_id)));
    }
    let is_whole = run.purged.as_ref().is_some_and(|note| note.whole);
    controls::row_menu(ui, &response, |ui| {
        if controls::menu_item(ui, "Open") {
            actions.push(Action::Plan(PlanAction::OpenRun(run.run_id)));
        }
        let why_not = match run.fate {
            RunFate::Active => Some("It is under way."),
            _ => is_whole.then_some("Its records were purged."),
        };
        if controls::menu_item_unless(ui, "Purge…", why_not) {
            actions.push(Action::Window(WindowAction::AskToPurge(run.run_id)));
        }
    });
}

/// The list of an entry, its index there, and whether it is selected.
pub(crate) type Place<'a> = (&'a OneStop, usize, bool);
/// The outcome of a listed run, and how many steps ended in which way: `failed, 3 succeeded, 1 skipped`.
pub(crate) fn fate_text(run: &RunSummary) -> String {
    let ((_, word, _), counts) = (run_look(run), run.tally.words());
    let fate = match counts.is_empty() {
        true => word.to_owned(),
        false if run.tally.nothing_ran() => format!("{word}: {counts}"),
        false => format!("{word}, {counts}"),
    };
    match &run.purged {
        Some(note) if note.whole => format!("{fate}, records purged"),
        Some(_) => format!("{fate}, some records purged"),
        None => fate,
    }
}

/// An entry of the list at the left of a page.
pub(crate) struct Entry<'a> {
    pub(crate) look: Option<(Icon, Tone)>,
    pub(crate) title: &'a str,
    pub(crate) second_line: &'a str,
    /// The time, at the right of the second line.
    pub(crate) time: &'a str,
    /// The accessible name.
    pub(crate) name: String,
    pub(crate) tooltip: String,
}

impl Entry<'_> {
    /// The end of a workspace's path, as much as the second line has room for beside a time.
    pub(crate) fn place(ui: &Ui, workspace: &str) -> String {
        let room = ui.available_width() - Self::LEFT - Self::RIGHT - 56.0;
        format::short_path(&drawable(workspace), (room / 6.0) as usize)
    }

    /// The height of an entry, in points.
    pub(super) const HEIGHT: f32 = 42.0;
    /// The left margin of an entry with an icon, in points.
    const LEFT: f32 = 32.0;
    /// The right margin, in points.
    const RIGHT: f32 = 8.0;

    /// Draws the entry. Returns whether it was clicked.
    pub(crate) fn ui(self, ui: &mut Ui, place: Place<'_>) -> bool {
        self.response(ui, place).clicked()
    }

    /// Draws the entry.
    pub(super) fn response(self, ui: &mut Ui, (list, index, selected): Place<'_>) -> Response {
        let theme = Theme::of(ui);
        let size = vec2(ui.available_width(), Self::HEIGHT);
        let response = list.row(ui, index, size);
        let rect = response.rect;
        rows::item_background(ui, &response, selected);
        let (first, second) = (rect.top() + 14.0, rect.top() + 30.0);
        let (mut left, right) = (rect.left() + 10.0, rect.right() - Self::RIGHT);
        if let Some((icon, tone)) = self.look {
            let center = pos2(rect.left() + 17.0, first);
            widgets::paint_icon(ui, center, icon, 15.0, theme.tone(tone));
            left = rect.left() + Self::LEFT;
        }
        let title = [(self.title, Text::Body, theme.text)];
        widgets::paint_parts(ui, pos2(left, first), right - left, &title);
        let time = (self.time, Text::SmallMono, theme.dim);
        let time_width = widgets::paint_right(ui, pos2(right, second), time);
        let width = (right - time_width - 8.0 - left).max(0.0);
        let parts = [(self.second_line, Text::Small, theme.dim)];
        widgets::paint_parts(ui, pos2(left, second), width, &parts);
        controls::list_row(ui, &response, (selected, index), || self.name.clone());
        rows::row_tooltip(&response, true, self.tooltip);
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plans of the same name are told apart by the closest part of their paths that differs.
    #[test]
    fn plans_of_one_name_are_told_apart() {
        let plans = [
            ("/a/logs/rotate.json", "Rotate"),
            ("/a/logs/keep.json", "Keep"),
            ("/a/infra/rotate.json", "Rotate"),
            ("/b/infra/rotate.json", "Rotate"),
            ("/c/one.json", "Twice"),
            ("/c/two.json", "Twice"),
        ]
        .map(|(path, name)| RecentPlan {
            path: path.into(),
            name: name.into(),
            detail: String::new(),
            digest: None,
            pinned: false,
            rejected: false,
        });
        let told: Vec<_> = plans.iter().map(|plan| distinction(plan, &plans)).collect();
        let told: Vec<_> = told.iter().map(Option::as_deref).collect();
        let whole = Some("/a/infra/rotate.json");
        assert_eq!(
            told,
            [Some("logs"), None, whole, Some("b"), Some("one.json"), Some("two.json")]
        );
    }

    /// A list of plans says what became of each, as the list of runs does.
    #[test]
    fn a_plan_is_listed_with_the_fate_of_its_last_run() {
        let scene = crate::ui::tests::scene::Scene::new("plan");
        let view = scene.view();
        let run = &view.sidebar.runs[0];
        let plan = RecentPlan {
            path: "/a".into(),
            name: "A".into(),
            detail: String::new(),
            digest: Some(run.plan_digest),
            pinned: false,
            rejected: false,
        };
        let state = |plan: &RecentPlan| plan_state(plan, view.sidebar.runs);
        assert_eq!(state(&plan), Some(run_look(run).1));
        assert_eq!(state(&RecentPlan { rejected: true, ..plan.clone() }), Some("rejected"));
        assert_eq!(state(&RecentPlan { digest: Some(Digest::of(b"new")), ..plan }), None);
        assert_eq!(listed_name("Long name (continued)"), "Continued: Long name");
        assert_eq!(listed_name("Name"), "Name");
    }
}
