//! Draws attention to a window that is not in front: a run, a loop or a plan in the inbox waits for the person, or a run
//! or loop has ended. The title says it,
//! the window system marks the window, and the desktop notifies the person. None of them tells what the plan is about.

use egui::{UserAttentionType, ViewportCommand};

use crate::worker::Notification;

/// What the title, the window system and the desktop say about the window.
#[derive(Debug, Default)]
pub(super) struct Attention {
    /// The number of questions that wait for the person.
    waiting: usize,
    /// What is under way.
    busy: Option<Subject>,
    /// How a run or loop ended since the window was last in front.
    ended: Option<&'static str>,
    title: String,
    /// Whether a notification may be shown.
    notified: bool,
}

/// What is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    Run,
    Loop,
}

/// What waits for the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waits {
    /// A step of a run.
    Step,
    /// The plan of a loop.
    Plan,
    /// A question of the planner of a loop.
    Planner,
    /// A question of a program for a secret.
    Secret,
    /// A plan in the inbox.
    Inbox,
}

impl Waits {
    fn sentence(self) -> &'static str {
        match self {
            Self::Step => "A run waits for you",
            Self::Plan => "A loop waits for you to authorize its plan",
            Self::Planner => "A loop has a question for you",
            Self::Secret => "A program asks you for a secret",
            Self::Inbox => "A plan waits for you",
        }
    }
}

/// What changes with a frame.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub(super) commands: Vec<ViewportCommand>,
    pub(super) notification: Option<Notification>,
}

impl Changes {
    /// The notification to send. If the person wants none, one that was shown before is still withdrawn.
    pub(super) fn notification(self, are_wanted: bool) -> Option<Notification> {
        self.notification.filter(|it| are_wanted || *it == Notification::Withdraw)
    }
}

