//! The state of reading one plan: its findings, up to a limit.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;

use super::places::Places;
use crate::plan::{Code, Finding, Severity, limits};

/// State shared by the readers of all parts of a plan.
///
/// A file of the largest size can have millions of faults, so findings beyond the limit are only counted.
/// Errors and other findings have separate limits, so that notes never displace an error.
pub(super) struct Reading<'a> {
    number: &'a dyn Fn(&str) -> Option<String>,
    kept: RefCell<Vec<Finding>>,
    errors: Cell<usize>,
    others: Cell<usize>,
}

impl<'a> Reading<'a> {
    /// The state before reading. `number` returns the text of the number at a pointer.
    pub(super) fn new(number: &'a dyn Fn(&str) -> Option<String>) -> Self {
        let (errors, others) = (Cell::default(), Cell::default());
        Self { number, kept: RefCell::default(), errors, others }
    }

    /// Adds a finding.
    pub(super) fn push(&self, finding: Finding) {
        self.add(finding.severity, || finding);
    }

    /// Adds an error.
    pub(super) fn error(&self, code: Code, pointer: impl Into<String>, message: impl Into<String>) {
        self.push(Finding::error(code, pointer, message));
    }

    /// Adds an error, formatted only if it is kept.
    pub(super) fn error_with(&self, finding: impl FnOnce() -> Finding) {
        self.add(Severity::Error, finding);
    }

    fn add(&self, severity: Severity, finding: impl FnOnce() -> Finding) {
        let count = match severity {
            Severity::Error => &self.errors,
            _ => &self.others,
        };
        count.set(count.get() + 1);
        if count.get() <= limits::FINDINGS {
            self.kept.borrow_mut().push(finding());
        }
    }

    /// The number of errors so far.
    pub(super) fn errors(&self) -> usize {
        self.errors.get()
    }

    /// A number with the spelling of the file.
    pub(super) fn number(&self, number: &serde_json::Number, pointer: &str) -> String {
        (self.number)(pointer).unwrap_or_else(|| number.to_string())
    }

    /// The findings, ordered by position. If some are left out, errors come first, and an additional error gives the
    /// number of those left out.
    pub(super) fn into_findings(self, places: &Places<'_>, duplicates: bool) -> Vec<Finding> {
        for finding in self.kept.borrow_mut().iter_mut() {
            places.fill(finding);
        }
        if duplicates {
            places.duplicates(&|finding| self.error_with(finding));
        }
        let more = (self.errors.get() + self.others.get()).saturating_sub(limits::FINDINGS);
        let mut kept = self.kept.into_inner();
        kept.sort_by(|a, b| {
            (a.line, a.column, a.code, &a.message).cmp(&(b.line, b.column, b.code, &b.message))
        });
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
