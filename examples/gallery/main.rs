//! Shows any state of the window with example data:
//!
//! `cargo run --example gallery -- STATE dark|light[-contrast] [WIDTHxHEIGHT]`, with a STATE of
//! `plan|authorized|running|dialog|dangerous|guided|guided-dangerous|guided-dialog|guided-ended|guided-many|guided-long|guided-output|guided-ended-output|failed|completed|invalid|empty|evidence|execution|tampered|authorize|reject|trust|trusted|untrusted|close|palette|help|settings|void|notice|large|simulation|simulating|simulation-failed|simulation-empty|stale|diagnostics|first|changed|gone|clean|thousands|unchecked|answer|recurring|output|output-step|output-many|output-failed|output-empty|command|command-running|command-dialog|command-failed|command-refused|command-trying|batch|batch-interrupted`,
//! or `loop` (the empty form), or `loop-` and one of `faulty|class|refused|nowhere|untrusted|trusted|trust|planning|waiting|applying|stopping|interrupted|unverified|crowded|many` or a stop
//! reason such as `completed`,
//! or `viewer-` and one of `text|colours|tree|table|diff|hex|part|loading|sealed|empty`

#![expect(clippy::indexing_slicing, reason = "made-up data has the steps it was made with")]

mod batch;
mod fixture;
mod found;
mod looping;
mod revert;
mod scene;

use eframe::egui;

struct Gallery {
    scene: scene::Scene,
}

impl eframe::App for Gallery {
    fn ui(&mut self, ui: &mut egui::Ui, _frame: &mut eframe::Frame) {
        let mut actions = Vec::new();
        countersign::ui::window_ui(ui, &self.scene.view(), &mut actions);
        for action in actions {
            println!("{action:?}");
            self.scene.play(&action, ui.ctx());
        }
    }
}

fn main() -> eframe::Result {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_else(|| "plan".to_owned());
    let look = arguments.next().unwrap_or_default();
    let theme = if look.starts_with("light") {
        egui::ThemePreference::Light
    } else {
        egui::ThemePreference::Dark
    };
    let size = arguments
        .next()
        .and_then(|text| {
            let (width, height) = text.split_once('x')?;
            Some(egui::vec2(width.parse().ok()?, height.parse().ok()?))
        })
        .unwrap_or(egui::vec2(1280.0, 800.0));
    let options = eframe::NativeOptions {
        viewport: egui::ViewportBuilder::default().with_inner_size(size),
        ..eframe::NativeOptions::default()
    };
    eframe::run_native(
        "Countersign gallery",
        options,
        Box::new(move |cc| {
            countersign::ui::theme::install(&cc.egui_ctx);
            countersign::ui::theme::set_contrast(&cc.egui_ctx, look.ends_with("-contrast"));
            cc.egui_ctx.set_theme(theme);
            Ok(Box::new(Gallery { scene: scene::Scene::new(&name) }))
        }),
    )
}
