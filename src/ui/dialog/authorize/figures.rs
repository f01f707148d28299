//! The figures of a plan at a glance.

use egui::text::LayoutJob;
use egui::{
    CornerRadius, FontId, Label, Rect, Role, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2,
};

use crate::plan::{ShownPlan, ToolCall};
use crate::risk::RiskLevel;
use crate::run::{FileFate, PreviewProgress, PreviewedSteps, Review, cannot_be_restored};
use crate::ui::plan::step_ranges;
use crate::ui::{Text, Theme, Tone, format, theme, widgets};

/// A figure and what it consists of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Figure {
    title: String,
    tone: Tone,
    detail: String,
}

/// The figures: steps by risk, files, what asks, and what cannot be restored.
/// `fates` has what becomes of each file.
pub(super) fn of(
    plan: &ShownPlan,
    review: &Review,
    fates: &[FileFate],
    previewed: &PreviewedSteps,
) -> Vec<Figure> {
    let files = files(review, fates, previewed);
    vec![steps(plan, review, previewed), files, asks(review), restorable(plan, review)]
}

/// Says that the agent makes the changes, of which the evidence keeps nothing.
pub(super) fn made_by_agent(figures: &mut [Figure]) {
    if let Some(restorable) = figures.last_mut() {
        *restorable = Figure {
            title: "Not restorable".to_owned(),
            tone: Tone::Caution,
            detail: "the agent does it itself".to_owned(),
        };
    }
}

/// Says of files alone that they can be restored. A warning beside the figures says what else is not taken back.
pub(super) fn qualify(figures: &mut [Figure]) {
    let all = figures.iter_mut().filter(|figure| figure.tone == Tone::Safe);
    all.for_each(|figure| {
        figure.title = "Files restorable".to_owned();
        figure.tone = Tone::Plain;
    });
}

fn steps(plan: &ShownPlan, review: &Review, previewed: &PreviewedSteps) -> Figure {
    let is_command = |call: Option<&ToolCall>| matches!(call, Some(ToolCall::Shell { .. }));
    let commands_only = plan.steps.iter().all(|step| is_command(step.call.as_ref()));
    let noun = if commands_only { "command" } else { "step" };
    let levels = [RiskLevel::Blocked, RiskLevel::Dangerous, RiskLevel::Caution, RiskLevel::Safe];
    let counts = levels.into_iter().filter_map(|level| {
        let count = review.risks.iter().filter(|risk| risk.level == level).count();
        (count > 0).then(|| format!("{} {}", format::count(count as u64), level.as_str()))
    });
    let end = previewed.failing().first().map(|first| format!("would end at step {}", first + 1));
    Figure {
        title: format::counted(plan.steps.len(), noun),
        tone: if end.is_some() { Tone::Danger } else { Tone::Plain },
        detail: counts.chain(end).collect::<Vec<_>>().join(", "),
    }
}

fn files(review: &Review, fates: &[FileFate], previewed: &PreviewedSteps) -> Figure {
    let files = &review.impact.files;
    let counts = FileFate::ALL.into_iter().filter_map(|fate| {
        let count = fates.iter().filter(|it| **it == fate).count();
        (count > 0).then(|| format!("{} {}", format::count(count as u64), fate.as_str()))
    });
    let counts = counts.chain(changed_lines(previewed));
    let detail = match (files.is_empty(), review.impact.irreversible) {
        (false, _) => counts.collect::<Vec<_>>().join(", "),
        (true, 0) => "nothing is written".to_owned(),
        (true, _) => "what commands write is not known before".to_owned(),
    };
    Figure { title: format::counted(files.len(), "file"), tone: Tone::Plain, detail }
}

/// The lines that all steps add and remove, as far as they are known; `None` while they are computed.
fn changed_lines(previewed: &PreviewedSteps) -> Option<String> {
    if previewed.progress != PreviewProgress::Ended {
        return None;
    }
    let ((added, removed), is_all) = previewed.lines();
    let at_least = if is_all { "" } else { "at least " };
    let [added_text, removed_text] = [added, removed].map(|it| format::count(it as u64));
    (added + removed > 0).then(|| format!("{at_least}+{added_text} −{removed_text}"))
}