impl Attention {
    /// Applies the state of this frame. `ended` is how the last run or loop has ended.
    pub(super) fn update(
        &mut self,
        is_focused: bool,
        waits: &[Waits],
        busy: Option<Subject>,
        ended: impl Fn(Subject) -> &'static str,
    ) -> Changes {
        let mut changes = Changes::default();
        let waiting = waits.len();
        let asks = waiting > self.waiting;
        let ends = self.busy.filter(|_| busy.is_none());
        (self.waiting, self.busy) = (waiting, busy);
        if is_focused || busy.is_some() {
            self.ended = None;
        } else if let Some(subject) = ends {
            self.ended = Some(ended(subject));
        }
        let attention = match (is_focused, asks, ends) {
            (true, ..) => {
                let shown = std::mem::take(&mut self.notified);
                changes.notification = shown.then_some(Notification::Withdraw);
                None
            }
            (false, true, _) => {
                let text = match waits {
                    [only] => only.sentence().to_owned(),
                    _ if waits.iter().all(|it| *it == Waits::Inbox) => {
                        format!("{waiting} plans wait for you")
                    }
                    _ if waits.contains(&Waits::Inbox) => {
                        format!("{waiting} questions and plans wait for you")
                    }
                    _ => format!("{waiting} questions wait for you"),
                };
                changes.notification = Some(Notification::Show(text));
                Some(UserAttentionType::Critical)
            }
            (false, false, Some(subject)) => {
                let what = match subject {
                    Subject::Run => "A run",
                    Subject::Loop => "A loop",
                };
                let text = format!("{what} has ended: {}", ended(subject));
                changes.notification = Some(Notification::Show(text));
                Some(UserAttentionType::Informational)
            }
            (false, false, None) => None,
        };
        self.notified |= matches!(changes.notification, Some(Notification::Show(_)));
        changes.commands.extend(attention.map(ViewportCommand::RequestUserAttention));
        let title = match (waiting, self.ended) {
            (0, None) => "Countersign".to_owned(),
            (0, Some(word)) => format!("Countersign: {word}"),
            (count, _) => format!("({count}) Countersign: waiting for you"),
        };
        if title != self.title {
            self.title.clone_from(&title);
            changes.commands.push(ViewportCommand::Title(title));
        }
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titles(changes: &Changes) -> Vec<&str> {
        let mut titles = Vec::new();
        for command in &changes.commands {
            if let ViewportCommand::Title(title) = command {
                titles.push(title.as_str());
            }
        }
        titles
    }

    fn requests(changes: &Changes) -> Vec<UserAttentionType> {
        let request = |it: &ViewportCommand| match it {
            ViewportCommand::RequestUserAttention(kind) => Some(*kind),
            _ => None,
        };
        changes.commands.iter().filter_map(request).collect()
    }

    fn notified(changes: &Changes) -> Option<&str> {
        match changes.notification.as_ref()? {
            Notification::Show(text) => Some(text),
            Notification::Withdraw => Some("withdrawn"),
        }
    }

    const RUN: Option<Subject> = Some(Subject::Run);

    #[test]
    fn a_window_behind_others_says_that_it_waits_and_how_the_run_ended() {
        let mut attention = Attention::default();
        assert_eq!(titles(&attention.update(true, &[], None, |_| "")), ["Countersign"]);
        let begun = attention.update(false, &[], RUN, |_| "");
        assert!(begun.commands.is_empty() && begun.notification.is_none(), "a run is no reason");
        let asked = attention.update(false, &[Waits::Step], RUN, |_| "");
        assert_eq!(titles(&asked), ["(1) Countersign: waiting for you"]);
        assert_eq!(requests(&asked), [UserAttentionType::Critical]);
        assert_eq!(notified(&asked), Some("A run waits for you"));
        let same = attention.update(false, &[Waits::Step], RUN, |_| "");
        assert!(same.commands.is_empty() && same.notification.is_none(), "once for each question");
        assert_eq!(
            notified(&attention.update(false, &[Waits::Step, Waits::Secret], RUN, |_| "")),
            Some("2 questions wait for you")
        );
        assert_eq!(titles(&attention.update(false, &[], RUN, |_| "")), ["Countersign"]);
        let ended = attention.update(false, &[], None, |_| "failed");
        assert_eq!(titles(&ended), ["Countersign: failed"]);
        assert_eq!(requests(&ended), [UserAttentionType::Informational]);
        assert_eq!(notified(&ended), Some("A run has ended: failed"));
        let seen = attention.update(true, &[], None, |_| "failed");
        assert_eq!(titles(&seen), ["Countersign"]);
        assert_eq!(notified(&seen), Some("withdrawn"));
        assert_eq!(notified(&attention.update(true, &[], None, |_| "failed")), None);
    }

    #[test]
    fn a_window_in_front_only_counts_its_questions() {
        let mut attention = Attention::default();
        attention.update(true, &[], RUN, |_| "");
        let asked = attention.update(true, &[Waits::Step], RUN, |_| "");
        assert_eq!(titles(&asked), ["(1) Countersign: waiting for you"]);
        assert!(requests(&asked).is_empty());
        let ended = attention.update(true, &[], None, |_| "completed");
        assert_eq!(titles(&ended), ["Countersign"]);
        assert!(requests(&ended).is_empty());
        assert_eq!((notified(&asked), notified(&ended)), (None, None));
    }

    #[test]
    fn it_says_what_waits() {
        for (waits, text) in [
            (Waits::Plan, "A loop waits for you to authorize its plan"),
            (Waits::Planner, "A loop has a question for you"),
            (Waits::Secret, "A program asks you for a secret"),
            (Waits::Inbox, "A plan waits for you"),
        ] {
            let changes = Attention::default().update(false, &[waits], RUN, |_| "");
            assert_eq!(notified(&changes), Some(text));
        }
    }

    #[test]
    fn a_shown_notification_is_withdrawn_even_if_no_more_are_wanted() {
        let mut attention = Attention::default();
        let asked = attention.update(false, &[Waits::Step], RUN, |_| "");
        assert_eq!(asked.notification(false), None);
        let seen = attention.update(true, &[Waits::Step], RUN, |_| "");
        assert_eq!(seen.notification(false), Some(Notification::Withdraw));
    }

    #[test]
    fn a_loop_says_how_it_ended_itself() {
        let mut attention = Attention::default();
        attention.update(false, &[], Some(Subject::Loop), |_| "");
        let ended = |subject| if subject == Subject::Loop { "stopped" } else { "completed" };
        let changes = attention.update(false, &[], None, ended);
        assert_eq!(notified(&changes), Some("A loop has ended: stopped"));
    }
}
