//! The window without a display: the same state, threads and views, drawn frame by frame.
//!
//! Only the frame benchmarks use it; they supply input and time. It does not wait, and it does nothing that a frame
//! of the real window does not do.

use super::{App, Options, settings};
use crate::worker::Folders;

/// The window's state with its threads, drawn on request.
pub struct Offscreen {
    app: App,
}

impl Offscreen {
    /// Starts the threads. They request a repaint of `ctx` when there is something new to draw.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub fn start(ctx: &egui::Context, options: Options, folders: Folders) -> std::io::Result<Self> {
        let loaded = settings::load(options.settings.clone());
        Ok(Self { app: App::start(ctx, options, folders, loaded)? })
    }

    /// Draws one frame: applies what has arrived, draws, and applies the input.
    pub fn frame(&mut self, ctx: &egui::Context, mut input: egui::RawInput) -> egui::FullOutput {
        self.app.hold_back(ctx, &mut input);
        ctx.run_ui(input, |ui| {
            self.app.take_in(ui.ctx());
            self.app.draw_and_apply(ui);
        })
    }
}
