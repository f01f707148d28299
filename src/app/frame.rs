//! One frame: applies messages and input, draws the window, and applies the person's actions.

use super::attention::{Subject, Waits};
use super::bug_report::SLOW;
use super::recent::RecentChange;
use super::searches::SearchesChange;
use super::shared::Prompt;
use super::{App, now};
use crate::run::{LoopPhase, Phase, RunFate, RunSummary};
use crate::ui::dialog;
use crate::ui::loop_page::stop_word;
use crate::ui::plan::fate_look;
use crate::ui::settings_page::zoom_level;
use crate::ui::splits::splits;
use crate::ui::terminal;
use crate::worker::{Clock as _, SystemClock};

impl eframe::App for App {
    fn raw_input_hook(&mut self, ctx: &egui::Context, raw_input: &mut egui::RawInput) {
        self.defer_keys(ctx, raw_input);
    }

    fn logic(&mut self, ctx: &egui::Context, frame: &mut eframe::Frame) {
        self.file_picker.set_parent(frame);
        self.begin_frame(ctx);
    }

    fn ui(&mut self, ui: &mut egui::Ui, frame: &mut eframe::Frame) {
        // That of the last frame.
        let seconds = frame.info().cpu_usage.unwrap_or_default();
        if seconds > SLOW.as_secs_f32() {
            log::debug!("slow frame ms={:.0} page={:?}", seconds * 1_000.0, self.shared.page);
        }
        self.draw_and_apply(ui);
        self.settings.panels = splits(ui.ctx());
    }

    fn on_exit(&mut self, _gl: Option<&eframe::glow::Context>) {
        // The window is closed, so an error cannot be shown.
        if let Some(settings) = self.settings_to_save() {
            let _ = settings.save();
        }
    }
}

impl App {
    /// Leaves keys to an input method, ends released keys under all their names, and defers keys that must not take effect
    /// in this frame to the next frame.
    pub(super) fn defer_keys(&mut self, ctx: &egui::Context, input: &mut egui::RawInput) {
        let has_field = ctx.text_edit_focused() || terminal::has_keyboard(ctx);
        let time = input.time.unwrap_or_else(|| ctx.input(|input| input.time));
        self.composition.keep_keys(&mut input.events, time, has_field);
        self.key_names.complete(&mut input.events);
        if self.key_queue.hold_back(&mut input.events, self.shared.prompt_id(None).showing) {
            ctx.request_repaint();
        }
    }

    /// Applies what has arrived since the last frame: messages of the threads, dropped files, requests to close the
    /// window, and due timers.
    pub(super) fn begin_frame(&mut self, ctx: &egui::Context) {
        self.shared.now = now();
        // The person may have changed the folders in another program.
        let is_focus = |event: &egui::Event| matches!(event, egui::Event::WindowFocused(true));
        if ctx.input(|input| input.events.iter().any(is_focus)) {
            self.loop_page.schedule_folder_check(0, &self.shared);
            self.change_recent(RecentChange::Refresh);
            self.read_settings(ctx);
            self.change_searches(SearchesChange::Refresh);
            self.inbox.refresh();
        }
        if self.drain() {
            ctx.request_repaint();
        }
        self.take_picked(ctx);
        if std::mem::take(&mut self.plan.opened_terminal) {
            ctx.memory_mut(|memory| memory.surrender_focus(terminal::id()));
        }
        if let Some(text) = self.shared.to_copy.take() {
            ctx.copy_text(text);
        }
        // The keys of egui change it, too: Ctrl with +, - and 0.
        let zoom = ctx.zoom_factor();
        let last = self.last_zoom.replace(zoom).filter(|last| *last != zoom);
        if let Some(last) = last.filter(|_| zoom != self.settings.zoom) {
            let level = zoom_level(last, zoom);
            ctx.set_zoom_factor(level);
            self.set_zoom(level, ctx);
        }
        self.match_frame(ctx);
        dialog::keep_drafts(ctx, |subject| self.is_open(subject));
        self.open_what_arrives(ctx);
        self.handle_close_request(ctx);
        self.run_timers(ctx);
        self.draw_attention(ctx);
    }

