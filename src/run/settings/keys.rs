//! Keys as a person writes them, such as `Ctrl+Shift+K`, and which of them a command may have.

use std::fmt;

/// The keys besides letters, digits and function keys: the name in the settings file, and how the window's library
/// names the key.
const OTHER: [(&str, &str); 22] = [
    ("Up", "Up"),
    ("Down", "Down"),
    ("Left", "Left"),
    ("Right", "Right"),
    ("PageUp", "PageUp"),
    ("PageDown", "PageDown"),
    ("Home", "Home"),
    ("End", "End"),
    ("Insert", "Insert"),
    ("Delete", "Delete"),
    ("Backspace", "Backspace"),
    ("Enter", "Enter"),
    ("Space", "Space"),
    ("Tab", "Tab"),
    ("Escape", "Escape"),
    (",", "Comma"),
    (".", "Period"),
    (";", "Semicolon"),
    ("/", "Slash"),
    ("\\", "Backslash"),
    ("[", "OpenBracket"),
    ("]", "CloseBracket"),
];

/// Keys that change the size of everything.
const ZOOM: [(&str, &str); 3] = [("+", "Plus"), ("-", "Minus"), ("=", "Equals")];

/// A key with what is held down meanwhile.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Keys {
    /// Ctrl; on a Mac, Command.
    pub ctrl: bool,
    /// Alt; on a Mac, Option.
    pub alt: bool,
    /// Shift.
    pub shift: bool,
    /// The key, as the window's library names it.
    key: String,
}

impl Keys {
    /// The keys with these modifiers and this name of the window's library; `None` if the settings file has no word for it.
    pub fn new(ctrl: bool, alt: bool, shift: bool, key: &str) -> Option<Self> {
        let is_known = is_letter(key)
            || is_function(key)
            || OTHER.iter().chain(&ZOOM).any(|(_, name)| *name == key);
        is_known.then(|| Self { ctrl, alt, shift, key: key.to_owned() })
    }

    /// Reads keys as they are in the settings file.
    ///
    /// # Errors
    /// What is wrong, as a part of a sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (mut ctrl, mut alt, mut shift) = (false, false, false);
        let mut rest = text.trim();
        while let Some((word, after)) = rest.split_once('+') {
            let held = match word.trim().to_ascii_lowercase().as_str() {
                "ctrl" | "cmd" => &mut ctrl,
                "alt" => &mut alt,
                "shift" => &mut shift,
                _ => break,
            };
            if std::mem::replace(held, true) {
                return Err(format!("{text:?} has {} twice", word.trim()));
            }
            rest = after.trim();
        }
        let wanted = rest.to_ascii_lowercase();
        let other = OTHER.iter().chain(&ZOOM).find(|(sign, name)| {
            sign.eq_ignore_ascii_case(&wanted) || name.eq_ignore_ascii_case(&wanted)
        });
        let key = other.map_or_else(|| wanted.to_ascii_uppercase(), |(_, name)| (*name).to_owned());
        Self::new(ctrl, alt, shift, &key).ok_or_else(|| {
            format!("{text:?} is no key; write for instance \"Ctrl+Shift+K\" or \"F6\"")
        })
    }

    /// The key, as the window's library names it.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Whether one press may be meant for these keys and for the others. Some keyboards need Shift or Alt for a sign or a
    /// digit, so with one of these they make no difference.
    pub fn meets(&self, other: &Self) -> bool {
        let is_same = self.key == other.key && self.ctrl == other.ctrl;
        is_same && (is_sign(&self.key) || (self.alt, self.shift) == (other.alt, other.shift))
    }

    /// Why no command may have these keys; `None` if one may.
    pub fn why_not(&self) -> Option<&'static str> {
        let key = self.key.as_str();
        let plain = !self.ctrl && !self.alt;
        match key {
            "Escape" => {
                Some("Escape closes what is open and leaves a question undecided, everywhere.")
            }
            "Tab" => Some("Tab leads from control to control, so that everything can be reached."),
            "Space" => Some("Space presses the control that has the focus."),
            "Enter" if plain || self.alt => Some(
                "Enter gives the chosen answer in dialogs, and presses the control that has the focus.",
            ),
            "Up" | "Down" | "Left" | "Right" if plain => {
                Some("The arrow keys lead through lists and texts, with Shift they select.")
            }
            "PageUp" | "PageDown" | "Home" | "End" if plain => Some("This key scrolls."),
            "Delete" | "Backspace" | "Insert" if plain => Some("This key edits text and lists."),
            "Plus" | "Minus" | "Equals" | "0" if self.ctrl => Some(
                "Ctrl with +, - and 0 changes the size of everything, so that it can always be read.",
            ),
            "A" | "C" | "V" | "X" | "Z" | "Y" if self.ctrl && !self.shift && !self.alt => {
                Some("This key edits text: select all, copy, paste, cut, undo, redo.")
            }
            "Z" if self.ctrl && self.shift => Some("This key edits text: redo."),
            "F4" if self.alt => Some("Alt+F4 closes the window."),
            "F10" if plain && self.shift => Some("Shift+F10 opens the menu of what has the focus."),
            _ if plain && !is_function(key) => {
                Some("A command needs Ctrl or Alt, or a function key: this key types text.")
            }
            _ => None,
        }
    }
}

