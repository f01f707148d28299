//! The window's glue: threads on one side, views on the other.
//!
//! [`run`] is called by `main` alone. `take_in` applies what the worker and the query thread send,
//! `draw` draws and collects what the person did, `apply` turns that into commands and queries.
//! Nothing here waits. Absent on purpose: colours and layout ([`crate::ui`]), execution and SQL.

mod apply;
mod attempt;
mod contents;
mod diagnostics;
mod drain;
mod evidence;
mod file_dialog;
mod follow_up;
mod frame;
mod libraries;
mod loop_folders;
mod looping;
#[cfg(feature = "inspection")]
mod offscreen;
mod opened;
mod panic_page;
mod pending;
mod prefetch;
mod session;
mod settings;
mod start;
#[cfg(test)]
mod tests;
mod tour;
mod view;
mod watch;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use uuid::Uuid;

use crate::plan::Digest;
use crate::run::{Attempt, Reconciled, RunSummary};
use crate::ui::action::Page;
use crate::ui::dialog::PromptId;
use crate::ui::format::Now;
use crate::ui::key_order::KeyOrder;
use crate::ui::notice::Notice;
use crate::ui::overlay::Overlay;
use crate::ui::plan::RecentPlan;
use crate::ui::theme::{self, Tone};
use crate::worker::{
    Clock, Faults, Folders, KeepFile, ListLoops, ListRuns, Query as _, QueryThread, Setup,
    SystemClock, Wake, Worker,
};
#[cfg(feature = "inspection")]
pub use offscreen::Offscreen;
pub use start::{Options, StartError, run};

use contents::Contents;
use evidence::EvidenceSession;
use looping::LoopPage;
use panic_page::Broken;
use pending::Pending;
use session::PlanSession;
use settings::{Loaded, Settings};
use watch::Watch;

/// A question about the plan or the window that is open besides the run's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Prompt {
    Authorize,
    Reject,
    Trust,
    /// Whether the commands of the workspace are trusted that stands in the form of a loop.
    TrustPlace,
    Close,
}

/// The window's state.
struct App {
    worker: Worker,
    queries: QueryThread<Self>,
    pending: Pending,
    setup: Setup,
    settings: Settings,
    settings_file: Option<PathBuf>,
    /// A settings file that could not be read is never written to.
    settings_were_bad: bool,
    recent: Vec<RecentPlan>,
    now: Now,
    page: Page,
    overlay: Option<Overlay>,
    notices: Vec<Notice>,
    next_notice: u64,
    /// The notice that a host is being tried, while it is.
    trying: Option<u64>,
    /// The notice about a void approval; gone with the next one.
    void_notice: Option<u64>,
    /// What the plan page shows.
    shown: Option<PlanSession>,
    /// The session whose run is under way, while the page shows another one.
    live: Option<PlanSession>,
    runs: Vec<RunSummary>,
    /// The page of the bounded loop, and the loop under way.
    looping: LoopPage,
    evidence: EvidenceSession,
    contents: Contents,
    /// What is put on the clipboard with the next frame.
    to_copy: Option<String>,
    /// The attempts of loops that runs are of, as far as the evidence was asked, by run.
    attempts: BTreeMap<Uuid, Attempt>,
    /// What comparisons of interrupted steps with the disk found, by run.
    reconciled: BTreeMap<Uuid, Vec<Reconciled>>,
    /// The plan that is to be authorized as soon as it has been reviewed again.
    to_authorize: Option<Digest>,
    prompt: Option<Prompt>,
    showing: u64,
    /// What was pressed in this frame and counts in the next.
    key_order: KeyOrder,
    watch: Watch,
    picked: file_dialog::Picked,
    close_when_over: bool,
    evidence_trouble: Option<String>,
    /// A view that panicked.
    broken: Option<Broken>,
}

impl App {
    fn start(
        ctx: &egui::Context,
        options: Options,
        folders: Folders,
        loaded: Loaded,
    ) -> std::io::Result<Self> {
        theme::install(ctx);
        theme::set_contrast(ctx, loaded.settings.high_contrast);
        ctx.set_theme(options.theme.unwrap_or_else(|| loaded.settings.theme.preference()));
        ctx.set_zoom_factor(loaded.settings.zoom);
        let waker = ctx.clone();
        let wake: Wake = Arc::new(move || waker.request_repaint());
        let mut app = Self::new(folders, loaded, wake)?;
        if let Some(plan) = options.plan {
            app.open(plan, options.workspace);
        }
        Ok(app)
    }

