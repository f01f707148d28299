//! The page shown in place of a view that panicked: the message, that nothing was decided, and what to do
//! next.

use egui::{CentralPanel, Frame, Margin, ScrollArea, Ui};

use super::action::WindowAction;
use super::dialog::Question;
use super::{
    Action, Command, Commands, Look, Text, Theme, Tone, WindowView, bottom_bar_ui, dialog, icon,
    keys, overlay, upper_bar_ui, widgets,
};

/// The panic of a view, as shown.
#[derive(Debug, Clone, Copy)]
pub struct PanicView<'a> {
    /// The message of the panic.
    pub message: &'a str,
    /// Whether a run is in progress; the run is not affected.
    pub running: bool,
}

/// Draws the window with the message of the panic in place of the page. Of the dialogs only the one before closing is
/// shown, because the subject of the others is not visible. `view` is `None` if drawing the bars, the dialog or the
/// overlay panicked too; then only the message is shown.
pub fn panic_page_ui(
    ui: &mut Ui,
    panic: &PanicView<'_>,
    view: Option<&WindowView<'_>>,
    actions: &mut Vec<Action>,
) {
    let theme = Theme::of(ui);
    if let Some(view) = view {
        // The effect of other keys would not be visible.
        keys::take_stop(ui, &mut Commands { situation: &view.situation, actions });
        upper_bar_ui(ui, view, actions);
        bottom_bar_ui(ui, view, actions);
    }
    let frame = Frame::NONE.fill(theme.background).inner_margin(Margin::same(24));
    CentralPanel::no_frame().frame(frame).show(ui, |ui| {
        ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 8.0;
            message_ui(ui, panic, view.is_some(), actions);
        });
    });
    let Some(view) = view else { return };
    match (&view.dialog, view.overlay) {
        (Some(dialog), _) if matches!(dialog.question, Question::Close { .. }) => {
            dialog::dialog_ui(ui, dialog, actions);
        }
        (_, Some(overlay)) => {
            let commands = &mut Commands { situation: &view.situation, actions };
            overlay::overlay_ui(ui, overlay, commands);
        }
        _ => {}
    }
}

/// Draws the message. A bug report can be shown over it if the bars are drawn, too.
fn message_ui(
    ui: &mut Ui,
    panic: &PanicView<'_>,
    can_show_report: bool,
    actions: &mut Vec<Action>,
) {
    widgets::line(ui, "This page cannot be shown", Text::Title, Tone::Plain);
    widgets::paragraph(
        ui,
        "Drawing the page failed. Nothing was answered or decided by that, and nothing is lost. Try \
         again; if it fails again, report it with this message and the bug report.",
        Text::Body,
        Tone::Plain,
    );
    widgets::paragraph(ui, panic.message, Text::Mono, Tone::Danger);
    ui.horizontal(|ui| {
        if widgets::button(ui, Look::Primary, None, "Try again", true).clicked() {
            actions.push(Action::Window(WindowAction::TryAgain));
        }
        widgets::copy_button(ui, panic.message, "this message");
        let report = Command::BugReport.spec();
        if can_show_report
            && widgets::tooltip_button(ui, Look::Plain, icon::COPY, report.text, report.tooltip)
        {
            actions.push(Action::Do(Command::BugReport));
        }
        // Last, so that nothing moves when the run ends.
        if panic.running
            && widgets::button(ui, Look::Plain, Some(icon::STOP), "Stop now", true).clicked()
        {
            actions.push(Action::Do(Command::StopNow));
        }
    });
    if panic.running {
        widgets::paragraph(
            ui,
            "The run under way continues, and waits when it needs your answer.",
            Text::Body,
            Tone::Caution,
        );
    }
}
