//! The diagnostics page.

use crate::ui::action::{DiagnosticsAction, Page};

use super::super::App;

impl App {
    pub(super) fn apply_diagnostics(&mut self, action: DiagnosticsAction) {
        let Some(session) = &mut self.shown else { return };
        let kept = &mut session.diagnostics;
        match action {
            DiagnosticsAction::Show(step) => {
                kept.sight.step = step;
                kept.sight.picked = None;
                if self.page != Page::Diagnostics {
                    self.go(Page::Diagnostics);
                }
            }
            DiagnosticsAction::Filter(text) => kept.sight.filter = text,
            DiagnosticsAction::Toggle(facet) => kept.sight.toggle(facet),
            DiagnosticsAction::SortBy(column) => {
                // What is looked at stays in view where it comes to stand.
                kept.sight.picked = kept.listing.chosen().map(|entry| entry.place);
                kept.sight.sort_by(column);
                kept.scroll_to_selected = true;
            }
            DiagnosticsAction::Pick(place) => kept.sight.picked = Some(place),
        }
    }

    /// Looks at the diagnostic below or above.
    pub(super) fn move_to_diagnostic(&mut self, by: isize) {
        let Some(session) = &mut self.shown else { return };
        let kept = &mut session.diagnostics;
        let last = kept.listing.shown.len().saturating_sub(1);
        let at = kept.listing.selected.unwrap_or(0).saturating_add_signed(by).min(last);
        kept.sight.picked = kept.listing.shown.get(at).map(|entry| entry.place);
        kept.scroll_to_selected = true;
    }
}
