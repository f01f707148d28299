//! One frame: applies what has arrived, draws the window, and applies the person's actions.

use super::plan_page::PlanPage;
use super::shared::Prompt;
use super::{App, now};
use crate::worker::{Clock as _, SystemClock};

impl eframe::App for App {
    fn raw_input_hook(&mut self, ctx: &egui::Context, raw_input: &mut egui::RawInput) {
        self.hold_back(ctx, raw_input);
    }

    fn logic(&mut self, ctx: &egui::Context, _frame: &mut eframe::Frame) {
        self.take_in(ctx);
    }

    fn ui(&mut self, ui: &mut egui::Ui, _frame: &mut eframe::Frame) {
        self.draw_and_apply(ui);
    }

    fn on_exit(&mut self, _gl: Option<&eframe::glow::Context>) {
        // After the last frame, an error cannot be shown any more.
        if let Some(settings) = self.settings_to_save() {
            let _ = settings.save();
        }
    }
}

impl App {
    /// Moves keys that must not count in this frame to the next frame.
    pub(super) fn hold_back(&mut self, ctx: &egui::Context, input: &mut egui::RawInput) {
        if self.key_queue.hold_back(&mut input.events, self.shared.prompt_id(None).showing) {
            ctx.request_repaint();
        }
    }

    pub(super) fn take_in(&mut self, ctx: &egui::Context) {
        self.shared.now = now();
        // The person may have changed the folders in another program.
        let comes_back = |event: &egui::Event| matches!(event, egui::Event::WindowFocused(true));
        if ctx.input(|input| input.events.iter().any(comes_back)) {
            self.loops.look_at_folders(0, &self.shared);
        }
        if self.drain() {
            ctx.request_repaint();
        }
        if let Some(text) = self.shared.to_copy.take() {
            ctx.copy_text(text);
        }
        self.take_dropped_files(ctx);
        self.take_close_request(ctx);
        self.keep_time(ctx);
    }

    pub(super) fn draw_and_apply(&mut self, ui: &mut egui::Ui) {
        let actions = self.draw(ui);
        self.loops.drawn();
        self.evidence.drawn();
        self.plan.drawn();
        for action in actions {
            self.apply(action, ui.ctx());
        }
    }

    pub(super) fn take_dropped_files(&mut self, ctx: &egui::Context) {
        let dropped =
            ctx.input(|input| input.raw.dropped_files.first().map(|file| file.path().to_owned()));
        if let Some(path) = dropped {
            PlanPage::open(path, None, &mut self.shared);
        }
    }

    pub(super) fn take_close_request(&mut self, ctx: &egui::Context) {
        let viewport = ctx.input(|input| input.viewport().clone());
        if let Some(rect) = viewport.inner_rect.filter(|_| viewport.maximized != Some(true)) {
            self.settings.window = [rect.width(), rect.height()];
        }
        let running = self.is_busy();
        if viewport.close_requested() && running {
            ctx.send_viewport_cmd(egui::ViewportCommand::CancelClose);
            if self.shared.prompt != Some(Prompt::Close) {
                self.shared.show_prompt(Some(Prompt::Close));
            }
        }
        if self.close_when_over && !running {
            ctx.send_viewport_cmd(egui::ViewportCommand::Close);
        }
    }

    /// Does what is due now, and requests a repaint for what is due later.
    pub(super) fn keep_time(&mut self, ctx: &egui::Context) {
        let wake_in = |ms: i64| {
            let ms = u64::try_from(ms.max(1)).unwrap_or(1);
            ctx.request_repaint_after(std::time::Duration::from_millis(ms));
        };
        if self.is_busy() {
            wake_in(500);
        }
        let shared = &mut self.shared;
        // The remaining time of an approval is shown in minutes, so repaint at least every ten seconds, and when it
        // expires.
        let since_boot = SystemClock::default().since_boot();
        let shown = self.plan.shown.as_mut();
        let expires = shown.and_then(|session| session.expire(shared.now.ms, &since_boot));
        let due = [
            expires.map(|left| left.min(10_000)),
            self.plan.review_when_due(shared),
            self.loops.folders_due_in(shared),
            self.evidence.search_when_due(shared),
        ];
        due.into_iter().flatten().for_each(wake_in);
    }
}