    fn new(folders: Folders, loaded: Loaded, wake: Wake) -> std::io::Result<Self> {
        let own_folders = vec![folders.evidence.clone(), folders.secrets.clone()];
        let setup = Setup {
            secrets: folders.user(),
            evidence: folders.evidence,
            policy: crate::risk::Policy { own_folders, ..loaded.policy },
            faults: Faults::from_environment(),
        };
        let worker = Worker::start(setup.clone(), Arc::clone(&wake))?;
        let queries = QueryThread::start(setup.clone(), Arc::clone(&wake))?;
        let mut app = Self {
            worker,
            queries,
            pending: Pending::default(),
            watch: Watch::new(Arc::clone(&wake)),
            picked: file_dialog::Picked::new(Arc::clone(&wake)),
            setup,
            recent: loaded.settings.recent_plans(),
            settings: loaded.settings,
            settings_file: loaded.file,
            settings_were_bad: loaded.problem.is_some(),
            now: now(),
            page: Page::default(),
            overlay: None,
            notices: Vec::new(),
            next_notice: 0,
            trying: None,
            void_notice: None,
            shown: None,
            live: None,
            runs: Vec::new(),
            looping: LoopPage::default(),
            evidence: EvidenceSession::default(),
            contents: Contents::new(wake),
            to_copy: None,
            attempts: BTreeMap::new(),
            reconciled: BTreeMap::new(),
            to_authorize: None,
            prompt: None,
            showing: 0,
            key_order: KeyOrder::default(),
            close_when_over: false,
            evidence_trouble: None,
            broken: None,
        };
        if let Some(problem) = loaded.problem {
            app.notify(Tone::Caution, problem.summary, problem.details, problem.next);
        }
        app.list_runs();
        app.list_loops();
        Ok(app)
    }

    fn notify(
        &mut self,
        tone: Tone,
        summary: impl Into<String>,
        details: impl Into<String>,
        next: impl Into<String>,
    ) -> u64 {
        self.next_notice += 1;
        self.notices.push(Notice {
            id: self.next_notice,
            tone,
            summary: summary.into(),
            details: details.into(),
            next: next.into(),
        });
        self.next_notice
    }

    fn list_runs(&mut self) {
        self.ask(ListRuns(RUNS), |app, runs| app.runs = runs);
    }

    fn list_loops(&mut self) {
        self.ask(ListLoops(RUNS), |app, loops| app.looping.loops = loops);
    }

    /// The session whose run is under way, shown or not.
    fn running(&self) -> Option<&PlanSession> {
        [&self.shown, &self.live].into_iter().flatten().find(|session| session.run.is_active())
    }

    fn running_mut(&mut self) -> Option<&mut PlanSession> {
        [&mut self.shown, &mut self.live]
            .into_iter()
            .flatten()
            .find(|session| session.run.is_active())
    }

    /// A new identity for the question that comes to the front now.
    fn show_prompt(&mut self, prompt: Option<Prompt>) {
        self.showing += 1;
        self.prompt = prompt;
    }

    fn prompt_id(&self, run_id: Option<uuid::Uuid>, step_index: usize) -> PromptId {
        PromptId { run_id, step_index, showing: self.showing }
    }

    /// Has the settings written, without waiting for it.
    fn save_settings(&mut self) {
        if let Some(query) = self.settings_to_save() {
            self.ask(query, |_, ()| {});
        }
    }

    fn settings_to_save(&mut self) -> Option<KeepFile> {
        // The stricter policy that stands in for a faulty file must not become the person's own.
        if self.settings_were_bad {
            return None;
        }
        self.settings.remember(&self.recent);
        let file = self.settings_file.clone()?;
        match settings::text(&self.settings) {
            Ok(text) => Some(KeepFile { file, text }),
            Err(error) => {
                self.notify(Tone::Caution, KeepFile::FAILURE, error.to_string(), "");
                None
            }
        }
    }
}

/// The present moment in the zone of the screen.
fn now() -> Now {
    Now { ms: SystemClock::default().now_ms(), zone: jiff::tz::TimeZone::system() }
}

/// How many runs the list shows.
const RUNS: usize = 200;