    /// Gives the frame of the window the theme of what is in it. Where the system tells no theme, as on Linux, the frame would
    /// choose another one.
    fn match_frame(&mut self, ctx: &egui::Context) {
        if ctx.system_theme().is_some() {
            return;
        }
        ctx.options_mut(|options| options.sync_window_theme = false);
        let theme = ctx.theme();
        if self.frame_theme.replace(theme) != Some(theme) {
            let theme = match theme {
                egui::Theme::Dark => egui::SystemTheme::Dark,
                egui::Theme::Light => egui::SystemTheme::Light,
            };
            ctx.send_viewport_cmd(egui::ViewportCommand::SetTheme(theme));
        }
    }

    /// The questions that wait for the person.
    pub(super) fn waiting(&self) -> Vec<Waits> {
        let asks = self.plan.running().is_some_and(|session| session.request().is_some());
        let kinds = [
            (Waits::Step, usize::from(asks)),
            (Waits::Plan, usize::from(self.plan.awaiting_attempt().is_some())),
            (Waits::Planner, usize::from(self.loop_page.is_asked())),
            (Waits::Secret, self.shared.secrets.len()),
            (Waits::Inbox, self.inbox.waiting()),
        ];
        kinds.into_iter().flat_map(|(kind, count)| std::iter::repeat_n(kind, count)).collect()
    }

    /// Says in the title that the window waits for the person, and marks a window that is not in front.
    fn draw_attention(&mut self, ctx: &egui::Context) {
        let run = self.plan.shown.as_ref().map_or("ended", |session| match session.run.phase {
            Phase::Ended(status) => fate_look(RunFate::Ended(status), session.run.tally()).1,
            _ => "ended",
        });
        let bounded_loop = self.loop_page.live.as_ref().map(|live| &live.state.phase);
        let ended = |subject| match (subject, bounded_loop) {
            (Subject::Run, _) => run,
            (Subject::Loop, Some(LoopPhase::Ended(reason))) => stop_word(reason.code),
            (Subject::Loop, _) => "ended",
        };
        let busy = match self.loop_page.under_way() {
            Some(_) => Some(Subject::Loop),
            None => self.plan.running().map(|_| Subject::Run),
        };
        let is_focused = ctx.input(|input| input.viewport().focused).unwrap_or(true);
        let changes = self.attention.update(is_focused, &self.waiting(), busy, ended);
        for command in &changes.commands {
            ctx.send_viewport_cmd(command.clone());
        }
        if let Some(notification) = changes.notification(self.settings.notifications) {
            self.notifier.send(notification);
        }
    }

    /// Draws the window, and applies the person's actions.
    pub(super) fn draw_and_apply(&mut self, ui: &mut egui::Ui) {
        let actions = self.draw(ui);
        self.loop_page.reset_frame_flags();
        self.agent.reset_frame_flags();
        self.evidence.reset_frame_flags();
        self.plan.reset_frame_flags(self.shared.page);
        for action in actions {
            self.apply(action, ui.ctx());
        }
    }

    /// Opens the files that were dropped on the window, and shows the first one.
    pub(super) fn open_dropped_files(&mut self, ctx: &egui::Context) {
        let dropped: Vec<_> = ctx.input(|input| {
            input.raw.dropped_files.iter().map(|file| file.path().to_owned()).collect()
        });
        let mut dropped = dropped.into_iter();
        if let Some(path) = dropped.next() {
            self.plan.open(path.clone(), None, &mut self.shared);
            self.plan.note_dropped([path].into_iter().chain(dropped));
        }
    }

    /// Opens what the person pastes or drops.
    pub(super) fn open_what_arrives(&mut self, ctx: &egui::Context) {
        self.open_dropped_files(ctx);
        self.open_pasted_text(ctx);
    }

