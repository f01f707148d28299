//! Runs a program in a pseudo-terminal (SPEC §7.2): its input and both its outputs are a terminal, which is also the
//! controlling terminal of its session.
//!
//! What the program and the terminal's echo print is read like any output. What is typed goes from the keyboard to the
//! pseudo-terminal. What is typed is recorded only as far as the terminal echoes it.

use std::fs::File;
use std::io::{self, Read, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::retry_on_intr;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::run::{Keyboard, OpenTerminal, Secret, TerminalSize};

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
    pub(super) fn start(self) -> io::Result<TerminalOutput> {
        let Self { controller, user, keyboard } = self;
        drop(user);
        // A program that does not read its input must not hold back anything else. The copy for the output shares this.
        fcntl_setfl(&controller, fcntl_getfl(&controller)? | OFlags::NONBLOCK)?;
        let output = TerminalOutput(File::from(controller.try_clone()?));
        thread::Builder::new()
            .name("child-keyboard".to_owned())
            .spawn(move || pass_on(&keyboard, &File::from(controller)))?;
        Ok(output)
    }
}

/// The output of a program in a pseudo-terminal. Reading waits for output.
pub(super) struct TerminalOutput(File);

impl Read for &TerminalOutput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match (&self.0).read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let mut output = [PollFd::new(&self.0, PollFlags::IN)];
                    retry_on_intr(|| poll(&mut output, None))?;
                }
                read => return read,
            }
        }
    }
}

impl Read for TerminalOutput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&*self).read(buffer)
    }
}

/// The time until input is written again that did not fit into the pseudo-terminal.
const RETRY: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// Passes input and sizes to the program until the terminal is closed, or no process holds the other end any more.
fn pass_on(keyboard: &Keyboard, controller: &File) -> io::Result<()> {
    let (woken, waker) = UnixStream::pair()?;
    woken.set_nonblocking(true)?;
    waker.set_nonblocking(true)?;
    // If the stream is full, the thread will wake anyway.
    let wake: Arc<dyn Fn() + Send + Sync> = Arc::new(move || drop((&waker).write(&[0])));
    keyboard.listen(&wake);
    // Bytes of which the program has room for the rest only later, and how many of them it has got.
    let mut unsent: Option<(Secret, usize)> = None;
    loop {
        // Cleared before the keyboard is read, so that a later change wakes again.
        while (&woken).read(&mut [0; 64]).is_ok_and(|count| count > 0) {}
        if !keyboard.is_open() {
            return Ok(());
        }
        if let Some(size) = keyboard.take_size() {
            set_size(controller, size)?;
        }
        unsent = unsent.or_else(|| Some((keyboard.take_input()?, 0)));
        let mut is_full = false;
        if let Some((bytes, sent)) = &mut unsent {
            match { controller }.write(bytes.bytes().get(*sent..).unwrap_or_default()) {
                Ok(count) => *sent += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => is_full = true,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            if *sent >= bytes.bytes().len() {
                unsent = None;
                continue;
            }
        }
        // The system may report room that is too little for a write.
        let waits_for_room = unsent.is_some() && !is_full;
        let room = if waits_for_room { PollFlags::OUT } else { PollFlags::empty() };
        let mut changes = [PollFd::new(&woken, PollFlags::IN), PollFd::new(controller, room)];
        let limit = is_full.then_some(&RETRY);
        retry_on_intr(|| poll(&mut changes, limit))?;
        let [_, program] = &changes;
        if program.revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
            return Ok(());
        }
    }
}

/// Tells the terminal its size; the program is notified by SIGWINCH.
fn set_size(controller: impl AsFd, size: TerminalSize) -> io::Result<()> {
    let size = Winsize { ws_row: size.rows(), ws_col: size.columns(), ws_xpixel: 0, ws_ypixel: 0 };
    Ok(tcsetwinsize(controller, size)?)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::{Duration, Instant};

    use rustix::termios::{OptionalActions, tcgetattr, tcgetwinsize, tcsetattr};
    use uuid::Uuid;

    use super::*;
    use crate::run::{TerminalPort, TypedBy};

    const LONG: Duration = Duration::from_secs(60);

    /// The program keeps the terminal open.
    #[test]
    fn a_program_that_does_not_read_learns_its_size_and_holds_no_thread() {
        let (port, run) = (TerminalPort::default(), Uuid::new_v4());
        let terminal = port.open(run, 0);
        let pty = PseudoTerminal::open(&terminal).unwrap();
        let program = File::from(pty.user);
        let mut attributes = tcgetattr(&program).unwrap();
        attributes.make_raw();
        tcsetattr(&program, OptionalActions::Now, &attributes).unwrap();
        fcntl_setfl(&pty.controller, OFlags::RDWR | OFlags::NONBLOCK).unwrap();
        let (ended, has_ended) = mpsc::sync_channel(1);
        let (keyboard, controller) = (terminal.keyboard(), File::from(pty.controller));
        let pass = move || ended.send(pass_on(&keyboard, &controller).is_ok());
        thread::Builder::new().spawn(pass).unwrap();
        assert!(port.write((run, 0), &[b'a'; 256 << 10], TypedBy::Person));
        let begun = Instant::now();
        // As much as the system keeps for a program that does not read.
        while rustix::io::ioctl_fionread(&program).unwrap() < 4_000 {
            assert!(begun.elapsed() < LONG, "the input does not arrive");
            thread::yield_now();
        }
        port.resize(TerminalSize::new(91, 17));
        while tcgetwinsize(&program).unwrap().ws_col != 91 {
            assert!(begun.elapsed() < LONG, "the size does not arrive");
            thread::yield_now();
        }
        drop(terminal);
        assert_eq!(has_ended.recv_timeout(LONG), Ok(true));
    }

    #[test]
    fn everything_that_is_typed_arrives() {
        let (port, run) = (TerminalPort::default(), Uuid::new_v4());
        let terminal = port.open(run, 0);
        let pty = PseudoTerminal::open(&terminal).unwrap();
        let mut program = File::from(pty.user.try_clone().unwrap());
        let mut attributes = tcgetattr(&program).unwrap();
        attributes.make_raw();
        tcsetattr(&program, OptionalActions::Now, &attributes).unwrap();
        let mut output = pty.start().unwrap();
        let text: Vec<u8> = (b'a'..=b'z').cycle().take(256 << 10).collect();
        assert!(port.write((run, 0), &text, TypedBy::Person));
        let mut arrived = vec![0; text.len()];
        program.read_exact(&mut arrived).unwrap();
        assert!(arrived == text);
        program.write_all(b"heron").unwrap();
        let mut printed = [0; 5];
        output.read_exact(&mut printed).unwrap();
        assert_eq!(&printed, b"heron");
    }
}
