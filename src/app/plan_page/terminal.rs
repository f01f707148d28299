//! The terminal of the current step: what the person types, its size, and the answers of its screen.

use uuid::Uuid;

use super::{PlanPage, PlanSession};
use crate::app::shared::Shared;
use crate::run::TypedBy;
use crate::ui::Tone;
use crate::ui::action::{TerminalAction, Typed};
use crate::ui::notice::Scope;

impl PlanPage {
    /// Applies an action to the terminal of the run on the page. What is typed is only passed on.
    pub(super) fn apply_to_terminal(&mut self, action: TerminalAction, shared: &mut Shared) {
        let Some(session) = &mut self.shown else { return };
        let step = session.terminal_step();
        let Some(terminal) = session.output.transcript.terminal_mut() else { return };
        match action {
            TerminalAction::Type(Typed(bytes)) => {
                terminal.screen.scroll_to_end();
                let Some(step) = step else { return };
                if !shared.worker.terminal().write(step, &bytes, TypedBy::Person) {
                    shared.notify_in(
                        Scope::Plan,
                        Tone::Caution,
                        "What you typed was not passed on.",
                        "",
                        "The program does not read its terminal. Wait, or stop it.",
                    );
                }
            }
            TerminalAction::Resize(size) => {
                terminal.screen.resize(size);
                shared.worker.terminal().resize(size);
            }
            TerminalAction::Scroll(lines) => terminal.screen.scroll(lines),
        }
    }

    /// Passes the answers of the screen to the program of the run under way.
    pub(super) fn answer_terminal_queries(&mut self, shared: &Shared) {
        let Some(session) = self.running_mut() else { return };
        let step = session.terminal_step();
        if let (Some(step), Some(terminal)) = (step, session.output.transcript.terminal_mut()) {
            let replies = terminal.screen.take_replies();
            if !replies.is_empty() {
                // A program that does not read its answers does not need them.
                shared.worker.terminal().write(step, &replies, TypedBy::Screen);
            }
        }
    }
}

impl PlanSession {
    /// The run and the step whose terminal is open.
    fn terminal_step(&self) -> Option<(Uuid, usize)> {
        Some((self.run.run_id?, self.output.transcript.terminal()?.step_index))
    }
}
