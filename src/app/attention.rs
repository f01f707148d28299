//! Draws attention to a window that is not in front: a run or loop waits for the person, or has ended. The title says it,
//! and the window system marks the window. Neither tells what the plan is about.

use egui::{UserAttentionType, ViewportCommand};

/// What the title and the window system say about the window.
#[derive(Debug, Default)]
pub(super) struct Attention {
    /// The number of questions that wait for the person.
    waiting: usize,
    is_busy: bool,
    /// How a run or loop ended since the window was last in front.
    ended: Option<&'static str>,
    title: String,
}

impl Attention {
    /// Applies the state of this frame, and returns what changes in the window. `ended` is how the last run or loop has
    /// ended.
    pub(super) fn update(
        &mut self,
        is_focused: bool,
        waiting: usize,
        is_busy: bool,
        ended: &'static str,
    ) -> Vec<ViewportCommand> {
        let mut commands = Vec::new();
        let asks = waiting > self.waiting;
        let ends = self.is_busy && !is_busy;
        (self.waiting, self.is_busy) = (waiting, is_busy);
        if is_focused || is_busy {
            self.ended = None;
        } else if ends {
            self.ended = Some(ended);
        }
        if !is_focused && asks {
            commands.push(ViewportCommand::RequestUserAttention(UserAttentionType::Critical));
        } else if !is_focused && ends {
            commands.push(ViewportCommand::RequestUserAttention(UserAttentionType::Informational));
        }
        let title = match (waiting, self.ended) {
            (0, None) => "Countersign".to_owned(),
            (0, Some(word)) => format!("Countersign: {word}"),
            (count, _) => format!("({count}) Countersign: waiting for you"),
        };
        if title != self.title {
            self.title.clone_from(&title);
            commands.push(ViewportCommand::Title(title));
        }
        commands
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titles(commands: &[ViewportCommand]) -> Vec<&str> {
        let mut titles = Vec::new();
        for command in commands {
            if let ViewportCommand::Title(title) = command {
                titles.push(title.as_str());
            }
        }
        titles
    }

    fn requests(commands: &[ViewportCommand]) -> Vec<UserAttentionType> {
        let request = |it: &ViewportCommand| match it {
            ViewportCommand::RequestUserAttention(kind) => Some(*kind),
            _ => None,
        };
        commands.iter().filter_map(request).collect()
    }

    #[test]
    fn a_window_behind_others_says_that_it_waits_and_how_the_run_ended() {
        let mut attention = Attention::default();
        assert_eq!(titles(&attention.update(true, 0, false, "")), ["Countersign"]);
        assert!(attention.update(false, 0, true, "").is_empty(), "a run is no reason");
        let asked = attention.update(false, 1, true, "");
        assert_eq!(titles(&asked), ["(1) Countersign: waiting for you"]);
        assert_eq!(requests(&asked), [UserAttentionType::Critical]);
        assert!(attention.update(false, 1, true, "").is_empty(), "once for each question");
        assert_eq!(titles(&attention.update(false, 0, true, "")), ["Countersign"]);
        let ended = attention.update(false, 0, false, "failed");
        assert_eq!(titles(&ended), ["Countersign: failed"]);
        assert_eq!(requests(&ended), [UserAttentionType::Informational]);
        assert_eq!(titles(&attention.update(true, 0, false, "failed")), ["Countersign"]);
    }

    #[test]
    fn a_window_in_front_only_counts_its_questions() {
        let mut attention = Attention::default();
        attention.update(true, 0, true, "");
        let asked = attention.update(true, 1, true, "");
        assert_eq!(titles(&asked), ["(1) Countersign: waiting for you"]);
        assert!(requests(&asked).is_empty());
        let ended = attention.update(true, 0, false, "completed");
        assert_eq!(titles(&ended), ["Countersign"]);
        assert!(requests(&ended).is_empty());
    }
}
