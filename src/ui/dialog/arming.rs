//! Decides when a dialog may be answered: a pure state machine over time, focus, pointer and keys.
//!
//! A decision must be deliberate: the second half of a double click, a key held from before, or the click
//! that activated the window must not count.

/// The time for which a dialog must have been visible before any answer counts, in milliseconds.
pub const DELAY_MS: u64 = 500;
/// The same time for approving something dangerous.
pub const DANGEROUS_DELAY_MS: u64 = 1_500;

/// The input of one frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Input {
    /// The time of the frame, in milliseconds of any steady clock.
    pub now_ms: u64,
    /// Whether the window has the keyboard focus.
    pub focused: bool,
    /// Whether a pointer button is down, or was at any moment since the last frame.
    pub pointer_down: bool,
    /// Whether Enter or Space is down, or was at any moment since the last frame.
    pub key_down: bool,
    /// Whether any key is down, or anything was typed or pasted since the last frame.
    pub typing: bool,
    /// Whether assistive technology asked to press a control that cannot be pressed now. Such a press has no duration, so
    /// waiting for its end would cost nothing.
    pub refused_press: bool,
}

/// The answers that are allowed in this frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Allowed {
    /// Whether the window has the keyboard focus. Without it, no answer counts.
    pub focused: bool,
    /// Whether the safe answers, such as deny and skip, count.
    pub safe: bool,
    /// Whether approval counts.
    pub approve: bool,
    /// Whether what is typed goes into a field that has the focus from the start: from the first pause in typing on, so
    /// that what is still meant for something else names nothing.
    pub text: bool,
    /// The number of milliseconds until approval can count; `None` once it counts.
    pub wait_ms: Option<u64>,
}

/// The state of one display of a dialog. Every display starts with [`Arming::new`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arming {
    delay_ms: u64,
    first_drawn: Option<u64>,
    visible_since: Option<u64>,
    /// The last frame in which something was typed, or the first one.
    typed_at: u64,
    /// The last frame in which a press was refused before approval counted.
    refused_at: u64,
    allowed: Allowed,
}

impl Arming {
    /// A dialog that has not been drawn yet, and whose approval counts once it was visible for `delay_ms`.
    pub fn new(delay_ms: u64) -> Self {
        let allowed = Allowed::default();
        let (first_drawn, visible_since) = (None, None);
        Self { delay_ms, first_drawn, visible_since, typed_at: 0, refused_at: 0, allowed }
    }

    /// Whether the dialog was drawn before this frame.
    pub fn was_drawn(&self) -> bool {
        self.first_drawn.is_some()
    }

    /// Starts the delay over while the dialog stays in sight, because its answers stand for something else now.
    pub fn restart(&mut self) {
        (self.visible_since, self.allowed) = (None, Allowed::default());
    }