    /// Stores the size of the window. While a run, a loop or an agent is under way or plans are queued, a request to
    /// close the window opens a dialog instead.
    pub(super) fn handle_close_request(&mut self, ctx: &egui::Context) {
        let viewport = ctx.input(|input| input.viewport().clone());
        if let Some(rect) = viewport.inner_rect.filter(|_| viewport.maximized != Some(true)) {
            self.settings.window = [rect.width(), rect.height()];
        }
        let is_busy = self.is_busy();
        let is_queued = self.plan.queue_place().1 > 0 && !self.close_when_idle;
        let is_asked_about = is_queued || self.agent.works() && !self.close_when_idle;
        if viewport.close_requested() && (is_busy || is_asked_about) {
            ctx.send_viewport_cmd(egui::ViewportCommand::CancelClose);
            if self.shared.prompt != Some(Prompt::Close) {
                self.shared.show_prompt(Some(Prompt::Close));
            }
        }
        let asks =
            viewport.close_requested() && !is_busy && !is_asked_about && !self.close_when_idle;
        if asks && self.plan.asks_about_edits(&mut self.shared) {
            ctx.send_viewport_cmd(egui::ViewportCommand::CancelClose);
        }
        if self.close_when_idle && !is_busy {
            ctx.send_viewport_cmd(egui::ViewportCommand::Close);
        }
    }

    /// Reads the lists of runs and loops, and the shown run or loop of another window, if another window or command may
    /// have changed them. Returns the milliseconds left until then.
    pub(super) fn read_lists_when_due(&mut self) -> Option<i64> {
        let own = self.plan.own_run();
        let is_foreign = |run: &RunSummary| run.fate == RunFate::Active && own != Some(run.run_id);
        // The shown one may be too old for the list.
        let others_run = self.plan.runs.iter().any(is_foreign) || self.plan.shows_run_elsewhere();
        let others_run = others_run || self.loop_page.knows_loop_elsewhere();
        let left_ms = self.evidence_watch.due_in(self.shared.now.ms, others_run)?;
        if left_ms > 0 {
            return Some(left_ms);
        }
        self.evidence_watch.clear(self.shared.now.ms);
        self.shared.list_runs();
        self.note_decided();
        self.shared.list_loops();
        self.plan.follow_elsewhere(&mut self.shared);
        self.loop_page.follow_elsewhere(&mut self.shared);
        others_run.then_some(1_000)
    }

    /// Expires the approval, and starts the review and the search that are due. Requests a repaint for everything that
    /// is due later, including the check of the loop's folders.
    pub(super) fn run_timers(&mut self, ctx: &egui::Context) {
        let repaint_in = |ms: i64| {
            let ms = u64::try_from(ms.max(1)).unwrap_or(1);
            ctx.request_repaint_after(std::time::Duration::from_millis(ms));
        };
        if self.is_busy() {
            // The elapsed time is shown.
            repaint_in(500);
        }
        let shared = &mut self.shared;
        // The remaining time of an approval is shown in minutes, so the window is repainted at least every ten seconds,
        // and when the approval expires.
        let since_boot = SystemClock::default().since_boot();
        let shown = self.plan.shown.as_mut();
        let left_ms = shown.and_then(|session| session.expire(shared.now.ms, &since_boot));
        let lists_due = self.read_lists_when_due();
        let rules_due = self.read_rules_when_due(ctx);
        let session_rules_due = self.end_old_rules();
        let shared = &mut self.shared;
        let due_in = [
            lists_due,
            rules_due,
            session_rules_due,
            left_ms.map(|left_ms| left_ms.min(10_000)),
            self.plan.review_when_due(shared),
            self.loop_page.folder_check_due_in(shared),
            self.evidence.search_when_due(shared),
        ];
        due_in.into_iter().flatten().for_each(repaint_in);
    }
}
