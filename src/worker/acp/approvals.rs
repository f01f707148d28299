//! What a person has decided about the files of a session, and which of it still counts.

use std::collections::BTreeMap;

/// The decisions about files, by path.
#[derive(Debug, Default)]
pub(super) struct Approvals {
    files: BTreeMap<String, Decided>,
}

/// The last decision about a file that an agent has asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Decided {
    /// This text may be written once.
    Approved { number: u64, content: String },
    /// The approved text was sent, and the approval is used.
    Used { content: String },
    /// The file must not be written until the agent asks again.
    Rejected,
}

/// What is done with a text that an agent sends.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// It is the approved one: the plan with this number is run.
    Run(u64),
    /// It is refused for this reason.
    Refuse(&'static str),
    /// Nobody was asked about it.
    Ask,
}

impl Approvals {
    pub(super) fn approve(&mut self, path: String, number: u64, content: String) {
        self.files.insert(path, Decided::Approved { number, content });
    }

    pub(super) fn reject(&mut self, path: String) {
        self.files.insert(path, Decided::Rejected);
    }

    /// Uses the approval of a file for this text. One approval counts once, also if the text is another one: the agent
    /// must not try until it fits.
    pub(super) fn take(&mut self, path: &str, content: &str) -> Use {
        match self.files.get(path) {
            None => Use::Ask,
            Some(Decided::Rejected) => Use::Refuse("the change of this file was rejected"),
            Some(Decided::Used { content: used }) if used == content => {
                Use::Refuse("the approval of this text is used already; each counts once")
            }
            // The approved change is done, and this is another one.
            Some(Decided::Used { .. }) => Use::Ask,
            Some(Decided::Approved { number, content: approved }) if approved == content => {
                let number = *number;
                let used = Decided::Used { content: content.to_owned() };
                self.files.insert(path.to_owned(), used);
                Use::Run(number)
            }
            Some(Decided::Approved { .. }) => {
                self.files.insert(path.to_owned(), Decided::Rejected);
                Use::Refuse("it is not the text that the person has approved")
            }
        }
    }

    /// Notes that a text was asked about when it was sent, and was written.
    pub(super) fn used(&mut self, path: String, content: String) {
        self.files.insert(path, Decided::Used { content });
    }

    /// The files that were approved and never sent.
    pub(super) fn unused(&self) -> impl Iterator<Item = &str> {
        let is_unused = |it: &(&String, &Decided)| matches!(it.1, Decided::Approved { .. });
        self.files.iter().filter(is_unused).map(|(path, _)| path.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_approval_counts_once_and_for_its_text() {
        let mut approvals = Approvals::default();
        let approve = |approvals: &mut Approvals, number| {
            approvals.approve("a".to_owned(), number, "new".to_owned());
        };
        assert_eq!(approvals.take("a", "new"), Use::Ask);
        approve(&mut approvals, 1);
        assert_eq!(approvals.take("b", "new"), Use::Ask);
        assert_eq!(approvals.unused().collect::<Vec<_>>(), ["a"]);
        assert_eq!(approvals.take("a", "new"), Use::Run(1));
        assert!(matches!(approvals.take("a", "new"), Use::Refuse(_)));
        assert_eq!(approvals.take("a", "newer"), Use::Ask, "another change was not asked about");
        approve(&mut approvals, 2);
        assert!(matches!(approvals.take("a", "other"), Use::Refuse(_)));
        assert!(matches!(approvals.take("a", "new"), Use::Refuse(_)), "the approval is void");
        approve(&mut approvals, 3);
        assert_eq!(approvals.take("a", "new"), Use::Run(3), "the agent has asked again");
        approvals.reject("a".to_owned());
        assert!(matches!(approvals.take("a", "new"), Use::Refuse(_)));
        assert_eq!(approvals.unused().count(), 0);
    }
}