    /// Processes the input of one frame. Returns the answers that the buttons may give in it.
    pub fn frame(&mut self, input: Input) -> Allowed {
        if !input.focused {
            // Starts over, so that the click that activates the window is never an answer.
            *self = Self::new(self.delay_ms);
            return self.allowed;
        }
        self.allowed.focused = true;
        let first = *self.first_drawn.get_or_insert(input.now_ms);
        // A frame becomes visible only after it is drawn, and laying out a megabyte takes time, so the delay counts
        // from the second frame. egui may lay out one frame twice with the same time.
        if self.visible_since.is_none() && input.now_ms > first {
            self.visible_since = Some(input.now_ms);
        }
        if input.typing {
            self.typed_at = input.now_ms;
        }
        // Whoever presses again and again until it counts has not read the question.
        if input.refused_press && !self.allowed.approve {
            self.refused_at = input.now_ms;
        }
        let Some(since) = self.visible_since else {
            self.allowed.wait_ms = Some(0);
            return self.allowed;
        };
        let elapsed = input.now_ms.saturating_sub(since.max(self.refused_at));
        let at_rest = !input.pointer_down && !input.key_down;
        // Answers become allowed only in a frame without any press, so that the press that answers is a new
        // one. Once allowed, they stay allowed during that press.
        self.allowed.safe |= at_rest && elapsed >= self.delay_ms.min(DELAY_MS);
        self.allowed.approve |= at_rest && elapsed >= self.delay_ms;
        let paused = input.now_ms.saturating_sub(since.max(self.typed_at));
        self.allowed.text |= paused >= self.delay_ms.min(DELAY_MS);
        self.allowed.wait_ms =
            (!self.allowed.approve).then(|| self.delay_ms.saturating_sub(elapsed));
        self.allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answer to a frame that is not visible yet or in which something is held down.
    const WAITING: Allowed =
        Allowed { focused: true, safe: false, approve: false, text: false, wait_ms: Some(0) };

    /// The start of the frame after the first, from which the delay counts.
    const SEEN: u64 = 100;

    /// A frame this many milliseconds after the dialog became visible.
    fn at(ms: u64) -> Input {
        Input {
            now_ms: SEEN + ms,
            focused: true,
            pointer_down: false,
            key_down: false,
            typing: false,
            refused_press: false,
        }
    }

    fn shown(delay: u64) -> Arming {
        let mut arming = Arming::new(delay);
        arming.frame(Input { now_ms: 0, ..at(0) });
        arming.frame(at(0));
        arming
    }

    #[test]
    fn approval_needs_half_a_second_of_being_seen() {
        let mut arming = shown(DELAY_MS);
        assert!(!arming.frame(at(499)).approve);
        assert!(arming.frame(at(500)).approve);
    }

    #[test]
    fn a_dangerous_step_needs_longer() {
        let mut arming = shown(DANGEROUS_DELAY_MS);
        assert!(!arming.frame(at(1_499)).approve);
        assert!(arming.frame(at(1_500)).approve);
    }

    #[test]
    fn nothing_counts_in_the_first_frame() {
        let mut arming = Arming::new(0);
        // egui may lay out one frame twice, which makes nothing visible.
        for _ in 0..2 {
            assert_eq!(arming.frame(at(0)), WAITING);
        }
        assert!(arming.frame(at(1)).approve);
    }

    #[test]
    fn duration_of_the_first_frame_does_not_count() {
        let mut arming = Arming::new(DELAY_MS);
        arming.frame(Input { now_ms: 0, ..at(0) });
        for (after, counts) in [(3_000, false), (3_499, false), (3_500, true)] {
            let allowed = arming.frame(at(after));
            assert_eq!((allowed.approve, allowed.safe), (counts, counts), "{after}");
        }
    }

    #[test]
    fn held_pointer_must_be_released_first() {
        let mut arming = shown(DELAY_MS);
        let held = Input { pointer_down: true, ..at(2_000) };
        assert_eq!(arming.frame(held), Allowed { text: true, ..WAITING });
        assert!(arming.frame(at(2_001)).approve);
    }

    #[test]
    fn held_key_must_be_released_first() {
        let mut arming = shown(DELAY_MS);
        let held = Input { key_down: true, ..at(2_000) };
        assert!(!arming.frame(held).approve && !arming.frame(held).safe);
        assert!(arming.frame(at(2_001)).approve);
    }

    #[test]
    fn typing_that_goes_on_names_nothing() {
        let mut arming = shown(DANGEROUS_DELAY_MS);
        for ms in [0, 400, 800, 1_200] {
            assert!(!arming.frame(Input { typing: true, ..at(ms) }).text, "{ms}");
        }
        assert!(!arming.frame(at(1_699)).text);
        assert!(arming.frame(at(1_700)).text);
        // From then on, all that is typed.
        assert!(arming.frame(Input { typing: true, ..at(1_750) }).text);
    }

    #[test]
    fn a_refused_press_starts_the_delay_anew() {
        let mut arming = shown(DELAY_MS);
        let refused = |ms| Input { refused_press: true, ..at(ms) };
        for ms in (100..3_000).step_by(400) {
            let allowed = arming.frame(refused(ms));
            assert!(!allowed.approve && !allowed.safe, "{ms}");
            let allowed = arming.frame(at(ms + 200));
            assert!(!allowed.approve && !allowed.safe, "{ms}");
        }
        // The last one was at 2,900 ms.
        assert!(!arming.frame(at(3_399)).approve);
        assert!(arming.frame(at(3_400)).approve);
        assert!(arming.frame(refused(3_500)).approve, "another button does not take it back");
    }

    #[test]
    fn other_answers_need_the_whole_delay() {
        let mut arming = shown(DANGEROUS_DELAY_MS);
        assert!(arming.frame(at(1_500)).approve);
        arming.restart();
        assert!(arming.was_drawn());
        for (ms, counts) in [(1_600, false), (3_099, false), (3_100, true)] {
            assert_eq!(arming.frame(at(ms)).approve, counts, "{ms}");
        }
    }

    #[test]
    fn answering_press_keeps_the_approval_armed() {
        let mut arming = shown(DELAY_MS);
        arming.frame(at(600));
        assert!(arming.frame(Input { pointer_down: true, ..at(700) }).approve);
    }

    #[test]
    fn focusing_click_is_no_answer() {
        let mut arming = shown(DELAY_MS);
        arming.frame(at(600));
        let away = Input { focused: false, ..at(5_000) };
        assert_eq!(arming.frame(away), Allowed::default());
        // The press must not count, whether it arrives before the focus or together with it.
        let press_first = Input { pointer_down: true, ..away };
        assert_eq!(arming.frame(press_first), Allowed::default());
        let with_focus = Input { pointer_down: true, ..at(5_020) };
        assert!(!arming.frame(with_focus).approve && !arming.frame(with_focus).safe);
        assert!(!arming.frame(at(5_100)).approve);
        assert!(!arming.frame(at(5_519)).approve);
        assert!(arming.frame(at(5_600)).approve);
    }

    // It does need a fresh press.
    #[test]
    fn holding_back_never_needs_the_longer_delay() {
        let mut arming = shown(DANGEROUS_DELAY_MS);
        assert!(!arming.frame(at(499)).safe);
        assert!(!arming.frame(Input { pointer_down: true, ..at(510) }).safe);
        let allowed = arming.frame(at(520));
        assert!(allowed.safe && !allowed.approve);
    }

    #[test]
    fn remaining_wait_is_reported() {
        let mut arming = shown(DELAY_MS);
        assert_eq!(arming.frame(at(100)).wait_ms, Some(400));
        assert_eq!(arming.frame(at(500)).wait_ms, None);
    }
}
