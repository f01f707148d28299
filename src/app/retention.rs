//! Purges of records: the dialog with its preview, and what came of it.

use uuid::Uuid;

use super::App;
use super::shared::Prompt;
use crate::plan::one_line;
use crate::run::text::size;
use crate::run::{PurgePreview, PurgeRule, RunSummary};
use crate::ui::dialog::{PURGE_AGES, PURGE_SIZES, PurgeChoice, PurgeKind, PurgeView};
use crate::ui::{Page, Tone, format};
use crate::worker::{PreviewPurge, PurgeRecords, PurgedRecords};

/// The age that the dialog begins with, in days.
const USUAL_DAYS: u32 = 90;
const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

impl App {
    /// Opens the dialog for the records of this run, or for old ones; then the run or the loop that is shown can be chosen,
    /// too.
    pub(super) fn ask_to_purge(&mut self, run_id: Option<Uuid>) {
        self.overlay = None;
        let choices = self.purge_choices(run_id);
        let usual = self.rule_for_age(USUAL_DAYS);
        let rule = match choices.first() {
            Some(choice) if run_id.is_some() => choice.rule.clone(),
            _ => usual,
        };
        self.purge = Some(PurgeView { choices, rule: rule.clone(), preview: None, dates: None });
        self.choose_purge(rule);
        self.shared.show_prompt(Some(Prompt::Purge));
    }

    fn rule_for_age(&self, days: u32) -> PurgeRule {
        let before_ms = Some(self.shared.now.ms - i64::from(days) * DAY_MS);
        PurgeRule { before_ms, ..PurgeRule::default() }
    }

    /// What can be chosen: this run or what is shown, ages, and sizes.
    fn purge_choices(&self, run_id: Option<Uuid>) -> Vec<PurgeChoice> {
        let mut choices = Vec::new();
        let mut named = |name: String, rule: PurgeRule| {
            choices.push(PurgeChoice { of: PurgeKind::Named, name, rule });
        };
        if let Some(run_id) = run_id.or_else(|| self.run_in_sight()) {
            let run = self.listed_run(run_id);
            let name = run.map_or_else(
                || format!("the run {run_id}"),
                |run| {
                    let started = self.shared.now.minute(run.started_at_ms);
                    format!("the run {}, {started}", one_line(&run.plan_name))
                },
            );
            named(name, PurgeRule { run: Some(run_id), ..PurgeRule::default() });
            if let Some(run) = run {
                let plan = Some(run.plan_id.clone());
                let name = "every run of its plan".to_owned();
                named(name, PurgeRule { plan, ..PurgeRule::default() });
            }
        }
        let state = self.loop_page.shown_state().filter(|_| self.shared.page == Page::Loop);
        if let Some((state, loop_id)) = state.and_then(|state| Some((state, state.loop_id?))) {
            let name = format!("the loop {}", one_line(&state.goal));
            named(name, PurgeRule { bounded_loop: Some(loop_id), ..PurgeRule::default() });
        }
        choices.extend(PURGE_AGES.map(|(days, name)| PurgeChoice {
            of: PurgeKind::Age,
            name: name.to_owned(),
            rule: self.rule_for_age(days),
        }));
        choices.extend(PURGE_SIZES.map(|bytes| PurgeChoice {
            of: PurgeKind::Size,
            name: size(bytes),
            rule: PurgeRule { larger_than: Some(bytes), ..PurgeRule::default() },
        }));
        choices
    }

    /// The run that the page shows: that of the plan page, or of the open execution.
    fn run_in_sight(&self) -> Option<Uuid> {
        match self.shared.page {
            Page::Plan | Page::Diagnostics => self.plan.shown_run(),
            // Those of the team are on other computers.
            Page::Evidence if self.evidence.shows_team() => None,
            Page::Evidence => self.evidence.detail.as_ref().map(|detail| detail.row.run_id),
            Page::Loop | Page::Agent | Page::Settings => None,
        }
    }

