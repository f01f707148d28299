//! Commands on another host that run in a terminal (SPEC §7.2, §7.3).

use std::cell::{Cell, RefCell};
use std::process::Command;
use std::time::Duration;

use countersign::process::{Cause, HiddenTexts, NoCapture, ProcessIo};
use countersign::remote::{Connection, RemoteCommand, RemoteEnd, RemoteFinished};
use countersign::run::{StopSignal, TerminalPort, TerminalScreen, TerminalSize, TypedBy};
use uuid::Uuid;

use crate::harness::remote_session::command;
use crate::harness::sshd::Sshd;

/// Typed while the terminal does not echo.
const WORD: &str = "kingfisherquartz";

/// Runs a command in a terminal. After each output, the first of the remaining acts whose text is on the screen is
/// carried out: it types a text, or stops the command if there is none. Returns the last screen, too.
fn run(
    connection: &Connection,
    script: &str,
    acts: &[(&str, Option<&str>)],
) -> (RemoteFinished, String) {
    let (port, run_id, stop) = (TerminalPort::default(), Uuid::new_v4(), StopSignal::default());
    let size = TerminalSize::new(90, 20);
    port.resize(size);
    let terminal = port.open(run_id, 0);
    let screen = RefCell::new(TerminalScreen::new(size));
    let next = Cell::new(0);
    let output = |_, text: &str| {
        screen.borrow_mut().feed(text);
        while let Some((wanted, act)) = acts.get(next.get())
            && screen.borrow().visible_text().contains(wanted)
        {
            next.set(next.get() + 1);
            match act {
                Some(text) => assert!(port.write((run_id, 0), text.as_bytes(), TypedBy::Person)),
                None => stop.set(),
            }
        }
    };
    let hidden = HiddenTexts::default();
    let io = ProcessIo { stop: &stop, output: &output, capture: &NoCapture, hidden: &hidden };
    let command = RemoteCommand {
        terminal: Some(&terminal),
        timeout: Duration::from_secs(60),
        ..command(script)
    };
    let finished = connection.run(&command, io).unwrap();
    let text = screen.borrow().visible_text();
    assert_eq!(next.get(), acts.len(), "{text}");
    (finished, text)
}

#[test]
fn command_has_a_terminal_and_its_exit_code_comes_back() {
    let sshd = Sshd::start();
    let connection = sshd.open().unwrap();
    let script = "test -t 0 && test -t 1 && stty size; pwd; read -rs -p 'word: ' w; echo
        echo \"${#w} 'é' \\\\ !x %d\"; exit 7";
    let typed = format!("{WORD}\r");
    let (finished, text) = run(&connection, script, &[("word:", Some(&typed))]);
    assert_eq!(finished.end, RemoteEnd::Exited(7));
    let home = sshd.home().display().to_string();
    assert_eq!(text, format!("20 90\n{home}\nword:\n16 'é' \\ !x %d"));
    assert!(!format!("{:?}", finished.stdout.excerpt()).contains(WORD));
}

#[test]
fn keys_reach_a_full_screen_program_there() {
    let sshd = Sshd::start();
    let connection = sshd.open().unwrap();
    let script = "seq -f 'line %g' 1 100 > text; LESS= less text";
    let acts = [("line 19\ntext", Some(" ")), ("line 38\n:", Some("q"))];
    let (finished, _) = run(&connection, script, &acts);
    assert_eq!(finished.end, RemoteEnd::Exited(0));
}

/// Nobody could continue a program that a key has stopped, so that key has no effect; an interrupt has.
#[test]
fn keys_send_signals_to_the_program_there() {
    let sshd = Sshd::start();
    let connection = sshd.open().unwrap();
    let acts =
        [("ready", Some("\x1aheron\r")), ("heron\nheron", Some("\x04")), ("more", Some("\x03"))];
    let script = "echo ready; cat; trap 'exit 4' INT; echo more; sleep 1000 & wait";
    let (finished, _) = run(&connection, script, &acts);
    assert_eq!(finished.end, RemoteEnd::Exited(4));
}

#[test]
fn stop_ends_the_program_there() {
    let sshd = Sshd::start();
    let connection = sshd.open().unwrap();
    let (finished, _) = run(&connection, "exec -a countersign-heron top -d 1", &[("PID", None)]);
    assert_eq!(finished.end, RemoteEnd::Ended(Cause::Stopped));
    #[expect(clippy::disallowed_methods, reason = "looks from outside")]
    let left = Command::new("pgrep").args(["-f", "^countersign-heron"]).status().unwrap();
    assert_eq!(left.code(), Some(1), "no such process is left");
}
