//! The suggestions of a diagnostic: what a tool would write, and where. Pure.

use super::{DiagnosticArtifact, DiagnosticSpan};

/// The maximum number of suggestions of one diagnostic that are offered.
const MAX_FIXES: usize = 8;

/// One suggestion. Its replacements belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuggestedFix<'a> {
    /// The child of the diagnostic that makes the suggestion; `None` for the diagnostic itself.
    pub child: Option<usize>,
    /// The places, with what is to be written there.
    pub spans: Vec<&'a DiagnosticSpan>,
}

impl SuggestedFix<'_> {
    /// Whether the tool says that the suggestion can be applied as it is.
    pub fn is_machine_applicable(&self) -> bool {
        self.spans.iter().all(|span| span.applicability.as_deref() == Some("MachineApplicable"))
    }
}

impl DiagnosticArtifact {
    /// The suggestions, in the order of the tool, at most eight. Replacements of the same text are alternatives, each a
    /// suggestion of its own.
    pub fn suggested_fixes(&self) -> Vec<SuggestedFix<'_>> {
        let mut fixes = self.all_fixes();
        fixes.truncate(MAX_FIXES);
        fixes
    }

    /// The number of suggestions that [`Self::suggested_fixes`] leaves out.
    pub fn fixes_left_out(&self) -> usize {
        self.all_fixes().len().saturating_sub(MAX_FIXES)
    }

    fn all_fixes(&self) -> Vec<SuggestedFix<'_>> {
        let sources = std::iter::once((None, self))
            .chain(self.children.iter().enumerate().map(|(index, child)| (Some(index), child)));
        let mut fixes = Vec::new();
        for (child, source) in sources {
            let spans = source.spans.iter().filter(|span| span.suggested_replacement.is_some());
            let spans: Vec<_> = spans.collect();
            let overlaps = |(index, span): (usize, &&DiagnosticSpan)| {
                spans.iter().take(index).any(|other| is_same_text(span, other))
            };
            if spans.iter().enumerate().any(overlaps) {
                fixes.extend(spans.iter().map(|span| SuggestedFix { child, spans: vec![*span] }));
            } else if !spans.is_empty() {
                fixes.push(SuggestedFix { child, spans });
            }
        }
        fixes
    }

    /// The indices of the suggestions to use unless a person picks others: the only one, or else the first that can be
    /// applied as it is.
    pub fn default_fixes(&self) -> Vec<usize> {
        let fixes = self.suggested_fixes();
        match fixes.as_slice() {
            [_] => vec![0],
            many => many.iter().position(SuggestedFix::is_machine_applicable).into_iter().collect(),
        }
    }
}

fn is_same_text(a: &DiagnosticSpan, b: &DiagnosticSpan) -> bool {
    a.file_name == b.file_name
        && (a.byte_start == b.byte_start
            || (a.byte_start < b.byte_end && b.byte_start < a.byte_end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Level;

    fn span(bytes: (u64, u64), applicability: &str) -> DiagnosticSpan {
        DiagnosticSpan {
            byte_start: bytes.0,
            byte_end: bytes.1,
            suggested_replacement: Some("x".to_owned()),
            applicability: Some(applicability.to_owned()),
            ..DiagnosticSpan::default()
        }
    }

    fn help(spans: Vec<DiagnosticSpan>) -> DiagnosticArtifact {
        DiagnosticArtifact { spans, ..DiagnosticArtifact::new(Level::Info, "help", String::new()) }
    }

    fn of(children: Vec<DiagnosticArtifact>) -> DiagnosticArtifact {
        let context = DiagnosticSpan { byte_end: 9, ..DiagnosticSpan::default() };
        DiagnosticArtifact { children, ..help(vec![context]) }
    }

    fn shape(it: &DiagnosticArtifact) -> Vec<(Option<usize>, usize)> {
        it.suggested_fixes().iter().map(|fix| (fix.child, fix.spans.len())).collect()
    }

    #[test]
    fn parts_belong_together_and_alternatives_do_not() {
        let parts = of(vec![
            help(vec![span((0, 1), "MaybeIncorrect"), span((4, 5), "MaybeIncorrect")]),
            help(Vec::new()),
            help(vec![span((0, 1), "Unspecified"), span((0, 1), "Unspecified")]),
        ]);
        assert_eq!(shape(&parts), [(Some(0), 2), (Some(2), 1), (Some(2), 1)]);
        assert!(of(Vec::new()).suggested_fixes().is_empty());
    }

    #[test]
    fn suggestions_that_are_left_out_are_counted() {
        let of_count = |count: u64| {
            of((0..count)
                .map(|start| help(vec![span((start, start + 1), "Unspecified")]))
                .collect())
        };
        for (count, shown, left_out) in [(8, 8, 0), (11, 8, 3)] {
            let it = of_count(count);
            assert_eq!((it.suggested_fixes().len(), it.fixes_left_out()), (shown, left_out));
        }
    }

    #[test]
    fn only_one_suggestion_is_picked_beforehand() {
        let unsure = || help(vec![span((0, 1), "MaybeIncorrect")]);
        let sure = |start| help(vec![span((start, start + 1), "MachineApplicable")]);
        assert_eq!(of(vec![unsure()]).default_fixes(), [0], "there is no other");
        assert_eq!(of(vec![unsure(), unsure()]).default_fixes(), [0_usize; 0]);
        assert_eq!(of(vec![unsure(), sure(3), sure(3)]).default_fixes(), [1]);
    }
}
