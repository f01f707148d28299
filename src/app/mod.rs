//! The window: connects the executor and query threads with the views.
//!
//! Only `main` calls [`run`]. Each page holds its own state, applies the actions on it, and builds its view model.
//! `App` holds the pages and their shared state. In each frame `begin_frame` applies the messages of the threads,
//! `draw` draws the views and collects the person's actions, and `apply` passes each action to its page. Nothing here
//! blocks. Colours and layout are in [`crate::ui`]; nothing here executes steps or contains SQL.

mod agent_page;
mod agent_sessions;
mod artifacts;
mod attention;
mod bug_report;
mod calls;
mod commands;
mod contents;
mod diagnostics_page;
mod dialogs;
mod events;
mod evidence_judging;
mod evidence_page;
mod evidence_player;
mod evidence_record;
mod evidence_results;
mod evidence_team;
mod evidence_timeline;
mod examples;
mod exporting;
mod file_dialog;
mod frame;
mod history;
mod inbox;
mod libraries;
mod loop_page;
#[cfg(feature = "inspection")]
mod offscreen;
mod panic_page;
mod pending;
mod plan_page;
mod recent;
mod recording;
mod retention;
mod rules;
mod saved_list;
mod searches;
mod session_rules;
mod settings;
mod settings_page;
mod shared;
mod shared_files;
mod start;
#[cfg(test)]
mod tests;
mod this_computer;
mod tour;
mod view;
mod watch;
mod window;

use std::path::PathBuf;
use std::sync::Arc;

use egui_system_font_provider::SystemFontProvider;

use crate::run::settings::Shortcuts;
use crate::ui::commands::set_shortcuts;
use crate::ui::composition::Composition;
use crate::ui::dialog::PurgeView;
use crate::ui::key_names::KeyNames;
use crate::ui::key_queue::KeyQueue;
use crate::ui::overlay::Overlay;
use crate::ui::splits::set_splits;
use crate::ui::{Now, Tone, glyphs, theme};
use crate::worker::{
    Clock as _, ComputerFacts, Faults, Folders, Notifier, Setup, SystemClock, Wake, team_of,
};
#[cfg(feature = "inspection")]
pub use offscreen::Offscreen;
pub use start::{Options, StartError, run};

use agent_page::AgentPage;
use evidence_page::EvidencePage;
use loop_page::LoopPage;
use plan_page::PlanPage;
use settings::{LoadedSettings, Settings};
use shared::Shared;

/// The window's state.
struct App {
    shared: Shared,
    inbox: inbox::Inbox,
    agents: agent_sessions::Agents,
    plan: PlanPage,
    evidence: EvidencePage,
    loop_page: LoopPage,
    agent: AgentPage,
    settings: Settings,
    settings_file: Option<PathBuf>,
    /// Whether the settings file has a fault. Such a file is never overwritten.
    settings_have_fault: bool,
    /// The theme that the frame of the window was last given.
    frame_theme: Option<egui::Theme>,
    /// The zoom factor of the window in the last frame.
    last_zoom: Option<f32>,
    overlay: Option<Overlay>,
    settings_page: settings_page::SettingsPage,
    tour: tour::Tour,
    /// What draws the window, by name; empty without a window.
    graphics: Vec<(String, String)>,
    rules: rules::RulesEditor,
    /// What this computer has, as it was when the settings were last opened; `None` before.
    computer: Option<ComputerFacts>,
    /// What the dialog about a purge shows; `None` before it was opened.
    purge: Option<PurgeView>,
    /// Defers keys to the next frame.
    composition: Composition,
    key_names: KeyNames,
    key_queue: KeyQueue,
    file_picker: file_dialog::FilePicker,
    /// Whether to close the window once no run or loop is under way.
    close_when_idle: bool,
    attention: attention::Attention,
    notifier: Notifier,
    evidence_watch: shared_files::SharedFiles,
    way: history::Way,
}

