//! Catches panics of the views. A message replaces the page, and the actions of that frame are dropped, so that they
//! decide nothing.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::App;
use super::shared::ViewPanic;
use crate::run::text::panic_message;
use crate::ui::dialog::{Dialog, Question};
use crate::ui::panic_page::{PanicView, panic_page_ui};
use crate::ui::{Action, Page, WindowView, window_ui};

impl App {
    /// Draws the window. Returns the person's actions.
    pub(super) fn draw(&mut self, ui: &mut egui::Ui) -> Vec<Action> {
        self.draw_with(ui, window_ui)
    }

    /// As [`Self::draw`], with the given views.
    pub(super) fn draw_with(
        &mut self,
        ui: &mut egui::Ui,
        views: impl FnOnce(&mut egui::Ui, &WindowView<'_>, &mut Vec<Action>),
    ) -> Vec<Action> {
        let app = &*self;
        // Unwind safe: the views get the state by shared reference. egui resets its own state in each pass, and its
        // locks are not poisoned by a panic.
        let drawn = catch_unwind(AssertUnwindSafe(|| {
            let mut actions = Vec::new();
            app.draw_unguarded(ui, views, &mut actions);
            actions
        }));
        drawn.unwrap_or_else(|panic| {
            let bare = self.shared.view_panic.is_some();
            if !self.shared.view_panic.as_ref().is_some_and(|previous| previous.bare) {
                // Discards the half-drawn frame and draws it again with the message. If the bare message panics as
                // well, the frame is kept, because drawing would be repeated forever.
                ui.ctx().request_discard("a view panicked");
                ui.ctx().request_repaint();
            }
            // The overlay may have caused the panic. Closing it loses no decision.
            self.overlay = None;
            self.shared.view_panic = Some(ViewPanic { message: panic_message(&*panic), bare });
            Vec::new()
        })
    }

    /// Draws the views, or the message about a panic. A panic is not caught.
    fn draw_unguarded(
        &self,
        ui: &mut egui::Ui,
        views: impl FnOnce(&mut egui::Ui, &WindowView<'_>, &mut Vec<Action>),
        actions: &mut Vec<Action>,
    ) {
        let Some(ViewPanic { message, bare }) = &self.shared.view_panic else {
            let view = self.view();
            views(ui, &view, actions);
            self.shared.setup.faults.hit(match (&view.dialog, self.shared.page) {
                (Some(Dialog { question: Question::Confirm { .. }, .. }), _) => "step dialog",
                (Some(_), _) => "dialog",
                (None, Page::Plan) => "plan page",
                (None, Page::Evidence) => "evidence page",
                (None, Page::Diagnostics) => "diagnostics page",
                (None, Page::Loop) => "loop page",
                (None, Page::Agent) => "agent page",
                (None, Page::Settings) => "settings page",
            });
            return;
        };
        let panic_view = PanicView { message, running: self.is_busy() };
        let view = (!bare).then(|| self.view());
        panic_page_ui(ui, &panic_view, view.as_ref(), actions);
        if !bare {
            self.shared.setup.faults.hit("panic page");
        }
    }
}
