//! What happens in each frame: news are taken in, the window is drawn, what was done is applied.

use super::{App, Prompt, now};
use crate::worker::{Clock as _, KeepFile, SystemClock, keep_file};

impl eframe::App for App {
    fn raw_input_hook(&mut self, ctx: &egui::Context, raw_input: &mut egui::RawInput) {
        self.put_in_order(ctx, raw_input);
    }

    fn logic(&mut self, ctx: &egui::Context, _frame: &mut eframe::Frame) {
        self.take_in(ctx);
    }

    fn ui(&mut self, ui: &mut egui::Ui, _frame: &mut eframe::Frame) {
        self.draw_and_apply(ui);
    }

    fn on_exit(&mut self, _gl: Option<&eframe::glow::Context>) {
        // The last frame is over; nobody is left to tell of a failure.
        if let Some(KeepFile { file, text }) = self.settings_to_save() {
            let _ = keep_file(&file, &text);
        }
    }
}

impl App {
    /// Keys that must not count in this frame wait for the next.
    pub(super) fn put_in_order(&mut self, ctx: &egui::Context, input: &mut egui::RawInput) {
        if self.key_order.put_in_order(&mut input.events, self.showing) {
            ctx.request_repaint();
        }
    }

    pub(super) fn take_in(&mut self, ctx: &egui::Context) {
        self.now = now();
        // Whoever comes back may have been at the folders meanwhile.
        let comes_back = |event: &egui::Event| matches!(event, egui::Event::WindowFocused(true));
        if ctx.input(|input| input.events.iter().any(comes_back)) {
            self.look_at_place(0);
        }
        if self.drain() {
            ctx.request_repaint();
        }
        if let Some(text) = self.to_copy.take() {
            ctx.copy_text(text);
        }
        self.take_dropped_files(ctx);
        self.take_close_request(ctx);
        self.keep_time(ctx);
    }

    pub(super) fn draw_and_apply(&mut self, ui: &mut egui::Ui) {
        let actions = self.draw(ui);
        self.looping.scroll_to_latest = false;
        self.looping.focus_goal = false;
        self.evidence.focus_search = false;
        self.evidence.scroll_to_selected = false;
        if let Some(session) = &mut self.shown {
            session.scroll_to_selected = false;
            session.reveal_card = false;
            session.diagnostics.scroll_to_selected = false;
            session.diagnostics.focus_filter = false;
        }
        for action in actions {
            self.apply(action, ui.ctx());
        }
    }

    pub(super) fn take_dropped_files(&mut self, ctx: &egui::Context) {
        let dropped =
            ctx.input(|input| input.raw.dropped_files.first().map(|file| file.path().to_owned()));
        if let Some(path) = dropped {
            self.open(path, None);
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
            if self.prompt != Some(Prompt::Close) {
                self.show_prompt(Some(Prompt::Close));
            }
        }
        if self.close_when_over && !running {
            ctx.send_viewport_cmd(egui::ViewportCommand::Close);
        }
    }

    /// Does what is due now, and asks to be woken for what comes due later. Without anything to
    /// come, the window sleeps.
    pub(super) fn keep_time(&mut self, ctx: &egui::Context) {
        let wake_in = |ms: i64| {
            let ms = u64::try_from(ms.max(1)).unwrap_or(1);
            ctx.request_repaint_after(std::time::Duration::from_millis(ms));
        };
        if self.is_busy() {
            wake_in(500);
        }
        if let Some(session) = &mut self.shown
            && let Some(left) = session.expire(self.now.ms, &SystemClock::default().since_boot())
        {
            // Often enough for the minutes shown, at once when they run out.
            wake_in(left.min(10_000));
        }
        if let Some(left) = self.watch.due_in(self.now.ms) {
            if left > 0 {
                wake_in(left);
            } else if self.running().is_none() {
                self.watch.settle();
                self.review_again(false);
            }
        }
        if let Some(left) = self.place_due_in() {
            wake_in(left);
        }
        if let Some(due) = self.evidence.search_at_ms {
            if due > self.now.ms {
                wake_in(due - self.now.ms);
            } else {
                self.search();
            }
        }
    }
}
