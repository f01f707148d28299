//! Translates the keys of the window into what a terminal sends to its program.

use egui::{Event, ImeEvent, Key, Modifiers};

use crate::run::TerminalModes;

/// The bytes that the terminal sends for an event of the keyboard, if any.
///
/// Combinations with Ctrl and Shift send nothing: they belong to the window, as in other terminals. Ctrl+C and Ctrl+X
/// arrive as copy and cut; the text of a paste arrives whatever key requested it.
pub(super) fn bytes_of(
    event: &Event,
    modifiers: Modifiers,
    modes: TerminalModes,
) -> Option<Vec<u8>> {
    match event {
        Event::Text(text) | Event::Ime(ImeEvent::Commit(text)) => {
            // Alt sends an escape character first.
            let prefix = if modifiers.alt && !modifiers.ctrl { "\x1b" } else { "" };
            Some(format!("{prefix}{text}").into_bytes())
        }
        Event::Paste(text) => Some(pasted(text, modes)),
        Event::Copy => Some(vec![0x03]),
        Event::Cut => Some(vec![0x18]),
        Event::Key { key, pressed: true, modifiers, .. } => key_bytes(*key, *modifiers, modes),
        _ => None,
    }
}

/// The text as a person would have typed it, or in brackets if the program asked for them. Control characters are left
/// out: they could end the brackets, or run a command that the person has not seen.
fn pasted(text: &str, modes: TerminalModes) -> Vec<u8> {
    let text = text.replace("\r\n", "\r").replace('\n', "\r");
    let text: String =
        text.chars().filter(|c| !c.is_control() || matches!(c, '\r' | '\t')).collect();
    if modes.bracketed_paste { format!("\x1b[200~{text}\x1b[201~") } else { text }.into_bytes()
}

fn key_bytes(key: Key, modifiers: Modifiers, modes: TerminalModes) -> Option<Vec<u8>> {
    let Modifiers { alt, ctrl, shift, .. } = modifiers;
    // A parameter of 1 means no modifier.
    let parameter = 1 + u8::from(shift) + 2 * u8::from(alt) + 4 * u8::from(ctrl);
    let plain = match key {
        Key::Enter => Some("\r"),
        Key::Escape => Some("\x1b"),
        Key::Tab if shift => return Some(b"\x1b[Z".to_vec()),
        Key::Tab => Some("\t"),
        Key::Backspace if ctrl => Some("\x08"),
        Key::Backspace => Some("\x7f"),
        _ => None,
    };
    if let Some(plain) = plain {
        return Some(format!("{}{plain}", if alt { "\x1b" } else { "" }).into_bytes());
    }
    let letter = match key {
        Key::ArrowUp => Some('A'),
        Key::ArrowDown => Some('B'),
        Key::ArrowRight => Some('C'),
        Key::ArrowLeft => Some('D'),
        Key::Home => Some('H'),
        Key::End => Some('F'),
        _ => None,
    };
    if let Some(letter) = letter {
        let text = match parameter {
            1 if modes.application_cursor => format!("\x1bO{letter}"),
            1 => format!("\x1b[{letter}"),
            parameter => format!("\x1b[1;{parameter}{letter}"),
        };
        return Some(text.into_bytes());
    }
    let function = match key {
        Key::F1 => Some('P'),
        Key::F2 => Some('Q'),
        Key::F3 => Some('R'),
        Key::F4 => Some('S'),
        _ => None,
    };
    if let Some(function) = function {
        let text = match parameter {
            1 => format!("\x1bO{function}"),
            parameter => format!("\x1b[1;{parameter}{function}"),
        };
        return Some(text.into_bytes());
    }
    if let Some(number) = numbered(key) {
        let text = match parameter {
            1 => format!("\x1b[{number}~"),
            parameter => format!("\x1b[{number};{parameter}~"),
        };
        return Some(text.into_bytes());
    }
    // Other keys with a text arrive as text, unless Ctrl is held.
    (ctrl && !shift).then(|| control(key)).flatten().map(|byte| match alt {
        true => vec![0x1b, byte],
        false => vec![byte],
    })
}

/// The number in the sequence of a key that has one.
fn numbered(key: Key) -> Option<u8> {
    Some(match key {
        Key::Insert => 2,
        Key::Delete => 3,
        Key::PageUp => 5,
        Key::PageDown => 6,
        Key::F5 => 15,
        Key::F6 => 17,
        Key::F7 => 18,
        Key::F8 => 19,
        Key::F9 => 20,
        Key::F10 => 21,
        Key::F11 => 23,
        Key::F12 => 24,
        _ => return None,
    })
}