impl fmt::Display for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (held, word) in [(self.ctrl, "Ctrl+"), (self.alt, "Alt+"), (self.shift, "Shift+")] {
            f.write_str(if held { word } else { "" })?;
        }
        let named = OTHER.iter().chain(&ZOOM).find(|(_, name)| *name == self.key);
        f.write_str(named.map_or(self.key.as_str(), |(sign, _)| sign))
    }
}

fn is_letter(key: &str) -> bool {
    let mut chars = key.chars();
    matches!((chars.next(), chars.next()), (Some('A'..='Z' | '0'..='9'), None))
}

/// Whether the key, as the window's library names it, writes a sign or a digit.
fn is_sign(key: &str) -> bool {
    let mut named = OTHER.iter().chain(&ZOOM).filter(|(_, name)| *name == key);
    named.any(|(sign, _)| sign.len() == 1)
        || is_letter(key) && key.starts_with(|it: char| it.is_ascii_digit())
}

fn is_function(key: &str) -> bool {
    (1..=24).any(|number| key == format!("F{number}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_they_are_written() {
        for (text, written) in [
            ("Ctrl+Shift+K", "Ctrl+Shift+K"),
            ("shift + ctrl + k", "Ctrl+Shift+K"),
            ("Ctrl+,", "Ctrl+,"),
            ("ctrl+comma", "Ctrl+,"),
            ("Ctrl++", "Ctrl++"),
            ("alt+left", "Alt+Left"),
            ("f12", "F12"),
            ("Ctrl+PageDown", "Ctrl+PageDown"),
            ("Ctrl+0", "Ctrl+0"),
        ] {
            let keys = Keys::parse(text).unwrap();
            assert_eq!(keys.to_string(), written);
            assert_eq!(Keys::parse(written), Ok(keys), "{written}");
        }
        for text in
            ["", "Ctrl", "Ctrl+", "Hyper+K", "Ctrl+Ctrl+K", "KK", "F25", "F05", "F+1", "Ctrl+ß"]
        {
            assert!(Keys::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn shift_and_alt_tell_no_sign_from_another() {
        for (one, other, meets) in [
            ("Ctrl+Shift+.", "Ctrl+.", true),
            ("Ctrl+Shift+.", "Ctrl+Alt+.", true),
            ("Ctrl+Shift+.", "Ctrl+Alt+Shift+.", true),
            ("Ctrl+Shift+.", "Alt+Shift+.", false),
            ("Ctrl+1", "Ctrl+Shift+1", true),
            ("Ctrl+L", "Ctrl+Shift+L", false),
            ("F5", "Shift+F5", false),
            ("Ctrl+Shift+Up", "Ctrl+Up", false),
        ] {
            let keys = |text| Keys::parse(text).unwrap();
            assert_eq!(keys(one).meets(&keys(other)), meets, "{one} {other}");
            assert_eq!(keys(other).meets(&keys(one)), meets, "{other} {one}");
        }
    }

    #[test]
    fn keys_of_dialogs_and_texts_are_for_no_command() {
        for text in [
            "Escape",
            "Ctrl+Escape",
            "Enter",
            "Alt+Enter",
            "Space",
            "Ctrl+Tab",
            "Up",
            "Shift+Down",
            "K",
            "Shift+K",
            "Ctrl+C",
            "Ctrl++",
            "Ctrl+0",
            "Delete",
            "Home",
            "Alt+F4",
            "Shift+F10",
            "Ctrl+Shift+Z",
        ] {
            assert!(Keys::parse(text).unwrap().why_not().is_some(), "{text}");
        }
        for text in ["F5", "Shift+F5", "Ctrl+K", "Alt+K", "Ctrl+Enter", "Alt+Left", "Ctrl+Shift+C"]
        {
            assert_eq!(Keys::parse(text).unwrap().why_not(), None, "{text}");
        }
    }
}
