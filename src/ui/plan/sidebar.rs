//! The list of plans and runs.

use std::path::PathBuf;

use egui::{CornerRadius, Rect, Role, ScrollArea, Sense, Ui, WidgetInfo, pos2, vec2};
use uuid::Uuid;

use crate::plan::visible;
use crate::run::{RunFate, RunStatus, RunSummary};
use crate::ui::action::{Action, PlanAction};
use crate::ui::commands::{Command, Situation, command_button};
use crate::ui::format::{self, Now};
use crate::ui::icon::{self, Icon};
use crate::ui::theme::{self, Text, Theme, Tone};
use crate::ui::widgets::{self, Look};

/// A recently opened plan file.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecentPlan {
    /// The path of the file.
    pub path: PathBuf,
    /// The plan's name when it was last opened.
    pub name: String,
    /// A short second line.
    #[serde(default)]
    pub detail: String,
}

/// The content of the list.
#[derive(Debug, Clone)]
pub struct SidebarView<'a> {
    /// Plans, latest first.
    pub plans: &'a [RecentPlan],
    /// The open plan.
    pub open: Option<&'a std::path::Path>,
    /// Runs, latest first.
    pub runs: &'a [RunSummary],
    /// The run that is shown.
    pub run: Option<Uuid>,
    /// The current time.
    pub now: &'a Now,
}

/// The icon, word and colour of a run's outcome.
pub fn fate_look(fate: RunFate) -> (Icon, &'static str, Tone) {
    match fate {
        RunFate::Ended(RunStatus::Completed) => (icon::DONE, "completed", Tone::Safe),
        RunFate::Ended(RunStatus::Failed) => (icon::FAILED, "failed", Tone::Danger),
        RunFate::Ended(RunStatus::Cancelled) => (icon::STOP, "cancelled", Tone::Caution),
        RunFate::Active => (icon::RUNNING, "under way", Tone::Accent),
        RunFate::Interrupted => (icon::WARNING, "interrupted", Tone::Danger),
    }
}

/// The list.
pub fn sidebar_ui(
    ui: &mut Ui,
    view: &SidebarView<'_>,
    situation: &Situation,
    actions: &mut Vec<Action>,
) {
    command_button(ui, Command::OpenPlan, Look::Plain, None, situation, actions);
    ui.add_space(8.0);
    ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        widgets::heading(ui, "Plans");
        ui.add_space(2.0);
        if view.plans.is_empty() {
            widgets::paragraph(ui, "Plans you open are listed here.", Text::Small, Tone::Dim);
        }
        for plan in view.plans {
            let selected = view.open == Some(plan.path.as_path());
            if plan_ui(ui, plan, selected) {
                actions.push(Action::Plan(PlanAction::Open(plan.path.clone())));
            }
        }
        ui.add_space(14.0);
        widgets::heading(ui, "Runs");
        ui.add_space(2.0);
        if view.runs.is_empty() {
            widgets::paragraph(ui, "Every run leaves its record here.", Text::Small, Tone::Dim);
        }
        for run in view.runs {
            if run_ui(ui, run, view.run == Some(run.run_id), view.now) {
                actions.push(Action::Plan(PlanAction::OpenRun(run.run_id)));
            }
        }
    });
}

fn plan_ui(ui: &mut Ui, plan: &RecentPlan, selected: bool) -> bool {
    let theme = Theme::of(ui);
    let (rect, response) = item(ui, 42.0, selected);
    let width = rect.width() - 20.0;
    let left = rect.left() + 10.0;
    let parts = [(plan.name.as_str(), Text::Body, theme.text)];
    widgets::paint_parts(ui, pos2(left, rect.top() + 14.0), width, &parts);
    let parts = [(plan.detail.as_str(), Text::Small, theme.dim)];
    widgets::paint_parts(ui, pos2(left, rect.top() + 30.0), width, &parts);
    response.widget_info(|| {
        let name = format!("Plan {}", visible(&plan.name));
        WidgetInfo::selected(Role::Button, true, selected, name)
    });
    widgets::focus_ring(ui, &response);
    let clicked = response.clicked();
    let path = plan.path.display().to_string();
    response.on_hover_text(format!("{}\n{}", visible(&plan.name), visible(&path)));
    clicked
}

fn run_ui(ui: &mut Ui, run: &RunSummary, selected: bool, now: &Now) -> bool {
    let theme = Theme::of(ui);
    let (rect, response) = item(ui, 28.0, selected);
    let (icon, word, tone) = fate_look(run.fate);
    let middle = rect.center().y;
    widgets::paint_icon(ui, pos2(rect.left() + 17.0, middle), icon, 15.0, theme.tone(tone));
    let time = now.short(run.started_at_ms);
    let right = rect.right() - 6.0;
    let taken = widgets::paint_right(ui, pos2(right, middle), &time, Text::SmallMono, theme.dim);
    let left = rect.left() + 32.0;
    let width = (right - taken - 8.0 - left).max(0.0);
    let parts = [(run.plan_name.as_str(), Text::Body, theme.text)];
    widgets::paint_parts(ui, pos2(left, middle), width, &parts);
    response.widget_info(|| {
        let name = format!("Run of {}, {word}, {time}", visible(&run.plan_name));
        WidgetInfo::selected(Role::Button, true, selected, name)
    });
    widgets::focus_ring(ui, &response);
    let clicked = response.clicked();
    response.on_hover_text(format!(
        "{}\n{word}, {} of {}\nstarted {}\nin {}",
        visible(&run.plan_name),
        run.steps_recorded,
        format::counted(run.step_count, "step"),
        now.full(run.started_at_ms),
        visible(&run.workspace),
    ));
    clicked
}

fn item(ui: &mut Ui, height: f32, selected: bool) -> (Rect, egui::Response) {
    let theme = Theme::of(ui);
    let size = vec2(ui.available_width(), height);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    let fill = if selected {
        theme.selection
    } else if response.hovered() {
        theme.hover
    } else {
        theme.panel
    };
    ui.painter().rect_filled(rect, CornerRadius::same(theme::RADIUS), fill);
    (rect, response)
}
