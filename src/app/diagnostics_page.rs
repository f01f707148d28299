//! The diagnostics page of one run: the list of diagnostics, and the source of the selected one.

use std::path::PathBuf;

use uuid::Uuid;

use super::pending::FailedQuery;
use super::shared::Shared;
use crate::plan::{ShownPlan, ShownStep, ToolCall, ToolClass};
use crate::run::{DiagnosticArtifact, DiagnosticSpan, Failure, RunState, SourceLine};
use crate::ui::action::DiagnosticsAction;
use crate::ui::diagnostics::{
    DiagnosticPosition, DiagnosticsView, Excerpt, ListOptions, Listing, diagnostic, excerpt,
    excerpt_lines,
};
use crate::worker::{EditorLocation, ReadSource};

/// A diagnostic, identified by its run and its position in that run.
type Key = (Option<Uuid>, DiagnosticPosition);

/// The state of the page for one run.
#[derive(Debug, Clone, Default)]
pub(super) struct DiagnosticsPage {
    options: ListOptions,
    pub(super) listing: Listing,
    /// The input from which `listing` was computed: the run, the number of its ended steps, and the selection, filter
    /// and order.
    listing_input: Option<(Option<Uuid>, usize, ListOptions)>,
    /// The diagnostic whose source was requested, and the excerpt once it was read.
    source: Option<(Key, Option<Excerpt>)>,
    pub(super) focus_filter: bool,
    scroll_to_selected: bool,
}

impl DiagnosticsPage {
    pub(super) fn apply(&mut self, action: DiagnosticsAction, run: &RunState) {
        self.scroll_to_selected |= self.options.apply(action, run, &self.listing);
    }

    /// The message of the selected diagnostic, and the picked ones of its suggestions.
    pub(super) fn picked(&self, run: &RunState) -> Option<(String, Vec<Vec<DiagnosticSpan>>)> {
        let (position, it) = self.chosen(run)?;
        let fixes = it.suggested_fixes();
        let picked = self.options.picked_of(run, position).into_iter();
        let spans = picked.filter_map(|index| {
            Some(fixes.get(index)?.spans.iter().map(|span| (*span).clone()).collect())
        });
        Some((it.message.clone(), spans.collect()))
    }

    /// The number of the picked suggestions of the selected diagnostic.
    pub(super) fn picked_count(&self, run: &RunState) -> usize {
        let Some((position, it)) = self.chosen(run) else { return 0 };
        let count = it.suggested_fixes().len();
        self.options.picked_of(run, position).into_iter().filter(|index| *index < count).count()
    }

    /// Selects the diagnostic `by` rows below the selected one.
    pub(super) fn move_selection(&mut self, by: isize) {
        let last = self.listing.shown.len().saturating_sub(1);
        let index = self.listing.selected.unwrap_or(0).saturating_add_signed(by).min(last);
        self.options.selected = self.listing.shown.get(index).map(|entry| entry.position);
        self.scroll_to_selected = true;
    }

    /// Resets the flags that apply to one frame only.
    pub(super) fn reset_frame_flags(&mut self) {
        self.focus_filter = false;
        self.scroll_to_selected = false;
    }

    /// Computes the list again if its input has changed, and requests the source of the selected diagnostic unless it
    /// was requested before.
    pub(super) fn update(
        &mut self,
        run: &RunState,
        plan: Option<&ShownPlan>,
        workspace: Option<PathBuf>,
        shared: &mut Shared,
    ) {
        let (id, ended) = (run.run_id, run.steps.done());
        let same_run =
            matches!(&self.listing_input, Some(input) if (input.0, input.1) == (id, ended));
        if !same_run {
            // A step that ended may have changed the file.
            self.source = None;
        }
        if !same_run || self.listing_input.as_ref().is_none_or(|input| input.2 != self.options) {
            self.listing = Listing::of(run, plan, &self.options);
            self.listing_input = Some((id, ended, self.options.clone()));
        }
        let Some((place, it)) = self.chosen(run) else { return };
        if self.source.as_ref().is_some_and(|(key, _)| *key == (id, place)) {
            return;
        }
        let (wanted, file) = (excerpt_lines(it), it.file_name.clone());
        let known = wanted.is_empty().then_some(Excerpt::Nowhere);
        let must_read = known.is_none();
        self.source = Some(((id, place), known));
        if must_read && let Some(workspace) = workspace {
            let query = ReadSource { workspace, file, lines: wanted };
            shared.query_each(query, move |app, lines, latest| {
                let lines = match lines.map_err(FailedQuery::into_failure) {
                    Ok(lines) => Ok(lines),
                    Err(Ok(failure)) => Err(failure),
                    Err(Err(failed)) if latest => return app.shared.report(failed),
                    Err(Err(_)) => return,
                };
                if let Some(session) = &mut app.plan.shown {
                    session.diagnostics.take_source(&session.run, (id, place), lines);
                }
            });
        }
    }

    /// Stores the excerpt of the lines that were read, if they are still needed.
    fn take_source(&mut self, run: &RunState, key: Key, lines: Result<Vec<SourceLine>, Failure>) {
        if let Some((requested, stored)) = &mut self.source
            && *requested == key
            && run.run_id == key.0
            && let Some(it) = diagnostic(run, key.1)
        {
            *stored = Some(match lines {
                Ok(lines) => excerpt(it, &lines),
                Err(failure) => Excerpt::Missing(failure.message),
            });
        }
    }

    /// Discards the source, so that it is read again. The file may have changed.
    pub(super) fn forget_source(&mut self) {
        self.source = None;
    }

    /// The position of the selected diagnostic.
    pub(super) fn selected(&self) -> Option<DiagnosticPosition> {
        Some(self.listing.selected_entry()?.position)
    }

    /// The selected diagnostic, and its position in the run.
    fn chosen<'a>(
        &self,
        run: &'a RunState,
    ) -> Option<(DiagnosticPosition, &'a DiagnosticArtifact)> {
        let position = self.selected()?;
        Some((position, diagnostic(run, position)?))
    }

    /// The file, line and column of the selected diagnostic, for an editor.
    pub(super) fn editor_location(&self, run: &RunState) -> Option<EditorLocation> {
        let (_, it) = self.chosen(run)?;
        Some(EditorLocation {
            file: it.file_name.clone(),
            line: it.line_start,
            column: it.column_start.unwrap_or(1),
        })
    }

    pub(super) fn view<'a>(
        &'a self,
        run: &'a RunState,
        plan: Option<&ShownPlan>,
    ) -> DiagnosticsView<'a> {
        let reports = |step: &ShownStep| {
            let class = step.call.as_ref().map(ToolCall::class);
            matches!(class, Some(ToolClass::Check | ToolClass::Command))
        };
        let chosen = self.listing.selected_entry().map(|entry| (run.run_id, entry.position));
        let source = self.source.as_ref().filter(|(key, _)| Some(*key) == chosen);
        DiagnosticsView {
            run,
            may_report: plan.is_none_or(|plan| plan.steps.iter().any(reports)),
            listing: &self.listing,
            options: &self.options,
            excerpt: source.and_then(|(_, excerpt)| excerpt.as_ref()),
            last_run: None,
            focus_filter: self.focus_filter,
            scroll_to_selected: self.scroll_to_selected,
        }
    }
}
