//! Shows any state of the window with example data:
//!
//! `cargo run --example gallery -- STATE dark|light[-contrast] [WIDTHxHEIGHT]`, with a STATE of
//!
//! - `plan`, `fails`, `unseen`, `authorized`, `void`, `running`, `asking`, `dialog`, `dangerous`, `failed`, `completed`, `done`, `invalid`,
//!   `revert`, `revert-conflict`, `revert-done`, `batch`, `batch-interrupted`, `large`, `filtered`, `edited`, `attempt`, `attempt-failed`, `empty`, `returning`
//! - `guided`, or `guided-` and one of `dangerous`, `dialog`, `ended`, `many`, `long`, `output`, `ended-output`
//! - `command`, or `command-` and one of `running`, `dialog`, `failed`, `refused`, `trying`
//! - `output`, or `output-` and one of `step`, `many`, `failed`, `empty`; `terminal`
//! - `simulation`, `simulating`, `simulation-failed`, `simulation-empty`, `stale`
//! - `evidence`, `export`, `exporting`, `brushed`, `execution`, `nothing`, `tampered`, `answer`, `recurring`, `rejected-plans`, `times`, `times-many`,
//!   `team`, or `team-` and one of `record`, `connecting`, `unreachable`, `nothing`; `runs-to-compare`, `compared`, `file-history`, `durations`, `judged`, `played`
//! - `diagnostics`, `first`, `changed`, `gone`, `clean`, `thousands`, `unchecked`
//! - `authorize`, `authorize-walls`, `authorize-many`, `authorize-fails`, `authorize-ends`, `authorize-revert`, `reject`, `remember-walls`, `purge`, `trust`, `trusted`, `untrusted`, `close`, `secret`, `palette`, `help`, `settings`, `settings-asks`, `settings-faulty`, `settings-import`, `settings-import-faulty`,
//!   `notice`, `notices`
//! - `loop` (the empty form), or `loop-` and a stop reason such as `completed` or one of `filled`, `faulty`, `class`, `refused`,
//!   `nowhere`, `untrusted`, `trusted`, `trust`, `planning`, `waiting`, `applying`, `stopping`, `interrupted`,
//!   `unverified`, `crowded`, `many`
//! - `agent` (the empty form), or `agent-` and one of `filled`, `refused`, `starting`, `working`, `waiting`, `done`, `failed`
//! - `session`, or `session-` and one of `many`, `past`, `rule`
//! - `viewer-` and one of `text`, `colours`, `tree`, `table`, `diff`, `hex`, `part`, `loading`, `sealed`, `empty`

#![expect(clippy::indexing_slicing, reason = "the example data always has the indexed items")]

mod agent;
mod batch;
mod calls;
mod fixture;
mod found;
mod looking;
mod looping;
mod revert;
mod scene;
mod setting;
mod signing;

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
    let theme_name = arguments.next().unwrap_or_default();
    let theme = if theme_name.starts_with("light") {
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
            let fonts = egui_system_font_provider::SystemFontProvider::new();
            countersign::ui::glyphs::use_system_fonts(std::sync::Arc::new(fonts));
            countersign::ui::theme::set_contrast(&cc.egui_ctx, theme_name.ends_with("-contrast"));
            cc.egui_ctx.set_theme(theme);
            Ok(Box::new(Gallery { scene: scene::Scene::new(&name) }))
        }),
    )
}
