//! Keyboards of other layouts, dead keys and the Compose key, under X and in a Wayland session.

use std::path::Path;

use super::harness::Desktop;
use super::screen::{Outcome, Screen, fail, need};
use super::support::passes;

/// The codes of keys by their place, named as an American keyboard has them.
const KEY_4: &str = "13";
const KEY_Q: &str = "24";
const KEY_E: &str = "26";
const KEY_A: &str = "38";
const KEY_K: &str = "45";
/// On a German keyboard: ß with the backslash, the dead acute accent, and AltGr.
const KEY_MINUS: &str = "20";
const KEY_EQUAL: &str = "21";
const ALT_GR: &str = "108";
/// On a German keyboard, the key that the option below makes Compose.
const MENU: &str = "135";
const QUOTE: &str = "shift+51";

/// The window of the program with this keyboard.
fn start(is_wayland: bool, layout: &str) -> Outcome<Desktop> {
    need(&["setxkbmap"], "sh packaging/test.sh")?;
    let set = |screen: &Screen| {
        let mut set = screen.x_command("setxkbmap");
        let status = set.args(["-layout", layout, "-option", "compose:menu"]).status();
        if status.is_ok_and(|it| it.success()) { Ok(()) } else { fail("setxkbmap fails") }
    };
    let screen = if is_wayland {
        Screen::start_wayland_with(1, set)?
    } else {
        let screen = Screen::start()?;
        set(&screen)?;
        screen
    };
    let pictures = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/window");
    let program = Path::new(env!("CARGO_BIN_EXE_countersign"));
    // The library of the window composes by itself, without an input method.
    Desktop::start_on(screen, program, &[], &pictures, &[("XMODIFIERS", "@im=none")])
}

/// Presses keys one after another, so that each is a frame of its own.
fn press(desktop: &Desktop, keys: &[&str]) -> Outcome {
    keys.iter().try_for_each(|key| desktop.key(key))
}

/// Opens the palette by the place of its key and types there. Returns when its field has this text.
fn typed(desktop: &mut Desktop, keys: &[&str], text: &str) -> Outcome {
    press(desktop, &[&format!("ctrl+{KEY_K}")])?;
    let field = "Find a command";
    desktop.wait_until("the palette has the keyboard", |desktop| {
        Ok((desktop.tree()?.focused.as_deref() == Some(field)).then_some(()))
    })?;
    press(desktop, keys)?;
    desktop.wait_until(&format!("the field has {text:?}"), |desktop| {
        let tree = desktop.tree()?;
        let value = tree.control(field).and_then(|control| control.value.clone());
        Ok((value.as_deref() == Some(text)).then_some(()))
    })?;
    press(desktop, &["Escape"])?;
    desktop.wait_until_gone(field)
}

fn german(is_wayland: bool) -> Outcome {
    let mut desktop = start(is_wayland, "de")?;
    let (at, backslash) = (format!("{ALT_GR}+{KEY_Q}"), format!("{ALT_GR}+{KEY_MINUS}"));
    typed(&mut desktop, &[&at, &backslash], "@\\")?;
    typed(&mut desktop, &[KEY_EQUAL, KEY_E], "é")?;
    typed(&mut desktop, &[MENU, QUOTE, KEY_A], "á")
}

fn others(is_wayland: bool) -> Outcome {
    let mut desktop = start(is_wayland, "ru")?;
    typed(&mut desktop, &[KEY_A, KEY_Q], "фй")?;
    drop(desktop);
    let mut desktop = start(is_wayland, "fr")?;
    press(&desktop, &[&format!("ctrl+{KEY_4}")])?;
    desktop.wait_for_text("Goal")
}

#[test]
fn keyboards_of_other_languages_type_and_command_under_x() {
    passes(german(false));
    passes(others(false));
}

#[test]
fn keyboards_of_other_languages_type_and_command_in_wayland() {
    passes(german(true));
    passes(others(true));
}
