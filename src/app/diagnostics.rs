//! What the diagnostics page remembers of one run, and where its data comes from.

use uuid::Uuid;

use super::App;
use super::pending::Unanswered;
use super::session::PlanSession;
use crate::run::{Failure, RunState, SourceLine};
use crate::ui::action::Page;
use crate::ui::diagnostics::{
    DiagnosticsView, Excerpt, Listing, Place, Sight, diagnostic, excerpt, wanted,
};
use crate::worker::{EditorPlace, OpenEditor, QueryError, ReadSource};

/// A diagnostic of a run.
type Of = (Option<Uuid>, Place);

/// What the page remembers.
#[derive(Debug, Clone, Default)]
pub(super) struct DiagnosticsSession {
    pub(super) sight: Sight,
    pub(super) listing: Listing,
    /// What the listing was made of: the run, how many of its steps had ended, and what was to be seen.
    made_of: Option<(Option<Uuid>, usize, Sight)>,
    /// The diagnostic whose source was asked for, and the source, once read.
    source: Option<(Of, Option<Excerpt>)>,
    pub(super) focus_filter: bool,
    pub(super) scroll_to_selected: bool,
}

impl DiagnosticsSession {
    /// The page with this run.
    pub(super) fn view<'a>(&'a self, run: &'a RunState) -> DiagnosticsView<'a> {
        let chosen = self.listing.chosen().map(|entry| (run.run_id, entry.place));
        let source = self.source.as_ref().filter(|(of, _)| Some(*of) == chosen);
        DiagnosticsView {
            run,
            listing: &self.listing,
            sight: &self.sight,
            excerpt: source.and_then(|(_, excerpt)| excerpt.as_ref()),
            focus_filter: self.focus_filter,
            scroll_to_selected: self.scroll_to_selected,
        }
    }
}

impl App {
    /// Makes the list anew when the run or what is to be seen is another, and asks for the source of the
    /// diagnostic that is looked at.
    pub(super) fn keep_diagnostics(&mut self) {
        let Some(session) = self.shown.as_mut().filter(|_| self.page == Page::Diagnostics) else {
            return;
        };
        let kept = &mut session.diagnostics;
        let run = &session.run;
        let (id, ended) = (run.run_id, run.steps.done());
        let steps = kept.made_of.as_ref().map(|made| (made.0, made.1));
        let sight = kept.made_of.as_ref().map(|made| &made.2);
        if steps != Some((id, ended)) {
            // A step that has ended may have changed the file.
            kept.source = None;
        }
        if steps != Some((id, ended)) || sight != Some(&kept.sight) {
            kept.listing = Listing::of(run, session.plan.as_deref(), &kept.sight);
            kept.made_of = Some((id, ended, kept.sight.clone()));
        }
        let Some(place) = kept.listing.chosen().map(|entry| entry.place) else { return };
        if kept.source.as_ref().is_some_and(|(of, _)| *of == (id, place)) {
            return;
        }
        let Some(it) = diagnostic(run, place) else { return };
        let (wanted, file) = (wanted(it), it.file_name.clone());
        let known = wanted.is_empty().then_some(Excerpt::Nowhere);
        let ask = known.is_none();
        kept.source = Some(((id, place), known));
        if ask && let Some(workspace) = workspace(session) {
            let query = ReadSource { workspace, file, wanted };
            self.ask_each(query, move |app, lines, latest| match lines {
                Ok(lines) => app.take_source(id, place, Ok(lines)),
                Err(Unanswered { error: QueryError::Failed(failure), .. }) => {
                    app.take_source(id, place, Err(failure));
                }
                Err(unanswered) if latest => app.report(unanswered),
                Err(_) => {}
            });
        }
    }

    /// Reads the source anew when it is looked at next: the file may be another by then.
    pub(super) fn forget_source(&mut self) {
        if let Some(session) = &mut self.shown {
            session.diagnostics.source = None;
        }
    }

    /// Takes in the source of a diagnostic, or why there is none.
    pub(super) fn take_source(
        &mut self,
        run_id: Option<Uuid>,
        place: Place,
        lines: Result<Vec<SourceLine>, Failure>,
    ) {
        let Some(session) = &mut self.shown else { return };
        let Some((of, kept)) = &mut session.diagnostics.source else { return };
        if *of != (run_id, place) || session.run.run_id != run_id {
            return;
        }
        let Some(it) = diagnostic(&session.run, place) else { return };
        *kept = Some(match lines {
            Ok(lines) => excerpt(it, &lines),
            Err(failure) => Excerpt::Missing(failure.message),
        });
    }

    /// Shows the diagnostic that is looked at in the person's editor.
    pub(super) fn open_in_editor(&mut self) {
        let Some(session) = &self.shown else { return };
        let chosen = session.diagnostics.listing.chosen();
        let Some(it) = chosen.and_then(|entry| diagnostic(&session.run, entry.place)) else {
            return;
        };
        let Some(workspace) = workspace(session) else { return };
        let place = EditorPlace {
            file: it.file_name.clone(),
            line: it.line_start,
            column: it.column_start.unwrap_or(1),
        };
        let command = self.settings.editor_command.clone();
        self.ask(OpenEditor { workspace, command, place }, |_, ()| {});
    }
}

/// The workspace that the file names of a run begin in.
fn workspace(session: &PlanSession) -> Option<std::path::PathBuf> {
    let reviewed = session.review.as_ref().map(|review| review.workspace.clone());
    reviewed.or_else(|| session.workspace.clone())
}
