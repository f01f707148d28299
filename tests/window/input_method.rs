//! A text that an input method of the system composes, in the real window: Hangul by ibus, under X.

use std::path::Path;

use x11rb::protocol::xproto::ConnectionExt as _;

use super::attention::Bus;
use super::harness::Desktop;
use super::screen::{Outcome, Screen, fail, need, poll};
use super::support::passes;

const FIELD: &str = "Find a command";

/// The window with ibus as its input method, which composes Hangul.
fn start(bus: &Bus) -> Outcome<Desktop> {
    need(&["ibus-daemon", "ibus"], "sh packaging/test.sh")?;
    // Its engines wait for a service of settings. This one keeps none.
    let places = ["/usr/libexec/ibus-memconf", "/usr/lib/ibus/ibus-memconf"];
    let Some(settings) = places.into_iter().find(|place| Path::new(place).exists()) else {
        return fail("ibus-memconf is not here");
    };
    let mut screen = Screen::start()?;
    let mut daemon = screen.command("ibus-daemon");
    daemon
        .args(["--xim", "--panel=disable", "--emoji-extension=disable"])
        .arg(format!("--config={settings}"))
        .env("DBUS_SESSION_BUS_ADDRESS", &bus.address)
        .env("GSETTINGS_BACKEND", "memory")
        .stderr(std::process::Stdio::null());
    screen.start_on("ibus-daemon", daemon)?;
    let chosen = poll(|| {
        let mut choose = screen.command("ibus");
        choose.args(["engine", "hangul"]).env("DBUS_SESSION_BUS_ADDRESS", &bus.address);
        let output = choose.output().expect("ibus runs");
        Ok(output.status.success().then_some(()))
    })?;
    if chosen.is_none() {
        return fail("ibus does not compose Hangul");
    }
    if poll(|| Ok(takes_clients(screen.display()).then_some(())))?.is_none() {
        return fail("ibus takes no clients of the display");
    }
    let pictures = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/window");
    let program = Path::new(env!("CARGO_BIN_EXE_countersign"));
    Desktop::start_on(screen, program, &[], &pictures, &[("XMODIFIERS", "@im=ibus")])
}

/// Whether the input method has announced itself on the display. A program that starts before does without it.
fn takes_clients(display: &str) -> bool {
    let (connection, _) = x11rb::connect(Some(display)).expect("the display");
    let name = connection.intern_atom(false, b"@server=ibus").expect("a request").reply();
    let owner = connection.get_selection_owner(name.expect("an atom").atom).expect("a request");
    owner.reply().expect("an owner").owner != x11rb::NONE
}

/// Looks after which a key that changes nothing is pressed.
const LOOKS_PER_KEY: u32 = 20;

/// The library of the window hands on what the input method sent with the next event of the display, and the input method
/// sometimes leaves a key that comes quickly until it gets the next one. A person's hand makes such events all the time.
fn nudge(desktop: &Desktop, looks: &mut u32) -> Outcome {
    *looks += 1;
    if looks.is_multiple_of(LOOKS_PER_KEY) {
        return desktop.key("Shift_R");
    }
    desktop.move_to(if looks.is_multiple_of(2) { 10 } else { 30 }, 2)
}

fn wait_for_value(desktop: &mut Desktop, text: &str) -> Outcome {
    let mut looks = 0;
    desktop.wait_until(&format!("the field has {text:?}"), |desktop| {
        nudge(desktop, &mut looks)?;
        let tree = desktop.tree()?;
        let value = tree.control(FIELD).and_then(|control| control.value.clone());
        Ok((value.as_deref() == Some(text)).then_some(()))
    })
}

/// Opens the palette and has its field take Hangul.
fn open(desktop: &mut Desktop) -> Outcome {
    desktop.key("ctrl+k")?;
    desktop.wait_until("the palette has the keyboard", |desktop| {
        Ok((desktop.tree()?.focused.as_deref() == Some(FIELD)).then_some(()))
    })?;
    // The window and the input method find each other some time after the window has opened.
    let (mut typed, mut looks) = (false, 0);
    desktop.wait_until("Shift and Space have it type Hangul", |desktop| {
        nudge(desktop, &mut looks)?;
        let tree = desktop.tree()?;
        match tree.control(FIELD).and_then(|control| control.value.as_deref()) {
            Some("ㅎ") => return Ok(Some(())),
            Some("g") if typed => {
                desktop.key("BackSpace")?;
                typed = false;
            }
            Some("") | None if !typed => {
                desktop.key("shift+space")?;
                desktop.key("g")?;
                typed = true;
            }
            _ => {}
        }
        Ok(None)
    })
}

fn composes(bus: &Bus) -> Outcome {
    let mut desktop = start(bus)?;
    open(&mut desktop)?;
    for (key, text) in [("k", "하"), ("s", "한"), ("r", "한ㄱ"), ("m", "한그")] {
        desktop.key(key)?;
        wait_for_value(&mut desktop, text)?;
    }
    desktop.screenshot("input_method_1_composing")?;
    // The palette would run the first command on Enter, and close on Escape.
    desktop.key("Return")?;
    desktop.key("f")?;
    wait_for_value(&mut desktop, "한그ㄹ")?;
    desktop.screenshot("input_method_2_after_enter")?;
    desktop.key("Escape")?;
    // Escape also has this input method type Latin letters.
    desktop.key("x")?;
    wait_for_value(&mut desktop, "한그ㄹx")?;
    // Until a moment after the composition, Escape could still be the key that ended it.
    desktop.wait_until("Escape closes the palette", |desktop| {
        desktop.key("Escape")?;
        Ok(desktop.tree()?.control(FIELD).is_none().then_some(()))
    })
}

#[test]
fn keys_that_compose_hangul_run_and_close_nothing() {
    let bus = Bus::start();
    passes(composes(&bus));
}
