//! Keeps key events in the order in which they were pressed, even when a slow frame receives several at once.
//!
//! Within one frame egui moves the focus first and handles presses afterwards. Without this module, Space
//! followed by Tab would press the control after the focused one (*Approve* instead of *Skip*), two Tabs
//! would move the focus by one control only, and the first letters typed after the key of a search would be lost.

use std::collections::HashSet;

use egui::{Event, Key};

/// Events held back for a later frame.
#[derive(Debug, Default)]
pub struct KeyQueue {
    later: Vec<Event>,
    /// The dialog number when the events arrived.
    dialog: u64,
    /// Whether the last frame handled a command. A field that it gives the focus to has it only in the frame after the one
    /// that draws the field.
    after_command: bool,
    /// The keys that are down.
    down: HashSet<Key>,
}

impl KeyQueue {
    /// Puts the events held back earlier in front of `events`, and holds back those that this frame must not handle
    /// together with the ones before them. Returns whether any are held back for the next frame.
    ///
    /// `dialog` is a number that changes whenever a dialog appears. Presses held back before such a
    /// change are dropped, because they were meant for what was shown then.
    pub fn hold_back(&mut self, events: &mut Vec<Event>, dialog: u64) -> bool {
        if self.dialog != dialog {
            drop_completed(&mut self.later);
        }
        self.dialog = dialog;
        self.mark_repeats(events);
        events.splice(0..0, self.later.drain(..));
        self.later = split_off_later(events, self.after_command);
        self.after_command = events.iter().any(is_command);
        !self.later.is_empty()
    }

    /// Marks presses of keys that are down already, which egui does only after this.
    fn mark_repeats(&mut self, events: &mut [Event]) {
        for event in events {
            match event {
                Event::Key { key, pressed: true, repeat, .. } => *repeat = !self.down.insert(*key),
                Event::Key { key, pressed: false, .. } => drop(self.down.remove(key)),
                Event::WindowFocused(_) => self.down.clear(),
                _ => {}
            }
        }
    }
}

/// Drops text and completed presses of keys and buttons. Keeps the releases, because otherwise the keys would seem
/// held forever, and presses without a release, because these keys are still held. Keeps commands that answer no dialog,
/// because the one that stops a run works over every dialog.
fn drop_completed(events: &mut Vec<Event>) {
    let all = std::mem::take(events);
    for (index, event) in all.iter().enumerate() {
        let rest = all.get(index..).unwrap_or_default();
        let completed = match event {
            Event::Key { key, .. } if *key != Key::Enter && is_command(event) => false,
            Event::Key { key, pressed: true, .. } => rest
                .iter()
                .any(|it| matches!(it, Event::Key { key: up, pressed: false, .. } if up == key)),
            Event::PointerButton { button, pressed: true, .. } => rest.iter().any(
                |it| matches!(it, Event::PointerButton { button: up, pressed: false, .. } if up == button),
            ),
            Event::Text(_) | Event::Paste(_) | Event::Cut | Event::Copy | Event::Ime(_) => true,
            Event::AccessKitActionRequest(_) => true,
            _ => false,
        };
        if !completed {
            events.push(event.clone());
        }
    }
}

/// Splits off the events from the first one that a later frame must handle. `after_command` defers all but commands.
fn split_off_later(events: &mut Vec<Event>, after_command: bool) -> Vec<Event> {
    let (mut alone, mut moves, mut presses, mut clicks) = (false, false, false, false);
    let later = events.iter().position(|event| {
        let kind = kind(event);
        let is_later = match kind {
            Kind::Alone => {
                alone || moves || presses || clicks || after_command && !is_command(event)
            }
            Kind::FocusMove => alone || presses || clicks || after_command,
            Kind::Press => alone || moves || after_command,
            Kind::Click | Kind::Other => false,
        };
        alone |= kind == Kind::Alone;
        moves |= kind == Kind::FocusMove;
        presses |= kind == Kind::Press;
        clicks |= kind == Kind::Click;
        is_later
    });
    later.map_or_else(Vec::new, |index| events.split_off(index))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Moves the focus by one control, releases it, or is a command that may move it: what is typed next is meant for the
    /// control that has the focus then.
    Alone,
    /// A held key that moves the focus. Several may share a frame, because it must not lag behind.
    FocusMove,
    /// Acts on the focused control.
    Press,
    /// The end of a click, which may choose what a command after it is about.
    Click,
    Other,
}

/// Whether this is the press of a key that commands the window, wherever the focus is.
fn is_command(event: &Event) -> bool {
    let Event::Key { key, pressed: true, repeat: false, modifiers, .. } = event else {
        return false;
    };
    (Key::F1..=Key::F35).contains(key) || modifiers.ctrl || modifiers.alt || modifiers.command
}

fn kind(event: &Event) -> Kind {
    match event {
        Event::Key {
            key:
                Key::Tab
                | Key::ArrowUp
                | Key::ArrowDown
                | Key::ArrowLeft
                | Key::ArrowRight
                | Key::Escape,
            pressed: true,
            repeat,
            ..
        } => {
            if *repeat {
                Kind::FocusMove
            } else {
                Kind::Alone
            }
        }
        _ if is_command(event) => Kind::Alone,
        Event::PointerButton { pressed: false, .. } => Kind::Click,
        // A syllable that an input method commits belongs to the field that had the focus before a Tab after it.
        Event::Key { pressed: true, .. } | Event::Text(_) | Event::Paste(_) | Event::Ime(_) => {
            Kind::Press
        }
        _ => Kind::Other,
    }
}

#[cfg(test)]
mod tests {
    use egui::Modifiers;
    use proptest::prelude::*;

