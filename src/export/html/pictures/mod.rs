//! Pictures of the report: executions over time, diagnostics that recur, steps over their runs, and the times of a run.
//!
//! Each is SVG in the page, with what it shows in words and a table with the same numbers. What is drawn of all runs is
//! collected in one pass before they are written, in memory that does not grow with their number.

mod durations;
mod intervals;
mod recurring;
mod recurring_diagnostics;
mod svg;
mod timeline;
mod waterfall;

use std::io::Write;

use super::super::Result;
use super::super::walk::Walk;
use super::parts::class_of;
pub(super) use waterfall::write as write_times;

/// What is drawn of all runs together.
pub(super) struct OverRuns {
    executions: timeline::Executions,
    diagnostics: recurring_diagnostics::Diagnostics,
    durations: durations::Durations,
}

impl OverRuns {
    /// Collects it from everything that is selected.
    ///
    /// # Errors
    /// As for [`export`](crate::export::export).
    pub(super) fn of(walk: &mut Walk<'_>) -> Result<Self> {
        let mut found = Self {
            executions: timeline::Executions::new(),
            diagnostics: recurring_diagnostics::Diagnostics::new(),
            durations: durations::Durations::new(),
        };
        walk.survey(|reader, run, steps| {
            for step in steps {
                let is_bad = class_of(&step.outcome) == "bad";
                found.executions.add(step.timestamp_ms, is_bad);
                found.durations.add(run, step, is_bad);
            }
            found.diagnostics.add(reader, run, steps)
        })?;
        Ok(found)
    }

    /// Writes the pictures that have something to show. Those of one run leave out what the picture of its times shows.
    ///
    /// # Errors
    /// As for [`export`](crate::export::export).
    pub(super) fn write(self, walk: &mut Walk<'_>, out: &mut dyn Write) -> Result<()> {
        if self.executions.number() == 0 {
            return Ok(());
        }
        writeln!(out, "<section class=\"over-runs\">")?;
        let is_one_run = walk.query().run_id.is_some();
        if !is_one_run || self.executions.number() > waterfall::ROWS as u64 {
            self.executions.write(out)?;
        }
        self.diagnostics.write(out)?;
        self.durations.write(walk.reader, out)?;
        Ok(writeln!(out, "</section>")?)
    }
}
