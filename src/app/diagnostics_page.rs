//! The diagnostics page of one run: the listed diagnostics, and the source of the selected one.

use std::path::PathBuf;

use uuid::Uuid;

use super::pending::Unanswered;
use super::shared::Shared;
use crate::plan::ShownPlan;
use crate::run::{DiagnosticArtifact, Failure, RunState, SourceLine};
use crate::ui::action::DiagnosticsAction;
use crate::ui::diagnostics::{
    DiagnosticPosition, DiagnosticsView, Excerpt, ListOptions, Listing, diagnostic, excerpt,
    excerpt_lines,
};
use crate::worker::{EditorPlace, ReadSource};

/// A diagnostic, identified by its run and its place in that run.
type Key = (Option<Uuid>, DiagnosticPosition);

/// The state of the page for one run.
#[derive(Debug, Clone, Default)]
pub(super) struct DiagnosticsPage {
    options: ListOptions,
    pub(super) listing: Listing,
    /// The input of `listing`: the run, the number of its steps that had ended, and the filter and order.
    made_of: Option<(Option<Uuid>, usize, ListOptions)>,
    /// The diagnostic whose source was requested, and the excerpt once it was read.
    source: Option<(Key, Option<Excerpt>)>,
    pub(super) focus_filter: bool,
    scroll_to_selected: bool,
}

impl DiagnosticsPage {
    pub(super) fn apply(&mut self, action: DiagnosticsAction) {
        match action {
            DiagnosticsAction::Show(step) => {
                self.options.step = step;
                self.options.selected = None;
            }
            DiagnosticsAction::Filter(text) => self.options.filter = text,
            DiagnosticsAction::Toggle(facet) => self.options.toggle(facet),
            DiagnosticsAction::SortBy(column) => {
                // Keeps the selected row selected and scrolls to its new position.
                self.options.selected = self.listing.selected_entry().map(|entry| entry.position);
                self.options.sort_by(column);
                self.scroll_to_selected = true;
            }
            DiagnosticsAction::Select(place) => self.options.selected = Some(place),
        }
    }

    /// Selects the diagnostic `by` rows below the selected one.
    pub(super) fn move_selection(&mut self, by: isize) {
        let last = self.listing.shown.len().saturating_sub(1);
        let at = self.listing.selected.unwrap_or(0).saturating_add_signed(by).min(last);
        self.options.selected = self.listing.shown.get(at).map(|entry| entry.position);
        self.scroll_to_selected = true;
    }

    /// Resets the flags that apply to one frame only.
    pub(super) fn drawn(&mut self) {
        self.focus_filter = false;
        self.scroll_to_selected = false;
    }

    /// Rebuilds the list if the run, the filter or the order has changed, and requests the source of the selected
    /// diagnostic.
    pub(super) fn update(
        &mut self,
        run: &RunState,
        plan: Option<&ShownPlan>,
        workspace: Option<PathBuf>,
        shared: &mut Shared,
    ) {
        let (id, ended) = (run.run_id, run.steps.done());
        let same_run = matches!(&self.made_of, Some(made) if (made.0, made.1) == (id, ended));
        if !same_run {
            // The step that ended may have changed the file.
            self.source = None;
        }
        if !same_run || self.made_of.as_ref().is_none_or(|made| made.2 != self.options) {
            self.listing = Listing::of(run, plan, &self.options);
            self.made_of = Some((id, ended, self.options.clone()));
        }
        let Some((place, it)) = self.chosen(run) else { return };
        if self.source.as_ref().is_some_and(|(key, _)| *key == (id, place)) {
            return;
        }
        let (wanted, file) = (excerpt_lines(it), it.file_name.clone());
        let known = wanted.is_empty().then_some(Excerpt::Nowhere);
        let ask = known.is_none();
        self.source = Some(((id, place), known));
        if ask && let Some(workspace) = workspace {
            let query = ReadSource { workspace, file, wanted };
            shared.ask_each(query, move |app, lines, latest| {
                let lines = match lines.map_err(Unanswered::into_failure) {
                    Ok(lines) => Ok(lines),
                    Err(Ok(failure)) => Err(failure),
                    Err(Err(unanswered)) if latest => return app.shared.report(unanswered),
                    Err(Err(_)) => return,
                };
                if let Some(session) = &mut app.plan.shown {
                    session.diagnostics.take_source(&session.run, (id, place), lines);
                }
            });
        }
    }

    fn take_source(&mut self, run: &RunState, key: Key, lines: Result<Vec<SourceLine>, Failure>) {
        if let Some((wanted, kept)) = &mut self.source
            && *wanted == key
            && run.run_id == key.0
            && let Some(it) = diagnostic(run, key.1)
        {
            *kept = Some(match lines {
                Ok(lines) => excerpt(it, &lines),
                Err(failure) => Excerpt::Missing(failure.message),
            });
        }
    }

    /// Discards the source, so that it is read again: the file may have changed since.
    pub(super) fn forget_source(&mut self) {
        self.source = None;
    }

    /// The selected diagnostic, with its place in the run.
    fn chosen<'a>(
        &self,
        run: &'a RunState,
    ) -> Option<(DiagnosticPosition, &'a DiagnosticArtifact)> {
        let place = self.listing.selected_entry()?.position;
        Some((place, diagnostic(run, place)?))
    }

    /// The file, line and column of the selected diagnostic, for an editor.
    pub(super) fn editor_place(&self, run: &RunState) -> Option<EditorPlace> {
        let (_, it) = self.chosen(run)?;
        Some(EditorPlace {
            file: it.file_name.clone(),
            line: it.line_start,
            column: it.column_start.unwrap_or(1),
        })
    }

    pub(super) fn view<'a>(&'a self, run: &'a RunState) -> DiagnosticsView<'a> {
        let chosen = self.listing.selected_entry().map(|entry| (run.run_id, entry.position));
        let source = self.source.as_ref().filter(|(key, _)| Some(*key) == chosen);
        DiagnosticsView {
            run,
            listing: &self.listing,
            options: &self.options,
            excerpt: source.and_then(|(_, excerpt)| excerpt.as_ref()),
            focus_filter: self.focus_filter,
            scroll_to_selected: self.scroll_to_selected,
        }
    }
}