impl App {
    /// Applies the settings to `ctx`, starts the threads, and opens the plan of the options.
    fn start(
        ctx: &egui::Context,
        options: Options,
        folders: Folders,
        loaded: LoadedSettings,
    ) -> std::io::Result<Self> {
        theme::install(ctx);
        // Reads which fonts there are on a thread of its own.
        glyphs::use_system_fonts(Arc::new(SystemFontProvider::new()));
        let keys = Shortcuts::of(&loaded.settings.shortcuts);
        set_shortcuts(ctx, keys.unwrap_or_default());
        ctx.set_theme(options.theme.unwrap_or(loaded.settings.theme));
        ctx.set_zoom_factor(loaded.settings.zoom);
        set_splits(ctx, loaded.settings.panels.clone());
        let waker = ctx.clone();
        let mut app = Self::new(folders, loaded, Arc::new(move || waker.request_repaint()))?;
        app.use_look(ctx);
        app.read_desktop_look(ctx);
        if let Some(plan) = options.plan {
            app.plan.open(plan, options.workspace, &mut app.shared);
        }
        Ok(app)
    }

    /// Starts the threads, and requests the lists of runs and loops.
    fn new(folders: Folders, loaded: LoadedSettings, wake: Wake) -> std::io::Result<Self> {
        let files = folders.location().database_files().into();
        let evidence_watch =
            shared_files::SharedFiles::new(folders.evidence.clone(), files, Wake::clone(&wake));
        let rules = rules::RulesEditor::new(loaded.file.as_deref(), Wake::clone(&wake));
        let mut own_folders =
            vec![folders.evidence.clone(), folders.secrets.clone(), folders.window.clone()];
        own_folders.extend(loaded.policy.own_folders.iter().cloned());
        let setup = Setup {
            location: folders.location(),
            // With another fault in the settings, this one of them still counts.
            inbox: loaded.policy.own_folders.first().cloned().unwrap_or(folders.inbox),
            policy: crate::risk::Policy { own_folders, ..loaded.policy },
            faults: Faults::from_environment(),
        };
        let mut shared = Shared::start(setup, &folders.window, Wake::clone(&wake))?;
        let settings_have_fault = loaded.fault.is_some();
        match &loaded.fault {
            None => log::info!("settings loaded"),
            // The details may quote the settings.
            Some(_) => log::error!("settings have a fault"),
        }
        if let Some(fault) = loaded.fault {
            shared.notify(Tone::Caution, fault.summary, fault.details, fault.next);
        }
        // A faulty address is a fault of the settings, which are the default ones then.
        let team = loaded.settings.team.as_deref().and_then(|address| team_of(address).ok());
        shared.list_runs();
        shared.list_loops();
        let inbox = inbox::Inbox::start(&mut shared);
        Ok(Self {
            shared,
            inbox,
            agents: agent_sessions::Agents::default(),
            plan: PlanPage::new(
                loaded.settings.recent.clone(),
                loaded.settings.must_see,
                Wake::clone(&wake),
            ),
            evidence: EvidencePage::new(loaded.settings.searches.clone(), team),
            loop_page: LoopPage::default(),
            agent: AgentPage::default(),
            settings: loaded.settings,
            settings_file: loaded.file,
            settings_have_fault,
            overlay: None,
            frame_theme: None,
            settings_page: settings_page::SettingsPage::new(loaded.table),
            tour: tour::Tour::default(),
            graphics: Vec::new(),
            last_zoom: None,
            rules,
            computer: None,
            purge: None,
            composition: Composition::default(),
            key_names: KeyNames::default(),
            key_queue: KeyQueue::default(),
            file_picker: file_dialog::FilePicker::new(wake),
            close_when_idle: false,
            attention: attention::Attention::default(),
            notifier: Notifier::default(),
            evidence_watch,
            way: history::Way::default(),
        })
    }

    /// Whether a run or a loop is under way.
    fn is_busy(&self) -> bool {
        self.plan.running().is_some() || self.loop_page.under_way().is_some()
    }
}

/// The current time and the system's time zone.
fn now() -> Now {
    Now { ms: SystemClock::default().now_ms(), zone: jiff::tz::TimeZone::system() }
}
