//! The window without a display: the same state, threads and views, drawn frame by frame.
//!
//! Only the frame benchmarks use it. They supply the input of each frame.

use super::{App, Options, settings};
use crate::worker::Folders;

/// The window's state with its threads. A frame is drawn only when [`frame`](Self::frame) is called.
pub struct Offscreen {
    app: App,
}

impl Offscreen {
    /// Starts the threads. They request a repaint of `ctx` after each message.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub fn start(ctx: &egui::Context, options: Options, folders: Folders) -> std::io::Result<Self> {
        let loaded = settings::load(options.settings.clone());
        Ok(Self { app: App::start(ctx, options, folders, loaded)? })
    }

    /// Runs one frame with this input, as the real window does.
    pub fn frame(&mut self, ctx: &egui::Context, mut input: egui::RawInput) -> egui::FullOutput {
        self.app.defer_keys(ctx, &mut input);
        ctx.run_ui(input, |ui| {
            self.app.begin_frame(ui.ctx());
            self.app.draw_and_apply(ui);
        })
    }
}
