//! How a loop went on after the plan of an attempt had run, for the bar below that plan. Pure.

use super::first_line;
use super::model::{attempt_look, stop_look, stop_sentences, stop_word};
use crate::run::text::capitalized;
use crate::run::{LoopPhase, LoopState};
use crate::ui::{Command, Icon, Tone, icon};

/// What came after the run of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sequel {
    /// The icon of the outcome.
    pub icon: Icon,
    /// The tone of the outcome.
    pub tone: Tone,
    /// The outcome of the attempt or of the loop, in a few words.
    pub title: String,
    /// What the loop does now, as a sentence.
    pub detail: String,
    /// The command that leads to what waits for the person.
    pub leads_to: Option<Command>,
    /// Whether the loop has ended or was interrupted.
    pub is_over: bool,
}

/// Why this loop has an attempt `number`: how the one before it ended, why its plan did not complete the loop, and whether
/// this is that plan again. `None` for its first attempt.
pub fn prequel(state: &LoopState, number: u32) -> Option<String> {
    let index = state.attempts.iter().position(|it| it.attempt == number)?;
    let (before, attempt) =
        (state.attempts.get(index.checked_sub(1)?)?, state.attempts.get(index)?);
    let (_, word, _) = attempt_look(state, before);
    let (all, earlier) = (state.max_attempts, before.attempt);
    let mut text = format!("Attempt {number} of {all}, because of attempt {earlier}: {word}.");
    if let Some((reason, difference)) = &attempt.revised {
        let again = Some(difference.sentence()).filter(|_| difference.is_same());
        let reason = Some(first_line(reason)).filter(|line| !line.is_empty());
        for line in reason.into_iter().chain(again.as_deref()) {
            text.push('\n');
            text.push_str(line);
        }
    }
    Some(text)
}

/// How this loop went on after its attempt `number`; `None` while the run of that attempt is the latest news.
pub fn sequel(state: &LoopState, number: u32) -> Option<Sequel> {
    let attempt = state.attempts.iter().find(|it| it.attempt == number)?;
    let last = state.attempts.last()?.attempt;
    let of_attempt = |detail: String| {
        let (icon, word, tone) = attempt_look(state, attempt);
        let title = capitalized(word);
        Sequel { icon, tone, title, detail, leads_to: None, is_over: state.is_over() }
    };
    Some(match &state.phase {
        LoopPhase::Idle => return None,
        LoopPhase::Planning | LoopPhase::Elsewhere | LoopPhase::Applying
            if last == number && attempt.record.is_none() =>
        {
            return None;
        }
        LoopPhase::Planning => of_attempt(format!("The planner is at work on attempt {last}.")),
        LoopPhase::Elsewhere => {
            of_attempt(format!("Attempt {last} is under way in another window."))
        }
        LoopPhase::AwaitingAuthorization(_) if last == number => return None,
        LoopPhase::AwaitingAuthorization(_) => Sequel {
            leads_to: Some(Command::OpenAttempt),
            ..of_attempt(format!("Attempt {last} waits for you."))
        },
        LoopPhase::AwaitingAnswer(_) => Sequel {
            leads_to: Some(Command::GoLoop),
            ..of_attempt(format!("The planner asks you before attempt {last}."))
        },
        LoopPhase::Applying => of_attempt(format!("Attempt {last} runs.")),
        LoopPhase::Verifying if last == number => Sequel {
            icon: icon::RUNNING,
            tone: Tone::Accent,
            title: "Verifying".to_owned(),
            ..of_attempt("The loop verifies what the steps have changed.".to_owned())
        },
        LoopPhase::Verifying => of_attempt(format!("Attempt {last} is being verified.")),
        LoopPhase::Ended(reason) => {
            let [happened, _] = stop_sentences(reason);
            let (icon, tone) = match reason.is_unverified() {
                true => (icon::WARNING, Tone::Caution),
                false => stop_look(reason.code),
            };
            let word = if reason.is_unverified() { "not verified" } else { stop_word(reason.code) };
            let title = match last == number {
                true => format!("Loop ended: {word}"),
                false => format!("Attempt {number} of {last}; ended: {word}"),
            };
            Sequel { icon, tone, title, ..of_attempt(happened.to_owned()) }
        }
        LoopPhase::Interrupted => of_attempt("The loop was interrupted.".to_owned()),
    })
}