/// The control character of a key with Ctrl.
fn control(key: Key) -> Option<u8> {
    Some(match key {
        Key::Space | Key::Num2 => 0,
        Key::OpenBracket | Key::Num3 => 0x1b,
        Key::Backslash | Key::Num4 => 0x1c,
        Key::CloseBracket | Key::Num5 => 0x1d,
        Key::Num6 => 0x1e,
        Key::Slash | Key::Minus | Key::Num7 => 0x1f,
        Key::Num8 => 0x7f,
        key => match key.name().as_bytes() {
            [letter @ b'A'..=b'Z'] => letter - b'A' + 1,
            _ => return None,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(key: Key, modifiers: Modifiers) -> Option<Vec<u8>> {
        press_in(key, modifiers, TerminalModes::default())
    }

    fn press_in(key: Key, modifiers: Modifiers, modes: TerminalModes) -> Option<Vec<u8>> {
        let event = Event::Key { key, physical_key: None, pressed: true, repeat: false, modifiers };
        bytes_of(&event, modifiers, modes)
    }

    #[test]
    fn keys_send_the_sequences_of_xterm() {
        const CTRL_SHIFT: Modifiers = Modifiers { shift: true, ..Modifiers::CTRL };
        let cases: [(Key, Modifiers, Option<&[u8]>); 19] = [
            (Key::Enter, Modifiers::NONE, Some(b"\r")),
            (Key::Enter, Modifiers::ALT, Some(b"\x1b\r")),
            (Key::Tab, Modifiers::NONE, Some(b"\t")),
            (Key::Tab, Modifiers::SHIFT, Some(b"\x1b[Z")),
            (Key::Escape, Modifiers::NONE, Some(b"\x1b")),
            (Key::Backspace, Modifiers::NONE, Some(b"\x7f")),
            (Key::ArrowUp, Modifiers::NONE, Some(b"\x1b[A")),
            (Key::ArrowLeft, Modifiers::CTRL, Some(b"\x1b[1;5D")),
            (Key::Home, Modifiers::SHIFT, Some(b"\x1b[1;2H")),
            (Key::PageDown, Modifiers::NONE, Some(b"\x1b[6~")),
            (Key::Delete, Modifiers::CTRL, Some(b"\x1b[3;5~")),
            (Key::F1, Modifiers::NONE, Some(b"\x1bOP")),
            (Key::F12, Modifiers::NONE, Some(b"\x1b[24~")),
            (Key::A, Modifiers::CTRL, Some(b"\x01")),
            (Key::Z, Modifiers::CTRL, Some(b"\x1a")),
            (Key::Space, Modifiers::CTRL, Some(b"\x00")),
            (Key::CloseBracket, Modifiers::CTRL, Some(b"\x1d")),
            (Key::A, Modifiers::NONE, None),
            (Key::T, CTRL_SHIFT, None),
        ];
        for (key, modifiers, expected) in cases {
            assert_eq!(press(key, modifiers).as_deref(), expected, "{key:?} {modifiers:?}");
        }
        let modes = TerminalModes { application_cursor: true, ..TerminalModes::default() };
        assert_eq!(press_in(Key::ArrowUp, Modifiers::NONE, modes).unwrap(), b"\x1bOA");
        assert_eq!(press_in(Key::ArrowUp, Modifiers::ALT, modes).unwrap(), b"\x1b[1;3A");
    }

    #[test]
    fn text_copy_and_cut_are_typed() {
        let modes = TerminalModes::default();
        let text = Event::Text("ö".to_owned());
        assert_eq!(bytes_of(&text, Modifiers::NONE, modes).unwrap(), "ö".as_bytes());
        assert_eq!(bytes_of(&text, Modifiers::ALT, modes).unwrap(), "\x1bö".as_bytes());
        assert_eq!(bytes_of(&Event::Copy, Modifiers::CTRL, modes).unwrap(), b"\x03");
        assert_eq!(bytes_of(&Event::Cut, Modifiers::CTRL, modes).unwrap(), b"\x18");
    }

    #[test]
    fn pasted_text_cannot_leave_its_brackets() {
        let event = Event::Paste("a\r\nb\n\x1b[201~\x03c\td".to_owned());
        let plain = bytes_of(&event, Modifiers::CTRL, TerminalModes::default()).unwrap();
        assert_eq!(plain, b"a\rb\r[201~c\td");
        let modes = TerminalModes { bracketed_paste: true, ..TerminalModes::default() };
        let bracketed = bytes_of(&event, Modifiers::CTRL, modes).unwrap();
        assert_eq!(bracketed, b"\x1b[200~a\rb\r[201~c\td\x1b[201~");
    }
}