fn asks(review: &Review) -> Figure {
    let asking: Vec<usize> =
        (1..).zip(&review.asks).filter(|(_, reason)| reason.is_some()).map(|it| it.0).collect();
    match asking.len() {
        0 => Figure {
            title: "Asks nothing".to_owned(),
            tone: Tone::Plain,
            detail: "no step waits for your answer".to_owned(),
        },
        count => Figure {
            title: format!("Asks {count}×"),
            tone: Tone::Accent,
            detail: step_ranges(&asking),
        },
    }
}

fn restorable(plan: &ShownPlan, review: &Review) -> Figure {
    let steps = not_restorable(plan, review);
    match steps.len() {
        0 => Figure {
            title: "All restorable".to_owned(),
            tone: Tone::Safe,
            detail: "replaced contents are kept".to_owned(),
        },
        count => Figure {
            title: format!("{count} not restorable"),
            tone: Tone::Caution,
            detail: step_ranges(&steps),
        },
    }
}

/// The numbers of the steps whose effects the evidence may not be able to restore.
pub(super) fn not_restorable(plan: &ShownPlan, review: &Review) -> Vec<usize> {
    let steps = (1..).zip(plan.steps.iter().zip(&review.risks));
    let lasting = steps.filter(|(_, (step, risk))| {
        step.call.as_ref().is_some_and(|call| cannot_be_restored(call, risk))
    });
    lasting.map(|(number, _)| number).collect()
}

/// The narrowest place of a figure, in points.
const NARROWEST: f32 = 150.0;
const GAP: f32 = 8.0;
const PADDING: f32 = 12.0;
/// Names the plan in a few lines, so that a long name cannot push what matters out of sight; all of it is among
/// what the authorization covers.
pub(super) fn name_ui(ui: &mut Ui, name: &str) {
    const LINES: usize = 3;
    let (name, color) = (widgets::beginning(name).into_owned(), Theme::of(ui).text);
    let mut job = LayoutJob::simple(name, Text::Strong.font(), color, ui.available_width());
    job.wrap.max_rows = LINES;
    let galley = ui.painter().layout_job(job);
    ui.add(Label::new(galley));
}

/// The height of the title, in points.
const TITLE: f32 = 22.0;

/// Draws the figures side by side, in several rows if there is little room. All of a row have the same height.
pub(super) fn figures_ui(ui: &mut Ui, figures: &[Figure]) {
    let theme = Theme::of(ui);
    let available = ui.available_width();
    let fitting = ((available + GAP) / (NARROWEST + GAP)).floor().clamp(1.0, 4.0) as usize;
    // Never three and one.
    let in_row = if fitting == 3 { 2 } else { fitting };
    let width = (available - GAP * (in_row - 1) as f32) / in_row as f32;
    for row in figures.chunks(in_row) {
        let detail = |figure: &Figure| {
            let font = Text::Meta.font();
            ui.painter().layout(figure.detail.clone(), font, theme.dim, width - 2.0 * PADDING)
        };
        let details: Vec<_> = row.iter().map(detail).collect();
        let height = details.iter().map(|it| it.size().y).fold(0.0, f32::max);
        let size = vec2(available, height + TITLE + 2.0 * PADDING - 4.0);
        let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
        for (index, (figure, detail)) in row.iter().zip(details).enumerate() {
            let left = rect.left() + (width + GAP) * index as f32;
            let tile = Rect::from_min_size(pos2(left, rect.top()), vec2(width, rect.height()));
            let radius = CornerRadius::same(theme::RADIUS);
            ui.painter().rect_filled(tile, radius, theme.background);
            let stroke = Stroke::new(1.0, theme.line);
            ui.painter().rect_stroke(tile, radius, stroke, StrokeKind::Inside);
            let title = ui.painter().layout_no_wrap(
                figure.title.clone(),
                FontId { size: 16.0, ..Text::Title.font() },
                theme.tone(figure.tone),
            );
            let start = tile.min + vec2(PADDING, PADDING - 4.0);
            ui.painter().galley(start, title, theme.text);
            ui.painter().galley(start + vec2(0.0, TITLE), detail, theme.dim);
            let id = ui.scope_id().with(("figure", &figure.title));
            let response = ui.interact(tile, id, Sense::hover());
            response.widget_info(|| {
                let text = format!("{}: {}", figure.title, figure.detail);
                WidgetInfo::labeled(Role::Label, true, text)
            });
        }
        ui.add_space(GAP - ui.spacing().item_spacing.y);
    }
}
