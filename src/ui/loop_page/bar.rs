//! The bar with which a loop is started and stopped.

use egui::text::LayoutJob;
use egui::{Align, Layout, Role, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};

use super::model::phase_look;
use super::{Form, LoopView, Shown, TimelineView};
use crate::plan::visible;
use crate::run::LoopPhase;
use crate::ui::action::Action;
use crate::ui::commands::{Command, Situation, command_button};
use crate::ui::format;
use crate::ui::icon::{self, Icon};
use crate::ui::theme::{self, Text, Theme, Tone};
use crate::ui::widgets::{self, Look};

/// Icon, tone, a short title, and a sentence of detail.
type BarText = (Icon, Tone, String, String);

pub(super) fn bar_ui(
    ui: &mut Ui,
    view: &LoopView<'_>,
    situation: &Situation,
    actions: &mut Vec<Action>,
) {
    let theme = Theme::of(ui);
    let rect = ui.max_rect();
    let line = Stroke::new(1.0, theme.line);
    ui.painter().hline(ui.clip_rect().x_range(), rect.top(), line);
    let (icon, tone, title, detail) = match &view.shown {
        Shown::Reading => (icon::CLOCK, Tone::Dim, "One moment".to_owned(), String::new()),
        Shown::Form(view) => of_form(view.form, situation),
        Shown::Loop(timeline) => of_loop(timeline),
    };
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        ui.set_min_height(theme::ACTION_BAR);
        let mut button = |ui: &mut Ui, command, look| {
            command_button(ui, command, look, None, situation, actions);
        };
        match &view.shown {
            Shown::Form(_) => button(ui, Command::StartLoop, Look::Primary),
            Shown::Loop(timeline) if !timeline.recorded && !timeline.state.is_over() => {
                button(ui, Command::StopNow, Look::Plain);
                if situation.attempt_waits {
                    button(ui, Command::OpenAttempt, Look::Primary);
                }
            }
            Shown::Loop(_) => button(ui, Command::LoopAgain, Look::Plain),
            Shown::Reading => {}
        }
        let size = vec2(ui.available_width().max(0.0), theme::ACTION_BAR - 6.0);
        let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
        let center = pos2(rect.left() + 10.0, rect.center().y);
        widgets::paint_icon(ui, center, icon, 18.0, theme.tone(tone));
        let (left, width) = (rect.left() + 28.0, (rect.width() - 40.0).max(0.0));
        let strong = if tone == Tone::Dim { theme.text } else { theme.tone(tone) };
        // The effect of starting must be readable, so the text may take two lines.
        let text = visible(&detail).into_owned();
        let mut job = LayoutJob::simple(text, Text::Small.font(), theme.dim, width);
        job.wrap.max_rows = 2;
        let lines = ui.painter().layout_job(job);
        let below = if detail.is_empty() { 0.0 } else { lines.size().y + 3.0 };
        let middle = rect.center().y - below / 2.0;
        let parts = [(title.as_str(), Text::Body, strong)];
        widgets::paint_parts(ui, pos2(left, middle), width, &parts);
        ui.painter().galley(pos2(left, middle + 9.0), lines, theme.dim);
        response.widget_info(|| {
            WidgetInfo::labeled(Role::Label, true, format!("{title}. {}", visible(&detail)))
        });
        response.on_hover_text(format!("{title}\n{}", visible(&detail)));
    });
}

fn of_form(form: &Form, situation: &Situation) -> BarText {
    let faults = form.faults().len();
    match (&form.refusal, form.tried && faults > 0) {
        (Some(refusal), _) => {
            let title = "The loop could not begin".to_owned();
            (icon::WARNING, Tone::Danger, title, refusal.clone())
        }
        (None, true) => {
            let title = format!("{} to correct", format::counted(faults, "field"));
            let detail = "Each fault is shown below its field.".to_owned();
            (icon::WARNING, Tone::Caution, title, detail)
        }
        (None, false) if situation.no_place.is_some() && !situation.looping => {
            let title = situation.no_place.unwrap_or_default().to_owned();
            let detail = "No loop can start there. The fault is shown below the field.".to_owned();
            (icon::WARNING, Tone::Caution, title, detail)
        }
        (None, false) => {
            let title =
                if situation.looping { "Another loop is under way" } else { "Nothing has started" };
            (icon::INFO, Tone::Dim, title.to_owned(), form.announcement())
        }
    }
}

fn of_loop(timeline: &TimelineView<'_>) -> BarText {
    let state = timeline.state;
    let (icon, word, tone) = phase_look(&state.phase);
    if timeline.stopping && !state.is_over() {
        let detail = "Everything that the loop started is being stopped.".to_owned();
        return (icon::STOP, Tone::Caution, "Stopping".to_owned(), detail);
    }
    let title = match &state.phase {
        LoopPhase::Ended(reason) => {
            let title = format!("Ended: {}", reason.code.as_str());
            return (icon, tone, title, reason.code.meaning().to_owned());
        }
        LoopPhase::Interrupted => {
            let detail = "The loop will not resume by itself.".to_owned();
            return (icon, tone, "Interrupted".to_owned(), detail);
        }
        LoopPhase::AwaitingAuthorization(_) => "Waiting for you",
        _ => "Under way",
    };
    let attempt = format!("Attempt {} of {}", state.attempts.len(), state.max_attempts);
    (icon, tone, title.to_owned(), format!("{attempt}: {word}"))
}
