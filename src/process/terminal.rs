//! Runs a program in a pseudo-terminal (SPEC §7.2): its input and both its outputs are a terminal, which is also the
//! controlling terminal of its session.
//!
//! What the program and the terminal's echo print is read like any output. What is typed goes from the keyboard to the
//! pseudo-terminal and nowhere else.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::thread;

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::run::{Keyboard, OpenTerminal, TerminalInput, TerminalSize};

/// The kind of terminal that the screen emulates, by the name under which systems know it.
const KIND: &str = "xterm-256color";
/// Variables that would describe another terminal, or its size.
const OF_OTHER_TERMINALS: [&str; 6] =
    ["COLUMNS", "LINES", "TERMCAP", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "WINDOWID"];

/// A pseudo-terminal whose program has not been started.
pub(super) struct PseudoTerminal {
    /// The end of this process.
    controller: OwnedFd,
    /// The end of the program.
    user: OwnedFd,
    keyboard: Keyboard,
}

impl PseudoTerminal {
    /// Opens a pseudo-terminal for this terminal.
    pub(super) fn open(terminal: &OpenTerminal) -> io::Result<Self> {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
        // Other programs that start at the same time must not inherit it.
        #[cfg(target_os = "linux")]
        let flags = flags | OpenptFlags::CLOEXEC;
        let controller = openpt(flags)?;
        grantpt(&controller)?;
        unlockpt(&controller)?;
        let path = ptsname(&controller, Vec::new())?;
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let user = rustix::fs::open(path, flags, Mode::empty())?;
        set_size(&controller, terminal.size)?;
        Ok(Self { controller, user, keyboard: terminal.keyboard() })
    }

    /// Connects the program's input and outputs, and describes the terminal in its environment.
    pub(super) fn connect(&self, command: &mut Command) -> io::Result<()> {
        command
            .stdin(Stdio::from(self.user.try_clone()?))
            .stdout(Stdio::from(self.user.try_clone()?))
            .stderr(Stdio::from(self.user.try_clone()?))
            .env("TERM", KIND)
            .env("COLORTERM", "truecolor");
        for name in OF_OTHER_TERMINALS {
            command.env_remove(name);
        }
        Ok(())
    }

    /// Starts the thread that passes on what is typed, and returns the end from which the output is read. The program
    /// must have been started, because reading ends when no process holds the other end.
    pub(super) fn start(self) -> io::Result<File> {
        let Self { controller, user, keyboard } = self;
        drop(user);
        let output = File::from(controller.try_clone()?);
        thread::Builder::new()
            .name("child-keyboard".to_owned())
            .spawn(move || pass_on(&keyboard, File::from(controller)))?;
        Ok(output)
    }
}

/// Passes input to the program until the terminal is closed. Fails when no process holds the other end any more.
fn pass_on(keyboard: &Keyboard, mut controller: File) -> io::Result<()> {
    while let Some(input) = keyboard.next() {
        match input {
            TerminalInput::Bytes(bytes) => controller.write_all(&bytes)?,
            TerminalInput::Resized(size) => set_size(&controller, size)?,
        }
    }
    Ok(())
}

/// Tells the terminal its size; the program is notified by SIGWINCH.
fn set_size(controller: impl std::os::fd::AsFd, size: TerminalSize) -> io::Result<()> {
    let size = Winsize { ws_row: size.rows(), ws_col: size.columns(), ws_xpixel: 0, ws_ypixel: 0 };
    Ok(tcsetwinsize(controller, size)?)
}