    /// What is known of this run, if it is listed or open.
    fn listed_run(&self, run_id: Uuid) -> Option<&RunSummary> {
        let open = self.evidence.detail.as_ref().map(|detail| &detail.run);
        self.plan.runs.iter().chain(open).find(|run| run.run_id == run_id)
    }

    /// Chooses a rule in the dialog, and counts what it takes. What becomes of old copies changes no count.
    pub(super) fn choose_purge(&mut self, rule: PurgeRule) {
        let Some(view) = &mut self.purge else { return };
        let records = |rule: &PurgeRule| PurgeRule { with_old_backups: false, ..rule.clone() };
        let is_counted = view.preview.is_some() && records(&view.rule) == records(&rule);
        view.rule = rule.clone();
        if is_counted {
            return;
        }
        (view.preview, view.dates) = (None, None);
        self.shared.query_latest(PreviewPurge(rule.clone()), move |app, counted| {
            if app.purge.as_ref().is_none_or(|view| records(&view.rule) != records(&rule)) {
                return;
            }
            let counted = counted.map_err(|failed| match failed.into_failure() {
                Ok(failure) => failure.message,
                Err(crashed) => crashed.summary,
            });
            let dates = counted.as_ref().ok().and_then(|preview| dates(app, preview));
            if let Some(view) = &mut app.purge {
                (view.preview, view.dates) = (Some(counted), dates);
            }
        });
    }

    /// Purges what the dialog showed.
    pub(super) fn purge_records(&mut self, rule: PurgeRule, reason: String) {
        self.shared.prompt = None;
        self.purge = None;
        self.shared.notify(Tone::Dim, "Records are being purged…", "", "");
        self.shared.query(PurgeRecords { rule, reason }, |app, purged| {
            let (tone, summary, details) = outcome(&purged);
            app.shared.notify(tone, summary, details, "");
            app.plan.list_recent_anew();
            app.shared.list_loops();
            app.evidence.refresh(&mut app.shared);
        });
    }
}

/// The days of the first and the last run or loop.
fn dates(app: &App, preview: &PurgePreview) -> Option<(String, String)> {
    let day = |ms| app.shared.now.full(ms);
    Some((day(preview.first_ms?), day(preview.last_ms?)))
}

/// What to say of a purge.
fn outcome(purged: &PurgedRecords) -> (Tone, String, String) {
    let taken = &purged.report.taken;
    let counted = |number: u64, word: &str| {
        (number > 0).then(|| format::counted(usize::try_from(number).unwrap_or(usize::MAX), word))
    };
    let parts = [counted(taken.runs, "run"), counted(taken.loops, "loop")];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    let summary = match parts.is_empty() {
        false => {
            format!("The records of {} were purged ({}).", parts.join(" and "), size(taken.bytes))
        }
        true => {
            let contents =
                counted(taken.contents, "content").unwrap_or_else(|| "Nothing".to_owned());
            format!("Purged: {contents} ({}).", size(taken.bytes))
        }
    };
    let mut details: Vec<String> = Vec::new();
    let mut tone = Tone::Safe;
    match &purged.compacted {
        Ok(done) => {
            let (after, before) = (size(done.after_bytes), size(done.before_bytes));
            details.push(format!("The database has {after} now; it had {before}."));
        }
        Err(why) => {
            details.push(format!(
                "Their space is not given back to the disk yet: {why}. Later records use it."
            ));
            tone = Tone::Caution;
        }
    }
    let deleted = purged.report.deleted_backups.iter();
    details.extend(deleted.map(|(name, bytes)| format!("Deleted {name} ({}).", size(*bytes))));
    for (name, why) in &purged.report.kept_backups {
        details.push(format!("{name} could not be deleted: {why}. It still has what was purged."));
        tone = Tone::Caution;
    }
    (tone, summary, details.join(" "))
}
