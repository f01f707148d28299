//! The findings of one plan while it is read: some thousand at most are kept, however many there are.

use std::cmp::Reverse;

use super::places::Places;
use crate::plan::{Code, Finding, Severity, limits};

/// Findings up to their limit; of the others only the number.
///
/// A file of the largest size can have millions of faults. Errors and lesser findings are counted
/// apart, so that many notes can never crowd out the error that forbids authorization.
#[derive(Default)]
pub(super) struct Findings {
    kept: Vec<Finding>,
    errors: usize,
    others: usize,
}

impl Findings {
    /// Adds one.
    pub(super) fn push(&mut self, finding: Finding) {
        self.add(finding.severity, || finding);
    }

    /// Adds an error that is put into words only if it is kept.
    pub(super) fn error(&mut self, finding: impl FnOnce() -> Finding) {
        self.add(Severity::Error, finding);
    }

    fn add(&mut self, severity: Severity, finding: impl FnOnce() -> Finding) {
        let count = match severity {
            Severity::Error => &mut self.errors,
            _ => &mut self.others,
        };
        *count += 1;
        if *count <= limits::FINDINGS {
            self.kept.push(finding());
        }
    }

    /// How many errors there were so far.
    pub(super) fn errors(&self) -> usize {
        self.errors
    }

    /// Fills in the place of each.
    pub(super) fn fill(&mut self, places: &Places<'_>) {
        for finding in &mut self.kept {
            places.fill(finding);
        }
    }

    /// The findings by place in the file, with one more that says how many are left out.
    pub(super) fn into_sorted(self) -> Vec<Finding> {
        let Self { mut kept, errors, others } = self;
        kept.sort_by(|a, b| {
            (a.line, a.column, a.code, &a.message).cmp(&(b.line, b.column, b.code, &b.message))
        });
        let more = (errors + others).saturating_sub(limits::FINDINGS);
        if more > 0 {
            // Errors first, so that cutting the list can never make a faulty plan look valid.
            kept.sort_by_key(|finding| Reverse(finding.severity));
            kept.truncate(limits::FINDINGS);
            kept.push(Finding::error(
                Code::Limit,
                "",
                format!("{more} more findings are left out; the limit is {}", limits::FINDINGS),
            ));
        }
        kept
    }
}
