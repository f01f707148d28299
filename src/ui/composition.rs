//! Leaves the keys to the input method while it composes a text.
//!
//! An input method takes the keys that compose, so that the window does not get them. But some pass on keys that they do not
//! use, and the key that ended the composition: a syllable of Hangul ends with Enter, which then arrives as well. Such keys are
//! about the text. They must not press a button, send a form, close a dialog or do a command.

use egui::{Event, ImeEvent, Key};

/// How long after the end of a composition Enter and Escape may still be the key that ended it, in seconds. A person is slower.
const AFTERWARDS: f64 = 0.15;

/// Whether an input method composes a text.
#[derive(Debug, Default)]
pub struct Composition {
    is_composing: bool,
    /// When the last composition ended, and how many frames have begun since.
    ended: Option<(f64, u32)>,
}

impl Composition {
    /// Removes from the new events of a frame the keys that belong to a composition. `time` is the time of the frame in seconds,
    /// and `has_field` whether something has the focus that takes text.
    ///
    /// Escape while a composition is under way cancels it, so that an input method that has ended in between does not hold
    /// the keyboard for ever.
    pub fn keep_keys(&mut self, events: &mut Vec<Event>, time: f64, has_field: bool) {
        self.is_composing &= has_field;
        if let Some((_, frames)) = &mut self.ended {
            *frames = frames.saturating_add(1);
        }
        let all = std::mem::take(events);
        for event in all {
            match &event {
                Event::Ime(ImeEvent::Preedit { text, .. }) if !text.is_empty() => {
                    self.is_composing = true;
                }
                Event::Ime(ImeEvent::Preedit { .. }) => self.end(time),
                Event::Ime(ImeEvent::Commit(text)) => {
                    self.end(time);
                    // Under X, a key that the input method passes on during a composition arrives as its control character.
                    if !text.is_empty() && text.chars().all(char::is_control) {
                        continue;
                    }
                }
                // A click, or another window, ends it.
                Event::PointerButton { pressed: true, .. } | Event::WindowFocused(_) => {
                    self.is_composing = false;
                }
                Event::Key { key: Key::Escape, pressed: true, .. } if self.is_composing => {
                    self.end(time);
                    let (text, active_range_chars) = (String::new(), None);
                    events.push(Event::Ime(ImeEvent::Preedit { text, active_range_chars }));
                    continue;
                }
                Event::Key { pressed: true, .. } | Event::Cut | Event::Copy | Event::Paste(_)
                    if self.is_composing =>
                {
                    continue;
                }
                Event::Key { key: Key::Enter | Key::Escape, pressed: true, .. }
                    if self.has_just_ended(time) =>
                {
                    continue;
                }
                _ => {}
            }
            events.push(event);
        }
    }

    /// Input methods end a composition more than once, and report an end without one.
    fn end(&mut self, time: f64) {
        if std::mem::take(&mut self.is_composing) {
            self.ended = Some((time, 0));
        }
    }

    /// Also in the frame after the one of the end, however long that one took.
    fn has_just_ended(&self, time: f64) -> bool {
        self.ended.is_some_and(|(end, frames)| frames <= 1 || time - end <= AFTERWARDS)
    }
}

#[cfg(test)]
mod tests {
    use egui::Modifiers;

    use super::*;

    fn preedit(text: &str) -> Event {
        Event::Ime(ImeEvent::Preedit { text: text.to_owned(), active_range_chars: None })
    }

    fn commit(text: &str) -> Event {
        Event::Ime(ImeEvent::Commit(text.to_owned()))
    }

    fn key(key: Key, pressed: bool) -> Event {
        let modifiers = Modifiers::NONE;
        Event::Key { key, physical_key: None, pressed, repeat: false, modifiers }
    }

    fn kept(composition: &mut Composition, events: &[Event], time: f64) -> Vec<Event> {
        let mut events = events.to_vec();
        composition.keep_keys(&mut events, time, true);
        events
    }

    #[test]
    fn keys_during_a_composition_reach_nothing() {
        let mut composition = Composition::default();
        let down = [key(Key::F5, true), key(Key::Enter, true), Event::Paste("x".to_owned())];
        assert_eq!(kept(&mut composition, &down, 0.0), down, "there is no composition yet");
        let up = key(Key::F5, false);
        let typed = [&[preedit("ni")], &down[..], std::slice::from_ref(&up)].concat();
        assert_eq!(kept(&mut composition, &typed, 1.0), [preedit("ni"), up], "released keys end");
        assert_eq!(kept(&mut composition, &down, 9.0), [], "however long it lasts");
        let ends = [preedit(""), commit("你"), key(Key::A, true)];
        assert_eq!(kept(&mut composition, &ends, 10.0), ends);
    }

    #[test]
    fn the_enter_that_ends_a_composition_ends_nothing_else() {
        for end in [commit("한"), preedit("")] {
            for last in [Key::Enter, Key::Escape] {
                let mut composition = Composition::default();
                kept(&mut composition, &[preedit("한")], 1.0);
                let events = [end.clone(), key(last, true)];
                assert_eq!(kept(&mut composition, &events, 2.0), std::slice::from_ref(&end));
                assert_eq!(kept(&mut composition, &[key(last, true)], 5.0), [], "a long frame");
                let next = [key(last, true)];
                assert_eq!(
                    kept(&mut composition, &next, 5.1),
                    next,
                    "the next one is the person's"
                );
            }
        }
    }

    #[test]
    fn keys_that_arrive_as_control_characters_are_no_text() {
        let mut composition = Composition::default();
        kept(&mut composition, &[preedit("한")], 1.0);
        for passed_on in ["\r", "\u{1b}", "\u{1}"] {
            let events = [preedit(""), commit("한"), commit(passed_on)];
            assert_eq!(kept(&mut composition, &events, 2.0), events[..2]);
        }
    }

    #[test]
    fn a_report_of_no_composition_takes_no_key() {
        let mut composition = Composition::default();
        let events = [preedit(""), key(Key::Enter, true)];
        assert_eq!(kept(&mut composition, &events, 1.0), events);
    }

    #[test]
    fn escape_cancels_a_composition_and_no_more() {
        let mut composition = Composition::default();
        kept(&mut composition, &[preedit("ni")], 1.0);
        assert_eq!(kept(&mut composition, &[key(Key::Escape, true)], 2.0), [preedit("")]);
        let next = [key(Key::Escape, true)];
        kept(&mut composition, &[], 2.1);
        assert_eq!(kept(&mut composition, &next, 3.0), next);
    }

    #[test]
    fn a_composition_does_not_outlive_its_field() {
        for end in [
            Event::WindowFocused(false),
            Event::PointerButton {
                pos: egui::Pos2::ZERO,
                button: egui::PointerButton::Primary,
                pressed: true,
                modifiers: Modifiers::NONE,
            },
        ] {
            let mut composition = Composition::default();
            let events = [preedit("ni"), end.clone(), key(Key::F5, true)];
            assert_eq!(kept(&mut composition, &events, 1.0), events);
        }
        let mut composition = Composition::default();
        kept(&mut composition, &[preedit("ni")], 1.0);
        let mut events = vec![key(Key::Enter, true)];
        composition.keep_keys(&mut events, 2.0, false);
        assert_eq!(events.len(), 1, "nothing has the focus that takes text");
    }
}
