//! Shows what a report about a fault of the program needs, and copies it.

use std::time::Duration;

use super::App;
use crate::ui::glyphs;
use crate::ui::overlay::{BugReportView, Overlay};
use crate::worker::MakeBugReport;

/// The frame time from which a frame is slow. A display of 60 Hz shows three frames in it.
pub(super) const SLOW: Duration = Duration::from_millis(50);

/// Characters of scripts that the bundled fonts lack.
const SCRIPTS: [(&str, &str); 6] = [
    ("Arabic", "ع"),
    ("Chinese", "中"),
    ("Devanagari", "अ"),
    ("emoji", "😀"),
    ("Hebrew", "א"),
    ("Japanese", "あ"),
];

impl App {
    /// Opens the bug report, and collects it.
    pub(super) fn make_bug_report(&mut self, ctx: &egui::Context) {
        self.overlay = Some(Overlay::BugReport(Box::default()));
        let mut facts = self.graphics.clone();
        let size = ctx.content_rect().size();
        facts.push(("size".to_owned(), format!("{} × {} points", size.x.round(), size.y.round())));
        facts.push(("scale".to_owned(), format!("{:.2}", ctx.pixels_per_point())));
        let dark = ctx.global_style().visuals.dark_mode;
        facts.push(("theme".to_owned(), if dark { "dark" } else { "light" }.to_owned()));
        let window = move || {
            facts.extend(SCRIPTS.map(|(script, sample)| {
                let font = glyphs::system_font(sample);
                // The name of the family, which stands between the source and numbers.
                let font = font.as_deref().map_or("none", |it| it.split(':').nth(1).unwrap_or(it));
                let font = font.to_owned();
                (format!("font for {script}"), font)
            }));
            facts
        };
        let query =
            MakeBugReport { settings: self.settings_file.clone(), window: Box::new(window) };
        self.shared.query_latest(query, |app, made| match (made, &mut app.overlay) {
            (Ok(text), Some(Overlay::BugReport(view))) => view.text = Some(text),
            (Ok(_), _) => {}
            (Err(failed), _) => {
                app.overlay.take_if(|it| matches!(it, Overlay::BugReport(_)));
                app.shared.report(failed);
            }
        });
    }

    pub(super) fn copy_bug_report(&mut self, ctx: &egui::Context) {
        if let Some(Overlay::BugReport(view)) = &mut self.overlay
            && let BugReportView { text: Some(text), is_copied } = &mut **view
        {
            ctx.copy_text(text.clone());
            *is_copied = true;
        }
    }
}

/// What draws the window: the renderer of OpenGL and its version.
pub(super) fn graphics(gl: Option<&eframe::glow::Context>) -> Vec<(String, String)> {
    use eframe::glow::{self, HasContext as _};
    let Some(gl) = gl else { return Vec::new() };
    let text = |name| {
        #[expect(
            unsafe_code,
            reason = "calls of OpenGL; this one reads a text of the current context"
        )]
        unsafe {
            gl.get_parameter_string(name)
        }
    };
    let facts = [
        ("GL renderer", glow::RENDERER),
        ("GL vendor", glow::VENDOR),
        ("GL version", glow::VERSION),
    ];
    facts.map(|(name, of)| (name.to_owned(), text(of))).into()
}