    use super::*;

    fn key(key: Key, pressed: bool) -> Event {
        let modifiers = Modifiers::NONE;
        Event::Key { key, physical_key: None, pressed, repeat: false, modifiers }
    }

    fn press(pressed: Key) -> Event {
        key(pressed, true)
    }

    /// The events of each frame, each as one character: a key by its first letter, text and the end of a click by itself. Small
    /// letters of keys are held: pressed again without a release.
    fn frames(keys: &str) -> Vec<String> {
        let events = |c: char| {
            let pressed = match c.to_ascii_uppercase() {
                'T' => press(Key::Tab),
                'D' => press(Key::ArrowDown),
                'E' => press(Key::Escape),
                'S' => press(Key::Space),
                'F' => press(Key::F4),
                'C' => {
                    let modifiers = Modifiers::CTRL;
                    let (key, pressed, repeat) = (Key::C, true, false);
                    Event::Key { key, physical_key: None, pressed, repeat, modifiers }
                }
                '*' => {
                    let (pos, button) = (egui::Pos2::ZERO, egui::PointerButton::Primary);
                    Event::PointerButton { pos, button, pressed: false, modifiers: Modifiers::NONE }
                }
                _ => Event::Text(c.to_string()),
            };
            match pressed {
                Event::Key { key: name, .. } if c.is_ascii_uppercase() => {
                    vec![pressed, key(name, false)]
                }
                held_or_text => vec![held_or_text],
            }
        };
        let letter = |event: &Event| match event {
            Event::Key { pressed: false, .. } => None,
            Event::Key { key, .. } => key.name().chars().find(char::is_ascii_uppercase),
            Event::Text(text) => text.chars().next(),
            Event::PointerButton { .. } => Some('*'),
            other => panic!("{other:?}"),
        };
        let mut queue = KeyQueue::default();
        let mut now: Vec<_> = keys.chars().flat_map(events).collect();
        let mut frames = Vec::new();
        loop {
            let more = queue.hold_back(&mut now, 0);
            frames.push(now.drain(..).filter_map(|event| letter(&event)).collect());
            if !more {
                return frames;
            }
        }
    }

    #[test]
    fn presses_before_a_focus_move_stay_before_it() {
        assert_eq!(frames("SSyT"), ["SSy", "T"]);
        assert_eq!(frames("TS"), ["T", "S"]);
        assert_eq!(frames("TTTS"), ["T", "T", "T", "S"]);
        assert_eq!(frames("yES"), ["y", "E", "S"]);
        assert_eq!(frames("DDC"), ["D", "D", "C"]);
    }

    #[test]
    fn a_held_key_does_not_lag_behind() {
        assert_eq!(frames("dddd"), ["D", "DDD"]);
        assert_eq!(frames("ttttS"), ["T", "TTT", "S"]);
        assert_eq!(frames("ccccD"), ["C", "", "CCC", "D"]);
    }

    #[test]
    fn a_click_is_handled_before_the_command_about_what_it_chose() {
        assert_eq!(frames("*C"), ["*", "C"]);
        assert_eq!(frames("*T"), ["*", "T"]);
        assert_eq!(frames("C*"), ["C*"]);
    }

    #[test]
    fn what_follows_a_command_is_for_the_control_that_it_gave_the_focus() {
        assert_eq!(frames("Cxy"), ["C", "", "xy"]);
        assert_eq!(frames("xyCC"), ["xy", "C", "C"]);
        assert_eq!(frames("FxED"), ["F", "", "x", "E", "D"]);
    }

    #[test]
    fn a_committed_text_stays_in_its_field() {
        let committed = Event::Ime(egui::ImeEvent::Commit("한".to_owned()));
        let mut now = vec![committed.clone(), press(Key::Tab)];
        assert!(KeyQueue::default().hold_back(&mut now, 0));
        assert_eq!(now, [committed]);
    }

    #[test]
    fn a_new_question_drops_held_back_presses() {
        let mut queue = KeyQueue::default();
        let typed = [press(Key::F5), press(Key::Tab), Event::Text("y".into()), press(Key::Escape)];
        let releases = [key(Key::Tab, false), key(Key::Escape, false)];
        let held = press(Key::Enter);
        let mut now = [&typed[..], &releases, std::slice::from_ref(&held)].concat();
        assert!(queue.hold_back(&mut now, 0));
        assert_eq!(now, [press(Key::F5)]);
        now.clear();
        assert!(queue.hold_back(&mut now, 1));
        assert_eq!(now, releases);
        now.clear();
        assert!(!queue.hold_back(&mut now, 1));
        assert_eq!(now, [held]);
    }

    /// The key that stops a run comes in the frame after the one that opens a dialog.
    #[test]
    fn a_new_question_neither_drops_nor_defers_a_command() {
        let mut queue = KeyQueue::default();
        let stop = Event::Key {
            key: Key::Period,
            physical_key: None,
            pressed: true,
            repeat: false,
            modifiers: Modifiers::CTRL,
        };
        let mut now = vec![press(Key::F5), stop.clone(), key(Key::Period, false)];
        assert!(queue.hold_back(&mut now, 0));
        assert_eq!(now, [press(Key::F5)]);
        now.clear();
        assert!(!queue.hold_back(&mut now, 1));
        assert_eq!(now, [stop, key(Key::Period, false)]);
    }

    proptest! {
        #[test]
        fn no_key_is_lost_or_reordered(keys in "[TESDFCtdcxy*]{0,30}") {
            let shown = keys.replace('t', "T").replace('d', "D").replace('c', "C");
            prop_assert_eq!(frames(&keys).concat(), shown);
        }
    }
}
