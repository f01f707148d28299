//! The state of parsing one plan: its findings, up to a limit.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;

use super::positions::Positions;
use crate::plan::{Code, Finding, Severity, limits};

/// State shared by the readers of all parts of a plan.
///
/// A file of the maximum size can have millions of faults, so findings beyond the limit are only counted. Errors are
/// counted separately from other findings, so that notes never displace an error.
pub(super) struct ParseContext<'a> {
    number: &'a dyn Fn(&str) -> Option<String>,
    findings: RefCell<Vec<Finding>>,
    /// The number of errors, including those that are not in `findings`.
    errors: Cell<usize>,
    /// The number of other findings.
    others: Cell<usize>,
}

impl<'a> ParseContext<'a> {
    /// The state before parsing. `number` returns the spelling of the number at a pointer.
    pub(super) fn new(number: &'a dyn Fn(&str) -> Option<String>) -> Self {
        let (errors, others) = (Cell::default(), Cell::default());
        Self { number, findings: RefCell::default(), errors, others }
    }

    /// Adds a finding.
    pub(super) fn push(&self, finding: Finding) {
        self.add(finding.severity, || finding);
    }

    /// Adds an error.
    pub(super) fn error(&self, code: Code, pointer: impl Into<String>, message: impl Into<String>) {
        self.push(Finding::error(code, pointer, message));
    }

    /// Adds an error, created only if the limit is not reached.
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
            self.findings.borrow_mut().push(finding());
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
    pub(super) fn into_findings(self, positions: &Positions<'_>, duplicates: bool) -> Vec<Finding> {
        for finding in self.findings.borrow_mut().iter_mut() {
            positions.fill(finding);
        }
        if duplicates {
            positions.duplicates(&|finding| self.error_with(finding));
        }
        let more = (self.errors.get() + self.others.get()).saturating_sub(limits::FINDINGS);
        let mut findings = self.findings.into_inner();
        findings.sort_by(|a, b| {
            (a.line, a.column, a.code, &a.message).cmp(&(b.line, b.column, b.code, &b.message))
        });
        if more > 0 {
            // Errors first, so that cutting the list can never make a faulty plan look valid.
            findings.sort_by_key(|finding| Reverse(finding.severity));
            findings.truncate(limits::FINDINGS);
            findings.push(Finding::error(
                Code::Limit,
                "",
                format!("{more} more findings are left out; the limit is {}", limits::FINDINGS),
            ));
        }
        findings
    }
}
