//! Purges of old records: the dialog with its preview, and what came of it.

use super::App;
use super::shared::Prompt;
use crate::run::text::size;
use crate::run::{PurgePreview, PurgeRule};
use crate::ui::dialog::PurgeView;
use crate::ui::{Tone, format};
use crate::worker::{PreviewPurge, PurgeRecords, PurgedRecords};

/// The age that the dialog begins with, in days.
const USUAL_DAYS: u32 = 90;
const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

impl App {
    /// Opens the dialog.
    pub(super) fn ask_to_purge(&mut self) {
        self.overlay = None;
        self.choose_purge_age(USUAL_DAYS);
        self.shared.show_prompt(Some(Prompt::Purge));
    }

    /// Counts what is older than this, for the dialog.
    pub(super) fn choose_purge_age(&mut self, days: u32) {
        let before_ms = Some(self.shared.now.ms - i64::from(days) * DAY_MS);
        let rule = PurgeRule { before_ms, ..PurgeRule::default() };
        self.purge = Some(PurgeView { days, rule: rule.clone(), preview: None, dates: None });
        self.shared.query_latest(PreviewPurge(rule.clone()), move |app, counted| {
            if app.purge.as_ref().is_none_or(|view| view.rule != rule) {
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
            app.evidence.search(&mut app.shared);
        });
    }
}

/// The days of the first and the last run.
fn dates(app: &App, preview: &PurgePreview) -> Option<(String, String)> {
    let day = |ms| app.shared.now.full(ms);
    Some((day(preview.first_ms?), day(preview.last_ms?)))
}

/// What to say of a purge.
fn outcome(purged: &PurgedRecords) -> (Tone, String, String) {
    let taken = &purged.report.taken;
    let runs = format::counted(usize::try_from(taken.runs).unwrap_or(usize::MAX), "run");
    let summary = format!("The records of {runs} were purged ({}).", size(taken.bytes));
    match &purged.compacted {
        Ok(done) => {
            let (after, before) = (size(done.after_bytes), size(done.before_bytes));
            (Tone::Safe, summary, format!("The database has {after} now; it had {before}."))
        }
        Err(why) => {
            let text = format!(
                "Their space is not given back to the disk yet: {why}. Later records use it."
            );
            (Tone::Caution, summary, text)
        }
    }
}
