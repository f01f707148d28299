//! Ends a key under every name that it was pressed with.
//!
//! A key can be released under another name: Shift and `;` press `:`, and if Shift is released first, `;` is released.
//! egui, which knows keys by name, would take `:` for held until the window loses the focus.

use std::collections::HashSet;

use egui::{Event, Key};

/// The keys that are down: the place on the keyboard, and the name at the press.
#[derive(Debug, Default)]
pub struct KeyNames {
    down: HashSet<(Key, Key)>,
}

impl KeyNames {
    /// Adds to each release in `events` the releases under the other names that the key was pressed with.
    pub fn complete(&mut self, events: &mut Vec<Event>) {
        let mut completed = Vec::with_capacity(events.len());
        for event in events.drain(..) {
            match &event {
                Event::Key { key, physical_key: Some(place), pressed: true, .. } => {
                    self.down.insert((*place, *key));
                }
                Event::Key {
                    key,
                    physical_key: Some(place),
                    pressed: false,
                    repeat,
                    modifiers,
                } => {
                    for (_, name) in self.down.extract_if(|(down, _)| down == place) {
                        if name != *key {
                            completed.push(Event::Key {
                                key: name,
                                physical_key: Some(*place),
                                pressed: false,
                                repeat: *repeat,
                                modifiers: *modifiers,
                            });
                        }
                    }
                }
                // egui also forgets all keys.
                Event::WindowFocused(false) => self.down.clear(),
                _ => {}
            }
            completed.push(event);
        }
        *events = completed;
    }
}

#[cfg(test)]
mod tests {
    use egui::Modifiers;

    use super::*;

    fn key(key: Key, place: Key, pressed: bool) -> Event {
        let physical_key = Some(place);
        Event::Key { key, physical_key, pressed, repeat: false, modifiers: Modifiers::NONE }
    }

    /// The keys that egui takes for held after these events.
    fn held(events: &[Event]) -> Vec<Key> {
        let (ctx, mut names) = (egui::Context::default(), KeyNames::default());
        for event in events {
            let mut events = vec![event.clone()];
            names.complete(&mut events);
            let input = egui::RawInput { events, ..Default::default() };
            ctx.run_ui(input, |_| {}).textures_delta.clear();
        }
        ctx.input(|input| input.keys_down.iter().copied().collect())
    }

    #[test]
    fn a_release_under_another_name_ends_the_key() {
        let down = key(Key::Colon, Key::Semicolon, true);
        let up = key(Key::Semicolon, Key::Semicolon, false);
        assert_eq!(held(std::slice::from_ref(&down)), [Key::Colon]);
        assert_eq!(held(&[down.clone(), up.clone()]), []);
        // Shift changes while the key repeats.
        assert_eq!(held(&[key(Key::Semicolon, Key::Semicolon, true), down, up]), []);
    }

    #[test]
    fn a_release_ends_no_other_key() {
        let enter = key(Key::Enter, Key::Enter, true);
        let roll = [key(Key::A, Key::A, true), key(Key::A, Key::A, false)];
        assert_eq!(held(&[&[enter][..], &roll].concat()), [Key::Enter]);
    }
}
