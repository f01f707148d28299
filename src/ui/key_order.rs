//! Keeps key events in the order in which they were pressed, even when a slow frame receives several at once.
//!
//! Within one frame egui moves the focus first and handles presses afterwards. Without this module, Space
//! followed by Tab would press the control after the focused one (*Approve* instead of *Skip*), and two Tabs
//! would move the focus by one control only.

use egui::{Event, Key};

/// Events held back for a later frame.
#[derive(Debug, Default)]
pub struct KeyOrder {
    later: Vec<Event>,
    /// The number of the question shown when the events arrived.
    question: u64,
}

impl KeyOrder {
    /// Leaves in `events` what this frame may handle together, preceded by the events held back earlier.
    /// Returns true when events are held back for the next frame.
    ///
    /// `question` changes whenever a question appears or disappears. Events held back before such a change
    /// were not meant for what is shown now.
    pub fn put_in_order(&mut self, events: &mut Vec<Event>, question: u64) -> bool {
        if self.question != question {
            let_go_of(&mut self.later);
        }
        self.question = question;
        events.splice(0..0, self.later.drain(..));
        self.later = take_later(events);
        !self.later.is_empty()
    }
}

/// Drops complete key presses and clicks, and text. Keeps presses without a release because the key is still
/// held, and releases because otherwise the key would seem held forever.
fn let_go_of(events: &mut Vec<Event>) {
    let whole = std::mem::take(events);
    for (at, event) in whole.iter().enumerate() {
        let rest = whole.get(at..).unwrap_or_default();
        let done = match event {
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
        if !done {
            events.push(event.clone());
        }
    }
}

fn take_later(events: &mut Vec<Event>) -> Vec<Event> {
    let (mut moves, mut tabs, mut presses) = (false, false, false);
    let later = events.iter().position(|event| {
        let kind = kind(event);
        let waits = match kind {
            Kind::Tab => tabs || presses,
            Kind::Moves => presses,
            Kind::Presses => moves,
            Kind::Other => false,
        };
        moves |= matches!(kind, Kind::Tab | Kind::Moves);
        tabs |= kind == Kind::Tab;
        presses |= kind == Kind::Presses;
        waits
    });
    later.map_or_else(Vec::new, |at| events.split_off(at))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Moves the focus by one control.
    Tab,
    /// Moves or releases the focus. Several may share a frame, because a held key must not lag behind.
    Moves,
    /// Acts on the focused control.
    Presses,
    Other,
}

fn kind(event: &Event) -> Kind {
    match event {
        Event::Key { key: Key::Tab, pressed: true, repeat: false, .. } => Kind::Tab,
        Event::Key {
            key:
                Key::Tab
                | Key::ArrowUp
                | Key::ArrowDown
                | Key::ArrowLeft
                | Key::ArrowRight
                | Key::Escape,
            pressed: true,
            ..
        } => Kind::Moves,
        Event::Key { pressed: true, .. } | Event::Text(_) | Event::Paste(_) => Kind::Presses,
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

    fn press(of: Key) -> Event {
        key(of, true)
    }

    /// The keys of each frame, by their first letter.
    fn frames(keys: &str) -> Vec<String> {
        let event = |c| match c {
            'T' => press(Key::Tab),
            'D' => press(Key::ArrowDown),
            'E' => press(Key::Escape),
            'S' => press(Key::Space),
            other => Event::Text(other.to_string()),
        };
        let letter = |event: &Event| match event {
            Event::Key { key, .. } => key.name().chars().find(char::is_ascii_uppercase).unwrap(),
            Event::Text(text) => text.chars().next().unwrap(),
            other => panic!("{other:?}"),
        };
        let mut order = KeyOrder::default();
        let mut now: Vec<_> = keys.chars().map(event).collect();
        let mut frames = Vec::new();
        loop {
            let more = order.put_in_order(&mut now, 0);
            frames.push(now.drain(..).map(|event| letter(&event)).collect());
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
        assert_eq!(frames("DDD"), ["DDD"]);
    }

    #[test]
    fn a_new_question_drops_held_back_presses() {
        let mut order = KeyOrder::default();
        let typed = [press(Key::F5), press(Key::Tab), Event::Text("y".into()), press(Key::Escape)];
        let let_go = [key(Key::Tab, false), key(Key::Escape, false)];
        let held = press(Key::Enter);
        let mut now = [&typed[..], &let_go, std::slice::from_ref(&held)].concat();
        assert!(order.put_in_order(&mut now, 0));
        assert_eq!(now, [press(Key::F5)]);
        now.clear();
        assert!(!order.put_in_order(&mut now, 1));
        assert_eq!(now, [&let_go[..], &[held]].concat());
    }

    proptest! {
        #[test]
        fn no_key_is_lost_or_reordered(keys in "[TESxy]{0,30}") {
            prop_assert_eq!(frames(&keys).concat(), keys);
        }
    }
}
